# SPDX-License-Identifier: Apache-2.0
. "$SRC/tests/cli/synopsis.inc"
synopsis "$ASSAY" assay list show new run debug replay merge cases conform calibrate limits adequacy selftest
