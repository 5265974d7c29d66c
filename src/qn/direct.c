/* SPDX-License-Identifier: Apache-2.0 */
/* direct.c: convolutions without columns. */
#include "qn/direct.h"

#include "qn/fours.h"

#include <assert.h>
#include <string.h>

/* Positions computed for each that is asked for, from which on taps get rows of their own. */
static const double most_waste = 1.1;

/* Weights are packed in rows of eight; a tile in registers has at most three vectors beside each
 * other. Memory is rounded up to the widest of those. */
enum { MR = 8, NV = 3, WIDEST = 16, BLOCK_FLOATS = 96 << 10 };

/* Columns at - left, and each stride further, that lie within the image: begin .. end-1. */
struct span {
    int64_t begin, end;
};

static struct span columns(const struct qn_direct *d, int64_t at)
{
    int64_t stride = d->stride[1];
    struct span s = { at < d->left ? (d->left - at + stride - 1) / stride : 0,
                      at - d->left < d->w ? (d->w - 1 - at + d->left) / stride + 1 : 0 };

    s.end = s.end < s.begin ? s.begin : s.end;
    return s;
}

/* Where copy (a, b) of channel c begins. */
static int64_t plane_at(const struct qn_direct *d, int64_t c, int64_t a, int64_t b)
{
    return ((c * d->copies[0] + a) * d->copies[1] + b) * d->plane;
}

/* What the loops of direct_kernel.h are about. */
struct product {
    int64_t k, ld; /* taps; from row to row of what is written, or of dy */
    const int64_t *offset;
    int64_t n; /* positions: in all, or of a line */
    int64_t lines, line;
    const float *next; /* what will be read after this, to be fetched meanwhile */
    int64_t next_floats;
};

/* The share of steps begin .. end-1 of n in that. */
static void fetch(const struct product *g, int64_t begin, int64_t end, int64_t n)
{
    int64_t to = end < n ? g->next_floats * end / n : g->next_floats;

    for (int64_t i = g->next_floats * begin / n / WIDEST * WIDEST; i < to; i += WIDEST)
        __builtin_prefetch(g->next + i, 0, 2);
}

struct qn_direct_kernels {
    void (*load)(const struct qn_direct *d, const float *x, int64_t row, float *to);
    void (*store)(const struct qn_direct *d, const float *from, int64_t ld, int64_t channels,
                  int64_t rows, bool add, float *y);
    void (*rows)(const struct product *g, const float *w, const float *x, float *y);
    void (*taps)(const struct product *g, const float *x, const float *dy, float *sums);
    bool (*runs)(void); /* on this machine */
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Those rows row + i of copy `a` of a block that lie within the image: begin .. end-1. */
static struct span block_rows(const struct qn_direct *d, int64_t row, int64_t a)
{
    int64_t stride = d->stride[0], first = row * stride + a - d->top, height = d->plane / d->width;
    struct span s = { first < 0 ? (-first + stride - 1) / stride : 0,
                      first < d->h ? (d->h - 1 - first) / stride + 1 : 0 };

    s.end = s.end < height ? s.end : height;
    return s;
}

/* Rows of n floats: fours, the last of which may overlap the one before. */
static void copy_short_rows(int64_t rows, int64_t n, const float *from, int64_t from_ld, float *to,
                            int64_t to_ld)
{
    for (int64_t i = 0; i < rows; i++, from += from_ld, to += to_ld) {
        if (n < 4) {
            for (int64_t j = 0; j < n; j++)
                to[j] = from[j];
            continue;
        }
        for (int64_t j = 0; j + 4 < n; j += 4)
            qn__store_4(qn__load_4(from + j), to + j);
        qn__store_4(qn__load_4(from + n - 4), to + n - 4);
    }
}

/* Of every stride[0]-th row every stride[1]-th float. */
static void copy_strided_rows(int64_t rows, int64_t n, const float *from, const int64_t stride[2],
                              int64_t from_ld, float *to, int64_t to_ld)
{
    for (int64_t i = 0; i < rows; i++, from += stride[0] * from_ld, to += to_ld) {
        int64_t j = 0;

        for (; stride[1] == 2 && j + 4 <= n; j += 4)
            qn__store_4(qn__load_second(from + 2 * j), to + j);
        for (; j < n; j++)
            to[j] = from[j * stride[1]];
    }
}

/* Of `left` vectors beside each other so many at once: four are two and two, since one alone waits
 * for its weights. */
static int at_once(int64_t left)
{
    return left >= NV && left != 4 ? NV : left > 1 ? 2 : 1;
}

/* ---- instruction sets ------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define KERNEL(name) direct_avx512_##name
#define TARGET __attribute__((target("avx512f,fma")))
#define LANES 16
#define ROWS 8
#include "qn/direct_kernel.h"

#define KERNEL(name) direct_avx2_##name
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 8
#define ROWS 4
#include "qn/direct_kernel.h"

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

#define KERNEL(name) direct_any_##name
#define TARGET
#define LANES 4
#define ROWS 4
#include "qn/direct_kernel.h"

static bool always(void)
{
    return true;
}

/* The best first. */
static const struct qn_direct_kernels kernels[] = {
#if defined(__x86_64__)
    { direct_avx512_load, direct_avx512_store, direct_avx512_rows, direct_avx512_taps, has_avx512 },
    { direct_avx2_load, direct_avx2_store, direct_avx2_rows, direct_avx2_taps, has_avx2 },
#endif
    { direct_any_load, direct_any_store, direct_any_rows, direct_any_taps, always },
};

const struct qn_direct_kernels *qn__direct_kernels(int i)
{
    for (size_t j = 0; j < sizeof kernels / sizeof *kernels; j++)
        if (kernels[j].runs() && i-- == 0)
            return &kernels[j];
    return NULL;
}

/* ---- plan ------------------------------------------------------------------------------------ */

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* How far the last tap lies from the first, along one axis of one phase. */
static int64_t reach(const struct qn_direct *d, int axis)
{
    return (d->kernel[axis] - 1) * d->dilation[axis] / d->stride[axis];
}

/* Columns of padding behind a row that can be those in front of the next one. */
static int64_t shared_columns(const struct qn_direct *d, int64_t width)
{
    int64_t most = width - d->out_w;

    for (int64_t b = 0; b < d->copies[1]; b++) {
        struct span s = columns(d, b);

        most = s.begin < most ? s.begin : most;
        most = width - s.end < most ? width - s.end : most;
    }
    return most < 0 ? 0 : most;
}

/* Rows of padding, and the positions between rows that come of it, or a copy for each tap? */
static void plan_rows(struct qn_direct *d)
{
    int64_t taps = (d->kernel[1] - 1) * d->dilation[1] + 1;

    d->copies[1] = taps < d->stride[1] ? taps : d->stride[1];
    d->width = d->out_w + reach(d, 1);
    d->width -= shared_columns(d, d->width);
    d->apart = (double)d->width > most_waste * (double)d->out_w;
    if (d->apart) {
        d->copies[1] = d->kernel[1];
        d->width = d->out_w;
    }
}

void qn__direct_plan(struct qn_direct *d)
{
    int64_t taps = (d->kernel[0] - 1) * d->dilation[0] + 1, rows, copies;

    d->kernels = qn__direct_kernels(0);
    d->copies[0] = taps < d->stride[0] ? taps : d->stride[0];
    plan_rows(d);
    copies = d->copies[0] * d->copies[1];
    assert(d->channels > 0 && copies > 0 && d->width > 0);
    d->k = d->channels * d->kernel[0] * d->kernel[1];
    rows = BLOCK_FLOATS / (d->channels * copies * d->width) - reach(d, 0);
    rows = rows < 1 ? 1 : rows;
    d->rows = rows < d->out_h ? rows : d->out_h;
    d->plane = (d->rows + reach(d, 0)) * d->width;
    /* the last tap of the last tile reads up to a vector and a row's padding beyond */
    d->x_floats =
        (size_t)round_up(d->channels * copies * d->plane + d->out_w + reach(d, 1) + WIDEST, WIDEST);
    d->y_floats = (size_t)(round_up(d->out > MR ? d->out : MR, WIDEST) *
                           round_up(d->rows * d->width, WIDEST));
}

size_t qn__direct_scratch_bytes(const struct qn_direct *d)
{
    return (d->x_floats + d->y_floats) * sizeof(float) +
           (size_t)round_up(d->k, MR) * sizeof(int64_t);
}

size_t qn__direct_packed_floats(const struct qn_direct *d)
{
    return (size_t)(round_up(d->out, MR) * d->k);
}

size_t qn__direct_sums_floats(const struct qn_direct *d)
{
    return (size_t)(round_up(d->k, MR) * round_up(d->out, WIDEST));
}

int64_t qn__direct_columns(const struct qn_direct *d)
{
    return round_up(d->out, WIDEST) / WIDEST;
}

int64_t qn__direct_tiles(const struct qn_direct *d)
{
    return round_up(d->out, MR) / MR;
}

void qn__direct_pack(const struct qn_direct *d, const struct qn_direct_weights *w, int64_t tile,
                     float *packed)
{
    int64_t taps = d->kernel[0] * d->kernel[1], first = tile * MR;
    float *to = packed + first * d->k;

    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t t = 0; t < taps; t++)
            for (int64_t o = first; o < first + MR; o++)
                *to++ =
                    o < d->out ? w->v[o * w->row + c * w->col + (w->turned ? taps - 1 - t : t)] : 0;
}

/* ---- the block ------------------------------------------------------------------------------- */

struct scratch {
    float *x, *y;
    int64_t *offset;
};

static struct scratch cut(const struct qn_direct *d, void *memory)
{
    float *x = memory;

    return (struct scratch){ x, x + d->x_floats,
                             (int64_t *)(void *)(x + d->x_floats + d->y_floats) };
}

/* Where tap k begins; beyond the last one, where the last one does. */
static void set_offsets(const struct qn_direct *d, int64_t *offset)
{
    int64_t n = 0, taps = d->kernel[0] * d->kernel[1], channel = plane_at(d, 1, 0, 0);

    for (int64_t i = 0; i < d->kernel[0]; i++)
        for (int64_t j = 0; j < d->kernel[1]; j++) {
            int64_t h = i * d->dilation[0], w = d->apart ? 0 : j * d->dilation[1];
            int64_t copy = d->apart ? j : w % d->stride[1];

            offset[n++] = plane_at(d, 0, h % d->stride[0], copy) + h / d->stride[0] * d->width +
                          w / d->stride[1];
        }
    for (; n < d->k; n++)
        offset[n] = offset[n - taps] + channel;
    for (; n < round_up(d->k, MR); n++)
        offset[n] = offset[n - 1];
}

/* ---- forward --------------------------------------------------------------------------------- */

/* The next image lies behind this one, mostly. Eight of the channels made fetch their share of it.
 */
static void set_next(const struct qn_direct *d, const float *x, int64_t channel, struct product *g)
{
    int64_t all = d->channels * d->h * d->w, share = all * MR / round_up(d->out, MR);

    g->next = x + all + channel / MR * share;
    g->next_floats = share;
}

void qn__direct_run(const struct qn_direct *d, const float *packed, const float *x, bool add,
                    float *y, void *scratch)
{
    struct scratch s = cut(d, scratch);
    struct product g = { .k = d->k, .offset = s.offset };

    set_offsets(d, s.offset);
    for (int64_t row = 0; row < d->out_h; row += d->rows) {
        int64_t rows = d->out_h - row < d->rows ? d->out_h - row : d->rows;
        bool whole; /* tiles are what is asked for, and nothing else */

        g.n = (rows - 1) * d->width + d->out_w;
        whole = d->width == d->out_w && g.n % WIDEST == 0 && !add;
        g.ld = whole ? d->out_h * d->out_w : round_up(g.n, WIDEST);
        d->kernels->load(d, x, row, s.x);
        for (int64_t m = 0; m < d->out; m += MR) {
            float *to = y + (m * d->out_h + row) * d->out_w;

            set_next(d, x, m, &g);
            if (whole && d->out - m >= MR) {
                d->kernels->rows(&g, packed + m * d->k, s.x, to);
                continue;
            }
            d->kernels->rows(&g, packed + m * d->k, s.x, s.y);
            d->kernels->store(d, s.y, g.ld, d->out - m < MR ? d->out - m : MR, rows, add, to);
        }
    }
}

void qn__direct_pieces(const struct qn_direct *d, const float *packed, const float *x,
                       qn_direct_fn body, void *ctx, void *scratch)
{
    struct scratch s = cut(d, scratch);
    struct product g = { .k = d->k, .offset = s.offset };

    set_offsets(d, s.offset);
    for (int64_t row = 0; row < d->out_h; row += d->rows) {
        struct qn_direct_piece p = { .row = row, .y = s.y };

        p.rows = d->out_h - row < d->rows ? d->out_h - row : d->rows;
        g.n = p.rows * d->out_w;
        g.ld = p.ld = round_up(g.n, WIDEST);
        d->kernels->load(d, x, row, s.x);
        for (; p.channel < d->out; p.channel += MR) {
            set_next(d, x, p.channel, &g);
            p.channels = d->out - p.channel < MR ? d->out - p.channel : MR;
            d->kernels->rows(&g, packed + p.channel * d->k, s.x, s.y);
            body(ctx, &p);
        }
    }
}

/* ---- gradient of the weights ----------------------------------------------------------------- */

/* to[p][o] = from[o][p], four by four. */
static ASSAY__INLINE void turn_4(const float *from, int64_t from_ld, float *to, int64_t to_ld)
{
    qn__four a = qn__load_4(from), b = qn__load_4(from + from_ld),
             c = qn__load_4(from + 2 * from_ld), d = qn__load_4(from + 3 * from_ld);
    qn__four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    qn__four AB = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);

    qn__store_4(__builtin_shufflevector(ab, cd, 0, 1, 4, 5), to);
    qn__store_4(__builtin_shufflevector(ab, cd, 2, 3, 6, 7), to + to_ld);
    qn__store_4(__builtin_shufflevector(AB, CD, 0, 1, 4, 5), to + 2 * to_ld);
    qn__store_4(__builtin_shufflevector(AB, CD, 2, 3, 6, 7), to + 3 * to_ld);
}

/* dy[p][o] of n positions, 0 beyond the last channel. */
static void turn_dy(const struct qn_direct *d, const float *dy, int64_t n, float *to)
{
    int64_t ld = round_up(d->out, WIDEST), area = d->out_h * d->out_w, o = 0;

    for (; o + 4 <= d->out; o += 4) {
        int64_t p = 0;

        for (; p + 4 <= n; p += 4)
            turn_4(dy + o * area + p, area, to + p * ld + o, ld);
        for (; p < n; p++)
            for (int64_t i = o; i < o + 4; i++)
                to[p * ld + i] = dy[i * area + p];
    }
    for (; o < ld; o++)
        for (int64_t p = 0; p < n; p++)
            to[p * ld + o] = o < d->out ? dy[o * area + p] : 0;
}

void qn__direct_weights(const struct qn_direct *d, const float *x, const float *dy, float *sums,
                        void *scratch)
{
    struct scratch s = cut(d, scratch);
    struct product g = { .k = d->k, .ld = round_up(d->out, WIDEST), .offset = s.offset };

    set_offsets(d, s.offset);
    for (int64_t row = 0; row < d->out_h; row += d->rows) {
        int64_t rows = d->out_h - row < d->rows ? d->out_h - row : d->rows;
        bool whole = d->width == d->out_w;

        g.n = whole ? rows * d->out_w : d->out_w;
        g.lines = whole ? 1 : rows;
        g.line = d->width;
        d->kernels->load(d, x, row, s.x);
        turn_dy(d, dy + row * d->out_w, rows * d->out_w, s.y);
        g.next_floats = d->channels * d->h * d->w;
        g.next = x + g.next_floats;
        d->kernels->taps(&g, s.x, s.y, sums);
    }
}

/* Up to sixteen rows of sums, ld apart, into t. */
static void add_square(int64_t rows, const float *sums, int64_t n, int64_t step, int64_t ld,
                       float t[WIDEST][WIDEST])
{
    for (int64_t i = 0; i < rows; i++, sums += ld)
        for (int64_t j = 0; j < WIDEST; j += 4) {
            qn__four s = qn__load_4(sums + j);

            for (int64_t part = 1; part < n; part++)
                s += qn__load_4(sums + part * step + j);
            qn__store_4(s, &t[i][j]);
        }
}

void qn__direct_add(const struct qn_direct *d, const float *sums, int64_t n, int64_t step,
                    int64_t column, float *dw)
{
    int64_t ld = round_up(d->out, WIDEST), first = column * WIDEST;
    int64_t some = d->out - first < WIDEST ? d->out - first : WIDEST;
    float t[WIDEST][WIDEST];

    for (int64_t k = 0; k < d->k; k += WIDEST) {
        int64_t rows = d->k - k < WIDEST ? d->k - k : WIDEST, o = 0;
        float *to = dw + first * d->k + k;

        add_square(rows, sums + k * ld + first, n, step, ld, t);
        for (; o + 4 <= some && rows == WIDEST; o += 4)
            for (int64_t i = 0; i < WIDEST; i += 4)
                turn_4(&t[i][o], WIDEST, to + o * d->k + i, d->k);
        for (; o < some; o++)
            for (int64_t i = 0; i < rows; i++)
                to[o * d->k + i] = t[i][o];
    }
}
