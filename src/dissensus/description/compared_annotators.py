"""Who is at chance, contrary or different from the rest, if the data can tell.

Tests are about correlations with the rest: neither how high an annotator rates nor how much of the
scale they use counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dissensus.agreement import AgainstRest, against_rest, false_discovery
from dissensus.agreement.rest import Relation, coherence, mean_above_zero, relation_to_rest
from dissensus.annotations import Annotations

FEW = 10  # annotators with fewer answers are not checked
LEVEL = 0.05  # of all tests of one kind together
MOST_ROUNDS = 20
PRIOR = 1 / 3  # odds of being at chance: one annotator in four
ODDS = 19 / PRIOR  # at chance with 95 % probability
STEPS = 10
CLEARLY = 0.2  # a correlation below this is low, not only uncertain
CHANCE = (
    "Agreement is no better than chance (correlation with the rest {mean:.2f}, at most "
    "{most:.2f}), so nobody can be judged by comparison with the rest. Check the task, how the "
    "columns were read (items, annotators, answers), or compare with gold labels."
)
UNKNOWN = (
    "The answers in common are too few to tell agreement from chance, so nobody can be judged by "
    "comparison with the rest. Collect more answers to the same items, or compare with gold labels."
)
TWO = "There are only two annotators to compare, so it cannot be said which one is unlike others."


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
    contrary = named & (against.kappa_high < 0)
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
    """The first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
