/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_model.c: what __builtin_cpu_supports() looks at. The compiler's own library would bring a
 * constructor along that fills it in, and no code of a library may run when it is opened: so it
 * is filled in here, beforehand, with what this processor is.
 */
#include "targets/cpu/build.h"

#if defined(__x86_64__)

/* Of libgcc and compiler-rt alike. */
struct model {
    unsigned vendor, type, subtype, features[1];
};
extern struct model cpu_model __asm__("__cpu_model");
extern unsigned cpu_features2[] __asm__("__cpu_features2");

void cpu_model_source(struct assay_text *t)
{
    __builtin_cpu_init();
    assay_text_add(t,
                   ".section .note.GNU-stack,\"\",@progbits\n"
                   ".section .rodata\n.balign 16\n"
                   ".globl __cpu_model, __cpu_features2\n"
                   ".hidden __cpu_model, __cpu_features2\n"
                   "__cpu_model: .long %u, %u, %u, %u\n"
                   "__cpu_features2: .long %u, 0, 0, 0\n"
                   ".text\n.globl __cpu_indicator_init\n.hidden __cpu_indicator_init\n"
                   "__cpu_indicator_init: xorl %%eax, %%eax\nret\n",
                   cpu_model.vendor, cpu_model.type, cpu_model.subtype, cpu_model.features[0],
                   cpu_features2[0]);
}

#else

void cpu_model_source(struct assay_text *t)
{
    assay_text_add(t, ".section .note.GNU-stack,\"\",%%progbits\n");
}

#endif
