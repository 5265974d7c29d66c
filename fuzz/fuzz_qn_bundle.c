/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_qn_bundle.c: files of our format made of arbitrary bytes: as they are, and with their sums
 * put right, for no chance gets past those. What is read lies within the file's size, and its names
 * are found. */
#include "qn/bundle.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 128, AT_DATA = 32, AT_DATA_SUM = 64, AT_HEAD_SUM = 96, CAP = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct qn_bundle *b, size_t size)
{
    size_t bytes = 0;
    unsigned sum = 0;

    for (int i = 0; i < b->n; i++) {
        const struct qn_entry *e = &b->entries[i];
        size_t n = (size_t)e->n * qn_type_size(e->type);

        if (e->n < 0 || e->rank < 0 || e->rank > QN_MAX_RANK || (uintptr_t)e->data % 64)
            abort();
        for (size_t k = 0; k < n; k++)
            sum += ((const uint8_t *)e->data)[k];
        bytes += n;
        if (qn_bundle_find(b, e->name) != e)
            abort();
    }
    if (bytes > size || (sum && !bytes))
        abort();
}

static void parse(const uint8_t *bytes, size_t size)
{
    struct qn_bundle b = { 0 };
    struct assay_err err;

    if (qn_bundle_parse(&b, bytes, size, &err) && (b.n || b.about))
        abort();
    check(&b, size);
    qn_bundle_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t at;
    uint8_t *copy;
    SHA2_CTX ctx;

    parse(data, size);
    if (size < HEAD || size > CAP)
        return 0;
    memcpy(&at, data + AT_DATA, sizeof at);
    if (at < HEAD || at > size)
        return 0;
    copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    SHA256Init(&ctx);
    SHA256Update(&ctx, copy + at, size - at);
    SHA256Final(copy + AT_DATA_SUM, &ctx);
    SHA256Init(&ctx);
    SHA256Update(&ctx, copy, AT_HEAD_SUM);
    SHA256Update(&ctx, copy + HEAD, at - HEAD);
    SHA256Final(copy + AT_HEAD_SUM, &ctx);
    parse(copy, size);
    free(copy);
    return 0;
}
