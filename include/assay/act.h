/* SPDX-License-Identifier: Apache-2.0 */
/* act.h: what the process of a control does in place of the kernel's honest work. */
#ifndef ASSAY_ACT_H
#define ASSAY_ACT_H

enum assay_act {
    ASSAY_ACT_HONEST,   /* calls the kernel */
    ASSAY_ACT_SLOWER,   /* calls it, and takes a known share longer */
    ASSAY_ACT_NOTHING,  /* does not call it */
    ASSAY_ACT_ZEROS,    /* sets all outputs to zero */
    ASSAY_ACT_IDENTITY, /* copies the bytes of the first input to the outputs */
    ASSAY_ACT_STALE,    /* calls it, but gives what the call before gave */
    ASSAY_ACT_DOWNCAST  /* calls it, and drops low bits of what it gave */
};

#endif
