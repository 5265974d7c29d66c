# SPDX-License-Identifier: Apache-2.0
. "$SRC/tests/cli/synopsis.inc"
synopsis "$QNET" qnet data train eval inspect bench
