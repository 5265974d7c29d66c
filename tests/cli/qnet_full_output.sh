# SPDX-License-Identifier: Apache-2.0
# A result that cannot be printed is no success.
. "$SRC/tests/cli/qnet.inc"
[ -w /dev/full ] || { echo "skipped: no /dev/full"; exit 0; }
train run --until 1 || exit 1
full()
{
    "$QNET" "$@" >/dev/full 2>err
    code=$?
    [ $code = 3 ] && grep -q 'cannot write.*No space left on device' err && [ "$(wc -l <err)" = 1 ] ||
        { echo "exit status $code: $*"; cat err; exit 1; }
}
full --version
full help train
full data show toy
full inspect run/model.qn
full inspect run/model.qn --json -
full eval run/model.qn toy
full bench ./toy.json --batch 4 --rounds 1
full train toy --net ./toy.json --out other --until 1
"$QNET" inspect run/model.qn --json /dev/full 2>err
[ $? = 3 ] || exit 1
