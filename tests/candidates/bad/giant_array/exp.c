/* SPDX-License-Identifier: Apache-2.0 */
/* Is eighteen characters that fill a disk. */
int main[-1u] = { 1 };
