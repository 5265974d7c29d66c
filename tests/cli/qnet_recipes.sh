# SPDX-License-Identifier: Apache-2.0
# Recipes that come with the program: their phases are those of what is quantised, --epochs keeps their course, and
# what comes later wins.
. "$SRC/tests/cli/qnet.inc"
# Field SECTION.NAME of the recipe that a checkpoint holds.
field()
{
    "$QNET" inspect "$1/checkpoint.qn" --json - | sed 's/.*"recipe":\({.*\),"norm":.*/\1/' |
        sed "s/.*\"$2\":{\([^}]*\)}.*/\1/; s/.*\"$3\":\(\[[^]]*\]\|[^,]*\).*/\1/"
}
begin() { out=$1; shift; "$QNET" train toy --net ./toy.json --out "$out" --quiet --until 1 batch=100 "$@" || exit 1; }

begin float --recipe paper --epochs 1
echo "float: $(field float float epochs) $(field float weights_phase epochs) $(field float both epochs)"
begin paper --recipe paper --weights ternary --from float/model.qn 2>/dev/null
echo "paper: $(field paper float epochs) $(field paper weights_phase epochs) $(field paper activations_phase epochs)"
echo "$(field paper weights_phase rate) $(field paper weights_phase drops) $(field paper weights preset)"
begin short --recipe paper --weights ternary --activations u2 --epochs 11 float.epochs=1
echo "short: $(field short float epochs) $(field short weights_phase epochs) $(field short activations_phase epochs)" \
    "$(field short both epochs)"
echo "$(field short weights_phase drops) $(field short weights heat_base) $(field short activations kind)"
begin released --recipe released --weights binary --from float/model.qn 2>/dev/null
echo "released: $(field released weights_phase epochs) $(field released weights_phase drops)" \
    "$(field released weights heat_base) $(field released weights preset)"
begin mixed --recipe released --weights binary --preset default --method ste --from float/model.qn weights_phase.rate=0.5 2>/dev/null
echo "mixed: $(field mixed weights preset) $(field mixed weights kind) $(field mixed weights_phase rate)"
# one of one's own
echo '{ "about": "mine", "seed": "18446744073709551615", "batch": 50, "float": { "epochs": 3, "drops": [1, 2.5] } }' >mine.json
begin mine --recipe ./mine.json
echo "mine: $(field mine float drops)"
"$QNET" inspect mine/checkpoint.qn --json - | grep -o '"seed":"[0-9]*","batch":[0-9]*'
