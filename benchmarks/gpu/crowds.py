"""Crowds with a truth: every method, with its defaults and tuned, against gold and per annotator.

    make gpu-kit RUN=crowds                                  the corpora, as one vector per item
    python benchmarks/gpu/crowds.py run OUT --seconds 500
    cp OUT/crowds.tar.gz* gpu-kit/crowds/                    to resume on another machine
    python benchmarks/gpu/crowds.py keep OUT                 into benchmarks/results
    python benchmarks/gpu/crowds.py show

A cell is a method on a corpus with five seeds, which are trained as one stack. Gold labels are used
for scores only. Corpora with an official split are scored against gold on its test part
("labelme"), and per annotator on a fifth of the training items ("labelme (answers)"); others on a
fifth of the items. Tuned: of six settings (learning rate, steps, weight decay; the defaults are the
first) the one with the lowest cross-entropy of held-out answers in two folds of training items;
answers are weighed by the competence of their annotators, as in `compare --trials`.

Simulated crowds have 1,250 items of four classes, three answers each. An annotator gives 3 or 30
answers; 0, 30 or 60 % of them are spammers, who do not look at the item.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

KIT = Path("gpu-kit") / "crowds"
NAME = "crowds"
ARCHIVE = f"{NAME}.tar.gz"
SEEDS = range(5)
HELD_OUT = 0.2
GOLD, ANNOTATOR, ERROR = "accuracy (gold)", "annotator accuracy", "annotator error"
FREE = ("single", "soft-label", "repeated-label")  # know nothing of annotators
KNOWING = (
    *("annotator-heads", "annotator-onehot", "annotator-embedding", "annotator-queries", "padl"),
    *("crowd-layer", "annotator-confusions", "joint-em", "madl", "annot-mix"),
)
METHODS = (*FREE, *KNOWING)
RATED = tuple(name for name in METHODS if name not in KNOWING[4:])  # apply to ratings
SIMULATED = {
    f"{share} % spammers ({n_answers} answers)": (share / 100, n_answers)
    for n_answers in (3, 30)
    for share in (0, 30, 60)
}
OFFICIAL = ("labelme", "pos_tweets")
HELD = tuple(f"{name} (answers)" for name in OFFICIAL)
CORPORA = ("labelme", "labelme (answers)", *SIMULATED, "rte", "pos_tweets", *HELD[1:], "jester5k")
N_POS, N_JESTER = 5000, 500  # training items and annotators of the largest corpora


# ---- the kit ----


def pack(folder: Path, data: Path) -> None:
    """The corpora with one vector for each item and role, so that no encoder is needed there."""
    from dissensus.datasets import dataset

    corpora = {
        "labelme": dataset("labelme_crowds").load(data / "labelme_crowds"),
        "rte": dataset("snow2008").load(data / "snow2008", "rte"),
        "pos_tweets": _some_items(dataset("pos_tweets").load(data / "pos_tweets")),
        "jester5k": _some_annotators(dataset("jester5k").load(data / "jester5k")),
    }
    for name, corpus in corpora.items():
        by_item(corpus).save(folder / "corpora" / _plain(name))
    for name, (share, n_answers) in SIMULATED.items():
        simulated(share, n_answers).save(folder / "corpora" / _plain(name))


def by_item(corpus: Any) -> Any:
    """The corpus with the vectors of each item, as frozen encoders give them, as contents."""
    from dissensus.contents import Contents
    from dissensus.encoders import encodings
    from dissensus.training import Examples
    from dissensus.training.examples import Table

    nothing = np.zeros(0, np.int64)
    examples = Examples.of_corpus(
        corpus, encodings(corpus, "auto"), Table.of_pairs(nothing, nothing)
    )
    contents, content = {}, {}
    for role, vectors in examples.pooled.items():
        of_items = vectors[examples.entry[role]].numpy().astype(np.float16).astype(np.float32)
        contents[role], content[role] = Contents.distinct("features", of_items)
    return replace(corpus, contents=contents, content=content, focus=None, rationales=None)


def _some_items(corpus: Any) -> Any:
    """The test items, and some of the training items that have answers."""
    parts = np.asarray(corpus.splits["official"].to_pylist())
    (question,) = corpus.questions
    answered = corpus[question].per_item() > 0
    train = np.flatnonzero((parts == "train") & answered)
    some = np.random.default_rng(0).permutation(train)[:N_POS]
    return corpus.select(items=np.sort(np.r_[some, np.flatnonzero(parts == "test")]))


def _some_annotators(corpus: Any) -> Any:
    codes = np.random.default_rng(0).permutation(corpus.n_annotators)[:N_JESTER]
    return corpus.select(annotators=[corpus.annotators[a] for a in np.sort(codes)])


def simulated(spammers: float, n_answers: int, n_items: int = 1250, seed: int = 0) -> Any:
    """A crowd that answers about features of four classes, each item three times."""
    from dissensus import Annotations, Corpus
    from dissensus.contents import Contents
    from dissensus.names import Names
    from dissensus.scales import Nominal

    n_values, width, per_item = 4, 32, 3
    generator = np.random.default_rng([seed, round(100 * spammers), n_answers])
    gold = generator.integers(0, n_values, n_items)
    centres = generator.normal(size=(n_values, width)) * 0.4
    features = (centres[gold] + generator.normal(size=(n_items, width))).astype(np.float32)
    n_annotators = n_items * per_item // n_answers
    confusion = np.empty((n_annotators, n_values, n_values))
    for code in range(n_annotators):
        right = generator.beta(8, 2.5)
        wrong = generator.dirichlet(np.ones(n_values - 1), size=n_values) * (1 - right)
        confusion[code] = [np.insert(wrong[c], c, right) for c in range(n_values)]
        if code < round(spammers * n_annotators):  # the same answers, whatever the item
            confusion[code] = generator.dirichlet(np.full(n_values, 0.5))
    item = np.repeat(np.arange(n_items), per_item)
    annotator = np.concatenate(
        [generator.permutation(n_annotators) for _ in range(-(-len(item) // n_annotators))]
    )[: len(item)]
    once = np.zeros(len(item), bool)  # an annotator answers an item once
    _, first = np.unique(item * n_annotators + annotator, return_index=True)
    once[first] = True
    sums = confusion[annotator, gold[item]].cumsum(axis=1)[:, :-1]
    answer = (generator.random(len(item))[:, None] > sums).sum(axis=1)
    scale, items = Nominal(tuple("abcd")), Names.range(n_items)
    annotators = Names([f"p{number}" for number in range(n_annotators)])
    rows = Annotations.from_arrays(
        item[once], annotator[once], answer[once], scale,
        items=items, annotators=annotators,
    )  # fmt: skip
    labels = Annotations.from_arrays(np.arange(n_items), None, gold, scale, items=items)
    contents = {"x": Contents.distinct("features", features)}
    return Corpus.build(
        "simulated", items, {"answer": rows}, annotators=annotators, contents=contents,
        gold={"answer": labels},
    )  # fmt: skip


# ---- a cell ----


@cache
def parts_of(name: str, items: int | None) -> tuple[Any, Any]:
    """The training and the test part of a corpus."""
    from dissensus import Corpus

    corpus = Corpus.load(KIT / "corpora" / _plain(name.removesuffix(" (answers)")))
    if items:
        some = np.random.default_rng(1).permutation(corpus.n_items)[:items]
        corpus = corpus.select(items=np.sort(some))
    if name in OFFICIAL:
        return corpus.part("train"), corpus.part("test")
    if name in HELD:
        corpus = corpus.part("train")
    train, test = corpus.split(test_share=HELD_OUT, seed=0)
    return train, test


def metrics_of(name: str) -> tuple[str, ...]:
    if name in OFFICIAL:
        return (GOLD,)
    return (ERROR,) if name == "jester5k" else (GOLD, ANNOTATOR)


def methods_of(name: str) -> tuple[str, ...]:
    return RATED if name == "jester5k" else METHODS


def candidates(method: str) -> list[dict[str, Any]]:
    """Settings to choose from; the trainings of all of them are one stack."""
    from dissensus.methods import method as method_class

    training = method_class(method)().get_params()["training"]
    rate, epochs = training.learning_rate, training.epochs
    longer = {"training.epochs": 2 * epochs, "training.least_steps": 3000}
    shorter = {"training.epochs": -(-epochs // 2), "training.least_steps": 500}
    return [
        {},
        {"training.learning_rate": 3 * rate},
        {"training.learning_rate": rate / 3},
        longer,
        {"training.learning_rate": rate / 3, "training.weight_decay": 0.1} | longer,
        {"training.weight_decay": 0.1} | shorter,
    ]


def fitted(jobs: list[tuple[dict[str, Any], int, Any]], method: str, quick: bool) -> list[Any]:
    """The method with each of the settings, seeds and corpora, as one stack; or why it failed."""
    from dissensus.methods import Job
    from dissensus.methods import method as method_class
    from dissensus.methods.framework.settings import changed, seeded
    from dissensus.methods.framework.stacked_fits import try_many

    few = {"training.epochs": 1, "training.least_steps": 0} if quick else {}
    models = [seeded(changed(method_class(method)(), own | few), seed) for own, seed, _ in jobs]
    errors = try_many([Job(model, job[2]) for model, job in zip(models, jobs, strict=True)])
    return [model if error is None else error for model, error in zip(models, errors, strict=True)]


def scored(model: Any, test: Any, metrics: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The scores of single items, by metric; their mean is the score."""
    from dissensus.metrics import gold_item_scores, item_scores

    (question,) = test.questions
    by_metric = {}
    for metric in metrics:
        if metric == GOLD:
            predicted = model.predict(test, consensus="all", annotators=(), unknown="drop")[
                question
            ]
            parts = gold_item_scores(predicted, test.gold[question], ["accuracy"])
        else:
            predicted = model.predict(test)[question]
            parts = item_scores(predicted, test[question], [metric])
        by_metric[metric] = parts[metric][1]
    return by_metric


def cell(name: str, method: str, settings: dict[str, Any], quick: dict[str, Any]) -> dict[str, Any]:
    """Five fits of a method on a corpus: the scores of single items, (n_seeds, n_items) each."""
    train, test = parts_of(name, quick["items"])
    models = fitted([(settings, seed, train) for seed in SEEDS], method, bool(quick["items"]))
    for failed in (model for model in models if isinstance(model, Exception)):
        raise failed
    by_seed = [scored(model, test, metrics_of(name)) for model in models]
    return {metric: np.stack([one[metric] for one in by_seed]) for metric in by_seed[0]}


def write_default(name: str, method: str, quick: dict[str, Any], path: Path) -> None:
    _write(path, cell(name, method, {}, quick), {})


def write_tuned(name: str, method: str, quick: dict[str, Any], default: Path, path: Path) -> None:
    settings = chosen(name, method, quick)
    if settings:
        _write(path, cell(name, method, settings, quick), settings)
    else:
        path.write_bytes(default.read_bytes())


def _write(path: Path, scores: dict[str, np.ndarray], settings: dict[str, Any]) -> None:
    arrays: dict[str, Any] = {
        metric: values.astype(np.float32) for metric, values in scores.items()
    }
    with path.open("wb") as file:
        np.savez_compressed(file, settings=np.array(json.dumps(settings)), **arrays)


@cache
def weights_of(name: str, items: int | None) -> np.ndarray | None:
    """The competence of the annotators; None for ratings."""
    from dissensus.evaluation.execution.task import competences

    train, _ = parts_of(name, items)
    (question,) = train.questions
    return None if name == "jester5k" else competences(train, [question])[question]


def chosen(name: str, method: str, quick: dict[str, Any]) -> dict[str, Any]:
    """The best settings, by held-out answers to training items."""
    from dissensus.evaluation import k_fold
    from dissensus.evaluation.execution.task import weighed_cross_entropy
    from dissensus.metrics import scores

    train, _ = parts_of(name, quick["items"])
    (question,) = train.questions
    folds = [fold.parts(train)[:2] for fold in k_fold(train, 4, seed=0)[:2]]
    weight = weights_of(name, quick["items"])
    tried = candidates(method)
    models = iter(
        fitted(
            [(settings, 0, part) for settings in tried for part, _ in folds], method,
            bool(quick["items"]),
        )
    )  # fmt: skip
    means = []
    for _ in tried:
        of_folds = []
        for _, test in folds:
            model = next(models)
            if isinstance(model, Exception):  # it diverged
                of_folds.append(math.nan)
                continue
            predicted = model.predict(test)[question]
            if weight is None:
                of_folds.append(scores(predicted, test[question], metrics=[ERROR])[ERROR])
            else:
                own = model.individual and not model.predicts_truth
                rows = test[question]
                score = weighed_cross_entropy(predicted, rows, weight, by_annotator=own)
                of_folds.append(score)
        means.append(np.mean(of_folds))
    return tried[int(np.nanargmin(means))]


# ---- all cells ----


def run(given: argparse.Namespace) -> None:
    from archive import archived, resumed
    from pieces import Piece, carry_out
    from sharing import shared_gpu

    began = time.monotonic()
    done = resumed(given.out[0] / ARCHIVE, KIT / ARCHIVE)
    quick = {"items": given.items}
    names = given.corpora.split(",") if given.corpora else CORPORA
    methods = given.methods.split(",") if given.methods else METHODS
    cells = [(n, m) for n in names for m in methods_of(n) if m in methods]
    first = [Piece(_path(done, n, m, "defaults"), write_default, (n, m, quick)) for n, m in cells]
    second = [
        Piece(_path(done, n, m, "tuned"), write_tuned, (n, m, quick, default.path), (default.path,))
        for (n, m), default in zip(cells, first, strict=True)
    ]
    with archived(done, given.out[0] / ARCHIVE), nullcontext() if given.here else shared_gpu():
        left = carry_out([*first, *second], given.processes, given.seconds - 15)
    print(f"{left} of {len(first) + len(second)} cells left, {time.monotonic() - began:.0f} s")


def _plain(name: str) -> str:
    """The name of a folder: without spaces and signs."""
    return "-".join(re.findall(r"\w+", name))


def _path(done: Path, name: str, method: str, how: str) -> Path:
    return done / how / _plain(name) / f"{method}.npz"


def keep(folders: list[Path]) -> None:
    """The scores of all cells, and the tests, into benchmarks/results."""
    from archive import unpack

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from keeping import keep as write

    done = unpack(folders[0] / ARCHIVE)
    rows = list(rows_of(done))
    content = {"seeds": len(SEEDS), "rows": rows, "aggregators": list(aggregated())}
    write(NAME, "gpu/crowds.py run OUT", content)
    show()


def aggregated() -> Iterator[dict[str, Any]]:
    """Every aggregator against gold labels, where items have no contents to learn from."""
    from dissensus.datasets import load
    from dissensus.evaluation import aggregator_scores

    data = Path(os.environ["DISSENSUS_DATA"])
    corpora = {n: load(data / "bluebirds_ducks", n) for n in ("bluebirds", "ducks")}
    corpora |= {name: load(data / "snow2008", name) for name in ("temp", "wsd")}
    for name, corpus in corpora.items():
        (question,) = corpus.questions
        for row in aggregator_scores(corpus, question):
            if GOLD in row.scores:
                yield {"corpus": name, "aggregator": row.name, GOLD: _rounded(row.scores[GOLD])}


def rows_of(done: Path) -> Iterator[dict[str, Any]]:
    """A row for each corpus, method and metric; missing cells have none."""
    from dissensus.evaluation import corrected, over_both

    rows, differences = [], []
    for name in CORPORA:
        for metric in metrics_of(name):
            scores = dict(_scores(done, name, metric))
            free = [scores[m, "defaults"][0] for m in FREE if (m, "defaults") in scores]
            best = _best(free, metric)
            for method in methods_of(name):
                row: dict[str, Any] = {"corpus": name, "metric": metric, "method": method}
                for how in ("defaults", "tuned"):
                    if (method, how) in scores:
                        values, settings = scores[method, how]
                        row[how] = [_rounded(value) for value in values.mean(axis=1)]
                        row |= {"settings": settings} if how == "tuned" else {}
                if "defaults" not in row:
                    continue
                if method in KNOWING and best is not None:
                    own = scores[method, "defaults"][0]
                    differences.append((row, over_both(own, best)))
                rows.append(row)
    tests = corrected([difference for _, difference in differences])
    for (row, _), test in zip(differences, tests, strict=True):
        row["difference from the best without annotators"] = _rounded(test.effect)
        row["p"] = _rounded(test.adjusted)
    yield from rows


def _scores(done: Path, name: str, metric: str) -> Iterator[tuple[tuple[str, str], Any]]:
    for method in methods_of(name):
        for how in ("defaults", "tuned"):
            path = _path(done, name, method, how)
            if path.exists():
                with np.load(path) as values:
                    yield (method, how), (values[metric], json.loads(str(values["settings"])))


def _best(free: list[np.ndarray], metric: str) -> np.ndarray | None:
    if not free:
        return None
    means = [values.mean() for values in free]
    return free[int(np.argmin(means) if metric == ERROR else np.argmax(means))]


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)


def show() -> None:
    """The table of each metric, and what it says about the claims."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from keeping import kept

    results = kept(NAME)
    rows = results["rows"]
    lines = [*table_lines(rows), *aggregator_lines(results["aggregators"])]
    for line in [*lines, "", *claim_lines(rows)]:
        print(line)


def table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Means over seeds as Markdown: defaults, and tuned in brackets."""
    for metric in dict.fromkeys(row["metric"] for row in rows):
        own = [row for row in rows if row["metric"] == metric]
        corpora = list(dict.fromkeys(row["corpus"] for row in own))
        cells = {(row["corpus"], row["method"]): row for row in own}
        yield from (f"| {metric} | {' | '.join(corpora)} |", "|---" + "|--:" * len(corpora) + "|")
        for method in (m for m in METHODS if any((c, m) in cells for c in corpora)):
            texts = [_cell_text(cells.get((corpus, method))) for corpus in corpora]
            yield f"| `{method}` | {' | '.join(texts)} |"
        yield ""


def aggregator_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The accuracy of aggregators as Markdown."""
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    cells = {(row["corpus"], row["aggregator"]): row[GOLD] for row in rows}
    yield from (f"| {GOLD} | {' | '.join(corpora)} |", "|---" + "|--:" * len(corpora) + "|")
    for name in dict.fromkeys(row["aggregator"] for row in rows):
        figures = [cells.get((corpus, name)) for corpus in corpora]
        texts = ["" if figure is None else f"{figure:.3f}" for figure in figures]
        yield f"| `{name}` | {' | '.join(texts)} |"


def _cell_text(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    text = f"{np.mean(row['defaults']):.3f}"
    text += "*" if worse(row) else ""
    return text + (f" ({np.mean(row['tuned']):.3f})" if "tuned" in row else "")


def worse(row: dict[str, Any]) -> bool:
    """Whether it is significantly below the best method without annotators."""
    if row.get("p") is None or row["p"] >= 0.05:
        return False
    difference: float = row["difference from the best without annotators"]
    return difference > 0 if row["metric"] == ERROR else difference < 0


def claim_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    both = [row for row in rows if "tuned" in row and row["metric"] != ERROR]
    close = [row for row in both if np.mean(row["defaults"]) > np.mean(row["tuned"]) - 0.02]
    yield f"- Defaults within 2 points of tuned: {len(close)} of {len(both)} cells."
    known = [row for row in rows if row["metric"] != GOLD and "p" in row]
    below = [row for row in known if worse(row)]
    names = "; ".join(f"{row['method']} on {row['corpus']}" for row in below) or "none"
    yield (
        f"- Per annotator significantly below the best method without annotators (Holm): "
        f"{len(below)} of {len(known)} cells: {names}."
    )
    for metric, words in ((GOLD, "against gold labels"), (ANNOTATOR, "per annotator")):
        measured = {row["corpus"] for row in rows if row["metric"] == metric}
        ranks = mean_ranks([row for row in rows if row["metric"] == metric])
        ranked = ", ".join(f"{method} {rank:.1f}" for method, rank in ranks.items())
        yield f"- Mean rank with defaults {words} ({len(measured)} corpora): {ranked}."
    official = [row for row in rows if row["corpus"] == "labelme"]
    if official:
        best = max(official, key=lambda row: np.mean(row["defaults"]))
        yield f"- LabelMe: {best['method']} {np.mean(best['defaults']):.3f} with defaults."


def mean_ranks(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The mean over corpora of the rank of each method that has all of them, the best first."""
    corpora = dict.fromkeys(row["corpus"] for row in rows)
    ranks: dict[str, list[int]] = {}
    for corpus in corpora:
        own = {row["method"]: np.mean(row["defaults"]) for row in rows if row["corpus"] == corpus}
        for method, score in own.items():
            ranks.setdefault(method, []).append(1 + sum(score < other for other in own.values()))
    means = {m: float(np.mean(of)) for m, of in ranks.items() if len(of) == len(corpora)}
    return dict(sorted(means.items(), key=lambda entry: entry[1]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="*", default=[Path(NAME)])
    parser.add_argument("--seconds", type=float, default=500, help="nothing is begun after them")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--corpora", default="", help="with commas between; all if left out")
    parser.add_argument("--methods", default="", help="likewise")
    parser.add_argument("--items", type=int, help="only so many, one epoch: to try the script")
    parser.add_argument("--here", action="store_true", help="without a GPU")
    given = parser.parse_args()
    if given.stage == "run":
        run(given)
    elif given.stage == "keep":
        keep(given.out)
    else:
        show()


if __name__ == "__main__":
    main()
