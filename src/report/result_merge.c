/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_merge.c: the shards of a run as one result.
 *
 * A shard is a piece of the planned cases in their order, so that the pieces one after the other
 * are the plan, and only an operator at a seam was built twice.
 */
#include "assay/result.h"

#include "report/same_run.h"

#include <stdio.h>
#include <string.h>

struct merge {
    struct assay_result *out;
    const struct assay_result *const *in; /* in order of the shards */
    const char *const *names;
    int n;
    struct assay_err *err;
};

/* ---- do they belong together ----------------------------------------------------------------- */

/* Where the submission lay may differ: its files may not. */
static enum assay_status check_same(const struct merge *m, int i)
{
    const struct assay_manifest *a = &m->in[0]->manifest, *b = &m->in[i]->manifest;
    struct assay__difference d = { .what = NULL };

    assay__compare_runs(&d, a, b);
    assay__compare_text(&d, "submission", a->sources, b->sources);
    assay__compare_text(&d, "cases", a->cases, b->cases);
    assay__compare_text(&d, "baseline", a->baseline, b->baseline);
    assay__compare_number(&d, "number of shards", (uint64_t)a->n_shards, (uint64_t)b->n_shards);
    assay__compare_number(&d, "planned cases", (uint64_t)a->n_planned, (uint64_t)b->n_planned);
    assay__compare_number(&d, "hidden count", (uint64_t)a->n_hidden, (uint64_t)b->n_hidden);
    return d.what ? assay_fail(m->err, ASSAY_INVALID,
                               "%s and %s are of different runs: %s '%s' and '%s'", m->names[0],
                               m->names[i], d.what, d.a, d.b)
                  : ASSAY_OK;
}

/* A finished shard. */
static enum assay_status check_part(const struct merge *m, int i)
{
    const struct assay_result *r = m->in[i];
    int open = 0;

    if (r->manifest.shard < 1)
        return assay_fail(m->err, ASSAY_INVALID,
                          "%s is no shard; `assay run --shard I/N` measures one", m->names[i]);
    if (!r->manifest.sources[0])
        return assay_fail(m->err, ASSAY_INVALID,
                          "%s does not say which submission it measured: too many files",
                          m->names[i]);
    for (int k = 0; k < r->n_rows; k++)
        open += !r->rows[k].done;
    if (r->interrupted || open > 0)
        return assay_fail(m->err, ASSAY_INVALID,
                          "%s is not complete, %d of %d cases were not run; `assay run --resume` "
                          "goes on",
                          m->names[i], open, r->n_rows);
    return check_same(m, i);
}

/* in[] is in the order of shards: each once, and each as long as it must be. */
static enum assay_status check_parts(const struct merge *m)
{
    int64_t n = m->in[0]->manifest.n_shards, planned = m->in[0]->manifest.n_planned;

    for (int i = 0; i < m->n; i++)
        ASSAY_TRY(check_part(m, i));
    for (int i = 1; i < m->n; i++)
        if (m->in[i]->manifest.shard == m->in[i - 1]->manifest.shard)
            return assay_fail(m->err, ASSAY_INVALID, "%s and %s are both shard %d of %d",
                              m->names[i - 1], m->names[i], m->in[i]->manifest.shard, (int)n);
    for (int i = 0; i < m->n; i++) {
        int shard = m->in[i]->manifest.shard;
        int64_t rows = planned * shard / n - planned * (shard - 1) / n;

        if (shard != i + 1)
            return assay_fail(m->err, ASSAY_INVALID, "shard %d of %d is missing", i + 1, (int)n);
        if (m->in[i]->n_rows != rows)
            return assay_fail(m->err, ASSAY_INVALID, "%s has %d cases, shard %d of %d has %lld",
                              m->names[i], m->in[i]->n_rows, shard, (int)n, (long long)rows);
    }
    return m->n < n
               ? assay_fail(m->err, ASSAY_INVALID, "shard %d of %d is missing", m->n + 1, (int)n)
               : ASSAY_OK;
}

/* ---- putting them together ------------------------------------------------------------------- */

/* Two machines may make two libraries of the same sources; one machine may not. */
static enum assay_status join_build(const struct merge *m, int i, struct assay_build_row *dst,
                                    const struct assay_build_row *b)
{
    const struct assay_manifest *x = &m->in[i - 1]->manifest, *y = &m->in[i]->manifest;
    bool same_machine = !strcmp(x->cpu, y->cpu) && !strcmp(x->compiler, y->compiler);
    const char *what = strcmp(dst->cases, b->cases)         ? "has other cases"
                       : strcmp(dst->contract, b->contract) ? "has another contract"
                       : dst->compiled != b->compiled || dst->failed_here != b->failed_here
                           ? "was built in one of them only"
                       : same_machine && strcmp(dst->hash, b->hash)
                           ? "was built into different libraries on the same machine"
                           : NULL;

    if (what)
        return assay_fail(m->err, ASSAY_INVALID, "%s and %s do not belong together: %s %s",
                          m->names[i - 1], m->names[i], b->op->name, what);
    dst->wall_s += b->wall_s;
    return ASSAY_OK;
}

static enum assay_status add_builds(const struct merge *m, int i)
{
    struct assay_result *out = m->out;

    for (int k = 0; k < m->in[i]->n_builds; k++) {
        const struct assay_build_row *b = &m->in[i]->builds[k];
        struct assay_build_row *dst = &out->builds[out->n_builds];

        if (k == 0 && out->n_builds > 0 && dst[-1].op == b->op) {
            ASSAY_TRY(join_build(m, i, &dst[-1], b));
            continue;
        }
        for (int l = 0; l < out->n_builds; l++)
            if (out->builds[l].op == b->op)
                return assay_fail(m->err, ASSAY_INVALID, "%s: %s is in an earlier shard, too",
                                  m->names[i], b->op->name);
        *dst = *b;
        if (b->diagnostics && !(dst->diagnostics = assay_arena_strdup(&out->arena, b->diagnostics)))
            return assay_fail(m->err, ASSAY_NOMEM, "out of memory for diagnostics");
        out->n_builds++;
    }
    return ASSAY_OK;
}

static enum assay_status keep_pairs(const struct merge *m, struct assay_row *row)
{
    size_t n = (size_t)row->time.n_pairs;
    struct assay_pair *copy;

    if (!row->pairs)
        return ASSAY_OK;
    copy = assay_arena_array(&m->out->arena, n + 1, sizeof *copy);
    if (!copy)
        return assay_fail(m->err, ASSAY_NOMEM, "out of memory for %zu pairs", n);
    memcpy(copy, row->pairs, n * sizeof *copy);
    row->pairs = copy;
    return ASSAY_OK;
}

/* Ids ascend within an operator, over the seam, too. */
static enum assay_status add_rows(const struct merge *m, int i)
{
    struct assay_result *out = m->out;

    for (int k = 0; k < m->in[i]->n_rows; k++) {
        struct assay_row *dst = &out->rows[out->n_rows];

        *dst = m->in[i]->rows[k];
        if (out->n_rows > 0 && dst[-1].op == dst->op && dst[-1].case_id >= dst->case_id)
            return assay_fail(m->err, ASSAY_INVALID, "%s: %s/%d comes after %s/%d%s", m->names[i],
                              dst->op->name, dst->case_id, dst->op->name, dst[-1].case_id,
                              dst[-1].case_id == dst->case_id ? ", a double" : "");
        ASSAY_TRY(keep_pairs(m, dst));
        out->n_rows++;
    }
    return ASSAY_OK;
}

/* Of two controls of one kind the one that speaks against the run is kept: what a wrong kernel got
 * through in one shard must not be lost. */
static bool speaks_against(const struct assay_control *c)
{
    return !c->row.failed_here && assay_control_is_wrong(c->kind) == (c->row.verdict == ASSAY_PASS);
}

static enum assay_status add_controls(const struct merge *m, int i)
{
    struct assay_result *out = m->out;

    for (int k = 0; k < m->in[i]->n_controls; k++) {
        const struct assay_control *c = &m->in[i]->controls[k];
        int at = 0;

        while (at < out->n_controls &&
               (out->controls[at].kind != c->kind || out->controls[at].row.op != c->row.op))
            at++;
        if (at < out->n_controls && !out->controls[at].row.failed_here && !speaks_against(c))
            continue;
        out->controls[at] = *c;
        out->n_controls += at == out->n_controls;
        ASSAY_TRY(keep_pairs(m, &out->controls[at].row));
    }
    return ASSAY_OK;
}

/* A field that differs between machines stands in the parts alone. */
static void join_text(char *dst, size_t size, const char *src, const char *several)
{
    if (strcmp(dst, src) != 0)
        snprintf(dst, size, "%s", several);
}

static void join_manifest(const struct merge *m, int i)
{
    struct assay_manifest *dst = &m->out->manifest;
    const struct assay_manifest *src = &m->in[i]->manifest;

    if (dst->trusted && !src->trusted) { /* the worst of all */
        dst->trusted = false;
        memcpy(dst->trust, src->trust, sizeof dst->trust);
    }
    dst->cores = src->cores < dst->cores ? src->cores : dst->cores;
    join_text(dst->cpu, sizeof dst->cpu, src->cpu, "several processors");
    join_text(dst->kernel, sizeof dst->kernel, src->kernel, "several kernels");
    join_text(dst->compiler, sizeof dst->compiler, src->compiler, "several compilers");
    join_text(dst->harness, sizeof dst->harness, src->harness, "");
}

static void add_part(const struct merge *m, int i)
{
    const struct assay_manifest *f = &m->in[i]->manifest;
    struct assay_part *p = &m->out->parts[m->out->n_parts++];

    *p = (struct assay_part){ .shard = f->shard,
                              .n_cases = m->in[i]->n_rows,
                              .cores = f->cores,
                              .wall_s = m->in[i]->wall_s };
    memcpy(p->cpu, f->cpu, sizeof p->cpu);
    memcpy(p->kernel, f->kernel, sizeof p->kernel);
    memcpy(p->compiler, f->compiler, sizeof p->compiler);
    memcpy(p->date, f->date, sizeof p->date);
    memcpy(p->harness, f->harness, sizeof p->harness);
    m->out->wall_s += p->wall_s;
}

static enum assay_status make_room(const struct merge *m)
{
    struct assay_result *out = m->out;
    size_t rows = 1, builds = 1, controls = 1;

    for (int i = 0; i < m->n; i++) {
        rows += (size_t)m->in[i]->n_rows;
        builds += (size_t)m->in[i]->n_builds;
        controls += (size_t)m->in[i]->n_controls;
    }
    out->rows = assay_arena_array(&out->arena, rows, sizeof *out->rows);
    out->builds = assay_arena_array(&out->arena, builds, sizeof *out->builds);
    out->controls = assay_arena_array(&out->arena, controls, sizeof *out->controls);
    out->parts = assay_arena_array(&out->arena, (size_t)m->n, sizeof *out->parts);
    return out->rows && out->builds && out->controls && out->parts
               ? ASSAY_OK
               : assay_fail(m->err, ASSAY_NOMEM, "out of memory for %zu cases", rows);
}

static enum assay_status put_together(const struct merge *m)
{
    struct assay_result *out = m->out;

    out->manifest = m->in[0]->manifest;
    out->machine = m->in[0]->machine;
    out->manifest.shard = 0;
    ASSAY_TRY(make_room(m));
    for (int i = 0; i < m->n; i++) {
        join_manifest(m, i);
        add_part(m, i);
        ASSAY_TRY(add_builds(m, i));
        ASSAY_TRY(add_rows(m, i));
        ASSAY_TRY(add_controls(m, i));
    }
    return ASSAY_OK;
}

/* By shard; the few there are need no better sort. */
static void sort_parts(const struct assay_result **in, const char **names, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && in[k]->manifest.shard < in[k - 1]->manifest.shard; k--) {
            const struct assay_result *r = in[k];
            const char *name = names[k];

            in[k] = in[k - 1];
            names[k] = names[k - 1];
            in[k - 1] = r;
            names[k - 1] = name;
        }
}

enum assay_status assay_result_merge(struct assay_result *out, const struct assay_result **in,
                                     const char **names, int n, struct assay_err *err)
{
    struct merge m = { .out = out, .in = in, .names = names, .n = n, .err = err };
    enum assay_status st;

    *out = (struct assay_result){ 0 };
    if (n < 1)
        return assay_fail(err, ASSAY_INVALID, "no shards to merge");
    sort_parts(in, names, n);
    st = check_parts(&m);
    if (!st)
        st = put_together(&m);
    if (st)
        assay_result_release(out);
    return st;
}
