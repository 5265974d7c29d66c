/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h: the operator record, the vocabulary that every stage speaks.
 *
 * An operator is one file src/ops/<name>.c that ends in a const struct assay_op, one line in
 * src/ops/ops.def, one file of cases data/cases/<name>.json, and two kernels (kernels/naive and
 * kernels/baseline). Nothing else: no enum, no switch, no build edit. Hooks stand in the order of
 * the data flow; NULL means the default.
 */
#ifndef ASSAY_OP_H
#define ASSAY_OP_H

#include "assay/memory.h"
#include "assay/rng.h"
#include "assay/status.h"
#include "assay/tensor.h"

enum { ASSAY_MAX_IN = 24, ASSAY_MAX_OUT = 6, ASSAY_MAX_ATTR = 16, ASSAY_MAX_LIST = 64 };

/* ---- parameters ------------------------------------------------------------------------------ */

#define ASSAY_BIT(d) (1u << (d))
#define ASSAY_FLOATS (ASSAY_BIT(ASSAY_F16) | ASSAY_BIT(ASSAY_BF16) | ASSAY_BIT(ASSAY_F32))
#define ASSAY_INTS                                                                             \
    (ASSAY_BIT(ASSAY_I8) | ASSAY_BIT(ASSAY_U8) | ASSAY_BIT(ASSAY_I16) | ASSAY_BIT(ASSAY_I32) | \
     ASSAY_BIT(ASSAY_I64))

enum assay_param_flags {
    ASSAY_PARAM_OPTIONAL = 1 << 0, /* may be absent */
    ASSAY_PARAM_LIST = 1 << 1,     /* a list of tensors */
    ASSAY_PARAM_DYNAMIC =
        1 << 2, /* output: shape[0] depends on the data; infer gives the capacity */
    ASSAY_PARAM_UNJUDGED = 1 << 3, /* output: must be written, is not compared */
    ASSAY_PARAM_INDEX = 1 << 4,    /* output of indices, judged by what it points at: see .index */
    ASSAY_PARAM_NO_NAN = 1 << 5,   /* input: never NaN, for which there is no result */
    ASSAY_PARAM_UPSTREAM_FREE = 1 << 6, /* output: rules `upstream` do not compare it */
};

/* How an index output is judged: gather(input, dim, index) must equal the values output, or, where
 * there is none, the reduction of the input along dim; indices in range and, if asked, distinct
 * along dim. All ints are positions in the contract; -1: none. */
struct assay_index_rule {
    int input;
    int dim_attr;
    int values_out;
    bool reduce_max; /* without values_out: compare with amax (true) or amin */
    bool distinct;
    /* Where values are computed from the input: what such a value would be, had it been computed
     * from `to` in place of `from`. With it, indices are judged by the values that they would have,
     * against the golden's and within their tolerance. NULL: values are elements of the input. */
    double (*moved)(double value, double from, double to);
    int mask_in; /* beside moved: input of bools, one a line; if true, the golden's index; 0: none
                  */
};

struct assay_param {
    const char *name; /* NULL ends a table */
    uint32_t dtypes;  /* ASSAY_BIT()s allowed; outputs: informative, infer() decides */
    unsigned flags;
    const char *shape; /* for people: "[n, c, h, w]" */
    const struct assay_index_rule *index;
};

/* ---- attributes ------------------------------------------------------------------------------ */

enum assay_attr_type {
    ASSAY_ATTR_INT,
    ASSAY_ATTR_FLOAT,
    ASSAY_ATTR_BOOL,
    ASSAY_ATTR_ENUM,
    ASSAY_ATTR_INTS,
    ASSAY_ATTR_FLOATS
};

/* One value. `set` is false where an attribute without default was not given. ENUM: i is the index
 * into choices. Lists are borrowed from the case. */
struct assay_value {
    bool set;
    int64_t i; /* INT, ENUM, BOOL (0 or 1) */
    double f;
    struct assay_ints ints;
    struct assay_floats floats;
};

enum assay_attr_flags {
    ASSAY_ATTR_REQUIRED = 1 << 0,   /* no default and must be given */
    ASSAY_ATTR_NO_DEFAULT = 1 << 1, /* no default and may be missing: kernels see has_<name> */
};

struct assay_attr {
    const char *name; /* NULL ends a table */
    enum assay_attr_type type;
    unsigned flags;
    struct assay_value def;     /* the default, .set = true */
    const char *const *choices; /* ENUM: NULL-terminated, in upper case in the generated header */
    const double
        *samples; /* values that the case generator draws from (ENUM, BOOL: all when NULL) */
    int n_samples;
};

/* ---- arguments ------------------------------------------------------------------------------- */

/* One parameter's tensors: n 0 = absent, 1 = tensor, n = list. */
struct assay_slot {
    struct assay_tensor *t;
    int64_t n;
};

struct assay_range;

/* What a hook works on. in[] and attr[] are complete; out[] is filled in by infer(). */
struct assay_args {
    struct assay_slot in[ASSAY_MAX_IN];
    const struct assay_range *range[ASSAY_MAX_IN]; /* of each tensor, as the case has them */
    struct assay_slot out[ASSAY_MAX_OUT];
    struct assay_value attr[ASSAY_MAX_ATTR];
    bool native;               /* the same-precision run: assay_round() rounds */
    enum assay_dtype coarse;   /* of mutants: what it rounds to in place of float32; 0: float32 */
    int n_threads;             /* for assay_parallel, 0 = all */
    struct assay_arena *arena; /* scratch of the call; never malloc */
};

/* The rounding hook: v in the golden, v rounded once to d in the native run. */
static inline double assay_round(const struct assay_args *a, enum assay_dtype d, double v)
{
    return a->native ? assay_round_to(d == ASSAY_F32 && a->coarse ? a->coarse : d, v) : v;
}

/* ---- work model ------------------------------------------------------------------------------ */

/* Execution units of a machine; a case's work on each is counted in the unit named. The first group
 * is what a CPU has, the second what the published limits of accelerators are made of. Units of one
 * engine take turns: their times add up. */
#define ASSAY_UNIT_MAP(X)                                                                    \
    X(DRAM, "dram", "dram", "B", "bytes moved to and from memory")                           \
    X(CACHE, "cache", "cache", "B", "bytes moved to and from the cache that holds the data") \
    X(FMA_F64, "fma_f64", "fma_f64", "flop", "fp64 multiply-add, 2 flops each")              \
    X(FMA_F32, "fma_f32", "fma_f32", "flop", "fp32 multiply-add, 2 flops each")              \
    X(DOT_BF16, "dot_bf16", "dot_bf16", "flop", "bf16 dot product, 2 flops each")            \
    X(DOT_I8, "dot_i8", "dot_i8", "op", "int8 dot product, 2 ops each")                      \
    X(ALU, "alu", "alu", "op", "32-bit vector lane operations")                              \
    X(TRANS, "trans", "trans", "op", "fp32 transcendental lane evaluations")                 \
    X(MTE2, "mte2", "mte2", "B", "bytes read from memory")                                   \
    X(MTE3, "mte3", "mte3", "B", "bytes written")                                            \
    X(CUBE_F16, "cube_f16", "cube", "flop", "fp16 and bf16 matrix products")                 \
    X(CUBE_F32, "cube_f32", "cube", "flop", "fp32 matrix products")                          \
    X(CUBE_I8, "cube_i8", "cube", "op", "int8 matrix products")                              \
    X(VEC_32, "vector_32", "vector", "op", "vector operations in 32-bit lanes")              \
    X(VEC_16, "vector_16", "vector", "op", "vector operations in 16-bit lanes")              \
    X(VEC_8, "vector_8", "vector", "op", "vector operations in 8-bit lanes")                 \
    X(VEC_64, "vector_64", "vector", "op", "vector operations in 64-bit lanes")

enum assay_unit {
#define X(name, text, engine, of, help) ASSAY_UNIT_##name,
    ASSAY_UNIT_MAP(X)
#undef X
        ASSAY_N_UNITS
};
const char *assay_unit_name(enum assay_unit u);
const char *assay_unit_engine(enum assay_unit u);

/* What a case asks of a machine. bytes_in and bytes_out are filled by the caller from the contract
 * (each input read once, each output written once) before .work runs; .work may lower bytes_in
 * where a kernel need not read all, and adds the operations that even a perfect kernel needs. */
struct assay_work {
    double bytes_in, bytes_out;
    double amount[ASSAY_N_UNITS]; /* [DRAM] is set from bytes_in + bytes_out after .work */
};

/* ---- tolerance ------------------------------------------------------------------------------- */

/* Overrides of the default threshold by output dtype; integers: largest absolute difference. */
struct assay_tol {
    enum assay_dtype dtype;
    double tau;
};

/* A mutant of the golden (see adequacy.h) that no case can tell from honest kernels, or that is no
 * fault under the contract: its name, or its name and target, "swapped x1 x2", and why. */
struct assay_spared {
    const char *mutant, *why; /* NULL ends a table */
};

/* ---- making cases ---------------------------------------------------------------------------- */

struct assay_case;

/* What the case generator has decided for one case; handed to the operator's .sample hook, which
 * writes shapes, and may change ranges and attributes, of the case. Draws go through
 * assay_sample_*() so that a seed fixes the case. */
struct assay_sampler {
    struct assay_key key;
    uint64_t next;    /* draws used so far */
    int64_t elements; /* aim for the total of input elements; never exceed by more than 10 % */
    int rank;         /* aim for the rank of the main input */
    bool unaligned;   /* the innermost extent in bytes shall not be a multiple of 512, best a prime
                         extent */
    struct assay_arena *arena;
};
uint64_t assay_sample_below(struct assay_sampler *s, uint64_t n);
double assay_sample_between(struct assay_sampler *s, double lo, double hi);
/* v with two significant digits, as a person would write it. */
double assay_sample_figure(double v);
/* A shape of the given rank and about that many elements; innermost extent as s->unaligned asks for
 * this dtype. */
struct assay_shape;
void assay_sample_shape(struct assay_sampler *s, int64_t elements, int rank, enum assay_dtype d,
                        struct assay_shape *out);

/* ---- the record ------------------------------------------------------------------------------ */

/*
 * How to add an operator: write src/ops/<name>.c on the pattern of its neighbours, add
 * ASSAY_OP(<name>) to src/ops/ops.def, generate and review data/cases/<name>.json, write
 * kernels/naive/<name>.c and kernels/baseline/<name>.c. docs/howto/add-operator.md has the diff.
 */
struct assay_op {
    const char *name;        /* lower_snake; entry point is assay_<name> */
    int tier;                /* 1..4 */
    const char *formula;     /* one line for people */
    const char *constraints; /* what check and check_values ask for, a line each; or NULL */
    const struct assay_param *in, *out; /* tables ended by a NULL name */
    const struct assay_attr *attrs;     /* NULL: none */
    const struct assay_tol *tol;        /* NULL: defaults only; ended by tau < 0 */
    int n_tol;

    /* Shapes (and where needed ranges, attributes) of a generated case whose dtypes, class and
     * default ranges are set. NULL: all inputs present, of one shape. */
    enum assay_status (*sample)(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err);
    /* Constraints beyond dtype sets, presence and attribute types, which spec checks. */
    enum assay_status (*check)(const struct assay_args *a, struct assay_err *err);
    /* Constraints on what the inputs hold (indices within an extent), checked once they are filled
     * and before anything reads them. NULL: any values will do. */
    enum assay_status (*check_values)(const struct assay_args *a, struct assay_err *err);
    /* Sets a->out[] (dtype, rank, shape; data NULL). List outputs are allocated from a->arena.
     * NULL: one output like the first input. */
    enum assay_status (*infer)(struct assay_args *a, struct assay_err *err);
    /* Rewrites semantic inputs after the uniform fill. NULL: none. */
    enum assay_status (*fill)(struct assay_args *a, struct assay_key key, struct assay_err *err);
    /* The truth. Outputs are fp64 where the contract's output is floating, else the contract's
     * dtype. With a->native: the same-precision run, outputs in the contract's dtypes. Same bits
     * for any thread count. */
    enum assay_status (*golden)(const struct assay_args *a, struct assay_err *err);
    /* A body of its own where the same-precision reference really differs. NULL: golden with
     * a->native. */
    enum assay_status (*native)(const struct assay_args *a, struct assay_err *err);
    void (*work)(const struct assay_args *a, struct assay_work *w);
    /* The same for the published accelerator limits, by their conventions, which count what a
     * typical vector program does: adds to the CUBE and VEC units and may change [MTE2] and [MTE3],
     * which start as the bytes of the contract. NULL: bytes only. */
    void (*work_npu)(const struct assay_args *a, struct assay_work *w);

    const struct assay_spared *spared; /* NULL: none */

    /* The official reference computes in float32 in its fp64 run (conform compares at that
     * accuracy and says so). */
    bool f32_reference;
    const char *source; /* where the semantics come from */
};

/* All operators, NULL-terminated, in the order of ops.def; one by name or NULL. */
const struct assay_op *const *assay_ops(void);
const struct assay_op *assay_op_find(const char *name);

int assay_op_n_in(const struct assay_op *op);
int assay_op_n_out(const struct assay_op *op);
int assay_op_n_attr(const struct assay_op *op);
/* Position by name in a table, -1 when missing. */
int assay_param_find(const struct assay_param *table, const char *name);
int assay_attr_find(const struct assay_attr *table, const char *name);
/* Threshold of an output dtype: the operator's, else the default (0 for integers and bool). */
double assay_op_tau(const struct assay_op *op, enum assay_dtype d);
/* The work of a complete argument set: on the units of a CPU, or on those of an accelerator. */
struct assay_work assay_op_work(const struct assay_op *op, const struct assay_args *a);
struct assay_work assay_op_work_npu(const struct assay_op *op, const struct assay_args *a);
/* The generated header <assay/<op>.h>: positions, enums, attribute struct, entry point. */
void assay_op_header(const struct assay_op *op, struct assay_text *out);

/*
 * The attribute struct as the generated header declares it, for the candidate's process: values
 * are laid out by C rules; list pointers are stored as offsets from the start of the block and
 * listed in reloc[], to be turned into pointers where the block is mapped.
 */
struct assay_packed {
    size_t size; /* bytes used of dst */
    int n_reloc;
    uint32_t reloc[ASSAY_MAX_ATTR];
};
enum assay_status assay_attrs_pack(const struct assay_op *op, const struct assay_value *attr,
                                   void *dst, size_t cap, struct assay_packed *out,
                                   struct assay_err *err);

#endif
