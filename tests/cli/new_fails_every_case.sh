# SPDX-License-Identifier: Apache-2.0
"$ASSAY" new exp mine >out && "$ASSAY" run mine --op exp --no-timing
