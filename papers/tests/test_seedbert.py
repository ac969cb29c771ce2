"""SeedBERT's report against direct reimplementations, and of outcomes that are not whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import rel_entr
from sklearn.metrics import f1_score

from dissensus.errors import DataError, ModelError, Unfinished
from dissensus.evaluation import over_both
from dissensus_papers.seedbert import PAPER
from dissensus_papers.seedbert.analysis import cochran
from dissensus_papers.seedbert.emotions import neighbours
from dissensus_papers.seedbert.outcomes import CAUTIOUS, Items, Outcome, chosen, distribution
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    DEEP,
    FIRST,
    SEEDS,
    SINGLE,
    SOURCES,
    TABLE_4,
    trials,
)
from papers.tests.tiny_seedbert import corpus, write
from tests.error_texts import refusal
from tests.tiny import tiny_bert

ON_FIRST = CONDITIONS[FIRST].models
ELSEWHERE = CONDITIONS["MD-Agreement"].models


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first corpus whole, with 20 members and the paper's rate; of a second one some."""
    wanted = {
        f"{FIRST}-choose": TABLE_4,
        FIRST: ON_FIRST,
        f"{FIRST}-paper": ("single", SEEDS),
        f"{FIRST}-many": ("seeds-20",),
        "MD-Agreement": ELSEWHERE,
    }
    return write(tmp_path_factory.mktemp("seedbert") / "out", wanted)


@pytest.fixture(scope="module")
def whole_report(folder: Path) -> dict[str, Any]:
    return PAPER.report(folder)


def outcomes_of(folder: Path, model: str, condition: str = FIRST) -> list[Outcome]:
    return [o for o in PAPER.outcomes(folder, condition) if o.model == model]


def test_fits_are_scored_fold_by_fold(folder: Path, whole_report: dict[str, Any]) -> None:
    items = Items.load(folder, FIRST)
    fits = whole_report["conditions"][FIRST]["models"][SEEDS]["fits"]
    accuracy, f1 = [], []
    for outcome in outcomes_of(folder, SEEDS):
        yes = outcome.votes.sum(axis=0)  # five members: no ties
        majority = (yes >= 3).astype(int)
        for fold in range(5):
            inside = items.folds[outcome.seed] == fold
            accuracy.append(np.mean(majority[inside] == items.label[inside]))
            f1.append(f1_score(items.label[inside], majority[inside], average="macro"))
    assert len(accuracy) == 25
    np.testing.assert_allclose(fits["accuracy"], accuracy, atol=1e-6)
    np.testing.assert_allclose(fits["f1"], f1, atol=1e-6)


def test_distances_by_hand(folder: Path, whole_report: dict[str, Any]) -> None:
    shares = Items.load(folder, FIRST).shares
    reads = whole_report["conditions"][FIRST]["models"]["bag"]["reads"]
    for number, outcome in enumerate(outcomes_of(folder, "bag")):
        mean = outcome.mass.mean(axis=0)
        middle = (shares + mean) / 2
        jsd = (rel_entr(shares, middle) + rel_entr(mean, middle)).sum(axis=1).mean() / 2
        assert reads["mean"]["JSD"][number] == pytest.approx(jsd, abs=1e-6)
        tvd = np.abs(shares - mean).sum(axis=1).mean() / 2
        assert reads["mean"]["TVD"][number] == pytest.approx(tvd, abs=1e-6)
        yes = outcome.votes.sum(axis=0)
        smoothed = np.stack([5 - yes, yes], axis=1) / 6 + 1 / 12
        crossed = -(shares * np.log(smoothed)).sum(axis=1).mean()
        assert reads["votes"]["cross-entropy"][number] == pytest.approx(crossed, abs=1e-6)
        entropies = [-(p * np.log(p.clip(1e-300))).sum(axis=1) for p in (shares, mean)]
        correlation = np.corrcoef(*entropies)[0, 1]
        assert reads["mean"]["entropy correlation"][number] == pytest.approx(correlation, abs=1e-5)


def test_one_network_counts_as_five_that_agree(folder: Path, whole_report: dict[str, Any]) -> None:
    shares = Items.load(folder, FIRST).shares
    yes = outcomes_of(folder, "single")[0].mass[0].argmax(axis=1)
    smoothed = np.stack([1 - yes, yes], axis=1) * 5 / 6 + 1 / 12
    crossed = -(shares * np.log(smoothed)).sum(axis=1).mean()
    reads = whole_report["conditions"][FIRST]["models"]["single"]["reads"]["votes"]
    assert reads["cross-entropy"][0] == pytest.approx(crossed, abs=1e-6)
    assert reads["entropy correlation"] == [None] * 5  # it never doubts


def test_floors(folder: Path, whole_report: dict[str, Any]) -> None:
    items = Items.load(folder, FIRST)
    floors = whole_report["conditions"][FIRST]["floors"]
    often = np.bincount(items.label).max() / len(items.label)
    assert np.mean(floors["majority"]["accuracy"]) == pytest.approx(often, abs=1e-6)
    expected = []
    for dealt in items.folds:
        for k, fold in enumerate(dealt):
            share = (items.label[dealt != fold] == 1).mean()
            expected.append(-(items.shares[k] @ np.log([1 - share, share])))
    assert floors["prior"]["cross-entropy"] == pytest.approx(np.mean(expected))
    entropy = -(items.shares * np.log(items.shares.clip(1e-300))).sum(axis=1).mean()
    assert floors["people"]["cross-entropy"] == pytest.approx(entropy)
    assert floors["people"]["JSD"] == floors["people"]["TVD"] == 0


def test_seeds_beside_a_deep_ensemble(folder: Path, whole_report: dict[str, Any]) -> None:
    items = Items.load(folder, FIRST)
    tests = whole_report["conditions"][FIRST]["recovery"][DEEP]["mean"]["TVD"]
    sides = [
        np.stack(
            [np.abs(o.mass.mean(axis=0) - items.shares)[:, 0] for o in outcomes_of(folder, model)]
        )
        for model in (SEEDS, DEEP)
    ]
    expected = over_both(*sides, groups=items.groups)
    for name in ("effect", "low", "high", "p"):
        assert tests[name] == pytest.approx(getattr(expected, name))


def test_settings_for_other_items_were_chosen_before() -> None:
    conditions = PAPER.named("MD-Agreement-again", ("MD-Agreement", "MD-Agreement-again"))
    assert [c.name for c in conditions] == ["MD-Agreement-choose", "MD-Agreement-again"]
    alone = PAPER.named("MD-Agreement-again", ("MD-Agreement-again",))
    assert [c.name for c in alone] == ["MD-Agreement-again"]


@pytest.mark.slow
def test_other_items_are_learned_with_settings_of_before(tmp_path: Path) -> None:
    name = "MD-Agreement-again"
    out = write(tmp_path / "out", {"MD-Agreement-choose": TABLE_4})
    tiny_bert(tmp_path / "bert")
    PAPER.run(
        {name: corpus(name, 40)},
        [CONDITIONS[name]],
        out,
        runs=1,
        processes=1,
        encoders={name: str(tmp_path / "bert")},
    )
    done = {outcome.model: outcome for outcome in PAPER.outcomes(out, name)}
    assert sorted(done) == sorted((SINGLE, SEEDS, DEEP))
    best = chosen(out, "MD-Agreement-choose", SEEDS)
    assert done[DEEP].settings == done[SEEDS].settings == best
    assert done[DEEP].mass.shape == (5, 40, 2)
    assert list(PAPER.report(out)["again"]) == [name]


def test_the_number_of_members(folder: Path, whole_report: dict[str, Any]) -> None:
    of_many = whole_report["number"][FIRST]["seeds-20"]
    assert [n for n in of_many if n.isdigit()] == ["1", "10", "20", "3", "5"]
    shares = Items.load(folder, FIRST).shares
    tvd = [
        np.abs(o.mass[:3].mean(axis=0) - shares)[:, 0].mean()
        for o in outcomes_of(folder, "seeds-20", f"{FIRST}-many")
    ]
    assert of_many["3"]["reads"]["mean"]["TVD"] == pytest.approx(np.mean(tvd))
    assert of_many["more"]["mean"]["effect"] < 0  # members here differ by noise alone
    assert sorted(whole_report["number"]["MD-Agreement"]) == [DEEP, SEEDS]


def test_biases_of_members_and_of_people(folder: Path, whole_report: dict[str, Any]) -> None:
    yes = np.array([[1, 1, 0, 1, 1, 0, 1, 1], [0, 0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0, 1, 0]])
    from statsmodels.stats.contingency_tables import cochrans_q

    assert cochran(yes) == pytest.approx(cochrans_q(yes.T).pvalue)
    assert cochran(np.ones((3, 4), int)) == 1
    annotators = whole_report["people"][FIRST]
    assert annotators["n"] == 6 and 0 < annotators["sd"] < 0.5
    assert whole_report["conditions"][FIRST]["models"]["single"]["biases"] == {}


def test_what_is_missing_is_said_and_nothing_made_up(whole_report: dict[str, Any]) -> None:
    text = PAPER.shown(whole_report)
    assert "cifar10h, settings chosen" not in text
    not_run = text[text.index("Not run yet: ") :].splitlines()
    assert "  Annotators agree less on what is most present (Table 1)" in not_run


@pytest.mark.parametrize(
    "wanted",
    [
        {"MD-Agreement": ("single",)},
        {"MD-Agreement": (SEEDS,)},
        {f"{FIRST}-choose": ("single",)},
        {"ConvAbuse-many": ("seeds-20",)},
        {FIRST: ON_FIRST, f"{FIRST}-frozen": (SINGLE, SEEDS)},
    ],
    ids=str,
)
def test_any_part_can_be_shown(wanted: dict[str, tuple[str, ...]], tmp_path: Path) -> None:
    write(tmp_path / "out", wanted, repeats=1)
    whole_report = PAPER.report(tmp_path / "out")
    text = PAPER.shown(whole_report)
    assert "Not run yet" in text
    assert "nan" not in text.replace("tolerance", "")


def test_trials_that_are_not_all_done_choose_nothing(tmp_path: Path) -> None:
    condition = f"{FIRST}-choose"
    out = write(tmp_path / "out", {condition: ("single", SEEDS)})
    assert chosen(out, condition, SEEDS) == trials(SEEDS)[-1]  # the last one's score is the lowest
    shutil.rmtree(out / "fits" / f"single@3@{condition}")
    with pytest.raises(DataError, match=f"{condition} is not done for single; run it first"):
        chosen(out, condition, "single")


# ---- what is not ours, or not there ----


def test_a_corpus_that_is_kept_by_name_stands_for_itself_alone(tmp_path: Path) -> None:
    for name in ("cifar10h", "MD-Agreement-again"):  # the first is the name of a raw folder, too
        corpus(name, 20).save(tmp_path / name)
    assert list(PAPER.read(tmp_path)) == ["cifar10h", "MD-Agreement-again"]


# ---- again, emotions, running ----


def test_again_on_other_items(tmp_path: Path) -> None:
    names = [name for name, source in SOURCES.items() if source.again]
    assert names == ["ConvAbuse-again", "MD-Agreement-again", "cifar10h-again"]
    wanted = {name: (SINGLE, SEEDS, DEEP) for name in names[:2]}
    out = write(tmp_path / "out", {"MD-Agreement": (SINGLE, SEEDS), **wanted})
    whole_report = PAPER.report(out)
    assert list(whole_report["conditions"]) == ["MD-Agreement"]  # in no other table
    items = Items.load(out, names[1])
    sides = []
    for model in (DEEP, SINGLE):
        each = [distribution(o, items, CAUTIOUS) for o in outcomes_of(out, model, names[1])]
        sides.append(np.stack([np.abs(mass - items.shares)[:, 0] for mass in each]))
    expected = over_both(*sides, groups=items.groups)
    test = whole_report["again"][names[1]][DEEP]["single"]["TVD"]
    assert test["effect"] == pytest.approx(expected.effect, abs=1e-6)
    text = PAPER.shown(whole_report)
    assert "deep ensemble (everything): MD-Agreement-again" in text
    assert list(whole_report["again"]) == names[:2]


def test_the_answers_of_a_specific_annotator(folder: Path, whole_report: dict[str, Any]) -> None:
    items = Items.load(folder, FIRST)
    losses: dict[str, list[float]] = {"without": [], "with": [], "alone": []}
    for outcome in outcomes_of(folder, SEEDS):
        yes = distribution(outcome, items, CAUTIOUS)[:, 1]
        fold = items.folds[outcome.seed]
        for item, annotator, answer in items.rows:
            there = items.rows[fold[items.rows[:, 0]] != fold[item]]
            every = (there[:, 2].sum() + 1) / (len(there) + 2)
            own = there[there[:, 1] == annotator]
            rate = (own[:, 2].sum() + 5 * every) / (len(own) + 5)
            odds = yes[item] / (1 - yes[item]) * rate / (1 - rate) / (every / (1 - every))
            for way, p in (("without", yes[item]), ("with", odds / (1 + odds)), ("alone", rate)):
                losses[way].append(-np.log(p if answer else 1 - p))
    specific = whole_report["conditions"][FIRST]["specific"]
    for way, each in losses.items():
        assert specific[way] == pytest.approx(np.mean(each))
    assert specific["test"]["effect"] == pytest.approx(specific["with"] - specific["without"])


def test_neighbours_on_the_circumplex() -> None:
    names = ["anger", "disgust", "joy", "none"]
    counts = np.array([[2, 2, 0, 3], [0, 0, 4, 0], [1, 0, 1, 0], [3, 1, 0, 0]])
    test = neighbours(counts, names)
    pairs = [share for row in counts if (share := near_share(row)) is not None]
    assert test["n_items"] == 3 and test["share"] == pytest.approx(np.mean(pairs))
    frequency = counts[:, :3].sum(axis=0) / counts[:, :3].sum()
    anger, disgust, joy = frequency
    chance = anger * disgust / (anger * disgust + anger * joy + disgust * joy)
    assert test["effect"] == pytest.approx(np.mean(pairs) - chance)


def near_share(row: np.ndarray) -> float | None:
    """Of pairs of different emotions, those of anger and disgust; None without such pairs."""
    anger, disgust, joy, _ = (int(n) for n in row)
    different = anger * disgust + anger * joy + disgust * joy
    return anger * disgust / different if different else None


def test_out_of_time_it_ends_though_others_wait_for_what_is_left_out(tmp_path: Path) -> None:
    conditions = PAPER.named(FIRST, (FIRST,))
    assert [condition.name for condition in conditions] == [f"{FIRST}-choose", FIRST]
    given: dict[str, Any] = {
        "processes": 1,
        "runs": 1,
        "time_limit": 0.0,
        "settings": [("encoder", "none")],
    }
    assert refusal(
        Unfinished, PAPER.run, {FIRST: corpus(FIRST, 40)}, conditions, tmp_path, **given
    ) == ("Time limit reached: 0 of 30 fits done. Run the same command again to resume.")


def test_what_failed_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    conditions = PAPER.named(FIRST, (FIRST,))
    given: dict[str, Any] = {
        "processes": 1,
        "runs": 1,
        "settings": [("encoder", str(tmp_path / "none"))],
    }
    with pytest.raises(ModelError, match="^30 of 30 failed, first single, seed 0, HS-Brexit-choos"):
        PAPER.run({FIRST: corpus(FIRST, 40)}, conditions, tmp_path / "out", **given)
