/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform.c: our goldens against inputs and results that were recorded elsewhere.
 *
 * DIR/<op>/manifest.json lists the cases of an operator; tensors are .npy files beside it. Each
 * case has the results of two runs: fp64 and native. Our fp64 result must agree closely, our native
 * result is judged as a candidate would be, with the recorded native result as its companion.
 */
#include "assay/bench.h"

#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_MAX_BYTES = 64 << 20, ID_MAX = 64 };

/*
 * Largest accepted |ours - theirs| / max(|theirs|, floor * largest |theirs| of the tensor).
 *
 * EXACT: two fp64 evaluations differ by the last bits of the elementary functions and by the order
 * of sums; 1e-12 relative, or 1e-14 of the largest value where terms cancel. SINGLE: references
 * that compute in float32 inside. An expression of a few steps, each within some 2^-23, stays below
 * 2^-20, and a network of some more below 2^-19; results of cancellation, or that vanish in
 * float32, are measured against 2^-4 of the largest: no closer than its last bit, 2^-23.
 */
struct bound {
    double relative, floor;
};
static const struct bound exact_bound = { 1e-12, 1e-2 };
static const struct bound single_bound = { 0x1p-19, 0x1p-4 };

struct run {
    const struct assay_op *op;
    const char *id; /* "c01" */
    char folder[ASSAY_PATH_MAX];
    struct assay_arena *arena;
    FILE *out;
    bool verbose;
};

/* One recorded case in memory. */
struct recorded {
    struct assay_args args;
    struct assay_slot fp64[ASSAY_MAX_OUT], native[ASSAY_MAX_OUT];
};

/* Where our fp64 result is farthest from the recorded one. */
struct distance {
    bool passed;
    double worst;
    double int_bound;  /* largest integer tolerance that was granted; 0: integers agree exactly */
    int64_t n_int_off; /* integers that differ, within it */
    char text[256];    /* why it failed */
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Files lie in the folder of the operator or below: a manifest from elsewhere opens no others. */
static bool lies_below(const char *file)
{
    for (const char *p = file; *p; p += strcspn(p, "/"), p += *p == '/')
        if (!strncmp(p, "..", 2) && (!p[2] || p[2] == '/'))
            return false;
    return file[0] && file[0] != '/';
}

static enum assay_status read_tensor(struct run *r, const json_t *item, struct assay_tensor *t,
                                     struct assay_err *err)
{
    const char *file, *dtype_name;
    json_t *shape;
    enum assay_dtype dtype;
    char *path;
    bool same;

    ASSAY_TRY(assay__json_string(item, "", "file", &file, err));
    ASSAY_TRY(assay__json_string(item, file, "dtype", &dtype_name, err));
    ASSAY_TRY(assay__json_array(item, file, "shape", &shape, err));
    if (!assay_dtype_parse(dtype_name, &dtype))
        return assay_fail(err, ASSAY_PARSE, "%s: dtype '%s' unknown", file, dtype_name);
    if (!lies_below(file))
        return assay_fail(err, ASSAY_PARSE, "%s: not below the folder of the manifest", file);
    path = assay_arena_printf(r->arena, "%s/%s", r->folder, file);
    if (!path)
        return assay_fail(err, ASSAY_NOMEM, "no memory for a path");
    ASSAY_TRY(assay_npy_read(t, path, dtype == ASSAY_BF16, r->arena, err));
    same = t->dtype == dtype && (size_t)t->rank == json_array_size(shape);
    for (int d = 0; same && d < t->rank; d++) {
        int64_t extent;

        same =
            assay__json_as_int(json_array_get(shape, (size_t)d), &extent) && extent == t->shape[d];
    }
    if (!same) {
        char text[128];

        return assay_fail(err, ASSAY_PARSE, "%s holds %s, the manifest says otherwise", path,
                          assay_tensor_text(t, text, sizeof text));
    }
    return ASSAY_OK;
}

/* One parameter: absent (file null), a tensor, or a list. */
static enum assay_status read_slot(struct run *r, const json_t *item, struct assay_slot *slot,
                                   struct assay_err *err)
{
    const json_t *list = json_object_get(item, "list");
    bool is_list = json_is_array(list);

    *slot = (struct assay_slot){ NULL, 0 };
    if (!is_list && !assay__json_has(item, "file"))
        return ASSAY_OK;
    slot->n = is_list ? (int64_t)json_array_size(list) : 1;
    if (slot->n > ASSAY_MAX_LIST)
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "a list of %lld tensors, at most %d are supported", (long long)slot->n,
                          ASSAY_MAX_LIST);
    slot->t = assay_arena_array(r->arena, (size_t)slot->n + 1, sizeof *slot->t);
    if (!slot->t)
        return assay_fail(err, ASSAY_NOMEM, "no memory for %lld tensors", (long long)slot->n);
    for (int64_t k = 0; k < slot->n; k++)
        ASSAY_TRY(
            read_tensor(r, is_list ? json_array_get(list, (size_t)k) : item, &slot->t[k], err));
    return ASSAY_OK;
}

/* The array `key` of a case: parameters by name into slots in the order of the contract; missing
 * ones absent. */
static enum assay_status read_slots(struct run *r, const json_t *item, const char *key,
                                    const struct assay_param *table, struct assay_slot *slots,
                                    struct assay_err *err)
{
    json_t *array;
    size_t n;

    ASSAY_TRY(assay__json_array(item, "", key, &array, err));
    n = json_array_size(array);
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(array, i);
        const char *name;
        int at;

        ASSAY_TRY(assay__json_string(entry, key, "name", &name, err));
        at = assay_param_find(table, name);
        if (at < 0)
            return assay_fail(err, ASSAY_PARSE, "%s: '%s' is no parameter of %s", key, name,
                              r->op->name);
        ASSAY_TRY(read_slot(r, entry, &slots[at], err));
    }
    return ASSAY_OK;
}

static bool read_ints(struct run *r, const json_t *v, struct assay_ints *out)
{
    size_t n = json_array_size(v);
    int64_t *list = assay_arena_array(r->arena, n + 1, sizeof *list);

    if (!json_is_array(v) || !list)
        return false;
    *out = (struct assay_ints){ list, (int64_t)n };
    for (size_t i = 0; i < n; i++)
        if (!assay__json_as_int(json_array_get(v, i), &list[i]))
            return false;
    return true;
}

static bool read_floats(struct run *r, const json_t *v, struct assay_floats *out)
{
    size_t n = json_array_size(v);
    double *list = assay_arena_array(r->arena, n + 1, sizeof *list);

    if (!json_is_array(v) || !list)
        return false;
    *out = (struct assay_floats){ list, (int64_t)n };
    for (size_t i = 0; i < n; i++)
        if (!assay__json_as_number(json_array_get(v, i), &list[i]))
            return false;
    return true;
}

static bool read_choice(const json_t *v, const struct assay_attr *a, int64_t *out)
{
    const char *word;

    if (!assay__json_as_string(v, &word))
        return false;
    for (int64_t i = 0; a->choices[i]; i++)
        if (strcmp(a->choices[i], word) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool read_value(struct run *r, const json_t *v, const struct assay_attr *a,
                       struct assay_value *out)
{
    *out = (struct assay_value){ .set = true };
    switch (a->type) {
    case ASSAY_ATTR_INT:
        return assay__json_as_int(v, &out->i);
    case ASSAY_ATTR_FLOAT:
        return assay__json_as_number(v, &out->f);
    case ASSAY_ATTR_BOOL:
        out->i = json_is_true(v);
        return json_is_boolean(v);
    case ASSAY_ATTR_ENUM:
        return read_choice(v, a, &out->i);
    case ASSAY_ATTR_INTS:
        return read_ints(r, v, &out->ints);
    case ASSAY_ATTR_FLOATS:
        return read_floats(r, v, &out->floats);
    }
    return false;
}

/* Attributes given, over the defaults of the contract; null counts as not given. */
static enum assay_status read_attrs(struct run *r, const json_t *item, struct assay_value *attr,
                                    struct assay_err *err)
{
    json_t *given = json_object_get(item, "attrs");
    const char *name;
    json_t *v;

    for (int i = 0; i < assay_op_n_attr(r->op); i++)
        attr[i] = r->op->attrs[i].def;
    if (given && !json_is_object(given))
        return assay_fail(err, ASSAY_PARSE, "field 'attrs': object expected, got %s",
                          assay__json_type_text(given));
    json_object_foreach(given, name, v)
    {
        int at = assay_attr_find(r->op->attrs, name);

        if (json_is_null(v))
            continue;
        if (at < 0)
            return assay_fail(err, ASSAY_PARSE, "'%s' is no attribute of %s", name, r->op->name);
        if (!read_value(r, v, &r->op->attrs[at], &attr[at]))
            return assay_fail(err, ASSAY_PARSE, "attribute %s has an unusable value", name);
    }
    return ASSAY_OK;
}

/* The recorded inputs as a case, so that the contract is checked where all cases are checked. */
static enum assay_status make_args(struct run *r, const struct assay_slot *in, struct assay_case *c,
                                   struct assay_args *args, struct assay_err *err)
{
    int n_in = assay_op_n_in(r->op);

    for (int i = 0; i < n_in; i++) {
        struct assay_case_in *to = &c->in[i];

        to->n = in[i].n;
        to->shape = assay_arena_array(r->arena, (size_t)in[i].n + 1, sizeof *to->shape);
        to->range = assay_arena_zero(r->arena, ((size_t)in[i].n + 1) * sizeof *to->range);
        if (!to->shape || !to->range)
            return assay_fail(err, ASSAY_NOMEM, "no memory for the shapes of a case");
        for (int64_t k = 0; k < in[i].n; k++) {
            if (in[i].t[k].dtype != in[i].t[0].dtype)
                return assay_fail(err, ASSAY_PARSE, "%s: tensors of different dtypes in a list",
                                  r->op->in[i].name);
            to->dtype = in[i].t[0].dtype;
            to->shape[k].rank = in[i].t[k].rank;
            memcpy(to->shape[k].dim, in[i].t[k].shape, sizeof to->shape[k].dim);
        }
    }
    ASSAY_TRY(assay_case_args(args, c, r->arena, err));
    for (int i = 0; i < n_in; i++)
        for (int64_t k = 0; k < in[i].n; k++)
            args->in[i].t[k].data = in[i].t[k].data;
    return r->op->check_values ? r->op->check_values(args, err) : ASSAY_OK;
}

static enum assay_status read_case(struct run *r, const json_t *item, struct recorded *rec,
                                   struct assay_err *err)
{
    struct assay_slot in[ASSAY_MAX_IN] = { 0 };
    struct assay_case c = { .op = r->op, .note = "" };
    const char *digits = r->id + strcspn(r->id, "0123456789");

    c.id = (int)strtol(digits, NULL, 10);
    ASSAY_TRY(read_slots(r, item, "inputs", r->op->in, in, err));
    ASSAY_TRY(read_attrs(r, item, c.attr, err));
    ASSAY_TRY(make_args(r, in, &c, &rec->args, err));
    ASSAY_TRY(read_slots(r, item, "outputs_fp64", r->op->out, rec->fp64, err));
    return read_slots(r, item, "outputs_native", r->op->out, rec->native, err);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* 0 for the same value (NaN agrees with NaN, an infinity with the same one), else how far apart. */
static double apart(double got, double want, double scale)
{
    if (got == want || (isnan(got) && isnan(want)))
        return 0;
    if (!isfinite(got) || !isfinite(want) || scale == 0)
        return INFINITY;
    return fabs(got - want) / scale;
}

static void compare_floats(struct distance *d, const char *name, const struct assay_tensor *got,
                           const struct assay_tensor *want, bool single)
{
    struct bound b = single ? single_bound : exact_bound;
    int64_t n = assay_numel(want);
    double largest = 0;

    for (int64_t i = 0; i < n; i++) {
        double v = fabs(assay_load(want, i));

        if (isfinite(v) && v > largest)
            largest = v;
    }
    for (int64_t i = 0; i < n; i++) {
        double w = assay_load(want, i);
        double g = assay_round_to(want->dtype, assay_load(got, i));
        double e = apart(single ? (double)(float)g : g, w, fmax(fabs(w), b.floor * largest));

        if (e > d->worst)
            d->worst = e;
        if (e > b.relative && d->passed) {
            char ours[ASSAY__NUMBER_MAX], theirs[ASSAY__NUMBER_MAX];

            d->passed = false;
            snprintf(d->text, sizeof d->text, "%s element %lld is %s, recorded is %s", name,
                     (long long)i, assay__number_text(g, ours), assay__number_text(w, theirs));
        }
    }
}

/* Whether two integers are no farther apart than bound; exact for all of 64 bits. */
static bool within(int64_t a, int64_t b, double bound)
{
    return (double)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) <= bound;
}

/* Exactly, or where the reference computed them from float32 numbers, within the tolerance that the
 * operator declares for candidates: next to a tie, float32 rounds to the other side. */
static void compare_ints(struct distance *d, const char *name, const struct assay_tensor *got,
                         const struct assay_tensor *want, double bound)
{
    int64_t n = assay_numel(want);

    d->int_bound = fmax(d->int_bound, bound);
    for (int64_t i = 0; i < n && d->passed; i++) {
        int64_t g = assay_load_int(got, i), w = assay_load_int(want, i);

        if (g != w && within(g, w, bound)) {
            d->n_int_off++;
        } else if (g != w) {
            d->passed = false;
            d->worst = INFINITY;
            snprintf(d->text, sizeof d->text, "%s element %lld is %lld, recorded is %lld", name,
                     (long long)i, (long long)g, (long long)w);
        }
    }
}

/* Whether ours and the recorded output have the same tensors: what differs else is no matter of
 * values. */
static bool comparable(struct distance *d, const struct assay_param *p,
                       const struct assay_slot *got, const struct assay_slot *want)
{
    if (got->n != want->n) {
        snprintf(d->text, sizeof d->text, "%s has %lld tensors, recorded are %lld", p->name,
                 (long long)got->n, (long long)want->n);
        return false;
    }
    for (int64_t k = 0; k < want->n; k++) {
        const struct assay_tensor *g = &got->t[k], *w = &want->t[k];
        char ours[128], theirs[128];

        /* some references end in fewer bits in both of their runs */
        bool same =
            g->dtype == w->dtype || (g->dtype == ASSAY_F64 && assay_dtype_is_float(w->dtype));

        if (!assay_same_shape(g, w) || !same) {
            snprintf(d->text, sizeof d->text, "%s is %s, recorded is %s", p->name,
                     assay_tensor_text(g, ours, sizeof ours),
                     assay_tensor_text(w, theirs, sizeof theirs));
            return false;
        }
    }
    return true;
}

static void compare_slot(struct distance *d, const struct assay_op *op, const struct assay_param *p,
                         const struct assay_slot *got, const struct assay_slot *want)
{
    bool single = op->f32_reference;

    if (p->flags & ASSAY_PARAM_UNJUDGED)
        return;
    for (int64_t k = 0; k < want->n && d->passed; k++)
        if (assay_dtype_is_float(want->t[k].dtype))
            compare_floats(d, p->name, &got->t[k], &want->t[k], single);
        else if (!(p->flags & ASSAY_PARAM_INDEX)) /* ties: judged with the native result */
            compare_ints(d, p->name, &got->t[k], &want->t[k],
                         single ? assay_op_tau(op, want->t[k].dtype) : 0);
}

/* Our fp64 outputs against the recorded ones. False when they cannot be compared value by value. */
static bool compare_outputs(struct distance *d, const struct assay_op *op,
                            const struct assay_slot *got, const struct assay_slot *want)
{
    int n_out = assay_op_n_out(op);

    *d = (struct distance){ .passed = true };
    for (int i = 0; i < n_out; i++)
        if (!comparable(d, &op->out[i], &got[i], &want[i])) {
            d->passed = false;
            d->worst = INFINITY;
            return false;
        }
    for (int i = 0; i < n_out; i++)
        compare_slot(d, op, &op->out[i], &got[i], &want[i]);
    return true;
}

static void report(const struct run *r, const struct distance *d, const struct assay_match *m,
                   bool passed)
{
    fprintf(r->out, "%s/%s %s  fp64 %.2g", r->op->name, r->id, passed ? "pass" : "FAIL", d->worst);
    if (r->op->f32_reference)
        fputs(" (float32 accuracy", r->out);
    if (d->int_bound > 0)
        fprintf(r->out, "; integers within %g, %lld not equal", d->int_bound,
                (long long)d->n_int_off);
    if (r->op->f32_reference)
        fputc(')', r->out);
    if (!d->passed)
        fprintf(r->out, " FAIL: %s", d->text);
    fprintf(r->out, ", native %s", m->passed ? "pass" : "FAIL");
    if (!m->passed)
        fprintf(r->out, ": %s", m->text[0] ? m->text : assay_reason_name(m->reason));
    if (r->verbose)
        fprintf(r->out, " (mean error %.2g, largest %.2g of %lld elements)", m->mere, m->mare,
                (long long)m->total);
    fputc('\n', r->out);
}

/* Recorded outputs of fewer bits as the judge wants them. */
static enum assay_status widen(struct run *r, struct assay_slot *s, struct assay_err *err)
{
    for (int64_t k = 0; k < s->n; k++) {
        struct assay_tensor *t = &s->t[k], wide = *t;
        int64_t n = assay_numel(t);

        if (!assay_dtype_is_float(t->dtype) || t->dtype == ASSAY_F64)
            continue;
        wide.dtype = ASSAY_F64;
        wide.data = assay_arena_array(r->arena, (size_t)n + 1, sizeof(double));
        if (!wide.data)
            return assay_fail(err, ASSAY_NOMEM, "no memory for a recorded output");
        assay_load_n(t, 0, n, wide.data);
        *t = wide;
    }
    return ASSAY_OK;
}

static enum assay_status run_case(struct run *r, const json_t *item, struct assay_conform *sum,
                                  struct assay_err *err)
{
    struct recorded rec = { 0 };
    struct assay_slot fp64[ASSAY_MAX_OUT] = { 0 }, native[ASSAY_MAX_OUT] = { 0 };
    struct distance d;
    struct assay_match m = { .text = "not judged" };
    bool passed;

    ASSAY_TRY(read_case(r, item, &rec, err));
    ASSAY_TRY(assay_golden_run(fp64, r->op, &rec.args, false, r->arena, err));
    ASSAY_TRY(assay_golden_run(native, r->op, &rec.args, true, r->arena, err));
    passed = compare_outputs(&d, r->op, fp64, rec.fp64);
    for (int i = 0; i < assay_op_n_out(r->op); i++)
        ASSAY_TRY(widen(r, &rec.fp64[i], err));
    if (passed)
        ASSAY_TRY(assay_judge(&m, NULL, ASSAY_RULES_PAPER, r->op, &rec.args, native, rec.fp64,
                              rec.native, err));
    passed = d.passed && m.passed;
    report(r, &d, &m, passed);
    sum->n_cases++;
    sum->n_passed += passed;
    sum->n_failed += !passed;
    sum->n_f32 += r->op->f32_reference;
    return ASSAY_OK;
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* It goes to the screen: a word, such as "c01". */
static enum assay_status check_id(const char *id, struct assay_err *err)
{
    size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

    return n > 0 && n <= ID_MAX && !id[n]
               ? ASSAY_OK
               : assay_fail(err, ASSAY_PARSE, "'%.80s' is no id of a case", id);
}

static enum assay_status run_cases(struct run *r, const json_t *root, struct assay_conform *sum,
                                   struct assay_err *err)
{
    json_t *cases;
    size_t n;

    ASSAY_TRY(assay__json_array(root, "", "cases", &cases, err));
    n = json_array_size(cases);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(cases, i);
        enum assay_status st;

        ASSAY_TRY(assay__json_string(item, "cases", "id", &r->id, err));
        ASSAY_TRY(check_id(r->id, err));
        st = run_case(r, item, sum, err);
        assay_arena_reset(r->arena);
        if (st)
            return assay_wrap(err, st, "%s", r->id);
    }
    return ASSAY_OK;
}

/* *found is false when there is no manifest of this operator. */
static enum assay_status run_op(struct run *r, struct assay_conform *sum, bool *found,
                                struct assay_err *err)
{
    char path[ASSAY_PATH_MAX + 16];
    json_t *root = NULL;
    enum assay_status st;

    snprintf(path, sizeof path, "%s/manifest.json", r->folder);
    *found = access(path, F_OK) == 0;
    if (!*found)
        return ASSAY_OK;
    ASSAY_TRY(assay__json_read(&root, path, MANIFEST_MAX_BYTES, err));
    st = run_cases(r, root, sum, err);
    json_decref(root);
    return st ? assay_wrap(err, st, "%s", path) : ASSAY_OK;
}

static enum assay_status check_folder(const char *dir, struct assay_err *err)
{
    struct stat st;

    if (stat(dir, &st))
        return assay_fail(err, ASSAY_IO, "%s: %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return assay_fail(err, ASSAY_IO, "%s is not a folder", dir);
    return ASSAY_OK;
}

static void print_totals(FILE *out, const struct assay_conform *sum)
{
    fprintf(out, "%d cases: %d passed, %d failed", sum->n_cases, sum->n_passed, sum->n_failed);
    if (sum->n_f32 > 0)
        fprintf(out, " (%d at float32 accuracy)", sum->n_f32);
    fputc('\n', out);
}

enum assay_status assay_bench_conform(struct assay_conform *sum, const char *dir,
                                      const struct assay_op *const *ops, bool verbose,
                                      void *out_file, struct assay_err *err)
{
    struct assay_arena arena = { 0 };
    struct run r = { .arena = &arena, .out = out_file, .verbose = verbose };
    enum assay_status st = check_folder(dir, err);
    int n_found = 0;

    *sum = (struct assay_conform){ 0 };
    for (int i = 0; !st && ops[i]; i++) {
        bool found = false;
        int n = snprintf(r.folder, sizeof r.folder, "%s/%s", dir, ops[i]->name);

        r.op = ops[i];
        if (n < 0 || (size_t)n >= sizeof r.folder)
            st = assay_fail(err, ASSAY_INVALID, "path of folder %s is too long", ops[i]->name);
        else
            st = run_op(&r, sum, &found, err);
        n_found += found;
    }
    if (!st && n_found == 0)
        st = assay_fail(err, ASSAY_IO,
                        "%s holds no <operator>/manifest.json for any of the selected operators",
                        dir);
    if (!st)
        print_totals(r.out, sum);
    assay_arena_release(&arena);
    return st;
}
