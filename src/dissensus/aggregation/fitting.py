"""Fit an aggregator to the questions of a corpus."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.em import HiddenTruth
from dissensus.aggregation.ranking import RANKERS
from dissensus.aggregation.registry import AGGREGATORS
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed, meant


def aggregate(
    corpus: Corpus,
    method: str = "majority",
    questions: Sequence[str] | None = None,
    use_gold: bool = False,
) -> dict[str, Aggregator]:
    """A distribution and a consensus for each item: one fitted aggregator per question.

    Args:
        method: a name of `AGGREGATORS`.
        questions: which ones; all if left out.
        use_gold: whether gold labels teach how each annotator answers (models only).

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> corpus = Corpus.build("mine", ["t1"], {"rude": Annotations.from_rows(rows)})
        >>> aggregate(corpus)["rude"].consensus_.answers()
        ['yes']
    """
    check_method(method)
    if method in RANKERS:
        raise DataError(f"{method} ranks what is compared, not items: use aggregation.rank")
    questions = list(corpus.questions) if questions is None else questions
    corpus.check_questions(questions)
    return {question: _fitted(method, corpus, question, use_gold) for question in questions}


def check_method(method: str) -> None:
    """Refuse a name that is no aggregator."""
    known = [*AGGREGATORS, *RANKERS]
    if method not in known:
        raise DataError(
            f"no aggregator {method!r}{meant(method, known)}; there are {listed(known, 40)}, or "
            "'all'"
        )


def _fitted(method: str, corpus: Corpus, question: str, use_gold: bool) -> Aggregator:
    aggregator = AGGREGATORS[method]()
    if not use_gold:
        return aggregator.fit(corpus[question])
    if not isinstance(aggregator, HiddenTruth):
        raise DataError(f"{method} cannot learn from gold labels")
    if question not in corpus.gold:
        raise DataError(f"{corpus.name}: no gold label for {question!r}")
    _check_gold(corpus, question)
    return aggregator.fit(corpus[question], gold=corpus.gold[question])


def _check_gold(corpus: Corpus, question: str) -> None:
    """Refuse gold labels that are not values of the scale, because no annotator gave them."""
    scale, known = corpus[question].scale, corpus.gold[question].scale
    values = getattr(scale, "values", ())
    unknown = [value for value in getattr(known, "values", ()) if value not in values]
    if unknown:
        every = ",".join(map(str, [*values, *unknown]))
        raise DataError(
            f"{corpus.name}: nobody answered {question!r} with the gold label {listed(unknown)}; "
            f"say all values, as in --scale {scale.kind}:{every}"
        )
