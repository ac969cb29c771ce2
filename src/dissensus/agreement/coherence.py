"""Which annotators go together, where many of them answer at random or contradict one another."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.rest import Vectors, mean_above_zero
from dissensus.annotations import Annotations

ENTRIES = 2_000_000  # numbers to look at: a sample of the items of larger tables
MOST_VALUES = 32  # that are told apart
MOST_STEPS = 60


def coherence(annotations: Annotations, kept: np.ndarray) -> tuple[float, np.ndarray]:
    """How much each annotator goes with those who go together most, and whether anybody does.

    The weights of annotators are the leading eigenvector of the matrix of their correlations: a
    factor that the largest group of alike annotators shares, found from the pairs who agree and not
    from the mean of all. To tell it from chance, the weights are found on one half of the items
    and tested on the other: if all annotators answer independently of one another, the weighted
    products of their answers have a mean of 0 there.

    Args:
        kept: who is looked at, (n_annotators,).

    Returns:
        The p-value of "all answer independently"; and the correlation of each annotator with the
        group, in proportion, (n_annotators,): negative for who contradicts it, nan if left out.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> answer = generator.integers(0, 2, (6, 100))
        >>> answer[3:] = answer[3]  # three annotators agree
        >>> annotator, item = np.divmod(np.arange(600), 100)
        >>> crowd = Annotations.from_arrays(item, annotator, answer.ravel())
        >>> p_value, weight = coherence(crowd, np.ones(6, dtype=bool))
        >>> p_value < 0.001, (weight > 0.5 * weight.max()).tolist()
        (True, [False, False, False, True, True, True])
    """
    crowd = _Crowd.of(annotations, kept)
    half = np.random.default_rng(0).random(annotations.n_items) < 0.5
    p_values = [crowd.of_items(one).tested(crowd.of_items(~one).leading()) for one in (half, ~half)]
    weight = crowd.loadings(crowd.leading())
    return min(1.0, 2 * min(p_values)), weight


class _Crowd:
    """Answers as vectors of each annotator, with a mean of 0 and a summed squared length of 1."""

    def __init__(self, annotator: np.ndarray, item: np.ndarray, vector: np.ndarray, n: int) -> None:
        from scipy.sparse import csr_array

        self.annotator, self.item, self.raw, self.n = annotator, item, vector, n
        size = np.maximum(np.bincount(annotator, minlength=n), 1)
        self.size = size
        columns = [
            column - (np.bincount(annotator, column, minlength=n) / size)[annotator]
            for column in vector.T
        ]
        centred = np.stack(columns, axis=1)
        length = np.sqrt(np.bincount(annotator, (centred**2).sum(axis=1), minlength=n))
        least = 1e-9 * np.sqrt(np.bincount(annotator, (vector**2).sum(axis=1), minlength=n))
        factor = np.divide(1.0, length, out=np.zeros(n), where=length > least)
        self.vector = centred * factor[annotator][:, None]
        items, place = np.unique(item, return_inverse=True)
        self.place = place.reshape(-1)
        shape = (len(items), len(item))
        self.by_item = csr_array((np.ones(len(item)), (self.place, np.arange(len(item)))), shape)

    @classmethod
    def of(cls, annotations: Annotations, kept: np.ndarray) -> _Crowd:
        annotator = annotations.annotator_codes("finding who goes together")
        vectors = Vectors.of(annotations)
        width = min(vectors.width, MOST_VALUES)
        rows = np.flatnonzero(kept[annotator])
        if len(rows) * width > ENTRIES:
            chance = np.random.default_rng(1).random(annotations.n_items)
            rows = rows[chance[annotations.item[rows]] < ENTRIES / (len(rows) * width)]
        if vectors.kind == "nominal":
            rank = np.argsort(np.argsort(-np.bincount(vectors.answer, minlength=vectors.width)))
            code = np.minimum(rank[vectors.answer[rows]], MOST_VALUES - 1)
            vector = (code[:, None] == np.arange(width)).astype(float)
        else:
            vector = vectors.at(rows[:, None], np.arange(width)[None])
        return cls(annotator[rows], annotations.item[rows], vector, annotations.n_annotators)

    def of_items(self, chosen: np.ndarray) -> _Crowd:
        rows = chosen[self.item]
        return _Crowd(self.annotator[rows], self.item[rows], self.raw[rows], self.n)

    def _with_rest(self, weight: np.ndarray) -> np.ndarray:
        """The weighted sum of correlations with all annotators, oneself included."""
        own = weight[self.annotator][:, None] * self.vector
        rest = (self.by_item @ own)[self.place]
        return np.bincount(self.annotator, (rest * self.vector).sum(axis=1), minlength=self.n)

    def leading(self) -> np.ndarray:
        """The leading eigenvector of the correlations, by power iteration; mostly positive."""
        weight = 1.0 + 0.1 * np.random.default_rng(2).random(self.n)
        for _ in range(MOST_STEPS):
            new = self._with_rest(weight)
            length = float(np.linalg.norm(new))
            if not length:
                return new
            new /= length
            done = np.abs(new - weight).max() < 1e-4
            weight = new
            if done:
                break
        positive = weight[weight > 0] @ weight[weight > 0] >= 0.5
        return weight if positive else -weight

    def tested(self, weight: np.ndarray) -> float:
        """The p-value of a mean of 0 of the weighted products, over items."""
        own = weight[self.annotator][:, None] * self.vector
        total = ((self.by_item @ own) ** 2).sum(axis=1) - self.by_item @ (own**2).sum(axis=1)
        several = self.by_item.sum(axis=1) > 1
        return mean_above_zero(total[several])

    def loadings(self, weight: np.ndarray) -> np.ndarray:
        """The mean correlation with the others, each with weight and sign."""
        one = np.where((self.vector**2).any(axis=1), 1.0, 0.0) / np.sqrt(self.size)[self.annotator]
        share = np.abs(weight)[self.annotator] * one
        others = (self.by_item @ share)[self.place] - share
        exposed = np.bincount(self.annotator, others * one, minlength=self.n)
        diagonal = np.bincount(self.annotator, (self.vector**2).sum(axis=1), minlength=self.n)
        above = self._with_rest(weight) - weight * diagonal
        return np.divide(above, exposed, out=np.full(self.n, np.nan), where=exposed > 0)
