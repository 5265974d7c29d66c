/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_qn_pictures.c: makes a folder of JPEG pictures in ImageNet's layout, to time decoding and
 * training on: waves of random direction and colour under noise, a class for each range of
 * wavelengths. Not a test.
 *
 *     cmake --build build/dev --target bench_qn_pictures
 *     build/dev/bench_qn_pictures FOLDER [N [CLASSES [SIDE]]]
 *     build/dev/qnet bench resnet18 --data FOLDER --size 224 --batch 32 --rounds 8
 *
 * N: pictures of train/, 2000; CLASSES: 10; SIDE: the shorter one of a picture, 256.
 */
#include "assay/rng.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>

struct picture {
    int width, height;
    unsigned char *rgb;
};

static void paint(struct picture *p, int class, int classes, struct assay_key key)
{
    const double two_pi = 0x1.921fb54442d18p+2;
    double wave = 4 + 60 * (class + assay_rng_unit(key, 1)) / classes;
    double angle = two_pi * assay_rng_unit(key, 0), phase[3];
    double fx = two_pi * cos(angle) / wave, fy = two_pi * sin(angle) / wave;

    for (int c = 0; c < 3; c++)
        phase[c] = two_pi * assay_rng_unit(key, (uint64_t)(2 + c));
    for (int i = 0; i < p->width * p->height; i++) {
        int x = i % p->width, y = i / p->width;
        double noise = assay_rng_u32(key, (uint64_t)(64 + i / 4)) % 48;

        for (int c = 0; c < 3; c++)
            p->rgb[3 * i + c] =
                (unsigned char)(104 + 100 * sin(fx * x + fy * y + phase[c]) + noise);
    }
}

static int write_jpeg(const char *path, const struct picture *p)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr e;
    FILE *f = fopen(path, "wb");

    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    c.err = jpeg_std_error(&e);
    jpeg_create_compress(&c);
    jpeg_stdio_dest(&c, f);
    c.image_width = (JDIMENSION)p->width;
    c.image_height = (JDIMENSION)p->height;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 90, TRUE);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row = p->rgb + (size_t)c.next_scanline * (size_t)p->width * 3;

        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return fclose(f) != 0;
}

static int make(const char *folder, const char *part, int n, int classes, int side)
{
    int failed = 0;
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", folder, part);
    mkdir(folder, 0777);
    mkdir(path, 0777);
    for (int i = 0; i < n && !failed; i++) {
        struct assay_key key = assay_key(1, part, i, 0, 0);
        struct picture p = { side + (int)(assay_rng_unit(key, 40) * side / 2), side, NULL };

        p.rgb = malloc((size_t)p.width * (size_t)p.height * 3);
        if (!p.rgb)
            return 1;
        paint(&p, i % classes, classes, key);
        snprintf(path, sizeof path, "%s/%s/n%08d", folder, part, i % classes);
        mkdir(path, 0777);
        snprintf(path, sizeof path, "%s/%s/n%08d/%06d.JPEG", folder, part, i % classes, i);
        failed = write_jpeg(path, &p);
        free(p.rgb);
    }
    return failed;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 2000;
    int classes = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 10;
    int side = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 256;

    if (argc < 2 || n < 1 || classes < 1 || side < 8) {
        fprintf(stderr, "usage: bench_qn_pictures FOLDER [N] [CLASSES] [SIDE]\n");
        return 2;
    }
    return make(argv[1], "train", n, classes, side) ||
           make(argv[1], "val", n / 10 + 1, classes, side);
}
