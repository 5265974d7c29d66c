/* SPDX-License-Identifier: Apache-2.0 */
/* side.c: one process at work: sets, blocks of calls, and the clock around them. */
#include "runner/session.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NULL_CALLS = 4, NULL_BATCHES = 3 };

/* Of a block without a core, above which it says nothing. */
static const double DISTURBED_SHARE = 0.01;

enum assay_status assay_set_stride(const struct assay_args *args, size_t *in_stride,
                                   size_t *out_stride, struct assay_err *err)
{
    ASSAY_TRY(assay_slots_bytes(args->in, ASSAY_MAX_IN, in_stride, err));
    ASSAY_TRY(assay_slots_bytes(args->out, ASSAY_MAX_OUT, out_stride, err));
    /* sets start on pages, so that each has the same alignment */
    if (!assay_add_size(*in_stride, 4095, in_stride) ||
        !assay_add_size(*out_stride, 4095, out_stride))
        return assay_fail(err, ASSAY_INVALID, "size of a set overflows");
    *in_stride = *in_stride / 4096 * 4096;
    *out_stride = *out_stride / 4096 * 4096;
    return ASSAY_OK;
}

void assay_session_bind(struct assay_session *s, const struct assay_op *op, struct assay_args *args,
                        int set)
{
    size_t in_stride, out_stride;

    if (assay_set_stride(args, &in_stride, &out_stride, NULL))
        return;
    assay_slots_bind(args->in, assay_op_n_in(op), (char *)s->in.base + (size_t)set * in_stride);
    assay_slots_bind(args->out, assay_op_n_out(op), (char *)s->out.base + (size_t)set * out_stride);
}

struct copy {
    char *to;
    const char *from;
    size_t bytes;
};

enum { COPY_GRAIN = 1 << 20 };

/* The copy leaves the caches at once: written back while the other side runs, it would slow it. */
static void copy_pieces(void *ctx, int64_t begin, int64_t end)
{
    const struct copy *c = ctx;

    for (int64_t i = begin; i < end; i++) {
        size_t at = (size_t)i * COPY_GRAIN;
        size_t n = c->bytes - at < COPY_GRAIN ? c->bytes - at : COPY_GRAIN;

        memcpy(c->to + at, c->from + at, n);
        assay__flush(c->to + at, n);
    }
}

void *assay_session_set_aside(struct assay_session *s, int n_sets, size_t out_stride)
{
    struct copy c = { s->aside, s->out.base, (size_t)n_sets * out_stride };

    if (c.bytes > s->aside_bytes)
        return NULL;
    assay_parallel((int64_t)((c.bytes + COPY_GRAIN - 1) / COPY_GRAIN), 2, 0, copy_pieces, &c);
    return s->aside;
}

/* Where the outputs of a set lie; args are bound to set 0. */
static enum assay_status find_spans(struct assay_side *side, const struct assay_args *args,
                                    struct assay_err *err)
{
    const char *base = side->s->out.base;
    size_t end = 0;
    int64_t n = 0;

    for (int o = 0; o < assay_op_n_out(side->op); o++)
        n += args->out[o].n;
    side->span = assay_alloc(((size_t)n + 1) * sizeof *side->span);
    if (!side->span)
        return assay_fail(err, ASSAY_NOMEM, "out of memory");
    for (int o = 0; o < assay_op_n_out(side->op); o++)
        for (int64_t i = 0; i < args->out[o].n; i++) {
            const struct assay_tensor *t = &args->out[o].t[i];
            size_t bytes = (size_t)assay_numel(t) * assay_dtype_size(t->dtype);

            if (bytes == 0)
                continue;
            end += bytes;
            side->span[side->n_spans++] =
                (struct assay__span){ (size_t)((const char *)t->data - base), end, o };
        }
    return ASSAY_OK;
}

/* Whatever a process before this one has left in what it will map, which is whole pages of at most
 * 2 MiB, is gone. */
static void clear_outputs(const struct assay_side *side)
{
    const struct assay_shared *out = &side->s->out;
    const size_t page = (size_t)2 << 20;
    size_t bytes = ((size_t)side->n_sets * side->out_stride + page - 1) / page * page;

    memset(out->base, 0, bytes < out->bytes ? bytes : out->bytes);
}

enum assay_status assay_side_start(struct assay_side **out, struct assay_session *s,
                                   const struct assay_built *built, const struct assay_op *op,
                                   const struct assay_args *args, int n_sets,
                                   struct assay_facts *facts, struct assay_err *err)
{
    struct assay_side *side = assay_alloc_zero(sizeof *side);
    struct assay_args *at = assay_alloc(sizeof *at);
    struct assay_arena arena = { 0 };
    struct assay_start start;
    enum assay_status st;

    *out = NULL;
    if (!side || !at) {
        st = assay_fail(err, ASSAY_NOMEM, "out of memory");
        goto out;
    }
    *side = (struct assay_side){ .s = s, .n_sets = n_sets, .op = op };
    *at = *args;
    st = assay_slots_copy(at->in, args->in, assay_op_n_in(op), &arena, err);
    if (!st)
        st = assay_slots_copy(at->out, args->out, assay_op_n_out(op), &arena, err);
    if (!st)
        st = assay_set_stride(at, &side->in_stride, &side->out_stride, err);
    if (st)
        goto out;
    if ((size_t)n_sets * side->in_stride > s->in.bytes ||
        (size_t)n_sets * side->out_stride > s->out.bytes) {
        st = assay_fail(err, ASSAY_INTERNAL, "arenas hold fewer than %d sets", n_sets);
        goto out;
    }
    assay_session_bind(s, op, at, 0);
    st = find_spans(side, at, err);
    if (st)
        goto out;
    for (int o = 0; o < assay_op_n_out(op); o++)
        side->capacity[o] = at->out[o].n && at->out[o].t[0].rank ? at->out[o].t[0].shape[0] : 1;
    start = (struct assay_start){
        .options = &s->o,
        .built = built,
        .op = op,
        .args = at,
        .in = &s->in,
        .out = &s->out,
        .in_stride = side->in_stride,
        .out_stride = side->out_stride,
        .n_sets = n_sets,
        .cpus = s->cpu + (s->spare_core ? 1 : 0),
        .n_cpus = s->o.threads,
        .spin = s->spare_core,
    };
    clear_outputs(side);
    st = s->target->start(&side->proc, &start, facts, err);
out:
    assay_arena_release(&arena);
    free(at);
    if (!st && side->proc)
        *out = side;
    else
        assay_side_end(side);
    return st;
}

static void flush_sets(const struct assay_side *side, const struct assay_block *b)
{
    const struct assay_session *s = side->s;
    size_t n = (size_t)b->n_calls;

    assay__flush(s->in.base, n * side->in_stride);
    assay__flush(s->out.base, n * side->out_stride);
}

/* In the caches of the kernels' core, as after a call of theirs on other values there. */
static void touch_sets(const struct assay_side *side, const struct assay_block *b)
{
    const struct assay_session *s = side->s;
    size_t n = (size_t)b->n_calls;

    /* from memory: both turns shall find the lines in the same state */
    flush_sets(side, b);
    assay__cpus_use(s->cpu + s->spare_core, 1);
    assay__touch(s->in.base, n * side->in_stride);
    assay__touch(s->out.base, n * side->out_stride);
}

/* How long both have waited for cores. */
struct waits {
    double there, here;
};

static struct waits waits_now(const struct assay_side *side)
{
    return (struct waits){ side->s->target->waited_ns(side->proc),
                           assay__waited_ns(side->s->schedstat) };
}

static struct waits waits_since(const struct assay_side *side, struct waits before)
{
    struct waits now = waits_now(side);

    return (struct waits){ now.there - before.there, now.here - before.here };
}

/* What the process waited for its core is no time of its kernel. With several threads it may be,
 * since the others went on. */
static double without_waits(const struct assay_side *side, double ns, struct waits w)
{
    return side->s->o.threads == 1 && w.there < ns ? ns - w.there : ns;
}

/* Time of one null call: the least of a few batches, so that a disturbance here is not taken off
 * the kernel. On a single core the hand-over itself waits; *wait_ns is how long, in a call. */
static bool time_null(struct assay_side *side, const struct assay_block *b, struct assay_facts *f,
                      double *wait_ns)
{
    const struct assay_target *t = side->s->target;

    f->null_ns = INFINITY;
    for (int batch = 0; batch < NULL_BATCHES; batch++) {
        struct waits w = waits_now(side);
        double t0 = assay__now_raw_ns(), ns;

        for (int i = 0; i < NULL_CALLS; i++)
            if (!t->call(side->proc, 0, true, b->timeout_s, f))
                return false;
        ns = assay__now_raw_ns() - t0;
        w = waits_since(side, w);
        ns = without_waits(side, ns, w) / NULL_CALLS;
        if (batch == 0)
            t->mark(side->proc, 1);
        if (ns < f->null_ns) {
            f->null_ns = ns;
            *wait_ns = (w.there + w.here) / NULL_CALLS;
        }
    }
    return true;
}

/* Ends the process; what it used stays. */
static void close_side(struct assay_side *side)
{
    if (!side->proc)
        return;
    side->s->target->ledger(side->proc, &side->used);
    side->s->target->end(side->proc);
    side->proc = NULL;
}

/* ---- a block --------------------------------------------------------------------------------- */

enum { EARLY_LINES = 16, LATE_LINES = 32, LATE_LINES_LAST = 16 };

/* What is looked at in a block beside its time. */
struct look {
    struct assay__watch early, late, last;
    int after; /* early lines: after this call, -1: before the first */
};

static void forbid(struct assay_facts *f, enum assay_reason code, const struct assay_side *side,
                   int output, const char *what)
{
    f->verdict = ASSAY_FORBIDDEN;
    f->code = code;
    snprintf(f->reason, sizeof f->reason, "output %s %s", side->op->out[output].name, what);
}

/* While it is stopped: lines that must be as they are until the calls that they belong to. */
static void look_before(struct look *l, const struct assay_side *side, const struct assay_block *b)
{
    struct assay_key key;

    l->early.n = l->late.n = l->last.n = 0;
    if (!b->secret)
        return;
    key = assay_key(b->secret, side->op->name, 0, 0, 0);
    l->after = (int)assay_rng_below(key, 1u << 20, (uint64_t)b->n_calls) - 1;
    assay__watch_take(&l->early, side, l->after + 1, b->n_calls, EARLY_LINES, key);
}

static bool ahead(const struct look *l, const struct assay_side *side, struct assay_facts *f)
{
    int output = assay__watch_changed(&l->early, l->after + 1);

    if (output >= 0)
        forbid(f, ASSAY_REASON_EARLY, side, output, "was written before its call began");
    return output >= 0;
}

/* The calls have ended: what is in the outputs now must stay there. */
static void look_at_end(struct look *l, const struct assay_side *side, const struct assay_block *b)
{
    struct assay_key key;

    if (!b->secret)
        return;
    key = assay_key(b->secret, side->op->name, 0, 0, 1);
    assay__watch_take(&l->last, side, b->n_calls - 1, b->n_calls, LATE_LINES_LAST, key);
    assay__watch_take(&l->late, side, 0, b->n_calls, LATE_LINES, assay_key_sub(key, 1));
}

static bool late(const struct look *l, const struct assay_side *side, struct assay_facts *f)
{
    int output = assay__watch_changed(&l->last, 0);

    if (output < 0)
        output = assay__watch_changed(&l->late, 0);
    if (output >= 0)
        forbid(f, ASSAY_REASON_LATE, side, output, "changed after the call had ended");
    return output >= 0;
}

/* The calls, one after the other; *paused_ns: what looking at outputs took between two of them. */
static bool call_all(struct assay_side *side, const struct assay_block *b, const struct look *l,
                     double *paused_ns, struct assay_facts *f)
{
    const struct assay_target *t = side->s->target;

    *paused_ns = 0;
    for (int i = 0; i < b->n_calls; i++) {
        if (!t->call(side->proc, b->null_kernel ? 0 : i, b->null_kernel, b->timeout_s, f) ||
            f->verdict != ASSAY_PASS)
            return false;
        if (i == l->after && l->early.n) {
            double pause = assay__now_raw_ns();

            if (ahead(l, side, f))
                return false;
            *paused_ns = assay__now_raw_ns() - pause;
        }
    }
    return true;
}

/*
 * The clock stands on both sides of the calls, in this process. Nothing but one empty call, which
 * wakes the process up, lies between its going on and the first of them: the inputs are there to be
 * seen. Empty calls are timed afterwards.
 */
static bool run_calls(struct assay_side *side, const struct assay_block *b, struct look *l,
                      struct assay_facts *f)
{
    const struct assay_target *t = side->s->target;
    double t0, t1, wait_ns = 0, paused_ns;
    struct waits w;

    if (!t->call(side->proc, 0, true, b->timeout_s, f))
        return false;
    if (l->after < 0 && l->early.n && ahead(l, side, f))
        return false;
    w = waits_now(side);
    t->mark(side->proc, 0);
    t0 = assay__now_raw_ns();
    if (!call_all(side, b, l, &paused_ns, f))
        return false;
    t1 = assay__now_raw_ns();
    look_at_end(l, side, b); /* at once: nothing may follow */
    w = waits_since(side, w);
    if (b->time_null && !time_null(side, b, f, &wait_ns))
        return false;
    f->block_ns = t1 - t0 - paused_ns;
    /* in cold caches the hand-over takes up to twice as long as in a batch of null calls */
    f->disturbed = w.there + w.here - 2 * b->n_calls * wait_ns > DISTURBED_SHARE * f->block_ns;
    f->block_ns = without_waits(side, f->block_ns, w);
    return true;
}

/* From the process going on to its stop. */
static bool run_block(struct assay_side *side, const struct assay_block *b, struct assay_facts *f)
{
    const struct assay_target *t = side->s->target;
    struct look l = { .after = -1 };
    double start, cpu_ns, net_ns;
    bool ok;

    look_before(&l, side, b);
    if (b->flush)
        flush_sets(side, b);
    start = assay__now_raw_ns();
    ok = t->resume(side->proc, f) && run_calls(side, b, &l, f) && t->stop(side->proc, f);
    side->used.wall_s += (assay__now_raw_ns() - start) * 1e-9;
    if (!ok)
        return false;
    net_ns = fmax(f->block_ns - b->n_calls * f->null_ns, 0);
    cpu_ns = t->cpu_ns(side->proc, f->block_ns, net_ns, b->n_calls, &f->outside_ns);
    side->used.outside_s += f->outside_ns * 1e-9;
    side->used.cpu_s += cpu_ns * 1e-9;
    return !late(&l, side, f);
}

enum assay_status assay_side_block(struct assay_side *side, const struct assay_block *b,
                                   struct assay_facts *f, struct assay_err *err)
{
    struct assay_session *s = side->s;
    bool ok;

    memset(f, 0, sizeof *f);
    if (!side->proc || b->n_calls < 1 || (b->n_calls > side->n_sets && !b->null_kernel))
        return assay_fail(err, ASSAY_INTERNAL, "block of %d calls on %d sets", b->n_calls,
                          side->n_sets);
    /* on a core of its own, or on that of the thread that calls: else waking each other costs four
     * times as much in some processes, for as long as they live */
    assay__be_urgent(!s->o.timing ? 0 : s->spare_core ? 1 : 2);
    if (b->touch)
        touch_sets(side, b);
    assay__cpus_use(s->cpu, s->n_cpus > 0);
    ok = run_block(side, b, f);
    assay__be_urgent(0);
    assay__cpus_use(s->cpu, s->n_cpus);
    if (ok)
        return ASSAY_OK;
    close_side(side);
    if (f->verdict == ASSAY_PASS)
        return assay_fail(err, ASSAY_INTERNAL, "lost the process of a candidate");
    return ASSAY_OK;
}

int64_t assay_side_used(const struct assay_side *side, int set, int output)
{
    int64_t n = side->s->target->used(side->proc, set, output);

    return n < 0 || n > side->capacity[output] ? -1 : n;
}

void assay_side_ledger(const struct assay_side *side, struct assay_ledger *l)
{
    l->wall_s += side->used.wall_s;
    l->cpu_s += side->used.cpu_s;
    l->outside_s += side->used.outside_s;
    l->minor_faults += side->used.minor_faults;
    l->major_faults += side->used.major_faults;
    l->waits += side->used.waits;
    l->preemptions += side->used.preemptions;
    l->refused += side->used.refused;
    l->fp_changes += side->used.fp_changes;
    if (side->used.anon_mib > l->anon_mib)
        l->anon_mib = side->used.anon_mib;
    if (side->proc)
        side->s->target->ledger(side->proc, l);
}

void assay_side_end(struct assay_side *side)
{
    if (!side)
        return;
    close_side(side);
    free(side->span);
    free(side);
}
