"""Does a prior on what annotators have of their own help annotators with few answers?

    python benchmarks/annotator_prior.py    prints a table, in some minutes

Simulated crowds of benchmarks/gpu/crowds.py: 1,000 items of four classes, 500 annotators with six
answers each, 30 % of them spammers; three crowds. The spread is chosen by the cross-entropy of each
annotator's answers to a fifth of the training items; the accuracy per annotator is that on a fifth
of all items, which are not used to choose.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.methods import Job, fit_many
from dissensus.methods import method as method_class
from dissensus.methods.framework.settings import changed
from dissensus.metrics import scores

sys.path.insert(0, str(Path(__file__).parent / "gpu"))
from crowds import simulated  # noqa: E402

SEEDS, SPREADS = range(3), (math.inf, 1.0, 0.5, 0.25)
CHOSEN = ("annotator-embedding", "annotator-queries")
OTHERS = ("single", "repeated-label", "annotator-heads")
LOSS, ACCURACY = "annotator cross-entropy", "annotator accuracy"


def measured(
    name: str, settings: dict[str, Any], parts: list[tuple[Corpus, Corpus]]
) -> dict[str, list[float]]:
    """The scores of a method on the second part of each pair, trained on the first."""
    fitted = [
        changed(method_class(name)(), {"init_seed": seed, "training.seed": seed} | settings)
        for seed in SEEDS
    ]
    jobs = [Job(method, train) for method, (train, _) in zip(fitted, parts, strict=True)]
    fit_many(jobs, stack=True)
    results: dict[str, list[float]] = {LOSS: [], ACCURACY: []}
    for method, (_, test) in zip(fitted, parts, strict=True):
        (question,) = test.questions
        of_test = scores(method.predict(test)[question], test[question], None, list(results))
        for metric, values in results.items():
            values.append(round(of_test[metric], 4))
    return results


def main() -> None:
    crowds = [simulated(0.3, 6, n_items=1000, seed=seed) for seed in SEEDS]
    parts = [corpus.split(test_share=0.2, seed=0) for corpus in crowds]
    inner = [train.split(test_share=0.2, seed=1) for train, _ in parts]
    print("method, spread; in training: cross-entropy, accuracy; on test items: the same")
    for name in OTHERS:
        print(line(name, {}, {"test": measured(name, {}, parts)}), flush=True)
    for name in CHOSEN:
        losses = {}
        for spread in SPREADS:
            tried = measured(name, {"spread": spread}, inner)
            losses[spread] = float(np.mean(tried[LOSS]))
            print(line(name, {"spread": spread}, {"in training": tried}), flush=True)
        for spread in sorted({math.inf, min(SPREADS, key=losses.__getitem__)}):
            tested = measured(name, {"spread": spread}, parts)
            print(line(name, {"spread": spread}, {"test": tested}), flush=True)


def line(name: str, settings: dict[str, float], results: dict[str, dict[str, list[float]]]) -> str:
    """A method and its spread, with means: in training, then on the test part."""
    cells = [f"{name:20}{settings.get('spread', ''):>6}"]
    for part in ("in training", "test"):
        for metric in (LOSS, ACCURACY):
            mean = f"{np.mean(results[part][metric]):.3f}" if part in results else ""
            cells.append(f"{mean:>8}")
    return " ".join(cells).rstrip()


if __name__ == "__main__":
    main()
