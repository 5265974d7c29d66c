# SPDX-License-Identifier: Apache-2.0
# Our own suite on published rates; the figures of exp/1 by hand: 27820 elements of bfloat16 are 55640
# bytes, 7 operations each make 194740; all of it takes less than the floor.
"$ASSAY" limits --machine 910b2 --op exp,foreach_addcdiv_scalar,foreach_norm,gelu,masked_scale,mish,sigmoid,swi_glu
