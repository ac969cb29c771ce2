"""What is in a corpus: who answered what, how much they agree, what is disputed, who is odd."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus import agreement
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus, LeftOut
from dissensus.scales import Interval, MultiLabel, Nominal, Scale

MOST_TEXT = 100  # characters of an item's text
FEW = 10  # with fewer answers than this, nothing can be said against an annotator
QUANTILES = {"lowest": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "highest": 1.0}


@dataclass(frozen=True)
class Disputed:
    """An item about which people do not agree."""

    item: str
    text: str  # its beginning, in one line
    dispute: float  # the entropy or variance of its answers
    answers: dict[str, float]  # how often each value was given; for ratings what they are like


@dataclass(frozen=True)
class Constant:
    """An annotator who always gave the same answer."""

    annotator: str
    value: str
    answers: int
    chance: float  # that someone who draws from everybody's answers gives only this one


@dataclass(frozen=True)
class Fast:
    """An annotator whose median answer took less than a third of the usual time."""

    annotator: str
    answers: int
    seconds: float  # the annotator's median
    usual: float  # the median annotator's


@dataclass(frozen=True)
class Duplicated:
    """Annotators who gave exactly the same answers to exactly the same items."""

    annotators: list[str]
    answers: int


@dataclass(frozen=True)
class QuestionDescription:
    """What is known of one question's answers."""

    name: str
    scale: str
    loaded: int  # answers
    left_out: dict[str, int]  # reason -> answers
    items: int  # with answers
    items_without_answers: int
    annotators: int | None  # with answers; None: nobody knows who answered
    per_item: dict[str, float]  # answers per item with answers: min, mean, max
    per_annotator: dict[str, float] | None  # likewise: min, median, max
    shares: dict[str, float] | None  # of each value among the answers
    ratings: dict[str, float] | None  # mean, sd and quantiles of ratings
    agreement: dict[str, float]
    disputed_by: str  # what `dispute` is: entropy or variance
    disputed: list[Disputed]
    constant: list[Constant]
    fast: list[Fast]
    duplicated: list[Duplicated]
    gold: int  # items with a label from elsewhere


@dataclass(frozen=True)
class Description:
    """What is in a corpus; `to_dict` gives it as JSON."""

    name: str
    items: int
    annotators: int
    contents: dict[str, dict[str, Any]]  # role -> kind, number
    item_attributes: list[str]
    annotator_attributes: list[str]
    splits: dict[str, dict[str, int]]  # scheme -> part -> items
    left_out: list[dict[str, Any]]  # of what is no question here: question, reason, answers
    questions: list[QuestionDescription]

    def to_dict(self) -> dict[str, Any]:
        """The description as JSON; what is undefined is null."""
        return {key: _json(value) for key, value in dataclasses.asdict(self).items()}


def describe(corpus: Corpus, questions: Sequence[str] | None = None, most: int = 5) -> Description:
    """Count what is in a corpus and find what is worth a look.

    Args:
        questions: which ones; all if left out.
        most: how many of the most disputed items to show.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"rude": Annotations.from_rows(rows)})
        >>> found = describe(corpus).questions[0]
        >>> found.loaded, found.per_item, [item.item for item in found.disputed]
        (3, {'min': 1, 'mean': 1.5, 'max': 2}, ['t1'])
    """
    asked = list(corpus.questions if questions is None else questions)
    corpus.check_questions(asked)
    elsewhere = [left for left in corpus.left_out if left.question not in corpus.questions]
    return Description(
        name=corpus.name,
        items=corpus.n_items,
        annotators=corpus.n_annotators,
        contents={
            role: {"kind": held.kind, "number": len(held)} for role, held in corpus.contents.items()
        },
        item_attributes=list(corpus.item_attributes),
        annotator_attributes=list(corpus.annotator_attributes),
        splits={scheme: _parts(corpus, scheme) for scheme in corpus.splits},
        left_out=[left._asdict() for left in elsewhere] if questions is None else [],
        questions=[_describe_question(corpus, question, most) for question in asked],
    )


def _parts(corpus: Corpus, scheme: str) -> dict[str, int]:
    sizes = {part: int(corpus.in_part(part, scheme).sum()) for part in corpus.parts(scheme)}
    nowhere = corpus.n_items - sum(sizes.values())
    return sizes | ({"in no part": nowhere} if nowhere else {})


def _describe_question(corpus: Corpus, question: str, most: int) -> QuestionDescription:
    annotations = corpus[question]
    per_item = annotations.per_item()
    answered = per_item[per_item > 0]
    people = _People.of(annotations)
    gold = corpus.gold.get(question)
    return QuestionDescription(
        name=question,
        scale=scale_text(annotations.scale),
        loaded=annotations.n_answers,
        left_out=_reasons(corpus.left_out, question),
        items=len(answered),
        items_without_answers=int((per_item == 0).sum()),
        annotators=None if people is None else len(people.codes),
        per_item=_spread(answered, mean=True),
        per_annotator=None if people is None else _spread(people.sizes, mean=False),
        shares=_shares(annotations),
        ratings=_ratings(annotations),
        agreement=agreement.at_a_glance(annotations),
        disputed_by="entropy" if _by_entropy(annotations.scale) else "variance",
        disputed=_disputed(corpus, annotations, most),
        constant=[] if people is None else people.constant(),
        fast=[] if people is None else people.fast(),
        duplicated=[] if people is None else people.duplicated(),
        gold=0 if gold is None else int((gold.per_item() > 0).sum()),
    )


def scale_text(scale: Scale) -> str:
    """A scale in a few words.

    Example:
        >>> scale_text(Interval(-10, 10)), scale_text(Nominal(("no", "yes")))
        ('interval: -10..10', 'nominal: no, yes')
    """
    if isinstance(scale, Interval):
        return f"{scale.kind}: {scale.low:g}..{scale.high:g}"
    values = getattr(scale, "values", ())
    shown = ", ".join(values[:20])
    return f"{scale.kind}: {shown}" + (f", ... ({len(values)})" if len(values) > 20 else "")


def _reasons(left_out: tuple[LeftOut, ...], question: str) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for left in left_out:
        if left.question == question:
            reasons[left.reason] = reasons.get(left.reason, 0) + left.answers
    return reasons


def _spread(sizes: np.ndarray, mean: bool) -> dict[str, float]:
    """The least, the middle and the most; empty of nothing."""
    if not sizes.size:
        return {}
    middle = {"mean": float(sizes.mean())} if mean else {"median": float(np.median(sizes))}
    return {"min": int(sizes.min()), **middle, "max": int(sizes.max())}


def _shares(annotations: Annotations) -> dict[str, float] | None:
    """How much of all answers each value has; multi-label: the share of answers that hold it."""
    scale = annotations.scale
    if isinstance(scale, Interval) or not annotations.n_rows:
        return None
    several = isinstance(scale, MultiLabel)
    chosen = annotations.marginals() if several else annotations.counts()
    shares = chosen.sum(axis=0) / annotations.n_answers
    return dict(zip(getattr(scale, "values", ()), shares.tolist(), strict=True))


def _ratings(annotations: Annotations) -> dict[str, float] | None:
    if not isinstance(annotations.scale, Interval) or not annotations.n_rows:
        return None
    rating, weight = annotations.answer, annotations.weight
    mean = np.average(rating, weights=weight)
    free = weight.sum() - 1
    sd = math.sqrt(weight @ (rating - mean) ** 2 / free) if free > 0 else math.nan
    levels = list(QUANTILES.values())
    found = np.quantile(rating, levels, weights=weight, method="inverted_cdf").tolist()
    return {"mean": float(mean), "sd": sd, **dict(zip(QUANTILES, found, strict=True))}


# ---- what is disputed ----


def _by_entropy(scale: Scale) -> bool:
    return isinstance(scale, Nominal | MultiLabel)


def _disputed(corpus: Corpus, annotations: Annotations, most: int) -> list[Disputed]:
    """The items with two answers or more that differ most; of equals those with more answers."""
    per_item = annotations.per_item()
    dispute = np.where(per_item >= 2, _dispute(annotations), 0.0)
    order = np.lexsort((-per_item, -np.round(dispute, 9)))[:most]
    return [
        Disputed(
            corpus.items[item],
            one_line(corpus.text_of(int(item))),
            float(dispute[item]),
            _answers_to(annotations, int(item)),
        )
        for item in order
        if dispute[item] > 1e-9
    ]


def _dispute(annotations: Annotations) -> np.ndarray:
    """The entropy of each item's answers, or their variance where they have an order."""
    if _by_entropy(annotations.scale):
        share = annotations.distribution()
        surprise = _entropy_terms(share)
        if isinstance(annotations.scale, MultiLabel):  # of chosen or not, mean over values
            return (surprise + _entropy_terms(1 - share)).mean(axis=1)
        return surprise.sum(axis=1)
    n = np.maximum(annotations.per_item(), 1)
    item, weight, number = annotations.item, annotations.weight, annotations.answer
    mean = np.bincount(item, weight * number, minlength=len(n)) / n
    spread = np.bincount(item, weight * (number - mean[item]) ** 2, minlength=len(n))
    return spread / n  # not by n - 1, which would put items with two answers first


def _entropy_terms(share: np.ndarray) -> np.ndarray:
    """-p ln p, 0 where p is 0 or nobody answered."""
    positive = np.where(share > 0, share, 1.0)
    return -positive * np.log(positive)


def _answers_to(annotations: Annotations, item: int) -> dict[str, float]:
    """How often each value was given, the most frequent first; of ratings mean, sd and number."""
    rows = annotations.take(annotations.item == item)
    ratings = _ratings(rows)
    if ratings is not None:
        return {"mean": ratings["mean"], "sd": ratings["sd"], "answers": rows.n_answers}
    answers, which = np.unique(rows.answer, return_inverse=True)
    counts = np.bincount(which.reshape(-1), rows.weight).astype(int).tolist()
    names = [_value_text(value) for value in rows.scale.decode(answers)]
    return dict(sorted(zip(names, counts, strict=True), key=lambda pair: -pair[1]))


def one_line(text: str, most: int = MOST_TEXT) -> str:
    """The beginning of a text, in one line and without control characters; a focus is in it.

    Example:
        >>> one_line("so\\n  good!"), one_line("a long and winding [[road]] to it", most=20)
        ('so good!', '...nding [[road]]...')
    """
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(text) <= most:
        return text
    stop = text.find("]]") + 2 if "[[" in text else 0
    if stop <= most - 3:
        return text[: most - 3].rstrip() + "..."
    begin = max(stop - (most - 6), 0)
    return f"...{text[begin:stop].lstrip()}..."


def _value_text(value: Any) -> str:
    if isinstance(value, tuple):
        return " + ".join(value) if value else "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)


# ---- who is odd ----


@dataclass(frozen=True, eq=False)
class _People:
    """The rows of a question, sorted by annotator."""

    annotations: Annotations
    order: np.ndarray  # (n_rows,) rows, one annotator after another
    starts: np.ndarray  # (n_people,) where each begins in `order`
    codes: np.ndarray  # (n_people,) annotators with answers
    sizes: np.ndarray  # (n_people,) their answers

    @classmethod
    def of(cls, annotations: Annotations) -> _People | None:
        """None where nobody knows who answered."""
        if annotations.annotator is None:
            return None
        order = np.argsort(annotations.annotator, kind="stable")
        codes, starts, sizes = np.unique(
            annotations.annotator[order], return_index=True, return_counts=True
        )
        return cls(annotations, order, starts, codes, sizes)

    def name(self, person: Any) -> str:
        return str(self.annotations.annotators[self.codes[person]])

    def constant(self) -> list[Constant]:
        """Who gave one value throughout, the least likely by chance first."""
        if not len(self.codes):
            return []
        values, code = np.unique(self.annotations.answer, return_inverse=True)
        code = code.reshape(-1)
        share = np.bincount(code) / len(code)
        sorted_codes = code[self.order]
        low = np.minimum.reduceat(sorted_codes, self.starts)
        high = np.maximum.reduceat(sorted_codes, self.starts)
        chance = share[low] ** self.sizes
        odd = np.flatnonzero((low == high) & (self.sizes >= FEW))
        odd = odd[np.argsort(chance[odd], kind="stable")]
        names = self.annotations.scale.decode(values[low[odd]])
        return [
            Constant(self.name(p), _value_text(v), int(self.sizes[p]), float(chance[p]))
            for p, v in zip(odd, names, strict=True)
        ]

    def fast(self) -> list[Fast]:
        """Whose median time is below a third of the median annotator's, the fastest first."""
        seconds = self.annotations.seconds
        if seconds is None:
            return []
        timed = self.annotations.take(np.isfinite(seconds))
        who, seconds = timed.who("times"), timed.seconds
        assert seconds is not None
        seconds = seconds[np.lexsort((seconds, who))]
        size = np.bincount(who, minlength=timed.n_annotators)
        first = np.cumsum(size) - size
        enough = np.flatnonzero(size >= FEW)
        if not enough.size:
            return []
        low = seconds[first[enough] + (size[enough] - 1) // 2]
        high = seconds[first[enough] + size[enough] // 2]
        median = (low + high) / 2
        usual = float(np.median(median))
        odd = np.flatnonzero(median < usual / 3)
        return [
            Fast(timed.annotators[enough[p]], int(size[enough[p]]), float(median[p]), usual)
            for p in odd[np.argsort(median[odd], kind="stable")]
        ]

    def duplicated(self) -> list[Duplicated]:
        """Groups who gave the same answers to the same items, the largest sets first.

        People are compared by the sum of a 64-bit hash of their (item, answer) rows, so that no
        pairs of people are looked at; a mistake needs a collision of about one in 10^19.
        """
        if not len(self.codes):
            return []
        values, code = np.unique(self.annotations.answer, return_inverse=True)
        pair = self.annotations.item.astype(np.int64) * len(values) + code.reshape(-1)
        total = np.add.reduceat(_hash(pair)[self.order], self.starts)  # wraps around
        many = np.flatnonzero(self.sizes >= FEW)
        _, group = np.unique(total[many], return_inverse=True)
        members = np.bincount(group)
        shared = many[members[group] > 1]
        shared = shared[np.argsort(total[shared], kind="stable")]
        cuts = np.flatnonzero(np.diff(total[shared])) + 1
        groups = np.split(shared, cuts) if shared.size else []
        groups.sort(key=lambda people: (-int(self.sizes[people[0]]), int(people[0])))
        return [Duplicated([self.name(p) for p in g], int(self.sizes[g[0]])) for g in groups]


def _hash(numbers: np.ndarray) -> np.ndarray:
    """Numbers as 64 random bits each (splitmix64)."""
    x = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _json(value: Any) -> Any:
    """Undefined numbers as None, which JSON has."""
    if isinstance(value, dict):
        return {key: _json(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_json(held) for held in value]
    return None if isinstance(value, float) and math.isnan(value) else value
