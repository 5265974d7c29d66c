# SPDX-License-Identifier: Apache-2.0
# A process that crashes, a kernel that is wrong only after other calls, with and without timing, one that does not
# compile, and one whose fault no single call shows.
bad=$SRC/tests/candidates/bad
replay()
{
    kernel=$1 case=$2
    shift 2
    "$ASSAY" run "$kernel" --cases "$case" --quiet --json r.json "$@"
    [ $? = 1 ] || { echo "$kernel did not fail"; exit 1; }
    "$ASSAY" replay r.json "$case" --json o.json --budget 20
    echo "exit $?"
    cut -d'{' -f1,2 o.json
    grep -o '"verdict".*"shrunk":{"case":.' o.json | sed 's/"reason":.*"shrunk"/"shrunk"/'
}
replay "$bad/null_pointer" exp/6 --no-timing
replay "$bad/remembers" exp/6 --no-timing
replay "$bad/remembers" exp/6 --budget 0.1
replay "$SRC/examples/flawed" exp/1 --no-timing
replay "$bad/late_answer" foreach_norm/4 --budget 0.3
