/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_resume.c: what an earlier run left, made of arbitrary bytes: a journal, or (first byte odd)
 * a finished file. What is taken over belongs to the run that is planned; and a journal that is
 * continued keeps its whole lines and nothing else.
 */
#include "report/result_json.h"

#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct assay_op ops[] = { { .name = "alpha", .tier = 1 },
                                       { .name = "beta", .tier = 2 } };
enum { N_ROWS = 3, N_BUILDS = 2 };

/* A planned run: alpha/1, alpha/2, beta/1. */
static void plan(struct assay_result *r)
{
    struct assay_manifest *m = &r->manifest;

    memset(r, 0, sizeof *r);
    strcpy(m->version, "1");
    strcpy(m->submission, "s");
    strcpy(m->suite, "own");
    strcpy(m->target, "cpu");
    strcpy(m->policy, "case");
    m->threads = 1;
    r->n_rows = N_ROWS;
    r->n_builds = N_BUILDS;
    r->rows = assay_arena_zero(&r->arena, N_ROWS * sizeof *r->rows);
    r->builds = assay_arena_zero(&r->arena, N_BUILDS * sizeof *r->builds);
    r->controls = assay_arena_zero(&r->arena, N_BUILDS * ASSAY_N_CONTROLS * sizeof *r->controls);
    if (!r->rows || !r->builds || !r->controls)
        abort();
    for (int i = 0; i < N_ROWS; i++) {
        r->rows[i].op = &ops[i / 2];
        r->rows[i].case_id = 1 + i % 2;
    }
    for (int i = 0; i < N_BUILDS; i++)
        r->builds[i].op = &ops[i];
}

static void check(const struct assay_result *r, int n_found)
{
    int n_done = 0;

    for (int i = 0; i < N_ROWS; i++) {
        const struct assay_row *row = &r->rows[i];

        if (row->op != &ops[i / 2] || row->case_id != 1 + i % 2 || row->failed_here)
            abort();
        if (row->verdict > ASSAY_FORBIDDEN || row->time.n_pairs < 0)
            abort();
        if (!memchr(row->reason, 0, sizeof row->reason))
            abort();
        n_done += row->done;
    }
    if (n_found != n_done || r->n_rows != N_ROWS || r->n_builds != N_BUILDS)
        abort();
    if (r->n_controls < 0 || r->n_controls > N_BUILDS * ASSAY_N_CONTROLS)
        abort();
    for (int i = 0; i < r->n_controls; i++)
        if (r->controls[i].kind >= ASSAY_N_CONTROLS ||
            (r->controls[i].row.op != &ops[0] && r->controls[i].row.op != &ops[1]))
            abort();
}

/* Opened to be continued, and closed without a word. */
static void continue_journal(const char *path, const uint8_t *data, size_t size)
{
    struct assay_sink sink;
    struct assay_text text = { 0 };
    const uint8_t *nl = size ? memrchr(data, '\n', size) : NULL;
    size_t whole = nl ? (size_t)(nl - data) + 1 : 0;
    char partial[160];

    if (assay_report_json_open(&sink, path, true, NULL))
        abort();
    assay_report_json_close(&sink);
    snprintf(partial, sizeof partial, "%s.partial", path);
    if (!whole) { /* an empty one goes */
        if (!access(partial, F_OK))
            abort();
        return;
    }
    if (assay_file_read(&text, partial, SIZE_MAX, NULL) || text.len != whole ||
        memcmp(text.data, data, whole))
        abort();
    assay_text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool finished = size && data[0] & 1;
    struct assay_result r;
    char path[128], other[128];
    int n_found = -1;

    if (!size)
        return 0;
    scratch_make();
    scratch_path("result.json", path);
    unlink(scratch_path(finished ? "result.json.partial" : "result.json", other));
    scratch_write(finished ? "result.json" : "result.json.partial", data + 1, size - 1);
    plan(&r);
    if (!assay_report_json_resume(&r, path, &n_found, NULL))
        check(&r, n_found);
    if (!finished)
        continue_journal(path, data + 1, size - 1);
    assay_result_release(&r);
    return 0;
}
