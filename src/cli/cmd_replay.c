/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_replay.c: `assay replay`: a failing case of a result file once more, and a smaller one. */
#include "assay/replay.h"

#include "base/json.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct assay__usage usage = {
    .command = "replay",
    .args = "RESULT OP/ID",
    .min_args = 2,
    .max_args = 2,
    .about = "Builds the kernel of a failing case of a result file again, says what is not as it\n"
             "was, and repeats the call that failed on the same inputs, locked in as in a run.\n"
             "Then looks for a smaller case that fails in the same way, and shows it.",
    .exits = "0 the failure was repeated, 1 it was not, 2 wrong usage, or nothing to replay,\n"
             "3 our own fault",
    .example = "assay run mine --op exp --json mine.json\n"
               "assay replay mine.json exp/13\n"
               "assay replay mine.json exp/13 --no-shrink --dump out",
};

enum { MAX_TRIES = 1000, HASH_SHOWN = 12 };

struct choice {
    const char *submission, *suite, *revealed, *dump, *json;
    bool no_shrink;
    double budget_s;
};

/* ---- for people ------------------------------------------------------------------------------ */

static bool is_hash(enum assay_same_kind k)
{
    return k == ASSAY_SAME_HARNESS || k == ASSAY_SAME_CONTRACT || k == ASSAY_SAME_CASES ||
           k == ASSAY_SAME_LIBRARY;
}

static void put_same(FILE *f, const struct assay_replay *r)
{
    for (int k = 0; k < ASSAY_N_SAME; k++) {
        const struct assay_same *s = &r->same[k];
        int width = is_hash((enum assay_same_kind)k) ? HASH_SHOWN : (int)sizeof s->there;

        fprintf(f, "  %-10s", assay_same_name((enum assay_same_kind)k));
        if (s->same)
            fputs("same\n", f);
        else if (s->known)
            fprintf(f, "another: %.*s there, %.*s here\n", width, s->there, width, s->here);
        else if (s->there[0] || s->here[0])
            fprintf(f, "not known %s\n", s->there[0] ? "here" : "there");
        else
            fputs("none\n", f);
    }
}

static void put_number(FILE *f, double v)
{
    fprintf(f, "%.9g", isnan(v) ? (double)NAN : v); /* the sign of a NaN means nothing */
}

static void put_verdict(FILE *f, const struct assay_row *row)
{
    const struct assay_match *m = &row->match;

    fputs(assay_verdict_name(row->verdict), f);
    if (row->code != ASSAY_REASON_NONE)
        fprintf(f, " %s", assay_reason_name(row->code));
    if (row->reason[0])
        fprintf(f, ": %s", row->reason);
    fputc('\n', f);
    if (m->total == 0 || m->passed || m->first_index < 0)
        return;
    fprintf(f, "    first wrong at %" PRId64, m->first_index);
    if (m->first_tensor > 0)
        fprintf(f, " of tensor %" PRId64, m->first_tensor);
    fputs(": got ", f);
    put_number(f, m->first_got);
    fputs(", want ", f);
    put_number(f, m->first_want);
    fputc('\n', f);
}

/* In single quotes where a shell would take a word apart. */
static void put_word(FILE *f, const char *s)
{
    bool plain = *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_./+=@%,:-")];

    if (plain) {
        fputs(s, f);
        return;
    }
    fputc('\'', f);
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", f);
        else
            fputc(*s, f);
    fputc('\'', f);
}

/* The run that shows what single calls cannot. */
static void put_run(FILE *f, const struct assay_replay *r)
{
    const struct assay_manifest *m = &r->manifest;

    fputs("  assay run ", f);
    put_word(f, r->submission);
    fprintf(f, " --cases %s/%d", r->was.op->name, r->was.case_id);
    if (strcmp(m->suite, "own") != 0) {
        fputs(" --suite ", f);
        put_word(f, m->suite);
    }
    if (m->rules == ASSAY_RULES_UPSTREAM)
        fputs(" --rules upstream", f);
    if (m->threads != 1)
        fprintf(f, " --threads %d", m->threads);
    if (strcmp(m->policy, "case") != 0)
        fprintf(f, " --policy %s", m->policy);
    fputc('\n', f);
}

static const char *way_text(const struct assay_replay *r)
{
    static const char *const texts[] = {
        [ASSAY_REPLAY_BUILD] = "by building it",
        [ASSAY_REPLAY_CALL] = "by one call in a fresh process",
        [ASSAY_REPLAY_HISTORY] = "by all draws up to it in one process: it needs the calls before",
        [ASSAY_REPLAY_NEVER] = "",
    };

    return texts[r->way];
}

static void put_diagnostics(FILE *f, const char *s)
{
    for (size_t n; *s; s += n + (s[n] == '\n')) {
        n = strcspn(s, "\n");
        if (n)
            fprintf(f, "  %.*s\n", (int)n, s);
    }
}

static void put_outcome(FILE *f, const struct assay_replay *r)
{
    if (r->way == ASSAY_REPLAY_NEVER) {
        fprintf(f, "%s is seen in a series of calls only and cannot be replayed; run it:\n",
                assay_reason_name(r->was.code));
        put_run(f, r);
        return;
    }
    if (!r->repeated) {
        fputs("not repeated; now: ", f);
        put_verdict(f, &r->now);
    } else {
        fprintf(f, "repeated%s %s\n", r->bit_for_bit ? " bit for bit" : "", way_text(r));
        if (!r->bit_for_bit && r->now.failed.known && r->was.failed.known)
            fprintf(f, "  other outputs than then; %s\n",
                    r->same_place ? "the first wrong place is the same"
                                  : "the first wrong place is another");
    }
    if (r->diagnostics)
        put_diagnostics(f, r->diagnostics);
}

static void put_shrunk(FILE *f, const struct assay_replay *r)
{
    if (!r->tried)
        return;
    if (!r->smaller) {
        fprintf(f, "no smaller case fails in the same way (%d tried)\n", r->n_tries);
        return;
    }
    fprintf(f, "smaller: %" PRId64 " of %" PRId64 " input elements (%d tried)\n",
            r->smaller_elements, r->elements, r->n_tries);
    fprintf(f, " %s\n  ", r->smaller);
    put_verdict(f, &r->smaller_row);
}

static void put_tensor(FILE *f, const struct assay_tensor *t)
{
    char text[128];

    fprintf(f, "%s:", assay_tensor_text(t, text, sizeof text));
    for (int64_t i = 0; i < assay_numel(t); i++) {
        fputc(' ', f);
        if (assay_dtype_is_float(t->dtype))
            put_number(f, assay_load(t, i));
        else
            fprintf(f, "%" PRId64, assay_load_int(t, i));
    }
    fputc('\n', f);
}

static void put_slots(FILE *f, const char *kind, const struct assay_slot *slots,
                      const struct assay_param *table)
{
    for (int i = 0; table[i].name; i++)
        for (int64_t k = 0; k < slots[i].n; k++) {
            fprintf(f, "  %-5s%s", kind, table[i].name);
            if (table[i].flags & ASSAY_PARAM_LIST)
                fprintf(f, "[%" PRId64 "]", k);
            fputc(' ', f);
            put_tensor(f, &slots[i].t[k]);
        }
}

static void put_tensors(FILE *f, const struct assay_replay *r)
{
    const struct assay_replay_tensors *t = r->tensors;
    const struct assay_op *op = r->was.op;

    if (!t)
        return;
    put_slots(f, "in", t->in, op->in);
    if (t->has_got)
        put_slots(f, "got", t->got, op->out);
    put_slots(f, "want", t->want, op->out);
}

static void put_text(FILE *f, const struct assay_replay *r, const struct choice *c)
{
    fprintf(f, "%s/%d ", r->was.op->name, r->was.case_id);
    put_verdict(f, &r->was);
    put_same(f, r);
    if (r->same[ASSAY_SAME_LIBRARY].known && !r->same[ASSAY_SAME_LIBRARY].same)
        fputs("warning: the library differs, so this is another kernel\n", f);
    put_outcome(f, r);
    put_shrunk(f, r);
    put_tensors(f, r);
    if (c->dump && r->way != ASSAY_REPLAY_BUILD && r->way != ASSAY_REPLAY_NEVER)
        fprintf(f, "tensors in %s\n", c->dump);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void add_bool(struct assay_text *t, const char *key, bool v)
{
    assay_text_add(t, ",\"%s\":%s", key, v ? "true" : "false");
}

static void add_string(struct assay_text *t, const char *key, const char *s)
{
    assay_text_add(t, ",\"%s\":", key);
    assay__json_add_string(t, s);
}

static void add_same(struct assay_text *t, const struct assay_replay *r)
{
    assay_text_add(t, ",\"same\":{");
    for (int k = 0; k < ASSAY_N_SAME; k++) {
        const struct assay_same *s = &r->same[k];

        assay_text_add(t, "%s\"%s\":%s", k ? "," : "", assay_same_name((enum assay_same_kind)k),
                       !s->known ? "null"
                       : s->same ? "true"
                                 : "false");
    }
    assay_text_add(t, "}");
}

static void add_json(struct assay_text *t, const struct assay_replay *r)
{
    const struct assay_row *smaller = r->smaller ? &r->smaller_row : NULL;

    assay_text_add(t, "{\"op\":");
    assay__json_add_string(t, r->was.op->name);
    assay_text_add(t, ",\"case\":%d", r->was.case_id);
    add_bool(t, "repeated", r->repeated);
    add_bool(t, "bit_for_bit", r->bit_for_bit);
    add_bool(t, "needs_history", r->needs_history);
    add_same(t, r);
    add_string(t, "verdict", assay_verdict_name(r->now.verdict));
    add_string(t, "code", assay_reason_name(r->now.code));
    add_string(t, "reason", r->now.reason);
    assay_text_add(t, ",\"shrunk\":{\"case\":%s", r->smaller ? r->smaller : "null");
    add_string(t, "verdict", smaller ? assay_verdict_name(smaller->verdict) : NULL);
    add_string(t, "code", smaller ? assay_reason_name(smaller->code) : NULL);
    assay_text_add(t, ",\"tries\":%d}}\n", r->n_tries);
}

static int write_json(const char *path, const struct assay_replay *r)
{
    struct assay_text t = { 0 };

    add_json(&t, r);
    return assay__put_text("replay", path, &t);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int show(const struct choice *c, const struct assay_replay *r)
{
    bool to_stdout = c->json && !strcmp(c->json, "-");
    int code = ASSAY__EXIT_PASSED;

    put_text(to_stdout ? stderr : stdout, r, c);
    if (c->json)
        code = write_json(c->json, r);
    if (code != ASSAY__EXIT_PASSED)
        return code;
    return r->repeated ? ASSAY__EXIT_PASSED : ASSAY__EXIT_FAILED;
}

static int replay(const struct choice *c, const struct assay_replay_options *wanted)
{
    struct assay_replay_options o = *wanted;
    struct assay_replay r;
    struct assay_home home;
    struct assay__progress progress;
    struct assay_err err = { "" };
    bool in_file = false;
    enum assay_status st = assay__home_find(&home, &err);
    int code;

    if (st)
        return assay__failure("replay", st, &err);
    assay__progress_init(&progress, false, false);
    o.home = &home;
    o.progress = assay__progress_show;
    o.cookie = &progress;
    o.limits.stop = assay__stop_on_signals();
    st = assay_bench_replay(&r, &o, &in_file, &err);
    assay__progress_end(&progress);
    /* a file that cannot be read is a wrong argument, as a case without a failure is */
    code = st ? assay__failure("replay", in_file ? ASSAY_INVALID : st, &err) : show(c, &r);
    assay_replay_release(&r);
    return code;
}

static int run(int argc, char **argv)
{
    struct choice c = { .budget_s = 30 };
    const struct assay__opt opts[] = {
        { "submission", 0, ASSAY__OPT_STRING, &c.submission, "DIR",
          .help = "where the submission is now; default: where it was" },
        { "suite", 0, ASSAY__OPT_STRING, &c.suite, "DIR",
          .help = "where the official task tree is now" },
        { "revealed", 0, ASSAY__OPT_STRING, &c.revealed, "DIR",
          .help = "where `assay cases hidden --reveal` wrote the cases,\nfor a hidden one" },
        { "no-shrink", 0, ASSAY__OPT_FLAG, &c.no_shrink, NULL, .help = "look for no smaller case" },
        { "budget", 0, ASSAY__OPT_NUMBER, &c.budget_s, "SECONDS",
          .help = "time for shrinking; default: 30", .min = 0.001, .max = 86400 },
        { "dump", 0, ASSAY__OPT_STRING, &c.dump, "DIR",
          .help = "write inputs, outputs and golden of the smallest case\nas .npy files" },
        { "json", 0, ASSAY__OPT_STRING, &c.json, "FILE",
          .help = "write what was found to FILE; -: to standard output,\n"
                  "and the text to standard error" },
        { 0 },
    };
    struct assay_replay_options o;
    struct assay__args args;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    o = (struct assay_replay_options){ .result = args.v[0],
                                       .submission = c.submission,
                                       .suite = c.suite,
                                       .revealed = c.revealed,
                                       .dump = c.dump,
                                       .shrink = !c.no_shrink,
                                       .limits = { .tries = MAX_TRIES, .budget_s = c.budget_s } };
    if (c.revealed && !assay__is_dir(c.revealed))
        return assay__usage_error("replay", "no folder '%s'", c.revealed);
    if (!assay__parse_case("replay", args.v[1], &o.op, &o.case_id))
        return ASSAY__EXIT_USAGE;
    return replay(&c, &o);
}

const struct assay__command assay__cmd_replay = {
    "replay", "repeat a failing case of a result file, and make it small", run
};
