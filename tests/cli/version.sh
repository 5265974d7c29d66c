# SPDX-License-Identifier: Apache-2.0
[ "$("$ASSAY" --version)" = "assay $(cat "$SRC/VERSION")" ]
