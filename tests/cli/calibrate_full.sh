# SPDX-License-Identifier: Apache-2.0
# A profile that cannot be written is no success.
[ -w /dev/full ] || { echo "assay calibrate: cannot write /dev/full: No space left on device" >&2; exit 3; }
"$ASSAY" calibrate --threads 1 --json /dev/full >out
