"""Does `review` find planted slips? Precision at 50, beside cleanlab's scores.

In real answers, 2 % (50 at least, 200 at most) are replaced by another value at random; slips that
were there before count as false alarms for all. In the simulated crowd, 40 annotators answer a
quarter of 400 items each; in "two camps", 12 of 40 see a third of the items differently from the
others, and `views` is the share of their views among the 50 answers (the fewer the better). Of
ratings, a slip is at least a third of the scale away.

The model of the content is a logistic regression on words or features, cross-validated, trained on
the majorities with the slips in them. cleanlab's scores are the label qualities of CROWDLAB (Goh,
Tkachenko & Mueller 2022, arXiv:2210.06812): with that model, and with the usual shares of values.

    DISSENSUS_DATA=data python benchmarks/bench_review.py
    python benchmarks/bench_review.py --show
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dissensus as ds
from bench_plan import SEED, Pool, by_annotator, multiannotator, predicted, real, simulated
from dissensus import Annotations, Corpus, Interval, Nominal, Prediction
from dissensus.names import Names
from dissensus.planning import review
from keeping import keep, kept

MOST = 50
CORPORA = (
    *("simulated skill", "two camps", "labelme_crowds", "bluebirds_ducks/bluebirds"),
    *("snow2008/rte", "snow2008/temp", "lewidi2023/HS-Brexit", "lewidi2023/MD-Agreement"),
    *("lewidi2025/CSC", "faces_3dsk", "snow2008/affect"),
)


def two_camps(seed: int) -> tuple[Pool, tuple[np.ndarray, np.ndarray]]:
    """12 of 40 annotators have other views on a third of 400 items. Which answers are such views,
    and which are careless, so that they are slips, too."""
    draw = np.random.default_rng([SEED, seed])
    n, people = 400, 40
    item, who = np.divmod(np.arange(n * people), people)
    truth, dividing = draw.integers(0, 3, n), draw.random(n) < 1 / 3
    other = (truth + draw.integers(1, 3, n)) % 3
    view = (who < 12) & dividing[item]
    own = np.where(view, other[item], truth[item])
    careless = draw.random(len(item)) < 0.02
    answer = np.where(careless, draw.integers(0, 3, len(item)), own).astype(np.int32)
    kept = draw.random(len(item)) < 0.25
    answers = Annotations.from_arrays(
        item[kept], who[kept], answer[kept], Nominal(tuple("abc")),
        items=Names.range(n), annotators=Names.range(people),
    )  # fmt: skip
    return Pool("two camps", answers, np.empty(0), np.empty(0), False), (
        (view & (answer == own))[kept],
        (answer != own)[kept],
    )


def pool_of(name: str, seed: int) -> tuple[Pool, Any]:
    if name == "two camps":
        return two_camps(seed)
    if name.startswith("simulated"):
        pool = simulated(name, seed)
        kept = np.random.default_rng([SEED, seed]).random(pool.answers.n_rows) < 0.25
        return replace(pool, answers=pool.answers.take(kept)), None
    if name != "labelme_crowds":
        return real(name, seed), None
    corpus = ds.read(Path(os.environ["DISSENSUS_DATA"]) / name)
    question = next(iter(corpus.questions))
    corpus = corpus.select(items=np.flatnonzero(corpus[question].per_item()))
    role = next(iter(corpus.contents))
    features = np.stack([np.ravel(corpus.contents[role][code]) for code in corpus.content[role]])
    return Pool(name, corpus[question], np.empty(0), np.empty(0), False, features), None


def with_slips(answers: Annotations, draw: np.random.Generator) -> tuple[Annotations, np.ndarray]:
    """The answers with slips, and which these are."""
    n = min(max(MOST, answers.n_rows // 50), 200)
    rows, answer, scale = (
        draw.choice(answers.n_rows, n, replace=False),
        answers.answer.copy(),
        answers.scale,
    )
    if isinstance(scale, Interval):
        third = (scale.high - scale.low) / 3
        up = draw.uniform(scale.low, scale.high, (n, 200))
        far = np.abs(up - answer[rows][:, None]) >= third
        answer[rows] = up[np.arange(n), far.argmax(axis=1)]
    else:
        k = scale.n_columns
        answer[rows] = (answer[rows] + draw.integers(1, k, n)) % k
    slip = np.zeros(answers.n_rows, dtype=bool)
    slip[rows] = True
    return replace(answers, answer=answer), slip


def scores(pool: Pool, answers: Annotations) -> Iterator[tuple[str, np.ndarray]]:
    """What each method says of each answer, the worst lowest."""
    yield "review", reviewed(answers)
    ratings = isinstance(answers.scale, Interval)
    if ratings:
        mean = np.bincount(answers.item, answers.answer) / np.bincount(answers.item)
        n = np.bincount(answers.item)[answers.item]
        gap = np.abs(answers.answer - mean[answers.item]) * n / np.maximum(n - 1, 1)
        yield "distance from others", -gap
        return
    counts = answers.counts()
    n = counts.sum(axis=1)[answers.item] - 1
    own = (counts[answers.item, answers.answer] - 1) / np.maximum(n, 1)
    yield "share of others", np.where(n > 0, own - 1e-6 * n, 1.0)
    usual = np.bincount(answers.answer, minlength=counts.shape[1]) + 1.0
    usual = np.tile(usual / usual.sum(), (answers.n_items, 1))
    yield "cleanlab, usual shares", cleanlab(answers, usual)
    if pool.texts is not None:
        model = of_content(pool, answers)
        given = Prediction(answers.scale, answers.items, model, model.argmax(axis=1))
        yield "review with model", reviewed(answers, given)
        yield "cleanlab with model", cleanlab(answers, model)
        yield "model alone", model[answers.item, answers.answer]


def of_content(pool: Pool, answers: Annotations) -> np.ndarray:
    if isinstance(pool.texts, list):
        return predicted(pool, answers)
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    label, shares = (
        answers.majority("random").answer,
        np.full((answers.n_items, answers.scale.n_columns), 1e-3),
    )
    model = LogisticRegression(C=0.1, max_iter=500)
    shares[:, np.unique(label)] += cross_val_predict(
        model, pool.texts, label, cv=5, method="predict_proba"
    )
    return shares / shares.sum(axis=1, keepdims=True)


def reviewed(answers: Annotations, predictions: Prediction | None = None) -> np.ndarray:
    corpus = Corpus.build("x", answers.items, {"q": answers}, annotators=answers.annotators)
    table = review(corpus, "q", predictions, MOST)
    item = answers.items.codes(table["item"].combine_chunks(), "item")
    who = answers.annotators.codes(table["annotator"].combine_chunks(), "annotator")
    place = {pair: at for at, pair in enumerate(zip(item.tolist(), who.tolist(), strict=True))}
    pairs = zip(answers.item.tolist(), answers.annotator_codes("").tolist(), strict=True)
    return np.array([place.get(pair, MOST) for pair in pairs])


def cleanlab(answers: Annotations, model: np.ndarray) -> np.ndarray:
    found = multiannotator().get_label_quality_multiannotator(
        by_annotator(answers), model, verbose=False
    )
    return found["detailed_label_quality"].to_numpy()[answers.item, answers.annotator]


def rows_of(name: str, seeds: int) -> dict[str, Any]:
    found: dict[str, list[float]] = {}
    views: dict[str, list[float]] = {}
    for seed in range(seeds):
        pool, known = pool_of(name, seed)
        answers, slip = with_slips(pool.answers, np.random.default_rng([SEED, seed, 7]))
        view = None if known is None else known[0] & ~slip
        slip = slip if known is None else slip | known[1]
        for method, values in scores(pool, answers):
            worst = np.argsort(values, kind="stable")[:MOST]
            found.setdefault(method, []).append(float(slip[worst].mean()))
            if view is not None:
                views.setdefault(method, []).append(float(view[worst].mean()))
    row = {"corpus": name, "seeds": seeds, "answers": pool.answers.n_rows, "slips": int(slip.sum())}
    row["precision"] = {m: [float(np.mean(v)), float(np.std(v))] for m, v in found.items()}
    row["views"] = {method: float(np.mean(v)) for method, v in views.items()}
    return row


def print_row(row: dict[str, Any]) -> None:
    print(f"{row['corpus']} ({row['answers']} answers, {row['slips']} slips, {row['seeds']} seeds)")
    for method, (mean, spread) in row["precision"].items():
        views = f"; views {row['views'][method]:.2f}" if row["views"] else ""
        print(f"    {method:24}{mean:.2f} (sd {spread:.2f}){views}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--try", dest="only_try", action="store_true", help="keep nothing")
    options = parser.parse_args()
    if options.show:
        for row in kept("review").get("results", []):
            print_row(row)
        return
    warnings.simplefilter("ignore")
    names = options.corpora.split(",")
    results = [row for row in kept("review").get("results", []) if row["corpus"] not in names]
    for name in names:
        results.append(rows_of(name, options.seeds))
        print_row(results[-1])
    if not options.only_try:
        keep("review", "bench_review.py", {"seed": SEED, "results": results})


if __name__ == "__main__":
    main()
