"""Conditions that compare no models by scores: each expert, newcomers, numbers of ratings, and
which items to send to more annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dissensus import Annotations, Corpus, Nominal
from dissensus.densities import Grid, RatingKde, pool, rating_densities, unit_positions
from dissensus.evaluation import over_items
from dissensus.metrics import DENSITY_METRICS, ccc_by_annotator, concordance, scores
from dissensus.tables import Table
from dissensus_papers.framework.declared import Measured, MeasuredCondition, Model, Typed
from dissensus_papers.framework.text import spread, table
from dissensus_papers.individual.corpora import (
    CCC,
    SEEDS,
    against_others,
    item_folds,
    nth_of,
    speaker_folds,
)
from dissensus_papers.individual.models import CONSENSUS, HEADS, MODELS, MT

HEADS_MODEL = Model("Annotator heads", "annotator-heads")
GRID_MODEL = Model("Distribution", "grid-density", {"base_rates": False})
SINGLE_MODEL = Model("Consensus alone", "single", {"hidden": (64,), "training.epochs": 20})
READING = "plain"
BINS = RatingKde().bins


def mean_and_spread(values: Sequence[float | None], digits: int = 3) -> str:
    """A mean over seeds with its standard deviation; undefined values are left out."""
    defined = [value for value in values if value is not None and np.isfinite(value)]
    return f"{np.mean(defined):.{digits}f}{spread(defined, digits)}" if defined else "-"


def _positions(question: str, answers: Annotations) -> np.ndarray:
    """Ratings from 0 to 1."""
    return (unit_positions(question, answers.scale, answers.answer) + 1) / 2


def _cell(question: str, answers: Annotations) -> np.ndarray:
    """The cell that each rating is in."""
    return (_positions(question, answers) * BINS).astype(int).clip(0, BINS - 1)


def _fitted(model: Model, seed: int, typed: Typed, parts: Sequence[Any], questions: Any) -> Any:
    """The model fitted to each of (train, test, validation), stacked."""
    from dissensus.methods import Job, fit_many, seeded

    method = model.built({}, typed)
    jobs = [Job(seeded(method, seed), train, questions, val) for train, _, val in parts]
    return fit_many(jobs)


# ---- each expert ----

ASPECTS = ("accuracy", "fluency", "prosodic")
MODELS_OF_EXPERTS = (CONSENSUS, f"{MT}-answers", HEADS)
OTHERS = "the mean of the other experts"


def measure_experts(corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """For every expert, the concordance of their ratings with those that a model predicts for them,
    and with the mean of the other experts, on the same test items: by question, row and expert, the
    mean over five folds by speaker."""
    questions = tuple(question for question in ASPECTS if question in corpus.questions)
    corpus = corpus.select(questions=questions)
    folds = [fold.parts(corpus) for fold in speaker_folds(corpus)]
    rows: dict[str, dict[str, list[np.ndarray]]] = {question: {} for question in questions}
    for name in MODELS_OF_EXPERTS:
        fitted = _fitted(MODELS[name], seed, typed, folds, questions)
        for method, (_, test, _) in zip(fitted, folds, strict=True):
            predictions = method.predict(test)
            for question in questions:
                each = ccc_by_annotator(predictions[question], test[question])
                rows[question].setdefault(name, []).append(each)
    for _, test, _ in folds:
        for question in questions:
            each = np.array([concordance(own, o) for _, own, o in against_others(test[question])])
            rows[question].setdefault(OTHERS, []).append(each)
    experts = list(corpus.annotators)
    return {
        "concordance": {
            question: {
                name: dict(zip(experts, np.mean(of_folds, axis=0).tolist(), strict=True))
                for name, of_folds in by_row.items()
            }
            for question, by_row in rows.items()
        }
    }


def expert_tables(by_seed: Sequence[Measured]) -> list[Table | str]:
    """A table for each question, with a column for each expert."""
    blocks = []
    first: dict[str, Any] = by_seed[0]["concordance"]
    for question, by_row in first.items():
        experts = list(by_row[OTHERS])
        rows = [["", *(f"expert {name}" for name in experts), "mean"]]
        for name in by_row:
            concordances = [entry["concordance"][question][name] for entry in by_seed]
            means = [float(np.mean([each[expert] for expert in experts])) for each in concordances]
            cells = [mean_and_spread([each[expert] for each in concordances]) for expert in experts]
            title = MODELS[name].title if name in MODELS else name
            rows.append([title, *cells, mean_and_spread(means)])
        notes = (
            "Concordance with the ratings of an expert, the mean over five folds by speaker; means "
            "+- standard deviations over seeds. The mean of the other experts does not depend on "
            "the seed."
        )
        heading = f"Each expert (experts): {question}, {len(by_seed)} seeds"
        blocks.append(table(heading, rows[0], rows[1:], notes))
    return blocks


# ---- annotators whom no model has seen ----

MODELS_OF_NEWCOMERS = {
    "mt": replace(
        MODELS[f"{MT}-answers"],
        title="MT",
        settings={**MODELS[f"{MT}-answers"].settings, "aggregate": True},
    ),
    "heads": Model("Annotator heads", "annotator-heads", {"aggregate": True}),
}
WAYS = {
    "mean": "the mean of known annotators",
    "nearest, 5": "the nearest by 5 answers",
    "nearest": "the nearest by all answers",
    "aggregate": "the aggregate annotator",
    "known": "known annotators, as themselves",
}
FEW = 5
SCORES = (CCC[1], CCC[2], "density TVD", "density JSD")


def measure_newcomers(question: str, corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """How well is each way to predict annotators whom no model has seen?

    Half of the annotators are known, the others are newcomers. A model learns the answers of known
    annotators to the training items, and predicts those of newcomers to the test items of one fold:
    as the mean of all known ones, as the nearest one by what the newcomer answered to training
    items, or as an annotator who learned the consensus.
    """
    from dissensus.methods import seeded

    corpus = corpus.select(questions=(question,))
    folds = item_folds(question, corpus)
    fold = folds[seed % len(folds)]
    known = np.zeros(corpus.n_annotators, dtype=bool)
    order = np.random.default_rng(seed).permutation(corpus.n_annotators)
    known[order[: corpus.n_annotators // 2]] = True
    insiders, newcomers = (corpus.select(annotators=side) for side in (known, ~known))
    train, of_known, validation = fold.parts(insiders)
    enrolment, test, _ = fold.parts(newcomers)
    annotator = enrolment[question].annotator_codes("enrolment")
    few = enrolment[question].take(nth_of(annotator) < FEW)
    some = replace(enrolment, questions={question: few})
    ways: dict[str, tuple[Corpus, dict[str, Any]]] = {
        "mean": (test, {"unknown": "mean"}),
        "nearest, 5": (test, {"unknown": "nearest", "enrolment": some}),
        "nearest": (test, {"unknown": "nearest", "enrolment": enrolment}),
        "aggregate": (test, {"unknown": "aggregate"}),
        "known": (of_known, {}),
    }
    by_model: dict[str, Any] = {}
    for name, model in MODELS_OF_NEWCOMERS.items():
        method = seeded(model.built({}, typed), seed)
        method.fit(train, (question,), validation)
        by_model[name] = {
            way: _scored(method.predict(tested, density=READING, **how), tested, question)
            for way, (tested, how) in ways.items()
        }
    n_answers = np.bincount(annotator)
    return {
        "scores": by_model,
        "n_newcomers": int((~known).sum()),
        "answers": float(np.median(n_answers[n_answers > 0])),
    }


def _scored(predictions: Any, test: Corpus, question: str) -> dict[str, float]:
    (density,) = predictions.densities.values()
    observed = rating_densities(test, (question,), BINS)
    each = scores(predictions[question], test[question], None, list(CCC[1:]))
    distances = {name: DENSITY_METRICS[name](density, observed) for name in SCORES[2:]}
    return {name: float(score) for name, score in (each | distances).items()}


def newcomer_tables(title: str, name: str, by_seed: Sequence[Measured]) -> list[Table | str]:
    """A row for each model and way."""
    rows = [["", *SCORES]]
    for model, of_model in MODELS_OF_NEWCOMERS.items():
        for way, words in WAYS.items():
            of_seeds = [entry["scores"][model][way] for entry in by_seed]
            cells = [mean_and_spread([each[score] for each in of_seeds]) for score in SCORES]
            rows.append([f"{of_model.title}: {words}", *cells])
    newcomers, answers = (np.mean([e[key] for e in by_seed]) for key in ("n_newcomers", "answers"))
    heading = (
        f"{title} ({name}): {newcomers:.0f} newcomers with {answers:.0f} answers to training "
        f"items, {len(by_seed)} seeds"
    )
    notes = (
        "Newcomers are predicted on test items. Means +- standard deviations over seeds, each "
        f"with other newcomers and another fold; densities are {READING}, of 4 cells."
    )
    return [table(heading, rows[0], rows[1:], notes)]


# ---- how many ratings an item needs ----

NUMBERS = (2, 3, 5, 10, 20, 50)
GIVEN = {
    "density": "the density of these ratings, from that of all",
    "shares": "their shares, from those of all",
    "density, from shares": "the density of these ratings, from the shares of all",
    "mean": "their mean, from that of all (of the scale)",
}
LEARNED = {
    "grid density": "Distribution: density",
    "heads density": "Annotator heads: plain density",
    "heads shares": "Annotator heads: shares",
}


def some_ratings(corpus: Corpus, question: str, n: int, seed: int) -> Corpus:
    """At most n ratings of each item, drawn; more of them contain the fewer ones."""
    answers = corpus[question]
    order = np.random.default_rng(seed).permutation(answers.n_rows)
    chosen = np.sort(order[nth_of(answers.item[order]) < n])
    return replace(corpus, questions={question: answers.take(chosen)})


def measure_raters(question: str, corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """Distances from what all ratings of an item give, by the number of ratings: of the density
    itself, and of what is learned.

    The density as published is one of means of random subsets: the more ratings, the narrower it
    is, while the shares of ratings in each cell keep their spread.
    """
    corpus = corpus.select(questions=(question,))
    n = np.bincount(corpus[question].item, minlength=corpus.n_items)
    folds = item_folds(question, corpus)
    fold = folds[seed % len(folds)]
    given, learned = {}, {}
    for m in NUMBERS:
        few = some_ratings(corpus, question, m, seed)
        density, of_all = (_density(each, question) for each in (few, corpus))
        of_few, of_shares = (_shares(each[question], question) for each in (few, corpus))
        means = [_means(each[question]) for each in (few, corpus)]
        given[m] = {
            "density": _tvd(density, of_all),
            "shares": _tvd(of_few, of_shares),
            "density, from shares": _tvd(density, of_shares),
            "mean": float(np.abs(means[0] - means[1]).mean()),
        }
        learned[m] = _learned(few, corpus.select(items=fold.test), fold, question, seed, typed)
    return {"ratings": float(n.mean()), "given": given, "learned": learned}


def _learned(
    few: Corpus, test: Corpus, fold: Any, question: str, seed: int, typed: Typed
) -> dict[str, float]:
    """Of what models predict that learn from few ratings of each item."""
    from dissensus.methods import seeded

    train, _, validation = fold.parts(few)
    of_all, of_shares = _density(test, question), _shares(test[question], question)
    predicted = {}
    for name, model in (("grid", GRID_MODEL), ("heads", HEADS_MODEL)):
        method = seeded(model.built({}, typed), seed).fit(train, (question,), validation)
        predicted[name] = method.predict(test, density=READING, unknown="mean")
    densities = {name: next(iter(each.densities.values())).mass for name, each in predicted.items()}
    mass = predicted["heads"][question].distribution
    return {
        "grid density": _tvd(densities["grid"], of_all),
        "heads density": _tvd(densities["heads"], of_all),
        "heads shares": _tvd(np.asarray(pool(mass, Grid((mass.shape[1],)), BINS)), of_shares),
    }


def _density(corpus: Corpus, question: str) -> np.ndarray:
    return rating_densities(corpus, (question,), BINS, fewest=1).mass


def _shares(answers: Annotations, question: str) -> np.ndarray:
    """The share of an item's ratings in each cell, (n_items, n_cells)."""
    counts = np.zeros((answers.n_items, BINS))
    np.add.at(counts, (answers.item, _cell(question, answers)), 1)
    return counts / counts.sum(axis=1, keepdims=True).clip(min=1)


def _means(answers: Annotations) -> np.ndarray:
    """The mean rating of each item, from 0 to 1."""
    total = np.bincount(answers.item, _positions("rating", answers), minlength=answers.n_items)
    return total / np.bincount(answers.item, minlength=answers.n_items).clip(min=1)


def _tvd(first: np.ndarray, second: np.ndarray) -> float:
    return float(DENSITY_METRICS["density TVD"].each(second, first).mean())


def rater_tables(title: str, name: str, by_seed: Sequence[Measured]) -> list[Table | str]:
    """A column for each number of ratings."""
    rows = [["", *map(str, NUMBERS)]]
    parts = {"given": ("Given", GIVEN), "learned": ("Learned from so many ratings", LEARNED)}
    for part, (above, words_of) in parts.items():
        rows.append([above])
        for key, words in words_of.items():  # keys are texts once they were in a file
            values = ([(e[part].get(m) or e[part][str(m)])[key] for e in by_seed] for m in NUMBERS)
            rows.append([words, *map(mean_and_spread, values)])
    ratings = np.mean([entry["ratings"] for entry in by_seed])
    heading = (
        f"{title} ({name}): distance by the number of ratings of an item, which has "
        f"{ratings:.0f}; {len(by_seed)} seeds"
    )
    notes = (
        f"TVD over {BINS} cells, but for the mean. Learned: AdamW, from so many ratings of "
        "each training item, compared with all ratings of test items. An item with fewer "
        "ratings has all of them."
    )
    return [table(heading, rows[0], rows[1:], notes)]


# ---- which items to send to more annotators ----

FIRST, MORE, SHARES = 3, 7, (0.1, 0.25, 0.5)
TESTED = 0.25  # the share for which the difference from random is tested
DRAWS = 200
SIGNALS = {
    "random": "random",
    "heads": "annotator heads: spread of the predicted annotators",
    "heads distribution": "annotator heads: spread of the predicted distribution",
    "grid": "distribution over cells: entropy",
    "classifier": "classifier of the most frequent cell: softmax entropy",
    "single": "consensus alone: predicted spread",
    "first": f"spread of the first {FIRST} ratings",
    "real": "spread of all ratings (the best ranking)",
}


def measure_more_ratings(question: str, corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """The squared error of the consensus by the share of items with more ratings and by ranking.

    Every item has a few ratings; there is a budget for more ratings of some items. Items are chosen
    by what models predict that were not trained on them. The error is that of the mean of the
    ratings an item then has, from the mean of all its ratings; ratings are drawn from the real
    ones.
    """
    from scipy.stats import spearmanr

    corpus = corpus.select(questions=(question,))
    signals: dict[str, np.ndarray] = {}
    for tested, by_signal in _signals(corpus, question, seed, typed):
        for name, values in by_signal.items():
            signals.setdefault(name, np.zeros(corpus.n_items))[tested] = values
    answers = corpus[question]
    positions = _positions(question, answers)
    ratings = [positions[answers.item == item] for item in range(corpus.n_items)]
    real = np.array([each.std() for each in ratings])
    errors = simulated_errors(ratings, signals | {"real": real}, seed)
    random, less_random = errors[TESTED]["random"], {}
    for name in (name for name in errors[TESTED] if name != "random"):
        test = over_items(errors[TESTED][name], random, resamples=2000)
        ends = ("effect", "low", "high")
        less_random[name] = {end: getattr(test, end) / float(random.mean()) for end in ends}
    return {
        "correlation": {n: float(spearmanr(each, real).statistic) for n, each in signals.items()},
        "errors": {
            f"{share:g}": {name: float(each.mean()) for name, each in by_signal.items()}
            for share, by_signal in errors.items()
        },
        "less random": less_random,
    }


def _signals(
    corpus: Corpus, question: str, seed: int, typed: Typed
) -> Iterator[tuple[np.ndarray, Mapping[str, np.ndarray]]]:
    """What each model predicts for the test items of each fold."""
    folds = item_folds(question, corpus)
    answers = corpus[question]
    cells = Annotations.from_arrays(
        answers.item,
        answers.annotator,
        _cell(question, answers).astype(np.int32),
        Nominal(tuple(str(cell + 1) for cell in range(BINS))),
        items=answers.items,
        annotators=answers.annotators,
        repeats="keep",
    )
    in_cells = replace(corpus, questions={question: cells})
    for name, model, source in (
        ("heads", HEADS_MODEL, corpus),
        ("grid", GRID_MODEL, corpus),
        ("single", SINGLE_MODEL, corpus),
        ("classifier", SINGLE_MODEL, in_cells),
    ):
        parts = [fold.parts(source) for fold in folds]
        fitted = _fitted(model, seed, typed, parts, (question,))
        for fold, method, (_, test, _) in zip(folds, fitted, parts, strict=True):
            yield fold.test, _spreads(name, method, test, question)


def _spreads(name: str, method: Any, test: Corpus, question: str) -> dict[str, np.ndarray]:
    """The signals of one model for test items."""
    if name == "heads":
        prediction = method.predict(test, annotators="all", consensus="all")[question]
        pairs = prediction.by_annotator
        n, mean, squares = (
            np.bincount(pairs.item, pairs.value**power, minlength=test.n_items)
            for power in (0, 1, 2)
        )
        return {
            name: np.sqrt((squares / n - (mean / n) ** 2).clip(min=0)),
            "heads distribution": _spread(prediction.distribution),
        }
    if name == "grid":
        (density,) = method.predict(test, density="soft").densities.values()
        return {name: _entropy(density.mass)}
    distribution = method.predict(test)[question].distribution
    return {name: _spread(distribution) if name == "single" else _entropy(distribution)}


def _spread(distribution: np.ndarray) -> np.ndarray:
    """The standard deviation of a distribution over the bins of a scale, (n_items,)."""
    places = np.linspace(0, 1, distribution.shape[1])
    mean = distribution @ places
    return np.sqrt((distribution @ places**2 - mean**2).clip(min=0))


def _entropy(mass: np.ndarray) -> np.ndarray:
    return -(mass * np.log(mass.clip(min=1e-12))).sum(axis=1)


def simulated_errors(
    ratings: Sequence[np.ndarray], signals: dict[str, np.ndarray], seed: int
) -> dict[float, dict[str, np.ndarray]]:
    """The squared error of each item's consensus, a mean over draws, by share and ranking.

    All rankings see the same draws. Random takes every item with the probability of the share.

    Args:
        ratings: of each item, from 0 to 1.
        signals: items with the highest values get more ratings.
    """
    generator = np.random.default_rng(seed)
    few, many, spreads = (np.zeros((DRAWS, len(ratings))) for _ in range(3))
    for at, of_item in enumerate(ratings):
        drawn = of_item[np.argsort(generator.random((DRAWS, len(of_item))), axis=1)]
        few[:, at] = (drawn[:, :FIRST].mean(axis=1) - of_item.mean()) ** 2
        many[:, at] = (drawn[:, : FIRST + MORE].mean(axis=1) - of_item.mean()) ** 2
        spreads[:, at] = drawn[:, :FIRST].std(axis=1)
    ties = generator.random((DRAWS, len(ratings)))
    errors: dict[float, dict[str, np.ndarray]] = {}
    for share in SHARES:
        n = round(share * len(ratings))
        chosen = {name: _highest(values, n) for name, values in signals.items()}
        chosen["first"] = _highest(spreads, n, ties)
        by_signal = {name: np.where(some, many, few).mean(0) for name, some in chosen.items()}
        by_signal["random"] = (share * many + (1 - share) * few).mean(axis=0)
        errors[share] = by_signal
    return errors


def _highest(values: np.ndarray, n: int, ties: np.ndarray | None = None) -> np.ndarray:
    """True for the n highest values of each row; of equal ones, those with the higher `ties`."""
    second = np.zeros_like(values) if ties is None else ties
    order = np.lexsort((second, values), axis=-1)
    highest = np.zeros(values.shape, dtype=bool)
    np.put_along_axis(highest, order[..., -n:], True, axis=-1)
    return highest


def more_ratings_tables(title: str, name: str, by_seed: Sequence[Measured]) -> list[Table | str]:
    """A row for each ranking."""
    columns = [*(f"error, {share:.0%}" for share in SHARES), f"less random, {TESTED:.0%}"]
    rows = [["items ranked by", "rank correlation", *columns]]
    for key, words in SIGNALS.items():
        correlation = [entry["correlation"].get(key) for entry in by_seed]
        errors = ([e["errors"][f"{share:g}"][key] * 1000 for e in by_seed] for share in SHARES)
        tests = [entry["less random"].get(key) for entry in by_seed]
        cells = [mean_and_spread(of_share, digits=2) for of_share in errors]
        rows.append([words, mean_and_spread(correlation), *cells, _interval(tests)])
    heading = (
        f"{title} ({name}): {FIRST} ratings of each item, {MORE} more of some; {len(by_seed)} seeds"
    )
    notes = (
        "Squared error of the mean rating from the mean of all ratings, times 1000 on a scale "
        "from 0 to 1, by the share of items with more ratings. Rank correlation with the "
        "spread of all ratings. The last column is relative, with a 95 % interval over items "
        "(means over seeds). Every model ranks items that it was not trained on."
    )
    return [table(heading, rows[0], rows[1:], notes)]


def _interval(tests: Sequence[Any]) -> str:
    defined = [test for test in tests if test is not None and test["low"] is not None]
    if not defined:
        return ""
    effect, low, high = (
        100 * np.mean([test[key] for test in defined]) for key in ("effect", "low", "high")
    )
    return f"{effect:+.1f} % [{low:+.1f}, {high:+.1f}]"


# ---- conditions ----

_Kind = tuple[Callable[..., Measured], Callable[..., list[Table | str]]]
_NEWCOMERS: _Kind = (measure_newcomers, newcomer_tables)
_RATERS: _Kind = (measure_raters, rater_tables)
_MORE: _Kind = (measure_more_ratings, more_ratings_tables)
MEASUREMENTS: tuple[MeasuredCondition, ...] = (
    MeasuredCondition(
        "experts", "Each expert", "speechocean762", SEEDS, measure_experts, expert_tables
    ),
    *(
        MeasuredCondition(
            name, title, corpus, SEEDS, partial(measured, question), partial(tables, title, name)
        )
        for name, title, corpus, question, (measured, tables) in (
            ("newcomers", "Newcomers: how likely a hypothesis is", "nli_variation", "rating",
             _NEWCOMERS),
            ("newcomers-jokes", "Newcomers: how funny jokes are", "jester5k", "rating", _NEWCOMERS),
            ("raters", "Ratings per item: hypotheses", "nli_variation", "rating", _RATERS),
            ("raters-faces", "Ratings per item: attractive faces", "faces_3dsk", "att", _RATERS),
            ("more-ratings", "More ratings of which hypotheses", "nli_variation", "rating", _MORE),
            ("more-ratings-jokes", "More ratings of which jokes", "jester5k", "rating", _MORE),
        )
    ),
)  # fmt: skip
