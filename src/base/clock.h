/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h: time that only goes forward, for budgets, limits and durations. */
#ifndef ASSAY_BASE_CLOCK_H
#define ASSAY_BASE_CLOCK_H

/* Seconds since some fixed moment. */
double assay__now_s(void);
/* The same in ns from the raw clock, which nobody adjusts: for what is measured. */
double assay__now_raw_ns(void);

/* ns that a thread has been ready to run without a core, from its open /proc/.../schedstat, where
 * the kernel keeps it; 0 when the descriptor is none. Only differences mean something. */
double assay__waited_ns(int schedstat);
/* ns that it has run: exact while it does not run. */
double assay__ran_ns(int schedstat);

#endif
