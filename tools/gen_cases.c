/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen_cases.c: prints the public cases of an operator, as data/cases/<op>.json holds them.
 *
 *     cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc tools/gen_cases.c build/dev/libassay_core.a \
 *        -ljansson -lyaml -lseccomp -lpthread -lm -o gen_cases
 *     ./gen_cases exp 1 > data/cases/exp.json
 */
#include "assay/case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { PUBLIC_CASES = 20 };

int main(int argc, char **argv)
{
    struct assay_suite suite = { 0 };
    struct assay_text text = { 0 };
    struct assay_err err = { "" };
    const struct assay_op *op = argc == 3 ? assay_op_find(argv[1]) : NULL;
    enum assay_status st;
    char *end = NULL;
    uint64_t seed;

    errno = 0;
    seed = op ? strtoull(argv[2], &end, 10) : 0;
    if (!op || errno || end == argv[2] || *end) {
        fprintf(stderr, "usage: gen_cases OPERATOR SEED\n");
        return 2;
    }
    st = assay_cases_generate(&suite, op, seed, PUBLIC_CASES, &err);
    if (!st)
        st = assay_cases_print(&text, &suite, op, &err);
    if (!st && fwrite(text.data, 1, text.len, stdout) != text.len)
        st = assay_fail(&err, ASSAY_IO, "cannot write the cases");
    if (st)
        fprintf(stderr, "gen_cases: %s\n", err.text);
    assay_text_release(&text);
    assay_suite_release(&suite);
    return st ? 3 : 0;
}
