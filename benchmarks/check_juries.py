"""Does it matter who sits on a panel, and is it known from the predictions?

A method that predicts each annotator learns four fifths of the items. For the others, the answers
of each group of annotators are compared with the shares predicted for a population of this group
alone, and for all groups as large as they are: cross-entropy, lower is better. Changed: items with
another usual verdict of panels of 12 of the group than of 12 of all annotators, in %. In the
simulated crowd, two groups of 20 see 600 items differently, and each item has 8 answers: "panels"
and "of all" say how far the shares of verdicts of panels of the group, and of all, are from those
that the truth gives for the group, on average.

    DISSENSUS_DATA=data python benchmarks/check_juries.py
    python benchmarks/check_juries.py --show
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import dissensus as ds
from dissensus import Annotations, Names, Nominal
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.juries import groups_of, jury, reweighted
from dissensus.methods import build
from dissensus.prediction import Prediction
from keeping import keep, kept

CORPORA = (  # folder, question, attribute
    ("trompa_mer", "valence", "language"),
    ("nsc_voices", "attraktiv", "gender"),
    ("nsc_voices", "attraktiv", "age"),
    ("lewidi2025/MP", "irony", "Gender"),
    ("simulated", "rude", "group"),
)
METHODS = ("annotator-logistic", "annotator-heads")
SEEDS, SEATS, FEWEST = 3, 12, 12  # annotators of a group


def simulated(seed: int) -> tuple[Corpus, np.ndarray]:
    """A crowd of two groups, and the probability of "yes" by item and group."""
    draw = np.random.default_rng(seed)
    features, weights = draw.normal(size=(600, 8)), draw.normal(size=(8, 2))
    weights[:4, 1] = weights[:4, 0]  # half of what counts is shared
    truth = 1 / (1 + np.exp(-features @ weights))
    item = np.repeat(np.arange(600), 8)
    annotator = np.concatenate([draw.permutation(40)[:8] for _ in range(600)])
    answer = (draw.random(len(item)) < truth[item, annotator % 2]).astype(np.int32)
    items, annotators = Names([f"t{n}" for n in range(600)]), Names([f"p{n}" for n in range(40)])
    answers = Annotations.from_arrays(
        item, annotator, answer, Nominal(("no", "yes")), items=items, annotators=annotators
    )
    groups = {"group": [("first", "second")[n % 2] for n in range(40)]}
    contents = {"x": Contents.distinct("features", features.astype(np.float32))}
    return Corpus.build("simulated", items, {"rude": answers}, contents=contents,
                        annotator_attributes=groups), truth  # fmt: skip


def cross_entropy(prediction: Prediction, corpus: Corpus, question: str, rows: np.ndarray) -> float:
    answers = corpus[question].take(rows)
    shares = prediction.distribution[answers.item]
    given = (shares * answers.scale.one_hot(answers.answer)).sum(axis=1)
    return float(-np.log(np.maximum(given, 1e-6)).mean())


def measured(folder: str, question: str, attribute: str, method: str) -> dict[str, Any]:
    name, _, part = folder.partition("/")
    found: dict[str, list[float]] = {
        one: [] for one in ("own", "all", "changed", "panels", "of all")
    }
    for seed in range(SEEDS):
        if folder == "simulated":
            corpus, truth = simulated(seed)
        else:
            corpus = ds.read(Path(os.environ["DISSENSUS_DATA"]) / name, corpus=part or None)
        learned, rest = corpus.split(0.2, seed=seed)
        fitted = build(method).fit(learned, [question])
        known = fitted.learned_.annotators.take(np.flatnonzero(fitted.learned_.any_answered))
        groups = {n: a for n, a in groups_of(corpus, attribute, known).items() if len(a) >= FEWEST}
        predicted = fitted.predict(rest, annotators=list(known), consensus="all")[question]
        sizes = {group: len(codes) for group, codes in groups.items()}
        crowd = reweighted(predicted, groups, sizes)
        usual = jury(predicted, [np.concatenate(list(groups.values()))], [SEATS], seed)
        code, numbers = rest[question].annotator, known.find(corpus.annotators)
        assert code is not None
        scores: dict[str, list[tuple[float, int]]] = {key: [] for key in found}
        for group, codes in groups.items():
            rows = np.flatnonzero(np.isin(numbers[code], codes))
            own = reweighted(predicted, groups, {group: 1})
            scores["own"].append((cross_entropy(own, rest, question, rows), len(rows)))
            scores["all"].append((cross_entropy(crowd, rest, question, rows), len(rows)))
            panel = jury(predicted, [codes], [SEATS], seed + 1)
            if predicted.scale.kind != "interval":
                scores["changed"].append((100 * float(panel.changed(usual).mean()), 1))
            if folder == "simulated":
                share = truth[corpus.items.find(rest.items), ("first", "second").index(group)]
                half = SEATS // 2
                exact = binom.sf(half, SEATS, share) + binom.pmf(half, SEATS, share) / 2
                for key, verdicts in (("panels", panel), ("of all", usual)):
                    scores[key].append((float(np.abs(verdicts.shares[:, 1] - exact).mean()), 1))
        for key, values in scores.items():
            if values:
                found[key].append(sum(v * n for v, n in values) / sum(n for _, n in values))
    return {"corpus": folder, "question": question, "attribute": attribute,
            "method": method, "groups": len(groups)} | {
        key: [round(value, 4) for value in values] for key, values in found.items()}  # fmt: skip


def show(rows: list[dict[str, Any]]) -> None:
    names = ("own", "all", "gain", "changed", "panels", "of all")
    print(f"{'corpus':14}{'attribute':12}{'method':20}" + "".join(f"{n:>15}" for n in names))
    for row in rows:
        cells = dict(row, gain=list(np.subtract(row["all"], row["own"])))
        texts = (f"{np.mean(cells[n]):8.3f} ±{np.std(cells[n], ddof=1):.3f}" if cells.get(n) else
                 "-" for n in names)  # fmt: skip
        print(f"{row['corpus']:14}{row['attribute']:12}{row['method']:20}"
              + "".join(f"{text:>15}" for text in texts))  # fmt: skip


def main() -> None:
    if "--show" not in sys.argv:
        rows = [measured(*each, method) for each in CORPORA for method in METHODS]
        keep("juries", "check_juries.py", {"seeds": SEEDS, "rows": rows})
    show(kept("juries")["rows"])


if __name__ == "__main__":
    main()
