#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# qnet_page.sh QNET [PAGE]: runs the commands of docs/qnet.md, each behind a `$`, in a folder of its own, and puts what
# they print below them. It trains on all of Fashion-MNIST: ten minutes, and nothing else on the machine.
set -eu
qnet=$(realpath "$1")
page=$(realpath "${2:-$(dirname "$0")/../docs/qnet.md}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$qnet" "$work/bin/qnet"
PATH=$work/bin:$PATH
cd "$work"

qnet data fetch fashion-mnist fashion
while IFS= read -r line; do
    case $line in
    '```'*) inside= ;;
    '$ '*)
        inside=1
        printf '%s\n' "$line"
        # shellcheck disable=SC2086 # words
        ${line#"$ "}
        continue
        ;;
    esac
    # what an earlier run has printed goes
    [ -n "${inside:-}" ] || printf '%s\n' "$line"
done <"$page" >"$work/page"
cp "$work/page" "$page"
