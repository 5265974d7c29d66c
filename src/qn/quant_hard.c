/* SPDX-License-Identifier: Apache-2.0 */
/* quant_hard.c: steps: the code of a value is the number of thresholds strictly below beta * x. */
#include "base/clones.h"
#include "qn/quant.h"

enum { CHUNK = 256 };

int qn_quant_code(const struct qn_quant *q, float u)
{
    int code = 0;

    for (int i = 0; i + 1 < q->config.levels.n; i++)
        code += u > q->b[i];
    return code;
}

/* Counted in one sweep per threshold, which is a comparison of vectors. */
ASSAY__CLONES static void quant_count(int64_t n, const float *restrict x, float beta, int steps,
                                      const float *restrict b, int32_t *restrict code)
{
    for (int64_t j = 0; j < n; j++)
        code[j] = 0;
    for (int i = 0; i < steps; i++) {
        float at = b[i];

        for (int64_t j = 0; j < n; j++)
            code[j] += beta * x[j] > at ? 1 : 0;
    }
}

/* From a table of alpha * Y: exactly as many values come out as there are levels. */
void qn__steps(const struct qn_quant *q, const struct qn_run *r, float *y)
{
    const struct qn_levels *l = &q->config.levels;
    float value[QN_MAX_LEVELS] = { 0 };
    int32_t code[CHUNK];

    for (int i = 0; i < l->n; i++)
        value[i] = r->alpha * l->y[i];
    for (int64_t at = 0; at < r->n; at += CHUNK) {
        int64_t n = r->n - at < CHUNK ? r->n - at : CHUNK;

        quant_count(n, r->x + at, r->beta, l->n - 1, q->b, code);
        for (int64_t j = 0; j < n; j++)
            y[at + j] = value[code[j]];
    }
}
