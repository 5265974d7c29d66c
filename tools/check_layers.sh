#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_layers.sh [ROOT]: every include under ROOT/src obeys ROOT/tools/layers.txt; include/assay
# and the kernels see nothing of src. Prints file:line: message for each that does not.
set -eu
cd "${1:-$(dirname "$0")/..}"

list=$(find src include kernels -name '*.[ch]' -o -name '*.cc' -o -name '*.def' | LC_ALL=C sort)
[ -n "$list" ] || { echo "check_layers: no sources in $PWD" >&2; exit 1; }

# shellcheck disable=SC2086 # file names of the tree have no blanks
awk '
function bad(text) { print FILENAME ":" FNR ": " text; failed = 1 }
function folder(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "" }

FILENAME == "tools/layers.txt" {
    if ($0 ~ /^#/ || NF == 0)
        next
    if ($1 !~ /:$/) { bad("no \"module:\" at the start of the line"); next }
    module = substr($1, 1, length($1) - 1)
    if (module in known)
        bad("module " module " is listed twice")
    for (i = 2; i <= NF; i++) {
        # Only what stands above may be named, so that the modules cannot form a circle.
        if (!(($i ~ /\.h$/ ? folder($i) : $i) in known))
            bad(module " names " $i ", which is not a module listed above it")
        allowed[module, $i] = 1
    }
    known[module] = 1
    next
}

FNR == 1 {
    own = FILENAME ~ /^src\// ? folder(substr(FILENAME, 5)) : ""
    if (FILENAME ~ /^src\// && !(own in known))
        bad("folder src/" own " is not a module of tools/layers.txt")
}

/^[ \t]*#[ \t]*include/ {
    quoted = match($0, /"[^"]*"/)
    if (!quoted && !match($0, /<[^>]*>/))
        next
    path = substr($0, RSTART + 1, RLENGTH - 2)
    from = folder(path)
    if (from == "assay")
        next
    if (!quoted) {
        if (from in known)
            bad("include of " path " must be written with quotes")
        next
    }
    if (FILENAME ~ /^include\//)
        bad("a public header may not include " path)
    else if (FILENAME ~ /^kernels\//) {
        if (from in known || from ~ /^\.\./ && path !~ /^\.\.\/common\//)
            bad("a kernel may not include " path)
    } else if (from != own && !((own, from) in allowed) && !((own, path) in allowed))
        bad(own " may not include " path (from == "" ? ": write the module before the file" : ""))
}

END { exit failed }
' tools/layers.txt $list
