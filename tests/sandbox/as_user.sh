#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# as_user.sh TEST [ARG ...]: root runs the test again as an ordinary user. Exit 77: cannot be tried here.
set -u

skip()
{
    echo "skipped: $1"
    exit 77
}

[ "$(id -u)" = 0 ] || skip "already an ordinary user"
command -v setpriv >/dev/null 2>&1 || skip "no setpriv"
user="setpriv --reuid=12345 --regid=12345 --clear-groups"
$user test -x "$1" || skip "an ordinary user cannot read $1"
exec $user "$@"
