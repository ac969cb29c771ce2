"""Which method for which situation: real corpora and simulated crowds, each by cross-validation.

    make gpu-kit RUN=defaults                                the corpora, as one vector per item
    python benchmarks/gpu/defaults.py run OUT --seconds 500
    python benchmarks/gpu/defaults.py keep OUT               into benchmarks/results
    python benchmarks/gpu/defaults.py show

A cell is a method on a corpus: three folds, with two seeds if the method has any; all fits are one
stack. It keeps the scores of every fit and of every item, and, of the first seed, what is predicted
for test items and their annotators, so that ensembles can be scored without another run.

`show` prints, for each corpus, the score of the method that is chosen by default, of the best one
and of three logistic regressions, with p of the differences over items (scores are means over
seeds). The score is the accuracy against gold labels where there is a truth; else how well
annotators' answers are predicted (accuracy; of ratings, the mean absolute error); of several labels
at once the cross-entropy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

KIT = Path("gpu-kit") / "defaults"
NAME = "defaults"
ARCHIVE = f"{NAME}.tar.gz"
SEEDS, FOLDS = range(2), 3
MOST_ITEMS, MOST_ANNOTATORS = 1200, 500
TEXTS = {  # name -> dataset, corpus
    "hs-brexit": ("lewidi2023", "HS-Brexit"),
    "armis": ("lewidi2023", "ArMIS"),
    "convabuse": ("lewidi2023", "ConvAbuse"),
    "md-agreement": ("lewidi2023", "MD-Agreement"),
    "mp": ("lewidi2025", "MP"),
    "csc": ("lewidi2025", "CSC"),
    "paraphrase": ("lewidi2025", "Paraphrase"),
    "varierr-nli": ("lewidi2025", "VariErrNLI"),
    "rte": ("snow2008", "rte"),
    "affect": ("snow2008", "affect"),
    "labelme": ("labelme_crowds", None),
    "pos-tweets": ("pos_tweets", "crowd"),
    "jester": ("jester5k", None),
    "nli-variation": ("nli_variation", None),
    "patterns": ("ca_patterns216", None),
    "cue-conflict": ("cue_conflict16", "conflict"),
    "pronunciation": ("speechocean762", "sentences"),
}
SIMULATED = {
    f"{share}-spammers-{n_answers}-answers": (share / 100, n_answers)
    for n_answers in (3, 30)
    for share in (0, 30, 60)
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {  # name -> method and settings
    "logistic": ("logistic", {}),
    "logistic-votes": ("logistic-votes", {}),
    "logistic-ds": ("logistic", {"target": "dawid-skene"}),
    "logistic-mace": ("logistic", {"target": "mace"}),
    "annotator-logistic": ("annotator-logistic", {}),
    "soft-label": ("soft-label", {}),
    "repeated-label": ("repeated-label", {}),
    "annotator-heads": ("annotator-heads", {}),
    "heads-linear": ("annotator-heads", {"hidden": ()}),
    "heads-ccc": ("annotator-heads", {"loss": "ccc"}),
    "heads-mse": ("annotator-heads", {"loss": "mse"}),
    "annotator-onehot": ("annotator-onehot", {}),
    "onehot-ccc": ("annotator-onehot", {"loss": "ccc"}),
    "annotator-embedding": ("annotator-embedding", {}),
    "annotator-confusions": ("annotator-confusions", {}),
    "crowd-layer": ("crowd-layer", {}),
    "conal": ("conal", {}),
    "union-net": ("union-net", {}),
    "geo-f": ("geo-f", {}),
    "geo-w": ("geo-w", {}),
    "geo-f-prior": ("annotator-confusions", {"trace": 0.0, "class_volume": 0.001}),
    "geo-w-prior": ("annotator-confusions", {"trace": 0.0, "confusion_volume": 0.001}),
    "joint-em": ("joint-em", {}),
    "joint-em-linear": ("joint-em", {"hidden": (), "training.weight_decay": 0.1}),
    "annot-mix": ("annot-mix", {}),
    "heads-decay": ("annotator-heads", {"training.weight_decay": 0.1}),
    "heads-wide-prior": ("annotator-heads", {"spread": 1.0}),
    "heads-narrow-prior": ("annotator-heads", {"spread": 0.25}),
    "embedding-decay": ("annotator-embedding", {"training.weight_decay": 0.1}),
    "soft-decay": ("soft-label", {"training.weight_decay": 0.1}),
    "mix-linear": ("annot-mix", {"hidden": (), "training.weight_decay": 0.1}),
    "single": ("single", {}),
    "method-ensemble": ("method-ensemble", {}),
    "ensemble-geo": ("method-ensemble", {"members": "annot-mix+annotator-heads+geo-f"}),
    "ensemble-geo-logistic": (
        "method-ensemble",
        {"members": "annot-mix+annotator-heads+geo-f+annotator-logistic"},
    ),
}
BASELINES = ("annotator-logistic", "logistic", "logistic-votes")
TOGETHER = (  # whose predicted distributions of the truth are averaged, where there is one
    ("annot-mix",),
    ("annotator-heads",),
    ("joint-em",),
    ("annot-mix", "annotator-heads"),
    ("annot-mix", "annotator-heads", "joint-em"),
    ("annot-mix", "annotator-heads", "joint-em", "annotator-logistic"),
    ("annot-mix", "annotator-heads", "joint-em", "annotator-logistic", "geo-f"),  # the ensemble
)
GOLD, OF_PAIRS = "accuracy (gold)", ("annotator accuracy", "annotator error")
LOSSES = ("cross-entropy", "annotator error")  # lower is better
MEASURES = ("cross-entropy", "accuracy", *OF_PAIRS)  # kept for each item, as is GOLD
CONCORDANCES = ("CCC", "annotator CCC")  # of ratings, by the loss that `heads-ccc` has or not


def pack(folder: Path, data: Path) -> None:
    """The corpora with one vector for each item and role, so that no encoder is needed there."""
    from crowds import by_item, simulated
    from dissensus.datasets import dataset

    for name, (of, corpus_name) in TEXTS.items():
        try:
            corpus = dataset(of).load(data / of, *([corpus_name] if corpus_name else []))
            small(by_item(some(corpus))).save(folder / "corpora" / name)
            print(name, flush=True)
        except Exception as error:
            print(f"{name} left out: {error}", flush=True)
    for name, crowd in SIMULATED.items():
        simulated(*crowd).save(folder / "corpora" / name)


def some(corpus: Any) -> Any:
    """The first question, with some of the items that have answers, and some annotators."""
    question = next(iter(corpus.questions))
    corpus = corpus.select(questions=(question,))
    generator = np.random.default_rng(0)
    items = np.flatnonzero(corpus[question].per_item() > 0)
    corpus = corpus.select(items=np.sort(generator.permutation(items)[:MOST_ITEMS]))
    if corpus.n_annotators > MOST_ANNOTATORS and corpus[question].per_item().mean() > 50:
        codes = np.sort(generator.permutation(corpus.n_annotators)[:MOST_ANNOTATORS])
        corpus = corpus.select(annotators=[corpus.annotators[code] for code in codes])
    return corpus


def small(corpus: Any) -> Any:
    """Without what methods do not learn from."""
    from dataclasses import replace

    return replace(corpus, item_attributes={}, annotator_attributes={}, splits={}, group=None)


# ---- a cell ----


@cache
def folds_of(name: str, items: int | None) -> list[tuple[Any, Any]]:
    """The training and the test part of each fold."""
    from dissensus import Corpus
    from dissensus.evaluation import k_fold

    corpus = Corpus.load(KIT / "corpora" / name)
    if items:
        corpus = corpus.select(items=np.arange(min(items, corpus.n_items)))
    return [fold.parts(corpus)[:2] for fold in k_fold(corpus, FOLDS, seed=0)]


def cell(name: str, method: str, items: int | None, path: Path) -> None:
    """The scores of all fits of a method on a corpus, and what the first seed predicts."""
    from dissensus.methods import build
    from dissensus.methods.framework.settings import changed, draws, seeded
    from dissensus.methods.framework.stacked_fits import Job, try_many

    known, settings = METHODS[method]
    few = {"training.epochs": 1} if items and hasattr(build(known), "training") else {}
    parts = folds_of(name, items)
    model = changed(build(known), settings | few)
    seeds = SEEDS if draws(model) else SEEDS[:1]
    pairs = [(seed, fold) for seed in seeds for fold in range(FOLDS)]
    jobs = [Job(seeded(model, seed), parts[fold][0]) for seed, fold in pairs]
    errors = try_many(jobs)
    for error in errors:
        if error is not None:
            raise error
    scores: dict[str, list[float]] = {}
    by_item: dict[str, list[np.ndarray]] = {}
    arrays: dict[str, Any] = {}
    for (seed, fold), job in zip(pairs, jobs, strict=True):
        test = parts[fold][1]
        own = job.method.predict(test, unknown="mean")
        every = job.method.predict(test, unknown="mean", consensus="all")
        for metric, score in scores_of(own, every, test).items():
            scores.setdefault(metric, []).append(score)
        for metric, of_items in scores_of_items(own, every, test).items():
            by_item.setdefault(metric, []).append(of_items)
        if seed == 0:
            arrays |= arrays_of(fold, own, every)
    for metric, of_fits in by_item.items():  # (n_seeds, n_items)
        by_seed = np.concatenate(of_fits).reshape(len(seeds), -1)
        arrays[f"items {metric}"] = by_seed.astype(np.float32)
    with path.open("wb") as file:
        np.savez_compressed(file, scores=np.array(json.dumps(scores)), **arrays)


def scores_of(own: Any, every: Any, test: Any) -> dict[str, float]:
    """All scores that tables show, with those against gold of the consensus of all."""
    from dissensus.metrics import gold_scores, scores

    (question,) = test.questions
    by_metric = scores(own[question], test[question])
    if question in test.gold:
        by_metric |= gold_scores(every[question], test.gold[question])
    return {metric: float(score) for metric, score in by_metric.items()}


def scores_of_items(own: Any, every: Any, test: Any) -> dict[str, np.ndarray]:
    """The scores of single items, whose mean is the score of the metric."""
    from dissensus.metrics import gold_item_scores, item_scores

    (question,) = test.questions
    parts = item_scores(own[question], test[question], MEASURES)
    if question in test.gold:
        parts |= gold_item_scores(every[question], test.gold[question], ["accuracy"])
    return {name: part[1] for name, part in parts.items() if name in (*MEASURES, GOLD)}


def arrays_of(fold: int, own: Any, every: Any) -> dict[str, np.ndarray]:
    """What is predicted for the items of a fold, and for their annotators."""
    (question,) = own
    pairs = own[question].by_annotator
    arrays = {"own": own[question].distribution, "every": every[question].distribution}
    arrays["value"] = own[question].consensus
    if pairs is not None and own[question].scale.kind == "interval":
        arrays["pair_value"] = pairs.value
    elif pairs is not None:
        arrays["pairs"] = pairs.distribution
    kinds = {True: np.float16, False: np.int32}
    return {
        f"{name}_{fold}": array.astype(kinds[array.dtype.kind == "f"])
        for name, array in arrays.items()
    }


def applies(name: str, method: str) -> bool:
    """Whether a method can learn from a corpus of this scale."""
    from dissensus import Corpus
    from dissensus.errors import DissensusError
    from dissensus.methods import build
    from dissensus.methods.framework.settings import changed

    known, settings = METHODS[method]
    corpus = Corpus.load(KIT / "corpora" / name)
    try:
        changed(build(known), settings).check(corpus)
    except DissensusError:
        return False
    return True


# ---- all cells ----


def run(given: argparse.Namespace) -> None:
    from archive import archived, resumed
    from pieces import Piece, carry_out
    from sharing import shared_gpu

    began = time.monotonic()
    done = resumed(given.out / ARCHIVE, KIT / ARCHIVE)
    corpora = given.corpora.split(",") if given.corpora else [*TEXTS, *SIMULATED]
    corpora = [name for name in corpora if (KIT / "corpora" / name).is_dir()]
    methods = given.methods.split(",") if given.methods else list(METHODS)
    pieces = [
        Piece(done / name / f"{method}.npz", cell, (name, method, given.items))
        for method in methods
        for name in corpora
        if applies(name, method)
    ]
    with archived(done, given.out / ARCHIVE), nullcontext() if given.here else shared_gpu():
        left = carry_out(pieces, given.processes, given.seconds - 15)
    print(f"{left} of {len(pieces)} cells left, {time.monotonic() - began:.0f} s")


# ---- what is kept ----


def keep(folder: Path) -> None:
    """Mean scores of all cells, and the default beside its baselines, into benchmarks/results, in
    addition to scores that were kept before."""
    from archive import unpack

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from keeping import keep as write
    from keeping import kept

    done = unpack(folder / ARCHIVE)
    rows = {row["corpus"]: row for row in kept(NAME)["rows"]}
    for name in (name for name in [*TEXTS, *SIMULATED] if (done / name).is_dir()):
        row, before = compared(done / name), rows.get(name, {})
        row = before | row
        row["scores"] = before.get("scores", {}) | row["scores"]
        row["together"] = row["together"] or before.get("together", {})
        rows[name] = row
    write(NAME, "gpu/defaults.py run OUT", {"rows": list(rows.values())})
    show()


def compared(folder: Path) -> dict[str, Any]:
    """The mean scores of a corpus, and how far its default is from logistic regressions, if these
    were run."""
    from dissensus import Corpus
    from dissensus.evaluation import over_items
    from dissensus.methods.choice import chosen_method

    corpus = Corpus.load(KIT / "corpora" / folder.name)
    cells = {path.stem: dict(np.load(path)) for path in sorted(folder.glob("*.npz"))}
    default, metric = chosen_method(corpus).method, decided_by(corpus)
    row = {
        "corpus": folder.name, "items": corpus.n_items, "annotators": corpus.n_annotators,
        "metric": metric,
        "scores": {name: _means(json.loads(str(cell["scores"]))) for name, cell in cells.items()},
        "together": together(folder.name, cells) if metric == GOLD else {},
    }  # fmt: skip
    if not cells.keys() >= {default, *BASELINES}:
        return row
    own = cells[default][f"items {metric}"]
    against = {}
    for baseline in BASELINES:
        other = np.broadcast_to(cells[baseline][f"items {metric}"], own.shape)
        test = over_items(own, other)
        against[baseline] = {"effect": test.effect, "low": test.low, "high": test.high, "p": test.p}
    return row | {"default": default, "against": against}


def together(name: str, cells: dict[str, dict[str, Any]]) -> dict[str, float]:
    """The accuracy against gold labels of means of several methods, of the first seed."""
    right: dict[str, list[bool]] = {}
    if not cells.keys() >= set(TOGETHER[-1]):
        return {}
    for fold, (_, test) in enumerate(folds_of(name, None)):
        (question,) = test.questions
        gold = test.gold[question].to(test[question].scale)
        for methods in TOGETHER:
            of_methods = [cells[method][f"every_{fold}"].astype(float) for method in methods]
            label = np.mean(of_methods, axis=0)[gold.item].argmax(axis=1)
            right.setdefault(" + ".join(methods), []).extend(label == gold.answer)
    return {methods: round(float(np.mean(each)), 4) for methods, each in right.items()}


def _means(scores: dict[str, list[float]]) -> dict[str, float]:
    kept = {
        metric: each
        for metric, each in scores.items()
        if metric in (*MEASURES, GOLD, *CONCORDANCES)
    }
    return {metric: round(float(np.mean(each)), 4) for metric, each in kept.items()}


def decided_by(corpus: Any) -> str:
    """The metric that decides on a corpus."""
    from dissensus.methods.choice import has_truth

    (question,) = corpus.questions
    kind = corpus[question].scale.kind
    if kind == "multi-label":
        return "cross-entropy"
    if kind == "interval":
        return "annotator error"
    return GOLD if has_truth(corpus, question) else "annotator accuracy"


def show() -> None:
    """The default beside the best method and the logistic regressions, then all scores."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from dissensus.evaluation import p_text
    from keeping import kept

    rows = kept(NAME)["rows"]
    names = ["", "items", "score", "default", "", "best", "", *BASELINES]
    print(f"| {' | '.join(names)} |\n|---|--:|---|---|--:|---|--:|{'---|' * len(BASELINES)}")
    for row in rows:
        scores = {name: cell[row["metric"]] for name, cell in row["scores"].items()}
        best, (default, own) = best_of(row), default_of(row)
        tested = default == row["default"]
        p = {b: f" (p {p_text(row['against'][b]['p'])})" if tested else "" for b in BASELINES}
        apart = [f"{scores[b]:.3f}{p[b]}" for b in BASELINES]
        cells = [default, f"{own:.3f}", best, f"{scores[best]:.3f}", *apart]
        print(f"| {row['corpus']} | {row['items']:,} | {row['metric']} | {' | '.join(cells)} |")
    crowds = [row for row in rows if row["together"]]
    print(f"\n| means, one seed | {' | '.join(row['corpus'] for row in crowds)} | mean |")
    print(f"|---|{'--:|' * (len(crowds) + 1)}")
    for methods in map(" + ".join, TOGETHER):
        scores_of_crowds = [row["together"][methods] for row in crowds]
        texts = [f"{score:.3f}" for score in (*scores_of_crowds, np.mean(scores_of_crowds))]
        print(f"| {methods} | {' | '.join(texts)} |")
    rated = [row for row in rows if "CCC" in row["scores"].get("heads-ccc", {})]
    print(f"\n| annotator-heads, by loss | {' | '.join(row['corpus'] for row in rated)} |")
    print(f"|---|{'---|' * len(rated)}")
    for metric in CONCORDANCES:
        pairs = [
            [row["scores"][name][metric] for name in ("annotator-heads", "heads-ccc")]
            for row in rated
        ]
        texts = [f"likelihood {likely:.3f}, ccc {ccc:.3f}" for likely, ccc in pairs]
        print(f"| {metric} | {' | '.join(texts)} |")
    near = sum(is_near(row) for row in rows)
    below = [f"{row['corpus']} ({name})" for row in rows for name in BASELINES if worse(row, name)]
    print(f"\nwithin a point or 2 % of the best method: {near} of {len(rows)}")
    print(f"below a logistic regression, p < .05: {', '.join(below) or 'never'}")


def best_of(row: dict[str, Any]) -> str:
    """The method with the best score on a corpus."""
    scores = {name: cell[row["metric"]] for name, cell in row["scores"].items()}
    return (min if row["metric"] in LOSSES else max)(scores, key=scores.__getitem__)


def default_of(row: dict[str, Any]) -> tuple[str, float]:
    """The method that is chosen by default, and its score."""
    return row["default"], row["scores"][row["default"]][row["metric"]]


def is_near(row: dict[str, Any]) -> bool:
    """Whether the default is within a point (of accuracies) or 2 % of the best method."""
    own, best = default_of(row)[1], row["scores"][best_of(row)][row["metric"]]
    point = 0.01 if row["metric"] not in LOSSES else 0.0
    return abs(own - best) <= max(point, 0.02 * abs(best))


def worse(row: dict[str, Any], baseline: str) -> bool:
    """Whether the default is significantly worse than a baseline."""
    test = row["against"][baseline]
    return test["p"] < 0.05 and (test["effect"] > 0) == (row["metric"] in LOSSES)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path(NAME))
    parser.add_argument("--seconds", type=float, default=500, help="nothing is begun after them")
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--corpora", default="", help="with commas between; all if left out")
    parser.add_argument("--methods", default="", help="likewise")
    parser.add_argument("--items", type=int, help="only so many, one epoch: to try the script")
    parser.add_argument("--here", action="store_true", help="without a GPU")
    given = parser.parse_args()
    if given.stage == "show":
        show()
    else:
        run(given) if given.stage == "run" else keep(given.out)


if __name__ == "__main__":
    main()
