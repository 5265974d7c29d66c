/* SPDX-License-Identifier: Apache-2.0 */
/* header.c: writes the header <assay/<op>.h> that a kernel includes. attrs.c lays out the same
 * struct. */
#include "assay/op.h"

/* Adds s in upper case; what cannot stand in an identifier becomes '_'. */
static void put_upper(struct assay_text *out, const char *s)
{
    for (; *s; s++) {
        char c = *s;

        if (c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        else if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
            c = '_';
        assay_text_add_n(out, &c, 1);
    }
}

/* A formula stands inside a comment: it must neither end it nor seem to begin one. */
static void put_comment(struct assay_text *out, const char *s)
{
    for (; *s; s++) {
        assay_text_add_n(out, s, 1);
        if ((s[0] == '*' && s[1] == '/') || (s[0] == '/' && s[1] == '*'))
            assay_text_add_n(out, " ", 1);
    }
}

static bool shares_name(const struct assay_op *op, const char *output)
{
    return assay_param_find(op->in, output) >= 0;
}

static void put_intro(const struct assay_op *op, struct assay_text *out)
{
    bool shared = false;

    for (int i = 0; i < assay_op_n_out(op); i++)
        shared = shared || shares_name(op, op->out[i].name);
    assay_text_add(out, "/*\n * %s: ", op->name);
    put_comment(out, op->formula ? op->formula : "");
    assay_text_add(out, "\n * Generated from the contract; positions in c->in and c->out, "
                        "attributes, entry point.\n");
    if (shared)
        assay_text_add(out, " * An output that bears the name of an input has the suffix _OUT.\n");
    assay_text_add(out, " */\n");
}

static void put_position(struct assay_text *out, const char *op, const char *name,
                         const char *suffix, int i)
{
    assay_text_add(out, "enum { ");
    put_upper(out, op);
    assay_text_add(out, "_");
    put_upper(out, name);
    assay_text_add(out, "%s = %d };\n", suffix, i);
}

static void put_positions(const struct assay_op *op, struct assay_text *out)
{
    assay_text_add(out, "/* c->in */\n");
    for (int i = 0; i < assay_op_n_in(op); i++)
        put_position(out, op->name, op->in[i].name, "", i);
    assay_text_add(out, "/* c->out */\n");
    for (int i = 0; i < assay_op_n_out(op); i++)
        put_position(out, op->name, op->out[i].name, shares_name(op, op->out[i].name) ? "_OUT" : "",
                     i);
}

static void put_enum(const struct assay_op *op, const struct assay_attr *a, struct assay_text *out)
{
    assay_text_add(out, "\nenum %s_%s {\n", op->name, a->name);
    for (int i = 0; a->choices && a->choices[i]; i++) {
        assay_text_add(out, "    ");
        put_upper(out, op->name);
        assay_text_add(out, "_");
        put_upper(out, a->name);
        assay_text_add(out, "_");
        put_upper(out, a->choices[i]);
        assay_text_add(out, " = %d,\n", i);
    }
    assay_text_add(out, "};\n");
}

static void put_field(const struct assay_op *op, const struct assay_attr *a, struct assay_text *out)
{
    if (a->flags & ASSAY_ATTR_NO_DEFAULT)
        assay_text_add(out, "    bool has_%s;\n", a->name);
    switch (a->type) {
    case ASSAY_ATTR_INT:
        assay_text_add(out, "    int64_t %s;\n", a->name);
        break;
    case ASSAY_ATTR_FLOAT:
        assay_text_add(out, "    double %s;\n", a->name);
        break;
    case ASSAY_ATTR_BOOL:
        assay_text_add(out, "    bool %s;\n", a->name);
        break;
    case ASSAY_ATTR_ENUM:
        assay_text_add(out, "    enum %s_%s %s;\n", op->name, a->name, a->name);
        break;
    case ASSAY_ATTR_INTS:
        assay_text_add(out, "    struct assay_ints %s;\n", a->name);
        break;
    case ASSAY_ATTR_FLOATS:
        assay_text_add(out, "    struct assay_floats %s;\n", a->name);
        break;
    }
}

static void put_attrs(const struct assay_op *op, struct assay_text *out)
{
    int n = assay_op_n_attr(op);

    for (int i = 0; i < n; i++)
        if (op->attrs[i].type == ASSAY_ATTR_ENUM)
            put_enum(op, &op->attrs[i], out);
    if (n == 0)
        return;
    assay_text_add(out, "\nstruct %s_attrs {\n", op->name);
    for (int i = 0; i < n; i++)
        put_field(op, &op->attrs[i], out);
    assay_text_add(out, "};\n");
}

void assay_op_header(const struct assay_op *op, struct assay_text *out)
{
    assay_text_add(out, "/* SPDX-License-Identifier: Apache-2.0 */\n");
    put_intro(op, out);
    assay_text_add(out, "#ifndef ASSAY_OP_");
    put_upper(out, op->name);
    assay_text_add(out, "_H\n#define ASSAY_OP_");
    put_upper(out, op->name);
    assay_text_add(out, "_H\n\n#include \"assay/kernel.h\"\n\n");
    put_positions(op, out);
    put_attrs(op, out);
    assay_text_add(out,
                   "\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint assay_%s(const struct "
                   "assay_call *c);\n\n#endif\n",
                   op->name);
}
