"""Describe a corpus: counts, agreement, disputed items, suspicious annotators."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from dissensus import agreement
from dissensus.agreement.estimates import or_none
from dissensus.agreement.per_part import answers_per_value
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description.answer_times import LATER
from dissensus.description.copied_answers import Duplicated, named_annotator
from dissensus.description.marks import leave_out, marks_of, marks_text, without_marked
from dissensus.description.suspicious_annotators import (
    AnnotatorDescription,
    Constant,
    Fast,
    compare_annotators,
)
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Scale, answer_text, scale_text
from dissensus.tables import MOST_ROWS, html_table, to_frame

if TYPE_CHECKING:
    from dissensus.agreement import GroupComparison

MOST_TEXT = 100  # characters of an item's text
QUANTILES = {"lowest": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "highest": 1.0}
MOST_GROUPED = 300_000  # answers of which groups are compared
MEASURES = {"entropy": agreement.item_entropy, "variance": agreement.item_variance}


@dataclass(frozen=True)
class QuestionDescription:
    """The description of the answers to one question."""

    name: str
    scale: str
    loaded: int  # answers
    left_out: dict[str, int]  # reason -> answers
    items: int  # with answers
    items_without_answers: int
    annotators: int | None  # with answers; None: unknown
    per_item: dict[str, float]  # answers per item with answers: min, mean, max
    per_annotator: dict[str, float] | None  # answers per annotator with answers: min, median, max
    shares: dict[str, float] | None  # of each value among the answers
    ratings: dict[str, float] | None  # mean, sd and quantiles of ratings
    agreement: dict[str, float]
    disputed_by: str  # what `dispute` is: entropy or variance
    disputed: list[Disputed]
    undecided: int = 0  # items on which no value has more than half; without marked annotators
    alone: int = 0  # items with the answer of one annotator
    # annotators, the suspicious first; empty if they are unknown or not compared
    by_annotator: list[AnnotatorDescription] = field(default_factory=list)
    checked: int = 0  # annotators with enough answers to be suspicious
    constant: list[Constant] = field(default_factory=list)
    fast: list[Fast] = field(default_factory=list)
    duplicated: list[Duplicated] = field(default_factory=list)
    comparable: bool = False  # whether anybody can be judged by comparison with the rest
    crowd: list[str] = field(default_factory=list)  # sentences about all annotators together
    gold: int = 0  # items with a gold label
    repeated: int = 0  # answers of annotators to items that they had answered already
    with_oneself: float = math.nan  # share of such pairs that are equal; of ratings, how far apart
    marked: dict[str, str] = field(default_factory=dict)  # annotator -> why (`marks`)
    # without the answers of marked annotators; empty if nobody is marked
    agreement_without: dict[str, float] = field(default_factory=dict)
    disputed_without: list[Disputed] = field(default_factory=list)
    # of annotators, by each attribute that divides them; without marked annotators
    groups: list[GroupComparison] = field(default_factory=list)

    @property
    def suspicious(self) -> list[AnnotatorDescription]:
        """The annotators who are suspicious; each has the kinds and the evidence."""
        return [row for row in self.by_annotator if row.suspicious]

    @property
    def suspicions(self) -> list[str]:
        """A line of evidence for each suspicious annotator and kind; one for two who copied."""
        lines = [
            f"{kind}: {named_annotator(row.annotator)}: {evidence}"
            for row in self.suspicious
            for kind, evidence in zip(row.suspicious, row.evidence, strict=True)
            if kind != "duplicated"
        ]
        return lines + [f"duplicated: {pair.text}" for pair in self.duplicated]

    @property
    def tendencies(self) -> list[AnnotatorDescription]:
        """The annotators with a tendency, such as higher ratings than the rest."""
        return [row for row in self.by_annotator if row.tendencies]

    @property
    def tired(self) -> dict[str, str]:
        """Who agrees less as time goes on, and how much, apart from marked annotators."""
        rows = [row for row in self.by_annotator if row.annotator not in self.marked]
        return {row.annotator: text for row in rows for text in row.tendencies if LATER in text}

    @property
    def both_figures(self) -> str:
        """The last measure of agreement, with and without marked annotators."""
        if not self.marked:
            return ""
        name = list(self.agreement)[-1]
        value, other = self.agreement[name], self.agreement_without[name]
        return f"{name} {value:.2f}; {other:.2f} without {marks_text(self.marked)}"

    @property
    def nobody_named(self) -> str:
        """What can be said if nobody is suspicious."""
        checks = "suspicious" if self.comparable else "constant, fast or duplicated"
        return f"no {checks} annotators"


@dataclass(frozen=True)
class Description:
    """The description of a corpus; `print` shows it in short, `to_dict` returns it as JSON.

    Example:
        >>> from dissensus import Annotations, Corpus, describe
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> rows += [("t2", "bob", "yes")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"rude": Annotations.from_rows(rows)})
        >>> print(describe(corpus))
        mine: 2 items, 2 annotators
        rude (nominal: no, yes): 4 answers; percent 0.50, krippendorff-alpha 0.00
          most disputed: t1
          no suspicious annotators (0 checked)
    """

    name: str
    items: int
    annotators: int
    contents: dict[str, dict[str, Any]] = field(default_factory=dict)  # role -> kind, number
    item_attributes: list[str] = field(default_factory=list)
    annotator_attributes: list[str] = field(default_factory=list)
    splits: dict[str, dict[str, int]] = field(default_factory=dict)  # scheme -> part -> items
    # of questions that are not in the corpus: question, reason, answers
    left_out: list[dict[str, Any]] = field(default_factory=list)
    questions: list[QuestionDescription] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.items:,} items, {self.annotators:,} annotators"]
        for question in self.questions:
            numbers = ", ".join(f"{name} {value:.2f}" for name, value in question.agreement.items())
            lines.append(
                f"{question.name} ({question.scale}): {question.loaded:,} answers; {numbers}"
            )
            if question.disputed:
                names = ", ".join(item.item for item in question.disputed)
                lines.append(f"  most disputed: {names}")
            if question.marked:
                names = ", ".join(item.item for item in question.disputed_without) or "none"
                lines.append(f"  {question.both_figures}; most disputed then: {names}")
            lines += [f"  {line}" for line in question.suspicions]
            lines += [f"  {sentence}" for sentence in question.crowd]
            if question.by_annotator and not question.suspicious:
                lines.append(f"  {question.nobody_named} ({question.checked:,} checked)")
            lines += [f"  by {group.attribute}: {group.conclusion}" for group in question.groups]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The description as JSON; undefined numbers are null."""
        return dict(or_none(self))

    def to_pandas(self) -> Any:
        """All annotators as a pandas DataFrame, with the rows and columns of `annotator_table`."""
        return to_frame(self.annotator_table())

    def _repr_html_(self) -> str:
        """Counts and agreement, annotators and disputed items of each question, for notebooks."""
        return "".join(part for question in self.questions for part in self._tables(question))

    def _tables(self, question: QuestionDescription) -> Iterator[str]:
        facts: list[tuple[str, Any]] = [("answers", question.loaded), ("items", question.items)]
        facts += [("annotators", question.annotators or "unknown"), ("scale", question.scale)]
        facts += list((question.shares or question.ratings or {}).items())
        facts += list(question.agreement.items())
        yield html_table(["", question.name], facts, f"{self.name}, {question.name}")
        names = ["annotator", "answers", "agreement", "kappa", "most frequent", "suspicious"]
        rows = [
            (a.annotator, a.answers, a.agreement, a.kappa, a.most_frequent, "; ".join(a.evidence))
            for a in question.by_annotator
        ]
        if rows:
            yield html_table(
                names, rows[:MOST_ROWS], "Annotators, compared with the rest", len(rows)
            )
        disputed = [(d.item, d.dispute, d.text) for d in question.disputed]
        if disputed:
            yield html_table(
                ["item", question.disputed_by, "text"], disputed, "Most disputed items"
            )

    def annotator_table(self) -> pa.Table:
        """All annotators of all questions, a row each; kinds and evidence as texts.

        Example:
            >>> from dissensus import Annotations, Corpus, describe
            >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
            >>> corpus = Corpus.build("mine", ["t1", "t2"], {"q": Annotations.from_rows(rows)})
            >>> describe(corpus).annotator_table().select(["annotator", "answers"]).to_pylist()
            [{'annotator': 'ann', 'answers': 2}, {'annotator': 'bob', 'answers': 1}]
        """
        rows = [
            {
                "question": question.name,
                **vars(row),
                "suspicious": "; ".join(row.suspicious),
                "evidence": "; ".join(row.evidence),
                "tendencies": "; ".join(row.tendencies),
            }
            for question in self.questions
            for row in question.by_annotator
        ]
        kinds = {"str": pa.string(), "int": pa.int64(), "float": pa.float64()}
        fields = {"question": pa.string()} | {
            field.name: kinds.get(str(field.type), pa.string())
            for field in dataclasses.fields(AnnotatorDescription)
        }
        return pa.table(
            {
                name: pa.array(or_none([row[name] for row in rows]), kind)
                for name, kind in fields.items()
            }
        )


def describe(
    corpus: Corpus,
    questions: Sequence[str] | None = None,
    most: int = 5,
    without: str | Sequence[str] = (),
) -> Description:
    """Count what is in a corpus; list disputed items and suspicious annotators.

    Args:
        questions: which ones; all if left out.
        most: how many of the most disputed items to show.
        without: annotators to leave out; "suspicious" stands for those who are marked.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"rude": Annotations.from_rows(rows)})
        >>> rude = describe(corpus).questions[0]
        >>> rude.loaded, rude.per_item, [item.item for item in rude.disputed]
        (3, {'min': 1, 'mean': 1.5, 'max': 2}, ['t1'])
    """

    if without:
        corpus = leave_out(corpus, without)

    def details(question: str) -> dict[str, Any]:
        answers = corpus[question]
        facts: dict[str, Any] = {
            "ratings": ratings_of(answers),
            "agreement": agreement.at_a_glance(answers),
            "disputed": most_disputed(corpus, answers, most),
            "with_oneself": agreement.with_oneself(answers),
            "undecided": len(undecided(answers)),
        }
        if answers.annotator is None:
            return facts
        findings = compare_annotators(answers)
        marks = marks_of(findings)
        if marks:
            rest = without_marked(answers, marks)
            facts["agreement_without"] = agreement.at_a_glance(rest)
            facts["disputed_without"] = most_disputed(corpus, rest, most)
            facts["undecided"] = len(undecided(rest))
        return facts | vars(findings) | {"marked": marks}

    names = list(corpus.questions if questions is None else questions)
    corpus.check_questions(names)
    of_no_question = [left for left in corpus.left_out if left.question not in corpus.questions]
    return Description(
        name=corpus.name,
        items=corpus.n_items,
        annotators=corpus.n_annotators,
        contents={
            role: {"kind": of.kind, "number": len(of)} for role, of in corpus.contents.items()
        },
        item_attributes=list(corpus.item_attributes),
        annotator_attributes=list(corpus.annotator_attributes),
        splits={scheme: _parts(corpus, scheme) for scheme in corpus.splits},
        left_out=[left._asdict() for left in of_no_question] if questions is None else [],
        questions=_with_groups(
            corpus,
            [QuestionDescription(**_counts(corpus, name), **details(name)) for name in names],
        ),
    )


def _with_groups(corpus: Corpus, questions: list[QuestionDescription]) -> list[QuestionDescription]:
    """Each question with its groups of annotators, compared by every attribute that has some."""
    known = [question for question in questions if question.by_annotator]
    if not (known and corpus.annotator_attributes and known[0].loaded <= MOST_GROUPED):
        return questions
    fewer = corpus.without(annotators=sorted({name for one in known for name in one.marked}))
    try:
        results = agreement.compare_groups(fewer, ["all"], [question.name for question in known])
    except DataError:  # no attribute divides annotators into groups
        return questions
    return [
        dataclasses.replace(one, groups=[row for row in results if row.question == one.name])
        for one in questions
    ]


def _counts(corpus: Corpus, question: str) -> dict[str, Any]:
    """What is counted of the answers to a question."""
    answers = corpus[question]
    gold = corpus.gold.get(question)
    per_item, voters = answers.per_item(), answers.voters()
    answered = per_item[per_item > 0]
    active = None
    if answers.annotator is not None:
        active = answers.per_annotator()
        active = active[active > 0]
    left_out: dict[str, int] = {}
    for left in corpus.left_out:
        if left.question == question:
            left_out[left.reason] = left_out.get(left.reason, 0) + left.answers
    return {
        "name": question,
        "scale": scale_text(answers.scale),
        "loaded": answers.n_answers,
        "left_out": left_out,
        "items": len(answered),
        "items_without_answers": int((per_item == 0).sum()),
        "annotators": None if active is None else len(active),
        "per_item": _spread(answered, mean=True),
        "per_annotator": None if active is None else _spread(active, mean=False),
        "shares": shares_of(answers),
        "disputed_by": disputed_by(answers.scale),
        "gold": 0 if gold is None else int((gold.per_item() > 0).sum()),
        "repeated": int((per_item - voters).sum()),
        "alone": int((voters == 1).sum()),
    }


def _spread(sizes: np.ndarray, mean: bool) -> dict[str, float]:
    """Minimum, mean or median, and maximum; empty without sizes."""
    if not sizes.size:
        return {}
    middle = {"mean": float(sizes.mean())} if mean else {"median": float(np.median(sizes))}
    return {"min": int(sizes.min()), **middle, "max": int(sizes.max())}


def _parts(corpus: Corpus, scheme: str) -> dict[str, int]:
    sizes = {part: int(corpus.in_part(part, scheme).sum()) for part in corpus.parts(scheme)}
    nowhere = corpus.n_items - sum(sizes.values())
    return sizes | ({"in no part": nowhere} if nowhere else {})


# ---- disputed items ----


def one_line(text: str, most: int = MOST_TEXT) -> str:
    """The beginning of a text, in one line and without control characters; the focus is included.

    Example:
        >>> one_line("so\\n  good!"), one_line("a long and winding [[road]] to it", most=20)
        ('so good!', '...nding [[road]]...')
    """
    if len(text) > 50 * most:  # the rest cannot be shown
        focus = text.find("]]") + 2 if "[[" in text else 0
        begin = max(focus - 25 * most, 0)
        text = text[begin : begin + 50 * most]
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(text) <= most:
        return text
    stop = text.find("]]") + 2 if "[[" in text else 0
    if stop <= most - 3:
        return text[: most - 3].rstrip() + "..."
    begin = max(stop - (most - 6), 0)
    return f"...{text[begin:stop].lstrip()}..."


def ratings_of(annotations: Annotations) -> dict[str, float] | None:
    """Mean, standard deviation and quantiles of ratings; None for other or no answers."""
    if not isinstance(annotations.scale, Interval) or not annotations.n_rows:
        return None
    rating, weight = annotations.answer, annotations.weight
    mean = np.average(rating, weights=weight)
    free = weight.sum() - 1
    sd = math.sqrt(weight @ (rating - mean) ** 2 / free) if free > 0 else math.nan
    levels = list(QUANTILES.values())
    quantiles = np.quantile(rating, levels, weights=weight, method="inverted_cdf").tolist()
    return {"mean": float(mean), "sd": sd, **dict(zip(QUANTILES, quantiles, strict=True))}


def shares_of(annotations: Annotations) -> dict[str, float] | None:
    """The share of answers with each value; on a multi-label scale they may sum to more than 1."""
    scale = annotations.scale
    if isinstance(scale, Interval) or not annotations.n_rows:
        return None
    shares = answers_per_value(annotations) / annotations.n_answers
    return dict(zip(getattr(scale, "values", ()), shares.tolist(), strict=True))


@dataclass(frozen=True)
class Disputed:
    """An item about which annotators disagree."""

    item: str
    text: str  # its beginning, in one line
    dispute: float  # the entropy or variance of its answers
    answers: dict[str, float]  # the count of each value; for ratings mean, sd and number


def disputed_by(scale: Scale) -> Literal["entropy", "variance"]:
    """The measure of dispute: the variance if answers have an order, else the entropy."""
    return "entropy" if isinstance(scale, Nominal | MultiLabel) else "variance"


def differing_items(annotations: Annotations) -> np.ndarray:
    """Which items have different answers of two annotators, (n_items,) booleans."""
    order = np.lexsort((annotations.answer, annotations.item))
    item, answer = annotations.item[order], annotations.answer[order]
    differs = np.zeros(annotations.n_items, dtype=bool)
    differs[item[1:][(item[1:] == item[:-1]) & (answer[1:] != answer[:-1])]] = True
    return differs & (annotations.voters() >= 2)


def undecided(annotations: Annotations) -> np.ndarray:
    """The items of two annotators or more on which no value has more than half of the answers.

    Example:
        >>> rows = [("t1", "a", "yes"), ("t1", "b", "no"), ("t2", "a", "no"), ("t2", "b", "no")]
        >>> undecided(Annotations.from_rows(rows)).tolist()
        [0]
    """
    if isinstance(annotations.scale, Interval | MultiLabel) or not annotations.n_rows:
        return np.zeros(0, dtype=np.int64)
    voters, most = annotations.voters(), annotations.small_counts.max(axis=1)
    return np.flatnonzero((voters >= 2) & (2 * most.astype(float) <= voters))


def most_disputed(corpus: Corpus, annotations: Annotations, most: int) -> list[Disputed]:
    """The items whose answers differ most, of two annotators or more; ties: more of them first.

    Few answers say little: items are ranked as if each had one more, as disputed as items are on
    average.
    """
    measure = MEASURES[disputed_by(annotations.scale)]
    order, dispute = disputed_order(measure(annotations), annotations.voters(), most)
    return [
        Disputed(
            corpus.items[item],
            one_line(corpus.text_of(int(item))),
            float(dispute[item]),
            answers_to(annotations, int(item)),
        )
        for item in order
    ]


def disputed_order(
    dispute: np.ndarray, voters: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """The most disputed items, and how disputed each item is, 0 with fewer than two annotators.

    Args:
        dispute: the entropy or variance of each item, (n_items,).
        voters: how many annotators answered it, (n_items,).
    """
    several = voters >= 2
    dispute = np.where(several, dispute, 0.0)
    average = float(dispute[several].mean()) if several.any() else 0.0
    disputed = np.flatnonzero(dispute > 1e-9)
    n = voters[disputed]
    rank = np.round((n * dispute[disputed] + average) / (n + 1), 9)
    if 0 < most < len(disputed):
        least = np.partition(rank, len(rank) - most)[len(rank) - most]
        disputed, n, rank = (part[rank >= least] for part in (disputed, n, rank))
    return disputed[np.lexsort((-n, -rank))[:most]], dispute


def answers_to(annotations: Annotations, item: int) -> dict[str, float]:
    """The count of each value, the most frequent first; for ratings mean, sd and number."""
    rows = annotations.take(annotations.item == item)
    ratings = ratings_of(rows)
    if ratings is not None:
        return {"mean": ratings["mean"], "sd": ratings["sd"], "answers": rows.n_answers}
    answers, which = np.unique(rows.answer, return_inverse=True)
    counts = np.bincount(which.reshape(-1), rows.weight).astype(int).tolist()
    names = [answer_text(value) for value in rows.scale.decode(answers)]
    return dict(sorted(zip(names, counts, strict=True), key=lambda pair: -pair[1]))
