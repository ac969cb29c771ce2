"""What is asked for next: against closed forms, and rules that no plan may break."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Corpus, simulate
from dissensus.aggregation import DawidSkene
from dissensus.planning import next_answers
from dissensus.planning.next_answers import reductions
from dissensus.report import make_report
from dissensus.testing import SCALES, example_corpus
from tests.crowds import anonymous, confused_crowd, thinned


def pairs(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(table["item"].to_pylist(), table["annotator"].to_pylist(), strict=True))


def asked_before(corpus: Corpus) -> set[tuple[str, str]]:
    return set(pairs(corpus["q"].to_table()))


@pytest.mark.parametrize(("yes", "no"), [(0, 0), (1, 0), (2, 3), (7, 1)])
def test_reductions_are_those_of_a_beta_belief(yes: int, no: int) -> None:
    """Variance a b / (s^2 (s + 1)), of which one answer explains 1 / (s + 1)."""
    p = (np.arange(2000) + 0.5) / 2000
    belief = p**yes * (1 - p) ** no
    now, less = reductions(belief[None] / belief.sum(), np.stack([1 - p, p], axis=1), p[:, None])
    a, b = yes + 1, no + 1
    variance = a * b / ((a + b) ** 2 * (a + b + 1))
    assert now[0] == pytest.approx(variance, rel=1e-4)
    assert less[0] == pytest.approx(variance / (a + b + 1), rel=1e-4)


@pytest.mark.parametrize("about", ["distribution", "consensus"])
@pytest.mark.parametrize("kind", SCALES)
def test_nobody_is_asked_again_and_nobody_gets_more_than_the_limit(kind: str, about: str) -> None:
    corpus = thinned(example_corpus(kind, n_items=30))
    table = next_answers(corpus, "q", 40, about=about, most_per_annotator=15)  # type: ignore[arg-type]
    asked = pairs(table)
    assert len(set(asked)) == len(asked) == 40
    assert not set(asked) & asked_before(corpus)
    assert max(map([who for _, who in asked].count, corpus.annotators)) <= 15
    reduction = table["expected reduction"].to_numpy()
    assert (np.diff(reduction) <= 1e-12).all()
    assert (reduction <= table["uncertainty"].to_numpy()).all()
    without = next_answers(anonymous(corpus), "q", 40, about=about)  # type: ignore[arg-type]
    assert len(without) == 40
    assert "annotator" not in without.column_names


def test_a_budget_larger_than_what_is_left_asks_for_all_of_it() -> None:
    corpus = thinned(example_corpus("nominal", n_items=8))
    n_all = corpus.n_items * corpus.n_annotators
    table = next_answers(corpus, "q", 10 * n_all, most_per_annotator=n_all)
    assert set(pairs(table)) | asked_before(corpus) == {
        (item, who) for item in corpus.items for who in corpus.annotators
    }


def test_only_a_group_that_has_not_answered_is_asked() -> None:
    corpus = example_corpus("nominal", n_items=30)
    answers = corpus["q"]
    corpus = replace(
        corpus,
        questions={
            "q": answers.take(np.flatnonzero(answers.annotator_codes("") == answers.item % 4))
        },
    )
    gender = ["f", "m", "f", None] + ["m", "f"] * corpus.n_annotators
    columns = {"gender": pa.array(gender[: corpus.n_annotators])}
    corpus = replace(corpus, annotator_attributes=columns)
    of = dict(zip(corpus.annotators, gender, strict=False))
    seen = {(item, of[who]) for item, who in asked_before(corpus)}
    table = next_answers(corpus, "q", 500, group="gender", most_per_annotator=500)
    asked = [(item, of[who]) for item, who in pairs(table)]
    assert table["gender"].to_pylist() == [gender for _, gender in asked]
    assert None not in table["gender"].to_pylist()
    assert len(asked) == len(set(asked)) > 30
    assert not set(asked) & seen


def test_about_the_consensus_reliable_annotators_are_asked() -> None:
    """9 of 18 are right in 80 %, the others guess or confuse two values."""
    corpus, _ = confused_crowd(200)
    table = next_answers(corpus, "q", 60, about="consensus")
    good = {f"p{k}" for k in range(9)}
    assert np.mean([who in good for _, who in pairs(table)]) > 0.85


def test_asking_where_the_plan_says_makes_labels_right_sooner() -> None:
    """A crowd of known truth: after 150 answers more, labels are right more often than by chance
    choices, and the expected distribution of "views" is nearer (see benchmarks/bench_plan.py)."""
    whole, _ = confused_crowd(300, seed=3)
    truth = whole.gold["q"].answer
    draw = np.random.default_rng(0)
    draws = {}  # every annotator's answer to every item
    good = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    for k in range(18):
        matrix = good if k < 9 else np.full((3, 3), 1 / 3) if k < 15 else good[[0, 0, 2]]
        below = matrix[truth].cumsum(axis=1)
        draws[f"p{k}"] = (draw.random((300, 1)) > below[:, :2]).sum(axis=1)
    first = replace(whole, questions={"q": whole["q"].take(np.arange(1500) % 5 < 3)})

    def right(item: list[str], who: list[str]) -> float:
        answers = first["q"]
        at, person = answers.items.codes(item), answers.annotators.codes(who)
        new = np.array([draws[name][code] for name, code in zip(who, at, strict=True)], np.int32)
        more = replace(
            answers,
            item=np.r_[answers.item, at],
            annotator=np.r_[answers.annotator, person],
            answer=np.r_[answers.answer, new],
        )
        return float((DawidSkene().fit(more).prediction_.consensus == truth).mean())

    table = next_answers(first, "q", 150, about="consensus")
    planned = right(table["item"].to_pylist(), table["annotator"].to_pylist())
    free = [
        (i, w) for i in whole.items for w in whole.annotators if (i, w) not in asked_before(first)
    ]
    chance = []
    for seed in range(5):
        chosen = np.random.default_rng(seed).choice(len(free), 150, replace=False)
        chance.append(right([free[c][0] for c in chosen], [free[c][1] for c in chosen]))
    assert planned > max(chance)


def test_a_report_names_the_items_that_a_plan_asks_about() -> None:
    corpus = simulate.text(n_items=40, n_annotators=6, labels_per_item=3)
    said = make_report(corpus).actions[-1]
    items = next_answers(corpus, "emotion", 3)["item"].to_pylist()
    assert said.startswith("To know more, ask about {}, {} and {} first".format(*items))
    everything = simulate.text(n_items=40, n_annotators=6, labels_per_item=6)
    assert not any("To know more" in step for step in make_report(everything).actions)


def test_the_same_plan_for_other_names_and_orders_of_rows() -> None:
    corpus = simulate.text(n_items=40, n_annotators=6, labels_per_item=3)
    answers = corpus["emotion"]
    order = np.random.default_rng(1).permutation(answers.n_rows)
    other = replace(corpus, questions={"emotion": answers.take(order)})
    for about in ("distribution", "consensus"):
        tables = [next_answers(one, "emotion", 10, about=about) for one in (corpus, other)]
        assert pairs(tables[0]) == pairs(tables[1])
