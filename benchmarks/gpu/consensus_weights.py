"""Weights of annotators in a consensus, and of methods in an ensemble, instead of equal ones.

    make gpu-kit RUN=defaults
    python benchmarks/gpu/consensus_weights.py OUT    a quarter of an hour; into benchmarks/results
    python benchmarks/gpu/consensus_weights.py show

On the crowds of `defaults.py` with a truth, in its folds, with seed 0: accuracy against gold
labels. The mean of `annotator-heads` weights annotators by the squared log-odds of their accuracy,
as Dawid and Skene find it in the training part, with five answers of the average annotator added.
The weights of three methods are the best ones, on a grid of tenths, on the two other folds: by the
accuracy against all their gold labels or 100 of them (mean of 20 draws), or by that of annotators'
answers. `geo-f` is a further method, in place of one of them or as a fourth.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
from defaults import FOLDS, KIT, SIMULATED, folds_of  # noqa: E402

from keeping import keep, kept  # noqa: E402

NAME = "consensus_weights"
CROWDS = ("labelme", "pos-tweets", "rte", *SIMULATED)
MEMBERS = ("annotator-heads", "annot-mix", "joint-em")
FURTHER = "geo-f"
GRID = np.array([w for w in itertools.product(range(11), repeat=3) if sum(w) == 10]) / 10
ADDED, FEW, DRAWS = 5, 100, 20


def arrays(out: Path, name: str, method: str, fold: int) -> dict[str, np.ndarray]:
    """What a method predicts for the items of a fold, of all annotators together and, if it is
    `annotator-heads`, of each."""
    from dissensus.methods import build

    path = out / f"{name} {method} {fold}.npz"
    if not path.exists():
        train, test = folds_of(name, None)[fold]
        (question,) = test.questions
        fitted = build(method).fit(train)
        every = fitted.predict(test, unknown="mean", consensus="all")[question]
        of_fold: dict[str, Any] = {"every": every.distribution}
        if method == MEMBERS[0]:
            pairs = fitted.predict(test, annotators="all")[question].by_annotator
            assert pairs is not None and pairs.distribution is not None
            known = len(np.unique(pairs.annotator))
            each = pairs.distribution.reshape(test.n_items, known, -1)
            names = [pairs.annotators[code] for code in pairs.annotator[:known]]
            of_fold |= {"pairs": each.astype(np.float16), "names": np.array(names)}
        np.savez_compressed(path, **of_fold)
    return dict(np.load(path))


def weighted(train: Any, pairs: np.ndarray, names: list[str]) -> np.ndarray:
    """The mean of annotators' distributions by what their accuracy is in training."""
    from dissensus.aggregation import DawidSkene

    (answers,) = train.questions.values()
    truth = DawidSkene().fit(answers).distribution_
    place = {name: at for at, name in enumerate(names)}
    annotator = np.array([place.get(name, -1) for name in train.annotators])
    annotator = annotator[answers.annotator_codes("weights")]
    right = np.bincount(annotator, truth[answers.item, answers.answer], len(names))
    n_answers = np.bincount(annotator, minlength=len(names))
    mean = right.sum() / n_answers.sum()
    accuracy = (right + ADDED * mean) / (n_answers + ADDED)
    n_values = pairs.shape[2]
    accuracy = accuracy.clip(1 / n_values + 0.01, 0.99)
    weight = np.log(accuracy * (n_values - 1) / (1 - accuracy)) ** 2
    return np.einsum("iak,a->ik", pairs.astype(float), weight / weight.sum())


def accuracies(out: Path, name: str) -> dict[str, float]:
    """The accuracy against gold labels of each way to weight."""
    generator = np.random.default_rng(0)
    gold, answers = [], []  # right by weights and item, of each fold
    scores: dict[str, Any] = {}
    for fold in range(FOLDS):
        train, test = folds_of(name, None)[fold]
        (question,) = test.questions
        label, given = test.gold[question].to(test[question].scale), test[question]
        of_members = [arrays(out, name, member, fold) for member in MEMBERS]
        every = np.stack([of_member["every"] for of_member in of_members])
        further = arrays(out, name, FURTHER, fold)["every"]
        means = np.einsum("wm,mik->wik", GRID, every).argmax(axis=2)
        gold.append(means[:, label.item] == label.answer)
        answers.append(means[:, given.item] == given.answer)
        by_accuracy = weighted(train, of_members[0]["pairs"], list(of_members[0]["names"]))
        for way, mass in {
            "annotator-heads": every[0],
            "annotator-heads, by accuracy": by_accuracy,
            "mean of three": every.mean(axis=0),
            "mean of three, heads by accuracy": by_accuracy + every[1:].sum(axis=0),
            FURTHER: further,
            f"mean of three, {FURTHER} for joint-em": every[:2].sum(axis=0) + further,
            f"mean of four, with {FURTHER}": every.sum(axis=0) + further,
        }.items():
            scores.setdefault(way, []).append(mass[label.item].argmax(axis=1) == label.answer)
    for fold in range(FOLDS):
        rest = [other for other in range(FOLDS) if other != fold]
        of_gold = np.concatenate([gold[other] for other in rest], axis=1)
        of_answers = np.concatenate([answers[other] for other in rest], axis=1)
        few = [generator.choice(of_gold.shape[1], FEW, replace=False) for _ in range(DRAWS)]
        for way, tried in {
            "weights by gold labels": [of_gold],
            f"weights by {FEW} gold labels": [of_gold[:, drawn] for drawn in few],
            "weights by annotators' answers": [of_answers],
        }.items():
            best = [gold[fold][right.mean(axis=1).argmax()] for right in tried]
            scores.setdefault(way, []).append(np.mean(best, axis=0))
    return {way: round(float(np.concatenate(of).mean()), 4) for way, of in scores.items()}


def show() -> None:
    rows = kept(NAME)["rows"]
    print(
        f"| | {' | '.join(row['corpus'] for row in rows)} | mean |\n|---|{'--:|' * len(rows)}--:|"
    )
    for way in rows[0]["accuracy"]:
        each = [row["accuracy"][way] for row in rows]
        print(f"| {way} | {' | '.join(f'{x:.3f}' for x in (*each, np.mean(each)))} |")


def main() -> None:
    if sys.argv[1:] == ["show"] or len(sys.argv) != 2:
        return show() if sys.argv[1:] == ["show"] else print(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    names = [name for name in CROWDS if (KIT / "corpora" / name).is_dir()]
    rows = [{"corpus": name, "accuracy": accuracies(out, name)} for name in names]
    keep(NAME, "gpu/consensus_weights.py OUT", {"rows": rows})
    show()


if __name__ == "__main__":
    main()
