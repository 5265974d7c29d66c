/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_conform.c: a manifest.json of recorded vectors made of arbitrary bytes, for the operator
 * that the first byte chooses. A few small tensors lie beside it, t0.npy and so on, and one file
 * above it that must stay closed.
 */
#include "assay/bench.h"

#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    enum assay_dtype dtype;
    int rank;
    int64_t shape[2];
} tensors[] = {
    { ASSAY_F32, 1, { 3 } },    { ASSAY_F64, 1, { 3 } }, { ASSAY_F16, 2, { 2, 3 } },
    { ASSAY_F64, 2, { 2, 3 } }, { ASSAY_U8, 1, { 3 } },  { ASSAY_F32, 2, { 2, 4 } },
    { ASSAY_F32, 1, { 0 } },    { ASSAY_F64, 0, { 0 } }, { ASSAY_F32, 0, { 0 } },
};
enum { N_TENSORS = sizeof tensors / sizeof *tensors };

static void write_tensor(const char *path, int i)
{
    double values[8] = { 0.5, -1, 2, 0, 1, -0.25, 3, 1 };
    struct assay_tensor t = { .data = values, .dtype = tensors[i].dtype, .rank = tensors[i].rank };
    int64_t n = 1;

    memcpy(t.shape, tensors[i].shape, sizeof tensors[i].shape);
    for (int d = 0; d < t.rank; d++)
        n *= t.shape[d];
    if (t.dtype != ASSAY_F64) /* in place: narrower elements, from the front */
        for (int64_t k = 0; k < n; k++) {
            double v = values[k];

            assay_store(&t, k, t.dtype == ASSAY_U8 ? v > 0 : v);
        }
    if (assay_npy_write(&t, path, NULL))
        abort();
}

/* A folder for each operator, all with the same tensors. */
static void make_folders(void)
{
    const struct assay_op *const *ops = assay_ops();
    char path[256], name[128];

    if (scratch[0])
        return;
    scratch_make();
    write_tensor(scratch_path("above.npy", name), 0);
    for (; *ops; ops++) {
        if (mkdir(scratch_path((*ops)->name, name), 0700))
            abort();
        for (int i = 0; i < N_TENSORS; i++) {
            snprintf(path, sizeof path, "%s/t%d.npy", name, i);
            write_tensor(path, i);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *sink;
    const struct assay_op *const *all = assay_ops(), *op[2] = { NULL, NULL };
    struct assay_conform sum;
    char name[96];
    int n = 0;

    make_folders();
    if (!sink)
        sink = fopen("/dev/null", "w");
    if (!sink || !size)
        return 0;
    while (all[n])
        n++;
    if (n == 0)
        return 0;
    op[0] = all[data[0] % n];
    snprintf(name, sizeof name, "%s/manifest.json", op[0]->name);
    scratch_write(name, data + 1, size - 1);
    assay_bench_conform(&sum, scratch, op, true, sink, NULL);
    if (sum.n_passed + sum.n_failed != sum.n_cases || sum.n_passed < 0 || sum.n_failed < 0)
        abort();
    return 0;
}
