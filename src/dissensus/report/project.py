"""The whole way for one corpus: which methods to compare, the best one, its predictions.

`dissensus run` follows it, and says why it chose what.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dissensus.corpus import Corpus
from dissensus.encoders import DEFAULTS, encodings, without_unreadable
from dissensus.errors import DataError, counted
from dissensus.evaluation import EvaluationProtocol, Results, choose_protocol
from dissensus.evaluation.report.best_method import comparison_tables, predicts_annotators
from dissensus.evaluation.report.tables import higher_is_better
from dissensus.methods import method as method_class
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.settings import configured
from dissensus.prediction import Predictions
from dissensus.report.sections.densities import is_rating

FEWEST_ITEMS = 30  # with answers, below which no method is compared
MANY_ITEMS = 200  # from which five folds are used
LARGE = 20_000  # answers from which one seed is enough
FLOORS = ("prior", "annotator-majority")
FLOOR_OF_LEVELS = "annotator-median"  # on ordinal and interval scales
LEARNED = {  # what they learn from -> methods, from the fastest to the slowest
    "one label for each item": ("single",),
    "shares of answers": ("soft-label", "soft-label-mtl"),
    "each annotator's answers": ("annotator-heads",),
    "one label, by several networks": ("seed-ensemble",),
    "each annotator's answers, with attention": ("annotator-queries",),
}
FASTEST = "single"  # the first of them
HOLD_OUT = 0.2
MOST_WITH_ATTENTION = 20_000  # answers to the items that are held out
WITH_DENSITY = 6  # items whose density is predicted
MOST_NAMED = 3  # columns that a message names
FEWEST_WORDS = 3  # of a text, on average
FEWEST_LETTERS = 3  # likewise, so that items called a, b, c are not taken for texts


@dataclass(frozen=True, eq=False)
class Plan:
    """What to compare on a corpus, and why."""

    methods: tuple[str, ...]  # none if nothing can be learned
    protocol: EvaluationProtocol | None
    seeds: int
    reasons: tuple[str, ...]


def plan(
    corpus: Corpus,
    methods: tuple[str, ...] = (),
    seeds: int | None = None,
    encoder: str | None = None,
) -> Plan:
    """Choose methods, folds and seeds by what the corpus has.

    Args:
        methods: to compare, if they are chosen already.
        seeds: likewise.
        encoder: likewise.
    """
    why = nothing_to_learn(corpus)
    if why:
        return Plan((), None, 0, (f"no method is compared: {why}",))
    protocol = choose_protocol(corpus, None, folds=n_folds(corpus.n_items))
    reasons = [f"folds: {protocol.description}"]
    if protocol.facts["kind"] == "k-fold":
        reasons[0] += f" (3 below {MANY_ITEMS} items, else 5)"
    if seeds is None:
        n_answers = sum(answers.n_answers for answers in corpus.questions.values())
        seeds = n_seeds(n_answers)
        reasons.append(f"seeds: {seeds}, for {n_answers:,} answers (2 below {LARGE:,}, else 1)")
    if not methods:
        methods, lines = _methods(corpus)
        reasons += lines
    reasons.append(f"encoder: {_encoders(corpus, encoder)}")
    return Plan(methods, protocol, seeds, tuple(reasons))


def n_folds(n_items: int) -> int:
    """The number of folds, by the number of items."""
    return 5 if n_items >= MANY_ITEMS else 3


def n_seeds(n_answers: int) -> int:
    """The number of seeds, by the number of answers."""
    return 1 if n_answers >= LARGE else 2


def _methods(corpus: Corpus) -> tuple[tuple[str, ...], list[str]]:
    """The methods that the answers allow, and a line on what each learns from."""
    floors = floors_for(corpus)
    known = _annotators_are_known(corpus)
    groups = {
        source: [name for name in names if known or not predicts_annotators(name)]
        for source, names in LEARNED.items()
    }
    named = [f"{', '.join(names)} ({source})" for source, names in groups.items() if names]
    lines = [f"methods: {', '.join(floors)} (ignoring the content); {'; '.join(named)}"]
    if not known:
        left_out = [
            name for names in LEARNED.values() for name in names if predicts_annotators(name)
        ]
        lines.append(f"left out, because the annotators are unknown: {', '.join(left_out)}")
    return (*floors, *(name for names in groups.values() for name in names)), lines


def floors_for(corpus: Corpus) -> tuple[str, ...]:
    """The methods that ignore the content and that the answers allow."""
    scales = [answers.scale.kind for answers in corpus.questions.values()]
    levels = any(kind in ("ordinal", "interval") for kind in scales)
    known = _annotators_are_known(corpus)
    names = (*FLOORS, *[FLOOR_OF_LEVELS] * levels)
    return tuple(name for name in names if known or not predicts_annotators(name))


def _annotators_are_known(corpus: Corpus) -> bool:
    return any(answers.annotator is not None for answers in corpus.questions.values())


def _encoders(corpus: Corpus, encoder: str | None) -> str:
    kinds = {contents.kind: role for role, contents in corpus.contents.items()}
    if encoder is not None:
        return encoder
    parts = [f"{DEFAULTS[kind]} for {kind}" for kind in kinds if kind != "features"]
    return ", ".join(parts) or "none, because the contents are features"


def nothing_to_learn(corpus: Corpus) -> str:
    """Why no method can be compared, and what to do; empty if there is enough to learn from."""
    contents = any(len(contents) for contents in corpus.contents.values())
    if corpus.n_items < FEWEST_ITEMS:
        have = "has" if corpus.n_items == 1 else "have"
        what = "answers and contents" if contents else "answers"
        return (
            f"{counted(corpus.n_items, 'item')} {have} {what}; at least {FEWEST_ITEMS} are needed"
        )
    if not contents:
        columns = columns_of_text(corpus)
        if not columns:
            return (
                "there are no texts or other contents; join a table of them with --items, or name "
                "their column with --text"
            )
        options = " ".join(f"--text {shlex.quote(name)}" for name in columns)
        return f"no column was recognised as the text that annotators saw; name it: {options}"
    if all(len(np.unique(answers.answer)) < 2 for answers in corpus.questions.values()):
        return "all answers are the same"
    return ""


def columns_of_text(corpus: Corpus) -> list[str]:
    """Columns of a corpus without contents that look like texts, and could be named with --text."""
    names = []
    for name, values in corpus.item_attributes.items():
        texts = [text for text in values.to_pylist() if isinstance(text, str) and text.strip()]
        if len(set(texts)) >= max(2, len(texts) / 20) and _look_like_texts(texts, FEWEST_WORDS):
            names.append(name)
    column = corpus.columns.get("item")
    if not names and column and not corpus.items.is_range and _look_like_texts(corpus.items, 1):
        names.append(column)
    return names[:MOST_NAMED]


def _look_like_texts(values: Iterable[str], fewest_words: int) -> bool:
    """Whether most characters are letters, and the numbers of words and letters are those of
    texts."""
    texts = list(values)
    letters = sum(character.isalpha() for text in texts for character in text)
    others = sum(not (c.isalpha() or c.isspace()) for text in texts for c in text)
    n_words = sum(len(text.split()) for text in texts)
    long_enough = n_words >= fewest_words * len(texts) and letters >= FEWEST_LETTERS * len(texts)
    return long_enough and letters > 4 * others


def seeded_method(name: str, encoder: str | None, seed: int = 0) -> Method:
    """A method with a seed and an encoder, if it has any."""
    common = {"init_seed": str(seed), "training.seed": str(seed), "encoder": encoder}
    known = method_class(name)().get_params()
    typed = [(k, v) for k, v in common.items() if v is not None and k.split(".")[0] in known]
    return configured(method_class(name), typed)


def add_figures_to_card(folder: Path, results: Results, method: str, n_items: int) -> None:
    """Add to a model's card how the method scored on items that it was not trained on, and the
    limits of the model.

    Args:
        n_items: that the model was trained on.
    """
    lines = [
        "",
        "## Scores",
        "",
        f"This model was trained on all {n_items:,} items with answers. In a comparison, models of "
        "this method were trained on a part of the items and scored on the others:",
        "",
    ]
    for table in comparison_tables(results):
        for metric, cell in table[method].cells.items():
            ends = (
                ""
                if math.isnan(cell.low)
                else f" (95 % interval {cell.low:.3f} to {cell.high:.3f})"
            )
            better = "higher" if higher_is_better(metric) else "lower"
            lines.append(
                f"- {table.question}, {metric} ({better} is better): {cell.mean:.3f}{ends}"
            )
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


def without_unreadable_contents(corpus: Corpus, encoder: str | None) -> tuple[Corpus, list[str]]:
    """The corpus without items whose image, audio or video cannot be read, and a line on these.

    If none can be read, the corpus without contents.
    """
    if {contents.kind for contents in corpus.contents.values()} <= {"text", "features"}:
        return corpus, []
    try:
        readable, lines = without_unreadable(corpus, encodings(corpus, encoder or "auto"))
        return readable, list(lines)
    except DataError as error:
        answers = replace(corpus, contents={}, content={}, focus=None)
        return answers, [f"{error}; the report is on the answers alone"]


def without_answers(corpus: Corpus) -> Corpus | None:
    """The items that nobody answered, to be predicted; None if there are none."""
    answered = np.zeros(corpus.n_items, dtype=bool)
    for answers in corpus.questions.values():
        answered |= answers.per_item() > 0
    return None if answered.all() else corpus.select(items=np.flatnonzero(~answered))


def to_predict(corpus: Corpus) -> tuple[Corpus | None, list[str]]:
    """The items without answers whose contents can be predicted, and a line on the others."""
    bare = without_answers(corpus)
    if bare is None:
        return None, []
    there = np.zeros(bare.n_items, dtype=bool)
    for codes in bare.content.values():
        there |= codes >= 0
    lines = []
    if not there.all():
        missing = counted(int((~there).sum()), "item")
        lines = [f"{missing} without answers and without contents cannot be predicted"]
    return (bare.select(items=there) if there.any() else None), lines


def with_answers(corpus: Corpus) -> Corpus:
    """The items that somebody answered."""
    bare = without_answers(corpus)
    return corpus if bare is None else corpus.without(items=list(bare.items))


def _answers(corpus: Corpus, part: str) -> bool:
    return any(answers.n_rows for answers in corpus.part(part).questions.values())
