"""The scores of the attention of annotators on a corpus, for each question and role."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.agreement import common_items, correlation_matrix, kappa_matrix
from dissensus.agreement.estimates import or_none
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.evaluation.significance.paired_tests import over_items
from dissensus.metrics import (
    annotator_similarity,
    attention_auroc,
    attention_by_part,
    chance_f1,
    heaviest,
    map_blocks,
    map_similarity,
    overlap_f1,
    pair_marks,
    paired_similarity,
    part_hits,
    similarity_alignment,
)
from dissensus.prediction import Attention, Prediction, Predictions
from dissensus.scales import Interval, MultiLabel
from dissensus.simulate import truth

FEWEST_ITEMS = 10  # common items of two annotators whose similarity counts
MOST_ANNOTATORS = 200  # that are compared with one another: those with most predictions
FREQUENT = 40  # answers of an annotator who is also scored apart
PERMUTATIONS = 999
RESAMPLES = 2000
NAN = float("nan")


@dataclass(frozen=True)
class AttentionScore:
    """A score of the attention in one role, and what it is to be compared with."""

    question: str
    role: str
    score: str  # its name
    value: float
    baseline: float  # nan without one
    against: str  # what the baseline is
    n: int  # compared
    unit: str  # what is counted: pairs, or annotators
    p: float = NAN  # of the difference: over items, or by permutation of annotators (one-sided)


@dataclass(frozen=True)
class AttentionEvaluation:
    """The scores of the attention of predictions on a corpus."""

    corpus: str
    method: str
    scores: tuple[AttentionScore, ...]

    def value(self, score: str, role: str | None = None, question: str | None = None) -> float:
        """The value of a score; of the first question and role if they are left out."""
        for one in self.scores:
            if one.score == score and role in (None, one.role) and question in (None, one.question):
                return one.value
        raise DataError(f"no score {score!r}; choose from {listed([s.score for s in self.scores])}")

    def to_table(self) -> Any:
        """An Arrow table with a row for each score; undefined is null."""
        rows = [or_none(score) for score in self.scores]
        texts = [(name, pa.string()) for name in ("question", "role", "score")]
        numbers = [("value", pa.float64()), ("baseline", pa.float64()), ("against", pa.string())]
        rest = [("n", pa.int64()), ("unit", pa.string()), ("p", pa.float64())]
        return pa.Table.from_pylist(rows, pa.schema([*texts, *numbers, *rest]))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON; undefined is null."""
        scores = [or_none(score) for score in self.scores]
        return {"corpus": self.corpus, "method": self.method, "scores": scores}


def evaluate_attention(
    predictions: Predictions,
    corpus: Corpus,
    *,
    others: Iterable[Predictions] = (),
    questions: Sequence[str] | None = None,
    seed: int = 0,
) -> AttentionEvaluation:
    """Score the attention of annotators on the items of a corpus.

    What is computed depends on what is known. On a simulated corpus: whether the part with most
    attention is the one that the annotator most probably looks at. If annotators marked spans:
    whether marked positions have more attention. If annotators are known: whether those with
    similar attention give similar answers. `docs/metrics.md` explains the scores.

    Args:
        predictions: made with `predict(..., attention=True)`.
        others: the same of other fits, with other seeds, for stability.
        questions: all with attention if left out.
    """
    with_maps = [q for q in questions or predictions if predictions[q].attention]
    if not with_maps:
        raise DataError(
            f"{predictions.method}: there is no attention of annotators to score; predict with "
            "attention=True (--attention) and a method that has it"
        )
    scores: list[AttentionScore] = []
    for question in with_maps:
        corpus.check_questions([question])
        prediction = predictions[question]
        inside = corpus.select(items=corpus.items.codes(prediction.items, "item"))
        for attention in prediction.attention:
            role = _Role(question, attention, prediction, inside, corpus)
            scores += role.parts()
            scores += role.rationales(seed)
            scores += role.alignment(seed)
            scores += role.stability(list(others), seed)
    return AttentionEvaluation(corpus.name, predictions.method, tuple(scores))


@dataclass(frozen=True)
class _Role:
    """The attention in one role, for one question."""

    question: str
    attention: Attention
    prediction: Prediction
    corpus: Corpus  # of the predicted items, in the same order
    whole: Corpus

    @property
    def item(self) -> np.ndarray:
        assert self.prediction.by_annotator is not None
        return self.prediction.by_annotator.item

    @property
    def annotator(self) -> np.ndarray:
        """Codes of the corpus; -1 for annotators that it does not have."""
        pairs = self.prediction.by_annotator
        assert pairs is not None
        return self.corpus.annotators.find(pairs.annotators)[pairs.annotator]

    def score(
        self,
        name: str,
        value: float | np.ndarray,
        baseline: float | np.ndarray = NAN,
        against: str = "",
        n: int | None = None,
        unit: str = "pairs",
        p: float = NAN,
    ) -> AttentionScore:
        n = int(np.isfinite(value).sum()) if n is None else n
        return AttentionScore(
            self.question, self.role, name, _mean(value), _mean(baseline), against, n, unit, p
        )

    def paired(
        self,
        name: str,
        value: np.ndarray,
        baseline: np.ndarray,
        against: str,
        pairs: np.ndarray | None = None,
    ) -> AttentionScore:
        """A score of each pair against a baseline of the same pair, tested over items.

        Args:
            pairs: which they are; all if left out.
        """
        both = np.isfinite(value) & np.isfinite(baseline)
        item = self.item if pairs is None else self.item[pairs]
        value, baseline, units = value[both], baseline[both], self.corpus.units()[item[both]]
        p = NAN
        if len(np.unique(units)) > 1:
            p = over_items(value, baseline, groups=units, resamples=RESAMPLES).p
        return self.score(name, value, baseline, against, p=p)

    @property
    def role(self) -> str:
        return self.attention.role

    # ---- parts of simulated items ----

    def parts(self) -> list[AttentionScore]:
        """Against where simulated annotators look; empty if that is not known."""
        try:
            known = truth(self.corpus, self.question)
        except DataError:
            return []
        annotator = self.annotator
        if (annotator < 0).any() or len(self.corpus.contents) > 1:
            return []
        item = self.item
        focus = known.focus(item, annotator)
        by_part = attention_by_part(self.attention, item, known.start, known.stop)
        hits = part_hits(by_part, focus)
        scored = ~np.isnan(hits.hit)
        blind = part_hits(
            np.where(known.parts.there, known.blind_focus(), np.nan)[item][scored], focus[scored]
        )
        own = np.where(np.isnan(by_part), -1, focus).argmax(axis=1)[:, None]
        even = replace(self.attention, weight=np.ones_like(self.attention.weight))
        evenly = attention_by_part(even, item, known.start, known.stop)
        on_own = np.take_along_axis(by_part, own, axis=1)[:, 0]
        on_own_evenly = np.take_along_axis(evenly, own, axis=1)[:, 0]
        name = "own part has most attention"
        return [
            self.paired(name, hits.hit, hits.chance, "a part at random"),
            self.score(
                "the same, annotator unknown", blind.hit, hits.chance[scored], "a part at random"
            ),
            self.paired("attention on own part", on_own, on_own_evenly, "even attention"),
        ]

    # ---- spans that annotators marked ----

    def rationales(self, seed: int) -> list[AttentionScore]:
        """Against the spans that each annotator marked; empty if there are none."""
        spans, annotator = self.corpus.rationales, self.annotator
        if spans is None:
            return []
        known = np.array([q == self.question for q in spans.question.to_pylist()], dtype=bool)
        marks = pair_marks(spans.take(known), self.attention, self.item, annotator)
        if not len(marks.pairs):
            return []
        other = _another(self.item, annotator, seed)
        auroc, f1, chance = self._against(marks.pairs, marks.marked, None)
        of_other, _, _ = self._against(marks.pairs, marks.marked, other)
        name, at_random = "AUROC of marked positions", "chance"
        another = "the map of another annotator of the item"
        scores = [
            self.paired(name, auroc, np.full(len(auroc), 0.5), at_random, marks.pairs),
            self.paired(f"{name}, items with several", auroc, of_other, another, marks.pairs),
            self.paired(
                "F1 of the heaviest positions", f1, chance, "as many at random", marks.pairs
            ),
        ]
        frequent = self.whole[self.question].per_annotator()[annotator[marks.pairs]] >= FREQUENT
        if frequent.any() and not frequent.all():
            often = f"{name}, annotators with {FREQUENT} answers"
            scores.append(self.score(often, auroc[frequent], 0.5, at_random))
        return scores

    def _against(
        self, pairs: np.ndarray, marked: np.ndarray, shown: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """AUROC, F1 and its chance of marked pairs; `shown`: the pair whose map is used, or -1."""
        auroc, f1, chance = np.full((3, len(pairs)), np.nan)
        used = pairs if shown is None else shown[pairs]
        rows = np.flatnonzero(used >= 0)
        done = 0
        for block, weight in map_blocks(self.attention, self.item, used[rows]):
            here = rows[done : done + len(block)]
            done += len(block)
            at = self.attention.offsets[pairs[here]][:, None] + np.arange(weight.shape[1])
            there = ~np.isnan(weight)
            own = there & marked.take(at, mode="clip")
            n_marked = own.sum(axis=1)
            defined = there.any(axis=1) & (n_marked > 0)
            auroc[here] = np.where(defined, attention_auroc(weight, own), np.nan)
            overlap = overlap_f1(heaviest(weight, n_marked), own)
            f1[here] = np.where(defined, overlap, np.nan)
            expected = chance_f1(n_marked, n_marked, there.sum(axis=1))
            chance[here] = np.where(defined, expected, np.nan)
        return auroc, f1, chance

    # ---- annotators ----

    def alignment(self, seed: int) -> list[AttentionScore]:
        """Are annotators with similar attention also similar in their answers?"""
        answers, annotator = self.whole[self.question], self.annotator
        if answers.annotator is None or isinstance(answers.scale, MultiLabel):
            return []
        n_pairs = np.bincount(annotator[annotator >= 0], minlength=self.corpus.n_annotators)
        kept = np.argsort(-n_pairs, kind="stable")[:MOST_ANNOTATORS]
        kept = np.sort(kept[n_pairs[kept] >= FEWEST_ITEMS])
        code = np.full(self.corpus.n_annotators + 1, -1)  # the last for annotators unknown here
        code[kept] = np.arange(len(kept))
        used = np.flatnonzero(code[annotator] >= 0)
        if len(kept) < 4:
            return []
        chosen = _of_pairs(self.attention, used)
        alike = annotator_similarity(chosen, self.item[used], code[annotator[used]], len(kept))
        rows = answers.select_annotators(kept, self.corpus.annotators.take(kept))
        matrix = correlation_matrix if isinstance(answers.scale, Interval) else kappa_matrix
        enough = (common_items(rows) >= FEWEST_ITEMS) & (alike.n_items >= FEWEST_ITEMS)
        labels = np.where(enough, matrix(rows), np.nan)
        alignment = similarity_alignment(alike.cosine, labels, PERMUTATIONS, seed)
        kind = "correlation" if isinstance(answers.scale, Interval) else "kappa"
        name = f"attention and {kind} of labels"
        unrelated: dict[str, Any] = {"against": "unrelated annotators", "unit": "annotators"}
        unrelated["n"] = alignment.annotators
        correlation, disparity = alignment.correlation, alignment.disparity
        return [
            self.score(
                f"{name}, correlation", correlation, 0.0, p=alignment.correlation_p, **unrelated
            ),
            self.score(f"{name}, disparity", disparity, 1.0, p=alignment.disparity_p, **unrelated),
        ]

    # ---- seeds ----

    def stability(self, others: list[Predictions], seed: int) -> list[AttentionScore]:
        """How alike the maps of the same pair are in fits with other seeds."""
        cosines, correlations = [], []
        for other in others:
            of_other = other[self.question]
            maps = [a for a in of_other.attention if a.role == self.role]
            if not maps or of_other.by_annotator is None:
                continue
            alike = map_similarity(self.prediction, of_other, self.role)
            cosines.append(alike.cosine)
            correlations.append(alike.correlation)
        if not cosines:
            return []
        own, item, partner = self.attention, self.item, _another(self.item, self.annotator, seed)
        pairs = np.flatnonzero(partner >= 0)
        another = paired_similarity(own, item, pairs, own, item, partner[pairs])
        against = "another annotator of the item, same fit"
        cosine, correlation = np.concatenate(cosines), np.concatenate(correlations)
        return [
            self.score("stability over seeds, cosine", cosine, another[0], against),
            self.score("stability over seeds, correlation", correlation, another[1], against),
        ]


def _another(item: np.ndarray, annotator: np.ndarray, seed: int) -> np.ndarray:
    """For each pair, a pair of the same item with another annotator, at random; -1 without one."""
    generator = np.random.default_rng(seed)
    order = np.lexsort((generator.random(len(item)), item))
    first = np.searchsorted(item[order], item[order], side="left")
    last = np.searchsorted(item[order], item[order], side="right")
    following = np.where(np.arange(len(order)) + 1 < last, np.arange(len(order)) + 1, first)
    other = np.full(len(item), -1)
    other[order] = order[following]
    return np.where(annotator[other] != annotator, other, -1)


def _of_pairs(attention: Attention, pairs: np.ndarray) -> Attention:
    """The attention of some of the pairs."""
    if len(pairs) == attention.n_pairs:
        return attention
    lengths = np.diff(attention.offsets)[pairs]
    offsets = np.append(0, lengths.cumsum())
    at = np.repeat(attention.offsets[pairs] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return replace(attention, weight=attention.weight[at], offsets=offsets)


def _mean(values: float | np.ndarray) -> float:
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    return float(numbers.mean()) if numbers.size else NAN
