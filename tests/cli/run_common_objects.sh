# SPDX-License-Identifier: Apache-2.0
# Objects of common/ serve all operators of a run: the libraries are those of operators built alone,
# and what depends on the operator is not shared.
mkdir -p s/common
for op in exp gelu; do
    echo "#include <assay/$op.h>
int value(void);
int assay_$op(const struct assay_call *c) { return c ? value() : 1; }" >s/$op.c
done
libraries() { # CASES: their hashes, those of the compiled ones
    "$ASSAY" run s --baseline "$SRC/kernels/naive" --cases "$1" --no-timing --quiet --json r.json >out 2>err
    [ $? = 1 ] || { cat out err; exit 1; }
    tr '{' '\n' <r.json | sed -n 's/.*"op": *"\([a-z]*\)".*"hash": *"\([0-9a-f]\{64\}\)".*/\1 \2/p'
}
same() {
    { libraries exp/1 && libraries gelu/1; } | sort >alone
    libraries exp/1,gelu/1 | sort >together
    cmp alone together && [ "$(wc -l <alone)" = "$1" ] || { echo "$2"; cat alone together; exit 1; }
}
echo 'int value(void) { return 3; }' >s/common/value.c
same 2 'plain'
cat >s/common/value.c <<'END'
#if __has_include(<assay/gelu.h>)
int value(void) { return 4; }
#else
int value(void) { return 5; }
#endif
END
same 2 '__has_include'
cut -d' ' -f2 alone | uniq | wc -l | grep -q 2 || exit 1
echo '#include <assay/exp.h>
int value(void) { return 6; }' >s/common/value.c
same 1 'header of an operator'
