"""How well are annotators predicted who come after the training, with 0 to 50 answers?

    python benchmarks/newcomers.py run [--only jester5k]     some minutes a corpus, on a CPU
    python benchmarks/newcomers.py pack                      corpora as vectors, into gpu-kit, for
                                                             a machine without DISSENSUS_DATA
    python benchmarks/newcomers.py coverage                  of intervals, half a minute
    python benchmarks/newcomers.py show

Some annotators are held out, and a share of the items, which no answer is learned from. Each
newcomer is enrolled with the first k of their answers to the other items, and predicted on the
items held out: as all annotators together ("mean"), as the nearest known annotator ("nearest"),
enrolled ("enrol"), and by attributes alone, where the corpus has some. Means over newcomers, in
brackets the standard error of the difference from the mean of all, over the newcomers of all
seeds. The corpora are in DISSENSUS_DATA. Coverage: how often the interval of the expected score has
the mean score of 400 items, for 50 newcomers of a simulated crowd, with annotator-logistic.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dissensus import Annotations, Corpus, Prediction, datasets
from dissensus.methods import build
from dissensus.methods.framework.settings import changed
from dissensus.metrics import scores
from dissensus.testing import example_corpus

sys.path[:0] = [str(Path(__file__).parent)]
from keeping import keep, kept  # noqa: E402

NAME = "newcomers"
KIT = Path("gpu-kit", NAME)
SIZES = (0, 1, 2, 5, 10, 20, 50)
LOSS, ACCURACY, ERROR = "cross-entropy", "annotator accuracy", "annotator error"
CORPORA: dict[str, dict[str, Any]] = {  # folder and corpus, question, newcomers, method, and
    # attributes of annotators
    "jester5k": {"question": "rating", "newcomers": 10, "most": 416},
    "labelme_crowds": {"question": "scene", "newcomers": 10},
    "lewidi2023/MD-Agreement": {"question": "offensive", "newcomers": 10},
    "cue_conflict16": {"question": "object", "newcomers": 10, "attributes": "panel"},
    "faces_3dsk": {"question": "att", "newcomers": 10, "attributes": "gender,age"},
}


def corpus_of(name: str) -> Corpus:
    """The question of a corpus, with annotators who answered it."""
    if (packed := KIT / name.replace("/", "-")).exists():
        return Corpus.load(packed)
    given = CORPORA[name]
    folder, _, part = name.partition("/")
    path = Path(os.environ["DISSENSUS_DATA"], folder)
    corpus = datasets.read(path, corpus=part or None)
    corpus = corpus.select(questions=[given["question"]])
    n_answers = corpus[given["question"]].per_annotator()
    most = np.argsort(-n_answers, kind="stable")[: given.get("most", (n_answers > 0).sum())]
    return corpus.select(annotators=np.sort(most))


def pack() -> None:
    """Write the corpora with one vector for each item, so that no encoder is needed."""
    sys.path.append(str(Path(__file__).with_name("gpu")))
    from crowds import by_item

    for name in CORPORA:
        by_item(corpus_of(name)).save(KIT / name.replace("/", "-"), overwrite=True)


def parts(name: str, corpus: Corpus, seed: int) -> tuple[Corpus, Corpus, Corpus]:
    """What is trained on, newcomers' answers to enrol with, and those to predict."""
    question, n_newcomers = CORPORA[name]["question"], CORPORA[name]["newcomers"]
    train, test = corpus.split(0.3, seed=seed)
    n_train, n_test = train[question].per_annotator(), test[question].per_annotator()
    many = np.argsort(-np.minimum(n_train, SIZES[-1]), kind="stable")
    enough = many[n_test[many] >= 10]
    enough = enough[n_train[enough] >= min(SIZES[-1], n_train[enough[n_newcomers - 1]])]
    newcomers = np.sort(np.random.default_rng(seed).permutation(enough)[:n_newcomers])
    old = train.without(annotators=newcomers)
    return old, train.select(annotators=newcomers), test.select(annotators=newcomers)


def first(corpus: Corpus, question: str, size: int, seed: int) -> Corpus:
    """The first answers of each annotator, in an order drawn from the seed."""
    answers = corpus[question]
    order = np.random.default_rng(seed).permutation(answers.n_rows)
    annotator = answers.annotator_codes(NAME)[order]
    nth = np.zeros(len(order), np.int64)
    for code in range(corpus.n_annotators):
        nth[annotator == code] = np.arange((annotator == code).sum())
    return replace(corpus, questions={question: answers.take(np.sort(order[nth < size]))})


def cross_entropy(prediction: Prediction, answers: Annotations) -> float:
    """Of one annotator's answers; of ratings on the grid of the scale."""
    pairs = prediction.by_annotator
    assert pairs is not None and pairs.distribution is not None
    own = pairs.annotators.codes(answers.annotators)[0] == pairs.annotator
    place = np.full(len(prediction.items), -1)
    place[pairs.item[own]] = np.flatnonzero(own)
    item = prediction.items.codes(answers.items)[answers.item]
    mass = (pairs.distribution[place[item]] * answers.scale.one_hot(answers.answer)).sum(axis=1)
    return float(-np.log(np.maximum(mass, 1e-12)).mean())


def measured(name: str, method: str, seed: int) -> Iterator[dict[str, Any]]:
    """The scores of each newcomer, by how they are predicted."""
    torch.set_num_threads(1)
    question = CORPORA[name]["question"]
    train, early, test = parts(name, corpus_of(name), seed)
    metric = ERROR if test[question].scale.kind == "interval" else ACCURACY

    def row(way: str, size: int, predictions: Any, more: dict[str, Any]) -> dict[str, Any]:
        alone = (test.select(annotators=[newcomer]) for newcomer in test.annotators)
        each = [
            {LOSS: cross_entropy(predictions[question], one[question])}
            | scores(predictions[question], one[question], None, [metric])
            for one in alone
        ]
        found = {m: [round(float(s[m]), 4) for s in each] for m in (LOSS, metric)}
        about = {"corpus": name, "method": method, "predicted": way, "answers": size, "seed": seed}
        return about | found | more

    fitted = changed(build(method), {"training.seed": seed, "init_seed": seed}
                     if method != "annotator-logistic" else {}).fit(train)  # fmt: skip
    yield row("mean", 0, fitted.predict(test, unknown="mean"), {})
    attributes = CORPORA[name].get("attributes")
    if attributes and method == "annotator-embedding":
        knowing = changed(fitted, {"attributes": attributes}).fit(train)
        yield row("attributes", 0, knowing.predict(test, unknown="attributes"), {})
    for size in SIZES[1:]:
        some = first(early, question, size, seed)
        if (some[question].per_annotator() < size).any():
            break
        nearest = fitted.predict(test, unknown="nearest", enrolment=some)
        yield row("nearest", size, nearest, {})
        enrolled = fitted.enrol(some)
        expected = [round(one.score, 4) for one in enrolled.newcomers_]
        yield row("enrol", size, enrolled.predict(test), {"expected": expected})


def coverage(kind: str, size: int, seed: int = 3) -> dict[str, Any]:
    """How many intervals cover the score on 400 other items."""
    crowd = example_corpus(kind, n_items=600, n_annotators=80, seed=seed)
    names = np.random.default_rng(0).permutation(list(crowd.annotators)).tolist()
    known = crowd.select(annotators=names[:30], items=np.arange(200))
    fitted = changed(build("annotator-logistic"), {"encoder": "features"}).fit(known)
    generator, hits, metric = (
        np.random.default_rng(size),
        0,
        ERROR if kind == "interval" else ACCURACY,
    )
    for name in names[30:]:
        own = crowd.select(annotators=[name])
        enrolled = fitted.enrol(own.select(items=generator.permutation(200)[:size]))
        late = own.select(items=np.arange(200, 600))
        score = scores(enrolled.predict(late)["q"], late["q"], None, [metric])[metric]
        low, high = enrolled.newcomers_[0].interval
        hits += int(low <= score <= high)
    return {"scale": kind, "answers": size, "newcomers": len(names) - 30, "covered": hits}


def cell_rows(cell: tuple[str, str, int]) -> list[dict[str, Any]]:
    return list(measured(*cell))


def table_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Means over newcomers as Markdown: cross-entropy, accuracy or error."""
    yield "| corpus, method, predicted as | " + " | ".join(map(str, SIZES)) + " |"
    yield "|---" + "|--:" * len(SIZES) + "|"
    for name, method in dict.fromkeys((row["corpus"], row["method"]) for row in rows):
        of_method = [r for r in rows if (r["corpus"], r["method"]) == (name, method)]
        usual = {r["seed"]: r for r in of_method if r["predicted"] == "mean"}
        for way in dict.fromkeys(row["predicted"] for row in of_method):
            cells = []
            for size in SIZES:
                here = [r for r in of_method if (r["predicted"], r["answers"]) == (way, size)]
                cells.append(_cell(here, usual) if len(here) == len(usual) else "")
            yield f"| {name}, `{method}`, {way} | {' | '.join(cells)} |"


def short_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The same with 5 and 20 answers only, a line for each corpus and method."""
    ways = [("mean", 0), ("attributes", 0), *product(("nearest", "enrol"), (5, 20))]
    names = [f"{way}, {size} answers" if size else way for way, size in ways]
    yield f"| corpus | method | {' | '.join(names)} |"
    yield "|---|---" + "|--:" * len(ways) + "|"
    for name, method in dict.fromkeys((row["corpus"], row["method"]) for row in rows):
        of_method = [r for r in rows if (r["corpus"], r["method"]) == (name, method)]
        usual = {r["seed"]: r for r in of_method if r["predicted"] == "mean"}
        here = [[r for r in of_method if (r["predicted"], r["answers"]) == way] for way in ways]
        cells = [_cell(each, usual) if len(each) == len(usual) else "" for each in here]
        yield f"| {name.rpartition('/')[2]} | `{method}` | {' | '.join(cells)} |"


def _cell(rows: list[dict[str, Any]], usual: dict[int, dict[str, Any]]) -> str:
    metric = ACCURACY if ACCURACY in rows[0] else ERROR
    of_newcomers = [np.concatenate([row[name] for row in rows]) for name in (LOSS, metric)]
    text = f"{of_newcomers[0].mean():.3f}, {of_newcomers[1].mean():.3f}"
    if rows[0] is usual[rows[0]["seed"]]:
        return text
    away = np.concatenate([np.subtract(row[LOSS], usual[row["seed"]][LOSS]) for row in rows])
    return f"{text} ({away.std(ddof=1) / np.sqrt(len(away)):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=("run", "coverage", "pack", "show"))
    parser.add_argument("--only", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--methods", nargs="+", default=["annotator-heads"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if given.stage == "pack":
        pack()
        return
    if given.stage == "run":
        run(list(product(given.only, given.methods, given.seeds)), given.processes)
    if given.stage == "coverage":
        cells = [coverage(kind, n) for kind in ("nominal", "interval") for n in SIZES[3:6]]
        keep(NAME, "newcomers.py run", {**_found(kept(NAME)), "coverage": cells})
    print(*table_lines(kept(NAME)["rows"]), sep="\n")
    for cell in kept(NAME).get("coverage", ()):
        print("{scale}, {answers} answers: {covered} of {newcomers} intervals cover".format(**cell))


def run(cells: list[tuple[str, str, int]], processes: int) -> None:
    """Measure these cells, and keep the rows of each when it ends, in the order of the corpora."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        futures = {pool.submit(cell_rows, cell): cell for cell in cells}
        for future in as_completed(futures):
            cell = futures[future]
            if future.exception():
                print(f"{cell}: {future.exception()}", flush=True)
                continue
            rows = [r for r in kept(NAME)["rows"] if (r["corpus"], r["method"], r["seed"]) != cell]
            rows += future.result()
            rows.sort(key=lambda row: (list(CORPORA).index(row["corpus"]), row["method"]))
            keep(NAME, "newcomers.py run", {**_found(kept(NAME)), "rows": rows})


def _found(content: dict[str, Any]) -> dict[str, Any]:
    return {name: content[name] for name in ("rows", "coverage") if name in content}


if __name__ == "__main__":
    main()
