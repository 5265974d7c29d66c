/* SPDX-License-Identifier: Apache-2.0 */
#error "this is a file of flags"
