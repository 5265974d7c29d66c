# SPDX-License-Identifier: Apache-2.0
# With --json - the result is alone on standard output.
"$ASSAY" run "$SRC/examples/first" --cases exp/1 --no-timing --json - >out 2>err || exit 1
head -n 1 out
grep '^{"op":"exp","case"' out
tail -n 1 out
grep '^headline' err
