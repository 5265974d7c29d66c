/* SPDX-License-Identifier: Apache-2.0 */
/* Includes what lies beside the folder of its build. */
#include "../../../../kernels/baseline/exp.c"
