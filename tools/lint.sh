#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Format, static analysis and the rules of the tree; `lint.sh --format` rewrites the layout instead.
# What has not changed since clang-tidy passed it is not read again (build/dev/lint/ remembers).
set -u
cd "$(dirname "$0")/.." || exit 3

# One example does not compile, on purpose.
sources=$(find src include tests kernels examples fuzz -name '*.[ch]' |
    grep -v '^examples/flawed/exp\.c$' | LC_ALL=C sort)
scripts="demo check .ci/run $(find tools tests -name '*.sh' ! -path 'tests/cli/*' | LC_ALL=C sort)"
failed=

if [ "${1:-}" = --format ]; then
    # shellcheck disable=SC2086 # file names of the tree have no blanks
    exec clang-format -i $sources
fi

missing=
for tool in clang-format clang-tidy cppcheck; do
    command -v $tool >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    echo "lint: missing$missing: sudo apt-get install --no-install-recommends$missing" >&2
    exit 3
fi

# step NAME COMMAND...: one line if it passes, its output if not.
step()
{
    name=$1
    shift
    if out=$("$@" 2>&1); then
        echo "lint: $name ok"
    else
        printf '%s\nlint: %s FAILED\n' "$out" "$name"
        failed="$failed $name"
    fi
}

tidy()
{
    cmake --preset dev >/dev/null || return 1 # files may have come since
    mkdir -p build/dev/lint
    # A result holds as long as the rules, all headers and the file itself are the same.
    # shellcheck disable=SC2046
    common=$(cat .clang-tidy tests/.clang-tidy tools/analyzer.h build/dev/compile_commands.json $(echo "$sources" | grep '\.h$') | sha256sum)
    # shellcheck disable=SC2016 # the inner shell expands
    echo "$sources" | grep -E '^(src|tests|fuzz)/.*\.c$' | grep -v '^tests/candidates/' |
        COMMON=$common xargs -P "$(nproc)" -n 1 sh -c '
            mark=build/dev/lint/$({ echo "$COMMON"; cat "$0"; } | sha256sum | cut -c 1-32)
            [ -e "$mark" ] && exit 0
            include=--extra-arg=-include$PWD/tools/analyzer.h
            [ "$0" != src/base/status.c ] || include= # it defines what that header wraps
            out=$(clang-tidy --quiet -p build/dev $include "$0" 2>&1) && touch "$mark" && exit 0
            echo "$out" | grep -E " (error|warning): "
            exit 1'
}

cpp()
{
    # arrayIndexThenCheck dislikes s[i] && i < max, which is right for texts and lists with an end.
    # Kernels and examples include headers that only a run generates; hostile candidates are wrong
    # on purpose.
    cppcheck --quiet -j "$(nproc)" --std=c11 --library=tools/cppcheck.xml --inline-suppr \
        --enable=warning,performance,portability --error-exitcode=1 \
        --suppress=missingInclude --suppress=missingIncludeSystem --suppress=arrayIndexThenCheck \
        -D_GNU_SOURCE -D__x86_64__ -DASSAY_HAVE_YAML -DASSAY_HAVE_SECCOMP -DASSAY_VERSION='"0"' \
        -Iinclude -Isrc -i examples/flawed/exp.c src kernels examples fuzz
}

# shellcheck disable=SC2086
step clang-format clang-format --dry-run -Werror $sources
step cppcheck cpp
if command -v shellcheck >/dev/null; then
    # shellcheck disable=SC2086
    step shellcheck shellcheck --severity=warning $scripts
    # Command line tests have no first line, sh runs them. SC2254: run_one.sh matches patterns.
    step 'shellcheck of tests/cli' shellcheck --severity=warning -s sh -e SC2254 tests/cli/*.sh tests/cli/*.inc
else
    echo "lint: shellcheck is not installed, scripts are not checked"
fi
step layers tools/check_layers.sh .
step operators tools/check_ops.sh .
step clean tests/tree/no_paths.sh .
step clang-tidy tidy

[ -z "$failed" ] || { echo "lint: failed:$failed"; exit 1; }
