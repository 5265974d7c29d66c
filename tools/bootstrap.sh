#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the build and the tests need, but only if something is missing (Debian, Ubuntu).
# With --lint also what `make lint` needs. Honours CC and CXX. Exit 0: enough is there to build;
# 3: something required is missing and cannot be installed from here.
set -u

cc=${CC:-cc}
cxx=${CXX:-c++}
required=
optional=

have()
{
    command -v "${1%% *}" >/dev/null 2>&1
}

# The package of a compiler is named like its program, but for the plain names.
package_of()
{
    case ${1%% *} in
    cc) echo gcc ;;
    c++) echo g++ ;;
    clang++*) echo "${1%% *}" | sed 's/++//' ;;
    *) basename "${1%% *}" ;;
    esac
}

look()
{
    required=
    optional=
    have "$cc" || required="$required $(package_of "$cc")"
    [ -e /usr/include/stdio.h ] || echo '#include <stdio.h>' | $cc -E - >/dev/null 2>&1 ||
        required="$required libc6-dev"
    have cmake || required="$required cmake"
    have ninja || required="$required ninja-build"
    have pkg-config || required="$required pkg-config"
    pkg-config --exists jansson 2>/dev/null || required="$required libjansson-dev"
    pkg-config --exists libmd 2>/dev/null || required="$required libmd-dev"

    # Without these a feature is missing: official suites, trusted runs, unit tests, fast goldens of
    # matrix products, pictures that qnet reads, C++ kernels.
    pkg-config --exists yaml-0.1 2>/dev/null || optional="$optional libyaml-dev"
    pkg-config --exists libseccomp 2>/dev/null || optional="$optional libseccomp-dev"
    pkg-config --exists cmocka 2>/dev/null || optional="$optional libcmocka-dev"
    pkg-config --exists openblas 2>/dev/null || optional="$optional libopenblas-dev"
    pkg-config --exists libjpeg 2>/dev/null || optional="$optional libjpeg-dev"
    pkg-config --exists libpng 2>/dev/null || optional="$optional libpng-dev"
    pkg-config --exists zlib 2>/dev/null || optional="$optional zlib1g-dev"
    have "$cxx" || optional="$optional $(package_of "$cxx")"
    if [ "${1:-}" = --lint ]; then
        for tool in clang-format clang-tidy cppcheck shellcheck; do
            have $tool || optional="$optional $tool"
        done
    fi
}

install()
{
    [ $# -gt 0 ] && $root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o DPkg::Lock::Timeout=120 install --no-install-recommends "$@" </dev/null >&2
}

say()
{
    echo "bootstrap: $*" >&2
}

look "$@"
[ -n "$required$optional" ] || exit 0

if ! have apt-get; then
    say "not a Debian or Ubuntu system; needed, under their Debian names:$required$optional"
elif [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; then
    root=
    [ "$(id -u)" = 0 ] || root='sudo -n'
    say "installing$required$optional"
    $root apt-get -q update </dev/null >&2 || say 'apt-get update failed; trying with the lists that are here'
    # A package that a distribution lacks must not keep the required ones away.
    # shellcheck disable=SC2086 # lists of words
    install $required $optional || install $required || say 'apt-get install failed'
    look "$@"
fi

[ -n "$required$optional" ] || exit 0
if have apt-get; then
    say "missing; install with: sudo apt-get update && sudo apt-get install --no-install-recommends$required$optional"
fi
if [ -n "$required" ]; then
    say "cannot build without:$required"
    exit 3
fi
say "building without:$optional"
