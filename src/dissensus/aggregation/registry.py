"""Every aggregator by name, and fitting one to the questions of a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, cast

import numpy as np

from dissensus.aggregation.base import Aggregator
from dissensus.aggregation.bayesian_dawid_skene import BayesianDawidSkene
from dissensus.aggregation.dawid_skene import DawidSkene
from dissensus.aggregation.em import HiddenTruth
from dissensus.aggregation.gaussian import Gaussian
from dissensus.aggregation.glad import Glad
from dissensus.aggregation.kos import Kos
from dissensus.aggregation.m_msr import MatrixMeanSubsequenceReduced
from dissensus.aggregation.mace import Mace
from dissensus.aggregation.one_coin import OneCoin
from dissensus.aggregation.ranking import LEFT_OUT, RANKERS
from dissensus.aggregation.texts import TEXT_METHODS
from dissensus.aggregation.votes import (
    Majority,
    Mean,
    Median,
    SoftmaxVote,
    SoftVote,
    Wawa,
    WeightedVote,
    ZeroBasedSkill,
)
from dissensus.cluster import connect
from dissensus.corpus import Corpus, StoredCorpus
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.scales import Interval

AGGREGATORS: dict[str, type[Aggregator]] = {
    aggregator.name: aggregator
    for aggregator in (
        Majority,
        SoftVote,
        SoftmaxVote,
        WeightedVote,
        Wawa,
        ZeroBasedSkill,
        OneCoin,
        DawidSkene,
        BayesianDawidSkene,
        Mace,
        Glad,
        Kos,
        MatrixMeanSubsequenceReduced,
        Mean,
        Median,
        Gaussian,
    )
}


def aggregate(
    corpus: Corpus | StoredCorpus,
    method: str | None = None,
    questions: Sequence[str] | None = None,
    use_gold: bool = False,
    skills: Mapping[str, float] | None = None,
    start: Mapping[str, np.ndarray] | None = None,
    warm_start: HiddenTruth | None = None,
    cluster: str | None = None,
) -> dict[str, Aggregator]:
    """A distribution and a consensus for each item: one fitted aggregator per question.

    Args:
        corpus: a corpus, or one whose answers stay on disk (`open_corpus`).
        method: a name of `AGGREGATORS`; if left out, the mean of ratings on an interval scale, and
            otherwise the majority.
        questions: which ones; all if left out.
        use_gold: whether gold labels teach how each annotator answers (models and weighted-vote).
        skills: the weight of each annotator's votes, by name (weighted-vote).
        start: first confusion matrices of annotators by name (dawid-skene).
        warm_start: the same model, fitted on earlier answers; its counts are added.
        cluster: address of a Dask scheduler whose workers count a part of the items each
            (dawid-skene, one-coin and mace).

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> corpus = Corpus.build("mine", ["t1"], {"rude": Annotations.from_rows(rows)})
        >>> aggregate(corpus)["rude"].consensus_.answers()
        ['yes']
    """
    questions = list(corpus.questions) if questions is None else questions
    corpus.check_questions(questions)
    if method is None:
        return {
            question: aggregate(corpus, usual_method(corpus, question), [question], use_gold,
                                skills, start, warm_start, cluster)[question]
            for question in questions
        }  # fmt: skip
    check_method(method)
    if method in RANKERS:
        raise DataError(f"{method} ranks what is compared, not items: use aggregation.rank")
    if method in TEXT_METHODS:
        raise DataError(f"{method} writes new texts: use aggregation.aggregate_texts")
    options = {"skills": skills, "start": start, "history": warm_start}
    more: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    _check_more(method, more, use_gold)
    if cluster is None:
        return {name: _fitted(method, corpus, name, use_gold, more) for name in questions}
    if not (issubclass(AGGREGATORS[method], HiddenTruth) and AGGREGATORS[method].in_blocks):
        raise DataError(f"{method} does not run on a cluster; dawid-skene, one-coin and mace do")
    with closing(connect(cluster)) as client:
        more["cluster"] = client
        fitted = {name: _fitted(method, corpus, name, use_gold, more) for name in questions}
        for aggregator in fitted.values():
            _ = aggregator.calibrated_  # while there are workers
        return fitted


def usual_method(corpus: Corpus | StoredCorpus, question: str) -> str:
    """The aggregator of a question for which none is named."""
    return "mean" if isinstance(corpus[question].scale, Interval) else "majority"


def _check_more(method: str, more: Mapping[str, Any], use_gold: bool) -> None:
    """Refuse what a method cannot use, and a vote weighted by nothing."""
    aggregator = AGGREGATORS[method]
    able = {
        "skills": aggregator.takes_skills,
        "start": issubclass(aggregator, DawidSkene),
        "history": issubclass(aggregator, HiddenTruth),
    }
    words = {
        "skills": "skills; use weighted-vote",
        "start": "first confusion matrices; use dawid-skene",
        "history": "a warm start; use dawid-skene, one-coin or mace",
    }
    for name in more:
        if not able[name]:
            raise DataError(f"{method} does not take {words[name]}")
    if aggregator.takes_skills and not use_gold and "skills" not in more:
        raise DataError(
            f"{method} needs skills (--skills TABLE) or gold labels (--use-gold); without them use "
            "soft-vote"
        )


def check_method(method: str) -> None:
    """Refuse a name that is no aggregator."""
    known = [*AGGREGATORS, *RANKERS, *TEXT_METHODS]
    if method not in known:
        unknown = (
            f"no aggregator {method!r}{did_you_mean(method, known)}; there are "
            f"{listed(known, 40)}, or 'all'"
        )
        raise DataError(LEFT_OUT.get(method, unknown))


def _fitted(
    method: str,
    corpus: Corpus | StoredCorpus,
    question: str,
    use_gold: bool,
    more: Mapping[str, Any],
) -> Aggregator:
    aggregator: Any = AGGREGATORS[method]()
    if not use_gold:
        return cast(Aggregator, aggregator.fit(corpus[question], **more))
    if not aggregator.takes_gold:
        raise DataError(f"{method} cannot learn from gold labels")
    if question not in corpus.gold:
        raise DataError(f"{corpus.name}: no gold label for {question!r}")
    _check_gold(corpus, question)
    return cast(Aggregator, aggregator.fit(corpus[question], gold=corpus.gold[question], **more))


def _check_gold(corpus: Corpus | StoredCorpus, question: str) -> None:
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
