"""A score and a rank for each thing that annotators compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.aggregation.bradley_terry import BradleyTerry
from dissensus.aggregation.comparisons import Comparisons, comparisons
from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean, listed

RANKERS: dict[str, type[BradleyTerry]] = {BradleyTerry.name: BradleyTerry}
LEFT_OUT = {
    "noisy-bradley-terry": "noisy-bradley-terry was left out, because comparisons hardly tell "
    "the scale of its scores from the skills of annotators; use bradley-terry"
}


def rank(
    corpus: Corpus, question: str | None = None, method: str = "bradley-terry", **settings: Any
) -> pa.Table:
    """A table with a row per thing, the most preferred first.

    Columns are the thing, its rank, its score with a 95 % interval, the number of wins (a tie is
    half a win) and of comparisons.

    Args:
        question: may be left out if there is only one.
        method: a name of `RANKERS`.
        settings: of the method, such as penalty=0.1.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("1", "ann", "left"), ("1", "bob", "right"), ("2", "ann", "right")]
        >>> corpus = Corpus.build("pets", ["1", "2"], {"nicer": Annotations.from_rows(rows)},
        ...     item_attributes={"left": ["cat", "cow"], "right": ["dog", "cat"]})
        >>> rank(corpus).select(["thing", "rank", "wins", "comparisons"]).to_pylist()[0]
        {'thing': 'cat', 'rank': 1, 'wins': 2.0, 'comparisons': 3}
    """
    if method not in RANKERS:
        unknown = (
            f"no ranker {method!r}{did_you_mean(method, RANKERS)}; there are {listed(RANKERS)}"
        )
        raise DataError(LEFT_OUT.get(method, unknown))
    if question is None:
        if len(corpus.questions) != 1:
            raise DataError(f"{corpus.name}: name one question of {listed(corpus.questions)}")
        question = next(iter(corpus.questions))
    corpus.check_questions([question])
    pairs = comparisons(corpus, question)
    return ranking_table(pairs, RANKERS[method](**settings).fit(pairs))


def ranking_table(pairs: Comparisons, fitted: BradleyTerry) -> pa.Table:
    """The things with their scores, as `rank` returns them."""
    wins, total = pairs.wins()
    order = np.argsort(-np.round(fitted.scores_, 9), kind="stable")
    score = np.round(fitted.scores_[order], 9)
    place = 1 + (score[None, :] > score[:, None]).sum(axis=1)
    return pa.table(
        {
            "thing": pairs.things.array.take(pa.array(order)),
            "rank": place,
            "score": fitted.scores_[order],
            "low": fitted.intervals_[order, 0],
            "high": fitted.intervals_[order, 1],
            "wins": wins[order],
            "comparisons": total[order].astype(np.int64),
        }
    )
