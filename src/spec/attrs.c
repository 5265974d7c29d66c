/* SPDX-License-Identifier: Apache-2.0 */
/* attrs.c: lays attributes out by the C rules of the struct that header.c declares. */
#include "assay/op.h"

#include <stdalign.h>

/* What a kernel's compiler makes of an enum whose values are small and not negative. */
typedef uint32_t packed_enum;

struct packer {
    unsigned char *dst;
    size_t cap, used;
    size_t align;                /* largest alignment of a field so far */
    size_t list[ASSAY_MAX_ATTR]; /* where the field of a list stands */
    struct assay_packed *out;
};

static size_t round_up(size_t n, size_t align)
{
    return (n + align - 1) / align * align;
}

/* Reserves size bytes at the next multiple of align; SIZE_MAX when they do not fit. */
static size_t reserve(struct packer *p, size_t size, size_t align)
{
    size_t at = round_up(p->used, align);

    if (at > p->cap || size > p->cap - at)
        return SIZE_MAX;
    memset(p->dst + p->used, 0, at - p->used + size);
    p->used = at + size;
    if (align > p->align)
        p->align = align;
    return at;
}

static bool put(struct packer *p, const void *value, size_t size, size_t align)
{
    size_t at = reserve(p, size, align);

    if (at == SIZE_MAX)
        return false;
    memcpy(p->dst + at, value, size);
    return true;
}

static bool put_field(struct packer *p, const struct assay_attr *a, const struct assay_value *v,
                      int i)
{
    const struct assay_value none = { 0 };
    packed_enum choice;
    bool flag;

    if (a->flags & ASSAY_ATTR_NO_DEFAULT) {
        flag = v->set;
        if (!put(p, &flag, sizeof flag, alignof(bool)))
            return false;
        v = flag ? v : &none;
    }
    switch (a->type) {
    case ASSAY_ATTR_INT:
        return put(p, &v->i, sizeof v->i, alignof(int64_t));
    case ASSAY_ATTR_FLOAT:
        return put(p, &v->f, sizeof v->f, alignof(double));
    case ASSAY_ATTR_BOOL:
        flag = v->i != 0;
        return put(p, &flag, sizeof flag, alignof(bool));
    case ASSAY_ATTR_ENUM:
        choice = (packed_enum)v->i;
        return put(p, &choice, sizeof choice, alignof(packed_enum));
    default: /* lists: filled in by put_list, once the size of the struct is known */
        p->list[i] = reserve(p, sizeof(struct assay_ints), alignof(struct assay_ints));
        return p->list[i] != SIZE_MAX;
    }
}

/* Puts the elements behind the struct and their offset into the field. */
static bool put_list(struct packer *p, const struct assay_op *op, int i,
                     const struct assay_value *v)
{
    bool ints = op->attrs[i].type == ASSAY_ATTR_INTS;
    const void *src = ints ? (const void *)v->ints.v : (const void *)v->floats.v;
    int64_t n = ints ? v->ints.n : v->floats.n;
    size_t field = p->list[i], bytes, at;
    uintptr_t offset;

    if (!v->set || n == 0)
        return true; /* the field is zero: no pointer to move */
    if (n < 0 || !assay_mul_size((size_t)n, 8, &bytes))
        return false;
    at = reserve(p, bytes, 8);
    if (at == SIZE_MAX)
        return false;
    memcpy(p->dst + at, src, bytes);
    offset = at;
    memcpy(p->dst + field + offsetof(struct assay_ints, v), &offset, sizeof offset);
    memcpy(p->dst + field + offsetof(struct assay_ints, n), &n, sizeof n);
    p->out->reloc[p->out->n_reloc++] = (uint32_t)(field + offsetof(struct assay_ints, v));
    return true;
}

enum assay_status assay_attrs_pack(const struct assay_op *op, const struct assay_value *attr,
                                   void *dst, size_t cap, struct assay_packed *out,
                                   struct assay_err *err)
{
    struct packer p = { .dst = dst, .cap = cap, .align = 1, .out = out };
    int n = assay_op_n_attr(op);
    bool fits = true;

    *out = (struct assay_packed){ 0 };
    for (int i = 0; i < n && fits; i++)
        fits = put_field(&p, &op->attrs[i], &attr[i], i);
    fits = fits && reserve(&p, 0, p.align) != SIZE_MAX; /* the struct's own tail padding */
    for (int i = 0; i < n && fits; i++)
        if (op->attrs[i].type == ASSAY_ATTR_INTS || op->attrs[i].type == ASSAY_ATTR_FLOATS)
            fits = put_list(&p, op, i, &attr[i]);
    if (!fits)
        return assay_fail(err, ASSAY_INVALID, "attributes of %s do not fit into %zu bytes",
                          op->name, cap);
    out->size = p.used;
    return ASSAY_OK;
}
