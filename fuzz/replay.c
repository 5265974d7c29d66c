/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c: runs a fuzz target over every file of a folder, so that the corpus is a test wherever
 * there is no libFuzzer. A crash or a sanitizer's report is the failure.
 *
 *     fuzz_npy corpus/npy
 */
#include "assay/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* On a copy of exactly that length, so that a read past the end is seen. */
static int replay(const char *path)
{
    struct assay_text text = { 0 };
    struct assay_err err;
    uint8_t *copy;

    if (assay_file_read(&text, path, MAX_BYTES, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    copy = malloc(text.len ? text.len : 1);
    if (copy) {
        memcpy(copy, text.data, text.len);
        LLVMFuzzerTestOneInput(copy, text.len);
    }
    assay_text_release(&text);
    free(copy);
    return !copy;
}

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int n, failed = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 1;
    }
    n = scandir(argv[1], &names, not_hidden, alphasort);
    if (n < 0)
        perror(argv[1]);
    for (int i = 0; i < n; i++) {
        char path[4096];
        int len = snprintf(path, sizeof path, "%s/%s", argv[1], names[i]->d_name);

        /* Named beforehand: after a crash the last line tells which file it was. */
        printf("%s\n", names[i]->d_name);
        fflush(stdout);
        failed |= len < 0 || (size_t)len >= sizeof path || replay(path);
        free(names[i]);
    }
    free(names);
    printf("%d files\n", n < 0 ? 0 : n);
    return n <= 0 || failed;
}
