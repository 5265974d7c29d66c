/* SPDX-License-Identifier: Apache-2.0 */
/* mutants.c: the table of mutants, and where in an operator each can be. */
#include "bench/mutants.h"

#include <stdio.h>
#include <string.h>

/* ---- which targets --------------------------------------------------------------------------- */

static bool is_list(const struct assay_op *op, struct assay__target at)
{
    return op->out[at.i].flags & ASSAY_PARAM_LIST;
}

static bool has_integers(const struct assay_op *op, struct assay__target at)
{
    return op->out[at.i].dtypes & (ASSAY_INTS | ASSAY_BIT(ASSAY_BOOL));
}

static bool is_optional(const struct assay_op *op, struct assay__target at)
{
    return op->in[at.i].flags & ASSAY_PARAM_OPTIONAL;
}

static bool takes_integers(const struct assay_op *op, struct assay__target at)
{
    return op->in[at.i].dtypes & ASSAY_INTS;
}

static bool names_axis(const struct assay_op *op, struct assay__target at)
{
    const struct assay_attr *a = &op->attrs[at.i];

    return a->type == ASSAY_ATTR_INT && (!strcmp(a->name, "dim") || !strcmp(a->name, "axis"));
}

static bool is_epsilon(const struct assay_op *op, struct assay__target at)
{
    const struct assay_attr *a = &op->attrs[at.i];

    return a->type == ASSAY_ATTR_FLOAT && strstr(a->name, "eps");
}

/* A number or a list of them: those of few values can be confused instead. */
static bool is_number(const struct assay_op *op, struct assay__target at)
{
    enum assay_attr_type type = op->attrs[at.i].type;

    return type != ASSAY_ATTR_BOOL && type != ASSAY_ATTR_ENUM;
}

static bool is_other_number(const struct assay_op *op, struct assay__target at)
{
    return is_number(op, at) && !names_axis(op, at) && !is_epsilon(op, at);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CALL(f) .call = assay__mutate_##f
#define RESULTS(f) .results = assay__mutate_##f

const struct assay__mutant assay__mutants[] = {
    /* what is written */
    { "zeros", "writes nothing but zeros", ASSAY__OVER_CALL, RESULTS(zeros) },
    { "last_element", "stops one element early", ASSAY__OVER_OUTPUT, RESULTS(last_element) },
    { "last_element_zero", "sets the last element to zero", ASSAY__OVER_OUTPUT,
      RESULTS(last_element_zero) },
    { "last_tensor", "leaves out the last tensor of a list", ASSAY__OVER_OUTPUT, is_list,
      RESULTS(last_tensor) },
    { "tail_16", "leaves out what is beyond a multiple of 16 elements", ASSAY__OVER_OUTPUT,
      RESULTS(tail_16) },
    { "row_tail_16", "leaves out what is beyond a multiple of 16 along an axis",
      ASSAY__OVER_OUTPUT_AXIS, RESULTS(row_tail_16) },
    { "last_slice", "leaves out the last slice along an axis", ASSAY__OVER_OUTPUT_AXIS,
      RESULTS(last_slice) },
    { "reversed", "writes an axis backwards", ASSAY__OVER_OUTPUT_AXIS, RESULTS(reversed) },
    { "transposed", "writes an axis and the one before it in the wrong order",
      ASSAY__OVER_OUTPUT_AXIS, RESULTS(transposed) },
    { "shifted", "writes each element one place further", ASSAY__OVER_OUTPUT, RESULTS(shifted) },
    { "plus_one", "gives integers that are one too large", ASSAY__OVER_OUTPUT, has_integers,
      RESULTS(plus_one) },
    { "constant_mean", "writes the mean of the results everywhere", ASSAY__OVER_OUTPUT,
      RESULTS(constant_mean) },
    { "constant_first", "writes the first result everywhere", ASSAY__OVER_OUTPUT,
      RESULTS(constant_first) },
    { "output_f16", "keeps float32 results in float16", ASSAY__OVER_CALL, RESULTS(output_f16) },
    { "output_bf16", "keeps float32 results in bfloat16", ASSAY__OVER_CALL, RESULTS(output_bf16) },
    { "output_flushed", "flushes subnormal float16 results to zero", ASSAY__OVER_CALL,
      RESULTS(output_flushed) },
    { "identity", "hands on an input", ASSAY__OVER_INPUT, RESULTS(identity) },

    /* what is read */
    { "stale", "gives the results of a call before", ASSAY__OVER_CALL, CALL(stale) },
    { "input_f16", "reads float32 inputs as float16", ASSAY__OVER_CALL, CALL(input_f16) },
    { "input_bf16", "reads float32 inputs as bfloat16", ASSAY__OVER_CALL, CALL(input_bf16) },
    { "input_flushed", "flushes subnormal float16 inputs to zero", ASSAY__OVER_CALL,
      CALL(input_flushed) },
    { "keeps_f16", "keeps float32 intermediate results in float16", ASSAY__OVER_CALL,
      CALL(keeps_f16), .by_hook = true },
    { "keeps_bf16", "keeps float32 intermediate results in bfloat16", ASSAY__OVER_CALL,
      CALL(keeps_bf16), .by_hook = true },
    { "no_optional", "ignores an optional input", ASSAY__OVER_INPUT, is_optional,
      CALL(no_optional) },
    { "swapped", "takes two inputs for each other", ASSAY__OVER_INPUT_PAIR, CALL(swapped) },
    { "integers_shifted", "reads indices or counts that are one too large", ASSAY__OVER_INPUT,
      takes_integers, CALL(integers_shifted) },
    { "every_second", "looks at every second element only", ASSAY__OVER_INPUT, CALL(every_second) },
    { "last_input_zero", "takes the last element for zero", ASSAY__OVER_INPUT,
      CALL(last_input_zero) },
    { "last_input_neighbour", "takes the last element for the one before", ASSAY__OVER_INPUT,
      CALL(last_input_neighbour) },
    { "last_term_zero", "takes the last slice along an axis for zeros", ASSAY__OVER_INPUT_AXIS,
      CALL(last_term_zero) },
    { "last_term_neighbour", "takes the last slice along an axis for the one before",
      ASSAY__OVER_INPUT_AXIS, CALL(last_term_neighbour) },

    /* what is asked for */
    { "wrong_axis", "works along another axis", ASSAY__OVER_ATTR, names_axis, CALL(wrong_axis) },
    { "epsilon_zero", "leaves out epsilon", ASSAY__OVER_ATTR, is_epsilon, CALL(epsilon_zero) },
    { "epsilon_doubled", "adds epsilon twice", ASSAY__OVER_ATTR, is_epsilon,
      CALL(epsilon_doubled) },
    { "fixed_attribute", "takes the default, or the most usual value, whatever is asked for",
      ASSAY__OVER_ATTR, is_number, CALL(fixed_attribute) },
    { "other_attribute",
      "takes a number for the one beside it, or twice as large, a list backwards", ASSAY__OVER_ATTR,
      is_other_number, CALL(other_attribute) },
    { "confused", "takes one value of an attribute for another", ASSAY__OVER_CHOICE,
      CALL(confused) },
    { 0 },
};

const struct assay__mutant *assay__mutant_find(const char *name)
{
    for (const struct assay__mutant *mu = assay__mutants; mu->name; mu++)
        if (!strcmp(mu->name, name))
            return mu;
    return NULL;
}

/* ---- targets, one after the other --------------------------------------------------------------
 */

/* Values of an attribute that is one of few; 0: it is not. */
static int n_choices(const struct assay_attr *a)
{
    int n = a->type == ASSAY_ATTR_BOOL ? 2 : 0;

    while (a->type == ASSAY_ATTR_ENUM && a->choices[n])
        n++;
    return n;
}

/* What the three numbers of a target are counted up to, given those before; 1 where there is but
 * one. */
static void limits(int n[3], enum assay__over over, const struct assay_op *op,
                   const struct assay__ranks *ranks, int i)
{
    n[0] = n[1] = n[2] = 1;
    switch (over) {
    case ASSAY__OVER_OUTPUT_AXIS:
        n[1] = i >= 0 && i < assay_op_n_out(op) ? ranks->out[i] + 1 : 0;
        n[0] = assay_op_n_out(op);
        break;
    case ASSAY__OVER_OUTPUT:
        n[0] = assay_op_n_out(op);
        break;
    case ASSAY__OVER_INPUT_AXIS:
        n[1] = i >= 0 && i < assay_op_n_in(op) ? ranks->in[i] + 1 : 0;
        n[0] = assay_op_n_in(op);
        break;
    case ASSAY__OVER_INPUT_PAIR:
        n[0] = n[1] = assay_op_n_in(op);
        break;
    case ASSAY__OVER_INPUT:
        n[0] = assay_op_n_in(op);
        break;
    case ASSAY__OVER_CHOICE:
        n[1] = n[2] = i >= 0 && i < assay_op_n_attr(op) ? n_choices(&op->attrs[i]) : 0;
        n[0] = assay_op_n_attr(op);
        break;
    case ASSAY__OVER_ATTR:
        n[0] = assay_op_n_attr(op);
        break;
    default:
        break;
    }
}

static bool is_target(const struct assay__mutant *mu, const struct assay_op *op,
                      struct assay__target at)
{
    bool axis = mu->over == ASSAY__OVER_OUTPUT_AXIS || mu->over == ASSAY__OVER_INPUT_AXIS;
    bool output = mu->over == ASSAY__OVER_OUTPUT_AXIS || mu->over == ASSAY__OVER_OUTPUT;

    if ((axis && at.j < 1) || (mu->over == ASSAY__OVER_INPUT_PAIR && at.j <= at.i) ||
        (mu->over == ASSAY__OVER_CHOICE && at.j == at.k))
        return false;
    if (output && op->out[at.i].flags & ASSAY_PARAM_UNJUDGED)
        return false;
    return !mu->fits || mu->fits(op, at);
}

bool assay__next_target(const struct assay__mutant *mu, const struct assay_op *op,
                        const struct assay__ranks *ranks, struct assay__target *at)
{
    int n[3];

    if (at->i < 0)
        *at = (struct assay__target){ 0, 0, -1 };
    for (;;) {
        limits(n, mu->over, op, ranks, at->i);
        if (++at->k >= n[2]) {
            at->k = 0;
            if (++at->j >= n[1]) {
                at->j = 0;
                at->i++;
            }
        }
        if (at->i >= n[0])
            return false;
        limits(n, mu->over, op, ranks, at->i);
        if (at->j < n[1] && at->k < n[2] && is_target(mu, op, *at))
            return true;
    }
}

static const char *choice_text(const struct assay_attr *a, int i)
{
    static const char *const bools[] = { "false", "true" };

    return a->type == ASSAY_ATTR_BOOL ? bools[i] : a->choices[i];
}

const char *assay__target_text(const struct assay__mutant *mu, const struct assay_op *op,
                               struct assay__target at, char *buf, size_t size)
{
    buf[0] = 0;
    switch (mu->over) {
    case ASSAY__OVER_OUTPUT:
        snprintf(buf, size, "%s", op->out[at.i].name);
        break;
    case ASSAY__OVER_OUTPUT_AXIS:
        snprintf(buf, size, "%s axis -%d", op->out[at.i].name, at.j);
        break;
    case ASSAY__OVER_INPUT:
        snprintf(buf, size, "%s", op->in[at.i].name);
        break;
    case ASSAY__OVER_INPUT_AXIS:
        snprintf(buf, size, "%s axis -%d", op->in[at.i].name, at.j);
        break;
    case ASSAY__OVER_INPUT_PAIR:
        snprintf(buf, size, "%s %s", op->in[at.i].name, op->in[at.j].name);
        break;
    case ASSAY__OVER_ATTR:
        snprintf(buf, size, "%s", op->attrs[at.i].name);
        break;
    case ASSAY__OVER_CHOICE:
        snprintf(buf, size, "%s %s for %s", op->attrs[at.i].name,
                 choice_text(&op->attrs[at.i], at.k), choice_text(&op->attrs[at.i], at.j));
        break;
    default:
        break;
    }
    return buf;
}
