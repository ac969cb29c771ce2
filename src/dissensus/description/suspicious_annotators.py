"""Each annotator in a row, and who is suspicious.

At chance, contrary, constant, fast, duplicated, or different from the rest: a kind is given only if
chance does not explain it, corrected for the number of annotators (5 % false discoveries, 1 % for
duplicated).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dissensus.agreement import (
    AgainstRest,
    against_rest,
    false_discovery,
    first_answers,
    ratings_against_rest,
)
from dissensus.agreement.estimates import numbers
from dissensus.agreement.rest import (
    Relation,
    coherence,
    mean_above_zero,
    relation_to_rest,
    share_interval,
)
from dissensus.annotations import Annotations
from dissensus.annotations.annotations import BLOCK, slices
from dissensus.description.answer_times import drifts, with_seconds
from dissensus.description.copied_answers import Duplicated, duplicated
from dissensus.scales import Interval, Nominal, Ordinal, answer_text

FEW = 10  # annotators with fewer answers are not checked
LEVEL = 0.05  # of all tests of one kind together
MOST_ROUNDS = 20
MOST_COMPARED = 2_000_000  # answers by which all annotators are compared; of more, a sample
SAMPLE = 1_000_000
ENOUGH = 50  # answers of an annotator in the sample, on average
PRIOR = 1 / 3  # odds of being at chance: one annotator in four
ODDS = 19 / PRIOR  # at chance with 95 % probability
STEPS = 10
CLEARLY = 0.2  # a correlation below this is low, not only uncertain
CHANCE = (
    "Nobody agrees more than chance gives (correlation with the rest {mean:.2f}, at most "
    "{most:.2f}), so nobody can be judged by comparison with the rest. Check the task, how the "
    "columns were read (items, annotators, answers), or compare with gold labels."
)
UNKNOWN = (
    "The answers in common are too few to tell agreement from chance, so nobody can be judged by "
    "comparison with the rest. Collect more answers to the same items, or compare with gold labels."
)
SAME = "All answers are the same, so nobody can be told from the others: add other items."
TWO = (
    "There are only two annotators to compare, so it cannot be said which one is unlike others: "
    "ask a third one about some of the items."
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Annotators compared with the rest, (n_annotators,) unless said."""

    reference: np.ndarray  # who the rest are
    same: np.ndarray  # annotators with the same number are not compared
    against: AgainstRest
    contrary: np.ndarray
    at_chance: np.ndarray
    different: np.ndarray
    views: dict[int, str]  # of annotators who agree with some others, but not with the rest
    comparable: bool  # whether anybody can be judged by comparison with the rest
    sentences: list[str]  # about all annotators together


def compare_with_rest(
    annotations: Annotations, same: np.ndarray, constant: list[str]
) -> Comparison:
    """Find who goes together, name who does not go with them, and so on with who is left.

    If no two annotators agree beyond chance, nobody can be named. Contrary annotators are named
    first: where there are few annotators, they make the others look as if these were at chance.
    Those who agree with one another have a view of their own and are not named.
    """
    answers = annotations.per_annotator()
    free = answers > 0
    if constant:
        free[annotations.annotators.codes(sorted(constant))] = False
    first = np.zeros(len(free), dtype=bool)
    first[np.flatnonzero(free)[np.unique(same[free], return_index=True)[1]]] = True
    crowd = _Crowd(annotations, same, free, first)
    related = relation_to_rest(annotations, first, same)
    tested = free & (related.items >= FEW)
    doubt, core = crowd.doubt(related, tested)
    comparable = not doubt
    named, unclear = np.zeros((2, len(free)), dtype=bool)
    different, views = named.copy(), {}
    if comparable:
        named, related = crowd.named(core, related)
        different = crowd.different(related, named)
        views = crowd.views(related, named | different)
        named[list(views)] = different[list(views)] = False
        unclear = tested & ~named & ~_above_chance(related)
    against = against_rest(annotations, first & ~named, same)
    contrary = named & (against.kappa_high < 0) & (related.own < -related.usual / 4)
    at_chance = named & ~contrary & ~(against.kappa_low > 0)
    alone = free & (answers >= FEW) & (against.items < FEW)
    sentences = [doubt] if doubt else []
    sentences += _many(at_chance, unclear, tested, against.kappa[first & ~named])
    names = annotations.annotators
    if views:
        sentences.append(
            f"{some_names([str(names[code]) for code in views])} agree with one another, but not "
            "with the rest. They may hold another view, or understand the task differently: look "
            "at the items they dispute."
        )
    if contrary.any():
        sentences.append(
            "Who is contrary may have read the scale the other way round, or hold the opposite "
            "view: look at the answers."
        )
    if alone.any():
        alone_names = some_names([str(names[code]) for code in np.flatnonzero(alone)])
        sentences.append(
            f"Fewer than {FEW} items in common with the rest, so not compared with it: "
            f"{alone_names}."
        )
    return Comparison(
        first & ~named, same, against, contrary, at_chance, different, views, comparable, sentences
    )


def _many(
    at_chance: np.ndarray, unclear: np.ndarray, tested: np.ndarray, kappa: np.ndarray
) -> list[str]:
    """What to say if a third of the annotators or more are at chance, or may be."""
    n, named, doubtful = (int(np.count_nonzero(some)) for some in (tested, at_chance, unclear))
    sentences = []
    if named and 3 * named >= n:
        sentences.append(
            f"{named:,} of {n:,} annotators answer no better than chance. The rest agree with one "
            f"another (kappa {np.nanmedian(kappa):.2f} each, as a median): use their answers, or "
            "check all against gold labels."
        )
    if doubtful and 3 * doubtful >= n:
        sentences.append(
            f"For {doubtful:,} of {n:,} annotators it cannot be told whether they agree with the "
            "rest beyond chance. More answers to the same items, or gold labels, would tell."
        )
    return sentences


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Annotators to compare, (n_annotators,) each."""

    annotations: Annotations
    same: np.ndarray
    free: np.ndarray  # with answers, and not constant
    first: np.ndarray  # of these, one of each group of duplicates

    def doubt(self, related: Relation, tested: np.ndarray) -> tuple[str, np.ndarray]:
        """Why nobody can be judged by comparison ("" if one can), and who goes together.

        If all answer independently of one another, neither the mean correlation nor that of those
        who go together lies above 0, and nobody contradicts the rest: three tests, each at a third
        of the level.
        """
        products = related.by_item[np.isfinite(related.by_item)]
        if not tested.any() or not products.size:
            return "", self.first
        if np.ptp(self.annotations.answer) == 0:
            return SAME, self.first
        level = LEVEL / 3
        below = -related.own / related.own_error
        agree = mean_above_zero(products) < level
        agree |= bool(_significant(below, related.items, tested, level).any())
        unclear = tested & ~_above_chance(related)
        core = self.first
        if not agree or np.count_nonzero(unclear) > np.count_nonzero(tested) / 4:
            p_value, weight = coherence(self.annotations, self.first)
            if p_value < level:
                agree, weight = True, np.nan_to_num(weight)
                typical = (weight**2 @ np.maximum(weight, 0)) / (weight**2).sum()
                core = self.first & (weight >= typical / 2)
        if agree:
            doubt = TWO if np.count_nonzero(self.first) < 3 else ""
            return doubt, core if np.count_nonzero(core) >= 3 else self.first
        n, error = related.items.sum(), products.std() * np.sqrt(len(products))
        mean, most = products.sum() / n, (products.sum() + 2 * error) / n
        doubt = CHANCE.format(mean=mean, most=most) if most < CLEARLY else UNKNOWN
        return doubt, core

    def named(self, reference: np.ndarray, related: Relation) -> tuple[np.ndarray, Relation]:
        """Who agrees with the rest less than two thirds as much as usual, and maybe not at all."""
        named = np.zeros(len(self.free), dtype=bool)
        if (reference != self.first).any():
            related = relation_to_rest(self.annotations, reference, self.same)
        for _ in range(MOST_ROUNDS):
            if np.count_nonzero(reference) < 3:
                break
            worse = self._worse(related, reference, self.free & ~named)
            named |= worse
            if (reference == (self.first & ~named)).all():
                break
            reference = self.first & ~named
            related = relation_to_rest(self.annotations, reference, self.same)
        return named, related

    def _worse(self, related: Relation, reference: np.ndarray, tested: np.ndarray) -> np.ndarray:
        tested = tested & (related.items >= FEW)
        below = -related.own / related.own_error
        contrary = tested & _significant(below, related.items, tested, LEVEL)
        if contrary.any():
            return contrary
        spread = _Spread.of_honest(related, reference)
        below = np.where(spread.enough, related.below_most, related.below_half)
        low = tested & _significant(below, related.items, tested, LEVEL)
        low &= ~_above_chance(related)
        return np.asarray(low & ~(spread.enough & (spread.chance < ODDS)))

    def different(self, related: Relation, named: np.ndarray) -> np.ndarray:
        """Who agrees less than half as much as usual, beyond what the others differ by."""
        from scipy.special import stdtr

        different = np.zeros(len(named), dtype=bool)
        tested = self.free & ~named & (related.items >= FEW)
        low = tested & _significant(related.below_half, related.items, tested)
        for _ in range(MOST_ROUNDS):
            rest = tested & ~different
            spread = _Spread.of(related, self.first & rest)
            p_values = np.full(len(rest), np.nan)
            known = rest & spread.enough
            p_values[known] = stdtr(spread.freedom[known], spread.distance[known])
            new = rest & low & (false_discovery(p_values) < LEVEL)
            if not new.any():
                break
            different |= new
        return different

    def views(self, related: Relation, named: np.ndarray) -> dict[int, str]:
        """Named annotators who agree with one another more than with the rest.

        Where they are fewer than half as many as the rest, those who clearly contradict it remain
        named: they may have read the scale the other way round.
        """
        low = named | (self.free & (related.own < 2 / 3 * related.usual))
        if not named.any() or np.count_nonzero(self.first & low) < 2:
            return {}
        among = relation_to_rest(self.annotations, self.first & low, self.same)
        tested = low & (among.items >= FEW)
        more = (among.own - related.own) / np.hypot(among.own_error, related.own_error)
        alike = tested & _significant(more, among.items, tested)
        alike &= _significant(among.own / among.own_error, among.items, tested)
        few = np.count_nonzero(alike & self.first) < np.count_nonzero(self.first & ~named) / 2
        contrary = related.own < -related.usual / 4
        codes = np.flatnonzero(alike & ~(contrary & few))
        names = {int(code): str(self.annotations.annotators[code]) for code in codes}
        return {
            code: f"agrees with {some_names([one for one in names.values() if one != name])} "
            f"(correlation {among.own[code]:.2f}), but not with the rest ({related.own[code]:.2f})"
            for code, name in names.items()
            if named[code] and len(names) > 1
        }


def _significant(
    errors: np.ndarray, items: np.ndarray, tested: np.ndarray, corrected: float | None = None
) -> np.ndarray:
    """Whether means lie above 0 by so many standard errors.

    Args:
        corrected: a level for all who are tested together; each at 5 % if left out.
    """
    from scipy.special import stdtr

    p_values = np.full(len(errors), np.nan)
    p_values[tested] = stdtr(items[tested] - 1, -errors[tested])
    if corrected is None:
        return np.asarray(p_values < LEVEL)
    return np.asarray(false_discovery(p_values) < corrected)


def _above_chance(related: Relation) -> np.ndarray:
    """Whether the 95 % interval of the correlation with the rest lies above 0."""
    from scipy.special import stdtrit

    return np.asarray(
        related.own > stdtrit(np.maximum(related.items - 1, 1), 0.975) * related.own_error
    )


@dataclass(frozen=True, eq=False)
class _Spread:
    """How much annotators are expected to differ, from how much those of the reference do.

    The gap between what an annotator and what two others agree is compared with the mean gap of
    the others. Its variance is that of the annotator's own items plus the variance between the
    others. (n_annotators,) each.
    """

    distance: np.ndarray  # from the mean gap, in standard errors
    freedom: np.ndarray
    chance: np.ndarray  # how many times as likely by chance as for one like the others
    enough: np.ndarray  # whether there are four others

    @classmethod
    def of(cls, related: Relation, reference: np.ndarray) -> _Spread:
        known = np.isfinite(related.gap_error) & (related.items >= FEW)
        spread = cls._weighted(related, (reference & known).astype(float))
        return replace(spread, enough=known & spread.enough)

    @classmethod
    def of_honest(cls, related: Relation, reference: np.ndarray) -> _Spread:
        """Each of the reference counts as much as it is likely not to be at chance."""
        known = np.isfinite(related.gap_error) & (related.items >= FEW)
        inside = reference & known
        weight = np.where(inside & (related.own > 2 * related.own_error), 1.0, 0.0)
        for _ in range(STEPS):
            spread = cls._weighted(related, weight)
            weight = np.where(inside, 1 / (1 + PRIOR * spread.chance), 0.0)
        return replace(spread, enough=known & spread.enough)

    @classmethod
    def _weighted(cls, related: Relation, weight: np.ndarray) -> _Spread:
        gap, noise = (np.nan_to_num(one) for one in (related.gap, related.gap_error**2))
        n = weight.sum() - weight  # of the others
        mean = ((weight * gap).sum() - weight * gap) / np.maximum(n, 1)
        squares = (weight * gap**2).sum() - weight * gap**2 - n * mean**2
        squares = squares / np.maximum(n - 1, 1)
        between = squares - ((weight * noise).sum() - weight * noise) / np.maximum(n, 1)
        error = np.sqrt(noise + np.maximum(between, 0.0) + squares / np.maximum(n, 1))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            distance = (gap - mean) / error
            freedom = np.maximum(np.minimum(related.items, n) - 1, 1)
            chance = _density(related.own / related.own_error, related.items - 1)
            chance = chance / related.own_error * error / _density(distance, freedom)
        enough = n > 3.5
        return cls(distance, freedom, np.where(enough, chance, 0.0), enough)


def _density(distance: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Of Student's t."""
    from scipy.special import gammaln

    size = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - np.log(freedom * np.pi) / 2
    return np.asarray(np.exp(size - (freedom + 1) / 2 * np.log1p(distance**2 / freedom)))


def some_names(names: list[str], most: int = 3) -> str:
    """The first names, and how many more there are, two at least."""
    more = len(names) - most if len(names) > most + 1 else 0
    return ", ".join(names[: len(names) - more]) + (f" and {more} more" if more else "")


MOST_TENDENCY = 1.5  # sd of log-odds: the odds of one in six are 4.5 times the usual ones


@dataclass(frozen=True)
class Constant:
    """An annotator who always gave the same answer."""

    annotator: str
    value: str
    answers: int
    chance: float  # of giving only this value, as others answer and as much as they differ


@dataclass(frozen=True)
class Fast:
    """An annotator whose median answer took less than a third of the usual time."""

    annotator: str
    answers: int
    seconds: float  # the annotator's median
    usual: float  # the median annotator's


@dataclass(frozen=True)
class AnnotatorDescription:
    """An annotator's answers to one question, compared with the rest.

    The rest are the annotators who are not at chance, contrary or constant themselves, one of each
    group of duplicates. nan where undefined.
    """

    annotator: str
    answers: int
    items: int  # that others of the rest answered too
    agreement: float  # share of the others' answers that are equal; nan for ratings
    agreement_low: float  # 95 % interval
    agreement_high: float
    correlation: float  # with the mean of the others; nan for values without order
    correlation_low: float
    correlation_high: float
    kappa: float  # agreement with one of the others beyond chance
    kappa_low: float
    kappa_high: float
    leniency: float  # how much higher than the others; nan for values without order
    most_frequent: str  # answer
    share: float  # of the most frequent answer
    seconds: float  # median
    suspicious: tuple[str, ...]  # kinds
    evidence: tuple[str, ...]  # a line for each kind
    tendencies: tuple[str, ...]  # no reasons for suspicion, such as higher ratings than the rest


@dataclass(frozen=True, eq=False)
class AnnotatorFindings:
    """All annotators with answers, the suspicious ones first, then the least agreement."""

    by_annotator: list[AnnotatorDescription]
    checked: int  # annotators with enough answers
    constant: list[Constant]
    fast: list[Fast]
    duplicated: list[Duplicated]
    comparable: bool  # whether anybody can be judged by comparison with the rest
    crowd: list[str]  # sentences about all annotators together


def compare_annotators(annotations: Annotations) -> AnnotatorFindings:
    """Compare every annotator with the rest, and say who is suspicious; by a sample if large."""
    n = annotations.n_rows
    if n > MOST_COMPARED and annotations.n_annotators * ENOUGH < SAMPLE:
        findings = compare_annotators(_sampled(annotations))
        size = sum(row.answers for row in findings.by_annotator)
        sentence = f"annotators are compared on a random sample of {size:,} answers"
        return replace(findings, crowd=[*findings.crowd, sentence])
    annotations = first_answers(with_seconds(annotations))
    order = np.argsort(annotations.annotator_codes("a table of annotators"), kind="stable")
    annotations = annotations.take(order)  # sorted once, so that no comparison sorts again
    by_annotator = _ByAnnotator.of(annotations)
    everyone = np.arange(annotations.n_annotators)
    copies, same = duplicated(annotations, FEW) if annotations.n_rows else ([], everyone)
    constant, fast = by_annotator.constant(), by_annotator.fast()
    always = [entry.annotator for entry in constant]
    compared = compare_with_rest(annotations, same, always)
    bad = compared.contrary | compared.at_chance  # next to whom copies of others are less clear
    if bad.any():
        rest = annotations.take(~bad[annotations.annotator_codes("finding copies")])
        more, again = duplicated(rest, FEW)
        named = [pair.annotators for pair in copies]
        new = [pair for pair in more if pair.annotators not in named]
        if new:
            copies, same = [*copies, *new], np.where(same == everyone, again, same)
            compared = compare_with_rest(annotations, same, always)
    codes = by_annotator.codes
    statistics = _statistics(annotations, compared)
    tendencies = _tendencies(annotations, compared, statistics)
    kinds = _kinds(annotations, compared, constant, fast, copies)
    frequent, share = by_annotator.most_frequent()
    names = annotations.annotators.array.take(codes).to_pylist()
    described = [field.name for field in fields(AnnotatorDescription)]
    columns = {
        "annotator": names,
        "answers": by_annotator.sizes.tolist(),
        **{name: statistics[name][codes].tolist() for name in statistics if name in described},
        "most_frequent": frequent,
        "share": share.tolist(),
        "seconds": by_annotator.seconds()[0].tolist(),
        "suspicious": [tuple(kinds.get(name, ())) for name in names],
        "evidence": [()] * len(names),
        "tendencies": [tendencies.get(code, ()) for code in codes.tolist()],
    }
    rows = [*map(AnnotatorDescription, *(columns[name] for name in described))]
    rows = _with_evidence(annotations, rows, kinds)
    kappas = {row.annotator: round(row.kappa, 9) for row in rows if not math.isnan(row.kappa)}
    rows.sort(key=lambda row: (not row.suspicious, kappas.get(row.annotator, math.inf)))
    checked = int((by_annotator.sizes >= FEW).sum())
    return AnnotatorFindings(
        rows, checked, constant, fast, copies, compared.comparable, compared.sentences
    )


def _sampled(answers: Annotations) -> Annotations:
    """All answers to some random items, SAMPLE in all."""
    generator, draw = np.random.default_rng(0), np.zeros(answers.n_items, dtype=bool)
    for items in slices(answers.n_items, BLOCK):
        draw[items] = generator.random(len(draw[items])) < SAMPLE / answers.n_rows
    some = slices(answers.n_rows, BLOCK)
    rows = [rows.start + np.flatnonzero(draw[answers.item[rows]]) for rows in some]
    sample = answers.take(np.concatenate(rows))
    codes = np.flatnonzero(draw)
    item = np.searchsorted(codes, sample.item)  # without a number for each of all items
    return replace(sample, item=item, items=answers.items.take(codes))


def _statistics(annotations: Annotations, compared: Comparison) -> dict[str, np.ndarray]:
    """The columns of `AnnotatorDescription` that compare annotators with the rest."""
    against, undefined = compared.against, np.full(annotations.n_annotators, np.nan)
    items, scale = against.items, annotations.scale
    agreement = low = high = undefined
    if not isinstance(scale, Interval):
        equal = against
        if not isinstance(scale, Nominal):
            equal = against_rest(annotations, compared.reference, compared.same, equal=True)
        agreement = 1.0 - equal.observed
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = share_interval(
                agreement,
                np.nan_to_num(equal.observed_error) ** 2,
                np.maximum(items - 1, 1),
                1 / items,
                0.5,
            )
    columns = {
        "items": items.astype(int),
        "agreement": agreement,
        "agreement_low": low,
        "agreement_high": high,
        "kappa": against.kappa,
        "kappa_low": against.kappa_low,
        "kappa_high": against.kappa_high,
    }
    if isinstance(scale, Interval | Ordinal):
        return columns | vars(ratings_against_rest(annotations, compared.reference, compared.same))
    names = ("correlation", "correlation_low", "correlation_high", "leniency", "leniency_error")
    return columns | dict.fromkeys(names, undefined)


def _tendencies(
    annotations: Annotations, compared: Comparison, statistics: dict[str, np.ndarray]
) -> dict[int, tuple[str, ...]]:
    """What is typical of annotators and no reason for suspicion: higher ratings, another view."""
    from scipy.special import stdtr, stdtrit

    texts: dict[int, tuple[str, ...]] = {code: (text,) for code, text in compared.views.items()}
    for tired, text in drifts(annotations, FEW).items():
        texts[tired] = (*texts.get(tired, ()), text)
    leniency, error, items = (statistics[name] for name in ("leniency", "leniency_error", "items"))
    if np.isnan(leniency).all():
        return texts
    spread = float(numbers(annotations.scale, annotations.answer, "ratings").std())
    tested = (items >= FEW) & ~compared.contrary & ~compared.at_chance
    p_values = np.full(len(items), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values[tested] = 2 * stdtr(items[tested] - 1, -np.abs(leniency / error)[tested])
    half = stdtrit(np.maximum(items - 1, 1), 0.975) * error
    for code in np.flatnonzero(
        (false_discovery(p_values) < LEVEL) & (np.abs(leniency) >= spread / 4)
    ):
        size, side = abs(leniency[code]), "higher" if leniency[code] > 0 else "lower"
        ends = f"{size - half[code]:.2g} to {size + half[code]:.2g}"
        texts[int(code)] = (
            f"rates {size:.2g} {side} than the rest ({ends})",
            *texts.get(int(code), ()),
        )
    return texts


# ---- kinds and evidence ----


def _kinds(
    annotations: Annotations,
    compared: Comparison,
    constant: list[Constant],
    fast: list[Fast],
    copies: list[Duplicated],
) -> dict[str, dict[str, str | None]]:
    """The kinds of each suspicious annotator, with evidence; None: the comparison with the rest."""
    kinds: dict[str, dict[str, str | None]] = {}
    for kind, mask in (
        ("contrary", compared.contrary),
        ("at chance", compared.at_chance),
        ("different", compared.different),
    ):
        for code in np.flatnonzero(mask):
            kinds.setdefault(str(annotations.annotators[code]), {})[kind] = None
    for odd in constant:
        text = f"{odd.value} in all {odd.answers:,} answers (by chance {odd.chance:.1g})"
        kinds.setdefault(odd.annotator, {})["constant"] = text
    for quick in fast:
        text = f"median {quick.seconds:.3g} s, usual {quick.usual:.3g} s"
        kinds.setdefault(quick.annotator, {})["fast"] = text
    for pair in copies:
        for name, other in (pair.annotators, pair.annotators[::-1]):
            text = pair.text.partition(": ")[2].replace("answer to", f"answer as {other} to", 1)
            kinds.setdefault(name, {}).setdefault("duplicated", text)
    return kinds


def _with_evidence(
    annotations: Annotations,
    rows: list[AnnotatorDescription],
    kinds: dict[str, dict[str, str | None]],
) -> list[AnnotatorDescription]:
    ratings = isinstance(annotations.scale, Interval)
    usual = [row for row in rows if not row.suspicious and row.items >= FEW]
    others = _range([row.correlation if ratings else row.agreement for row in usual])
    biases = [abs(row.leniency) for row in usual]

    def text(row: AnnotatorDescription) -> str:
        verb, value = ("correlates", row.correlation) if ratings else ("agrees", row.agreement)
        line = f"{verb} {value:.2f} with the rest" + (f", others {others}" if others else "")
        line += f"; kappa {row.kappa:.2f} [{row.kappa_low:.2f}, {row.kappa_high:.2f}]"
        if biases and abs(row.leniency) > max(biases):
            side = "higher" if row.leniency > 0 else "lower"
            line += f"; rates {abs(row.leniency):.2g} {side} than the rest"
        return line

    return [
        replace(
            row,
            evidence=tuple(
                text(row) if line is None else line for line in kinds[row.annotator].values()
            ),
        )
        if row.suspicious
        else row
        for row in rows
    ]


def _range(values: list[float]) -> str:
    """The range of these values; of the middle 90 % if there are many."""
    known = np.array([value for value in values if not math.isnan(value)])
    if not known.size:
        return ""
    low, high = np.quantile(known, [0.05, 0.95]) if len(known) > 20 else (known.min(), known.max())
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}-{high:.2f}"


# ---- one annotator alone ----


@dataclass(frozen=True, eq=False)
class _ByAnnotator:
    """The rows of a question, which are sorted by annotator."""

    annotations: Annotations
    starts: np.ndarray  # (n_with_answers,) where the rows of each begin
    codes: np.ndarray  # (n_with_answers,) annotators with answers
    sizes: np.ndarray  # (n_with_answers,) their answers
    answer: np.ndarray  # (n_rows,) codes of `values`, in order of rows
    values: np.ndarray  # the different answers

    @classmethod
    def of(cls, annotations: Annotations) -> _ByAnnotator:
        annotator = annotations.annotator_codes("a table of annotators")
        codes, starts, sizes = np.unique(annotator, return_index=True, return_counts=True)
        values, answer = np.unique(annotations.answer, return_inverse=True)
        return cls(annotations, starts, codes, sizes, answer.reshape(-1), values)

    def name(self, place: Any) -> str:
        return str(self.annotations.annotators[self.codes[place]])

    def _value_texts(self, codes: np.ndarray) -> list[str]:
        known, codes = np.unique(codes, return_inverse=True)
        values = self.annotations.scale.decode(self.values[known])
        return [*map([answer_text(value) for value in values].__getitem__, codes.tolist())]

    def most_frequent(self) -> tuple[list[str], np.ndarray]:
        """The most frequent answer of each annotator, and its share."""
        if not len(self.codes):
            return [], np.zeros(0)
        n_values = len(self.values)
        place = np.repeat(np.arange(len(self.codes)), self.sizes)
        keys, times = np.unique(place * n_values + self.answer, return_counts=True)
        place, answer = np.divmod(keys, n_values)
        best = np.lexsort((answer, -times, place))
        best = best[np.flatnonzero(np.diff(place[best], prepend=-1))]
        return self._value_texts(answer[best]), times[best] / self.sizes

    def constant(self) -> list[Constant]:
        """Annotators who gave one value only where others would not, the least likely first."""
        if not len(self.codes):
            return []
        low = np.minimum.reduceat(self.answer, self.starts)
        high = np.maximum.reduceat(self.answer, self.starts)
        item, n = self.annotations.item.astype(np.int64), len(self.values)
        _, group, times = np.unique(item * n + self.answer, return_inverse=True, return_counts=True)
        share = np.bincount(self.answer, minlength=n) / len(self.answer)
        size = np.bincount(item)[item]
        alike = (times[group.reshape(-1)] - 1 + share[self.answer]) / size  # all answers add one
        chance = np.exp(np.add.reduceat(np.log(alike), self.starts))
        checked = np.count_nonzero(self.sizes >= FEW)
        odd = (low == high) & (self.sizes >= FEW)
        spreads: dict[int, float] = {}
        for place in np.flatnonzero(odd & (chance * checked < LEVEL)):
            value = int(low[place])
            if value not in spreads:
                spreads[value] = self._tendency(value, ~odd)
            own = alike[self.starts[place] :][: self.sizes[place]]
            chance[place] = _constant_chance(own, spreads[value])
        unlikely = np.flatnonzero(odd & (chance * checked < LEVEL))
        unlikely = unlikely[np.argsort(chance[unlikely], kind="stable")]
        return [
            Constant(self.name(p), value, int(self.sizes[p]), float(chance[p]))
            for p, value in zip(unlikely, self._value_texts(low[unlikely]), strict=True)
        ]

    def _tendency(self, value: int, used: np.ndarray) -> float:
        """How much these annotators differ in giving a value: the sd of their log-odds.

        At most `MOST_TENDENCY`: where the others differ more, some of them are careless too.
        """
        item, equal = self.annotations.item, self.answer == value
        likely = (np.bincount(item, equal)[item] - equal + equal.mean()) / np.bincount(item)[item]
        excess = np.add.reduceat(equal - likely, self.starts)[used]
        noise = np.add.reduceat(likely * (1 - likely), self.starts)[used]
        variance = (excess**2 - noise).sum() / max((noise**2).sum(), 1e-300)
        return min(float(np.sqrt(max(variance, 0.0))), MOST_TENDENCY)

    def seconds(self) -> tuple[np.ndarray, np.ndarray]:
        """The median time of each annotator, and how many answers have a time."""
        medians, sizes = np.full(len(self.codes), np.nan), np.zeros(len(self.codes), dtype=int)
        if self.annotations.seconds is None:
            return medians, sizes
        timed = self.annotations.take(np.isfinite(self.annotations.seconds))
        annotator, seconds = timed.annotator_codes("times"), timed.seconds
        assert seconds is not None
        seconds = seconds[np.lexsort((seconds, annotator))]
        size = np.bincount(annotator, minlength=timed.n_annotators)
        first = np.cumsum(size) - size
        there = size[self.codes] > 0
        codes = self.codes[there]
        low = seconds[first[codes] + (size[codes] - 1) // 2]
        high = seconds[first[codes] + size[codes] // 2]
        medians[there], sizes = (low + high) / 2, size[self.codes]
        return medians, sizes

    def fast(self) -> list[Fast]:
        """Annotators below a third of the usual time, and below others' spread; fastest first."""
        from scipy.special import ndtri

        medians, sizes = self.seconds()
        enough = np.flatnonzero((sizes >= FEW) & (medians >= 0))
        if not enough.size:
            return []
        logarithm = np.log(np.maximum(medians[enough], 1e-9))
        usual = float(np.median(logarithm))
        spread = 1.4826 * float(np.median(np.abs(logarithm - usual)))  # as of a normal distribution
        limit = usual + spread * float(ndtri(LEVEL / len(enough)))
        median = float(np.median(medians[enough]))
        odd = enough[(medians[enough] < median / 3) & (logarithm < limit)]
        return [
            Fast(self.name(p), int(sizes[p]), float(medians[p]), median)
            for p in odd[np.argsort(medians[odd], kind="stable")]
        ]


def _constant_chance(likely: np.ndarray, spread: float) -> float:
    """The probability of one value in all answers, if it has these probabilities for others.

    Annotators differ in how readily they give a value: their log-odds have this standard deviation.
    """
    from scipy.special import log_expit, logit

    tendency = np.linspace(-6, 6, 49) if spread else np.zeros(1)
    density = np.exp(-(tendency**2) / 2)
    odds = logit(np.clip(likely, 1e-12, 1 - 1e-12))
    every = np.array([log_expit(odds + spread * one).sum() for one in tendency])
    return float(density @ np.exp(every) / density.sum())
