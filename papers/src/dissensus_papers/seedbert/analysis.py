"""Outcomes -> report: all figures of tables and verdicts, from the fits that are done.

A report is plain data: the tables are written from it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dissensus.metrics import normalised_entropy
from dissensus.progress import progress
from dissensus_papers.framework.claims import LEVEL
from dissensus_papers.framework.reports import Report, accuracy_and_f1, macro_f1, over, read_json
from dissensus_papers.seedbert.emotions import EMOTIONS_FILE
from dissensus_papers.seedbert.outcomes import (
    BY,
    CAUTIOUS,
    DISTANCES,
    MEAN,
    READ_OUTS,
    VOTES,
    Items,
    Outcome,
    answers,
    distribution,
    score_of_items,
)
from dissensus_papers.seedbert.protocol import (
    ALIKE,
    CONDITIONS,
    DEEP,
    MODELS,
    N_FOLDS,
    N_MEMBERS,
    SEEDS,
    SINGLE,
    SOURCES,
    TABLE_4,
    SeedBertCondition,
)

NUMBERS = (1, 3, 5, 10, 20)  # of members
EVEN = 1e-12  # entropies that differ by less count as the same
ANNOTATORS, ANNOTATOR_PRIOR = "people", "prior of people"  # keys in saved reports
ENSEMBLES = (SEEDS, DEEP)
PRIOR = 5  # answers of all annotators that are added to those of one


def figures(
    path: Path, facts: Report, outcomes: Mapping[str, Sequence[Outcome]], n_done: int
) -> Report:
    """See `FittedPaper.figures`."""
    figures_of = {
        name: Figures.of(CONDITIONS[name], Items.load(path, CONDITIONS[name].corpus), own)
        for name, own in outcomes.items()
        if CONDITIONS[name].kind != "choose"
    }
    conditions = {}
    with progress("testing", len(figures_of)) as advance:
        for name, figures in figures_of.items():
            if figures.condition.kind != "again":
                conditions[name] = _judged(figures)
            advance(1)
    tuned = {name: figures_of[name] for name in SOURCES if name in figures_of}
    annotators: Report = {}  # the biases of those with at least 50 answers
    for name, of_corpus in tuned.items():
        rate = of_corpus.items.biases()
        sd = {"sd": float(rate.std(axis=0, ddof=1).mean())} if len(rate) > 1 else {}
        annotators[name] = {"n": len(rate), **sd} if sd else {}
    emotions = path / EMOTIONS_FILE
    rated = read_json(emotions) if emotions.exists() else {"kappas": {}}
    again = {name: f.less_one() for name, f in tuned.items() if SOURCES[name].again}
    report = {"settings": facts["settings"], "done": n_done, "again": again}
    report |= {"number": _of_number(figures_of), ANNOTATORS: annotators, "conditions": conditions}
    return rated | report


# ---- one condition ----


@dataclass(eq=False)
class Figures:
    """What the models of a condition came to, as far as they are done."""

    condition: SeedBertCondition
    items: Items
    done: dict[str, dict[int, Outcome]]  # model -> repetition -> outcome
    _scores: dict[tuple[Any, ...], dict[str, np.ndarray]] = field(default_factory=dict)

    @classmethod
    def of(cls, condition: SeedBertCondition, items: Items, outcomes: Iterable[Outcome]) -> Figures:
        done: dict[str, dict[int, Outcome]] = {}
        for outcome in outcomes:
            done.setdefault(outcome.model, {})[outcome.seed] = outcome
        return cls(condition, items, done)

    def shared(self, *models: str) -> list[int]:
        """The repetitions that all of these models are done with."""
        return sorted(set.intersection(*(set(self.done.get(model, ())) for model in models)))

    def answers(self, model: str, repeats: Iterable[int], n: int | None = None) -> np.ndarray:
        """Of the first n members, (n_repeats, n_items) codes."""
        n_values = len(self.items.values)
        return np.stack([answers(self.done[model][r], n_values, n) for r in repeats])

    def scores(
        self,
        model: str,
        read: str,
        distance: str,
        repeats: Iterable[int] | None = None,
        n_members: int | None = None,
    ) -> np.ndarray:
        """The distance from the annotators, (n_repeats, n_items); of all repetitions if None."""
        scores = []
        for repeat in self.done[model] if repeats is None else repeats:
            key = model, repeat, read, n_members
            if key not in self._scores:
                outcome = self.done[model][repeat]
                self._scores[key] = score_of_items(outcome, self.items, read, n_members)
            scores.append(self._scores[key][distance])
        return np.stack(scores)

    def fits(self, predicted: np.ndarray, repeats: Iterable[int]) -> dict[str, list[float]]:
        """Accuracy and macro-F1 of each fold by itself, on items that have a label, from answers
        (n_repeats, n_items)."""
        scores: dict[str, list[float]] = {"accuracy": [], "f1": []}
        for answers_, repeat in zip(predicted, repeats, strict=True):
            for fold in range(N_FOLDS):
                inside = (self.items.folds[repeat] == fold) & (self.items.label >= 0)
                label, answer = self.items.label[inside], answers_[inside]
                scores["accuracy"].append(round(float((label == answer).mean()), 6))
                scores["f1"].append(round(macro_f1(label, answer), 6))
        return scores

    def of_model(self, model: str) -> dict[str, Any]:
        """Every figure of a model, over all repetitions that it is done with."""
        repeats, done = list(self.done[model]), list(self.done[model].values())
        predicted = self.answers(model, repeats)
        return {
            "repeats": repeats,
            "fits": self.fits(predicted, repeats),
            "values": self._of_values(predicted),
            "reads": {read: self._read(model, read) for read in READ_OUTS},
            "biases": _biases_of_members(done, self.items),
            "seconds": float(np.mean([o.seconds for o in done])),
            "settings": done[0].settings,
        }

    def _of_values(self, predicted: np.ndarray) -> list[float]:
        """F1 of each value over the answers of a repetition, mean over repetitions."""
        label = self.items.label
        scores = []
        for value in range(len(self.items.values)):
            right = ((predicted == value) & (label == value)).sum(axis=1)
            either = (predicted == value).sum(axis=1) + (label == value).sum()
            scores.append(float(np.mean(2 * right / np.maximum(either, 1))))
        return _rounded(scores)

    def _read(self, model: str, read: str) -> dict[str, list[float]]:
        """Distances, correlation and height of entropies, by repetition."""
        each = [distribution(o, self.items, read) for o in self.done[model].values()]
        annotators = normalised_entropy(self.items.shares)
        sure = [normalised_entropy(mass) for mass in each]
        related = (  # nan where one side is the same everywhere
            np.corrcoef(annotators, one)[0, 1] if min(map(np.ptp, (annotators, one))) >= EVEN
            else np.nan for one in sure
        )  # fmt: skip
        return {
            **{name: _rounded(self.scores(model, read, name).mean(axis=1)) for name in DISTANCES},
            "entropy correlation": _rounded(related),
            "entropy": _rounded(one.mean() for one in sure),
        }

    def of_members(self, model: str, n_members: int) -> dict[str, Any]:
        """Figures of only so many members."""
        repeats = list(self.done[model])
        fits = self.fits(self.answers(model, repeats, n_members), repeats)
        means = {name: float(np.mean(scores)) for name, scores in fits.items()}
        reads: dict[str, Any] = {read: {} for read in READ_OUTS}
        for read, name in product(READ_OUTS, DISTANCES):
            reads[read][name] = float(self.scores(model, read, name, None, n_members).mean())
        return means | {"reads": reads}

    def floors(self) -> dict[str, Any]:
        """What needs no network: always the most frequent label, the shares of labels and of
        annotators' answers in training, and the annotators themselves."""
        items = self.items
        always = np.bincount(items.label[items.label >= 0]).argmax()
        predicted = np.full(items.folds.shape, always)
        votes = np.eye(len(items.values))[items.label] * (items.label >= 0)[:, None]
        own = {name: float(d(items.shares, items.shares).mean()) for name, d in DISTANCES.items()}
        return {
            "majority": self.fits(predicted, range(len(items.folds))),
            "prior": self._prior(votes),
            ANNOTATOR_PRIOR: self._prior(items.shares),
            ANNOTATORS: own | {"entropy": float(normalised_entropy(items.shares).mean())},
        }

    def _prior(self, shares: np.ndarray) -> dict[str, float]:
        """How far the mean of training items is from the annotators of test items."""
        distances: dict[str, list[float]] = {name: [] for name in DISTANCES}
        for of_item in self.items.folds:
            prior = np.stack([shares[of_item != fold].mean(axis=0) for fold in range(N_FOLDS)])
            for name, distance in DISTANCES.items():
                distances[name].append(float(distance(self.items.shares, prior[of_item]).mean()))
        return {name: float(np.mean(of_repeats)) for name, of_repeats in distances.items()}

    def nearer(self, mine: tuple[str, str], theirs: tuple[str, str]) -> Report:
        """How much farther one model's read-out is from annotators than another's, by distance:
        below 0 is nearer. Empty if no repetition has both."""
        repeats = self.shared(mine[0], theirs[0])
        tests = {}
        for name in DISTANCES if repeats else ():
            first, second = (self.scores(*side, name, repeats) for side in (mine, theirs))
            tests[name] = over(first, second, self.items.groups)
        return tests

    def less_one(self) -> dict[str, Any]:
        """Ensemble -> its distances less those of one network, with a temperature of at least 1,
        as methods choose it."""
        both = [model for model in ENSEMBLES if self.shared(model, SINGLE)]
        return {m: {SINGLE: self.nearer((m, CAUTIOUS), (SINGLE, CAUTIOUS))} for m in both}


def _judged(figures: Figures) -> dict[str, Any]:
    deep = {read: figures.nearer((SEEDS, read), (DEEP, read)) for read in READ_OUTS}
    against, known = {}, figures.items.label >= 0  # accuracy and macro-F1 of Table 4
    for model in (*TABLE_4, ALIKE):
        if model != SEEDS and (repeats := figures.shared(SEEDS, model)):
            mine, theirs = (figures.answers(name, repeats)[:, known] for name in (SEEDS, model))
            label, groups = figures.items.label[known], figures.items.groups[known]
            against[model] = accuracy_and_f1(label, mine, theirs, groups)
    return {
        "corpus": figures.condition.corpus,
        "n_items": len(figures.items.label),
        "values": figures.items.values,
        "floors": figures.floors(),
        "models": {model: figures.of_model(model) for model in MODELS if model in figures.done},
        "against": against,
        "examples": _examples(figures),
        "specific": _specific(figures),
        "recovery": {
            SINGLE: figures.nearer((SEEDS, VOTES), (SINGLE, MEAN)),
            DEEP: {read: tests for read, tests in deep.items() if tests},
        },
    }


def _examples(figures: Figures) -> list[dict[str, Any]]:
    """Distributions of three items, of annotators, one network and SeedBERT's votes, where there
    are more than two values."""
    items, repeats = figures.items, figures.shared(SINGLE, SEEDS)
    if len(items.values) < 3 or not repeats:
        return []
    single, seeds = (
        distribution(figures.done[model][repeats[0]], items, read)
        for model, read in ((SINGLE, MEAN), (SEEDS, VOTES))
    )
    order = np.argsort(normalised_entropy(items.shares), kind="stable")
    sides = {"annotators": items.shares, MODELS[SEEDS].title: seeds, MODELS[SINGLE].title: single}
    return [
        {"item": int(at), "shares": {who: _rounded(of[at]) for who, of in sides.items()}}
        for at in order[[len(order) // 4, len(order) // 2, 3 * len(order) // 4]]
    ]


def _specific(figures: Figures) -> dict[str, Any]:
    """Cross-entropies of the answers of each annotator: SeedBERT's, with the annotator's own
    frequencies as a prior, and these alone; empty where ids are unknown."""
    items, repeats = figures.items, list(figures.done.get(SEEDS, ()))
    if not len(items.rows) or not repeats:
        return {}
    item, annotator, answer = items.rows.T
    losses: dict[str, list[np.ndarray]] = {"without": [], "with": [], "alone": []}
    for repeat in repeats:
        mass = distribution(figures.done[SEEDS][repeat], items, CAUTIOUS).clip(1e-6)[item]
        prior, every = np.empty_like(mass), np.empty_like(mass)
        fold = items.folds[repeat][item]
        for number in range(N_FOLDS):
            counts = np.zeros((annotator.max() + 1, len(items.values)))
            np.add.at(counts, (annotator[fold != number], answer[fold != number]), 1)
            overall = (counts.sum(axis=0) + 1) / (counts.sum() + len(items.values))
            own = counts + PRIOR * overall
            own /= own.sum(axis=1, keepdims=True)
            prior[fold == number], every[fold == number] = own[annotator[fold == number]], overall
        for way, q in (("without", mass), ("with", mass * prior / every), ("alone", prior)):
            right = q[np.arange(len(q)), answer] / q.sum(axis=1)
            losses[way].append(-np.log(right))
    stacked = {way: np.stack(each) for way, each in losses.items()}
    test = over(stacked["with"], stacked["without"], items.groups[item])
    return {way: float(each.mean()) for way, each in stacked.items()} | {"test": test}


# ---- the number of members ----


def _of_number(figures_of: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> ensemble -> number of members -> figures, and what the last members add to five.

    Of ensembles of five and of twenty; fewer members are the first ones of these.
    """
    numbers: dict[str, Any] = {}
    for figures in figures_of.values():
        condition, groups = figures.condition, figures.items.groups
        if condition.kind not in ("chosen", "many") or condition.frozen:
            continue
        for model in (model for model in figures.done if model.startswith(ENSEMBLES)):
            n_members = MODELS[model].n_networks
            own: Report = {str(n): figures.of_members(model, n) for n in NUMBERS if n <= n_members}
            own["repeats"] = len(figures.done[model])
            more = {}  # how much farther from annotators all members are than the first five
            for read in READ_OUTS if n_members > N_MEMBERS else ():
                every, five = (figures.scores(model, read, BY, None, n) for n in (None, N_MEMBERS))
                more[read] = over(every, five, groups)
            numbers.setdefault(condition.corpus, {})[model] = own | ({"more": more} if more else {})
    return numbers


# ---- biases ----


def _biases_of_members(outcomes: Sequence[Outcome], items: Items) -> dict[str, Any]:
    """How much the members of a fit differ in how often they give each answer.

    "sd": their standard deviation, mean over values and fits; "differ": in what share of fits
    (and values) that is more than chance, by Cochran's test.
    """
    figures: dict[str, list[float]] = {"sd": [], "differ": []}
    n_values = len(items.values)
    for outcome in (outcome for outcome in outcomes if len(outcome.votes) > 1):
        for fold in range(N_FOLDS):
            inside = outcome.votes[:, items.folds[outcome.seed] == fold]
            gave = inside[:, :, None] == np.arange(n_values)  # (n_members, n_items, n_values)
            rate = gave.mean(axis=1)
            figures["sd"].append(rate.std(axis=0, ddof=1).mean())
            telling = [1] if n_values == 2 else range(n_values)  # of two values one says all
            figures["differ"] += [cochran(gave[:, :, value]) <= LEVEL for value in telling]
    return {name: float(np.mean(each)) for name, each in figures.items() if each}


def cochran(yes: np.ndarray) -> float:
    """Cochran's Q test that members say yes as often as one another, on the same items: its p.

    1 where no two differ anywhere.

    Args:
        yes: (n_members, n_items).

    Example:
        >>> yes = np.array([[1, 1, 0, 1, 1, 0, 1, 1], [0, 0, 0, 0, 1, 0, 0, 0]])
        >>> round(cochran(yes), 4)
        0.0253

    Reference: Cochran (1950), doi:10.1093/biomet/37.3-4.256.
    """
    n, of_member, of_item = len(yes), yes.sum(axis=1), yes.sum(axis=0)
    below = float((of_item * (n - of_item)).sum())
    above = (n - 1) * n * float(((of_member - of_member.mean()) ** 2).sum())
    return float(chdtrc(n - 1, above / below)) if below else 1.0


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 6) for value in values]
