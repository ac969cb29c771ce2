"""Outcomes -> report: all figures of tables and verdicts, from the fits that are done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dissensus.errors import DataError
from dissensus.evaluation import Difference, corrected
from dissensus.metrics import normalised_entropy
from dissensus.progress import progress
from dissensus_papers.framework.reports import (
    accuracy_and_f1,
    begun_with,
    correct,
    head,
    macro_f1,
    over,
    short,
)
from dissensus_papers.seedbert.outcomes import (
    BY,
    CAUTIOUS,
    DISTANCES,
    MEAN,
    READ_OUTS,
    TEMPERED,
    VOTES,
    Items,
    Outcome,
    answers,
    best_variant,
    distribution,
    outcomes,
    score_of_items,
    temperatures,
    tried,
)
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    DEEP,
    FIRST,
    MODELS,
    N_FOLDS,
    N_MEMBERS,
    N_REPEATS,
    SEEDS,
    SINGLE,
    SOURCES,
    TABLE_4,
    VARIANTS,
    SeedBertCondition,
    trials,
)

LEVEL = 0.05
EVEN = 1e-12  # entropies that differ by less count as the same
ANNOTATORS, ANNOTATOR_PRIOR = "people", "prior of people"  # keys in saved reports
_Scores = dict[tuple[str, int, str, int | None], dict[str, np.ndarray]]


@dataclass(eq=False)
class Figures:
    """What the models of a condition came to, as far as they are done."""

    condition: SeedBertCondition
    items: Items
    done: dict[str, dict[int, Outcome]]  # model -> repetition -> outcome
    _scores: _Scores = field(default_factory=dict)

    @classmethod
    def of(cls, condition: SeedBertCondition, items: Items, outcomes: Iterable[Outcome]) -> Figures:
        done: dict[str, dict[int, Outcome]] = {}
        for outcome in sorted(outcomes, key=lambda o: o.repeat):
            done.setdefault(outcome.model, {})[outcome.repeat] = outcome
        return cls(condition, items, done)

    @property
    def n_values(self) -> int:
        return len(self.items.values)

    def shared(self, *models: str) -> list[int]:
        """The repetitions that all of these models are done with."""
        repeats_of = [set(self.done.get(model, ())) for model in models]
        return sorted(set.intersection(*repeats_of))

    # ---- item by item ----

    def answers(self, model: str, repeats: Sequence[int]) -> np.ndarray:
        """(n_repeats, n_items) codes."""
        return np.stack([answers(self.done[model][r], self.n_values) for r in repeats])

    def scores(
        self,
        model: str,
        read: str,
        distance: str,
        repeats: Sequence[int],
        n_members: int | None = None,
    ) -> np.ndarray:
        """The distance from the annotators, (n_repeats, n_items)."""
        scores = []
        for repeat in repeats:
            key = model, repeat, read, n_members
            if key not in self._scores:
                outcome = self.done[model][repeat]
                self._scores[key] = score_of_items(outcome, self.items, read, n_members)
            scores.append(self._scores[key][distance])
        return np.stack(scores)

    # ---- of a model ----

    def of_model(self, model: str) -> dict[str, Any]:
        """Every figure of a model, over all repetitions that it is done with."""
        by_repeat = self.done[model]
        outcomes = list(by_repeat.values())
        return {
            "repeats": list(by_repeat),
            "fits": _joined(
                of_fits(answers(o, self.n_values), self.items, r) for r, o in by_repeat.items()
            ),
            "reads": {read: self._read(model, read) for read in READ_OUTS},
            "apart": float(np.mean([apart(o.votes) for o in outcomes])),
            "biases": biases_of_members(outcomes, self.items),
            "temperatures": _rounded(t for o in outcomes for t in temperatures(o, self.items)),
            "seconds": float(np.mean([o.seconds for o in outcomes])),
            "settings": outcomes[0].settings,
        }

    def _read(self, model: str, read: str) -> dict[str, list[float]]:
        """Distances, correlation and height of entropies, by repetition."""
        repeats = list(self.done[model])
        figures = {
            name: _rounded(self.scores(model, read, name, repeats).mean(axis=1))
            for name in DISTANCES
        }
        each = [distribution(self.done[model][r], self.items, read) for r in repeats]
        annotators = normalised_entropy(self.items.shares)
        sure = [normalised_entropy(mass) for mass in each]
        figures["entropy correlation"] = _rounded(_pearson(annotators, one) for one in sure)
        figures["entropy"] = _rounded(one.mean() for one in sure)
        figures["moves"] = _rounded(np.abs(m - m.mean(axis=0)).sum(axis=1).mean() / 2 for m in each)
        return figures

    def of_members(self, model: str, n_members: int) -> dict[str, Any]:
        """Figures of only so many members."""
        repeats = list(self.done[model])
        predicted = [answers(self.done[model][r], self.n_values, n_members) for r in repeats]
        fits = _joined(of_fits(s, self.items, r) for s, r in zip(predicted, repeats, strict=True))
        reads = {
            read: {
                name: float(self.scores(model, read, name, repeats, n_members).mean())
                for name in DISTANCES
            }
            for read in READ_OUTS
        }
        accuracy, f1 = (float(np.mean(fits[name])) for name in ("accuracy", "f1"))
        return {"accuracy": accuracy, "f1": f1, "reads": reads}

    # ---- without a network ----

    def floors(self) -> dict[str, Any]:
        """What needs no network: always the most frequent label, the shares of labels and of
        annotators' answers in training, and the annotators themselves."""
        items = self.items
        always = np.bincount(items.label[items.label >= 0]).argmax()
        predicted = np.full(len(items.label), always)
        repeats = range(len(items.folds))
        votes = np.eye(self.n_values)[items.label] * (items.label >= 0)[:, None]
        return {
            "majority": _joined(of_fits(predicted, items, repeat) for repeat in repeats),
            "prior": self._prior(votes),
            ANNOTATOR_PRIOR: self._prior(items.shares),
            ANNOTATORS: {name: float(distance(items.shares, items.shares).mean())
                       for name, distance in DISTANCES.items()}
            | {"entropy": float(normalised_entropy(items.shares).mean())},
        }  # fmt: skip

    def _prior(self, shares: np.ndarray) -> dict[str, float]:
        """How far the mean of training items is from the annotators of test items."""
        distances: dict[str, list[float]] = {name: [] for name in DISTANCES}
        for of_item in self.items.folds:
            prior = np.empty_like(self.items.shares)
            for fold in range(N_FOLDS):
                prior[of_item == fold] = shares[of_item != fold].mean(axis=0)
            for name, distance in DISTANCES.items():
                distances[name].append(float(distance(self.items.shares, prior).mean()))
        return {name: float(np.mean(of_repeats)) for name, of_repeats in distances.items()}


def of_fits(predicted: np.ndarray, items: Items, repeat: int) -> dict[str, list[float]]:
    """Accuracy and macro-F1 of each fold by itself, on items that have a label."""
    scores: dict[str, list[float]] = {"accuracy": [], "f1": []}
    for fold in range(N_FOLDS):
        inside = (items.folds[repeat] == fold) & (items.label >= 0)
        label, answer = items.label[inside], predicted[inside]
        scores["accuracy"].append(round(float((label == answer).mean()), 6))
        scores["f1"].append(round(macro_f1(label, answer), 6))
    return scores


def apart(votes: np.ndarray) -> float:
    """How often two members answer an item differently; nan of fewer than two.

    Args:
        votes: (n_members, n_items).

    Example:
        >>> round(apart(np.array([[0, 0], [0, 1], [0, 1]])), 4)
        0.3333
    """
    n = len(votes)
    if n < 2:
        return float("nan")
    alike = sum(float((votes == votes[at]).mean(axis=1).sum()) - 1 for at in range(n))
    return float(1 - alike / (n * (n - 1)))


# ---- two models ----


def nearer(
    figures: Figures,
    mine: tuple[str, str],
    theirs: tuple[str, str],
    *distances: str,
    n_members: int | None = None,
) -> dict[str, Difference]:
    """How much farther one model's read-out is from annotators than another's: below 0 is nearer.

    Args:
        n_members: only so many of the other one's first members.
    """
    repeats = figures.shared(mine[0], theirs[0])
    return {
        name: over(
            figures.scores(*mine, name, repeats),
            figures.scores(*theirs, name, repeats, n_members),
            figures.items.groups,
        )
        for name in distances
        if repeats
    }


def in_short(tests: Mapping[str, Difference]) -> dict[str, Any]:
    """The fields of differences that tables show."""
    return {name: short(test) for name, test in tests.items()}


# ---- members' biases ----


def biases_of_members(outcomes: Sequence[Outcome], items: Items) -> dict[str, Any]:
    """How much the members of a fit differ in how often they give each answer.

    "sd": their standard deviation, mean over values and fits; "low", "high": the least and most
    frequent use of the last value by a member, mean over fits; "differ": in what share of fits
    (and values) that is more than chance, by Cochran's test.
    """
    sds, lows, highs, p = [], [], [], []
    for outcome in outcomes:
        for fold in range(N_FOLDS) if len(outcome.votes) > 1 else ():
            inside = outcome.votes[:, items.folds[outcome.repeat] == fold]
            gave = inside[:, :, None] == np.arange(len(items.values))  # (n_members, n_items, n)
            rate = gave.mean(axis=1)
            sds.append(rate.std(axis=0, ddof=1).mean())
            lows.append(rate[:, -1].min())
            highs.append(rate[:, -1].max())
            p += [cochran(gave[:, :, value]) for value in _values(len(items.values))]
    if not sds:
        return {}
    figures = {"sd": sds, "low": lows, "high": highs, "differ": [one <= LEVEL for one in p]}
    return {name: float(np.mean(np.array(values, float))) for name, values in figures.items()}


def _values(n_values: int) -> Sequence[int]:
    """Of two values one says all."""
    return [1] if n_values == 2 else range(n_values)


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
    if not below:
        return 1.0
    above = (n - 1) * n * float(((of_member - of_member.mean()) ** 2).sum())
    return float(chdtrc(n - 1, above / below))


def biases_of_annotators(items: Items) -> dict[str, float]:
    """The same of annotators with at least 50 answers; empty where ids are unknown."""
    rate = items.biases
    if len(rate) < 2:
        return {}
    return {
        "n": len(rate),
        "sd": float(rate.std(axis=0, ddof=1).mean()),
        "low": float(rate[:, -1].min()),
        "high": float(rate[:, -1].max()),
    }


# ---- arithmetic ----


def _pearson(first: np.ndarray, second: np.ndarray) -> float:
    """nan where one side is the same everywhere."""
    if np.ptp(first) < EVEN or np.ptp(second) < EVEN:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def _joined(parts: Iterable[dict[str, list[float]]]) -> dict[str, list[float]]:
    joined: dict[str, list[float]] = {"accuracy": [], "f1": []}
    for each in parts:
        for name, scores in joined.items():
            scores += each[name]
    return joined


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 6) for value in values]


ENSEMBLES = (SEEDS, DEEP)
MEMBER = "member"  # the first one of an ensemble


def calibrated(of_corpus: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> ensemble -> its distances less those of one network, all with a temperature.

    Less a single one, which has its own settings, and less the ensemble's first member, so that
    the effect of settings can be separated from that of members. Cross-entropies less a single one
    are corrected (Holm) over all corpora but the first.
    """
    counted = {c: figures for c, figures in of_corpus.items() if figures.condition.source.counted}
    return _less_one(counted, TEMPERED)


def again(of_corpus: Mapping[str, Figures]) -> dict[str, Any]:
    """The same on other items, as methods choose a temperature: at least 1."""
    return _less_one(of_corpus, CAUTIOUS)


def _less_one(of_corpus: Mapping[str, Figures], read: str) -> dict[str, Any]:
    tests_of: dict[str, dict[str, dict[str, dict[str, Difference]]]] = {}
    for corpus, figures in of_corpus.items():
        for model in ENSEMBLES:
            if figures.shared(model, SINGLE):
                tests_of.setdefault(corpus, {})[model] = _less_one_network(figures, model, read)
    counted = [
        less[SINGLE] for corpus in tests_of if corpus != FIRST for less in tests_of[corpus].values()
    ]
    tests = corrected([less[BY] for less in counted])
    for less, test in zip(counted, tests, strict=True):
        less[BY] = test
    return {
        corpus: {
            model: {other: in_short(tests) for other, tests in less.items()}
            for model, less in of_model.items()
        }
        for corpus, of_model in tests_of.items()
    }


def _less_one_network(figures: Figures, model: str, read: str) -> dict[str, dict[str, Difference]]:
    mine = model, read
    return {
        SINGLE: nearer(figures, mine, (SINGLE, read), *DISTANCES),
        MEMBER: nearer(figures, mine, mine, *DISTANCES, n_members=1),
    }


# ---- temperatures ----


def tempering(of_corpus: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> by how many labels a temperature is chosen, and its effect in each fit.

    "items": held out in a fit, mean over fits; "rare": the fewest and most of them in a fit
    whose label is not the corpus's most frequent one.
    """
    by_corpus = {}
    for corpus, figures in of_corpus.items():
        models = [model for model in (SINGLE, *VARIANTS) if model in figures.done]
        if models and figures.condition.source.counted:
            sizes, rare = _set_aside(figures)
            by_corpus[corpus] = {
                "items": float(np.mean(sizes)),
                "rare": [min(rare), max(rare)],
                "models": {model: _tempered(figures, model) for model in models},
            }
    return by_corpus


def _set_aside(figures: Figures) -> tuple[list[int], list[int]]:
    """How many items, and how many with a rare label, of every fit."""
    label = figures.items.label
    often = np.bincount(label[label >= 0]).argmax()
    folds = [
        label[outcome.aside[1][outcome.aside[0] == fold]]
        for of_model in figures.done.values()
        for outcome in of_model.values()
        for fold in np.unique(outcome.aside[0])
    ]
    return [len(labels) for labels in folds], [int((labels != often).sum()) for labels in folds]


def _tempered(figures: Figures, model: str) -> dict[str, Any]:
    """Of all fits of a model: the ends of its temperatures, and cross-entropies where one is below
    1 (more confident because of few labels) and where it is not; "votes": those of its votes there;
    "cautious": those of all fits if no temperature were below 1."""
    chosen, crossed, votes, cautious = [], [], [], []
    for repeat, outcome in figures.done[model].items():
        chosen += temperatures(outcome, figures.items)
        crossed += _of_folds(figures, outcome, TEMPERED, repeat)
        votes += _of_folds(figures, outcome, VOTES, repeat)
        cautious += _of_folds(figures, outcome, CAUTIOUS, repeat)
    below = np.array(chosen) < 1
    return {
        "low": min(chosen),
        "high": max(chosen),
        "fits": len(chosen),
        "below": int(below.sum()),
        "there": _mean(np.array(crossed)[below]),
        "elsewhere": _mean(np.array(crossed)[~below]),
        "votes": _mean(np.array(votes)[~below]),
        "cautious": _mean(np.array(cautious)),
    }


def _of_folds(figures: Figures, outcome: Outcome, read: str, repeat: int) -> list[float]:
    """The mean cross-entropy of each fold."""
    scores = figures.scores(outcome.model, read, BY, [repeat])[0]
    of_item = figures.items.folds[repeat]
    return [float(scores[of_item == fold].mean()) for fold in range(N_FOLDS)]


def _mean(values: np.ndarray) -> float:
    """nan of none."""
    return float(values.mean()) if len(values) else float("nan")


KIND = "seedbert"
NUMBERS = (1, 3, 5, 10, 20)  # of members


def judged(path: Path) -> dict[str, Any]:
    """The report on a folder of outcomes."""
    front = begun_with(path, KIND)
    done = outcomes(path)
    about = head(path, front, (outcome.machine for outcome in done))
    figures_of = figures(path, done)
    variant = _variant(path)
    conditions = {}
    with progress("testing", len(figures_of)) as advance:
        for name, of_condition in figures_of.items():
            if of_condition.condition.kind != "again":
                conditions[name] = _judged(of_condition)
            advance(1)
    correct(test for condition in conditions.values() for test in condition["against"].values())
    return about | {
        "settings": front["facts"]["settings"],
        "done": len(done),
        "missing": _missing(done, variant[0] if variant else None),
        "choosing": _choosing(path),
        "variant": _of_variant(figures_of, variant) if variant else {},
        "calibrated": calibrated(_chosen(figures_of)),
        "again": again(_of_kind(figures_of, "again")),
        "tempering": tempering(_chosen(figures_of)),
        "number": _of_number(figures_of),
        ANNOTATORS: {
            corpus: biases_of_annotators(f.items) for corpus, f in _chosen(figures_of).items()
        },
        "kappas": _kappas(path),
        "conditions": conditions,
    }


def figures(path: Path, done: Sequence[Outcome]) -> dict[str, Figures]:
    """The conditions in which something is trained, other than to choose settings."""
    by_condition = {}
    for name, condition in CONDITIONS.items():
        own = [outcome for outcome in done if outcome.condition == name]
        if own and condition.kind != "choose":
            by_condition[name] = Figures.of(condition, Items.load(path, condition.corpus), own)
    return by_condition


def _chosen(figures_of: Mapping[str, Figures]) -> dict[str, Figures]:
    """By corpus, those with settings that were chosen."""
    return _of_kind(figures_of, "chosen")


def _of_kind(figures_of: Mapping[str, Figures], kind: str) -> dict[str, Figures]:
    """By corpus."""
    return {f.condition.corpus: f for f in figures_of.values() if f.condition.kind == kind}


def _variant(path: Path) -> tuple[str, str] | None:
    try:
        return best_variant(path)
    except DataError:
        return None  # not every variant is there


def _missing(done: Sequence[Outcome], variant: str | None) -> dict[str, Any]:
    """SeedBertCondition -> model -> how many trainings are not done, of how many."""
    there = {outcome.key for outcome in done}
    missing: dict[str, Any] = {}
    for name, condition in CONDITIONS.items():
        of_model: dict[str, list[int]] = {}
        for key in condition.keys(N_REPEATS, variant):
            counts = of_model.setdefault(key.method, [0, 0])
            counts[0] += key not in there
            counts[1] += 1
        lacking = {model: counts for model, counts in of_model.items() if counts[0]}
        if lacking:
            missing[name] = lacking
    return missing


# ---- one condition ----


def _judged(figures: Figures) -> dict[str, Any]:
    models = [model for model in MODELS if model in figures.done]
    return {
        "corpus": figures.condition.corpus,
        "n_items": len(figures.items.label),
        "values": list(figures.items.values),
        "floors": figures.floors(),
        "models": {model: figures.of_model(model) for model in models},
        "against": _table_tests(figures) if figures.condition.source.counted else {},
        "recovery": _recovery(figures),
    }


def _table_tests(figures: Figures) -> dict[str, Any]:
    """SeedBERT against each other model of Table 4, accuracy and macro-F1."""
    tests = {}
    for model in TABLE_4:
        repeats = figures.shared(SEEDS, model) if model != SEEDS else []
        if repeats:
            mine, theirs = (figures.answers(name, repeats) for name in (SEEDS, model))
            known = figures.items.label >= 0
            label, groups = figures.items.label[known], figures.items.groups[known]
            tests[model] = accuracy_and_f1(label, mine[:, known], theirs[:, known], groups)
    return tests


def _recovery(figures: Figures) -> dict[str, Any]:
    """SeedBERT's votes against one network as it is, and its read-outs against a deep ensemble's;
    not corrected."""
    deep = {read: nearer(figures, (SEEDS, read), (DEEP, read), *DISTANCES) for read in READ_OUTS}
    return {
        SINGLE: in_short(nearer(figures, (SEEDS, VOTES), (SINGLE, MEAN), *DISTANCES)),
        DEEP: {read: in_short(tests) for read, tests in deep.items() if tests},
    }


# ---- what was chosen ----


def _choosing(path: Path) -> dict[str, Any]:
    """Corpus -> model -> trials with the cross-entropy of labels, and which was best."""
    choices: dict[str, Any] = {}
    for name, condition in CONDITIONS.items():
        for model in condition.models if condition.kind == "choose" else ():
            outcomes_of_trials = tried(path, name, model)
            if not outcomes_of_trials:
                continue
            scores = [round(float(np.mean(o.scores)), 6) for o in outcomes_of_trials]
            whole = len(outcomes_of_trials) == len(trials(model))
            choices.setdefault(condition.corpus, {})[model] = {
                "trials": [
                    {"settings": o.settings, "score": score}
                    for o, score in zip(outcomes_of_trials, scores, strict=True)
                ],
                "best": int(np.argmin(scores)) if whole else None,
                "wanted": len(trials(model)),
            }
    return choices


def _of_variant(figures_of: Mapping[str, Figures], variant: tuple[str, str]) -> dict[str, Any]:
    """The variant that is nearest to annotators on the first corpus, and whether it is on others.

    Three comparisons on each corpus: with one network and a temperature, which counts; with one
    network whose answer counts five times and is smoothed as votes are; and with one as it is.
    """
    of_corpus = _chosen(figures_of)
    first = of_corpus[FIRST]
    shared = first.shared(*VARIANTS)
    scores = {
        model: {read: float(first.scores(model, read, BY, shared).mean()) for read in READ_OUTS}
        for model in VARIANTS
    }
    against_single: dict[str, Any] = {}
    for corpus, figures in of_corpus.items():
        against = {read: nearer(figures, variant, (SINGLE, read), *DISTANCES) for read in READ_OUTS}
        if SOURCES[corpus].counted and against[TEMPERED]:
            against_single[corpus] = against
    counted = [corpus for corpus in against_single if corpus != FIRST]
    tests = corrected([against_single[corpus][TEMPERED][BY] for corpus in counted])
    for corpus, test in zip(counted, tests, strict=True):
        against_single[corpus][TEMPERED][BY] = test
    return {
        "model": variant[0],
        "read": variant[1],
        "scores": scores,
        "by": {distance: _nearest(first, shared, distance) for distance in DISTANCES},
        "against": {
            corpus: {read: in_short(tests) for read, tests in against.items()}
            for corpus, against in against_single.items()
        },
    }


def _nearest(figures: Figures, repeats: Sequence[int], distance: str) -> dict[str, str]:
    """The variant and read-out that another distance would have chosen."""
    scores = {
        (model, read): float(figures.scores(model, read, distance, repeats).mean())
        for model in VARIANTS
        for read in READ_OUTS
    }
    model, read = min(scores, key=lambda which: scores[which])
    return {"model": model, "read": read}


# ---- the rest ----


def _of_number(figures_of: Mapping[str, Figures]) -> dict[str, Any]:
    """Corpus -> ensemble -> number of members -> figures, and what the last members add to five.

    Of ensembles of five and of twenty; fewer members are the first ones of these.
    """
    numbers: dict[str, Any] = {}
    for figures in figures_of.values():
        for model in figures.done if figures.condition.kind in ("chosen", "many") else ():
            n_members = MODELS[model].n_networks
            if MODELS[model].tuned_as != SEEDS or model in ("order", "dropout", "bag"):
                continue
            of_model = {str(n): figures.of_members(model, n) for n in NUMBERS if n <= n_members} | {
                "repeats": len(figures.done[model])
            }
            if n_members > N_MEMBERS:
                of_model["more"] = _more(figures, model)
            numbers.setdefault(figures.condition.corpus, {})[model] = of_model
    return numbers


def _more(figures: Figures, model: str) -> dict[str, Any]:
    """How much farther from annotators all members are than the first five."""
    repeats = list(figures.done[model])
    tests = {}
    for read in READ_OUTS:
        mine, theirs = (figures.scores(model, read, BY, repeats, n) for n in (None, N_MEMBERS))
        tests[read] = short(over(mine, theirs, figures.items.groups))
    return tests


def _kappas(path: Path) -> dict[str, float]:
    """Of the three questions of the paper's Table 1, where annotators' ratings were read."""
    for source in SOURCES.values():
        if source.counted:
            continue
        try:
            kappas = Items.load(path, source.name).kappas
        except DataError:
            continue  # this corpus was not run
        if len(kappas):
            return dict(zip(("any", "most", "all"), map(float, kappas), strict=True))
    return {}
