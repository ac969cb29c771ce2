"""Marks: whose answers say little, and a corpus without them.

Annotators are marked once, here. Whatever is computed after that has both figures: of all answers,
and without those of marked annotators. Nobody is left out unless a user says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.fields import LeftOut
from dissensus.description.suspicious_annotators import (
    AnnotatorFindings,
    compare_annotators,
    some_names,
)
from dissensus.errors import DataError

if TYPE_CHECKING:
    from dissensus.aggregation import Aggregator

SUSPICIOUS = "suspicious"  # stands for everybody who is marked
UNRELIABLE = ("at chance", "contrary", "constant")  # kinds of suspicious annotators who are marked
Marks = dict[str, str]  # annotator -> why


def marks_of(findings: AnnotatorFindings) -> Marks:
    """Annotators at chance, contrary or constant, and all but one of those who copied."""
    marks = {
        row.annotator: kind
        for kind in reversed(UNRELIABLE)
        for row in findings.by_annotator
        if kind in row.suspicious
    }
    later = {pair.later for pair in findings.duplicated}
    groups: list[set[str]] = []
    for pair in findings.duplicated:
        met = [group for group in groups if group & set(pair.annotators)]
        groups = [group for group in groups if group not in met]
        groups.append(set(pair.annotators).union(*met))
    for group in groups:  # who answered first in front
        copied = sorted(group - set(marks), key=lambda name: (name in later, name))
        for name in copied[1:]:
            either = "" if name in later else "; either may be the copy"
            marks[name] = f"same answers as {copied[0]}{either}"
    return dict(sorted(marks.items()))


def marked(annotations: Annotations) -> Marks:
    """The marked annotators of a question; none if annotators are unknown.

    Example:
        >>> import numpy as np
        >>> draw = np.random.default_rng(0)
        >>> truth = draw.integers(0, 2, 60)
        >>> answers = np.where(draw.random((6, 60)) < 0.1, 1 - truth, truth)
        >>> answers[5] = draw.integers(0, 2, 60)
        >>> annotator, item = np.divmod(np.arange(360), 60)
        >>> marked(Annotations.from_arrays(item, annotator, answers.ravel()))
        {'5': 'at chance'}
    """
    if annotations.annotator is None or not annotations.n_rows:
        return {}
    return marks_of(compare_annotators(annotations))


def without_marked(annotations: Annotations, marks: Iterable[str]) -> Annotations:
    """The answers of everybody else."""
    codes = annotations.annotators.codes(list(marks))
    return annotations.take(~np.isin(annotations.annotator_codes("marks"), codes))


def name_without(question: str, marks: Iterable[str]) -> str:
    """What is about the answers of everybody else.

    Example:
        >>> name_without("rude", ["a3", "a8"])
        'rude without a3, a8'
    """
    return f"{question} without {some_names(list(marks))}"


def marks_text(marks: Mapping[str, str], most: int = 5) -> str:
    """Who is marked, and why.

    Example:
        >>> marks_text({"a3": "at chance", "a8": "same answers as a1"})
        'a3 (at chance), a8 (same answers as a1)'
    """
    return some_names([f"{name} ({why})" for name, why in marks.items()], most)


def leave_out(corpus: Corpus, annotators: str | Iterable[str]) -> Corpus:
    """The corpus without these annotators, recorded in its notes and in `left_out`.

    Args:
        annotators: names; "suspicious" stands for everybody who is marked in a question.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"rude": Annotations.from_rows(rows)})
        >>> fewer = leave_out(corpus, "bob")
        >>> fewer["rude"].n_answers, fewer.left_out[0].reason
        (2, 'answers of bob')
    """
    names = [annotators] if isinstance(annotators, str) else list(annotators)
    chosen = {name: "" for name in names if name != SUSPICIOUS or name in corpus.annotators}
    if len(chosen) < len(set(names)):
        for annotations in corpus.questions.values():
            chosen |= {n: w for n, w in marked(annotations).items() if not chosen.get(n)}
    if not chosen:
        return replace(corpus, notes=(*corpus.notes, "no suspicious annotators to leave out"))
    codes = corpus.annotators.codes(list(chosen), "annotator")
    if len(codes) == corpus.n_annotators:
        raise DataError(f"{corpus.name}: nobody is left without {some_names(list(chosen))}")
    who = some_names([f"{name} ({why})" if why else name for name, why in chosen.items()], 20)
    counts = {
        question: int(np.isin(annotations.annotator, codes).sum())
        for question, annotations in corpus.questions.items()
        if annotations.annotator is not None
    }
    left_out = [LeftOut(question, f"answers of {who}", n) for question, n in counts.items() if n]
    fewer = corpus.without(annotators=list(chosen))
    notes, left = (*fewer.notes, f"annotators left out: {who}"), (*fewer.left_out, *left_out)
    return replace(fewer, notes=notes, left_out=left)


def marks_by_question(corpus: Corpus, questions: Sequence[str] | None = None) -> dict[str, Marks]:
    """The marked annotators of each question that has any."""
    names = list(corpus.questions if questions is None else questions)
    marks = {name: marked(corpus[name]) for name in names}
    return {name: who for name, who in marks.items() if who}


def usual_aggregators(corpus: Corpus, questions: Iterable[str]) -> dict[str, tuple[str, Marks]]:
    """The aggregator of each question if none is named, and the marked annotators it must weigh."""
    from dissensus.aggregation import usual_method  # describe needs no aggregator

    marks = {name: marked(corpus[name]) for name in questions}
    return {name: (usual_method(corpus, name, bool(who)), who) for name, who in marks.items()}


def aggregate(
    corpus: Corpus,
    method: str | None = None,
    questions: Sequence[str] | None = None,
    use_gold: bool = False,
    skills: Mapping[str, float] | None = None,
) -> dict[str, Aggregator]:
    """A distribution and a consensus for each item: one fitted aggregator per question.

    Args:
        method: a name of `aggregation.AGGREGATORS`. If left out, the mean of ratings, the median of
            levels, and otherwise the majority; where annotators are marked as at chance, contrary,
            constant or copying, gaussian (ratings) or dawid-skene, which weigh annotators.
        questions: which ones; all if left out.
        use_gold: whether gold labels teach how each annotator answers (models and weighted-vote).
        skills: the weight of each annotator's votes, by name (weighted-vote).

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> corpus = Corpus.build("mine", ["t1"], {"rude": Annotations.from_rows(rows)})
        >>> aggregate(corpus)["rude"].consensus_.answers()
        ['yes']
    """
    from dissensus import aggregation

    names = list(corpus.questions if questions is None else questions)
    corpus.check_questions(names)
    usual = usual_aggregators(corpus, names) if method is None else {}
    fitted: dict[str, Aggregator] = {}
    for name in names:
        of = method or usual[name][0]
        fitted |= aggregation.aggregate(corpus, of, [name], use_gold, skills)
    return fitted
