"""Agreement within and between groups: alpha of parts, brute force, and p-values by simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dissensus.agreement import compare_groups, group_annotators, interval, krippendorff_alpha
from dissensus.agreement.significance import permutation_tests
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.names import Names
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
def test_equal_groups_seldom_differ(scale: Scale) -> None:
    tests = [permutation_tests(*of_sides(crowd(scale, seed)), 2, 0) for seed in range(200)]
    for name in ("views", "level", "reliability"):
        assert np.mean([getattr(test, name) <= 0.05 for test in tests]) <= 0.085, name


def of_sides(corpus: Corpus) -> tuple[Annotations, np.ndarray]:
    return corpus["q"], group_annotators(corpus, "side").code


def shown(crowds: int, answers: Callable[[np.random.Generator], np.ndarray], n: int,
          scale: Scale = SCALES[0]) -> dict[str, float]:  # fmt: skip
    """Shares of crowds with p <= 0.05; the first n annotators are one group."""
    counts = np.zeros(3)
    for seed in range(crowds):
        table = answers(np.random.default_rng(seed))  # (n_annotators, n_items), nan: none
        annotator, item = np.nonzero(~np.isnan(table))
        values = table[annotator, item]
        annotations = Annotations.from_arrays(
            item,
            annotator,
            values if isinstance(scale, Interval) else values.astype(int),
            scale,
            items=Names.range(table.shape[1]),
            annotators=Names.range(table.shape[0]),
        )
        test = permutation_tests(annotations, (np.arange(len(table)) >= n).astype(int), 2, 0)
        counts += np.array([test.views, test.level, test.reliability]) <= 0.05
    return dict(zip(("views", "level", "reliability"), counts / crowds, strict=True))


def skilled(
    generator: np.random.Generator, skills: np.ndarray, n_items: int, per_item: int | None = None
) -> np.ndarray:
    """Annotators who know the truth with these chances, and guess one of three values otherwise."""
    n = len(skills)
    guesses = generator.integers(0, 3, (n, n_items))
    known = generator.random((n, n_items)) < skills[:, None]
    answers = np.where(known, generator.integers(0, 3, n_items), guesses).astype(float)
    if per_item is not None:
        answers[generator.random((n, n_items)).argsort(axis=0).argsort(axis=0) >= per_item] = np.nan
    return answers


@pytest.mark.parametrize(("sizes", "per_item"), [((6, 6), None), ((4, 12), None), ((15, 15), 4)])
def test_less_careful_annotators_have_no_other_views(
    sizes: tuple[int, int], per_item: int | None
) -> None:
    skills = np.repeat([0.9, 0.5], sizes)
    result = shown(25, lambda g: skilled(g, skills, 120, per_item), sizes[0])
    assert result["views"] <= 0.08 and result["level"] <= 0.08
    assert result["reliability"] >= 0.9


def test_lenient_annotators_have_no_other_views() -> None:
    def answers(generator: np.random.Generator) -> np.ndarray:
        ratings = generator.normal(size=80) + 0.7 * generator.normal(size=(12, 80))
        return np.clip(np.round(ratings + 2 + np.repeat([0.0, 0.8], 6)[:, None]), 0, 4)

    result = shown(25, answers, 6, Ordinal(tuple("12345")))
    assert result["views"] <= 0.08 and result["level"] >= 0.9


def test_views_of_four_against_three_are_shown() -> None:
    """91 % against 8 % say yes to a fifth of the items, in either direction."""

    def answers(generator: np.random.Generator) -> np.ndarray:
        chance = np.tile(np.where(generator.random(100) < 0.5, 0.9, 0.1), (7, 1))
        chance[:4, :20], chance[4:, :20] = 0.91, 0.08
        chance[:, :10] = 0.99 - chance[:, :10]
        return (generator.random((7, 100)) < chance).astype(float)

    result = shown(25, answers, 4, Nominal(("no", "yes")))
    assert result["views"] >= 0.9 and result["level"] <= 0.08


def test_a_small_group_that_answers_the_opposite_has_other_views() -> None:
    def answers(generator: np.random.Generator) -> np.ndarray:
        truth = (np.arange(60) % 2) ^ (np.arange(10) >= 7)[:, None]
        return np.where(generator.random((10, 60)) < 0.1, 1 - truth, truth).astype(float)

    assert shown(10, answers, 7, Nominal(("no", "yes")))["views"] == 1.0


def test_levels_are_differences_on_the_same_items() -> None:
    table = np.array([[2.0, 3, 4, 1], [2, 4, 4, np.nan], [3, 5, 4, np.nan], [4, 4, 5, np.nan]])
    annotator, item = np.nonzero(~np.isnan(table))
    annotations = Annotations.from_arrays(item, annotator, table[annotator, item], Interval(0, 9))
    test = permutation_tests(annotations, np.array([0, 0, 1, 1]), 2, 0)
    expected = table[2:, :3].mean() - table[:2, :3].mean()
    assert test.levels[:, 0] == pytest.approx([-expected, expected])
    assert test.least == pytest.approx(1 / 3)


def test_large_tables_are_sparse_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    annotations, code = of_sides(crowd(SCALES[0], 5, effect=0.3))
    dense = permutation_tests(annotations, code, 2, 0)
    monkeypatch.setattr("dissensus.agreement.significance.MOST_DENSE", 3)
    sparse = permutation_tests(annotations, code, 2, 0)
    assert (dense.views, dense.level) == pytest.approx((sparse.views, sparse.level))


def test_groups_without_common_items_are_not_tested() -> None:
    rows = [(f"t{i}{g}", f"{g}{k}", i % 2) for i in range(4) for g in "ab" for k in range(3)]
    annotations = Annotations.from_rows([(i, a, "xy"[v]) for i, a, v in rows])
    facts = {"side": [str(name)[0] for name in annotations.annotators]}
    corpus = Corpus.build("c", annotations.items, {"q": annotations}, annotator_attributes=facts)
    result = compare_groups(corpus, ["side"])[0]
    assert np.isnan([result.p_value, result.level_p, result.reliability_p]).all()
    assert result.conclusion == "not tested: no item was answered by annotators of two groups"


@ALL
def test_a_difference_is_shown_with_the_items_that_divide(scale: Scale) -> None:
    corpus = crowd(scale, 2, effect=0.6, n=20, n_items=120)
    result = compare_groups(corpus, ["side"], most=3)[0]
    assert result.p_value < 0.01 and result.within > result.between
    p_values = [result.p_value, result.level_p, result.reliability_p]
    assert result.corrected == pytest.approx(min(weighted_holm(p_values)[0], 1))
    assert len(result.dividing) == 3
    assert all(0.0 < item.division <= 1.0 for item in result.dividing)
    assert set(result.dividing[0].answers) == {"x", "y"}


def weighted_holm(p_values: list[float]) -> list[float]:
    """Rejected one after another, at shares of the level as the first test has it: .6, .2, .2."""
    weights = [0.6, 0.2, 0.2] * (len(p_values) // 3)
    left, least, corrected = set(range(len(p_values))), 0.0, [0.0] * len(p_values)
    while left:
        best = min(left, key=lambda at: p_values[at] / weights[at])
        least = max(least, p_values[best] / weights[best] * sum(weights[at] for at in left))
        corrected[best] = least
        left.remove(best)
    return corrected


def test_corrected_over_tests_attributes_and_questions() -> None:
    corpus = crowd(SCALES[0], 3)
    facts = {"side": corpus.annotator_attributes["side"].to_pylist(), "age": list(range(20, 32))}
    facts["id"] = [str(name) for name in corpus.annotators]
    questions = {"q": corpus["q"], "r": crowd(SCALES[2], 3)["q"]}
    corpus = Corpus.build("c", corpus.items, questions, annotator_attributes=facts)
    results = compare_groups(corpus, ["side", "age"])
    assert [(r.question, r.attribute) for r in results] == [
        (question, attribute) for question in "qr" for attribute in ("side", "age")
    ]
    p_values = [p for r in results for p in (r.p_value, r.level_p, r.reliability_p)]
    corrected = [p for r in results
                 for p in (r.corrected, r.level_corrected, r.reliability_corrected)]  # fmt: skip
    np.testing.assert_allclose(corrected, np.minimum(weighted_holm(p_values), 1))


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
    assert result.permutations == 6 and result.least_p == pytest.approx(1 / 3 / 0.6)
    assert result.notes[0] == (
        "with 2 (f) and 2 (m) annotators, p cannot be below 0.33, so no difference can be shown; "
        "more annotators are needed"
    )


def test_annotators_who_all_agree_do_not_differ() -> None:
    item = np.repeat(np.arange(13), 3)
    who = np.concatenate([np.random.default_rng(n).permutation(7)[:3] for n in range(13)])
    answers = Annotations.from_arrays(item, who, item, Nominal(tuple("abcdefghijklm")))
    codes = np.array([int(name) % 2 for name in answers.annotators])
    tests = permutation_tests(answers, codes, 2, 0)
    assert tests.level > 0.05 and tests.levels == pytest.approx(0.0)


def test_a_group_without_answers_stays_in_the_table() -> None:
    answers = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
    names = Names([*answers.annotators, "cleo"])
    corpus = Corpus.build(
        "c", ["t1"], {"q": answers}, annotators=names, annotator_attributes={"g": ["f", "f", "m"]}
    )
    (result,) = compare_groups(corpus, ["g"])
    assert [(group.group, group.answers) for group in result.groups] == [("f", 2), ("m", 0)]
    assert result.conclusion == "not tested: no item was answered by annotators of two groups"


def test_few_annotators_and_several_comparisons_are_said_beforehand() -> None:
    rows = [(f"t{item}", f"a{who}", (item * who) % 2) for item in range(40) for who in range(7)]
    answers = Annotations.from_rows(rows)
    ages = ["young"] * 3 + ["old"] * 4
    genders = ["f", "m", "f", "m", "f", "m", "f"]
    corpus = Corpus.build(
        "c", answers.items, {"q": answers}, annotator_attributes={"age": ages, "gender": genders}
    )
    (alone,) = compare_groups(corpus, ["age"])
    assert alone.notes[0] == "with 4 (old) and 3 (young) annotators, p cannot be below 0.029"
    both = compare_groups(corpus, ["age", "gender"])
    few = ", too much for 2 comparisons together: choose one of them beforehand (--groups"
    assert both[0].notes[0].startswith(alone.notes[0] + few)
