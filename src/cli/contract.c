/* SPDX-License-Identifier: Apache-2.0 */
/* contract.c: the contract of an operator, for people and as JSON. */
#include "cli/contract.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* ---- parts that both forms share ------------------------------------------------------------- */

static void put_number(struct assay_text *t, double v)
{
    char buf[ASSAY__NUMBER_MAX];

    assay_text_add(t, "%s", assay__number_text(v, buf));
}

static void put_dtypes(struct assay_text *t, uint32_t dtypes, const char *sep, const char *quote)
{
    const char *between = "";

    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        if (dtypes & ASSAY_BIT(d)) {
            assay_text_add(t, "%s%s%s%s", between, quote, assay_dtype_name((enum assay_dtype)d),
                           quote);
            between = sep;
        }
}

static const char *attr_type_name(enum assay_attr_type type)
{
    static const char *const names[] = { "int", "float", "bool", "enum", "ints", "floats" };

    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "unknown";
}

static bool has_default(const struct assay_attr *a)
{
    return !(a->flags & (ASSAY_ATTR_REQUIRED | ASSAY_ATTR_NO_DEFAULT));
}

/* The default as JSON, which is also how people write it, strings apart. */
static void put_default(struct assay_text *t, const struct assay_attr *a, const char *quote)
{
    const struct assay_value *v = &a->def;

    switch (a->type) {
    case ASSAY_ATTR_INT:
        assay_text_add(t, "%lld", (long long)v->i);
        break;
    case ASSAY_ATTR_FLOAT:
        if (quote[0])
            assay__json_add_number(t, v->f);
        else
            put_number(t, v->f);
        break;
    case ASSAY_ATTR_BOOL:
        assay_text_add(t, "%s", v->i ? "true" : "false");
        break;
    case ASSAY_ATTR_ENUM:
        assay_text_add(t, "%s%s%s", quote, a->choices[v->i], quote);
        break;
    case ASSAY_ATTR_INTS:
        assay_text_add(t, "[");
        for (int64_t i = 0; i < v->ints.n; i++)
            assay_text_add(t, "%s%lld", i ? "," : "", (long long)v->ints.v[i]);
        assay_text_add(t, "]");
        break;
    case ASSAY_ATTR_FLOATS:
        assay_text_add(t, "[");
        for (int64_t i = 0; i < v->floats.n; i++) {
            assay_text_add(t, "%s", i ? "," : "");
            assay__json_add_number(t, v->floats.v[i]);
        }
        assay_text_add(t, "]");
        break;
    }
}

/* Every dtype that an output may have. */
static uint32_t output_dtypes(const struct assay_op *op)
{
    uint32_t dtypes = 0;

    for (int i = 0; i < assay_op_n_out(op); i++)
        dtypes |= op->out[i].dtypes;
    return dtypes;
}

/* ---- for people ------------------------------------------------------------------------------ */

static int longest_name(const struct assay_op *op)
{
    size_t w = 0;

    for (int i = 0; i < assay_op_n_in(op); i++)
        w = strlen(op->in[i].name) > w ? strlen(op->in[i].name) : w;
    for (int i = 0; i < assay_op_n_out(op); i++)
        w = strlen(op->out[i].name) > w ? strlen(op->out[i].name) : w;
    for (int i = 0; i < assay_op_n_attr(op); i++)
        w = strlen(op->attrs[i].name) > w ? strlen(op->attrs[i].name) : w;
    return (int)w;
}

static void put_params(struct assay_text *t, const char *title, const struct assay_param *table,
                       int n, int width)
{
    int shape_width = 0;

    if (n)
        assay_text_add(t, "\n%s\n", title);
    for (int i = 0; i < n; i++)
        if (table[i].shape && (int)strlen(table[i].shape) > shape_width)
            shape_width = (int)strlen(table[i].shape);
    for (int i = 0; i < n; i++) {
        const struct assay_param *p = &table[i];

        assay_text_add(t, "  %-*s  %-*s  ", width, p->name, shape_width, p->shape ? p->shape : "");
        put_dtypes(t, p->dtypes, "|", "");
        if (p->flags & ASSAY_PARAM_LIST)
            assay_text_add(t, ", a list");
        if (p->flags & ASSAY_PARAM_OPTIONAL)
            assay_text_add(t, ", optional");
        if (p->flags & ASSAY_PARAM_DYNAMIC)
            assay_text_add(t, ", first extent depends on the data");
        if (p->flags & ASSAY_PARAM_INDEX)
            assay_text_add(t, ", judged by what it points at");
        if (p->flags & ASSAY_PARAM_UNJUDGED)
            assay_text_add(t, ", must be written, is not compared");
        if (p->flags & ASSAY_PARAM_UPSTREAM_FREE)
            assay_text_add(t, ", not compared by --rules upstream");
        assay_text_add(t, "\n");
    }
}

static void put_attrs(struct assay_text *t, const struct assay_op *op, int width)
{
    int n = assay_op_n_attr(op);

    if (n)
        assay_text_add(t, "\nattributes\n");
    for (int i = 0; i < n; i++) {
        const struct assay_attr *a = &op->attrs[i];

        assay_text_add(t, "  %-*s  %s", width, a->name, attr_type_name(a->type));
        for (int k = 0; a->type == ASSAY_ATTR_ENUM && a->choices[k]; k++)
            assay_text_add(t, "%s%s", k ? "|" : " ", a->choices[k]);
        if (a->flags & ASSAY_ATTR_REQUIRED) {
            assay_text_add(t, ", required");
        } else if (a->flags & ASSAY_ATTR_NO_DEFAULT) {
            assay_text_add(t, ", may be missing (has_%s)", a->name);
        } else {
            assay_text_add(t, ", default ");
            put_default(t, a, "");
        }
        assay_text_add(t, "\n");
    }
}

/* A text of several lines under a title, indented. */
static void put_lines(struct assay_text *t, const char *title, const char *lines)
{
    if (!lines)
        return;
    assay_text_add(t, "\n%s\n", title);
    for (const char *p = lines; *p; p += p[strcspn(p, "\n")] != 0) {
        int n = (int)strcspn(p, "\n");

        assay_text_add(t, "  %.*s\n", n, p);
        p += n;
    }
}

static void put_tolerance(struct assay_text *t, const struct assay_op *op)
{
    uint32_t dtypes = output_dtypes(op);

    assay_text_add(t, "\ntolerance\n");
    for (int d = 0; d < ASSAY_N_DTYPES; d++) {
        double tau = assay_op_tau(op, (enum assay_dtype)d);

        if (!(dtypes & ASSAY_BIT(d)))
            continue;
        if (tau == 0)
            assay_text_add(t, "  %-8s  exact\n", assay_dtype_name((enum assay_dtype)d));
        else if (assay_dtype_is_float((enum assay_dtype)d))
            assay_text_add(t, "  %-8s  mean relative error below %.3g, largest below %.3g\n",
                           assay_dtype_name((enum assay_dtype)d), tau, 10 * tau);
        else
            assay_text_add(t, "  %-8s  absolute difference at most %g\n",
                           assay_dtype_name((enum assay_dtype)d), tau);
    }
}

void assay__contract_put_text(struct assay_text *t, const struct assay_op *op)
{
    int width = longest_name(op);

    assay_text_add(t, "%s (tier L%d), entry point assay_%s\n  %s\n", op->name, op->tier, op->name,
                   op->formula ? op->formula : "");
    put_params(t, "inputs", op->in, assay_op_n_in(op), width);
    put_params(t, "outputs", op->out, assay_op_n_out(op), width);
    put_attrs(t, op, width);
    put_lines(t, "constraints", op->constraints);
    put_tolerance(t, op);
    if (op->source)
        assay_text_add(t, "\nsource\n  %s\n", op->source);
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void put_flag(struct assay_text *t, const char *key, unsigned set)
{
    assay_text_add(t, ",\"%s\":%s", key, set ? "true" : "false");
}

static void put_params_json(struct assay_text *t, const char *key, const struct assay_param *table,
                            int n)
{
    assay_text_add(t, ",\n\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        const struct assay_param *p = &table[i];

        assay_text_add(t, "%s\n{\"name\":", i ? "," : "");
        assay__json_add_string(t, p->name);
        assay_text_add(t, ",\"shape\":");
        assay__json_add_string(t, p->shape);
        assay_text_add(t, ",\"dtypes\":[");
        put_dtypes(t, p->dtypes, ",", "\"");
        assay_text_add(t, "]");
        put_flag(t, "list", p->flags & ASSAY_PARAM_LIST);
        put_flag(t, "optional", p->flags & ASSAY_PARAM_OPTIONAL);
        put_flag(t, "dynamic", p->flags & ASSAY_PARAM_DYNAMIC);
        put_flag(t, "index", p->flags & ASSAY_PARAM_INDEX);
        put_flag(t, "judged", !(p->flags & ASSAY_PARAM_UNJUDGED));
        assay_text_add(t, "}");
    }
    assay_text_add(t, "]");
}

static void put_attrs_json(struct assay_text *t, const struct assay_op *op)
{
    assay_text_add(t, ",\n\"attributes\":[");
    for (int i = 0; i < assay_op_n_attr(op); i++) {
        const struct assay_attr *a = &op->attrs[i];

        assay_text_add(t, "%s\n{\"name\":", i ? "," : "");
        assay__json_add_string(t, a->name);
        assay_text_add(t, ",\"type\":\"%s\"", attr_type_name(a->type));
        put_flag(t, "required", a->flags & ASSAY_ATTR_REQUIRED);
        if (a->type == ASSAY_ATTR_ENUM)
            assay_text_add(t, ",\"choices\":[");
        for (int k = 0; a->type == ASSAY_ATTR_ENUM && a->choices[k]; k++) {
            assay_text_add(t, "%s", k ? "," : "");
            assay__json_add_string(t, a->choices[k]);
        }
        assay_text_add(t, "%s,\"default\":", a->type == ASSAY_ATTR_ENUM ? "]" : "");
        if (has_default(a))
            put_default(t, a, "\"");
        else
            assay_text_add(t, "null");
        assay_text_add(t, "}");
    }
    assay_text_add(t, "]");
}

static void put_tolerance_json(struct assay_text *t, const struct assay_op *op)
{
    uint32_t dtypes = output_dtypes(op);
    const char *sep = "";

    assay_text_add(t, ",\n\"tolerance\":{");
    for (int d = 0; d < ASSAY_N_DTYPES; d++)
        if (dtypes & ASSAY_BIT(d)) {
            assay_text_add(t, "%s\"%s\":", sep, assay_dtype_name((enum assay_dtype)d));
            assay__json_add_number(t, assay_op_tau(op, (enum assay_dtype)d));
            sep = ",";
        }
    assay_text_add(t, "}");
}

static void put_cases_json(struct assay_text *t, const struct assay_suite *s)
{
    assay_text_add(t, ",\n\"cases\":[");
    for (int i = 0; i < s->n; i++) {
        const struct assay_case *c = &s->cases[i];
        struct assay_text line = { 0 };

        assay_case_text(c, &line);
        assay_text_add(
            t, "%s\n{\"case\":%d,\"class\":\"%s\",\"policy\":\"%s\",\"elements\":%lld,\"text\":",
            i ? "," : "", c->id, assay_class_name(c->value_class),
            c->policy == ASSAY_WARM ? "warm" : "cold", (long long)assay_case_elements(c));
        assay__json_add_string(t, line.data ? line.data : "");
        assay_text_add(t, "}");
        t->failed = t->failed || line.failed;
        assay_text_release(&line);
    }
    assay_text_add(t, "]");
}

void assay__contract_put_json(struct assay_text *t, const struct assay_op *op,
                              const struct assay_suite *s)
{
    assay_text_add(t, "{\"name\":");
    assay__json_add_string(t, op->name);
    assay_text_add(t, ",\"tier\":%d,\"entry\":\"assay_%s\",\"formula\":", op->tier, op->name);
    assay__json_add_string(t, op->formula);
    put_params_json(t, "inputs", op->in, assay_op_n_in(op));
    put_params_json(t, "outputs", op->out, assay_op_n_out(op));
    put_attrs_json(t, op);
    put_tolerance_json(t, op);
    if (s)
        put_cases_json(t, s);
    assay_text_add(t, ",\n\"source\":");
    assay__json_add_string(t, op->source);
    assay_text_add(t, "}\n");
}
