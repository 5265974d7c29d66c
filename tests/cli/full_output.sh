# SPDX-License-Identifier: Apache-2.0
# A result that cannot be printed is no success, and is complained of once: whether it is noticed at
# the end or, with more than a buffer holds, on the way.
short="assay: cannot write to standard output: No space left on device"
long="assay list: cannot write to standard output: No space left on device"
[ -w /dev/full ] || { echo "$short" >&2; echo "$long" >&2; exit 3; }
"$ASSAY" --version >/dev/full
[ $? = 3 ] || exit 1
"$ASSAY" list >/dev/full
