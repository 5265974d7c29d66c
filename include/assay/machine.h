/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: peaks of a machine per execution unit, measured here or published.
 */
#ifndef ASSAY_MACHINE_H
#define ASSAY_MACHINE_H

#include "assay/op.h"

struct assay_machine {
    char name[64];                                       /* "this", "910b2" */
    char cpu[128], kernel[128], compiler[128], date[32]; /* where and when measured; may be empty */
    int threads;
    double peak[ASSAY_N_UNITS]; /* per second in the unit's own unit; 0: unknown, does not bound */
    double spread[ASSAY_N_UNITS]; /* relative repeatability of the measurement, 0 if published */
};

enum assay_status assay_machine_read(struct assay_machine *m, const char *path,
                                     struct assay_err *err);
enum assay_status assay_machine_write(const struct assay_machine *m, const char *path,
                                      struct assay_err *err);

/* Names this machine (processor, kernel, compiler, date) and leaves all peaks unknown. */
void assay_machine_name(struct assay_machine *m, int n_threads);

/* Measures this machine (about 2 s): memory bandwidth on the kind of mapping that kernels get, fp32
 * and fp64 FMA peak, on n_threads threads. progress may be NULL. */
enum assay_status assay_calibrate(struct assay_machine *m, int n_threads,
                                  void (*progress)(void *cookie, const char *what), void *cookie,
                                  struct assay_err *err);

#endif
