/* SPDX-License-Identifier: Apache-2.0 */
/* control.c: lays out the memory shared with a candidate's process, see proto.h. */
#include "targets/cpu/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ATTRS_CAP = 65536 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static int64_t count_views(const struct assay_slot *slots, int n)
{
    int64_t views = 0;

    for (int i = 0; i < n; i++)
        views += slots[i].n;
    return views;
}

/* Parameters and views of inputs or outputs, offsets from the arena's start. */
static void put_slots(struct cpu_case *k, const struct assay_start *s, bool out, uint32_t *param,
                      int32_t *view)
{
    const struct assay_slot *slots = out ? s->args->out : s->args->in;
    const struct assay_param *table = out ? s->op->out : s->op->in;
    const char *base = out ? s->out->base : s->in->base;
    int n = out ? assay_op_n_out(s->op) : assay_op_n_in(s->op);

    for (int i = 0; i < n; i++, ++*param) {
        k->param[*param] = (struct cpu_param){
            .count = (int32_t)slots[i].n,
            .first_view = *view,
            .dynamic = out && (table[i].flags & ASSAY_PARAM_DYNAMIC) ? i : -1,
            .is_out = out,
        };
        for (int64_t j = 0; j < slots[i].n; j++, ++*view) {
            const struct assay_tensor *t = &slots[i].t[j];
            struct cpu_view *v = &k->view[*view];

            v->offset = (uint64_t)((const char *)t->data - base);
            v->view = (struct assay_view){ .dtype = (int32_t)t->dtype, .rank = t->rank };
            for (int d = 0; d < t->rank; d++)
                v->view.shape[d] = t->shape[d];
        }
    }
}

/* What to map of an arena: whole pages, of whatever size they are. */
static uint64_t mapped(const struct assay_shared *m, size_t bytes)
{
    return m->huge ? round_up(bytes, (size_t)2 << 20) : bytes;
}

/* Kept here for the wording of a fault: the process could change what it was given. */
static void keep_inputs(struct cpu_proc *p, const struct assay_start *s)
{
    for (int i = 0; i < ASSAY_MAX_IN; i++) {
        const struct assay_slot *slot = &s->args->in[i];

        p->in_first[i] = i < assay_op_n_in(s->op) && slot->n
                             ? (uint64_t)((const char *)slot->t[0].data - (const char *)s->in->base)
                             : UINT64_MAX;
    }
}

static void put_case(struct cpu_case *k, const struct assay_start *s, uint32_t n_views)
{
    uint64_t need = 2 * (uint64_t)(s->in_stride + s->out_stride);
    const uint64_t mib = (uint64_t)1 << 20;
    uint32_t param = 0;
    int32_t view = 0;

    k->n_in = (uint32_t)assay_op_n_in(s->op);
    k->n_out = (uint32_t)assay_op_n_out(s->op);
    k->n_views = n_views;
    k->in_stride = s->in_stride;
    k->out_stride = s->out_stride;
    k->in_bytes = mapped(s->in, (size_t)s->n_sets * s->in_stride);
    k->out_bytes = mapped(s->out, (size_t)s->n_sets * s->out_stride);
    k->scratch_bytes = need < mib ? mib : need > 1024 * mib ? 1024 * mib : need;
    k->memory_budget = s->in_stride + s->out_stride + k->scratch_bytes + 256 * mib;
    k->threads = s->options->threads;
    k->n_sets = s->n_sets;
    k->locked = s->options->locked;
    k->spin = s->spin;
    k->act = (int32_t)s->built->act;
    k->slowdown = s->built->slowdown;
    snprintf(k->entry, sizeof k->entry, "assay_%s", s->op->name);
    snprintf(k->library, sizeof k->library, "%s", s->built->library);
    put_slots(k, s, false, &param, &view);
    put_slots(k, s, true, &param, &view);
}

enum assay_status cpu_ctl_new(struct cpu_proc *p, int *fd, const struct assay_start *s,
                              struct assay_err *err)
{
    int64_t n_views =
        count_views(s->args->in, ASSAY_MAX_IN) + count_views(s->args->out, ASSAY_MAX_OUT);
    size_t case_at = round_up(sizeof(struct cpu_ctl), 64);
    size_t attrs_at =
        round_up(case_at + sizeof(struct cpu_case) + (size_t)n_views * sizeof(struct cpu_view), 64);
    size_t used_at = attrs_at + ATTRS_CAP;
    struct assay_packed packed;
    struct cpu_case *k;
    char *base;

    *fd = -1;
    if (assay_op_n_in(s->op) + assay_op_n_out(s->op) > CPU_MAX_PARAMS)
        return assay_fail(err, ASSAY_INTERNAL, "%s has more than %d parameters", s->op->name,
                          (int)CPU_MAX_PARAMS);
    if (strlen(s->built->library) >= sizeof k->library)
        return assay_fail(err, ASSAY_INVALID, "path of the library is too long: %s",
                          s->built->library);
    p->ctl_bytes = round_up(used_at + (size_t)s->n_sets * CPU_MAX_DYNAMIC * sizeof(int64_t), 4096);
    *fd = memfd_create("assay-control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, (off_t)p->ctl_bytes))
        return assay_fail(err, ASSAY_IO, "cannot make control memory: %s", strerror(errno));
    base = mmap(NULL, p->ctl_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *fd, 0);
    if (base == MAP_FAILED)
        return assay_fail(err, ASSAY_IO, "cannot map control memory: %s", strerror(errno));
    p->ctl = (struct cpu_ctl *)(void *)base;
    p->ctl->total_bytes = p->ctl_bytes;
    p->ctl->case_at = case_at;
    p->ctl->attrs_at = attrs_at;
    p->ctl->used_at = used_at;
    atomic_store(&p->ctl->syscall_nr, -1);
    p->used = (int64_t *)(void *)(base + used_at);
    k = (struct cpu_case *)(void *)(base + case_at);
    put_case(k, s, (uint32_t)n_views);
    keep_inputs(p, s);
    ASSAY_TRY(assay_attrs_pack(s->op, s->args->attr, base + attrs_at, ATTRS_CAP, &packed, err));
    k->attrs_size = packed.size;
    k->n_reloc = (uint32_t)packed.n_reloc;
    memcpy(k->reloc, packed.reloc, (size_t)packed.n_reloc * sizeof *packed.reloc);
    p->in_bytes = k->in_bytes;
    p->in_stride = k->in_stride;
    p->memory_mib = (double)k->memory_budget / 1048576.0;
    if (fcntl(*fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
        return assay_fail(err, ASSAY_IO, "cannot seal control memory: %s", strerror(errno));
    return ASSAY_OK;
}
