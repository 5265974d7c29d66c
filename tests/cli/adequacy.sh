# SPDX-License-Identifier: Apache-2.0
# One case alone, of zeros: mish(0) = 0, so that only what was left unwritten, or 1 in place of 0, can
# be told from it. All others survive, which is no success.
"$ASSAY" adequacy --cases mish/10
