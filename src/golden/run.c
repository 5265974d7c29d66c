/* SPDX-License-Identifier: Apache-2.0 */
/* run.c: the golden, or the native reference, of one set of inputs. */
#include "assay/case.h"

/* Memory for every output tensor; the golden keeps its floating results in fp64. */
static enum assay_status allocate(const struct assay_slot *s, bool native,
                                  struct assay_arena *arena, struct assay_err *err)
{
    for (int64_t k = 0; k < s->n; k++) {
        struct assay_tensor *t = &s->t[k];
        int64_t numel;
        size_t bytes;

        if (!native && assay_dtype_is_float(t->dtype))
            t->dtype = ASSAY_F64;
        ASSAY_TRY(assay_tensor_size(t, &numel, &bytes, err));
        t->data = assay_arena_alloc(arena, bytes);
        if (!t->data)
            return assay_fail(err, ASSAY_NOMEM, "out of memory for %zu bytes", bytes);
    }
    return ASSAY_OK;
}

enum assay_status assay_golden_run(struct assay_slot *want, const struct assay_op *op,
                                   const struct assay_args *args, bool native,
                                   struct assay_arena *arena, struct assay_err *err)
{
    const char *what = native ? "native reference" : "golden";
    struct assay_args a = *args;
    int n_out = assay_op_n_out(op);
    enum assay_status st;

    for (int i = 0; i < ASSAY_MAX_OUT; i++)
        want[i] = (struct assay_slot){ 0 };
    st = assay_slots_copy(want, args->out, n_out, arena, err);
    for (int i = 0; i < n_out && !st; i++) {
        st = allocate(&want[i], native, arena, err);
        if (st)
            assay_wrap(err, st, "output %s", op->out[i].name);
    }
    if (!st) {
        for (int i = 0; i < ASSAY_MAX_OUT; i++)
            a.out[i] = want[i];
        a.native = native;
        a.arena = arena;
        st = native && op->native ? op->native(&a, err) : op->golden(&a, err);
    }
    return st ? assay_wrap(err, st, "%s of %s", what, op->name) : ASSAY_OK;
}
