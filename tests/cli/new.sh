# SPDX-License-Identifier: Apache-2.0
# What `new` writes compiles for every operator, is refused by none of the warnings, and is never overwritten.
mkdir assay
for op in $("$ASSAY" list | cut -d' ' -f1); do
    "$ASSAY" show $op --header >assay/$op.h
    "$ASSAY" new $op mine >out || exit 1
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -I. -I"$SRC/include" mine/$op.c || exit 1
done
cat out
echo changed >mine/exp.c
"$ASSAY" new exp mine && exit 1
[ "$(cat mine/exp.c)" = changed ] || exit 1
rm mine/exp.c && mkdir mine/exp
"$ASSAY" new exp mine
