# SPDX-License-Identifier: Apache-2.0
# The SYNOPSIS of every manual page is what `assay CMD -h` prints as usage. The page is read by a few rules of mdoc,
# so that no tool is needed.
render()
{
    awk '
    /^\.Sh / { on = ($2 == "SYNOPSIS"); next }
    !on || /^\.\\"/ || !/^\./ { next }
    {
        n = split(substr($0, 2), w, " "); out = ""; close_ = ""; glue = ""
        for (i = 1; i <= n; i++) {
            m = w[i]
            if (m == "Nm" || m == "Cm" || m == "Ar" || m == "No" || m == "Sy") continue
            if (m == "Op") { out = out sep(out) "["; glue = "1"; close_ = "]" close_; continue }
            if (m == "Fl") { i++; out = out (glue ? "" : sep(out)) "-" w[i]; glue = ""; continue }
            if (m == "\\&|" || m == "|") { out = out "|"; glue = "1"; continue }
            out = out (glue ? "" : sep(out)) m; glue = ""
        }
        line = line sep(line) out close_
    }
    function sep(s) { return s == "" ? "" : " " }
    END { print line }' "$1"
}
for c in list show new run debug replay merge cases conform calibrate limits adequacy selftest; do
    "$ASSAY" $c -h | awk '/^$/ { exit } { print }' | tr -s ' \n' '  ' | sed 's/^usage: //; s/ $//' >want
    echo >>want
    render "$SRC/man/assay-$c.1" >got || exit 1
    diff want got || { echo "man/assay-$c.1 differs"; exit 1; }
    grep -q "assay-$c 1" "$SRC/man/assay.1" || { echo "assay.1 does not name $c"; exit 1; }
done
