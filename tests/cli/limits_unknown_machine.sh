# SPDX-License-Identifier: Apache-2.0
"$ASSAY" limits --machine 910b3
