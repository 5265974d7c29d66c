# SPDX-License-Identifier: Apache-2.0
# What cannot be asked for: the exit status is 2, the message names it and says what to do, nothing is written.
. "$SRC/tests/cli/qnet.inc"
bad()
{
    want=$1
    shift
    check 2 "$want" train "$@"
    [ ! -e out ] || { echo "something was written: $*"; ls -A out; exit 1; }
}
toy() { want=$1; shift; bad "$want" toy --net ./toy.json --out out "$@"; }

bad "DATA [FIELD=VALUE ...] missing" --out out
bad "--out FOLDER is missing" toy
bad "unknown option '--weight'; did you mean '--weights'?" toy --out out --weight ternary
bad "no net 'nosuch': a file, or one of these expected: alexnet lenet-s lenet5 mlp resnet18" toy --out out --net nosuch
bad "no recipe 'nosuch': a file, or one of these expected: paper released" toy --out out --recipe nosuch
bad "there is no folder nosuch" nosuch --out out
bad "there is no folder toy.json" toy.json --out out
mkdir empty
bad "no known data set in empty: looked for train-images-idx3-ubyte (idx), data_batch_1.bin (cifar10)" empty --out out

# fields
toy "no field 'weights.level' in a recipe; docs/qnet-recipes.md lists them" weights.level=ternary
toy "'rate': FIELD=VALUE expected, as in float.epochs=8" rate
toy "'=3': FIELD=VALUE expected" =3
toy "batch: '0': an integer from 1 to 65536 expected" batch=0
toy "batch: '2.5': an integer" batch=2.5
toy "float.rate: '-1': a number from 0 to 1000 expected" float.rate=-1
toy "float.rate: 'nan': a number" float.rate=nan
toy "float.drops: '2,1': up to 8 increasing numbers" float.drops=2,1
toy "optimiser: 'rmsprop': one of sgd|adam expected" optimiser=rmsprop
toy "augment.flip: 'yes': true or false expected" augment.flip=yes
toy "option --epochs: '0' outside [1, 100000]" --epochs 0

# levels
toy "weights: levels 'purple': binary, ternary, pm2, pm4, pm15, u1 to u8, s1 to s8 or a list" --weights purple
toy "levels '3,2,1'" --weights 3,2,1
toy "weights.levels is given but weights.kind is float; sigmoid, for one" weights.levels=ternary
toy "activations.kind is sigmoid but activations.levels is not given; u2, for one" activations.kind=sigmoid both.epochs=1
toy "activations have levels but no phase in which they are learned; both.epochs, for one" activations.kind=ste activations.levels=u2
toy "weights have levels but no phase" --weights ternary weights_phase.epochs=0
toy "weights_phase has epochs but weights.kind is float" weights_phase.epochs=1
toy "both has epochs but activations.kind is float; use weights_phase" both.epochs=1
toy "--method says how --weights and --activations are quantised; neither of them is there" --method ste
toy "--preset says how" --preset paper
toy "no phase has epochs; float.epochs, for one" float.epochs=0
toy "activations.kind is twn, which is for weights; ste, for one" activations.kind=twn activations.levels=ternary both.epochs=1
toy "weights.kind: 'twn ': one of float|sigmoid" --weights ternary weights.kind='twn ' 

# recipes
echo '{ "nosuch": 1 }' >r.json
toy "r.json: no field 'nosuch' in a recipe" --recipe ./r.json
echo '{ "weights": { "levels": 3 }, "batch": [1] }' >r.json
toy "r.json: field 'batch': one value expected, got array" --recipe ./r.json

# runs that are there, or not
bad "no run to go on with: there is no out/checkpoint.qn; without --resume one begins" toy --out out --resume
train run --until 1 || exit 1
cp -r run before
check 2 "run holds a run already; go on with --resume, or choose another --out" train toy --net ./toy.json --out run
for word in "--recipe paper" "--net ./toy.json" "--weights binary" "--epochs 3" "--seed 2" "--from run/model.qn" batch=10; do
    # shellcheck disable=SC2086 # an option and its value
    check 2 "--resume goes on as the run began: no net, recipe, levels or fields beside it" train toy --out run --resume $word
done
diff -r run before || exit 1
# other pictures than those that the run began with
"$QN_TOOL" idx other 5 || exit 1
check 2 "the checkpoint is of another run: mean and deviation of its pictures differ" train other --out run --resume
"$QN_TOOL" cifar cifar || exit 1
check 2 "checkpoint" train cifar --out run --resume
check 2 "there is no folder nosuch" train nosuch --out run --resume
diff -r run before || exit 1

# weights to start from
toy "--from leaves the float phase out, and there is no other: --weights or" --from run/model.qn

# the other commands
check 2 "MODEL DATA missing" eval
check 2 "arguments missing: MODEL DATA expected" eval run/model.qn
check 2 "option --mode: 'firm' is not one of hard|soft|float" eval run/model.qn toy --mode firm
check 2 "there is no folder nosuch" eval run/model.qn nosuch
check 2 "channel" eval run/model.qn cifar
check 2 "FILE missing" inspect
check 2 "list, fetch NAME FOLDER or show FOLDER expected" data look toy
check 2 "there is no folder nosuch" data show nosuch
check 2 "fashion-mnist" data fetch nosuch out
check 2 "no net 'nosuch'" bench nosuch
check 2 "levels 'x'" bench mlp --weights x
check 2 "400 pictures; a batch of at most that expected" bench ./toy.json --data toy --batch 401
[ ! -e out ] || { ls -A out; exit 1; }
