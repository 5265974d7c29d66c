# SPDX-License-Identifier: Apache-2.0
# Without a profile the machine is measured, and nothing but the limits is on standard output.
"$ASSAY" limits --cases exp/1 --json - 2>err || exit 1
grep -qx 'assay limits: measured now; --machine FILE reuses a profile of .*' err
