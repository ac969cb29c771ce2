"""A made-up comparison: three methods, some folds and seeds, one fit that diverged."""

from __future__ import annotations

import numpy as np

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.evaluation.fit import Fit, item_table
from dissensus.evaluation.protocols import Fold, k_fold
from dissensus.evaluation.results import About, Results
from dissensus.metrics.metric import OBSERVED, PREDICTED

METHODS = ("prior", "single", "soft_label")
STRENGTH = {"prior": 0.5, "single": 0.7, "soft_label": 0.8}


def corpus(n_items: int = 120) -> Corpus:
    answers = np.random.default_rng(0).choice(["no", "yes"], n_items)
    rows = [(f"t{k}", "ann", str(answer)) for k, answer in enumerate(answers)]
    labels = Annotations.from_rows(rows, Nominal(("no", "yes")))
    return Corpus.build("made-up", labels.items, {"hate": labels})


def fit(corpus: Corpus, method: str, seed: int, fold: Fold) -> Fit:
    """Right by chance, the same each time."""
    key = [METHODS.index(method), 0 if method == "prior" else seed, int(fold.test[0])]
    generator = np.random.default_rng(key)
    people = corpus["hate"].answer[fold.test]
    right = generator.random(len(people)) < STRENGTH[method]
    surprise = np.where(right, 0.3, 1.2) + 0.1 * generator.random(len(people))
    names = Names([corpus.items[code] for code in fold.test])
    items = {
        "cross-entropy": (names, surprise),
        "accuracy": (names, right.astype(float)),
        "DIC": (names, 1 + 0.1 * right),
        OBSERVED: (names, people.astype(float)),
        PREDICTED: (names, np.where(right, people, 1 - people).astype(float)),
    }
    figures = {"cross-entropy": float(surprise.mean()), "accuracy": float(right.mean())}
    figures |= {"macro-F1": float(right.mean()) - 0.01, "DIC": 1 + 0.1 * float(right.mean())}
    return Fit(
        method,
        seed,
        fold.name,
        fold.run,
        settings={"learning_rate": 0.001, "epochs": 20},
        tried=[
            {"settings": {"learning_rate": rate}, "score": rate * 100, "fold": "inner fold 1"}
            for rate in (0.001, 0.01)
        ],
        scores={"hate": figures},
        seconds=generator.random(),
        items=item_table({"hate": items}),
    )


def diverged(method: str, seed: int, fold: Fold) -> Fit:
    return Fit(method, seed, fold.name, fold.run, "diverged", "loss is nan in epoch 3")


def comparison(
    n_seeds: int = 3, k: int = 2, broken: bool = False, methods: tuple[str, ...] = METHODS
) -> Results:
    """The prior with one seed, since it draws nothing; the others with all."""
    crowd = corpus()
    folds = k_fold(crowd, k)
    fits = [
        fit(crowd, method, seed, fold)
        for method in methods
        for seed in range(1 if method == "prior" else n_seeds)
        for fold in folds
    ]
    if broken:
        fits[-1] = diverged(methods[-1], n_seeds - 1, folds[-1])
    about = About(
        "made-up",
        ("hate",),
        ("cross-entropy", "accuracy", "macro-F1", "DIC"),
        methods,
        tuple(range(n_seeds)),
        "dissensus compare crowd/ --seeds 3",
        "abc123",
        {"kind": "k-fold", "k": k, "seed": 0},
        {"annotator-heads": "nobody knows who answered"},
        {"hate": {"cross-entropy": {"perfect prediction": 0.0}, "DIC": {"noise floor": 0.9}}},
    )
    when = {"date": "2026-01-01 00:00", "machine": "a machine"}
    return Results.assemble(about, folds, fits, when=when)
