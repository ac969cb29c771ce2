"""Agreement within and between groups: alpha of parts, brute force, and p-values by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.agreement import compare_groups, group_annotators, interval, krippendorff_alpha
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale

SCALES: list[Scale] = [
    Nominal(("a", "b", "c")),
    Ordinal(("1", "2", "3")),
    Interval(0, 2),
    MultiLabel(("a", "b")),
]
ALL = pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)


def crowd(scale: Scale, seed: int, effect: float = 0.0, n: int = 12, n_items: int = 60) -> Corpus:
    """Annotators of different skill; half of them see another truth in a share of items."""
    generator = np.random.default_rng(seed)
    annotator = np.argsort(generator.random((n_items, n)), axis=1)[:, :5].ravel()
    item = np.repeat(np.arange(n_items), 5)
    group = generator.permutation(np.arange(n) % 2)
    truth, other = generator.integers(0, 3, (2, n_items))
    differs = (generator.random(n_items) < effect)[item] & (group[annotator] == 1)
    seen = np.where(differs, other[item], truth[item])
    awake = generator.random(len(item)) < generator.uniform(0.4, 0.9, n)[annotator]
    answer = np.where(awake, seen, generator.integers(0, 3, len(item)))
    annotations = Annotations.from_arrays(item, annotator, answer, scale)
    codes = [int(name) for name in annotations.annotators]
    facts = {"side": np.array(["x", "y"])[group[codes]].tolist()}
    return Corpus.build("c", annotations.items, {"q": annotations}, annotator_attributes=facts)


@ALL
def test_within_a_group_it_is_alpha_of_its_answers(scale: Scale) -> None:
    corpus = crowd(scale, 0)
    result = compare_groups(corpus, ["side"])[0]
    annotations, code = corpus["q"], group_annotators(corpus, "side").code
    for place, group in enumerate(result.groups):
        own = annotations.take(code[annotations.annotator_codes("")] == place)
        assert (group.annotators, group.answers) == ((code == place).sum(), own.n_rows)
        if scale.kind in ("nominal", "interval"):  # levels lie where all answers put them
            assert group.alpha == pytest.approx(krippendorff_alpha(own))
            ends = interval("krippendorff-alpha", own)
            assert (group.low, group.high) == pytest.approx(tuple(ends), abs=0.02)


@ALL
def test_between_groups_by_brute_force(scale: Scale) -> None:
    corpus = crowd(scale, 1)
    annotations, code = corpus["q"], group_annotators(corpus, "side").code
    group = code[annotations.annotator_codes("")]
    answer = annotations.answer
    if scale.kind == "ordinal":
        total = np.bincount(answer, minlength=3)
        answer = (np.cumsum(total) - total / 2)[answer]

    def far(a: float, b: float) -> float:
        if scale.kind == "nominal":
            return float(a != b)
        return float((int(a) ^ int(b)).bit_count()) if scale.kind == "multi-label" else (a - b) ** 2

    apart, weights, used = 0.0, 0.0, []
    for item in range(annotations.n_items):
        rows = np.flatnonzero(annotations.item == item)
        if len(set(group[rows].tolist())) == 2:
            used += rows.tolist()
        for r in rows[group[rows] == 0]:
            for s in rows[group[rows] == 1]:
                apart += far(answer[r], answer[s]) / (len(rows) - 1)
                weights += 1 / (len(rows) - 1)
    first, second = ([answer[r] for r in used if group[r] == code] for code in (0, 1))
    expected = np.mean([far(a, b) for a in first for b in second])
    result = compare_groups(corpus, ["side"])[0]
    assert result.pairs[0].alpha == pytest.approx(1 - apart / weights / expected)
    assert result.between - result.within == pytest.approx(-result.difference)


@pytest.mark.slow
@ALL
def test_p_values_are_uniform_where_groups_do_not_differ(scale: Scale) -> None:
    from scipy.stats import kstest

    p_values = [compare_groups(crowd(scale, seed), ["side"])[0].p_value for seed in range(300)]
    assert kstest(p_values, "uniform").pvalue > 0.001
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.035)


@ALL
def test_a_difference_is_shown_with_the_items_that_divide(scale: Scale) -> None:
    corpus = crowd(scale, 2, effect=0.6, n=20, n_items=120)
    result = compare_groups(corpus, ["side"], most=3)[0]
    assert result.p_value < 0.01 and result.within > result.between
    assert result.corrected == result.p_value
    assert len(result.dividing) == 3
    assert all(0.0 < item.division <= 1.0 for item in result.dividing)
    assert set(result.dividing[0].answers) == {"x", "y"}


def test_corrected_over_attributes_and_questions() -> None:
    corpus = crowd(SCALES[0], 3)
    facts = {"side": corpus.annotator_attributes["side"].to_pylist(), "age": list(range(20, 32))}
    facts["id"] = [str(name) for name in corpus.annotators]
    questions = {"q": corpus["q"], "r": crowd(SCALES[2], 3)["q"]}
    corpus = Corpus.build("c", corpus.items, questions, annotator_attributes=facts)
    results = compare_groups(corpus, ["side", "age"])
    assert [(r.question, r.attribute) for r in results] == [
        (question, attribute) for question in "qr" for attribute in ("side", "age")
    ]
    smallest = min(results, key=lambda result: result.p_value)
    assert smallest.corrected == pytest.approx(min(4 * smallest.p_value, 1))


def attributes(**facts: list[object]) -> Corpus:
    n = len(next(iter(facts.values())))
    rows = [(f"t{i}", f"a{k}", "yes" if (i * k) % 3 else "no") for i in range(4) for k in range(n)]
    annotations = Annotations.from_rows(rows)
    items = [f"t{i}" for i in range(4)]
    return Corpus.build("c", items, {"q": annotations}, annotator_attributes=facts)


def test_groups_of_numbers_missing_and_small_ones() -> None:
    corpus = attributes(
        age=[18, 20, 22, 25, 31, 33, 40, 47, 51, 60, None],
        gender=["f", "f", "f", "f", "f", "m", "m", "m", "m", "x", ""],
    )
    ages = group_annotators(corpus, "age")
    assert ages.names == ["18 to 31", "33 to 60"] and ages.sizes().tolist() == [5, 5]
    result = compare_groups(corpus, ["age"])[0]
    assert result.missing == 1 and result.notes == [
        "age is cut into ranges with about as many annotators each",
        "1 annotator has no age and is left out",
    ]
    result = compare_groups(corpus, ["gender"])[0]
    assert result.notes[-1] == "fewer than 5 annotators, so uncertain: m (4), x (1)"
    assert np.isnan(result.groups[2].alpha)


def test_few_annotators_cannot_show_a_difference() -> None:
    result = compare_groups(attributes(gender=["f", "f", "m", "m"]), ["gender"])[0]
    assert result.permutations == 6 and result.least_p == pytest.approx(1 / 3)
    assert result.notes[-1] == "with so few annotators p cannot be below 0.33"


def test_attributes_without_groups_are_refused() -> None:
    corpus = attributes(gender=["f"] * 4, id=["1a", "2b", "3c", "4d"])
    for attribute, message in {
        "sex": "c: no annotator attribute 'sex'; there are 'gender', 'id'",
        "gender": "c: 'gender' is 'f' for all 4 annotators; a comparison needs two groups",
        "id": "c: 'id' has 4 different values for 4 annotators; groups must have several "
        "annotators each",
    }.items():
        with pytest.raises(DataError) as error:
            compare_groups(corpus, [attribute])
        assert str(error.value) == message
