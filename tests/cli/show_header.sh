# SPDX-License-Identifier: Apache-2.0
# The headers of all operators compile, alone and twice.
mkdir assay
for op in $("$ASSAY" list | cut -d' ' -f1); do
    "$ASSAY" show $op --header >assay/$op.h || exit 1
    printf '#include <assay/%s.h>\n#include <assay/%s.h>\n' $op $op >$op.c
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only -I. -I"$SRC/include" $op.c || exit 1
done
