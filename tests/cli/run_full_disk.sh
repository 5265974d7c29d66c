# SPDX-License-Identifier: Apache-2.0
# A disk that fills up in the middle of a run: the run ends with the reason, every whole line of the journal stays, and
# --resume goes on from there when there is room again. A result that does not fit leaves the earlier one as it was.
skip()
{
    printf 'full\n5\n5\nwhole\n' # what would have been printed
    echo "skipped: $1" >&2
    exit 0
}
mkdir disk
if [ "$(id -u)" != 0 ]; then
    # a namespace of our own in which a file system can be mounted
    [ -z "$IN_NAMESPACE" ] && command -v unshare >/dev/null || skip "cannot mount"
    unshare -rm true 2>/dev/null || skip "no user namespaces"
    rmdir disk
    IN_NAMESPACE=1 exec unshare -rm sh "$0"
fi
mount -t tmpfs -o size=8k none disk 2>/dev/null || skip "cannot mount"
trap 'umount disk 2>/dev/null || umount -l disk' EXIT
run() { "$ASSAY" run "$SRC/examples/first" --baseline "$SRC/examples/first" --no-timing --quiet --cases exp/1,exp/2,exp/3,gelu/1,gelu/2 --json disk/r.json "$@"; }
seeds() { sed -n 's/.*"op":"\([a-z]*\)","case":\([0-9]*\),"done":true.*"seed":"\([0-9]*\)".*/\1 \2 \3/p' "$1" | sort; }

run 2>err
[ $? = 3 ] && grep -q 'cannot write disk/r.json.partial: No space left on device' err && echo full
[ "$(ls disk)" = r.json.partial ] || { ls -l disk; exit 1; }
grep '^{"kind":"case".*}$' disk/r.json.partial >kept
n=$(wc -l <kept)
[ "$n" -ge 2 ] && [ "$n" -lt 5 ] || { echo "$n cases fit"; exit 1; }
seeds kept >kept.seeds
run --resume 2>err # no more room than before: nothing is lost by trying
[ $? = 3 ] || exit 1
grep '^{"kind":"case".*}$' disk/r.json.partial | head -n "$n" | cmp - kept || exit 1

mount -o remount,size=1m disk
run --resume || exit 1
[ "$(ls disk)" = r.json ] || { ls -l disk; exit 1; }
grep '^{"op":"[a-z]*","case":' disk/r.json >rows
grep -c '"verdict":"PASS"' rows
seeds rows | wc -l
seeds rows | comm -13 - kept.seeds | sed 's/^/measured again: /' # whose seed would be another

# no room for a new result, nor for the journal that begins with the old one
cp disk/r.json old.json
rm disk/r.json.partial 2>/dev/null
head -c $((1048576 - $(stat -c %b disk/r.json) * 512 - 4096)) /dev/zero >disk/filler
run --resume 2>err
[ $? = 3 ] || { echo "no error"; cat err; exit 1; }
cmp disk/r.json old.json && [ ! -s disk/r.json.partial ] || { ls -l disk; exit 1; }
rm disk/filler
run --resume || exit 1
[ "$(ls disk)" = r.json ] && echo whole
