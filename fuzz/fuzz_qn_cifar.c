/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_qn_cifar.c: the test batch and the names of CIFAR-10 (or, with the first byte odd,
 * CIFAR-100) of arbitrary bytes. The next two bytes say how long the names are; the batch follows,
 * its last record filled up with zeros when the first byte's second bit is set.
 */
#include "qn/data.h"

#include "scratch.h"

enum { PIXELS = 3072, MAX_RECORDS = 20 };

struct names {
    const char *batch, *names;
};
static const struct names of[2] = { { "test_batch.bin", "batches.meta.txt" },
                                    { "test.bin", "fine_label_names.txt" } };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t batch[MAX_RECORDS * (2 + PIXELS)];
    struct assay_arena room = { 0 };
    struct qn_data *d;
    char path[128];
    size_t n, record;
    int fine;

    if (size < 3)
        return 0;
    fine = data[0] & 1;
    record = PIXELS + 1 + (size_t)fine;
    n = (size_t)data[1] << 8 | data[2];
    if (n > size - 3)
        n = size - 3;
    scratch_make();
    (void)unlink(scratch_path(of[!fine].batch, path));
    (void)unlink(scratch_path(of[!fine].names, path));
    (void)unlink(scratch_path(of[fine].names, path));
    if (n)
        scratch_write(of[fine].names, data + 3, n);
    size -= 3 + n;
    if (size > MAX_RECORDS * record)
        size = MAX_RECORDS * record;
    memset(batch, 0, sizeof batch);
    memcpy(batch, data + 3 + n, size);
    if (data[0] & 2)
        size = (size + record - 1) / record * record;
    scratch_write(of[fine].batch, batch, size);
    if (qn_data_open(&d, scratch, QN_TEST, NULL, NULL))
        return 0;
    if (qn_data_info(d)->n != (int64_t)(size / record))
        abort();
    for (int64_t i = 0; i < qn_data_info(d)->n; i++) {
        struct qn_picture p;

        if (qn_data_get(d, i, &p, &room, NULL) || p.label < 0 ||
            p.label >= qn_data_info(d)->classes ||
            memcmp(p.pixels, batch + (size_t)(i + 1) * record - PIXELS, PIXELS) != 0)
            abort();
    }
    for (int64_t c = 0; qn_data_info(d)->names && c < qn_data_info(d)->classes; c++)
        if (!qn_data_info(d)->names[c][0])
            abort();
    qn_data_free(d);
    assay_arena_release(&room);
    return 0;
}
