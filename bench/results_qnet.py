#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results_qnet.py OUT: tables of docs/results-qnet.md from the histories that results_qnet.sh left in OUT."""
import json
import os
import statistics
import sys


def last(out, name):
    """The last epoch of a run that is done, or None."""
    try:
        with open(os.path.join(out, name, "history.json")) as f:
            history = json.load(f)
    except FileNotFoundError:
        return None
    if not os.path.exists(os.path.join(out, name, "model.qn")):
        return None
    return history["epochs"][-1]


def hard(e):
    return 100 * e["hard_accuracy"]


def gap(e):
    return 100 * abs(e["soft_accuracy"] - e["hard_accuracy"])


def seeds(out, net, variant):
    """(float, variant) of each seed that has both."""
    pairs = [(last(out, f"{net}-{s}-float"), last(out, f"{net}-{s}-{variant}")) for s in (1, 2, 3)]
    return [p for p in pairs if p[0] and p[1]]


def table_of_seeds(out, net, rows):
    print("| network | hard accuracy % (mean of seeds) | seeds | loss, points | asked | soft - hard, points (largest) |")
    print("| --- | --- | --- | --- | --- | --- |")
    for variant, name, asked in rows:
        pairs = seeds(out, net, variant)
        if not pairs:
            print(f"| {name} | not run | | | {asked} | |")
            continue
        mean = statistics.mean(hard(p[1]) for p in pairs)
        loss = statistics.mean(hard(p[0]) - hard(p[1]) for p in pairs)
        each = ", ".join(f"{hard(p[1]):.2f}" for p in pairs)
        lost = "" if variant == "float" else f"{loss:.2f}"
        apart = "" if variant == "float" else f"{max(gap(p[1]) for p in pairs):.2f}"
        print(f"| {name} | {mean:.2f} | {each} | {lost} | {asked} | {apart} |")
    print()


def table_of_runs(out, base, rows):
    reference = last(out, base)
    print("| run | hard accuracy % | loss, points | soft - hard, points |")
    print("| --- | --- | --- | --- |")
    for run, name in rows:
        e = last(out, run)
        if not e or not reference:
            print(f"| {name} | not run | | |")
        else:
            print(f"| {name} | {hard(e):.2f} | {hard(reference) - hard(e):.2f} | {gap(e):.2f} |")
    print()


def peers():
    columns = ("w1", "w2", "w3", "w2a2", "w1a1")
    yield "| method | " + " | ".join(c.upper() for c in columns) + " |"
    yield "| --- |" + " --- |" * len(columns)
    for method in ("sigmoid", "ste", "dorefa", "lsq", "twn"):
        cells = []
        for c in columns:
            e = last(sys.argv[1], f"lenet-1-{c}" if method == "sigmoid" else f"peer-{method}-{c}")
            cells.append(f"{hard(e):.2f}" if e else "-")
        yield f"| {method} | " + " | ".join(cells) + " |"


ABLATIONS = (
    ("lenet-1-{}", "as it is: K-means thresholds, one quantiser a layer, from float, T = 20 e"),
    ("ablation-uniform-{}", "uniform thresholds"),
    ("ablation-005-{}", "-0.05 and 0.05 around the zero"),
    ("ablation-shared-{}", "one quantiser for all layers"),
    ("ablation-scratch-{}", "from scratch, no float phase"),
    ("ablation-cold-{}", "constant temperature 20"),
    ("ablation-hot-{}", "constant temperature 160"),
    ("ablation-learned-{}", "thresholds learned"),
    ("ablation-paper-{}", "preset paper"),
    ("ablation-released-{}", "preset released"),
)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    print("## Fashion-MNIST, lenet-s\n")
    table_of_seeds(out, "lenet", (("float", "float", ">= 91.3"), ("w1", "binary weights", "0.6"),
                                  ("w2", "ternary weights", "0.4"), ("w3", "{-4..4}, seven levels", "0.2"),
                                  ("w2a4", "W2A4", "0.8"), ("w2a2", "W2A2", "1.2"), ("w1a2", "W1A2", "1.8"),
                                  ("w1a1", "W1A1", "4.5")))
    print("## Methods, same trainer and budget\n")
    print("\n".join(peers()) + "\n")
    print("## Ablations\n")
    for w, name in (("w2", "ternary weights"), ("w3", "seven levels")):
        print(f"### {name}\n")
        table_of_runs(out, "lenet-1-float", [(r.format(w), n) for r, n in ABLATIONS])
    print("### activations\n")
    table_of_runs(out, "lenet-1-float", [("lenet-1-w2a2", "W2A2: derivative at temperature 3, T of weights 7 e"),
                                         ("ablation-true-slope-w2a2", "W2A2: the true derivative"),
                                         ("ablation-phases-w2a2", "W2A2: activations alone first, then both")])
    print("## MNIST, lenet5\n")
    table_of_seeds(out, "lenet5", (("float", "float", ">= 99.35"), ("w1", "binary weights", "0.3"),
                                   ("w2", "ternary weights", "0.2"), ("w1a1", "W1A1", "0.9")))
    for net in ("vgg", "resnet20"):
        print(f"## Fashion-MNIST, {net}, one seed\n")
        table_of_runs(out, f"{net}-float", [(f"{net}-float", "float (asked: >= 93.0)"), (f"{net}-w3", "seven levels"),
                                            (f"{net}-w2", "ternary weights"), (f"{net}-w2a2", "W2A2")])


main()
