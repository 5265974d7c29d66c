# SPDX-License-Identifier: Apache-2.0
# Nothing to replay is wrong usage, and says why.
"$ASSAY" run "$SRC/examples/flawed" --cases sigmoid/2,gelu/1 --no-timing --quiet --json r.json
"$ASSAY" run "$SRC/examples/first" --cases exp/3 --no-timing --quiet --json good.json
head -c 2000 r.json >cut.json
sed 's/"submission":"[^"]*"/"submission":"gone\\u001b[31m"/' r.json >gone.json
# One that the run did not come to, and one that the harness could not measure.
sed -E 's/^(\{"op":"gelu","case":1,)"done":true.*[^,](,?)$/\1"done":false}\2/' r.json >open.json
sed '/^{"op":"gelu","case":1,/s/"failed_here":false/"failed_here":true/' r.json >fault.json
try()
{
    echo "== $*"
    "$ASSAY" replay "$@" 2>&1 | cat -v
    "$ASSAY" replay "$@" >out 2>/dev/null
    [ $? = 2 ] && [ ! -s out ] || { echo "not wrong usage"; exit 1; }
}
try missing.json exp/3
try cut.json sigmoid/2
try good.json exp/3
try good.json exp/4
try good.json gelu/1
try good.json nothing/1
try good.json exp
try gone.json gelu/1
try open.json gelu/1
try fault.json gelu/1
try r.json gelu/1 --submission elsewhere
try r.json gelu/1 --suite elsewhere
try r.json
