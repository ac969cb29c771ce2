"""Do sets and intervals keep their promise, and do calibrated shares fit votes better?

A method learns half of the items, without a fifth of the annotators (one of few). The other half is
divided at random, 20 times for each of three models: the first part calibrates, with the
answers of annotators who were learned; coverage is that of the answers to the other part, by known
and by new annotators. Every group of items with the same content counts the same.

    DISSENSUS_DATA=data python benchmarks/check_coverage.py
    python benchmarks/check_coverage.py --show
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

import dissensus as ds
from dissensus.annotations import Annotations
from dissensus.calibration import Conformal, VoteCalibration
from dissensus.corpus import Corpus
from dissensus.methods import build
from dissensus.metrics import scores
from dissensus.prediction import Prediction
from dissensus.scales import Interval
from keeping import keep, kept

CORPORA: tuple[tuple[str, str, str, str], ...] = (  # folder, corpus, question, method
    ("trompa_mer", "", "valence", "annotator-logistic"),
    ("trompa_mer", "", "mood", "annotator-logistic"),
    ("lewidi2025", "CSC", "sarcasm", "annotator-logistic"),
    ("lewidi2025", "Paraphrase", "paraphrase", "annotator-logistic"),
    ("nsc_voices", "", "aktiv", "annotator-logistic"),
    ("nli_variation", "", "rating", "annotator-logistic"),
    ("simulated", "text", "emotion", "annotator-logistic"),
    ("simulated", "ratings", "valence", "annotator-logistic"),
    ("trompa_mer", "", "valence", "single"),
    ("lewidi2025", "CSC", "sarcasm", "single"),
)
COVERAGES = (0.8, 0.9)
SEEDS, REPEATS = 3, 20
METRICS = ("cross-entropy", "TVD")


def corpus_of(folder: str, name: str) -> Corpus:
    if folder == "simulated":
        return getattr(ds.simulate, name)(n_items=1000, n_annotators=40)
    return ds.read(Path(os.environ["DISSENSUS_DATA"]) / folder, corpus=name or None)


def parts_of(
    corpus: Corpus, question: str, method: str, seed: int
) -> tuple[Prediction, Annotations, np.ndarray, np.ndarray]:
    """Predictions for half of the items, the answers to them, which are by annotators who were not
    learned, and the group of each item."""
    learned, rest = corpus.split(0.5, seed=seed)
    n = corpus.n_annotators
    order = np.random.default_rng(seed).permutation(n)
    new = order < max(n // 5, 1)
    fitted = build(method).fit(learned.select(annotators=~new), [question])
    predicted = fitted.predict(rest, consensus="all", unknown="drop")[question]
    answers = rest[question]
    return predicted, answers, new[answers.annotator_codes("this")], rest.units()


def coverage_of(
    sets: Conformal, prediction: Prediction, answers: Annotations, units: np.ndarray
) -> float:
    """The share of answers that are in their sets; each group of items counts the same."""
    score, _, share = sets.scores(prediction, answers, units)
    return float(share @ (score <= sets.margin_) / share.sum()) if len(score) else float("nan")


def size_of(sets: Conformal, prediction: Prediction) -> float:
    """Values in a set; of ratings the share of the scale; how far shares may be away."""
    scale = prediction.scale
    length = scale.high - scale.low if isinstance(scale, Interval) else 1
    return sets.size(prediction) / length


def scaled(kind: str, logs: np.ndarray, votes: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Shares calibrated with a temperature, or a weight and a shift for each value (vector)."""
    n = votes.shape[1]

    def shares(flat: np.ndarray, of: np.ndarray) -> np.ndarray:
        return log_softmax(
            of * flat[: -n or None] + flat[-n:] if kind == "vector" else of * flat, 1
        )

    start = np.r_[np.ones(n), np.zeros(n)] if kind == "vector" else np.ones(1)
    best = minimize(lambda flat: -(votes * shares(flat, logs)).sum(axis=1).mean(), start).x
    return lambda of: np.exp(shares(best, of))


def calibrated(prediction: Prediction, answers: Annotations) -> dict[str, Prediction]:
    """The prediction as it is, and calibrated to the votes in three ways."""
    place = prediction.items.find(answers.items)
    votes = answers.distribution()
    rows = ~np.isnan(votes[:, 0])
    logs = np.log(np.maximum(prediction.distribution, 1e-6))
    results = {"as predicted": prediction}
    for kind in ("temperature", "vector"):
        shares = scaled(kind, logs[place[rows]], votes[rows])(logs)
        results[kind] = replace(prediction, distribution=shares)
    return results | {
        "dirichlet": VoteCalibration().fit(prediction, answers).calibrated(prediction)
    }


def measured(folder: str, name: str, question: str, method: str) -> Iterator[dict[str, Any]]:
    corpus = corpus_of(folder, name)
    kind = corpus[question].scale.kind
    about = {
        "corpus": name or folder,
        "question": question,
        "kind": kind,
        "method": method,
    }
    found: dict[tuple[str, float], list[list[tuple[float, ...]]]] = {}
    fits: dict[str, list[list[tuple[float, ...]]]] = {}
    for seed in range(SEEDS):
        prediction, answers, is_new, units = parts_of(corpus, question, method, seed)
        draw = np.random.default_rng((seed, 1))
        for repeat in range(REPEATS):
            chosen = draw.permutation(units.max() + 1)[units] % 2 == 0
            first, known = chosen[answers.item], ~is_new
            calibrating = answers.take(np.flatnonzero(first & known))
            known_test, new_test, test = (
                answers.take(np.flatnonzero(~first & rows))
                for rows in (known, is_new, known | is_new)
            )
            for of in ("answer", "annotator", "consensus", "distribution"):
                if method == "single" or (of == "distribution" and kind == "interval"):
                    continue  # `single` is here for its shares
                whole = of in ("consensus", "distribution")
                for coverage in COVERAGES:
                    on = answers.take(np.flatnonzero(first)) if whole else calibrating
                    sets = Conformal(coverage, of).fit(prediction, on, units)
                    row = (
                        coverage_of(sets, prediction, test if whole else known_test, units),
                        np.nan if whole else coverage_of(sets, prediction, new_test, units),
                        size_of(sets, prediction),
                    )
                    found.setdefault((of, coverage), [[] for _ in range(SEEDS)])[seed].append(row)
            if kind != "interval" and repeat < 10:
                on = answers.take(np.flatnonzero(first))
                for each, one in calibrated(prediction, on).items():
                    got = scores(one, test, None, list(METRICS))
                    fits.setdefault(each, [[] for _ in range(SEEDS)])[seed].append(
                        tuple(got[metric] for metric in METRICS)
                    )
    for (of, coverage), rows in found.items():
        with warnings.catch_warnings(action="ignore"):  # no new annotators: nan
            means = np.nanmean(np.array(rows), axis=1)  # (SEEDS, 3)
        yield about | {
            "of": of,
            "coverage": coverage,
            **_row(means, ("known", "new", "size")),
        }
    for each, rows in fits.items():
        yield about | {
            "shares": each,
            **_row(np.nanmean(np.array(rows), axis=1), METRICS),
        }


def _row(means: np.ndarray, names: tuple[str, ...]) -> dict[str, Any]:
    """The value of each model."""
    columns = zip(names, means.T, strict=True)
    return {name: None if np.isnan(of).all() else of.round(4).tolist() for name, of in columns}


def cell(values: list[float] | None) -> str:
    if values is None:
        return "-"
    return f"{np.mean(values):8.3f} ±{np.std(values, ddof=1):.3f}"


def show(rows: list[dict[str, Any]]) -> None:
    for title, names in (("of", ("known", "new", "size")), ("shares", METRICS)):
        print(
            f"{'corpus':14}{'question':11}{'method':19}{title:14}{'':4}"
            + "".join(f"{n:>15}" for n in names)
        )
        for row in (row for row in rows if title in row):
            numbers = "".join(f"{cell(row[name]):>15}" for name in names)
            print(f"{row['corpus']:14}{row['question']:11}{row['method']:19}{row[title]:14}"
                  f"{row.get('coverage', ''):4}{numbers}")  # fmt: skip


def main() -> None:
    if "--show" not in sys.argv:
        rows: list[dict[str, Any]] = []
        for each in CORPORA:
            rows += measured(*each)
        keep(
            "coverage",
            "check_coverage.py",
            {"seeds": SEEDS, "repeats": REPEATS, "rows": rows},
        )
    show(kept("coverage")["rows"])


if __name__ == "__main__":
    main()
