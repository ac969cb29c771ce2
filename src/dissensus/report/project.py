"""The whole way for one corpus: which methods to compare, the best one, its predictions.

`dissensus run` follows it, and says why it chose what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dissensus.corpus import Corpus
from dissensus.evaluation import EvaluationProtocol, Results, choose_protocol
from dissensus.methods import method as method_class
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.settings import configured
from dissensus.prediction import Predictions
from dissensus.report.sections.comparison import comparison_tables
from dissensus.report.sections.densities import is_rating

FEWEST_ITEMS = 30  # with answers, below which nothing is learned
MANY_ITEMS = 200  # from which five folds are used
LARGE = 20_000  # answers from which one seed is enough
FLOORS = ("prior", "annotator-majority")
OF_PAPERS = ("seed-ensemble", "annotator-heads", "annotator-queries", "soft-label-mtl")
BASELINES = ("single", "soft-label")
HOLD_OUT = 0.2
MOST_WITH_ATTENTION = 20_000  # answers to the items that are held out
WITH_DENSITY = 6  # items whose density is predicted


@dataclass(frozen=True, eq=False)
class Plan:
    """What to compare on a corpus, and why; without methods nothing is learned."""

    methods: tuple[str, ...]
    protocol: EvaluationProtocol | None
    seeds: int
    reasons: tuple[str, ...]


def plan(corpus: Corpus, methods: tuple[str, ...] = (), seeds: int | None = None) -> Plan:
    """Choose methods, folds and seeds by what the corpus has.

    Args:
        methods: to compare, if they are chosen already.
        seeds: likewise.
    """
    answered = np.zeros(corpus.n_items, dtype=bool)
    for answers in corpus.questions.values():
        answered |= answers.per_item() > 0
    n_items = int(answered.sum())
    n_answers = sum(answers.n_answers for answers in corpus.questions.values())
    if not corpus.contents:
        why = (
            "nothing is learned, because the corpus has no texts or other contents; name their "
            "column with --text, or join a table of them with --items"
        )
        return Plan((), None, 0, (why,))
    if n_items < FEWEST_ITEMS:
        why = f"nothing is learned from {n_items} items with answers; {FEWEST_ITEMS} are needed"
        return Plan((), None, 0, (why,))
    n_folds = 5 if n_items >= MANY_ITEMS else 3
    protocol = choose_protocol(corpus, None, folds=n_folds)
    reasons = [protocol.description]
    if seeds is None:
        seeds = 1 if n_answers >= LARGE else 2
        reasons.append(f"{seeds} seed{'s' * (seeds > 1)}, because there are {n_answers:,} answers")
    if not methods:
        methods = (*FLOORS, *BASELINES, *OF_PAPERS)
        if any(
            answers.scale.kind in ("ordinal", "interval") for answers in corpus.questions.values()
        ):
            methods = (FLOORS[0], FLOORS[1], "annotator-median", *BASELINES, *OF_PAPERS)
        reasons.append(
            f"methods: the systems of four papers and their baselines ({', '.join(methods)})"
        )
    return Plan(methods, protocol, seeds, tuple(reasons))


def best_method(results: Results) -> str | None:
    """The method that is no floor and has the best score on the first metric of the first table."""
    for table in comparison_tables(results):
        for metric in table.metrics:
            best = [
                row.name for row in table.rows if metric in row.cells and row.cells[metric].best
            ]
            if best:
                return best[0]
            rows = [row.name for row in table.rows if metric in row.cells and not row.floor]
            if rows:
                return rows[0]
    return None


def seeded_method(name: str, encoder: str | None, seed: int = 0) -> Method:
    """A method with a seed and an encoder, if it has any."""
    common = {"init_seed": str(seed), "training.seed": str(seed), "encoder": encoder}
    known = method_class(name)().get_params()
    typed = [(k, v) for k, v in common.items() if v is not None and k.split(".")[0] in known]
    return configured(method_class(name), typed)


def add_figures_to_card(folder: Path, results: Results, method: str) -> None:
    """Add to a model's card how it scored on items that it was not trained on, and its limits."""
    lines = [
        "",
        "## Scores",
        "",
        "In a comparison on other items than those it was trained on:",
        "",
    ]
    for table in comparison_tables(results):
        for metric, cell in table[method].cells.items():
            ends = (
                ""
                if math.isnan(cell.low)
                else f" (95 % interval {cell.low:.3f} to {cell.high:.3f})"
            )
            lines.append(f"- {table.question}, {metric}: {cell.mean:.3f}{ends}")
    lines += [
        "",
        "## Limits",
        "",
        "It says what these annotators would answer to contents like those of the corpus, not what "
        "is true, nor what other people would say. It has the annotators' names and tendencies: "
        "share it only if you may share their answers. The licence of the corpus applies.",
    ]
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8").rstrip() + "\n" + "\n".join(lines) + "\n"
    card.write_text(text, encoding="utf-8")


def held_out(corpus: Corpus, method: Method, seed: int = 0) -> tuple[Corpus, Predictions]:
    """Items that a method was not trained on, and what it predicts for them.

    The official test or development part if it has answers, else a fifth of the items.
    """
    parts = corpus.parts()
    test = next(
        (part for part in ("test", "dev") if part in parts and _answers(corpus, part)), None
    )
    if test is not None and "train" in parts:
        train, tested = corpus.part("train"), corpus.part(test)
    else:
        train, tested = corpus.split(HOLD_OUT, seed=seed)
    method.fit(train)
    n_answers = sum(answers.n_rows for answers in tested.questions.values())
    shown = method.shows_attention and n_answers <= MOST_WITH_ATTENTION
    predictions = method.predict(tested, unknown="drop", attention=shown)
    return tested, _with_densities(predictions, tested, method)


def _with_densities(predictions: Predictions, tested: Corpus, method: Method) -> Predictions:
    """Also the densities of some items, if there are two questions with ratings."""
    scales = [answers.scale for answers in tested.questions.values()]
    if predictions.densities or len(scales) != 2 or not all(map(is_rating, scales)):
        return predictions
    most_rated = np.argsort(-next(iter(tested.questions.values())).per_item(), kind="stable")
    few = tested.select(items=np.sort(most_rated[:WITH_DENSITY]))
    densities = method.predict(few, unknown="drop", density="soft:bins=16").densities.values()
    return Predictions(dict(predictions.items()), predictions.method, predictions.corpus, densities)


def without_answers(corpus: Corpus) -> Corpus | None:
    """The items that nobody answered, to be predicted; None if there are none."""
    answered = np.zeros(corpus.n_items, dtype=bool)
    for answers in corpus.questions.values():
        answered |= answers.per_item() > 0
    return None if answered.all() else corpus.select(items=np.flatnonzero(~answered))


def with_answers(corpus: Corpus) -> Corpus:
    """The items that somebody answered."""
    bare = without_answers(corpus)
    return corpus if bare is None else corpus.without(items=list(bare.items))


def _answers(corpus: Corpus, part: str) -> bool:
    return any(answers.n_rows for answers in corpus.part(part).questions.values())
