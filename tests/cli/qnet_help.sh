# SPDX-License-Identifier: Apache-2.0
"$QNET" help >help || exit 1
cat help
"$QNET" -h | cmp - help && "$QNET" --help | cmp - help || exit 1
"$QNET" >none 2>err
[ $? = 2 ] && cmp help err && [ ! -s none ] || exit 1
"$QNET" --version | grep -qx "qnet $(cat "$SRC/VERSION")" || exit 1
"$QNET" trian 2>err
[ $? = 2 ] && grep -qx "qnet: unknown command 'trian'; did you mean train?" err || { cat err; exit 1; }
"$QNET" --nosuch 2>err
[ $? = 2 ] && grep -q "unknown option '--nosuch'" err || { cat err; exit 1; }
