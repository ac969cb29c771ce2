"""Do groups of annotators differ? Agreement within and between them, and permutation tests."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.agreement.chance_corrected import krippendorff_alpha
from dissensus.agreement.estimates import OfSums, holm, or_none, ratio, unequal
from dissensus.agreement.intervals import NONE, interval_of, jackknife_of
from dissensus.agreement.rest import Vectors, first_answers
from dissensus.agreement.significance import GroupTests, permutation_tests
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, cut, did_you_mean, listed
from dissensus.names import string_array
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, set_sizes

MOST_NUMBERS = 5  # different numbers that are groups of their own
MOST_RANGES = 4
PER_RANGE = 5  # annotators, at least, if there are enough
MOST_GROUPS = 50
SMALL = 5  # a group with fewer annotators is called small
FEW_ITEMS, FEW_SHARE = 3, 0.05  # items that are no topic; of all items, whose gap chance may give
MOST_NAME = 40  # characters of an item's name
NO_DIFFERENCE, LEAST = "no difference is shown", "p cannot be below"
CLEAR, WIDE = 0.01, 0.4  # p, or the gap between groups on a topic, that need no "may"
MOST_TEXTS, MOST_WORDS = 5000, 5  # that are counted, and typical words
WEIGHTS = {"p_value": 0.6, "level_p": 0.2, "reliability_p": 0.2}  # of the tests, in the correction


@dataclass(frozen=True, eq=False)
class AnnotatorGroups:
    """The group of each annotator by one attribute."""

    attribute: str
    names: list[str]
    code: np.ndarray  # (n_annotators,) into names; -1: the attribute is missing
    ranges: bool  # whether numbers were cut into ranges

    def sizes(self) -> np.ndarray:
        """Annotators per group, (n_groups,)."""
        return np.bincount(self.code[self.code >= 0], minlength=len(self.names))

    def notes(self, missing: int) -> list[str]:
        """What a reader must know: ranges, so many missing attributes, small groups."""
        notes = []
        sizes = self.sizes()
        if self.ranges:
            notes.append(f"{self.attribute} is cut into ranges with about as many annotators each")
        if missing:
            verb = "has" if missing == 1 else "have"
            notes.append(
                f"{counted(missing, 'annotator')} {verb} no {self.attribute} and "
                f"{'is' if missing == 1 else 'are'} left out"
            )
        small = [
            f"{name} ({size})"
            for name, size in zip(self.names, sizes.tolist(), strict=True)
            if size < SMALL
        ]
        if small:
            notes.append(f"fewer than {SMALL} annotators, so uncertain: {', '.join(small)}")
        return notes


def group_annotators(corpus: Corpus, attribute: str) -> AnnotatorGroups:
    """Group annotators by an attribute; numbers with many values are cut into ranges.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t1", "cleo", "no")]
        >>> facts = {"gender": ["f", "m", "f"]}
        >>> corpus = Corpus.build("mine", ["t1"], {"q": Annotations.from_rows(rows)},
        ...                       annotator_attributes=facts)
        >>> groups = group_annotators(corpus, "gender")
        >>> groups.names, groups.code.tolist()
        (['f', 'm'], [0, 1, 0])
    """
    attributes = corpus.annotator_attributes
    if attribute not in attributes:
        there = (
            f"there are {listed(attributes, 20)}"
            if attributes
            else (
                "annotators have none; join a table of them (annotator_attributes=, "
                "--annotator-attributes)"
            )
        )
        guess = did_you_mean(attribute, attributes)
        raise DataError(f"{corpus.name}: no annotator attribute {attribute!r}{guess}; {there}")
    column = attributes[attribute]
    if pa.types.is_nested(column.type):
        raise DataError(
            f"{corpus.name}: {attribute!r} has lists or records, and no groups; choose an "
            "attribute with one value per annotator"
        )
    texts = [(text or "").strip() for text in string_array(column).to_pylist()]
    numbers = None if pa.types.is_boolean(column.type) else _numbers(texts)
    by_number = None if numbers is None else lambda text: (float(text), text)
    names = sorted({text for text in texts if text}, key=by_number)
    place = {name: code for code, name in enumerate(names)}
    code = np.array([place.get(text, -1) for text in texts], dtype=np.int64)
    ranges = False
    if numbers is not None and len(np.unique(numbers[~np.isnan(numbers)])) > MOST_NUMBERS:
        (names, code), ranges = _ranges(numbers), True
    n = int((code >= 0).sum())
    if len(names) < 2:
        reason = (
            f"{attribute!r} is {names[0]!r} for all {n}" if names else f"{attribute!r} is empty"
        )
        raise DataError(f"{corpus.name}: {reason} annotators; a comparison needs two groups")
    if len(names) > max(2, min(MOST_GROUPS, n // 2)):
        raise DataError(
            f"{corpus.name}: {attribute!r} has {len(names):,} different values for {n:,} "
            "annotators; groups must have several annotators each"
        )
    return AnnotatorGroups(attribute, names, code, ranges)


def chosen_attributes(corpus: Corpus, attributes: Iterable[str]) -> list[str]:
    """The attributes as named; "all" is every one that has groups.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no")]
        >>> corpus = Corpus.build("mine", ["t1"], {"q": Annotations.from_rows(rows)},
        ...                       annotator_attributes={"gender": ["f", "m"], "id": ["1", "2"]})
        >>> chosen_attributes(corpus, ["all"])
        ['gender', 'id']
    """
    names = list(dict.fromkeys(attributes))
    if names != ["all"] or "all" in corpus.annotator_attributes:
        return names
    chosen = []
    for name in corpus.annotator_attributes:
        try:
            group_annotators(corpus, name)
        except DataError:
            continue
        chosen.append(name)
    if not chosen:
        raise DataError(f"{corpus.name}: no attribute divides annotators into groups")
    return chosen


def _numbers(texts: list[str]) -> np.ndarray | None:
    """The attribute as numbers, nan where missing; None if it has other values."""
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return None


def _ranges(numbers: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Ranges with about as many annotators each, named by their lowest and highest number."""
    known = numbers[~np.isnan(numbers)]
    n_ranges = int(np.clip(len(known) // PER_RANGE, 2, MOST_RANGES))
    edges = np.unique(np.quantile(known, np.arange(1, n_ranges) / n_ranges, method="higher"))
    edges = edges[edges > known.min()]
    code = np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers, side="right"))
    names = []
    for place in range(len(edges) + 1):
        inside = numbers[code == place]
        low, high = f"{inside.min():g}", f"{inside.max():g}"
        names.append(low if low == high else f"{low} to {high}")
    return names, code


# ---- comparisons ----


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement within a group; nan where undefined."""

    group: str
    annotators: int
    answers: int
    alpha: float
    low: float
    high: float
    reliability: float  # mean correlation of an annotator with the consensus of the others
    level: dict[str, float]  # of a value or "mean": how much more than other groups, same items


@dataclass(frozen=True)
class PairOfGroups:
    """Agreement of the annotators of one group with those of another; nan where undefined."""

    first: str
    second: str
    items: int  # that both groups answered
    alpha: float
    low: float
    high: float


@dataclass(frozen=True)
class DividingItem:
    """An item about which groups differ."""

    item: str
    division: float  # mean disagreement between groups minus within them; 1 is the largest
    answers: dict[str, dict[str, float]]  # group -> value -> count; ratings: mean and number
    text: str


@dataclass(frozen=True)
class GroupComparison:
    """Agreement within and between the groups of one attribute, for one question.

    `difference` is alpha within less alpha between groups, which groups that are less careful have
    too. Three p-values say how often random groups of the same sizes differ as much: `p_value` in
    what is answered to some items, beyond level and reliability; `level_p` in how often a value is
    given, or how high ratings are, beyond reliability; `reliability_p` in how closely the consensus
    is followed.
    """

    question: str
    scale: str
    attribute: str
    groups: list[GroupAgreement]
    pairs: list[PairOfGroups]
    missing: int  # annotators without the attribute
    within: float
    within_low: float
    within_high: float
    between: float
    between_low: float
    between_high: float
    difference: float
    difference_low: float
    difference_high: float
    p_value: float
    corrected: float  # for all tests, attributes and questions (Holm)
    level_p: float
    level_corrected: float
    reliability_p: float
    reliability_corrected: float
    permutations: int
    least_p: float  # that so few annotators can reach, corrected for the other tests
    dividing: list[DividingItem]
    topic: str  # on how many items groups divide, and how
    gap: float  # of shares of a value, or mean ratings, on these items, if not few; at most 1
    notes: list[str]
    conclusion: str  # in a sentence

    @property
    def clear(self) -> bool:
        """Whether groups divide on some items: with p < 0.01, or p < 0.05 and a wide gap."""
        return self.corrected < (0.05 if self.gap >= WIDE else CLEAR)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is undefined is null."""
        return dict(or_none(self))

    def to_columns(self) -> dict[str, list[Any]]:
        """A row for each group and pair of groups, and for all, as the columns of a table."""
        rows = [{"agreement": "within", "first": row.group, **vars(row)} for row in self.groups]
        rows += [{"agreement": "between", **vars(row)} for row in self.pairs]
        for name in ("within", "between", "difference"):
            ends = {"low": getattr(self, f"{name}_low"), "high": getattr(self, f"{name}_high")}
            rows.append({"agreement": f"{name}, all groups", "alpha": getattr(self, name), **ends})
        rows[-1] |= {"p_value": self.p_value, "corrected": self.corrected}
        tests = {"level": self.level_p, "reliability": self.reliability_p}
        for name, p_value in tests.items():
            corrected = getattr(self, f"{name}_corrected")
            rows.append({"agreement": f"{name}, all groups", "p_value": p_value})
            rows[-1]["corrected"] = corrected
        names = ("agreement", "first", "second", "annotators", "answers", "items", "alpha",
                 "low", "high", "reliability", "p_value", "corrected")  # fmt: skip
        about = {"question": self.question, "attribute": self.attribute}
        repeated = {name: [value] * len(rows) for name, value in about.items()}
        return repeated | {name: or_none([row.get(name) for row in rows]) for name in names}


def compare_groups(
    corpus: Corpus,
    attributes: Sequence[str],
    questions: Sequence[str] | None = None,
    most: int = 5,
    seed: int = 0,
) -> list[GroupComparison]:
    """Compare groups of annotators, by each attribute and for each question.

    Agreement is Krippendorff's alpha; sets disagree by the number of values in which they differ.
    Between two groups, chance is a random answer of each (cross-replication reliability). In tests,
    annotators keep their answers, and exchange their groups (`permutation_tests`). p is corrected
    for all tests, attributes and questions together (Holm), with most weight for the first test.

    Args:
        attributes: names of annotator attributes, or "all".
        questions: which ones; all with known annotators if left out.
        most: how many of the items that divide groups most.

    Example:
        >>> rows = [(f"t{i}", f"{g}{k}", g if i % 2 else "same")
        ...         for i in range(6) for g in "ab" for k in range(4)]
        >>> items = [f"t{i}" for i in range(6)]
        >>> corpus = Corpus.build("mine", items, {"q": Annotations.from_rows(rows)},
        ...                       annotator_attributes={"group": ["a"] * 4 + ["b"] * 4})
        >>> result = compare_groups(corpus, ["group"])[0]
        >>> round(result.within, 3), round(result.between, 3), round(result.p_value, 3)
        (1.0, 0.217, 0.029)
        >>> result.conclusion.split(" (on")[0]
        'a and b answer some items differently (p = 0.048), most of all t1, t3, t5'
        >>> result.topic
        'on 3 of 6 items a is the answer of 100 % of a and 0 % of b'

    Reference: Wong, Paritosh and Aroyo (2021), Cross-replication reliability,
    doi:10.18653/v1/2021.acl-long.548; groups: Prabhakaran et al. (2024), GRASP,
    doi:10.18653/v1/2024.naacl-long.190.
    """
    names = chosen_attributes(corpus, attributes)
    grouped = [group_annotators(corpus, name) for name in names]
    if questions is None:
        questions = [q for q, a in corpus.questions.items() if a.annotator is not None]
        if not questions:
            raise DataError(f"{corpus.name}: annotators are anonymous and have no groups")
    corpus.check_questions(questions)
    results = [
        _compared(corpus, question, groups, most, seed, len(questions) * len(grouped))
        for question in questions
        for groups in grouped
    ]
    p_values = [getattr(result, name) for result in results for name in WEIGHTS]
    corrected = holm(p_values, list(WEIGHTS.values()) * len(results)).reshape(len(results), -1)
    results = [
        replace(result, **dict(zip(_CORRECTED, own, strict=True)))
        for result, own in zip(results, corrected.tolist(), strict=True)
    ]
    return [replace(result, conclusion=_conclusion(result)) for result in results]


_CORRECTED = ("corrected", "level_corrected", "reliability_corrected")


def _compared(
    corpus: Corpus, question: str, groups: AnnotatorGroups, most: int, seed: int, n_results: int
) -> GroupComparison:
    annotations = first_answers(corpus[question])
    annotator = annotations.annotator_codes("a comparison of groups")
    answered = annotations.per_annotator() > 0
    groups = replace(groups, code=np.where(answered, groups.code, -1))
    missing = int((answered & (groups.code < 0)).sum())
    annotations = annotations.take(groups.code[annotator] >= 0)
    table = _Table.of(annotations, groups.code, len(groups.names))
    tests = permutation_tests(annotations, groups.code, len(groups.names), seed)
    notes = groups.notes(missing)
    least = min(tests.least / WEIGHTS["p_value"], 1.0)
    if tests.least > 0.01 or least * n_results > 0.05:
        sizes = zip(groups.sizes().tolist(), groups.names, strict=True)
        few = _listed([f"{size} ({name})" for size, name in sizes if size])
        notes.insert(0, f"with {few} annotators, {LEAST} {tests.least:.2g}")
        if least > 0.05:
            notes[0] += ", so no difference can be shown; more annotators are needed"
        elif least * n_results > 0.05:
            notes[0] += (
                f", too much for {n_results} comparisons together: choose one of them beforehand "
                "(--groups, --question), or ask more annotators"
            )
    codes = range(len(groups.names))
    topic, gap = _topic(corpus, annotations, groups, table)
    return GroupComparison(
        question=question,
        scale=annotations.scale.kind,
        attribute=groups.attribute,
        groups=[_within(annotations, groups, table, tests, code) for code in codes],
        pairs=[_between(groups, table, *pair) for pair in combinations(codes, 2)],
        missing=missing,
        **_overall(table),
        p_value=tests.views,
        corrected=math.nan,
        level_p=tests.level,
        level_corrected=math.nan,
        reliability_p=tests.reliability,
        reliability_corrected=math.nan,
        permutations=tests.permutations,
        least_p=least,
        dividing=_dividing(corpus, annotations, groups, table, most),
        topic=topic,
        gap=gap,
        notes=notes,
        conclusion="",
    )


def _conclusion(result: GroupComparison) -> str:
    """In what groups differ, for the corrected p-values, or that no difference is shown.

    One comparison in twenty has p < 0.05 where nothing differs: unless p < 0.01, or the gap on
    a topic is wide, they "may" differ.
    """
    tests = (result.corrected, result.level_corrected, result.reliability_corrected)
    if all(math.isnan(p) for p in tests):
        return "not tested: no item was answered by annotators of two groups"
    views, level, reliability = (p < 0.05 for p in tests)
    sentences = []
    if views:
        names = [group.group for group in result.groups]
        who = _listed(names) if len(names) == 2 else "the groups"
        most = ", ".join(cut(item.item, MOST_NAME) for item in result.dividing[:3])
        where = f", most of all {most}" if most else ""
        where += f" ({result.topic})" if result.topic else ""
        sentences.append(
            f"{who} {'' if result.clear else 'may '}answer some items differently "
            f"(p = {p_text(tests[0])}){where}: read them before you average over groups"
        )
    if level:
        sentences.append(
            f"{_level_sentence(result)}, p = {p_text(tests[1])}): ask as many of each group "
            "about each item, or labels depend on who answered"
        )
    if reliability:
        known = [group for group in result.groups if not math.isnan(group.reliability)]
        low, high = (end(known, key=lambda group: group.reliability) for end in (min, max))
        sentences.append(
            f"{low.group} {_verb('follow', tests[2])} the consensus less closely than {high.group} "
            f"(correlation {low.reliability:.2f} against {high.reliability:.2f}, "
            f"p = {p_text(tests[2])}), "
        )
        if views or level:
            sentences[-1] += "which the difference above may explain"
        else:
            sentences[-1] += (
                "as less careful annotators do, or those with another view: look at their answers"
            )
    return "; ".join(sentences) or NO_DIFFERENCE


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(verb: str, p_value: float) -> str:
    return f"{verb}s" if p_value < CLEAR else f"may {verb}"


def _level_sentence(result: GroupComparison) -> str:
    """Which group differs most in a value or in its mean rating, and by how much."""
    groups = result.groups
    levels = [(more, value, group.group) for group in groups for value, more in group.level.items()]
    more, value, name = max(levels, key=lambda level: abs(level[0]))
    others = [group.group for group in groups if group.group != name]
    than = others[0] if len(others) == 1 else "the other groups"
    if result.scale in ("ordinal", "interval"):
        high = "higher" if more > 0 else "lower"
        verb = _verb("rate", result.level_corrected)
        return f"{name} {verb} {high} than {than} (by {abs(more):.2g} on the same items"
    often = "more" if more > 0 else "less"
    points = f"by {100 * abs(more):.0f} points on the same items"
    verb = _verb("answer", result.level_corrected)
    return f"{name} {verb} {value} {often} often than {than} ({points}"


def p_text(value: float) -> str:
    """A p-value as it is printed."""
    return "-" if value != value else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def _vectors(annotations: Annotations) -> Vectors:
    """As for a comparison with the rest; levels lie where all answers put them, as in alpha."""
    if not isinstance(annotations.scale, Ordinal):
        return Vectors.of(annotations)
    rank = _ranks(annotations)[annotations.answer]
    return Vectors("number", rank - (rank.mean() if rank.size else 0.0), 1, 1.0)


def _ranks(annotations: Annotations) -> np.ndarray:
    several = annotations.per_item()[annotations.item] >= 2
    total = np.bincount(annotations.answer[several], minlength=annotations.scale.n_columns)
    return np.asarray(np.cumsum(total) - total / 2)


@dataclass(frozen=True, eq=False)
class _Table:
    """Sums over the answers of each item and group."""

    vectors: Vectors
    group: np.ndarray  # (n_rows,)
    size: np.ndarray  # (n_items, n_groups)
    squares: np.ndarray  # (n_items, n_groups) sum of squared lengths
    total: np.ndarray  # (n_items, n_groups, width) sum of vectors

    @classmethod
    def of(cls, annotations: Annotations, code: np.ndarray, n_groups: int) -> _Table:
        vectors = _vectors(annotations)
        group = code[annotations.annotator_codes("groups")]
        key = annotations.item.astype(np.int64) * n_groups + group
        n = annotations.n_items * n_groups
        rows, dimension = vectors.entries()
        total = np.bincount(
            key[rows] * vectors.width + dimension,
            vectors.at(rows, dimension),
            minlength=n * vectors.width,
        )
        shape = (annotations.n_items, n_groups)
        return cls(
            vectors,
            group,
            np.bincount(key, minlength=n).astype(float).reshape(shape),
            np.bincount(key, vectors.squares(), minlength=n).astype(float).reshape(shape),
            total.astype(float, copy=False).reshape(*shape, vectors.width),
        )

    def disagreement(self) -> tuple[np.ndarray, ...]:
        """Of pairs within and between groups: sum and number per item, (n_items,) each."""
        n, squares, total = self.size, self.squares, self.total
        unit = self.vectors.unit
        inside = unit * (n * squares - (total**2).sum(axis=2)).sum(axis=1)
        whole = total.sum(axis=1)
        every = unit * (n.sum(axis=1) * squares.sum(axis=1) - (whole**2).sum(axis=1))
        pairs_inside = (n * (n - 1) / 2).sum(axis=1)
        size = n.sum(axis=1)
        return inside, pairs_inside, every - inside, size * (size - 1) / 2 - pairs_inside

    def weight(self) -> np.ndarray:
        """Of a pair about each item, as in Krippendorff's alpha, (n_items,)."""
        return 1.0 / np.maximum(self.size.sum(axis=1) - 1, 1.0)

    def items(self) -> np.ndarray:
        """Items with two answers or more."""
        return np.flatnonzero(self.size.sum(axis=1) >= 2)


def _within(
    annotations: Annotations, groups: AnnotatorGroups, table: _Table, tests: GroupTests, code: int
) -> GroupAgreement:
    own = annotations.take(table.group == code)
    scale = annotations.scale
    distance: Any = None
    if isinstance(scale, Nominal):
        distance = unequal(scale.n_columns)
    elif isinstance(scale, Ordinal):
        rank = _ranks(annotations)
        distance = (rank[:, None] - rank) ** 2
    elif isinstance(scale, MultiLabel):
        distance = _values_apart
    alpha = partial(krippendorff_alpha.prepare, distance=distance)
    level = zip(_value_names(annotations), tests.levels[code].tolist(), strict=False)
    return GroupAgreement(
        groups.names[code],
        int((groups.code == code).sum()),
        own.n_rows,
        alpha(own).value(),
        *interval_of(alpha, own),
        float(tests.reliabilities[code]),
        {value: more for value, more in level if not math.isnan(more)},
    )


def _value_names(annotations: Annotations) -> list[str]:
    """Of the dimensions of levels: values that occur or may occur; of ratings, their mean."""
    scale = annotations.scale
    if isinstance(scale, Nominal):
        return [str(scale.values[code]) for code in np.unique(annotations.answer)]
    return [str(value) for value in scale.values] if isinstance(scale, MultiLabel) else ["mean"]


def _values_apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return set_sizes(a ^ b).astype(float)


def _between(groups: AnnotatorGroups, table: _Table, first: int, second: int) -> PairOfGroups:
    n, m = table.size[:, first], table.size[:, second]
    both = (n > 0) & (m > 0)
    a, b = table.total[:, first], table.total[:, second]
    unit, weight = table.vectors.unit, np.where(both, table.weight(), 0.0)
    squares = table.squares[:, first], table.squares[:, second]
    apart = unit * (m * squares[0] + n * squares[1] - 2 * (a * b).sum(axis=1))
    kept = both.astype(float)

    def formula(apart, pairs, n, m, q, r, a, b):  # type: ignore[no-untyped-def]
        observed = ratio(apart, pairs)
        expected = unit * (ratio(q, n) + ratio(r, m) - 2 * ratio((a * b).sum(axis=1), n * m))
        return 1.0 - ratio(observed, np.where(expected > 1e-12 * (q + r + 1e-300), expected, 0.0))

    sums = (weight * apart, weight * n * m, kept * n, kept * m,
            kept * squares[0], kept * squares[1], kept[:, None] * a, kept[:, None] * b)  # fmt: skip
    estimate = OfSums.of(sums, formula)
    items = np.flatnonzero(both)
    ends = jackknife_of(estimate, items, (-1.0, 1.0)) if items.size > 1 else NONE
    value = estimate.value() if items.size else math.nan
    return PairOfGroups(groups.names[first], groups.names[second], len(items), value, *ends)


def _overall(table: _Table) -> dict[str, float]:
    """Alpha within groups, between groups, and their difference, each with its interval."""
    inside, pairs_inside, across, pairs_across = table.disagreement()
    weight, items, unit = table.weight(), table.items(), table.vectors.unit
    paired = (pairs_inside + pairs_across > 0).astype(float)
    size, squares = (paired * sums.sum(axis=1) for sums in (table.size, table.squares))
    chance = (size, squares, paired[:, None] * table.total.sum(axis=1))

    def expected(size: np.ndarray, squares: np.ndarray, total: np.ndarray) -> np.ndarray:
        apart = 2 * unit * (size * squares - (total**2).sum(axis=1))
        apart = np.where(apart > 1e-12 * size * squares, apart, 0.0)
        return ratio(apart, size * (size - 1))

    def alpha(apart, pairs, *chance):  # type: ignore[no-untyped-def]
        return 1.0 - ratio(ratio(apart, pairs), expected(*chance))

    def difference(inside, pairs_inside, across, pairs_across, *chance):  # type: ignore[no-untyped-def]
        more = ratio(across, pairs_across) - ratio(inside, pairs_inside)
        return ratio(more, expected(*chance))

    within, between = weight * (inside, pairs_inside), weight * (across, pairs_across)
    estimates = {
        "within": (OfSums.of((*within, *chance), alpha), (-1.0, 1.0)),
        "between": (OfSums.of((*between, *chance), alpha), (-1.0, 1.0)),
        "difference": (OfSums.of((*within, *between, *chance), difference), (-math.inf, math.inf)),
    }
    result: dict[str, float] = {}
    for name, (estimate, bounds) in estimates.items():
        low, high = jackknife_of(estimate, items, bounds)
        result |= {name: estimate.value(), f"{name}_low": low, f"{name}_high": high}
    return result


# ---- items ----


def _division(annotations: Annotations, table: _Table) -> tuple[np.ndarray, np.ndarray]:
    """Disagreement between groups less that within them, at most 1; and the rank of each item, for
    which few answers count less, (n_items,) each."""
    inside, pairs_inside, across, pairs_across = table.disagreement()
    division = ratio(across, pairs_across) - ratio(inside, pairs_inside)
    division = division / _largest_disagreement(annotations)
    rank = np.where(np.isnan(division), -np.inf, division * pairs_across / (pairs_across + 4))
    return division, rank


def _dividing(
    corpus: Corpus, annotations: Annotations, groups: AnnotatorGroups, table: _Table, most: int
) -> list[DividingItem]:
    """The items with most disagreement between and least within groups; few answers count less."""
    division, rank = _division(annotations, table)
    order = np.argsort(-np.round(rank, 9), kind="stable")[:most]
    items = []
    for item in order:
        if not rank[item] > 1e-9:
            break
        rows = annotations.item == item
        answers = {
            groups.names[code]: _answers(annotations.take(rows & (table.group == code)))
            for code in np.flatnonzero(table.size[item]).tolist()
        }
        text = corpus.text_of(int(item))
        items.append(DividingItem(str(corpus.items[item]), float(division[item]), answers, text))
    return items


def _topic(
    corpus: Corpus, annotations: Annotations, groups: AnnotatorGroups, table: _Table
) -> tuple[str, float]:
    """On how many items groups divide by a quarter or more, and how; and the gap between them."""
    chosen = _division(annotations, table)[0] >= 0.25
    n, known = int(chosen.sum()), table.size.sum(axis=1) > 0
    if n < FEW_ITEMS or n > known.sum() / 2:
        return "", 0.0
    means = table.total[chosen].sum(axis=0) / np.maximum(table.size[chosen].sum(axis=0), 1)[:, None]
    rare = table.total.sum(axis=(0, 1)) / annotations.n_rows
    value = int((np.round(np.ptp(means, axis=0), 9) - 1e-6 * rare).argmax())
    kind, of_groups = annotations.scale.kind, zip(groups.names, means[:, value], strict=True)
    text, largest = f"on {n:,} of {known.sum():,} items ", 1.0
    if kind in ("nominal", "multi-label"):
        shares = _listed([f"{100 * share:.0f} % of {name}" for name, share in of_groups])
        text += f"{_value_names(annotations)[value]} is the answer of {shares}"
    else:
        order = np.argsort(means[:, 0], kind="stable")
        largest = _largest_disagreement(annotations) ** 0.5
        text += f"{groups.names[order[-1]]} rates higher than {groups.names[order[0]]}"
    words = _typical_words(corpus, np.flatnonzero(chosen), np.flatnonzero(known & ~chosen))
    text += f"; typical words: {', '.join(words)}" if words else ""
    return text, float(np.ptp(means[:, value])) / largest * (n >= FEW_SHARE * known.sum())


def _typical_words(corpus: Corpus, items: np.ndarray, others: np.ndarray) -> list[str]:
    """Words that these items have at least three times as often as the others, and often enough
    that chance does not explain it (binomial test, corrected for all words)."""
    from scipy.special import bdtrc

    def counts(codes: np.ndarray) -> Counter[str]:
        texts = (corpus.text_of(int(code)).lower() for code in codes[:MOST_TEXTS])
        return Counter(word for text in texts for word in {*re.findall(r"[^\W\d_]{3,}", text)})

    inside, outside = counts(items), counts(others)
    n, m = min(len(items), MOST_TEXTS), min(len(others), MOST_TEXTS)
    rows = []
    for word, times in inside.items():
        share = (outside[word] + 1) / (m + 2)
        if times >= 3 * share * n:
            p_value = float(bdtrc(times - 1, n, share)) * len(inside)
            rows.append((p_value, word))
    return [word for p_value, word in sorted(rows)[:MOST_WORDS] if p_value < 0.05]


def _largest_disagreement(annotations: Annotations) -> float:
    """Of two answers: one of the lowest and one of the highest, or sets with nothing in common."""
    scale = annotations.scale
    if isinstance(scale, MultiLabel):
        return float(scale.n_columns)
    if isinstance(scale, Ordinal):
        rank = _ranks(annotations)
        return float(np.ptp(rank) ** 2) or 1.0
    if isinstance(scale, Interval):
        return float(np.ptp(annotations.answer) ** 2) or 1.0
    return 1.0


def _answers(annotations: Annotations) -> dict[str, float]:
    """The count of each value, the most frequent first; of ratings the mean and the number."""
    if isinstance(annotations.scale, Interval):
        return {"mean": float(annotations.answer.mean()), "answers": annotations.n_rows}
    texts = [
        " + ".join(value) or "(none)" if isinstance(value, tuple) else str(value)
        for value in annotations.answers()
    ]
    return dict(Counter(texts).most_common())
