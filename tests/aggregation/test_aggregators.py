"""Every aggregator: what is promised, and what a peer or a plain loop makes of the same votes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dissensus import Annotations, Interval, Names, Nominal, Ordinal
from dissensus.aggregation import (
    AGGREGATORS,
    Aggregator,
    DawidSkene,
    Gaussian,
    Glad,
    Mace,
    Majority,
    Mean,
    Median,
    OneCoin,
    SoftmaxVote,
    SoftVote,
    Wawa,
    ZeroBasedSkill,
)
from dissensus.aggregation.em import HiddenTruth

VALUES = ("a", "b", "c")
MODELS = {name: one for name, one in AGGREGATORS.items() if issubclass(one, HiddenTruth)}
_PEER = pytest.mark.filterwarnings("ignore")  # crowd-kit beside a newer pandas


def votes(
    n_items: int = 60, n_annotators: int = 8, seed: int = 0, share: float = 0.6
) -> tuple[np.ndarray, Annotations]:
    """True values, and the answers of annotators who are right more or less often."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 3, n_items)
    skill = generator.uniform(0.4, 0.95, n_annotators)
    requested = generator.random((n_items, n_annotators)) < share
    requested[:, 0] = True
    item, annotator = np.nonzero(requested)
    right = generator.random(len(item)) < skill[annotator]
    answer = np.where(right, truth[item], generator.integers(0, 3, len(item)))
    order = generator.permutation(len(item))
    people = Names([f"p{k}" for k in range(n_annotators)])
    answers = Annotations.from_arrays(
        item[order], annotator[order], answer[order], Nominal(VALUES), annotators=people
    )
    return truth, answers


def ratings(n_items: int = 200, n_annotators: int = 10, seed: int = 0) -> tuple[np.ndarray, ...]:
    """True values, biases, spreads and the ratings themselves, 0 to 10."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(5, 1.5, n_items)
    bias = generator.normal(0, 0.8, n_annotators)
    spread = generator.uniform(0.2, 1.5, n_annotators)
    noise = generator.normal(size=(n_items, n_annotators)) * spread
    return truth, bias, spread, (truth[:, None] + bias + noise).clip(0, 10)


def _rated(table: np.ndarray) -> Annotations:
    item, annotator = np.indices(table.shape)
    return Annotations.from_arrays(item.ravel(), annotator.ravel(), table.ravel(), Interval(0, 10))


def _for(aggregator: Aggregator) -> Annotations:
    """Answers on the first scale that the aggregator is for."""
    if "interval" in aggregator.scales and "nominal" not in aggregator.scales:
        return _rated(ratings()[3])
    annotations = votes()[1]
    values = tuple(map(str, range(annotations.scale.n_columns)))
    return (
        annotations
        if "nominal" in aggregator.scales
        else replace(annotations, scale=Ordinal(values))
    )


def frame(annotations: Annotations) -> pd.DataFrame:
    return pd.DataFrame(
        {"task": annotations.item, "worker": annotations.annotator, "label": annotations.answer}
    )


def rows_of(annotations: Annotations) -> list[tuple[int, int, int]]:
    """(item, annotator, answer) of every answer."""
    codes = annotations.annotator_codes("")
    return list(zip(annotations.item, codes, annotations.answer, strict=True))


def gold_of(annotations: Annotations, answers: np.ndarray) -> Annotations:
    """Labels of the first items."""
    first, items = np.arange(len(answers)), annotations.items
    return Annotations.from_arrays(first, None, answers, annotations.scale, items=items)


@pytest.fixture(params=AGGREGATORS)
def aggregator(request: pytest.FixtureRequest) -> Aggregator:
    few = {"draws": 30, "warm_up": 10} if request.param == "bayesian-dawid-skene" else {}
    return AGGREGATORS[request.param](**few)


# ---- what is promised of every aggregator ----


def test_rows_are_distributions(aggregator: Aggregator) -> None:
    annotations = _for(aggregator)
    fitted = aggregator.fit(annotations)
    assert fitted is aggregator
    assert fitted.distribution_.shape == (annotations.n_items, annotations.scale.n_columns)
    np.testing.assert_allclose(fitted.distribution_.sum(axis=1), 1)
    assert fitted.consensus_.item.tolist() == list(range(annotations.n_items))
    annotations.scale.check(fitted.consensus_.answer)


@pytest.mark.parametrize("name", MODELS)
def test_the_numbering_of_annotators_does_not_matter(name: str) -> None:
    """Rows in another order: annotators and items have other codes, also at random starts."""
    generator = np.random.default_rng(4)
    settings = {"iterations": 3, "restarts": 1} if name == "mace" else {"iterations": 3}
    for seed in range(3):
        annotations = votes(40, 12, seed)[1]
        first = AGGREGATORS[name](**settings).fit(annotations).distribution_
        names = list(annotations.annotators)
        rows = [(str(i), names[who], VALUES[answer]) for i, who, answer in rows_of(annotations)]
        shuffled = [rows[k] for k in generator.permutation(len(rows))]
        other = Annotations.from_rows(shuffled, annotations.scale)
        assert list(other.annotators) != names
        again = AGGREGATORS[name](**settings).fit(other).distribution_
        np.testing.assert_allclose(again, first[np.array(list(other.items), int)], atol=1e-9)


def test_the_order_of_rows_does_not_matter(aggregator: Aggregator) -> None:
    generator = np.random.default_rng(2)
    for seed in range(4):
        annotations = _for(aggregator) if seed == 0 else votes(30, 4, seed, share=1.0)[1]  # ties
        if annotations.scale.kind not in aggregator.scales:
            continue
        first = aggregator.fit(annotations)
        distribution, answer = first.distribution_, first.consensus_.answer
        for _ in range(2):
            again = aggregator.fit(annotations.take(generator.permutation(annotations.n_rows)))
            np.testing.assert_allclose(again.consensus_.answer, answer, atol=1e-9)
            # two starts of mace may have the same objective to 1e-14: either may be kept
            tolerance = 1e-6 if isinstance(aggregator, Mace) else 1e-9
            np.testing.assert_allclose(again.distribution_, distribution, atol=tolerance)


def test_an_item_nobody_answered_has_no_consensus(aggregator: Aggregator) -> None:
    annotations = _for(aggregator)
    kept = annotations.take(annotations.item != 5)
    fitted = aggregator.fit(kept)
    assert np.isnan(fitted.distribution_[5]).all()
    assert 5 not in fitted.consensus_.item
    assert np.isfinite(np.delete(fitted.distribution_, 5, axis=0)).all()


def test_one_annotator_and_one_value(aggregator: Aggregator) -> None:
    annotations = _for(aggregator)
    alone = annotations.take(annotations.annotator_codes("") == 0)
    np.testing.assert_allclose(aggregator.fit(alone).distribution_.sum(axis=1), 1)
    annotations.answer[:] = 1
    fitted = aggregator.fit(annotations)
    assert (fitted.consensus_.answer == 1).all() or isinstance(aggregator, Gaussian)
    np.testing.assert_allclose(fitted.consensus_.answer, 1, atol=0.01)


def test_anonymous_votes_work_where_nobody_need_be_known() -> None:
    annotations = votes()[1]
    nameless = Annotations.from_arrays(
        annotations.item, None, annotations.answer, annotations.scale
    )
    for plain in (Majority(), SoftVote(), SoftmaxVote()):
        expected = type(plain)().fit(annotations).distribution_
        np.testing.assert_array_equal(plain.fit(nameless).distribution_, expected)


# ---- votes ----


def test_votes_by_hand() -> None:
    rows = [("1", "p", "a"), ("1", "q", "a"), ("1", "r", "b"), ("2", "p", "b"), ("2", "q", "c")]
    annotations = Annotations.from_rows(rows, Nominal(VALUES))
    majority = Majority().fit(annotations)
    assert majority.distribution_.tolist() == [[2 / 3, 1 / 3, 0], [0, 0.5, 0.5]]
    assert majority.consensus_.answers() == ["a", "b"]
    assert Majority(ties="last").fit(annotations).consensus_.answers() == ["a", "c"]
    assert Majority(ties="drop").fit(annotations).consensus_.answers() == ["a"]
    assert SoftVote().fit(annotations).distribution_[0].tolist() == [2 / 3, 1 / 3, 0]
    e = np.exp([2, 1, 0])
    np.testing.assert_allclose(SoftmaxVote().fit(annotations).distribution_[0], e / e.sum())


def test_softmax_of_five_votes_is_the_papers_value() -> None:  # Fornaciari et al. 2021
    scale = Nominal(tuple("abcdefghijkl"))
    five = Annotations.from_arrays(np.zeros(1, int), None, np.zeros(1, int), scale, count=[5])
    result = SoftmaxVote().fit(five).distribution_[0]
    assert result[0] == pytest.approx(0.930997, abs=1e-6)
    assert result[1] == pytest.approx(0.006273, abs=1e-6)


def test_wawa_and_zero_based_skill_by_a_plain_loop() -> None:
    annotations = votes()[1]
    rows = rows_of(annotations)

    def vote(skill: dict[int, float]) -> dict[int, dict[int, float]]:
        shares: dict[int, dict[int, float]] = {}
        for item, who, answer in rows:
            of_item = shares.setdefault(item, dict.fromkeys(range(3), 0.0))
            of_item[answer] += skill[who]
        return shares

    def agreement(shares: dict[int, dict[int, float]]) -> dict[int, float]:
        same: dict[int, list[bool]] = {}
        for item, who, answer in rows:
            best = max(range(3), key=lambda k: (shares[item][k], -k))
            same.setdefault(who, []).append(answer == best)
        return {who: float(np.mean(result)) for who, result in same.items()}

    def check(result: Aggregator, skill: dict[int, float]) -> None:
        for item, of_item in vote(skill).items():
            total = sum(of_item.values())
            expected = [of_item[k] / total for k in range(3)]
            np.testing.assert_allclose(result.distribution_[item], expected)

    people = range(8)
    check(Wawa().fit(annotations), agreement(vote(dict.fromkeys(people, 1.0))))
    skill, rate = dict.fromkeys(people, 1 / 3 + 1e-5), 1.0
    for step in range(1, 101):
        rate *= 0.5 if step % 20 == 0 else 1.0
        new = agreement(vote(skill))
        skill = {who: skill[who] + rate * (new[who] - skill[who]) for who in people}
    check(ZeroBasedSkill().fit(annotations), skill)


# ---- hidden truth ----


@_PEER
@pytest.mark.parametrize("iterations", [1, 7, 40])
@pytest.mark.parametrize(
    ("model", "name"), [(DawidSkene, "DawidSkene"), (OneCoin, "OneCoinDawidSkene")]
)
def test_as_crowd_kit(model: type[HiddenTruth], name: str, iterations: int) -> None:
    import crowdkit.aggregation

    annotations = votes(200, 12)[1]
    fitted = model(iterations=iterations, tolerance=0).fit(annotations)
    peer = getattr(crowdkit.aggregation, name)(n_iter=iterations, tol=-np.inf)
    peer.fit(frame(annotations))
    expected = peer.probas_.sort_index()[[0, 1, 2]].to_numpy()
    np.testing.assert_allclose(fitted.distribution_, expected, atol=1e-6)
    assert fitted.n_iterations_ == iterations
    np.testing.assert_allclose(fitted.prior_, peer.priors_[[0, 1, 2]].to_numpy(), atol=1e-6)


@_PEER
@pytest.mark.parametrize("seed", range(4))
def test_dawid_skene_as_crowd_kit_where_annotators_answered_little(seed: int) -> None:
    """Most annotators never gave some of the values, and never saw others."""
    from crowdkit.aggregation import DawidSkene as Peer

    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 6, 80)
    item, annotator = np.nonzero(generator.random((80, 30)) < 0.1)
    answer = np.where(generator.random(len(item)) < 0.6, truth[item], item % 6)
    annotations = Annotations.from_arrays(item, annotator, answer, Nominal(tuple("abcdef")))
    model = DawidSkene(iterations=20, tolerance=0).fit(annotations)
    peer = Peer(n_iter=20, tol=-np.inf).fit(frame(annotations))
    assert peer.probas_ is not None
    expected = peer.probas_.sort_index()[list(range(6))].to_numpy()
    there = annotations.per_item() > 0
    np.testing.assert_allclose(model.distribution_[there], expected, atol=1e-6)


def test_what_an_annotator_never_answers() -> None:
    rows = [("1", "p", "a"), ("1", "q", "a"), ("2", "p", "a"), ("2", "q", "b"), ("2", "r", "b")]
    annotations = Annotations.from_rows(rows, Nominal(VALUES))
    result = DawidSkene().fit(annotations).confusion_
    np.testing.assert_allclose(result.sum(axis=2), 1)
    np.testing.assert_allclose(result[0], [[1, 0, 0]] * 3)  # p says "a" whatever is true
    smoothed = DawidSkene(smoothing=1).fit(annotations).confusion_
    assert (smoothed > 0).all()
    np.testing.assert_allclose(smoothed.sum(axis=2), 1)


# ---- calibrated probabilities of Dawid and Skene's model ----


def sparse_crowd(seed: int, guessing: float = 0.0) -> tuple[np.ndarray, Annotations]:
    """200 items with five answers of 20 annotators, right with 0.6 to 0.95; some items are hard.

    Args:
        guessing: how often annotators guess, on average over items.
    """
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 3, 200)
    annotator = np.argsort(generator.random((200, 20)), axis=1)[:, :5].ravel()
    item = np.repeat(np.arange(200), 5)
    accuracy = generator.uniform(0.6, 0.95, 20)[annotator]
    hard = generator.beta(0.5, 0.5 * (1 - guessing) / guessing, 200) if guessing else np.zeros(200)
    right = generator.random(1000) < accuracy
    answer = np.where(right, truth[item], (truth[item] + generator.integers(1, 3, 1000)) % 3)
    guess = generator.random(1000) < hard[item]
    answer = np.where(guess, generator.integers(0, 3, 1000), answer)
    return truth, Annotations.from_arrays(item, annotator, answer, Nominal(VALUES))


@pytest.mark.parametrize("guessing", [0.0, 0.15])
def test_high_confidence_is_right(guessing: float) -> None:
    certain: dict[str, list[bool]] = {"published": [], "calibrated": []}
    right: dict[str, list[float]] = {"published": [], "calibrated": []}
    confidence = []
    for seed in range(12):
        truth, annotations = sparse_crowd(seed, guessing)
        fitted = DawidSkene().fit(annotations)
        published, calibrated = fitted.distribution_, fitted.prediction_.distribution
        for name, each in (("published", published), ("calibrated", calibrated)):
            same = each.argmax(axis=1) == truth
            certain[name].extend(same[each.max(axis=1) >= 0.99])
            right[name].append(same.mean())
        confidence.append(calibrated.max(axis=1).mean())
    assert np.mean(certain["published"]) < 0.97
    assert np.mean(certain["calibrated"]) > 0.985 and len(certain["calibrated"]) > 450
    assert np.mean(right["calibrated"]) >= np.mean(right["published"])
    assert abs(np.mean(confidence) - np.mean(right["calibrated"])) < 0.03


def test_calibrated_probabilities_by_a_plain_loop() -> None:
    annotations = votes(30, 4, share=0.8)[1]
    items = [np.flatnonzero(annotations.item == i) for i in range(30)]
    who, answer = annotations.annotator_codes(""), annotations.answer
    chosen = np.eye(3)[answer]  # (n_rows, answered)
    shares = annotations.distribution()

    def chances(item: int) -> np.ndarray:
        """Of each answer to the item given its true value, from other items: (n, n_values)."""
        others = np.isin(np.arange(len(answer)), items[item], invert=True)
        result = np.empty((len(items[item]), 3))
        for place, row in enumerate(items[item]):
            own = others & (who == who[row])
            counts = shares[annotations.item[own]].T @ chosen[own]  # (true, answered)
            for true in range(3):
                n, right = counts[true].sum(), counts[true, true]
                chance = (right + 0.7 * 6) / (n + 6)
                if answer[row] != true:
                    chance = (1 - chance) * (counts[true, answer[row]] + 1) / (n - right + 2)
                result[place, true] = chance
        return result

    def posterior(item: int, chance: np.ndarray, power: float) -> np.ndarray:
        weight = (shares.sum(axis=0) - shares[item] + 1) * chance.prod(axis=0) ** power
        return weight / weight.sum()

    change = 1.0
    while change >= 0.01:
        new = np.array([posterior(i, chances(i), 1) for i in range(30)])
        change, shares = np.abs(new - shares).max(), new
    known = [chances(item) for item in range(30)]

    def likelihood(power: float) -> float:
        total = 0.0
        for item, chance in enumerate(known):
            for left_out in range(len(chance) if len(chance) > 1 else 0):
                rest = np.delete(chance, left_out, axis=0)
                total += np.log(posterior(item, rest, power) @ chance[left_out])
        return total

    power = max((k / 10 for k in range(10, 0, -1)), key=likelihood)
    if likelihood(power) - likelihood(1) <= 0.15 * len(answer) / 30:
        power = 1.0
    power /= 2 - power  # 1 / (1 + 2 r), where 1 / (1 + r) fits best
    expected = [posterior(item, known[item], power) for item in range(30)]
    np.testing.assert_allclose(DawidSkene().fit(annotations).calibrated_, expected, atol=1e-9)


def test_gold_labels_calibrate() -> None:
    """Annotators share their errors on a fifth of the items, so that no answers show these."""
    apart: dict[str, list[float]] = {"answers": [], "gold": []}
    for seed in range(6):
        truth, annotations = sparse_crowd(seed)
        true = np.where(np.random.default_rng(seed).random(200) < 0.2, (truth + 1) % 3, truth)
        for name, known in (("answers", None), ("gold", gold_of(annotations, true[:60]))):
            chances = DawidSkene().fit(annotations, gold=known).calibrated_[60:]
            right = chances.argmax(axis=1) == true[60:]
            apart[name].append(float(chances.max(axis=1).mean() - right.mean()))
    assert np.mean(apart["answers"]) > 0.1 > abs(np.mean(apart["gold"]))


def test_doubt_where_answers_to_an_item_have_much_in_common() -> None:
    """Of some items, many annotators see the one value, whatever is true."""
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 2, 200)
    item, annotator = np.repeat(np.arange(200), 20), np.tile(np.arange(20), 200)
    seen = generator.beta(0.6, 0.6, 200)
    for chance, why in ((np.where(truth, 0.2, 0.8), "assumes that"), (seen, "is doubtful")):
        answer = (generator.random(4000) > chance[item]).astype(int)
        answers = Annotations.from_arrays(item, annotator, answer, Nominal(("a", "b")))
        fitted = DawidSkene().fit(answers)
        assert fitted.doubt_.startswith(f"confidence {why}")
        assert not DawidSkene().fit(answers, gold=gold_of(answers, truth[:30])).doubt_
        if why == "assumes that":
            assert fitted.calibrated_.max(axis=1).mean() > 0.98
    assert OneCoin().fit(answers).doubt_.startswith("confidence is the model's own")
    assert not Majority().fit(answers).doubt_


def test_calibrated_probabilities_keep_gold_and_unused_values() -> None:
    annotations = contrarians(0)
    fitted = DawidSkene().fit(annotations, gold=gold_of(annotations, np.ones(10, int)))
    np.testing.assert_array_equal(fitted.calibrated_[:10], np.eye(3)[[1] * 10])
    assert (fitted.calibrated_[:, 2] == 0).all()
    np.testing.assert_allclose(fitted.calibrated_.sum(axis=1), 1)


def test_dawid_skene_by_a_plain_loop() -> None:
    annotations = votes(40, 5)[1]
    shares = annotations.distribution()
    for _ in range(3):
        prior = shares.mean(axis=0)
        confusion = np.zeros((5, 3, 3))  # annotator, true, answered
        for item, who, output in rows_of(annotations):
            confusion[who, :, output] += shares[item]
        confusion = confusion.clip(1e-10)
        confusion /= confusion.sum(axis=2, keepdims=True)
        weight = np.tile(prior, (40, 1))
        for item, who, output in rows_of(annotations):
            weight[item] *= confusion[who, :, output]
        likelihood = np.log(weight.sum(axis=1)).sum()
        shares = weight / weight.sum(axis=1, keepdims=True)
    model = DawidSkene(iterations=3, tolerance=0).fit(annotations)
    np.testing.assert_allclose(model.distribution_, shares, atol=1e-12)
    assert model.log_likelihood_[-1] == pytest.approx(likelihood)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_maximised_never_falls(name: str) -> None:
    fitted = AGGREGATORS[name]().fit(votes(300, 15)[1])
    trace = getattr(fitted, "objective_", None) or fitted.log_likelihood_  # type: ignore[attr-defined]
    trace = trace[name == "mace" :]  # a random start is not yet a distribution over parameters
    assert len(trace) > 3 and (np.diff(trace) > -1e-8).all()


def test_it_stops_when_nothing_changes() -> None:
    fitted = DawidSkene(iterations=1000, tolerance=1e-4).fit(votes()[1])
    assert 1 < fitted.n_iterations_ < 1000


@_PEER
@pytest.mark.parametrize("variational", [True, False])
def test_mace_from_the_same_start_as_crowd_kit(
    variational: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crowdkit.aggregation import MACE as Peer

    class Start:  # crowd-kit draws everything anew from its seed
        def uniform(self, low: float, high: float, size: tuple[int, int]) -> np.ndarray:
            return np.random.RandomState(3).uniform(low, high, size)

    built = votes(200, 12)[1]
    # numbered by first appearance, since crowd-kit mixes annotators and values up otherwise
    who, answer = pd.factorize(built.annotator_codes(""))[0], pd.factorize(built.answer)[0]
    annotations = Annotations.from_arrays(built.item, who, answer, built.scale)
    peer = Peer(n_restarts=1, n_iter=50, method="vb" if variational else "em", random_state=3).fit(
        frame(annotations)
    )
    assert peer.probas_ is not None
    monkeypatch.setattr(np.random, "default_rng", lambda seed: Start())
    model = Mace(iterations=51, restarts=1, variational=variational).fit(annotations)
    expected = peer.probas_.sort_index()[[0, 1, 2]].to_numpy()
    np.testing.assert_allclose(model.distribution_, expected, atol=1e-9)


def test_divergence_by_integration() -> None:
    from scipy.integrate import quad
    from scipy.stats import beta

    from dissensus.aggregation.reliability import divergence

    drawn, prior = beta(3.5, 1.7), beta(0.5, 0.8)
    expected = quad(lambda x: drawn.pdf(x) * (drawn.logpdf(x) - prior.logpdf(x)), 0, 1)[0]
    result = divergence(np.array([[3.5, 1.7]] * 2), np.array([[0.5, 0.8]] * 2))
    assert result == pytest.approx(2 * expected)


def test_restarts_of_mace_differ_and_the_best_is_kept() -> None:
    annotations = votes(60, 8)[1]
    one = [Mace(iterations=5, restarts=1, seed=s).fit(annotations) for s in range(3)]
    assert len({round(fitted.log_likelihood_[-1], 6) for fitted in one}) > 1
    many = Mace(iterations=5, restarts=6).fit(annotations)
    assert many.log_likelihood_[-1] >= one[0].log_likelihood_[-1]
    same = Mace(iterations=5, restarts=6).fit(annotations)
    np.testing.assert_array_equal(many.distribution_, same.distribution_)


@_PEER
def test_glad_is_at_least_as_high_as_crowd_kit() -> None:
    from crowdkit.aggregation import GLAD as Peer

    annotations = votes(60, 8)[1]
    peer = Peer(n_iter=10, tol=-np.inf, silent=True).fit(frame(annotations))
    ours = Glad(iterations=11, tolerance=0).fit(annotations)
    theirs = _glad_objective(
        annotations, peer.alphas_.sort_index().to_numpy(), peer.betas_.sort_index().to_numpy()
    )
    assert ours.objective_[-1] >= theirs - 1e-6
    now = _glad_objective(annotations, ours.ability_, ours.log_ease_)
    assert now >= ours.objective_[-1] - 1e-9


def _glad_objective(annotations: Annotations, ability: np.ndarray, log_ease: np.ndarray) -> float:
    weight = np.full((annotations.n_items, 3), np.log(1 / 3))
    for item, who, output in rows_of(annotations):
        sure = 1 / (1 + np.exp(-ability[who] * np.exp(log_ease[item])))
        weight[item] += np.log(np.where(np.arange(3) == output, sure, (1 - sure) / 2))
    likelihood = np.logaddexp.reduce(weight, axis=1).sum()
    return float(likelihood - 0.5 * ((ability - 1) ** 2).sum() - 0.5 * ((log_ease - 1) ** 2).sum())


def test_abilities_and_difficulties_mean_what_they_say() -> None:
    truth, annotations = votes(300, 10)
    fitted = Glad().fit(annotations)
    right = annotations.answer == truth[annotations.item]
    codes = annotations.annotator_codes("")
    accuracy = np.bincount(codes, right) / np.bincount(codes)
    assert np.corrcoef(accuracy, fitted.ability_)[0, 1] > 0.9
    hard = np.bincount(annotations.item, ~right) / annotations.per_item()
    assert np.corrcoef(hard, np.log(fitted.difficulty_))[0, 1] > 0.3


def test_the_anaesthetists_of_dawid_and_skene(data_folder: object) -> None:
    """Dawid & Skene (1979), table 4: the estimated classes of the 45 patients."""
    from dissensus import read

    path = f"{data_folder}/dawid_skene_classics/anesthesia.csv"
    scale = "ordinal:1.0,2.0,3.0,4.0"
    corpus = read(
        path, item="item", annotator="rater", answer="rating", repeats="keep", scale=scale
    )
    (answers,) = corpus.questions.values()
    fitted = DawidSkene(iterations=200, tolerance=1e-9).fit(answers)
    assert fitted.prior_ == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.006)
    assert answers.n_rows == 315 and fitted.confusion_.shape == (5, 4, 4)


# ---- values of the scale that nobody gave ----


def contrarians(seed: int, n_values: int = 2) -> Annotations:
    """Answers among the first values of a scale of three; three of eight annotators are mostly
    wrong."""
    generator = np.random.default_rng(seed)
    item = np.repeat(np.arange(40), 4)
    annotator = np.concatenate([generator.permutation(8)[:4] for _ in range(40)])
    truth = generator.integers(0, n_values, 40)[item]
    wrong = (truth + generator.integers(1, n_values, len(item))) % n_values
    right = generator.random(len(item)) < np.where(annotator < 3, 0.1, 0.7)
    return Annotations.from_arrays(item, annotator, np.where(right, truth, wrong), Nominal(VALUES))


@pytest.mark.parametrize("name", MODELS)
def test_a_value_nobody_gave_has_probability_zero(name: str) -> None:
    all_values = contrarians(0, n_values=3)
    rare = np.isin(all_values.item, all_values.item[all_values.answer == 2])
    for answers in (*map(contrarians, range(10)), all_values.take(~rare)):
        fitted = MODELS[name]().fit(answers)
        answered = answers.per_item() > 0
        assert answered.any() and (fitted.distribution_[answered, 2] == 0).all()
        np.testing.assert_allclose(fitted.distribution_[answered].sum(axis=1), 1)
        assert np.isfinite(fitted.log_likelihood_).all()
        if name == "dawid-skene":
            without = AGGREGATORS[name]().fit(answers.to(Nominal(("a", "b")))).distribution_
            np.testing.assert_allclose(fitted.distribution_[:, :2], without, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_a_value_that_only_gold_has_stays_possible(name: str) -> None:
    annotations = contrarians(0)
    fitted = MODELS[name]().fit(annotations, gold=gold_of(annotations, np.full(15, 2)))
    np.testing.assert_array_equal(fitted.distribution_[:15], np.eye(3)[[2] * 15])
    assert (fitted.distribution_[15:, 2] > 0).any() and np.isfinite(fitted.distribution_).all()


@pytest.mark.parametrize(("name", "mirrored"), [("one-coin", False), ("dawid-skene", True)])
def test_tied_tables_do_not_depend_on_the_order_of_rows(name: str, mirrored: bool) -> None:
    """Few answers leave ties, which the rounding of a sum could break in either direction."""
    for seed in range(30, 60):
        generator = np.random.default_rng(seed)
        n_items, n_annotators, n_values = generator.integers((2, 2, 2), (9, 6, 4))
        rows = [
            (f"t{i}", f"p{k}", int(generator.integers(n_values)))
            for i in range(n_items) for k in range(n_annotators) if generator.random() < 0.8
        ]  # fmt: skip
        if mirrored:
            rows += [(f"{item}m", who, int(n_values) - 1 - answer) for item, who, answer in rows]
        results = []
        for order in (np.arange(len(rows)), *(generator.permutation(len(rows)) for _ in range(4))):
            given = [(rows[i][0], rows[i][1], VALUES[rows[i][2]]) for i in order]
            annotations = Annotations.from_rows(given, Nominal(VALUES[:n_values]))
            fitted = AGGREGATORS[name]().fit(annotations).distribution_
            results.append(fitted[annotations.items.codes(sorted(annotations.items))])
        np.testing.assert_allclose(results[1:], [results[0]] * 4, atol=1e-6)


# ---- gold questions ----


@pytest.mark.parametrize("name", MODELS)
def test_gold_stays_and_teaches(name: str) -> None:
    truth, annotations = votes(120, 8)
    fitted = MODELS[name]().fit(annotations, gold=gold_of(annotations, truth[:40]))
    np.testing.assert_array_equal(fitted.distribution_[:40], np.eye(3)[truth[:40]])
    assert (fitted.consensus_.answer[40:] == truth[40:]).mean() > 0.7


def test_threads_count_what_one_thread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    from dissensus.aggregation import em

    annotations = votes(500, 9)[1]
    for name in ("dawid-skene", "one-coin", "glad"):
        one = AGGREGATORS[name]().fit(annotations).distribution_
        monkeypatch.setattr(em, "FEW", 0)
        monkeypatch.setattr("os.cpu_count", lambda: 3)
        three = AGGREGATORS[name]().fit(annotations).distribution_
        monkeypatch.undo()
        np.testing.assert_allclose(three, one, atol=1e-9)


def test_very_many_answers_to_one_item_do_not_underflow() -> None:
    people = 5000
    annotations = Annotations.from_arrays(
        np.zeros(people, int), np.arange(people), np.arange(people) % 2, Ordinal(("1", "2", "3"))
    )
    for model in MODELS.values():
        fitted = model().fit(annotations)
        assert np.isfinite(fitted.distribution_).all()
        assert np.isfinite(fitted.log_likelihood_).all()


# ---- ratings ----


def test_mean_and_median_are_numpys() -> None:
    table = ratings(50, 7)[3]
    annotations = _rated(table)
    np.testing.assert_allclose(Mean().fit(annotations).consensus_.answer, table.mean(axis=1))
    for n in (7, 4):
        first = annotations.take(annotations.annotator_codes("") < n)
        result = Median().fit(first).consensus_.answer
        np.testing.assert_allclose(result, np.median(table[:, :n], axis=1))


def test_medians_of_counts() -> None:
    votes_of = Annotations.from_arrays(
        np.array([0, 0, 1]), None, np.array([2.0, 4.0, 7.0]), Interval(0, 10), count=[2, 2, 5]
    )
    assert Median().fit(votes_of).consensus_.answer.tolist() == [3.0, 7.0]


def test_gaussian_finds_biases_and_spreads() -> None:
    truth, bias, spread, table = ratings(400, 12)
    fitted = Gaussian().fit(_rated(table))
    np.testing.assert_allclose(fitted.bias_, bias - bias.mean(), atol=0.15)
    assert np.corrcoef(fitted.spread_, spread)[0, 1] > 0.95
    error = np.abs(fitted.consensus_.answer - truth - bias.mean()).mean()
    plain = np.abs(table.mean(axis=1) - truth - bias.mean()).mean()
    assert error < 0.8 * plain


def test_gaussian_likelihood_against_a_multivariate_normal() -> None:
    from scipy.stats import multivariate_normal

    from dissensus.aggregation.gaussian import Ratings

    generator = np.random.default_rng(0)
    unit, bias = generator.normal(size=(4, 3)), generator.normal(size=3)
    noise = generator.uniform(0.5, 2, 3)
    covariance = np.diag(noise) + 0.7
    expected = multivariate_normal(bias + 0.2, covariance).logpdf(unit).sum()
    model = Ratings.of(_rated(np.zeros((4, 3))), unit.ravel(), "a test")
    model.bias, model.noise, model.middle, model.spread = bias, noise, 0.2, 0.7
    assert model.log_likelihood() == pytest.approx(expected)


def test_an_aggregator_is_a_table() -> None:
    fitted = Majority().fit(Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")]))
    assert fitted.to_table().equals(fitted.prediction_.to_table())
    assert list(fitted.to_pandas().columns[:3]) == ["item", "answer", "confidence"]
