/* SPDX-License-Identifier: Apache-2.0 */
/* Has the assembler repeat a line without end. */
#include <assay/exp.h>

__asm__(".section .rodata\n.rept 0x7fffffff\n.quad 1\n.endr\n.text");

int assay_exp(const struct assay_call *c)
{
    return c->threads;
}
