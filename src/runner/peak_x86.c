/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak_x86.c: loops in SSE2, AVX, AVX2 with FMA, and AVX-512 with its dot products.
 *
 * AMX is left out: it needs a permission of the operating system that a locked kernel cannot get.
 */
#include "runner/peak.h"

#if defined(__x86_64__)

#include <cpuid.h>

/* ---- features -------------------------------------------------------------------------------- */

enum {
    HAS_SSE2 = 0, /* every processor */
    HAS_AVX = 1 << 0,
    HAS_AVX_ALONE = HAS_AVX, /* what AVX-512 does not need beside it */
    HAS_AVX2 = 1 << 1,       /* and FMA */
    HAS_AVX512 = 1 << 2,
    HAS_DQ = 1 << 3,
    HAS_BF16 = 1 << 4,
    HAS_VNNI = 1 << 5,     /* int8 dot products in AVX-512 */
    HAS_AVX_VNNI = 1 << 6, /* and without it */
};

/* What makes an instruction set pointless. The 256-bit loops stay in beside AVX-512, which is no
 * faster on some processors. */
enum { NOT_SSE2 = HAS_AVX2, NOT_AVX = 0, NOT_AVX2 = 0, NOT_AVX512 = 0, NOT_AVX_ALONE = HAS_AVX512 };

static unsigned avx_vnni(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 4) ? HAS_AVX_VNNI : 0;
}

unsigned assay__peak_features(void)
{
    unsigned f = 0;

    if (!__builtin_cpu_supports("avx"))
        return f;
    f |= HAS_AVX;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return f;
    f |= HAS_AVX2 | avx_vnni();
    if (!__builtin_cpu_supports("avx512f"))
        return f;
    f |= HAS_AVX512;
    f |= __builtin_cpu_supports("avx512dq") ? HAS_DQ : 0;
    f |= __builtin_cpu_supports("avx512bf16") ? HAS_BF16 : 0;
    f |= __builtin_cpu_supports("avx512vnni") ? HAS_VNNI : 0;
    return f;
}

const char *assay__peak_isa(unsigned features)
{
    return features & HAS_AVX512 ? "avx512" : features & HAS_AVX2 ? "avx2" : "plain";
}

/* ---- what the loops share -------------------------------------------------------------------- */

#define TARGET_SSE2
#define TARGET_AVX __attribute__((target("avx")))
#define TARGET_AVX_ALONE TARGET_AVX
#define TARGET_AVX2 __attribute__((target("avx2,fma")))
#define TARGET_AVX512 __attribute__((target("avx512f")))

#define USES_SSE2                                                                            \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define USES_AVX USES_SSE2
#define USES_AVX_ALONE USES_SSE2
#define USES_AVX2 USES_SSE2
#define USES_AVX512                                                                             \
    USES_SSE2, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", \
        "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"

#define R4 "0,1,2,3"
#define R8 R4 ",4,5,6,7"
#define R12 R8 ",8,9,10,11"
#define R16 R12 ",12,13,14,15"
#define R24 R16 ",16,17,18,19,20,21,22,23"
#define R32 R24 ",24,25,26,27,28,29,30,31"

#define END_SSE2 ""
#define END_AVX "vzeroupper\n"
#define END_AVX_ALONE END_AVX
#define END_AVX2 END_AVX
#define END_AVX512 END_AVX

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* All registers hold ones: ordinary numbers of every type, and what they become stays so. */
static const float one = 1;

#define SET_SSE2 ".irp r," R16 "\nmovss %1, %%xmm\\r\nshufps $0, %%xmm\\r, %%xmm\\r\n.endr\n"
#define SET_AVX ".irp r," R16 "\nvbroadcastss %1, %%ymm\\r\n.endr\n"
#define SET_AVX_ALONE SET_AVX
#define SET_AVX2 SET_AVX
#define SET_AVX512 ".irp r," R32 "\nvbroadcastss %1, %%zmm\\r\n.endr\n"

/*
 * X(unit, name, instruction set, what it needs beyond, operations a round, registers, text): a
 * round is the text once for each register, \r. Each is an accumulator of its own, so that latency
 * hides behind throughput: multiply-adds that take 5 cycles, two of them a cycle, need ten.
 *
 * ALU: on many processors integers and floats, sums and products have ports of their own, hence the
 * mixes. Where an operation can have a target of its own it depends on nothing.
 *
 * TRANS is 2^(x l), l = log2 e, in the cheapest ways that low precision permits: results in bf16
 * may be off by 2^-7 on average. Evaluations depend on nothing but constants.
 * reduce: t = x l, f = t - floor t, a quadratic in f times 2^floor t; off by 2^-10 on average.
 * magic: r = x l + 1.5 2^23 rounds, f = x l - (r - 1.5 2^23), a quadratic in f, r added to the
 * exponent; off by 2^-10.
 * table: r = x l + 1.5 2^18 rounds to 1/32 and looks up 2^(j/32) with its low bits, the others are
 * added to the exponent; off by 2^-7.5.
 */
/* clang-format off */
#define LOOPS(X) \
    X(FMA_F64, fma_f64_512, AVX512, 0, 24 * 16, R24, "vfmadd231pd %%zmm30, %%zmm31, %%zmm\\r") \
    X(FMA_F64, fma_f64_256, AVX2, 0, 12 * 8, R12, "vfmadd231pd %%ymm14, %%ymm15, %%ymm\\r") \
    X(FMA_F64, fma_f64_avx, AVX_ALONE, 0, 12 * 8, R12, \
      "vmulpd %%ymm15, %%ymm\\r, %%ymm\\r\nvaddpd %%ymm14, %%ymm\\r, %%ymm\\r") \
    X(FMA_F64, fma_f64_128, SSE2, 0, 12 * 4, R12, \
      "mulpd %%xmm15, %%xmm\\r\naddpd %%xmm14, %%xmm\\r") \
    X(FMA_F32, fma_f32_512, AVX512, 0, 24 * 32, R24, "vfmadd231ps %%zmm30, %%zmm31, %%zmm\\r") \
    X(FMA_F32, fma_f32_256, AVX2, 0, 12 * 16, R12, "vfmadd231ps %%ymm14, %%ymm15, %%ymm\\r") \
    X(FMA_F32, fma_f32_avx, AVX_ALONE, 0, 12 * 16, R12, \
      "vmulps %%ymm15, %%ymm\\r, %%ymm\\r\nvaddps %%ymm14, %%ymm\\r, %%ymm\\r") \
    X(FMA_F32, fma_f32_128, SSE2, 0, 12 * 8, R12, \
      "mulps %%xmm15, %%xmm\\r\naddps %%xmm14, %%xmm\\r") \
    X(DOT_BF16, dot_bf16_512, AVX512, HAS_BF16, 24 * 64, R24, \
      "vdpbf16ps %%zmm30, %%zmm31, %%zmm\\r") \
    X(DOT_I8, dot_i8_512, AVX512, HAS_VNNI, 24 * 128, R24, \
      "vpdpbusd %%zmm30, %%zmm31, %%zmm\\r") \
    X(DOT_I8, dot_i8_256, AVX2, HAS_AVX_VNNI, 12 * 64, R12, \
      "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm\\r") \
    X(ALU, alu_add_512, AVX512, 0, 24 * 16, R24, "vpaddd %%zmm30, %%zmm31, %%zmm\\r") \
    X(ALU, alu_mix_512, AVX512, 0, 24 * 16, R8, \
      "vpaddd %%zmm30, %%zmm31, %%zmm\\r\nvaddps %%zmm30, %%zmm31, %%zmm1\\r\n" \
      "vmulps %%zmm30, %%zmm31, %%zmm2\\r") \
    X(ALU, alu_add_256, AVX2, 0, 12 * 8, R12, "vpaddd %%ymm14, %%ymm15, %%ymm\\r") \
    X(ALU, alu_or_256, AVX, 0, 12 * 8, R12, "vorps %%ymm14, %%ymm15, %%ymm\\r") \
    X(ALU, alu_mix_256, AVX2, 0, 16 * 8, R4, \
      "vpaddd %%ymm14, %%ymm15, %%ymm\\r\nvaddps %%ymm14, %%ymm15, %%ymm4\n" \
      "vorps %%ymm14, %%ymm15, %%ymm5\nvmulps %%ymm14, %%ymm15, %%ymm6") \
    X(ALU, alu_add_128, SSE2, 0, 12 * 4, R12, "paddd %%xmm15, %%xmm\\r") \
    X(ALU, alu_mix_128, SSE2, 0, 12 * 4, R4, \
      "paddd %%xmm15, %%xmm\\r\naddps %%xmm15, %%xmm1\\r\npor %%xmm15, %%xmm\\r") \
    X(TRANS, trans_reduce_512, AVX512, HAS_DQ, 8 * 16, R8, \
      "vmulps %%zmm30, %%zmm31, %%zmm0\nvreduceps $1, %%zmm0, %%zmm1\nvmovaps %%zmm29, %%zmm2\n" \
      "vfmadd213ps %%zmm28, %%zmm1, %%zmm2\nvfmadd213ps %%zmm27, %%zmm1, %%zmm2\n" \
      "vscalefps %%zmm0, %%zmm2, %%zmm2") \
    X(TRANS, trans_magic_512, AVX512, 0, 8 * 16, R8, \
      "vmovaps %%zmm29, %%zmm0\nvfmadd231ps %%zmm30, %%zmm31, %%zmm0\n" \
      "vsubps %%zmm29, %%zmm0, %%zmm1\nvfmsub231ps %%zmm30, %%zmm31, %%zmm1\n" \
      "vmovaps %%zmm28, %%zmm2\nvfmadd213ps %%zmm27, %%zmm1, %%zmm2\n" \
      "vfmadd213ps %%zmm26, %%zmm1, %%zmm2\nvpslld $23, %%zmm0, %%zmm0\n" \
      "vpaddd %%zmm0, %%zmm2, %%zmm2") \
    X(TRANS, trans_table_512, AVX512, 0, 8 * 16, R8, \
      "vmovaps %%zmm29, %%zmm0\nvfmadd231ps %%zmm30, %%zmm31, %%zmm0\nvmovaps %%zmm0, %%zmm1\n" \
      "vpermi2ps %%zmm27, %%zmm28, %%zmm1\nvpslld $18, %%zmm0, %%zmm0\n" \
      "vpaddd %%zmm0, %%zmm1, %%zmm1") \
    X(TRANS, trans_magic_256, AVX2, 0, 8 * 8, R8, \
      "vmovaps %%ymm13, %%ymm0\nvfmadd231ps %%ymm14, %%ymm15, %%ymm0\n" \
      "vsubps %%ymm13, %%ymm0, %%ymm1\nvfmsub231ps %%ymm14, %%ymm15, %%ymm1\n" \
      "vmovaps %%ymm12, %%ymm2\nvfmadd213ps %%ymm11, %%ymm1, %%ymm2\n" \
      "vfmadd213ps %%ymm10, %%ymm1, %%ymm2\nvpslld $23, %%ymm0, %%ymm0\n" \
      "vpaddd %%ymm0, %%ymm2, %%ymm2") \
    X(TRANS, trans_magic_128, SSE2, 0, 8 * 4, R8, \
      "movaps %%xmm15, %%xmm0\nmulps %%xmm14, %%xmm0\nmovaps %%xmm0, %%xmm1\n" \
      "addps %%xmm13, %%xmm0\nmovaps %%xmm0, %%xmm2\nsubps %%xmm13, %%xmm2\n" \
      "subps %%xmm2, %%xmm1\nmovaps %%xmm12, %%xmm2\nmulps %%xmm1, %%xmm2\n" \
      "addps %%xmm11, %%xmm2\nmulps %%xmm1, %%xmm2\naddps %%xmm10, %%xmm2\n" \
      "pslld $23, %%xmm0\npaddd %%xmm0, %%xmm2")
/* clang-format on */

#define X(unit, name, isa, more, operations, registers, text)            \
    TARGET_##isa static double name(int64_t rounds)                      \
    {                                                                    \
        int64_t left = rounds;                                           \
                                                                         \
        __asm__ volatile(SET_##isa "1:\n.irp r," registers "\n" text     \
                                   "\n.endr\ndec %0\njnz 1b\n" END_##isa \
                         : "+r"(left)                                    \
                         : "m"(one)                                      \
                         : "cc", USES_##isa);                            \
        return (double)(operations) * (double)rounds;                    \
    }
LOOPS(X)
#undef X

const struct assay__peak assay__peaks[] = {
#define X(unit, name, isa, more, operations, registers, text) \
    { ASSAY_UNIT_##unit, name, { HAS_##isa | (more), NOT_##isa } },
    LOOPS(X)
#undef X
        { .run = NULL },
};

/* ---- memory ---------------------------------------------------------------------------------- */

enum { BLOCK = 512 };

#define O32 "0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480"
#define O64 "0,64,128,192,256,320,384,448"
#define O16 O32 ",16,48,80,112,144,176,208,240,272,304,336,368,400,432,464,496"

/*
 * X(kind, name, instruction set, past the caches, parts, offsets, text): the memory is cut into
 * parts of one size, read or written at the same time, %0 to %3; the text is for each of the
 * offsets of a block, \o.
 *
 * Loads need no use: a load that nobody waits for is as fast as a load can be. Four parts at once
 * keep more requests under way than one where memory is far. `merge` reads two parts and writes a
 * third, which the first cache of most processors can do in one step. Bitwise, since the memory may
 * hold numbers that are slow to add.
 */
/* clang-format off */
#define STREAMS(X) \
    X(READ, read_512, AVX512, false, 1, O64, "vmovaps \\o(%0), %%zmm0") \
    X(READ, read_256, AVX, false, 1, O32, "vmovaps \\o(%0), %%ymm0") \
    X(READ, read_256x4, AVX, false, 4, O32, \
      "vmovaps \\o(%0), %%ymm0\nvmovaps \\o(%1), %%ymm1\n" \
      "vmovaps \\o(%2), %%ymm2\nvmovaps \\o(%3), %%ymm3") \
    X(READ, read_128, SSE2, false, 1, O16, "movaps \\o(%0), %%xmm0") \
    X(READ, read_128x4, SSE2, false, 4, O16, \
      "movaps \\o(%0), %%xmm0\nmovaps \\o(%1), %%xmm1\n" \
      "movaps \\o(%2), %%xmm2\nmovaps \\o(%3), %%xmm3") \
    X(WRITE, write_512, AVX512, false, 1, O64, "vmovaps %%zmm0, \\o(%0)") \
    X(WRITE, write_256, AVX, false, 1, O32, "vmovaps %%ymm0, \\o(%0)") \
    X(WRITE, write_nt_512, AVX512, true, 1, O64, "vmovntps %%zmm0, \\o(%0)") \
    X(WRITE, write_nt_256, AVX_ALONE, true, 1, O32, "vmovntps %%ymm0, \\o(%0)") \
    X(WRITE, write_128, SSE2, false, 1, O16, "movaps %%xmm0, \\o(%0)") \
    X(WRITE, write_nt_128, SSE2, true, 1, O16, "movntps %%xmm0, \\o(%0)") \
    X(COPY, copy_512, AVX512, false, 2, O64, "vmovaps \\o(%0), %%zmm0\nvmovaps %%zmm0, \\o(%1)") \
    X(COPY, copy_256, AVX, false, 2, O32, "vmovaps \\o(%0), %%ymm0\nvmovaps %%ymm0, \\o(%1)") \
    X(COPY, copy_nt_512, AVX512, true, 2, O64, \
      "vmovaps \\o(%0), %%zmm0\nvmovntps %%zmm0, \\o(%1)") \
    X(COPY, copy_nt_256, AVX_ALONE, true, 2, O32, \
      "vmovaps \\o(%0), %%ymm0\nvmovntps %%ymm0, \\o(%1)") \
    X(COPY, merge_512, AVX512, false, 3, O64, \
      "vmovaps \\o(%0), %%zmm0\nvpord \\o(%1), %%zmm0, %%zmm0\nvmovaps %%zmm0, \\o(%2)") \
    X(COPY, merge_256, AVX, false, 3, O32, \
      "vmovaps \\o(%0), %%ymm0\nvorps \\o(%1), %%ymm0, %%ymm0\nvmovaps %%ymm0, \\o(%2)") \
    X(COPY, merge_nt_512, AVX512, true, 3, O64, \
      "vmovaps \\o(%0), %%zmm0\nvpord \\o(%1), %%zmm0, %%zmm0\nvmovntps %%zmm0, \\o(%2)") \
    X(COPY, merge_nt_256, AVX_ALONE, true, 3, O32, \
      "vmovaps \\o(%0), %%ymm0\nvorps \\o(%1), %%ymm0, %%ymm0\nvmovntps %%ymm0, \\o(%2)") \
    X(COPY, copy_128, SSE2, false, 2, O16, "movaps \\o(%0), %%xmm0\nmovaps %%xmm0, \\o(%1)") \
    X(COPY, copy_nt_128, SSE2, true, 2, O16, "movaps \\o(%0), %%xmm0\nmovntps %%xmm0, \\o(%1)") \
    X(COPY, merge_128, SSE2, false, 3, O16, \
      "movaps \\o(%0), %%xmm0\norps \\o(%1), %%xmm0\nmovaps %%xmm0, \\o(%2)")
/* clang-format on */

#define X(kind, name, isa, far, parts, offsets, text)                                          \
    TARGET_##isa static double name(char *p, size_t n, int64_t passes)                         \
    {                                                                                          \
        const size_t part = n / (parts) / BLOCK * BLOCK;                                       \
                                                                                               \
        for (int64_t k = 0; k < passes; k++) {                                                 \
            char *a = p, *b = p + 1 % (parts)*part, *c = p + 2 % (parts)*part,                 \
                 *d = p + 3 % (parts)*part;                                                    \
            size_t left = part / BLOCK;                                                        \
                                                                                               \
            __asm__ volatile("1:\n.irp o," offsets "\n" text                                   \
                             "\n.endr\nadd $512, %0\nadd $512, %1\nadd $512, %2\nadd $512, %3" \
                             "\ndec %4\njnz 1b"                                                \
                             : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(left)                  \
                             :                                                                 \
                             : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3");                \
        }                                                                                      \
        __asm__ volatile(END_##isa "sfence" ::: "memory");                                     \
        return (double)(part * (parts)) * (double)passes;                                      \
    }
STREAMS(X)
#undef X

const struct assay__stream assay__streams[] = {
#define X(kind, name, isa, far, parts, offsets, text) \
    { ASSAY__##kind, name, { HAS_##isa, NOT_##isa }, far },
    STREAMS(X)
#undef X
        { ASSAY__WRITE, assay__stream_memset, { 0, 0 }, false },
    { ASSAY__COPY, assay__stream_memcpy, { 0, 0 }, false },
    { .run = NULL },
};

#endif
