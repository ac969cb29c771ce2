"""What to compare on a corpus: methods, folds and seeds by what it has, and why these."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.corpus import Corpus
from dissensus.encoders import DEFAULTS
from dissensus.errors import counted
from dissensus.evaluation import EvaluationProtocol, choose_protocol
from dissensus.evaluation.best_method import predicts_annotators
from dissensus.methods import build
from dissensus.methods.choice import has_truth

FEWEST_ITEMS = 30  # with answers, below which no method is compared
MANY_ITEMS = 200  # from which five folds are used
LARGE = 20_000  # answers from which one seed is enough
FLOORS = ("prior", "annotator-majority")
FLOOR_OF_LEVELS = "annotator-median"  # on ordinal and interval scales
LEARNED = {  # what they learn from -> methods, from the fastest to the slowest
    "one label for each item": ("logistic", "single"),
    "shares of answers": ("logistic-votes", "soft-label", "soft-label-mtl"),
    "each annotator's answers": ("annotator-logistic", "annotator-heads"),
    "one label, by several networks": ("seed-ensemble",),
    "each annotator's answers, with attention": ("annotator-queries",),
}
OF_TRUTH = {  # with gold labels
    "a truth and how annotators err": ("geo-f", "annot-mix"),
    "the mean of such methods and of models of each annotator": ("method-ensemble",),
}
FASTEST = "single"  # of those that are trained
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
    kinds = {contents.kind: None for contents in corpus.contents.values()}
    each = [f"{DEFAULTS[kind]} for {kind}" for kind in kinds if kind != "features"]
    usual = ", ".join(each) or "none, because the contents are features"
    reasons.append(f"encoder: {usual if encoder is None else encoder}")
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
    truth = any(has_truth(corpus, question) for question in corpus.questions)
    groups = {
        source: [name for name in names if known or not predicts_annotators(name)]
        for source, names in (LEARNED | (OF_TRUTH if truth else {})).items()
    }
    named = [f"{', '.join(names)} ({source})" for source, names in groups.items() if names]
    lines = [f"methods: {', '.join(floors)} (ignoring the content); {'; '.join(named)}"]
    if not known:
        every = [name for names in LEARNED.values() for name in names]
        left_out = [name for name in every if predicts_annotators(name)]
        lines.append(f"left out, because the annotators are unknown: {', '.join(left_out)}")
    return (*floors, *(name for names in groups.values() for name in names)), lines


def floors_for(corpus: Corpus) -> tuple[str, ...]:
    """The methods that ignore the content and that the answers allow."""
    scales = [answers.scale.kind for answers in corpus.questions.values()]
    levels = any(kind in ("ordinal", "interval") for kind in scales)
    known = _annotators_are_known(corpus)
    names = (*FLOORS, *[FLOOR_OF_LEVELS] * levels)
    return tuple(name for name in names if known or not predicts_annotators(name))


def needs_encoder(methods: Sequence[str]) -> bool:
    """Whether any of these methods encodes contents; without names, some do."""
    return not methods or any(hasattr(build(name), "encoder") for name in methods)


def _annotators_are_known(corpus: Corpus) -> bool:
    return any(answers.annotator is not None for answers in corpus.questions.values())


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
    """Whether most characters are letters, and words and letters are as many as in texts."""
    texts = list(values)
    letters = sum(character.isalpha() for text in texts for character in text)
    others = sum(not (c.isalpha() or c.isspace()) for text in texts for c in text)
    n_words = sum(len(text.split()) for text in texts)
    long_enough = n_words >= fewest_words * len(texts) and letters >= FEWEST_LETTERS * len(texts)
    return long_enough and letters > 4 * others
