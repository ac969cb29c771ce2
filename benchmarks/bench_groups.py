"""At which size `agreement --groups` shows a planted difference, and how often without one."""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus import Annotations, Corpus, Nominal
from dissensus.agreement import compare_groups
from dissensus.names import Names
from keeping import keep

SEED = 0
ANNOTATORS = (6, 10, 20, 100)
EFFECTS = (0.0, 0.05, 0.1, 0.2, 0.4)  # share of items about which the groups differ
ANSWERS = (50, 200)  # of each annotator
PER_ITEM = 5


def crowd(n_annotators: int, n_answers: int, effect: float, seed: Sequence[int]) -> Corpus:
    """Half of the annotators see another value in some items; all slip at rates of their own."""
    generator = np.random.default_rng(seed)
    n_items = n_annotators * n_answers // PER_ITEM
    order = generator.random((n_items, n_annotators)).argsort(axis=1)[:, :PER_ITEM]
    item, annotator = np.repeat(np.arange(n_items), PER_ITEM), order.ravel()
    group = generator.permutation(np.arange(n_annotators) % 2)
    truth = generator.integers(0, 3, n_items)
    divided = (generator.random(n_items) < effect)[item] & (group[annotator] == 1)
    seen = (truth[item] + divided) % 3
    slips = generator.random(len(item)) < generator.uniform(0.1, 0.5, n_annotators)[annotator]
    answer = np.where(slips, generator.integers(0, 3, len(item)), seen)
    annotations = Annotations.from_arrays(
        item,
        annotator,
        answer,
        Nominal(("a", "b", "c")),
        items=Names.range(n_items),
        annotators=Names.range(n_annotators),
    )
    facts = {"group": np.array(["x", "y"])[group].tolist()}
    return Corpus.build("crowd", annotations.items, {"q": annotations}, annotator_attributes=facts)


def measured(n_annotators: int, n_answers: int, effect: float, crowds: int) -> dict[str, Any]:
    results = [
        compare_groups(crowd(n_annotators, n_answers, effect, (SEED, number)), ["group"], most=0)[0]
        for number in range(crowds)
    ]
    return {
        "annotators": n_annotators,
        "answers": n_answers,
        "effect": effect,
        "crowds": crowds,
        "shown": float(np.mean([result.p_value <= 0.05 for result in results])),
        "difference": float(np.mean([result.difference for result in results])),
        "least_p": results[0].least_p,
    }


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crowds", type=int, default=40, help="crowds of each kind")
    parser.add_argument("--show", action="store_true", help="do not keep the results")
    options = parser.parse_args(arguments)
    results = []
    print("share of crowds with p <= 0.05, by the share of items about which two groups differ")
    print(f"{'annotators':>10}{'answers':>9}", *(f"{effect:6.2f}" for effect in EFFECTS))
    for n_annotators in ANNOTATORS:
        for n_answers in ANSWERS:
            row = [
                measured(n_annotators, n_answers, effect, options.crowds * (1 if effect else 5))
                for effect in EFFECTS
            ]
            results += row
            cells = (f"{result['shown']:6.2f}" for result in row)
            print(f"{n_annotators:10}{n_answers:9}", *cells, flush=True)
    if not options.show:
        keep("groups", "bench_groups.py", {"seed": SEED, "results": results})


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
