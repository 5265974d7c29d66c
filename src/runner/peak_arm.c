/* SPDX-License-Identifier: Apache-2.0 */
/* peak_arm.c: loops in NEON with its dot and matrix products, and in SVE of any width. */
#include "runner/peak.h"

#if defined(__aarch64__)

#include <sys/auxv.h>

/* ---- features -------------------------------------------------------------------------------- */

enum {
    HAS_NEON = 0, /* every processor */
    HAS_SVE = 1 << 0,
    HAS_DOT = 1 << 1,  /* int8 dot products */
    HAS_I8MM = 1 << 2, /* int8 matrix products */
    HAS_BF16 = 1 << 3, /* bf16 dot and matrix products */
};

unsigned assay__peak_features(void)
{
    const unsigned long a = getauxval(AT_HWCAP), b = getauxval(AT_HWCAP2);

    return (a & HWCAP_SVE ? HAS_SVE : 0u) | (a & HWCAP_ASIMDDP ? HAS_DOT : 0u) |
           (b & HWCAP2_I8MM ? HAS_I8MM : 0u) | (b & HWCAP2_BF16 ? HAS_BF16 : 0u);
}

const char *assay__peak_isa(unsigned features)
{
    return features & HAS_SVE ? "sve" : "neon";
}

/* What the assembler must take; each loop runs only where the processor does. */
#if defined(__clang__)
#define TARGET_NEON __attribute__((target("dotprod,i8mm,bf16")))
#define TARGET_SVE __attribute__((target("dotprod,i8mm,bf16,sve")))
#else
#define TARGET_NEON __attribute__((target("arch=armv8.2-a+dotprod+i8mm+bf16")))
#define TARGET_SVE __attribute__((target("arch=armv8.2-a+dotprod+i8mm+bf16+sve")))
#endif

/* Bytes of a register. */
static size_t width_NEON(void)
{
    return 16;
}

TARGET_SVE static size_t width_SVE(void)
{
    size_t n;

    __asm__("rdvl %0, #1" : "=r"(n));
    return n;
}

/* ---- what the loops share -------------------------------------------------------------------- */

#define USES                                                                                       \
    "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",  \
        "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", \
        "v27", "v28", "v29", "v30", "v31"

#define R8 "0,1,2,3,4,5,6,7"
#define R24 R8 ",8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
#define R32 R24 ",24,25,26,27,28,29,30,31"

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* All registers hold ones: ordinary numbers of every type, and what they become stays so. */
#define SET_NEON ".irp r," R32 "\nfmov v\\r\\().4s, #1.0\n.endr\n"
#define SET_SVE "ptrue p0.b\n.irp r," R32 "\nfmov z\\r\\().s, #1.0\n.endr\n"

/*
 * X(unit, name, instruction set, what it needs beyond, operations a round in 16 bytes, registers,
 * text): a round is the text once for each register, \r. Each is an accumulator of its own, so that
 * latency hides behind throughput: multiply-adds that take 4 cycles, four of them a cycle, need 16.
 *
 * ALU: on some processors integers and floats have ports of their own, hence the mix.
 *
 * TRANS is 2^(x l), l = log2 e, in the cheapest ways that low precision permits: results in bf16
 * may be off by 2^-7 on average. Evaluations depend on nothing but constants.
 * magic: r = x l + 1.5 2^23 rounds, f = x l - (r - 1.5 2^23), a quadratic in f, r added to the
 * exponent; off by 2^-10 on average.
 * table: r = x l + M rounds to 1/64, which an instruction looks up, exponent included; off by
 * 2^-8.5.
 */
/* clang-format off */
#define LOOPS(X) \
    X(FMA_F64, fma_f64_neon, NEON, 0, 24 * 4, R24, "fmla v\\r\\().2d, v30.2d, v31.2d") \
    X(FMA_F64, fma_f64_sve, SVE, 0, 24 * 4, R24, "fmla z\\r\\().d, p0/m, z30.d, z31.d") \
    X(FMA_F32, fma_f32_neon, NEON, 0, 24 * 8, R24, "fmla v\\r\\().4s, v30.4s, v31.4s") \
    X(FMA_F32, fma_f32_sve, SVE, 0, 24 * 8, R24, "fmla z\\r\\().s, p0/m, z30.s, z31.s") \
    X(DOT_BF16, dot_bf16_neon, NEON, HAS_BF16, 24 * 16, R24, "bfdot v\\r\\().4s, v30.8h, v31.8h") \
    X(DOT_BF16, mat_bf16_neon, NEON, HAS_BF16, 24 * 32, R24, \
      "bfmmla v\\r\\().4s, v30.8h, v31.8h") \
    X(DOT_BF16, mat_bf16_sve, SVE, HAS_BF16, 24 * 32, R24, "bfmmla z\\r\\().s, z30.h, z31.h") \
    X(DOT_I8, dot_i8_neon, NEON, HAS_DOT, 24 * 32, R24, "sdot v\\r\\().4s, v30.16b, v31.16b") \
    X(DOT_I8, dot_i8_sve, SVE, 0, 24 * 32, R24, "sdot z\\r\\().s, z30.b, z31.b") \
    X(DOT_I8, mat_i8_neon, NEON, HAS_I8MM, 24 * 64, R24, "smmla v\\r\\().4s, v30.16b, v31.16b") \
    X(DOT_I8, mat_i8_sve, SVE, HAS_I8MM, 24 * 64, R24, "smmla z\\r\\().s, z30.b, z31.b") \
    X(ALU, alu_add_neon, NEON, 0, 24 * 4, R24, "add v\\r\\().4s, v30.4s, v31.4s") \
    X(ALU, alu_mix_neon, NEON, 0, 24 * 4, R8, \
      "add v\\r\\().4s, v30.4s, v31.4s\nfadd v1\\r\\().4s, v30.4s, v31.4s\n" \
      "fmul v2\\r\\().4s, v30.4s, v31.4s") \
    X(ALU, alu_add_sve, SVE, 0, 24 * 4, R24, "add z\\r\\().s, z30.s, z31.s") \
    X(TRANS, trans_magic_neon, NEON, 0, 8 * 4, R8, \
      "mov v0.16b, v29.16b\nfmla v0.4s, v30.4s, v31.4s\nfsub v1.4s, v0.4s, v29.4s\n" \
      "fmls v1.4s, v30.4s, v31.4s\nmov v2.16b, v28.16b\nfmla v2.4s, v1.4s, v27.4s\n" \
      "mov v3.16b, v26.16b\nfmla v3.4s, v1.4s, v2.4s\nshl v0.4s, v0.4s, #23\n" \
      "add v3.4s, v3.4s, v0.4s") \
    X(TRANS, trans_table_sve, SVE, 0, 8 * 4, R8, \
      "mov z0.d, z29.d\nfmla z0.s, p0/m, z30.s, z31.s\nfexpa z1.s, z0.s")
/* clang-format on */

#define X(unit, name, isa, more, operations, registers, text)                        \
    TARGET_##isa static double name(int64_t rounds)                                  \
    {                                                                                \
        int64_t left = rounds;                                                       \
                                                                                     \
        __asm__ volatile(SET_##isa "1:\n.irp r," registers "\n" text                 \
                                   "\n.endr\nsubs %0, %0, #1\nb.ne 1b"               \
                         : "+r"(left)                                                \
                         :                                                           \
                         : USES);                                                    \
        return (double)(operations) * (double)(width_##isa() / 16) * (double)rounds; \
    }
LOOPS(X)
#undef X

const struct assay__peak assay__peaks[] = {
#define X(unit, name, isa, more, operations, registers, text) \
    { ASSAY_UNIT_##unit, name, { HAS_##isa | (more), 0 } },
    LOOPS(X)
#undef X
        { .run = NULL },
};

/* ---- memory ---------------------------------------------------------------------------------- */

#define SETUP_NEON ""
#define SETUP_SVE "ptrue p0.b\n"
/* From block to block: 32 registers, of SVE only the 8 that an offset can tell apart. */
#define REGISTERS_NEON 32
#define REGISTERS_SVE 8
#define NEXT_NEON "add %0, %0, #512\nadd %1, %1, #512\nadd %2, %2, #512\nadd %3, %3, #512\n"
#define NEXT_SVE "addvl %0, %0, #8\naddvl %1, %1, #8\naddvl %2, %2, #8\naddvl %3, %3, #8\n"

#define PAIRS "0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480"

/*
 * X(kind, name, instruction set, past the caches, parts, offsets, text): the memory is cut into
 * parts of one size, read or written at the same time, %0 to %3; the text is for each of the
 * offsets of a block, \o.
 *
 * Loads need no use: a load that nobody waits for is as fast as a load can be. Four parts at once
 * keep more requests under way than one where memory is far. `merge` reads two parts and writes a
 * third, which the first cache of many processors can do in one step.
 */
/* clang-format off */
#define STREAMS(X) \
    X(READ, read_neon, NEON, false, 1, PAIRS, "ldp q0, q1, [%0, #\\o]") \
    X(READ, read_neon_x4, NEON, false, 4, PAIRS, \
      "ldp q0, q1, [%0, #\\o]\nldp q2, q3, [%1, #\\o]\n" \
      "ldp q4, q5, [%2, #\\o]\nldp q6, q7, [%3, #\\o]") \
    X(READ, read_sve, SVE, false, 1, R8, "ld1b {z0.b}, p0/z, [%0, #\\o, mul vl]") \
    X(WRITE, write_neon, NEON, false, 1, PAIRS, "stp q0, q1, [%0, #\\o]") \
    X(WRITE, write_nt_neon, NEON, true, 1, PAIRS, "stnp q0, q1, [%0, #\\o]") \
    X(WRITE, write_sve, SVE, false, 1, R8, "st1b {z0.b}, p0, [%0, #\\o, mul vl]") \
    X(COPY, copy_neon, NEON, false, 2, PAIRS, \
      "ldp q0, q1, [%0, #\\o]\nstp q0, q1, [%1, #\\o]") \
    X(COPY, copy_nt_neon, NEON, true, 2, PAIRS, \
      "ldp q0, q1, [%0, #\\o]\nstnp q0, q1, [%1, #\\o]") \
    X(COPY, merge_neon, NEON, false, 3, PAIRS, \
      "ldp q0, q1, [%0, #\\o]\nldp q2, q3, [%1, #\\o]\norr v0.16b, v0.16b, v2.16b\n" \
      "orr v1.16b, v1.16b, v3.16b\nstp q0, q1, [%2, #\\o]") \
    X(COPY, merge_sve, SVE, false, 3, R8, \
      "ld1b {z0.b}, p0/z, [%0, #\\o, mul vl]\nld1b {z1.b}, p0/z, [%1, #\\o, mul vl]\n" \
      "orr z0.d, z0.d, z1.d\nst1b {z0.b}, p0, [%2, #\\o, mul vl]")
/* clang-format on */

#define X(kind, name, isa, far, parts, offsets, text)                                           \
    TARGET_##isa static double name(char *p, size_t n, int64_t passes)                          \
    {                                                                                           \
        const size_t block = REGISTERS_##isa * width_##isa();                                   \
        const size_t part = n / (parts) / block * block;                                        \
                                                                                                \
        for (int64_t k = 0; k < passes; k++) {                                                  \
            char *a = p, *b = p + 1 % (parts)*part, *c = p + 2 % (parts)*part,                  \
                 *d = p + 3 % (parts)*part;                                                     \
            size_t left = part / block;                                                         \
                                                                                                \
            __asm__ volatile(SETUP_##isa "1:\n.irp o," offsets "\n" text "\n.endr\n" NEXT_##isa \
                             "subs %4, %4, #1\nb.ne 1b"                                         \
                             : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(left)                   \
                             :                                                                  \
                             : "memory", USES);                                                 \
        }                                                                                       \
        return (double)(part * (parts)) * (double)passes;                                       \
    }
STREAMS(X)
#undef X

const struct assay__stream assay__streams[] = {
#define X(kind, name, isa, far, parts, offsets, text) \
    { ASSAY__##kind, name, { HAS_##isa, 0 }, far },
    STREAMS(X)
#undef X
        { ASSAY__WRITE, assay__stream_memset, { 0, 0 }, false },
    { ASSAY__COPY, assay__stream_memcpy, { 0, 0 }, false },
    { .run = NULL },
};

#endif
