/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_qn_idx.c: IDX files of arbitrary bytes. The first byte says which are packed (1: images, 2:
 * labels) and whether only two pictures are wanted (4), the next two how long the images are;
 * labels follow. What is opened hands out all its pictures.
 */
#include "qn/data.h"

#include "scratch.h"

static const char *const names[2][2] = {
    { "train-images-idx3-ubyte", "train-images-idx3-ubyte.gz" },
    { "train-labels-idx1-ubyte", "train-labels-idx1-ubyte.gz" }
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qn_data_options o = { 0 };
    struct assay_arena room = { 0 };
    struct qn_data *d;
    size_t n;
    unsigned sum = 0;

    if (size < 3)
        return 0;
    n = (size_t)data[1] << 8 | data[2];
    if (n > size - 3)
        n = size - 3;
    scratch_make();
    for (int i = 0; i < 2; i++) {
        char path[128];

        (void)unlink(scratch_path(names[i][!(data[0] >> i & 1)], path));
    }
    scratch_write(names[0][data[0] & 1], data + 3, n);
    scratch_write(names[1][data[0] >> 1 & 1], data + 3 + n, size - 3 - n);
    o.limit = data[0] & 4 ? 2 : 0;
    if (qn_data_open(&d, scratch, QN_TRAIN, &o, NULL))
        return 0;
    for (int64_t i = 0; i < qn_data_info(d)->n; i++) {
        struct qn_picture p;

        if (qn_data_get(d, i, &p, &room, NULL) || p.label < 0 ||
            p.label >= qn_data_info(d)->classes)
            abort();
        for (int64_t k = 0; k < p.shape.c * p.shape.h * p.shape.w; k++)
            sum += p.pixels[k];
    }
    if (sum == 1u << 31)
        printf("%u\n", sum); /* so that they are read */
    qn_data_free(d);
    assay_arena_release(&room);
    return 0;
}
