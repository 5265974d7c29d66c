/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_new.c: `assay new`: a kernel to start from, which compiles and fails every case. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In capitals, as the generated header writes it. */
static void put_upper(struct assay_text *t, const char *s)
{
    for (; *s; s++) {
        char c = (char)(isalnum((unsigned char)*s) ? toupper((unsigned char)*s) : '_');

        assay_text_add_n(t, &c, 1);
    }
}

/* "    const struct assay_view *x = call->in[EXP_X].view;" */
static void put_param(struct assay_text *t, const struct assay_op *op, const struct assay_param *p,
                      bool is_out)
{
    bool list = (p->flags & ASSAY_PARAM_LIST) != 0;
    bool shared = is_out && assay_param_find(op->in, p->name) >= 0;

    assay_text_add(t, "    %sstruct %s *%s%s = %scall->%s[", is_out && !list ? "" : "const ",
                   list ? "assay_arg" : "assay_view", p->name, shared ? "_out" : "",
                   list ? "&" : "", is_out ? "out" : "in");
    put_upper(t, op->name);
    assay_text_add(t, "_");
    put_upper(t, p->name);
    assay_text_add(t, "%s]%s;%s\n", shared ? "_OUT" : "", list ? "" : ".view",
                   p->flags & ASSAY_PARAM_OPTIONAL ? " /* optional: NULL or count 0 when absent */"
                                                   : "");
}

static void put_formula(struct assay_text *t, const char *s)
{
    for (; s && *s; s++) {
        assay_text_add_n(t, s, 1);
        if (s[0] == '*' && s[1] == '/')
            assay_text_add(t, " "); /* must not end the comment */
    }
}

static void put_kernel(struct assay_text *t, const struct assay_op *op)
{
    int n_in = assay_op_n_in(op), n_out = assay_op_n_out(op);

    assay_text_add(t, "/* %s: ", op->name);
    put_formula(t, op->formula);
    assay_text_add(t,
                   " */\n#include <assay/%s.h>\n\nint assay_%s(const struct assay_call *call)\n{\n",
                   op->name, op->name);
    if (assay_op_n_attr(op))
        assay_text_add(t,
                       "    const struct %s_attrs *attrs = (const struct %s_attrs *)call->attrs;\n",
                       op->name, op->name);
    for (int i = 0; i < n_in; i++)
        put_param(t, op, &op->in[i], false);
    for (int i = 0; i < n_out; i++)
        put_param(t, op, &op->out[i], true);
    assay_text_add(t, "\n    /* TODO: write the outputs and return 0. Any other value says \"not "
                      "supported\" and counts as WRONG. */\n");
    if (assay_op_n_attr(op))
        assay_text_add(t, "    (void)attrs;\n");
    for (int i = 0; i < n_in; i++)
        assay_text_add(t, "    (void)%s;\n", op->in[i].name);
    for (int i = 0; i < n_out; i++)
        assay_text_add(t, "    (void)%s%s;\n", op->out[i].name,
                       assay_param_find(op->in, op->out[i].name) >= 0 ? "_out" : "");
    assay_text_add(t, "    return 1;\n}\n");
}

static enum assay_status write_new(const char *path, const struct assay_text *t,
                                   struct assay_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool written;

    if (!f) {
        enum assay_status st = assay_fail(err, errno == EEXIST ? ASSAY_INVALID : ASSAY_IO,
                                          "cannot write %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return st;
    }
    written = fwrite(t->data, 1, t->len, f) == t->len;
    if (fclose(f) || !written)
        return assay_fail(err, ASSAY_IO, "cannot write %s: %s", path, strerror(errno));
    return ASSAY_OK;
}

/* A submission has one kernel an operator: in C, in C++, or as a folder. */
static bool has_kernel(const char *dir, const char *op, char *path, size_t size)
{
    static const char *const endings[] = { ".c", ".cc", "" };

    for (int i = 0; i < 3; i++) {
        struct stat s;

        snprintf(path, size, "%s/%s%s", dir, op, endings[i]);
        if (!stat(path, &s))
            return true;
    }
    return false;
}

static int run(int argc, char **argv)
{
    static const struct assay__usage usage = {
        .command = "new",
        .args = "OP DIR",
        .min_args = 2,
        .max_args = 2,
        .about =
            "Writes DIR/OP.c, a kernel that compiles and does nothing yet. DIR, the submission,\n"
            "is made when it does not exist; a kernel that is there already is left alone.",
        .exits = "0 done, 2 wrong usage, or there is a kernel already, 3 cannot write",
        .example = "assay new gelu mine && assay run mine --op gelu",
    };
    static const struct assay__opt opts[] = { { 0 } };
    const struct assay_op *op;
    struct assay__args args;
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    char path[ASSAY_PATH_MAX];
    enum assay_status st;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    if (code >= 0)
        return code;
    op = assay__find_op("new", args.v[0]);
    if (!op)
        return ASSAY__EXIT_USAGE;
    if (strlen(args.v[1]) + strlen(op->name) + 8 > sizeof path)
        return assay__usage_error("new", "path too long: %.200s", args.v[1]);
    if (has_kernel(args.v[1], op->name, path, sizeof path))
        return assay__usage_error("new", "%s exists already", path);
    if (mkdir(args.v[1], 0777) && errno != EEXIST) {
        assay_fail(&err, ASSAY_IO, "cannot make %s: %s", args.v[1], strerror(errno));
        return assay__failure("new", ASSAY_IO, &err);
    }
    snprintf(path, sizeof path, "%s/%s.c", args.v[1], op->name);
    put_kernel(&t, op);
    st = t.failed ? assay_fail(&err, ASSAY_NOMEM, "out of memory") : write_new(path, &t, &err);
    assay_text_release(&t);
    if (st)
        return assay__failure("new", st, &err);
    printf("wrote %s\nthe contract: assay show %s\ntry it:       assay run %s --op %s\n", path,
           op->name, args.v[1], op->name);
    return ASSAY__EXIT_PASSED;
}

const struct assay__command assay__cmd_new = { "new", "write a kernel to start from", run };
