"""Annotators who copy: the same answers as another one, also where others answer differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dissensus.annotations import Annotations

LEVEL = 0.05  # of all pairs of annotators together
EQUAL = 0.95  # share of common items with the same answer
MOST_ROWS = 400  # of an annotator, to find who may have copied from whom
MOST_PAIRS = 300_000_000  # of equal answers to look at
PRIOR = 2.0  # answers that all answers together add to those of an item


@dataclass(frozen=True)
class Duplicated:
    """Annotators who gave the same answers to the items they share."""

    annotators: list[str]
    answers: int  # the same ones, of the first two
    items: int  # that both answered
    unusual: int  # of the same answers: those that at most half of the others gave
    chance: float  # of as many or more unusual answers in common, corrected for all pairs


def duplicated(annotations: Annotations, few: int) -> tuple[list[Duplicated], np.ndarray]:
    """Groups who gave the same answers, the least likely by chance first.

    An answer that an annotator shares with few others is evidence; one that nearly everybody gave
    is none. So two annotators are named if 95 % of their answers to common items are the same, and
    if they share more unusual answers than chance explains: an unusual answer is one that at most
    half of the other annotators of the item gave. Its probability is their share; Chernoff's bound
    is corrected for the number of pairs of annotators.

    Args:
        few: the least number of common items.

    Returns:
        The groups; and a number per annotator that those of a group share, (n_annotators,).
    """
    rows = _Rows.of(annotations)
    same = np.arange(annotations.n_annotators)
    n_active = np.count_nonzero(np.bincount(rows.annotator) >= few)
    n_pairs = max(n_active * (n_active - 1) / 2, 1.0)
    candidates = rows.candidates(few, least=float(np.log(n_pairs / LEVEL)))
    pairs = [pair for pair in map(rows.compared, *candidates) if pair.fits(few)]
    groups: dict[int, list[_Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: pair.chance):
        if pair.chance * n_pairs >= LEVEL:
            break
        first, second = sorted((int(same[pair.first]), int(same[pair.second])))
        same[same == second] = first
        groups.setdefault(first, []).append(pair)
        if second != first:
            groups[first] += groups.pop(second, [])
    result = []
    for first, members in groups.items():
        best = min(members, key=lambda pair: pair.chance)
        names = [str(annotations.annotators[code]) for code in np.flatnonzero(same == first)]
        chance = min(best.chance * n_pairs, 1.0)
        result.append(Duplicated(names, best.equal, best.items, best.unusual, chance))
    return sorted(result, key=lambda group: (group.chance, -group.answers)), same


@dataclass(frozen=True)
class _Pair:
    first: int
    second: int
    items: int
    equal: int
    unusual: int
    chance: float

    def fits(self, few: int) -> bool:
        return self.items >= few and self.equal >= EQUAL * self.items


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows sorted by annotator, then by item; one for each annotator and item."""

    annotator: np.ndarray  # (n_rows,)
    item: np.ndarray
    answer: np.ndarray  # codes of the different answers
    begin: np.ndarray  # (n_annotators + 1,)
    group: np.ndarray  # (n_rows,) rows about one item with one answer
    times: np.ndarray  # (n_rows,) how often the item has this answer
    size: np.ndarray  # (n_rows,) answers of the item
    share: np.ndarray  # (n_rows,) of this answer among all answers

    @classmethod
    def of(cls, annotations: Annotations) -> _Rows:
        annotator = annotations.annotator_codes("finding copies").astype(np.int64)
        item = annotations.item.astype(np.int64)
        _, answer = np.unique(annotations.answer, return_inverse=True)
        answer = answer.reshape(-1)
        order = np.argsort(annotator * annotations.n_items + item, kind="stable")
        annotator, item, answer = annotator[order], item[order], answer[order]
        fresh = (np.diff(annotator, prepend=-1) != 0) | (np.diff(item, prepend=-1) != 0)
        annotator, item, answer = annotator[fresh], item[fresh], answer[fresh]
        n_values = int(answer.max(initial=0)) + 1
        _, group, times = np.unique(
            item * n_values + answer, return_inverse=True, return_counts=True
        )
        share = np.bincount(answer, minlength=n_values) / max(len(answer), 1)
        begin = np.searchsorted(annotator, np.arange(annotations.n_annotators + 1))
        size = np.bincount(item, minlength=annotations.n_items)[item]
        group = group.reshape(-1)
        return cls(annotator, item, answer, begin, group, times[group], size, share[answer])

    def candidates(self, few: int, least: float) -> tuple[np.ndarray, np.ndarray]:
        """For each annotator the one who shares the most surprising answers.

        Args:
            least: the logarithm that a probability must reach, if no row is left out.
        """
        from scipy.sparse import csr_array

        probability = (self.times - 2 + PRIOR * self.share) / (self.size - 2 + PRIOR)
        many = np.diff(self.begin)[self.annotator] >= few
        kept = np.flatnonzero(many & (self.times >= 2) & (probability <= 0.5))
        if not kept.size:
            return kept, kept
        every = kept
        kept = self._sampled(every)
        least = least - 1e-9 if len(kept) == len(every) else 0.0
        groups, column = np.unique(self.group[kept], return_inverse=True)
        surprise = np.sqrt(-np.log(probability[kept]))
        shape = (len(self.begin) - 1, len(groups))
        matrix = csr_array((surprise, (self.annotator[kept], column.reshape(-1))), shape)
        other = matrix.T.tocsr()
        first, second = [], []
        active = np.unique(self.annotator[kept])
        for block in _blocks(active, shape[0]):
            product = (matrix[block] @ other).tocsr()
            for place, code in enumerate(block.tolist()):
                cells = slice(product.indptr[place], product.indptr[place + 1])
                partners, values = product.indices[cells], product.data[cells].copy()
                values[partners == code] = -1.0
                if values.size and values.max() > least:
                    first.append(code)
                    second.append(int(partners[values.argmax()]))
        pairs = np.unique(np.sort(np.array([first, second], dtype=np.int64), axis=0), axis=1)
        return pairs[0], pairs[1]

    def _sampled(self, kept: np.ndarray) -> np.ndarray:
        """At most `MOST_ROWS` of an annotator, of the same items for everybody."""
        chance = np.random.default_rng(0).permutation(int(self.item.max()) + 1)
        kept = kept[np.lexsort((chance[self.item[kept]], self.annotator[kept]))]
        sizes = np.bincount(self.annotator[kept])
        rank = np.arange(len(kept)) - (np.cumsum(sizes) - sizes)[self.annotator[kept]]
        most = MOST_ROWS
        while True:
            chosen = kept[rank < most]
            _, sizes = np.unique(self.group[chosen], return_counts=True)
            if most < 20 or (sizes.astype(float) ** 2).sum() <= MOST_PAIRS:
                return chosen
            most //= 2

    def compared(self, first: int, second: int) -> _Pair:
        """How many answers two annotators share, and how likely the unusual ones are."""
        a = np.arange(self.begin[first], self.begin[first + 1])
        last = self.begin[second + 1] - 1
        mine, others = self.item[a], self.item[self.begin[second] : last + 1]
        b = np.minimum(np.searchsorted(others, mine) + self.begin[second], last)
        common = self.item[b] == mine
        a, b = a[common], b[common]
        equal = self.answer[a] == self.answer[b]
        unusual, chance = 0, 0.0
        for rows in (a, b):
            others = self.times[rows] - 1 - equal
            probability = (others + PRIOR * self.share[rows]) / (self.size[rows] - 2 + PRIOR)
            odd = probability <= 0.5
            unusual = int((odd & equal).sum())
            chance = max(chance, _at_least(unusual, probability[odd]))
        return _Pair(first, second, len(a), int(equal.sum()), unusual, chance)


def _blocks(codes: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Blocks of annotators whose rows of a matrix with `width` columns fit into memory."""
    step = max(1, (1 << 23) // max(width, 1))
    for begin in range(0, len(codes), step):
        yield codes[begin : begin + step]


def _at_least(successes: int, probability: np.ndarray) -> float:
    """Chernoff's bound of so many successes or more in independent trials.

    Example:
        >>> _at_least(10, np.full(10, 0.5)) == 0.5**10
        True
    """
    n = len(probability)
    if not n:
        return 1.0
    expected, share = float(probability.mean()), successes / n
    if share <= expected:
        return 1.0
    exponent = share * np.log(share / expected)
    if share < 1:
        exponent += (1 - share) * np.log((1 - share) / (1 - expected))
    return float(np.exp(-n * exponent))
