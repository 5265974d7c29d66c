/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_rotary_pos_emb: pairs of elements of query and key are rotated by an angle that depends on
 * the position in the sequence and on the pair.
 *
 * cos and sin have one value a pair. A pair is elements k and k + D/2 of a head ("half") or 2 k and
 * 2 k + 1 ("interleaved"): (a, b) becomes (a cos - b sin, b cos + a sin). The 16-bit references
 * compute in float32 and round once.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/map.h"
#include "ops/rotary.h"
#include "ops/sample.h"

#include <math.h>

enum { QUERY, KEY, COS, SIN, N_IN };
enum { QUERY_OUT, KEY_OUT };
enum { LAYOUT, MODE };
enum { BSND, BNSD };
enum { HALF, INTERLEAVED };

static const struct assay_param in[] = {
    [QUERY] = { "query", ASSAY_FLOATS, 0, "[b, s, n, d], or [b, n, s, d] with layout 1", NULL },
    [KEY] = { "key", ASSAY_FLOATS, 0, "like query, but for n", NULL },
    [COS] = { "cos", ASSAY_FLOATS, 0, "[s, d/2] or [b, s, d/2]", NULL },
    [SIN] = { "sin", ASSAY_FLOATS, 0, "like cos", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    [QUERY_OUT] = { "query_out", ASSAY_FLOATS, 0, "like query", NULL },
    [KEY_OUT] = { "key_out", ASSAY_FLOATS, 0, "like key", NULL },
    { 0 },
};

static const double layouts[] = { BSND, BNSD };
static const char *const modes[] = { "half", "interleaved", NULL };
static const struct assay_attr attrs[] = {
    [LAYOUT] = { "layout", ASSAY_ATTR_INT, 0, { .set = true, .i = BSND }, NULL, layouts, 2 },
    [MODE] = { "rotaryMode", ASSAY_ATTR_ENUM, 0, { .set = true, .i = HALF }, modes, NULL, 0 },
    { 0 },
};

static const struct assay_tol tol[] = {
    { ASSAY_F32, 0.005 },
    { ASSAY_F16, 0.01 },
    { ASSAY_BF16, 0.01 },
    { ASSAY_F32, -1 },
};

/* Axes of a layout. */
static int sequence_axis(const struct assay_value *attr)
{
    return attr[LAYOUT].i == BNSD ? 2 : 1;
}

static int head_axis(const struct assay_value *attr)
{
    return 3 - sequence_axis(attr);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

enum { PAIRS = 512 };

struct job {
    const struct assay_args *a;
    const struct assay_tensor *x, *y;
    void (*turn)(const struct assay_args *, int64_t n, double *a, double *b, int64_t step,
                 const double *const cos[2], const double *const sin[2]);
    int64_t size;   /* of a head */
    int64_t per;    /* heads of a sequence and position that lie together: n or 1 */
    int64_t length; /* positions */
    int64_t batch;  /* heads of a whole sequence */
    bool each;      /* a table for each sequence */
};

static void range(void *ctx, int64_t begin, int64_t end)
{
    const struct job *j = ctx;
    int64_t half = j->size / 2;
    bool interleaved = j->a->attr[MODE].i == INTERLEAVED;
    double v[2 * PAIRS], c[PAIRS], s[PAIRS];
    const double *const cos[] = { c, c }, *const sin[] = { s, s };

    for (int64_t head = begin; head < end; head++) {
        int64_t at = head / j->per % j->length;
        int64_t row = j->each ? head / j->batch * j->length + at : at;

        for (int64_t k = 0, n; k < half; k += n) {
            int64_t first = head * j->size + (interleaved ? 2 * k : k);

            n = half - k < PAIRS ? half - k : PAIRS;
            assay_load_n(j->a->in[COS].t, row * half + k, n, c);
            assay_load_n(j->a->in[SIN].t, row * half + k, n, s);
            if (interleaved) {
                assay_load_n(j->x, first, 2 * n, v);
                j->turn(j->a, n, v, v + 1, 2, cos, sin);
                assay_store_n(j->y, first, 2 * n, v);
                continue;
            }
            assay_load_n(j->x, first, n, v);
            assay_load_n(j->x, first + half, n, v + PAIRS);
            j->turn(j->a, n, v, v + PAIRS, 1, cos, sin);
            assay_store_n(j->y, first, n, v);
            assay_store_n(j->y, first + half, n, v + PAIRS);
        }
    }
}

/* All pairs of query or key, turned into those of y. */
static void turn_all(const struct assay_args *a, int i, const struct assay_tensor *y,
                     void (*turn)(const struct assay_args *, int64_t n, double *a, double *b,
                                  int64_t step, const double *const cos[2],
                                  const double *const sin[2]))
{
    const struct assay_tensor *x = a->in[i].t;
    int64_t heads = x->shape[head_axis(a->attr)];
    struct job j = { .a = a,
                     .x = x,
                     .y = y,
                     .turn = turn,
                     .size = x->shape[3],
                     .per = a->attr[LAYOUT].i == BSND ? heads : 1,
                     .length = x->shape[sequence_axis(a->attr)],
                     .each = a->in[COS].t->rank == 3 };

    j.batch = heads * j.length;
    assay_parallel(x->shape[0] * j.batch, 1 + 16384 / (1 + j.size), a->n_threads, range, &j);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Ordinary sizes of heads, and odd halves. */
static int64_t draw_head(struct assay_sampler *s, enum assay_dtype d)
{
    static const int64_t sizes[] = { 64, 128, 96, 80, 192, 40, 74, 18 };
    int64_t line = 512 / (int64_t)assay_dtype_size(d), size;

    if (!s->unaligned)
        return line;
    do
        size = sizes[assay_sample_below(s, sizeof sizes / sizeof *sizes)];
    while (size % line == 0);
    return size;
}

static void set_head(struct assay_case *c, int i, int64_t batch, int64_t length, int64_t heads,
                     int64_t size)
{
    struct assay_shape *x = c->in[i].shape;

    *x = (struct assay_shape){ 4, { batch } };
    x->dim[sequence_axis(c->attr)] = length;
    x->dim[head_axis(c->attr)] = heads;
    x->dim[3] = size;
}

/* As many heads of keys as of queries, or fewer (grouped queries); tables for all sequences of a
 * batch or for each. */
static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    int64_t size = draw_head(s, c->in[QUERY].dtype), vectors = s->elements / size;
    int64_t keys = 1 + (int64_t)assay_sample_below(s, vectors < 200 ? 2 : 8);
    int64_t heads = keys * (1 + (int64_t)assay_sample_below(s, vectors < 200 ? 2 : 4));
    bool each = assay_sample_below(s, 3) == 0;
    int64_t rows = vectors / (heads + keys + 1), batch, length;

    batch = (int64_t)exp(assay_sample_between(s, 0, log((double)(rows < 900 ? rows : 900)) * 0.6));
    length = rows / batch;
    for (int i = 0; i < N_IN; i++)
        ASSAY_TRY(assay__sample_room(s, c, i, 1, err));
    set_head(c, QUERY, batch, length, heads, size);
    set_head(c, KEY, batch, length, keys, size);
    c->in[COS].shape[0] = each ? (struct assay_shape){ 3, { batch, length, size / 2 } }
                               : (struct assay_shape){ 2, { length, size / 2 } };
    c->in[SIN].shape[0] = c->in[COS].shape[0];
    if (c->value_class != ASSAY_CLASS_SPECIAL || assay_sample_below(s, 4))
        c->in[COS].range[0] = c->in[SIN].range[0] = (struct assay_range){ -1, 1 };
    if (c->value_class == ASSAY_CLASS_ZEROS ||
        (c->value_class == ASSAY_CLASS_SPECIAL && assay_sample_below(s, 2)))
        c->in[KEY].range[0] = (struct assay_range){ -1, 1 };
    return ASSAY_OK;
}

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check_tables(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *q = a->in[QUERY].t, *cos = a->in[COS].t;
    int64_t length = q->shape[sequence_axis(a->attr)];
    bool fits = (cos->rank == 2 || (cos->rank == 3 && cos->shape[0] == q->shape[0])) &&
                cos->shape[cos->rank - 2] == length && cos->shape[cos->rank - 1] == q->shape[3] / 2;
    char text[128];

    if (!fits)
        return assay_fail(
            err, ASSAY_INVALID,
            "cos is %s, it must be [%lld,%lld], or the same for each of %lld in front",
            assay_tensor_text(cos, text, sizeof text), (long long)length,
            (long long)(q->shape[3] / 2), (long long)q->shape[0]);
    if (!assay_same_shape(cos, a->in[SIN].t))
        return assay_fail(err, ASSAY_INVALID, "sin is %s, it must have the shape of cos",
                          assay_tensor_text(a->in[SIN].t, text, sizeof text));
    return ASSAY_OK;
}

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *q = a->in[QUERY].t, *k = a->in[KEY].t;
    char first[128], other[128];

    if (a->attr[LAYOUT].i != BSND && a->attr[LAYOUT].i != BNSD)
        return assay_fail(err, ASSAY_INVALID, "layout is %lld, it must be 0 or 1",
                          (long long)a->attr[LAYOUT].i);
    for (int i = KEY; i < N_IN; i++)
        if (a->in[i].t->dtype != q->dtype)
            return assay_fail(err, ASSAY_INVALID, "%s is %s, query is %s: they must have one dtype",
                              in[i].name, assay_tensor_text(a->in[i].t, other, sizeof other),
                              assay_tensor_text(q, first, sizeof first));
    if (q->rank != 4 || q->shape[3] % 2 != 0)
        return assay_fail(err, ASSAY_INVALID, "query is %s, it must have rank 4 and even heads",
                          assay_tensor_text(q, first, sizeof first));
    for (int d = 0; d < 4; d++)
        if (k->rank != 4 || (d != head_axis(a->attr) && k->shape[d] != q->shape[d]))
            return assay_fail(err, ASSAY_INVALID,
                              "key is %s, query is %s: only the numbers of heads may differ",
                              assay_tensor_text(k, other, sizeof other),
                              assay_tensor_text(q, first, sizeof first));
    return check_tables(a, err);
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    for (int i = QUERY; i <= KEY; i++) {
        *a->out[i].t = *a->in[i].t;
        a->out[i].t->data = NULL;
    }
    return ASSAY_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/*
 * Of a million float32 results a few dozen happen to cancel. Those are no better than chance has
 * it, and too few to be judged by their number: such pairs are 0.
 */
static void clear(const struct assay_args *args, int64_t n, double *a, double *b, int64_t step,
                  const double *const cos[2], const double *const sin[2])
{
    const double small = 0x1p-13;

    (void)args;
    for (int64_t k = 0; k < n; k++) {
        double x = a[k * step], y = b[k * step];

        if (fabs(x * cos[0][k] - y * sin[0][k]) < small ||
            fabs(y * cos[1][k] + x * sin[1][k]) < small)
            a[k * step] = b[k * step] = 0;
    }
}

static enum assay_status fill_tables(struct assay_args *a, struct assay_key key,
                                     struct assay_err *err)
{
    const struct assay_tensor *cos = a->in[COS].t;
    struct assay__angles t = { cos, a->in[SIN].t, cos->shape[cos->rank - 1], 1,
                               a->in[QUERY].t->shape[sequence_axis(a->attr)] };

    return assay__fill_angles(a, &t, key, err);
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    ASSAY_TRY(fill_tables(a, key, err));
    for (int i = QUERY; i <= KEY; i++)
        if (a->in[i].t->dtype == ASSAY_F32 && a->range[i] && a->range[i]->lo <= 0 &&
            a->range[i]->hi >= 0)
            turn_all(a, i, a->in[i].t, clear);
    return ASSAY_OK;
}

/* ---- golden ---------------------------------------------------------------------------------- */

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    (void)err;
    for (int i = QUERY; i <= KEY; i++)
        turn_all(a, i, a->out[i].t, assay__rotate);
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* One operation a result: in 16 bits there are such that add up two products. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    for (int i = QUERY_OUT; i <= KEY_OUT; i++)
        assay__add_lanes(w, &a->out[i], 1);
}

static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    for (int i = QUERY; i <= KEY; i++)
        assay__add_vector(w, &a->in[i], 3);
}

/* Mutants that no case can tell from honest kernels. */
static const struct assay_spared spared[] = {
    { "output_f16", "float32 results are judged at a mean relative error of 0.005, rounding to "
                    "float16 stays below 2^-11" },
    { "output_bf16", "float32 results are judged at a mean relative error of 0.005, rounding to "
                     "bfloat16 stays below 2^-8" },
    { 0 },
};

const struct assay_op assay_op_apply_rotary_pos_emb = {
    .name = "apply_rotary_pos_emb",
    .tier = 2,
    .formula = "pairs (a, b) of query and key become (a cos - b sin, b cos + a sin)",
    .constraints =
        "all inputs have the same dtype; layout is 0 ([b, s, n, d]) or 1 ([b, n, s, d])\n"
        "query and key have rank 4 and the same shape, but for the number of heads n\n"
        "d is even; cos and sin have one shape, [s, d/2] or [b, s, d/2]\n",
    .in = in,
    .out = out,
    .attrs = attrs,
    .tol = tol,
    .n_tol = 3,
    .sample = sample,
    .check = check,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .spared = spared,
    .source = "CANN Bench level 2, ApplyRotaryPosEmb",
};
