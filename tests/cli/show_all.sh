# SPDX-License-Identifier: Apache-2.0
# Every operator, one after the other; what does not go together is refused.
"$ASSAY" show --all >all || exit 1
[ "$(grep -c ', entry point assay_' all)" -eq "$("$ASSAY" list --json | grep -c '"name"')" ] || exit 1
"$ASSAY" show --markdown exp | head -n 4
for wrong in "" "--all exp" "--all --json" "--all --header" "--markdown exp --cases"; do
    "$ASSAY" show $wrong && exit 1
done
true
