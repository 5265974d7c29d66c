/* SPDX-License-Identifier: Apache-2.0 */
/* Includes itself without end. */
#include __FILE__
