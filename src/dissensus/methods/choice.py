"""Which method fits a corpus: a rule that was found on other corpora (docs/which.md); and which
questions are learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dissensus.corpus import Corpus
from dissensus.metrics import GOLD, metric_name

MOST_QUESTIONS = 3  # that are learned together where none is named
DERIVED = 0.99  # share of gold labels that are the majority's, from which they are derived from it


class Choice(NamedTuple):
    """A method with its settings, and why."""

    method: str
    settings: tuple[str, ...]  # as typed, such as "loss=ccc"
    reason: str


def chosen_method(
    corpus: Corpus,
    questions: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    one_network: bool = False,
) -> Choice:
    """The method that is trained where none is named, by what the corpus has.

    Args:
        metric: that predictions will be scored by; without it, the truth counts where there is one.
        one_network: no ensemble, whose members all have their default settings.

    Example:
        >>> from dissensus.testing import example_corpus
        >>> chosen_method(example_corpus("nominal")).method
        'annotator-heads'
    """
    answers = {question: corpus[question] for question in questions or corpus.questions}
    kinds = {each.scale.kind for each in answers.values()}
    if any(each.annotator is None for each in answers.values()):
        return Choice("soft-label", (), "the annotators are not known")
    if kinds == {"multi-label"}:
        return Choice("annotator-logistic", (), "an answer is a set of labels")
    if metric is not None:
        metric = metric_name(metric)
        if metric.startswith("annotator CCC") and kinds <= {"ordinal", "interval"}:
            return Choice("annotator-heads", ("loss=ccc",), f"its loss is what {metric} scores")
    true = kinds <= {"nominal", "ordinal"} and all(has_truth(corpus, name) for name in answers)
    if true and (metric is None or metric.endswith(GOLD)):
        method = "geo-f" if one_network else "method-ensemble"
        return Choice(method, (), "gold labels are more than the majority")
    return Choice("annotator-heads", (), "the annotators are known")


def chosen_questions(corpus: Corpus, named: Sequence[str] = ()) -> tuple[tuple[str, ...], str]:
    """The questions to learn where many could be, and a line that says so if some are left out.

    Up to three are learned together; of more, the one with most answers, the first of several.

    Args:
        named: these are learned; "all" stands for all.

    Example:
        >>> from dissensus.testing import example_corpus
        >>> chosen_questions(example_corpus("nominal"))
        (('q',), '')
    """
    every = tuple(corpus.questions)
    if list(named) == ["all"] and "all" not in every:
        return every, ""
    if named or len(every) <= MOST_QUESTIONS:
        return tuple(named) or every, ""
    main = max(every, key=lambda question: corpus[question].n_answers)
    line = f"question: {main}, the one of {len(every)} with most answers; name others with "
    return (main,), f"{line}--question, or --question all"


def has_truth(corpus: Corpus, question: str) -> bool:
    """Whether there are gold labels that are more than the majority of the answers.

    Example:
        >>> from dissensus.testing import example_corpus
        >>> has_truth(example_corpus("nominal"), "q")
        False
    """
    gold = corpus.gold.get(question)
    if gold is None or not gold.n_rows:
        return False
    answers = corpus[question]
    majority = answers.consensus(ties="drop")
    label = np.full(corpus.n_items, -1, dtype=float)
    label[majority.item] = majority.answer
    answered = answers.per_item()[gold.item] > 0
    decided = label[gold.item] >= 0
    if not answered.all():
        return True
    same = label[gold.item[decided]] == gold.to(answers.scale).answer[decided]
    return bool(decided.any()) and float(same.mean()) < DERIVED
