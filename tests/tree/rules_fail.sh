#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rules_fail.sh ROOT: the checks of the tree accept a small good tree and find each fault put in it.
set -eu
root=$(cd "${1:-$(dirname "$0")/../..}" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
n=0

fresh()
{
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/src/base "$tree"/src/spec "$tree"/src/ops "$tree"/include/assay "$tree"/tools \
        "$tree"/data/cases "$tree"/kernels/naive/common "$tree"/kernels/baseline/exp
    printf 'base:\nspec: base\nops: spec base\nops/far: base/b.h\n' >"$tree"/tools/layers.txt
    mkdir "$tree"/src/ops/far
    echo '#include "base/b.h"' >"$tree"/src/ops/far/f.c
    echo '#include "assay/op.h"' >"$tree"/src/base/a.c
    printf '#include "base/b.h"\n#include <assay/op.h>\n' >"$tree"/src/spec/s.c
    printf '/* #include "spec/s.h" is not seen here */\n' >"$tree"/src/base/b.h
    printf '#include "spec/s.h"\n#include <stdio.h>\n' >"$tree"/src/ops/gelu.c
    cp "$tree"/src/ops/gelu.c "$tree"/src/ops/exp.c
    cp "$tree"/src/ops/gelu.c "$tree"/src/ops/registry.c
    printf '/* all */\nASSAY_OP(exp)\nASSAY_OP(gelu)\n' >"$tree"/src/ops/ops.def
    echo '#include "assay/status.h"' >"$tree"/include/assay/op.h
    echo '{}' | tee "$tree"/data/cases/exp.json >"$tree"/data/cases/gelu.json
    printf '#include <assay/gelu.h>\n#include "../common/fast.h"\n#include "own.h"\n' |
        tee "$tree"/kernels/naive/exp.c "$tree"/kernels/naive/gelu.cc >"$tree"/kernels/baseline/gelu.c
}

# passes CHECK
passes()
{
    n=$((n + 1))
    "$root/$1" "$tree" || { echo "rules_fail: $1 rejects the good tree"; exit 1; }
}

# finds CHECK TEXT: exit status 1 and exactly one line, which contains TEXT.
finds()
{
    n=$((n + 1))
    status=0
    out=$("$root/$1" "$tree" 2>&1) || status=$?
    case $status:$out in
    1:*"$2"*) ;;
    *) echo "rules_fail: $1 gives $status and \"$out\" instead of \"$2\""; exit 1 ;;
    esac
    [ "$(echo "$out" | wc -l)" = 1 ] || { echo "rules_fail: more than one fault: $out"; exit 1; }
    fresh
}

add()
{
    printf '%s\n' "$2" >>"$tree/$1"
}

fresh
layers=tools/check_layers.sh
passes $layers
add src/base/a.c '#include "spec/s.h"'
finds $layers 'src/base/a.c:2: base may not include spec/s.h'
add src/base/b.h '  #  include "ops/x.h"'
finds $layers 'src/base/b.h:2: base may not include ops/x.h'
add src/spec/s.c '#include "s.h"'
finds $layers 'src/spec/s.c:3: spec may not include s.h: write the module before the file'
add src/spec/s.c '#include "../ops/x.h"'
finds $layers 'spec may not include ../ops/x.h'
add src/spec/s.c '#include <ops/x.h>'
finds $layers 'must be written with quotes'
add src/ops/far/f.c '#include "base/c.h"'
finds $layers 'src/ops/far/f.c:2: ops/far may not include base/c.h'
add src/ops/far/f.c '#include "ops/x.h"'
finds $layers 'src/ops/far/f.c:2: ops/far may not include ops/x.h'
add include/assay/op.h '#include "base/b.h"'
finds $layers 'include/assay/op.h:2: a public header may not include base/b.h'
add kernels/naive/exp.c '#include "../../src/base/b.h"'
finds $layers 'a kernel may not include'
mkdir -p "$tree/src/new" && add src/new/n.c '/* no module */'
finds $layers 'src/new/n.c:1: folder src/new is not a module'
printf 'base: spec\nspec:\nops: spec base\nops/far: base/b.h\n' >"$tree"/tools/layers.txt
sed -i 1d "$tree"/src/spec/s.c
finds $layers 'tools/layers.txt:1: base names spec'

ops=tools/check_ops.sh
passes $ops
for gone in src/ops/gelu.c data/cases/gelu.json kernels/naive/gelu.cc kernels/baseline/gelu.c; do
    rm "$tree/$gone"
    finds $ops "gelu: no ${gone%.*}"
done
rmdir "$tree"/kernels/baseline/exp
finds $ops 'exp: no kernels/baseline/exp.c'
for more in src/ops/tanh.c data/cases/tanh.json kernels/naive/tanh.c kernels/baseline/tanh.cc; do
    add "$more" ''
    finds $ops "$more: no line ASSAY_OP(tanh)"
done
add src/ops/ops.def 'ASSAY_OP(exp)'
finds $ops 'exp is listed twice'
add src/ops/ops.def 'ASSAY_OP(Exp)'
finds $ops 'ops.def:4: neither'
echo '/* none */' >"$tree"/src/ops/ops.def
rm "$tree"/src/ops/exp.c "$tree"/src/ops/gelu.c "$tree"/data/cases/* "$tree"/kernels/naive/*.* "$tree"/kernels/baseline/*.c
rmdir "$tree"/kernels/baseline/exp
finds $ops 'no operators'

clean=tests/tree/no_paths.sh
passes $clean
for place in wo'rk' ro'ot' ho'me'; do
    add src/base/a.c "/* see /$place/x */"
    finds $clean 'src/base/a.c:2:'
done
add README.md "cat /tmp/br""ief.md"
finds $clean 'README.md:1:'
for note in TO'DO' FIX'ME' XX'X'; do
    add include/assay/op.h "/* $note: later */"
    finds $clean 'include/assay/op.h:2:'
done
add src/base/a.c 'static char name[] = "x-XXXXXX";'
passes $clean
mkdir "$tree"/src/cli
add src/cli/cmd_new.c "\"/* TO""DO: the kernel */\""
passes $clean

echo "$n checks of the rules"
