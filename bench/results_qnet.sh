#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# results_qnet.sh QNET FASHION MNIST OUT [GROUP ...]: the runs behind docs/results-qnet.md.
#
# GROUP is lenet (three seeds), peers, ablations, lenet5, vgg or resnet20; without one all of them, which takes
# hours. A run that is done is skipped, one that was interrupted goes on: call it again at any time.
# bench/results_qnet.py OUT makes the tables. SEEDS="2 3" leaves seed 1 out; THREADS=1 is for two scripts side by
# side: the results do not depend on it.
set -eu

[ $# -ge 4 ] || { sed -n '3,9s/^# //p' "$0"; exit 2; }
qnet=$1 fashion=$2 mnist=$3 out=$4
seeds=${SEEDS:-1 2 3}
threads=${THREADS:-$(getconf _NPROCESSORS_ONLN)}
shift 4
[ $# -gt 0 ] || set -- lenet peers ablations lenet5 vgg resnet20
mkdir -p "$out"

# Functions with arguments run in subshells: their variables are their own.

# run NAME DATA ARGUMENTS...
run()
(
    name=$1 data=$2
    shift 2
    [ -e "$out/$name/model.qn" ] && exit
    if [ -e "$out/$name/checkpoint.qn" ]; then
        set -- --resume
    fi
    echo "$name: $*"
    "$qnet" train "$data" --out "$out/$name" --threads "$threads" "$@" >>"$out/$name.log" 2>&1 ||
        echo "$name: exit $?; see $out/$name.log"
)

# lenet-s NAME ARGUMENTS...; of seed $seed.
small()
(
    name=$1
    shift
    run "$name" "$fashion" --seed "$seed" --net lenet-s "$@" augment.flip=true
)

# Weights alone from the float net; then activations from a net with such weights.
weights()
(
    small "$1-$2" --from "$out/$1-float/model.qn" --weights "$3" --epochs 12
)

lenet()
{
    for seed in $seeds; do
        n=lenet-$seed
        small "$n-float" --epochs 12
        weights "$n" w1 binary
        weights "$n" w2 ternary
        weights "$n" w3 pm4
        both "$n" w2 a4 ternary u4
        both "$n" w2 a2 ternary u2
        both "$n" w1 a2 binary u2
        both "$n" w1 a1 binary u1
    done
}

both()
(
    small "$1-$2$3" --from "$out/$1-$2/model.qn" --weights "$4" --activations "$5" --epochs 12 weights_phase.epochs=0
)

# The same budget for every method: 12 epochs from the same float net, 12 more with activations.
peers()
{
    seed=1 from=$out/lenet-1-float/model.qn
    for method in ste dorefa lsq; do
        pm4=pm4
        [ $method != dorefa ] || pm4=-3,-2,-1,0,1,2,3
        small "peer-$method-w1" --from "$from" --method $method --weights binary --epochs 12
        small "peer-$method-w2" --from "$from" --method $method --weights ternary --epochs 12
        small "peer-$method-w3" --from "$from" --method $method --weights $pm4 --epochs 12
        small "peer-$method-w2a2" --from "$out/peer-$method-w2/model.qn" --method $method --weights ternary \
            --activations u2 --epochs 12 weights_phase.epochs=0
        small "peer-$method-w1a1" --from "$out/peer-$method-w1/model.qn" --method $method --weights binary \
            --activations u1 --epochs 12 weights_phase.epochs=0
    done
    small peer-twn-w2 --from "$from" --method twn --weights ternary --epochs 12
}

# ablation NAME ARGUMENTS...: of ternary and of seven-level weights, from the float net.
ablation()
(
    what=$1
    shift
    for set in 'w2 ternary' 'w3 pm4'; do
        small "ablation-$what-${set%% *}" --from "$out/lenet-1-float/model.qn" --epochs 12 --weights "${set#* }" "$@"
    done
)

ablations()
{
    seed=1
    ablation uniform weights.uniform=true
    ablation shared weights.shared=true
    ablation cold weights.heat=constant weights.heat_base=20
    ablation hot weights.heat=constant weights.heat_base=160
    small ablation-scratch-w2 --weights ternary --epochs 12 float.epochs=0 weights_phase.rate=0.05
    small ablation-scratch-w3 --weights pm4 --epochs 12 float.epochs=0 weights_phase.rate=0.05
    set -- --from "$out/lenet-1-w2/model.qn" --weights ternary --activations u2 --epochs 12 weights_phase.epochs=0
    small ablation-true-slope-w2a2 "$@" activations.slope=0
    small ablation-phases-w2a2 "$@" activations_phase.epochs=6 both.epochs=6
    ablation paper --preset paper
    ablation released --preset released
    ablation 005 weights.middle=0.05
    ablation learned weights.learn_thresholds=true
}

lenet5()
{
    for seed in $seeds; do
        n=lenet5-$seed
        run "$n-float" "$mnist" --seed "$seed" --net lenet5 --epochs 12 augment.shift=2
        for set in 'w1 binary' 'w2 ternary'; do
            run "$n-${set%% *}" "$mnist" --seed "$seed" --net lenet5 --from "$out/$n-float/model.qn" \
                --weights "${set#* }" --epochs 6 augment.shift=2
        done
        run "$n-w1a1" "$mnist" --seed "$seed" --net lenet5 --from "$out/$n-w1/model.qn" --weights binary \
            --activations u1 --epochs 6 weights_phase.epochs=0 augment.shift=2
    done
}

# deep NAME NET EPOCHS; few epochs heat faster, so that the last one is as hot as that of lenet-s.
deep()
(
    set -- "$1" "$2" "$3" augment.shift=2 augment.flip=true
    name=$1 net=$2 epochs=$3
    shift 3
    run "$name-float" "$fashion" --net "$net" --epochs "$epochs" float.rate=0.1 float.warm_up=1 decay=5e-4 "$@"
    for set in 'w3 pm4' 'w2 ternary'; do
        run "$name-${set%% *}" "$fashion" --net "$net" --from "$out/$name-float/model.qn" --weights "${set#* }" \
            --epochs 3 "$@"
    done
    run "$name-w2a2" "$fashion" --net "$net" --from "$out/$name-w2/model.qn" --weights ternary --activations u2 \
        --epochs 6 weights_phase.epochs=0 weights.heat_base=14 "$@"
)

for group in "$@"; do
    case $group in
    lenet | peers | ablations | lenet5) $group ;;
    vgg) deep vgg vgg-small 8 ;;
    resnet20) deep resnet20 resnet20 12 ;;
    *)
        echo "no group '$group'"
        exit 2
        ;;
    esac
done
