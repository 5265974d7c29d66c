/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nms: picks boxes by descending score; a box is picked unless its overlap with one picked before
 * is more than the threshold, or has no value.
 *
 * Overlap is intersection / (union + 1e-6). What comes out at a NaN suppresses, so that a box with
 * a NaN falls to the first pick, and leaves nothing when it is that itself. A box without area has
 * no overlap with any.
 *
 * Results are indices, judged exactly. So no overlap that decides may lie so close to the threshold
 * that honest float32 falls on the other side of it; the inputs are made that way.
 */
#include "assay/op.h"

#include "ops/lanes.h"
#include "ops/order.h"
#include "ops/sample.h"

#include <math.h>

enum { BOXES, SCORES };
enum { IOU_THRESHOLD };
static const struct assay_param in[] = {
    [BOXES] = { "boxes", ASSAY_BIT(ASSAY_F32), 0, "[n, 4]", NULL },
    [SCORES] = { "scores", ASSAY_BIT(ASSAY_F32), 0, "[n]", NULL },
    { 0 },
};
static const struct assay_param out[] = {
    { "keep_indices", ASSAY_BIT(ASSAY_I64), ASSAY_PARAM_DYNAMIC, "[<= n]", NULL }, { 0 }
};
static const double thresholds[] = { 0.5, 0.3, 0.7, 0.1, 0.9, 0.45, 0.6, 0.2, 0.8, 0.05 };
static const struct assay_attr attrs[] = {
    [IOU_THRESHOLD] = { "iou_threshold",
                        ASSAY_ATTR_FLOAT,
                        ASSAY_ATTR_REQUIRED,
                        { 0 },
                        NULL,
                        thresholds,
                        sizeof thresholds / sizeof *thresholds },
    { 0 },
};

/* ---- contract -------------------------------------------------------------------------------- */

static enum assay_status check(const struct assay_args *a, struct assay_err *err)
{
    const struct assay_tensor *boxes = &a->in[BOXES].t[0], *scores = &a->in[SCORES].t[0];
    double limit = a->attr[IOU_THRESHOLD].f;
    char text[128];

    if (boxes->rank != 2 || boxes->shape[1] != 4)
        return assay_fail(err, ASSAY_INVALID, "boxes is %s, not [n,4]",
                          assay_tensor_text(boxes, text, sizeof text));
    if (scores->rank != 1 || scores->shape[0] != boxes->shape[0])
        return assay_fail(err, ASSAY_INVALID, "scores is %s, boxes has %lld",
                          assay_tensor_text(scores, text, sizeof text), (long long)boxes->shape[0]);
    if (boxes->shape[0] > INT32_MAX)
        return assay_fail(err, ASSAY_INVALID, "%lld boxes, at most %lld are supported",
                          (long long)boxes->shape[0], (long long)INT32_MAX);
    if (!(limit >= 0 && limit <= 1))
        return assay_fail(err, ASSAY_INVALID, "iou_threshold %g is not in 0..1", limit);
    return ASSAY_OK;
}

static enum assay_status check_values(const struct assay_args *a, struct assay_err *err)
{
    const float *box = a->in[BOXES].t[0].data, *score = a->in[SCORES].t[0].data;

    for (int64_t i = 0; i < a->in[BOXES].t[0].shape[0]; i++, box += 4) {
        if (box[0] > box[2] || box[1] > box[3])
            return assay_fail(err, ASSAY_INVALID, "box %lld ends before it begins: %g,%g to %g,%g",
                              (long long)i, (double)box[0], (double)box[1], (double)box[2],
                              (double)box[3]);
        if (isnan(score[i]))
            return assay_fail(err, ASSAY_INVALID, "score %lld is NaN", (long long)i);
    }
    return ASSAY_OK;
}

static enum assay_status infer(struct assay_args *a, struct assay_err *err)
{
    (void)err;
    a->out[0].t[0] = (struct assay_tensor){ .dtype = ASSAY_I64,
                                            .rank = 1,
                                            .shape = { a->in[BOXES].t[0].shape[0] } };
    return ASSAY_OK;
}

/* ---- overlap --------------------------------------------------------------------------------- */

struct box {
    double x1, y1, x2, y2, area;
};

static double round32(const struct assay_args *a, double v)
{
    return assay_round(a, ASSAY_F32, v);
}

static struct box load_box(const struct assay_args *a, int64_t i)
{
    const float *v = (const float *)a->in[BOXES].t[0].data + 4 * i;
    struct box b = { (double)v[0], (double)v[1], (double)v[2], (double)v[3], 0 };

    b.area = round32(a, round32(a, b.x2 - b.x1) * round32(a, b.y2 - b.y1));
    return b;
}

/* A NaN wins. */
static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

static double smaller(double a, double b)
{
    return a < b || isnan(a) ? a : b;
}

static double overlap(const struct assay_args *a, const struct box *p, const struct box *q)
{
    double w = round32(a, smaller(p->x2, q->x2) - larger(p->x1, q->x1));
    double h = round32(a, smaller(p->y2, q->y2) - larger(p->y1, q->y1));
    double inter = round32(a, larger(w, 0) * larger(h, 0));
    double both = round32(a, round32(a, p->area + q->area) - inter);

    return round32(a, inter / round32(a, both + round32(a, 1e-6)));
}

/* ---- picks ----------------------------------------------------------------------------------- */

/*
 * What is picked, by the cells of a grid that it covers: boxes that overlap have a cell in common.
 * The first pick, boxes that are not finite and those that cover many cells are in a list for all.
 * Those without area are in none, as they suppress nothing that the first pick has left.
 */
enum { MOST_CELLS = 64, MOST_SIDE = 256 };

struct link {
    int32_t pick, next; /* next -1: the last one */
};

struct picks {
    const struct assay_args *a;
    struct assay_arena *arena;
    double limit;
    double margin;                   /* overlaps within limit (1 -+ margin) are told of */
    double lo_x, lo_y, per_x, per_y; /* cells a unit of length */
    int side;
    int32_t *cell; /* [side][side] first links, then the list for all */
    struct box *pick;
    struct link *link;
    int64_t n_picks, pick_room, n_links, link_room;
};

static enum assay_status grow(void **array, int64_t n, int64_t *room, size_t size,
                              struct assay_arena *arena, struct assay_err *err)
{
    void *wider;

    if (n < *room)
        return ASSAY_OK;
    *room = 2 * *room + 1024;
    wider = assay_arena_array(arena, (size_t)*room, size);
    if (!wider)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld picks", (long long)*room);
    if (n > 0)
        memcpy(wider, *array, (size_t)n * size);
    *array = wider;
    return ASSAY_OK;
}

/* Cells about half as wide as boxes are, so that each covers a few of them. */
static enum assay_status picks_begin(struct picks *s, const struct assay_args *a,
                                     struct assay_arena *arena, struct assay_err *err)
{
    double lo_x = INFINITY, lo_y = INFINITY, hi_x = -INFINITY, hi_y = -INFINITY, sum = 0;
    int64_t n = a->in[BOXES].t[0].shape[0], n_finite = 0, n_cells;

    *s = (struct picks){ .a = a, .arena = arena, .limit = round32(a, a->attr[IOU_THRESHOLD].f) };
    for (int64_t i = 0; i < n; i++) {
        struct box b = load_box(a, i);

        if (!isfinite(b.x1 + b.y1 + b.x2 + b.y2))
            continue;
        lo_x = fmin(lo_x, b.x1);
        lo_y = fmin(lo_y, b.y1);
        hi_x = fmax(hi_x, b.x2);
        hi_y = fmax(hi_y, b.y2);
        sum += fmax(b.x2 - b.x1, b.y2 - b.y1);
        n_finite++;
    }
    s->side = 1;
    if (n_finite > 0 && sum > 0)
        s->side = (int)fmin(MOST_SIDE,
                            fmax(1, fmax(hi_x - lo_x, hi_y - lo_y) / (sum / (double)n_finite)));
    s->lo_x = n_finite ? lo_x : 0;
    s->lo_y = n_finite ? lo_y : 0;
    s->per_x = hi_x > lo_x ? s->side / (hi_x - lo_x) : 0;
    s->per_y = hi_y > lo_y ? s->side / (hi_y - lo_y) : 0;
    n_cells = (int64_t)s->side * s->side + 1;
    s->cell = assay_arena_array(arena, (size_t)n_cells, sizeof *s->cell);
    if (!s->cell)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld cells", (long long)n_cells);
    memset(s->cell, 0xff, (size_t)n_cells * sizeof *s->cell); /* -1 */
    return ASSAY_OK;
}

static int place(double v, double lo, double per, int side)
{
    double p = (v - lo) * per;

    return p < side ? (int)fmax(p, 0) : side - 1;
}

/* The cells that a box covers, but for its outermost parts; false when they are many, or it is not
 * finite. */
static bool covers(const struct picks *s, const struct box *b, double inset, int from[2], int to[2])
{
    double in_x = inset * (b->x2 - b->x1), in_y = inset * (b->y2 - b->y1);

    if (!isfinite(b->x1 + b->y1 + b->x2 + b->y2))
        return false;
    from[0] = place(b->x1 + in_x, s->lo_x, s->per_x, s->side);
    from[1] = place(b->y1 + in_y, s->lo_y, s->per_y, s->side);
    to[0] = place(b->x2 - in_x, s->lo_x, s->per_x, s->side);
    to[1] = place(b->y2 - in_y, s->lo_y, s->per_y, s->side);
    return (to[0] - from[0] + 1) * (to[1] - from[1] + 1) <= MOST_CELLS;
}

static enum assay_status add_link(struct picks *s, int64_t cell, struct assay_err *err)
{
    void *link = s->link;

    ASSAY_TRY(grow(&link, s->n_links, &s->link_room, sizeof *s->link, s->arena, err));
    s->link = link;
    s->link[s->n_links] = (struct link){ (int32_t)s->n_picks, s->cell[cell] };
    s->cell[cell] = (int32_t)s->n_links++;
    return ASSAY_OK;
}

static enum assay_status add_pick(struct picks *s, const struct box *b, struct assay_err *err)
{
    void *pick = s->pick;
    int from[2], to[2];

    if (b->area == 0 && s->n_picks > 0)
        return ASSAY_OK;
    ASSAY_TRY(grow(&pick, s->n_picks, &s->pick_room, sizeof *s->pick, s->arena, err));
    s->pick = pick;
    s->pick[s->n_picks] = *b;
    if (s->n_picks == 0 || !covers(s, b, 0, from, to))
        ASSAY_TRY(add_link(s, (int64_t)s->side * s->side, err));
    else
        for (int y = from[1]; y <= to[1]; y++)
            for (int x = from[0]; x <= to[0]; x++)
                ASSAY_TRY(add_link(s, (int64_t)y * s->side + x, err));
    s->n_picks++;
    return ASSAY_OK;
}

enum fate { STAYS, FALLS, UNSURE };

/* What a pick does to a box. */
static enum fate meets(const struct picks *s, const struct box *pick, const struct box *b)
{
    double v = overlap(s->a, pick, b);

    if (s->margin > 0 && fabs(v - s->limit) < s->margin * s->limit)
        return UNSURE;
    return v <= s->limit ? STAYS : FALLS;
}

/* What the picks of a list do to it; *by: the one that decides. */
static enum fate meets_list(const struct picks *s, int64_t cell, const struct box *b, int32_t *by)
{
    for (int32_t l = s->cell[cell]; l >= 0 && s->link && s->pick; l = s->link[l].next) {
        enum fate f = meets(s, &s->pick[s->link[l].pick], b);

        if (f != STAYS) {
            *by = s->link[l].pick;
            return f;
        }
    }
    return STAYS;
}

static enum fate fate_of(const struct picks *s, const struct box *b, int32_t *by)
{
    enum fate f = meets_list(s, (int64_t)s->side * s->side, b, by);
    int from[2], to[2];

    if (f != STAYS || !s->pick) /* none was picked so far */
        return f;
    /* More overlap than t is more than that part of the length in each direction, and so it reaches
     * beyond the outermost t on either side. */
    if (!covers(s, b, fmin(s->limit, 0.5) * (1 - 1e-4), from, to)) {
        for (*by = 0; *by < s->n_picks && f == STAYS; ++*by)
            f = meets(s, &s->pick[*by], b);
        --*by;
        return f;
    }
    /* what decides covers the middle, mostly */
    f = meets_list(s, (int64_t)((from[1] + to[1]) / 2) * s->side + (from[0] + to[0]) / 2, b, by);
    for (int y = from[1]; y <= to[1] && f == STAYS; y++)
        for (int x = from[0]; x <= to[0] && f == STAYS; x++)
            f = meets_list(s, (int64_t)y * s->side + x, b, by);
    return f;
}

/* Indices by descending score, equal ones upwards, in the lower halves of n numbers. */
static uint64_t *rank(const struct assay_tensor *scores, struct assay_arena *arena,
                      struct assay_err *err)
{
    int64_t n = scores->shape[0];
    uint64_t *order = assay_arena_array(arena, (size_t)n + 1, sizeof *order);

    if (!order) {
        assay_fail(err, ASSAY_NOMEM, "no memory for the order of %lld boxes", (long long)n);
        return NULL;
    }
    assay__order_keys(scores, 0, n, order);
    for (int64_t i = 0; i < n; i++)
        order[i] = (UINT32_MAX - order[i]) << 32 | (uint64_t)i;
    assay__order_sort(order, n, 64);
    return order;
}

static enum assay_status golden(const struct assay_args *a, struct assay_err *err)
{
    int64_t n = a->in[BOXES].t[0].shape[0], *keep = a->out[0].t[0].data, used = 0;
    uint64_t *order = rank(&a->in[SCORES].t[0], a->arena, err);
    struct picks s = { 0 };
    int32_t by;

    if (!order)
        return ASSAY_NOMEM;
    ASSAY_TRY(picks_begin(&s, a, a->arena, err));
    for (int64_t r = 0; r < n; r++) {
        int64_t i = (int64_t)(uint32_t)order[r];
        struct box b = load_box(a, i);

        if (fate_of(&s, &b, &by) != STAYS)
            continue;
        keep[used++] = i;
        ASSAY_TRY(add_pick(&s, &b, err));
    }
    a->out[0].t[0].shape[0] = used;
    return ASSAY_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Each score is looked at; one index is sure to be written. */
static void work(const struct assay_args *a, struct assay_work *w)
{
    if (w->bytes_out > 0)
        w->bytes_out = sizeof(int64_t);
    assay__add_lanes(w, &a->in[SCORES], 1);
}

/* Nine operations for each pair; what is written does not count. */
static void work_npu(const struct assay_args *a, struct assay_work *w)
{
    double n = (double)a->in[BOXES].t[0].shape[0];

    w->amount[ASSAY_UNIT_VEC_32] += 9 * n * n;
    w->amount[ASSAY_UNIT_MTE3] = 0;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static enum assay_status sample(struct assay_sampler *s, struct assay_case *c,
                                struct assay_err *err)
{
    struct assay_shape n;

    ASSAY_TRY(assay__sample_room(s, c, BOXES, 1, err));
    ASSAY_TRY(assay__sample_room(s, c, SCORES, 1, err));
    assay_sample_shape(s, s->elements / 5 > 0 ? s->elements / 5 : 1, 1, ASSAY_F32, &n);
    c->in[BOXES].shape[0] = (struct assay_shape){ 2, { n.dim[0], 4 } };
    c->in[SCORES].shape[0] = n;
    c->in[SCORES].range[0] = (struct assay_range){ 0, 1 };
    return ASSAY_OK;
}

/*
 * Objects, and boxes around them as a detector gives them: most of them close to their object, the
 * better known ones more often met, some loose ones. The more boxes there are in all, the fewer
 * objects: a plain loop over all pairs shall end. Of boxes that are not finite one in 32 stays.
 */
struct scene {
    const struct assay_args *a;
    struct assay_key key;
    double lo, hi; /* of coordinates */
    double smallest, tight, loose_share;
    int64_t n_objects;
};

enum { OBJECT_DRAWS = 4, BOX_DRAWS = 8 };

static double draw(const struct scene *s, int64_t place)
{
    return assay_rng_unit(s->key, (uint64_t)place);
}

static struct box object(const struct scene *s, int64_t k)
{
    double span = s->hi - s->lo, side[2], at[2];

    for (int d = 0; d < 2; d++) {
        side[d] = span * 0.02 * pow(10, draw(s, k * OBJECT_DRAWS + d));
        side[d] = fmin(fmax(side[d], s->smallest), span / 2);
        at[d] = s->lo + (span - side[d]) * draw(s, k * OBJECT_DRAWS + 2 + d);
    }
    return (struct box){ at[0], at[1], at[0] + side[0], at[1] + side[1], 0 };
}

static void place_boxes(void *ctx, int64_t begin, int64_t end)
{
    const struct scene *s = ctx;

    for (int64_t i = begin; i < end; i++) {
        float *v = (float *)s->a->in[BOXES].t[0].data + 4 * i;
        int64_t first = s->n_objects * OBJECT_DRAWS + i * BOX_DRAWS;
        double u = draw(s, first), reach, x[4];
        struct box b = object(s, (int64_t)(u * sqrt(u) * (double)s->n_objects));

        if (!isfinite(v[0] + v[1] + v[2] + v[3]) && draw(s, first + 1) < 1.0 / 32) {
            for (int d = 0; d < 2; d++)
                if (v[d] > v[d + 2]) {
                    float t = v[d];

                    v[d] = v[d + 2];
                    v[d + 2] = t;
                }
            continue;
        }
        reach = draw(s, first + 2) < s->loose_share ? 0.4 : s->tight;
        x[0] = b.x1 + reach * (b.x2 - b.x1) * (2 * draw(s, first + 3) - 1);
        x[1] = b.y1 + reach * (b.y2 - b.y1) * (2 * draw(s, first + 4) - 1);
        x[2] = b.x2 + reach * (b.x2 - b.x1) * (2 * draw(s, first + 5) - 1);
        x[3] = b.y2 + reach * (b.y2 - b.y1) * (2 * draw(s, first + 6) - 1);
        for (int d = 0; d < 4; d++)
            v[d] = (float)fmin(fmax(x[d], s->lo), s->hi);
    }
}

static void find_bounds(struct scene *s)
{
    enum { MOST = 1 << 16 };
    const struct assay_tensor *boxes = &s->a->in[BOXES].t[0];

    s->lo = INFINITY;
    s->hi = -INFINITY;
    for (int64_t i = 0; i < assay_numel(boxes) && i < MOST; i++) {
        double v = assay_load(boxes, i);

        if (isfinite(v)) {
            s->lo = fmin(s->lo, v);
            s->hi = fmax(s->hi, v);
        }
    }
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Distinct scores 1/n .. 1, the best at start, the next one `step` further on, round and round. */
static int64_t draw_step(struct assay_key key, int64_t n, int64_t *start)
{
    int64_t step = n > 2 ? n / 4 + (int64_t)assay_rng_below(key, 0, (uint64_t)(n / 2)) : 1;

    *start = (int64_t)assay_rng_below(key, 1, (uint64_t)n);
    while (common_divisor(step, n) != 1)
        step++;
    return step;
}

/* What is too close to the threshold: a copy of the pick, which falls, or no area, which stays. */
static void settle(const struct picks *s, int32_t by, float *v, struct box *b)
{
    const struct box *pick = &s->pick[by];
    double v1 = overlap(s->a, pick, pick);

    *b = (struct box){ b->x1, b->y1, b->x1, b->y1, 0 };
    if (v1 > s->limit * (1 + s->margin))
        *b = *pick;
    v[0] = (float)b->x1;
    v[1] = (float)b->y1;
    v[2] = (float)b->x2;
    v[3] = (float)b->y2;
}

/* Goes through the boxes as the golden does, and settles those whose fate is not sure. */
static enum assay_status settle_all(struct assay_args *a, int64_t start, int64_t step,
                                    struct assay_arena *arena, struct assay_err *err)
{
    int64_t n = a->in[BOXES].t[0].shape[0], i = start;
    struct picks s;
    int32_t by;

    ASSAY_TRY(picks_begin(&s, a, arena, err));
    s.margin = 1e-4;
    for (int64_t r = 0; r < n; r++, i = i + step < n ? i + step : i + step - n) {
        struct box b = load_box(a, i);
        enum fate f = fate_of(&s, &b, &by);

        if (f == UNSURE && s.pick) {
            settle(&s, by, (float *)a->in[BOXES].t[0].data + 4 * i, &b);
            f = fate_of(&s, &b, &by);
        }
        if (f == STAYS)
            ASSAY_TRY(add_pick(&s, &b, err));
    }
    return ASSAY_OK;
}

static enum assay_status fill(struct assay_args *a, struct assay_key key, struct assay_err *err)
{
    struct scene s = { .a = a, .key = assay_key_sub(key, 0) };
    int64_t n = a->in[BOXES].t[0].shape[0], start, step;
    double left = fmax(1 - a->attr[IOU_THRESHOLD].f, 0.05);
    float *score = a->in[SCORES].t[0].data;
    struct assay_arena arena = { 0 };
    enum assay_status st = ASSAY_OK;

    if (n == 0)
        return ASSAY_OK;
    find_bounds(&s);
    s.n_objects = (int64_t)fmax(1, fmin((double)n / 8, 2e8 / (double)n));
    s.smallest = sqrt(8e-6 / left); /* 1e-6 in the divisor is little beside such an area */
    s.tight = left / 32;
    s.loose_share = fmin(0.3, (double)s.n_objects / (double)n);
    step = draw_step(assay_key_sub(key, 1), n, &start);
    for (int64_t r = 0, i = start; r < n; r++, i = i + step < n ? i + step : i + step - n)
        score[i] = (float)((double)(n - r) / (double)n);
    if (s.lo < s.hi) {
        assay_parallel(n, 1 << 12, a->n_threads, place_boxes, &s);
        st = settle_all(a, start, step, &arena, err);
    }
    assay_arena_release(&arena);
    return st;
}

const struct assay_op assay_op_nms = {
    .name = "nms",
    .tier = 3,
    .formula =
        "indices of boxes by descending score, without those that overlap one before by more "
        "than iou_threshold",
    .constraints = "boxes are [x1, y1, x2, y2], x1 <= x2 and y1 <= y2, or hold NaN; as many as "
                   "scores\n"
                   "scores are not NaN; of equal ones the lower index comes first\n"
                   "overlap is intersection / (union + 1e-6); NaN counts as more than the "
                   "threshold\n"
                   "0 <= iou_threshold <= 1\n",
    .in = in,
    .out = out,
    .attrs = attrs,
    .sample = sample,
    .check = check,
    .check_values = check_values,
    .infer = infer,
    .fill = fill,
    .golden = golden,
    .work = work,
    .work_npu = work_npu,
    .source = "CANN Bench level 3, NMS",
};
