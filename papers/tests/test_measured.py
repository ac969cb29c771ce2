"""The page shows what is kept, and what it says of that holds."""

from __future__ import annotations

import csv
import importlib
import json
import runpy
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus_papers import individual, qumatl, seedbert
from dissensus_papers.framework.declared import BetterThan
from dissensus_papers.framework.text import holds
from dissensus_papers.individual.conditions import CHOSEN
from dissensus_papers.qumatl import EVERYWHERE
from dissensus_papers.soft_labels import CONDITIONS, PRINTED, report, shown
from dissensus_papers.soft_labels.protocol import MODELS, TABLES

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "papers.md"
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return report(RESULTS / "soft_labels.json")


@pytest.fixture(scope="module")
def of_seedbert() -> dict[str, Any]:
    return seedbert.report(RESULTS / "seedbert.json")


def test_the_page_shows_what_is_kept() -> None:
    updated = runpy.run_path(str(ROOT / "docs" / "update_papers.py"))["updated"]
    text = PAGE.read_text(encoding="utf-8")
    assert text == updated(text), "run python docs/update_papers.py"


def test_all_of_the_papers_tables_are_kept(kept: dict[str, Any]) -> None:
    assert {"command", "commits", "date", "machines", "seeds"} <= kept.keys()
    assert list(kept["conditions"]) == list(CONDITIONS) and TABLES.keys() == set(PRINTED)
    for stored in kept["conditions"].values():
        assert list(stored["models"]) == list(MODELS) and len(stored["seeds"]) == 10
    assert "\nClaims\n" in shown(kept)


def test_what_the_page_says_of_words_and_of_the_floor(kept: dict[str, Any]) -> None:
    conditions = kept["conditions"]
    assert conditions["stemming"]["majority"]["gold"] == pytest.approx(0.7486, abs=5e-5)
    for name in ("pos-test", "pos-test-silver"):
        for model, stored in conditions[name]["models"].items():
            missing = TABLES[name][model].accuracy / 100 - stored["pooled"]["gold"]["accuracy"]
            cost = stored["words"]["with"] - stored["pooled"]["gold"]["accuracy"]
            assert missing < cost + 0.002
    for fits in zip(
        *(conditions["stemming"]["models"][m]["fits"] for m in ("kl", "ce")), strict=True
    ):
        assert fits[0]["scores"] == fits[1]["scores"]  # one gradient


def test_what_the_page_says_of_the_protocol(kept: dict[str, Any]) -> None:
    conditions = kept["conditions"]
    values = {
        name: conditions[name]["models"] for name in ("pos-cv", "pos-cv-tweets", "pos-cv-fresh")
    }
    scores = {
        name: [100 * of[model]["pooled"]["gold"]["accuracy"] for model in MODELS]
        for name, of in values.items()
    }
    for name, low, high in (("pos-cv-tweets", 0.3, 0.8), ("pos-cv-fresh", 0.3, 0.6)):
        added = np.subtract(scores["pos-cv"], scores[name])
        assert (added.min(), added.max()) == pytest.approx((low, high), abs=0.06)
    over = {
        (name, model): against["tests"]["gold"]["ours"]["accuracy"]
        for name in ("pos-cv-tweets", "pos-cv-fresh")
        for model, against in conditions[name]["against"].items()
    }
    assert [holds(test) for test in over.values()] == [
        *("holds only uncorrected", "holds", "holds"),
        *("holds", "not shown", "holds"),
    ]
    gains = [100 * test["effect"] for test in over.values()]
    assert gains == pytest.approx([0.86, 0.83, 1.15, 0.89, 0.22, 0.90], abs=6e-3)


# ---- beyond soft-labels ----


class Tagged:
    """The rows of pos_tweets.json by method."""

    def __init__(self) -> None:
        self.table = importlib.import_module("pos_table")
        self.held = importlib.import_module("pos_answers").read(RESULTS / "pos_tweets.json")

    def __call__(self, group: str, network: str = "") -> dict[str, Any]:
        return {line.method: line for line in self.table.lines(self.held, group, network)}

    def missing(self, group: str) -> list[str]:
        result: list[str] = self.table.missing(self.held, group)
        return result


@pytest.fixture
def tagged(monkeypatch: pytest.MonkeyPatch) -> Tagged:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks" / "gpu"), *sys.path])
    return Tagged()


def test_what_the_page_says_of_the_bars(tagged: Tagged) -> None:
    for group, bar, *figures in (("gold", 92.5, 92.26, 92.49), ("crowd", 84.0, 83.36, 83.45)):
        rows = tagged(group).values()
        best = [max(line.seeds.mean() for line in rows), max(line.together for line in rows)]
        assert best == pytest.approx(figures, abs=5e-3) and max(best) < bar
        assert all(len(line.seeds) == 10 for line in rows)
        assert not tagged.missing(group)
    assert [len(tagged(group)) for group in ("gold", "crowd")] == [18, 21]
    over = {name: line.over_single for name, line in tagged("gold").items()}
    result = over["taught, adapted"]
    assert [result.effect, result.low, result.high] == pytest.approx([0.50, 0.01, 0.99], abs=5e-3)
    assert result.adjusted > 0.05
    ways = ("adapted", "adapted for longer", "and dev", "word vectors")
    more = [over[f"base, {what}"].effect for what in ways]
    assert more == pytest.approx([0.30, 0.23, 0.02, -0.04], abs=5e-3)
    once, two, again = (
        tagged("gold")[name].seeds.mean()
        for name in (
            "taught, adapted for longer",
            "taught, two adapted",
            "taught again, adapted for longer",
        )
    )
    assert [two - once, again - once] == pytest.approx([0.07, 0.02], abs=1e-2)
    crowd = tagged("crowd")
    assert max(line.by_gold for line in crowd.values()) == pytest.approx(83.46, abs=5e-3)
    weighed = crowd["weighed by a teacher"].seeds.mean()
    assert all(crowd[f"weighed, {what}"].seeds.mean() < weighed for what in ("adapted", "taught"))


def test_what_the_page_says_of_the_test_sets_rules(tagged: Tagged) -> None:
    gold, crowd = (tagged.table.limits(tagged.held, group) for group in ("gold", "crowd"))
    assert (gold.n_networks, crowd.n_networks) == (180, 210)
    assert [gold.vote, crowd.vote] == pytest.approx([92.40, 83.58], abs=5e-3)
    assert [gold.never, crowd.never] == pytest.approx([4.1, 11.2], abs=5e-2)
    assert [gold.otherwise, gold.otherwise_dev] == pytest.approx([1.7, 0.8], abs=5e-2)
    assert gold.right_otherwise == pytest.approx(10, abs=0.5)


def test_what_the_page_says_of_words(data_folder: Path) -> None:
    tags: dict[tuple[str, str], Counter[str]] = {}
    with (data_folder / "pos_tweets" / "tokens.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            tags.setdefault((row["split"], row["token"].lower()), Counter())[row["gold"]] += 1
    for words, trained, tested in ((("i'm", "it's"), "PRT", "VERB"), (("lol", "omg"), "PRT", "X")):
        assert all(tags["train", word].keys() == {trained} for word in words)
        assert all(tags["test", word].keys() == {tested} for word in words)
    marks = tags["train", "..."]
    assert marks["X"] / marks.total() == pytest.approx(2 / 5, abs=0.01)
    assert tags["test", "..."].keys() == {"."}


def test_what_the_page_says_of_disagreement_beside_gold(tagged: Tagged) -> None:
    rows, paper = tagged("gold"), tagged("gold", "tagger")
    names = [name for name in tagged.table.GROUPS["gold"] if name != "single"]
    over = {name: rows[name].over_single for name in names}
    assert all(result.adjusted > 0.05 and result.high < 0.5 for result in over.values())
    for loss, figures in (("ce", [0.10, -0.24, 0.45]), ("inverse-kl", [-0.25, -0.59, 0.10])):
        result = over[f"soft-label-mtl, {loss}"]
        assert [result.effect, result.low, result.high] == pytest.approx(figures, abs=6e-3)
    assert max(over, key=lambda name: over[name].effect) == "soft-label-mtl, ce"
    for loss, effect in (("kl", 1.1), ("inverse-kl", 1.2)):
        result = paper[f"soft-label-mtl, {loss}"].over_single
        assert result.effect == pytest.approx(effect, abs=0.05) and result.adjusted > 0.05
    spread = [np.mean([of[name].seeds.std(ddof=1) for name in names]) for of in (paper, rows)]
    assert spread[0] / spread[1] == pytest.approx(5, abs=0.5)


def test_what_the_page_says_of_the_crowd_alone(kept: dict[str, Any], tagged: Tagged) -> None:
    over = {name: line.over_single for name, line in tagged("crowd").items() if name != "single"}
    assert len(over) == 20
    effects = {
        "single, smoothed": 0.66,
        "soft-label-mtl, inverse-kl": 0.72,
        "weighed by a teacher": 0.86,
        "weighed, and dev": 1.02,
        "soft-label-mtl, kl": 0.13,
        "soft-label-mtl, ce": 0.10,
        "repeated-label": 0.03,
        "single of dawid-skene": 0.14,
        "single of mace": 0.03,
        "soft-label": 0.57,
        "soft-label of softmax-vote": 0.78,
    }
    assert {name: over[name].effect for name in effects} == pytest.approx(effects, abs=6e-3)
    holds = [over[name].adjusted <= 0.05 for name in effects]
    assert holds == [True] * 4 + [False] * 7
    assert [over[name].p <= 0.05 for name in list(effects)[4:]] == [False] * 5 + [True] * 2


def test_what_the_page_says_of_the_papers_network(kept: dict[str, Any], tagged: Tagged) -> None:
    rows = tagged("crowd", "tagger")
    for name, *figures in (
        ("repeated-label", 2.43, 0.019),
        ("soft-label", 2.48, 0.080),
        ("soft-label-mtl, inverse-kl", 1.93, 0.071),
    ):
        difference = rows[name].over_single
        assert [difference.effect, difference.adjusted] == pytest.approx(figures, abs=6e-3)
    assert rows["single, smoothed"].over_single.effect == pytest.approx(0, abs=5e-3)
    against = kept["conditions"]["pos-test-silver"]["against"]["inverse-kl"]["tests"]
    assert against["gold"]["ours"]["accuracy"]["adjusted"] == pytest.approx(0.200, abs=5e-4)


# ---- seedbert ----


def test_all_of_seedbert_is_trained(of_seedbert: dict[str, Any]) -> None:
    assert not of_seedbert["missing"]
    for name, stored in of_seedbert["conditions"].items():
        condition = seedbert.CONDITIONS[name]
        assert sorted(stored["models"]) == sorted(condition.models)
        fits = {len(of_model["fits"]["f1"]) for of_model in stored["models"].values()}
        assert fits == {5 * condition.repeats}
    for choosing in of_seedbert["choosing"].values():
        assert all(of["best"] is not None for of in choosing.values())


def test_what_the_page_says_of_table_4(of_seedbert: dict[str, Any]) -> None:
    tests = {
        (name, model, metric): test
        for name, stored in of_seedbert["conditions"].items()
        for model, of_model in stored["against"].items()
        for metric, test in of_model.items()
    }
    assert {test["n_runs"] for test in tests.values()} == {5}  # over both
    holding = Counter(name for (name, _, _), test in tests.items() if holds(test) == "holds")
    assert holding == {
        "cifar10h": 4,
        "cifar10h-paper": 8,
        "ConvAbuse-paper": 3,
        "MD-Agreement-paper": 2,
    }
    assert len(tests) == 64
    bayesian = tests["MD-Agreement-paper", "bayesian", "accuracy"]
    figures = [100 * bayesian[name] for name in ("effect", "low", "high")]
    assert figures == pytest.approx([6.7, -0.4, 13.7], abs=0.05)
    ours = of_seedbert["conditions"]["cifar10h-paper"]["models"]
    shares = [np.mean(ours[model]["fits"]["accuracy"]) for model in ("seeds", "single")]
    assert shares == pytest.approx([0.49, 0.33], abs=5e-3)


def test_what_the_page_says_of_hs_brexit(of_seedbert: dict[str, Any]) -> None:
    stored = of_seedbert["conditions"]["HS-Brexit"]
    floor = np.mean(stored["floors"]["majority"]["accuracy"])
    for of_model in stored["models"].values():
        assert abs(np.mean(of_model["fits"]["accuracy"]) - floor) < 0.01
    for tests in stored["against"].values():
        assert all(test["p"] > 0.05 for test in tests.values())
    against = of_seedbert["variant"]["against"]["HS-Brexit"]
    whole, left = (against[read]["cross-entropy"] for read in ("tempered", "votes"))
    assert whole["effect"] == pytest.approx(-0.096, abs=5e-4) and whole["high"] > 0
    assert left["effect"] == pytest.approx(-0.023, abs=5e-4) and left["high"] < 0
    assert against["tempered"]["JSD"]["low"] > 0 and against["tempered"]["TVD"]["low"] > 0
    temperatures = stored["models"]["single"]["temperatures"]
    assert (round(min(temperatures), 1), round(max(temperatures), 1)) == (0.4, 3.1)
    accuracies = {name: of_seedbert["conditions"][name] for name in ("ConvAbuse", "MD-Agreement")}
    for stored in accuracies.values():
        floor = np.mean(stored["floors"]["majority"]["accuracy"])
        for of_model in stored["models"].values():
            assert np.mean(of_model["fits"]["accuracy"]) - floor > 0.07
        for tests in stored["against"].values():
            assert all(test["adjusted"] > 0.05 for test in tests.values())


def test_what_the_page_says_of_votes_elsewhere(of_seedbert: dict[str, Any]) -> None:
    variant = of_seedbert["variant"]
    for corpus, farther in (("ConvAbuse", 0.016), ("MD-Agreement", 0.070)):
        against = variant["against"][corpus]
        crossed = against["tempered"]["cross-entropy"]
        assert crossed["effect"] == pytest.approx(farther, abs=5e-4) and crossed["low"] > 0
        assert against["votes"]["cross-entropy"]["high"] < 0
        assert against["tempered"]["JSD"]["low"] > 0
        for tests in of_seedbert["conditions"][corpus]["recovery"]["everything"].values():
            assert tests["JSD"]["low"] > 0 and tests["TVD"]["low"] > 0
    assert variant["against"]["MD-Agreement"]["tempered"]["TVD"]["low"] > 0
    for of_model in of_seedbert["conditions"]["ConvAbuse"]["models"].values():
        tvd = {read: np.mean(stored["TVD"]) for read, stored in of_model["reads"].items()}
        assert tvd["tempered"] > max(tvd["votes"], tvd["mean"])


def test_what_the_page_says_of_temperatures(of_seedbert: dict[str, Any]) -> None:
    tempering = of_seedbert["tempering"]
    first = tempering["HS-Brexit"]
    assert (round(first["items"]), first["rare"]) == (77, [1, 10])
    deep = first["models"]["everything"]
    assert (deep["below"], deep["fits"]) == (5, 25)
    figures = [deep["there"], deep["elsewhere"], deep["votes"]]
    assert figures == pytest.approx([1.14, 0.346, 0.354], abs=1.1e-3)
    cautious = {model: stored["cautious"] for model, stored in first["models"].items()}
    assert cautious.pop("single") == pytest.approx(0.40, abs=5e-3)
    ensembles = cautious.values()
    assert (min(ensembles), max(ensembles)) == pytest.approx((0.38, 0.41), abs=5e-3)
    assert min(ensembles) > 0.355  # what was chosen
    chosen = {"model": "everything", "read": "tempered"}
    assert of_seedbert["variant"]["by"]["JSD"] == of_seedbert["variant"]["by"]["TVD"] == chosen
    others = [tempering[corpus] for corpus in ("ConvAbuse", "MD-Agreement")]
    assert min(stored["rare"][0] for stored in others) == 24
    assert sum(stored["models"]["everything"]["below"] for stored in others) == 1


def test_what_the_page_says_was_found_after_the_fact(of_seedbert: dict[str, Any]) -> None:
    requested = of_seedbert["calibrated"]
    for corpus in ("ConvAbuse", "MD-Agreement"):
        both = [requested[corpus][model]["single"] for model in ("seeds", "everything")]
        assert all(test["high"] < 0 for tests in both for test in tests.values())
        assert all(both[1][name]["effect"] < both[0][name]["effect"] for name in both[0])
    deep, seeds = (requested["MD-Agreement"][model] for model in ("everything", "seeds"))
    assert deep["single"]["cross-entropy"]["effect"] == pytest.approx(-0.018, abs=5e-4)
    assert deep["member"]["cross-entropy"]["effect"] == pytest.approx(-0.013, abs=5e-4)
    assert seeds["member"]["cross-entropy"]["effect"] == pytest.approx(-0.007, abs=5e-4)
    assert seeds["member"]["cross-entropy"]["high"] > 0


def test_what_the_page_says_of_the_test_on_other_items(of_seedbert: dict[str, Any]) -> None:
    again = of_seedbert["again"]
    shown = {"ConvAbuse-again": True, "MD-Agreement-again": False, "cifar10h-again": True}
    gains = {"ConvAbuse-again": (-0.007, 0.012), "cifar10h-again": (-0.042, 0.012)}
    gains["MD-Agreement-again"] = (-0.011, 0.062)
    for corpus, stored in again.items():
        seeds, deep = (stored[model]["single"] for model in ("seeds", "everything"))
        assert deep["cross-entropy"]["effect"] == pytest.approx(gains[corpus][0], abs=5e-4)
        assert deep["cross-entropy"]["adjusted"] == pytest.approx(gains[corpus][1], abs=5e-4)
        assert (seeds["cross-entropy"]["adjusted"] <= 0.05) is shown[corpus]
        assert seeds["cross-entropy"]["effect"] > deep["cross-entropy"]["effect"]
        nearer = [deep["JSD"], deep["TVD"], *stored["everything"]["member"].values()]
        assert all(test["high"] < 0 for test in nearer)


def test_what_the_page_says_of_emotions(of_seedbert: dict[str, Any]) -> None:
    chosen, paper = (
        of_seedbert["conditions"][name] for name in ("snow2008-affect", "snow2008-affect-paper")
    )
    for values, beside in ((chosen, True), (paper, False)):
        floor = np.mean(values["floors"]["majority"]["accuracy"])
        over = {m: np.mean(of["fits"]["accuracy"]) - floor for m, of in values["models"].items()}
        bayesian = over.pop("bayesian")
        assert min(over.values()) > 0.1 > bayesian if beside else max(over.values()) < 0
    kappas = [round(of_seedbert["kappas"][what], 2) for what in ("any", "most", "all")]
    assert kappas == [0.20, 0.20, 0.16]


def test_what_the_page_says_of_more_members(of_seedbert: dict[str, Any]) -> None:
    number = of_seedbert["number"]
    many = [number["HS-Brexit"][m] for m in ("seeds-20", "everything-20")]
    many.append(number["ConvAbuse"]["seeds-20"])
    for stored in many:
        sizes = sorted((key for key in stored if key.isdigit()), key=int)
        votes = [stored[n]["reads"]["votes"]["cross-entropy"] for n in sizes]
        assert (
            sizes[int(np.argmin(votes))] in ("3", "5", "10") and stored["more"]["votes"]["low"] > 0
        )
        means = [stored[n]["reads"]["mean"]["cross-entropy"] for n in sizes]
        assert means == sorted(means, reverse=True)
        assert stored["more"]["tempered"]["low"] < 0 < stored["more"]["tempered"]["high"]
        assert abs(stored["20"]["accuracy"] - stored["3"]["accuracy"]) < 0.0035
        assert stored["more"]["mean"]["low"] < 0 < stored["more"]["mean"]["high"]


def test_what_the_page_says_of_where_members_look() -> None:
    result = seedbert.hypothesis(RESULTS / "seedbert_hypothesis.json")["corpora"]
    for stored in result.values():
        for of_name in stored["conditions"].values():
            apart = of_name["apart"]
            for what in ("looks", "answers"):
                p = apart[what][what]["given length"]["adjusted"]
                assert p is None or p > 0.05
    toxic, crowd = result["toxic_spans"], result["text"]
    assert toxic["conditions"]["frozen-seeds"]["alike"]["effect"] == pytest.approx(0, abs=0.002)
    assert toxic["people"]["agreement"]["mean"] > 0.5
    marked = [toxic["conditions"]["size-seeds"]["shuffled"]["effect"]]
    marked.append(toxic["people"]["shuffled"]["effect"])
    assert marked == pytest.approx([0.06, 0.42], abs=6e-3)
    by_law = crowd["conditions"]["seeds"]["apart"]["true answers"]
    tests = [by_law[who]["given length"] for who in ("answers", "one")]
    assert [test["effect"] for test in tests] == pytest.approx([0.11, 0.18], abs=5e-3)
    for stored, right, largest in ((toxic, 0.547, 0.535), (crowd, 0.660, 0.178)):
        assert stored["conditions"]["seeds"]["accuracy"] == pytest.approx(right, abs=5e-4)
        assert stored["people"]["largest"] == pytest.approx(largest, abs=6e-4)


# ---- individual annotators ----


def test_what_is_said_about_individual_annotators_is_what_is_kept() -> None:
    conditions = individual.report(RESULTS / "individual.json")["conditions"]
    text = PAGE.read_text(encoding="utf-8").partition("## individual")[2].partition("\n## ")[0]
    output = " ".join(text.split())

    def mean(condition: str, model: str, question: str, metric: str) -> str:
        figure = conditions[condition]["models"][model][question][metric]["mean"]
        return f"{figure:.3f}".lstrip("0")

    def means(condition: str, model: str, metric: str) -> list[str]:
        questions = ("accuracy", "fluency", "prosodic")
        return [mean(condition, model, question, metric) for question in questions]

    for question in ("accuracy", "fluency"):
        both = [mean("speech", model, question, "CCC") for model in ("mt-answers", "grid")]
        assert f"{both[0]} to {both[1]} ({question})" in output
    heads, alone = (means("aspects", model, "CCC") for model in ("heads", "consensus"))
    assert ", ".join(f"{a} to {b}" for a, b in zip(heads, alone, strict=True)) in output
    mt = means("aspects", "mt-answers", "annotator CCC, mean")
    assert f"MT reaches {mt[0]}, {mt[1]} and {mt[2]}" in output
    floors = conditions["aspects"]["floors"]
    experts = [
        f"{floors[q]['annotators, by the mean of the others']['CCC']['mean']:.3f}".lstrip("0")
        for q in ("accuracy", "fluency", "prosodic")
    ]
    assert f"at {experts[0]}, {experts[1]} and {experts[2]}" in output

    joint = "accuracy x fluency"
    soft = [mean("speech", m, f"{joint} (soft)", "density TVD") for m in ("mt-answers", "mt-both")]
    grid = mean("speech", "grid", f"{joint} (soft)", "density TVD")
    assert f"TVD is {soft[0]} for MT and {soft[1]} with the density learned too, {grid}" in output
    plain, fixed = (
        mean("speech", "mt-answers", f"{joint} ({text})", "density TVD")
        for text in ("plain", "fixed")
    )
    assert f"have {plain} with the plain estimate and {fixed} with a fixed bandwidth" in output
    own = f"{joint} (method)"
    of_variants = {
        name: [mean("variants", f"{name}-{what}", own, "density TVD")
               for what in ("temperature", "bandwidth", "noise")]
        for name in ("mt", "heads")
    }  # fmt: skip
    lists = {name: f"{a}, {b} and {c}" for name, (a, b, c) in of_variants.items()}
    assert f"to {lists['mt']} for MT and to {lists['heads']} for heads" in output
    jsd = [mean("variants", m, own, "density JSD") for m in ("mt-both", "heads-noise", "grid-8")]
    assert f"(JSD {jsd[0]} to {jsd[1]})" in output and f"JSD {jsd[2]}" in output
    for name in of_variants:
        for what in ("temperature", "bandwidth", "noise"):
            against = conditions["variants"]["against"][f"{name}-{what}"][own]
            assert all(against[m]["adjusted"] < 0.01 for m in ("density TVD", "density JSD"))
    learned = "learned-temperature"
    of_learned, noise, construction = (
        [mean(learned, m, own, f"density {metric}") for metric in ("TVD", "JSD")]
        for m in ("heads-learned", "heads-noise", "mt-both")
    )
    finer = f"{joint} (method:bins=8)"
    fine = [mean(learned, m, finer, "density TVD") for m in ("heads-learned", "heads-noise")]
    against = conditions[learned]["against"]["heads-learned"]
    p = [f"{against[r]['density TVD']['adjusted']:.3f}".lstrip("0") for r in (own, finer)]
    assert (
        f"has {of_learned[0]} (JSD {of_learned[1]}): less than the paper's construction "
        f"({construction[0]}, JSD {construction[1]}) there, but more than calibrated noise "
        f"(p = {p[0]}; with 8 x 8 cells {fine[0]} to {fine[1]}, p = {p[1]})"
    ) in output and f"calibrated noise ({noise[0]} there)" in output
    n_fits = sum(sum(condition["n_fits"].values()) for condition in conditions.values())
    assert f"{n_fits} fits" in output


def test_what_is_said_about_other_ratings_is_what_is_kept() -> None:
    kept = individual.report(RESULTS / "individual.json")
    conditions = kept["conditions"]
    text = PAGE.read_text(encoding="utf-8").partition("## individual")[2].partition("\n## ")[0]
    output = " ".join(text.split())

    def tvd(condition: str, model: str, reading: str) -> str:
        figure = conditions[condition]["models"][model][reading]["density TVD"]["mean"]
        return f"{figure:.3f}".lstrip("0")

    trust = [tvd("confirm-faces-trust", m, "trust (method)") for m in ("heads-noise", "mt-both")]
    assert f"TVD {trust[0]} to {trust[1]} on trustworthy faces" in output
    modes = {
        m: [tvd("confirm-two-modes", m, f"valence ({r})") for r in ("method", "method:bins=16")]
        for m in ("heads-noise", "heads-mixture", "mt-both")
    }
    noise, mixture, paper = modes["heads-noise"], modes["heads-mixture"], modes["mt-both"]
    assert f"{noise[0]} to {paper[0]} on simulated texts" in output
    assert f"{mixture[0]} to {paper[0]}, and {mixture[1]} to {paper[1]} with 16 cells" in output
    readers, writers = (tvd(c, "grid", "V x A (soft)") for c in ("writers", "writers-own"))
    assert f"writers' (TVD {readers}) as those learned from writers' own ({writers})" in output
    jokes = {
        m: [tvd("confirm-jokes", m, f"rating ({r})") for r in ("method", "method:bins=16")]
        for m in ("heads-mixture", "mt-both")
    }
    mixture, paper = jokes.values()
    assert f"jokes: {mixture[0]} to {paper[0]}, 16 cells {mixture[1]} to {paper[1]}" in output
    calibrated, published = (
        tvd("confirm-inference", m, "rating (method)") for m in ("heads-noise", "mt-both")
    )
    assert f"TVD {calibrated} to {published}, not after correction" in output
    mt, grid = (tvd("jokes", model, "rating (soft)") for model in ("mt-both", "grid"))
    assert f"on jokes (TVD {mt} to {grid}" in output
    own, of_all = (tvd("inference", "mt-both", f"rating ({r})") for r in ("soft", "soft@all"))
    assert f"(soft {own} to {of_all}" in output
    onehot, heads = (tvd("faces-trust", model, "trust (soft)") for model in ("oh-both", "mt-both"))
    assert f"trustworthy faces ({onehot} to {heads}" in output
    onehot, heads = (tvd("inference", model, "rating (soft)") for model in ("oh-both", "mt-both"))
    assert f"density on hypotheses ({heads} to {onehot}" in output
    onehot, heads = (tvd("jokes", model, "rating (soft)") for model in ("oh-both", "mt-both"))
    assert f"on jokes ({onehot} to {heads}" in output

    def concordances(condition: str, question: str, metric: str, *models: str) -> list[str]:
        of_models = conditions[condition]["models"]
        figures = [of_models[model][question][metric]["mean"] for model in models]
        return [f"{figure:.3f}".replace("0.", ".") for figure in figures]

    three = ("oh-answers", "mt-answers", "heads")
    of_jokes = concordances("jokes", "rating", "CCC", *three)
    assert "({}; MT {}, our heads {})".format(*of_jokes) in output
    of_faces = concordances("faces-sexdim", "sexdim", "CCC", *three)
    assert "masculine faces ({}; {}, {})".format(*of_faces) in output
    each = [
        concordances(*where, "annotator CCC", *three[:2])
        for where in (("jokes", "rating"), ("faces-sexdim", "sexdim"))
    ]
    (onehot, mt), (onehot_faces, mt_faces) = each
    assert f"({onehot} and {onehot_faces}; MT {mt} and {mt_faces})" in output
    traits = ("att", "dom", "health", "sexdim", "trust")
    for trait in traits:  # their TVD is the higher one
        both = [tvd(f"confirm-faces-{trait}", m, f"{trait} (method)") for m in (CHOSEN, "mt-both")]
        assert both[0] > both[1]


def test_what_is_said_about_the_claims_is_what_is_kept() -> None:
    """Which claims hold, after correction, in which conditions."""
    claims = {
        entry["claim"]: {
            name: entry["sign"] * test["effect"] > 0
            for name, test in entry["tests"].items()
            if test["p"] is not None and test["adjusted"] < 0.05
        }
        for entry in individual.report(RESULTS / "individual.json")["claims"]
    }
    one = "One question: "
    density = f"{one}learning annotators and their density gives a better density than the baseline"
    consensus = f"{one}individual annotators predict the consensus better than the baseline"
    soft = f"{one}the soft density is better than the"
    own = "The annotators of an item give a better density than all annotators"
    confirmed = "heads with calibrated noise give a better density than the paper's construction"
    assert claims[consensus] == {"faces-sexdim": True}
    assert claims[f"{density} (density TVD)"] == {"jokes": False}
    assert claims[f"{density} (density JSD)"] == {"inference": False, "jokes": False}
    assert claims[f"{soft} plain one, for the same predictions"] == {"inference": True}
    assert claims[f"{soft} fixed one, for the same predictions"] == {
        "inference": True,
        "faces-dom": False,
        "faces-trust": False,
    }
    assert claims[f"{one}heads are better than a one-hot annotator (density)"] == {
        "faces-trust": False,
        "inference": True,
        "jokes": False,
    }
    assert claims[f"{own} (soft)"] == claims[f"{own} (plain)"] == {"inference": True}
    of_confirmed = f"Beyond the paper, confirmed: {confirmed}, 4 cells"
    assert claims[f"{of_confirmed} (density TVD)"] == {}
    assert claims[f"{of_confirmed} (density JSD)"] == {"confirm-inference": True}


def test_p_values_of_individual_annotators_are_what_is_kept() -> None:
    kept = individual.report(RESULTS / "individual.json")["claims"]
    tests = {(e["claim"], name): test for e in kept for name, test in e["tests"].items()}
    text = PAGE.read_text(encoding="utf-8").partition("## individual")[2].partition("\n## ")[0]
    output = " ".join(text.split())
    one, heads = "One question: ", "heads are better than a one-hot annotator (density)"
    sentences = {
        (f"{one}individual annotators predict the consensus better than the baseline",
         "faces-sexdim"): "(.319 to .001, p = {})",
        (f"{one}{heads}", "inference"): "(.550 to .600, p = {})",
        (f"{one}{heads}", "jokes"): "(.220 to .243, p = {})",
    }  # fmt: skip
    for where, words in sentences.items():
        assert words.format(f"{tests[where]['adjusted']:.3f}".lstrip("0")) in output


TESTED = ("annotator accuracy, weighted", "annotator cross-entropy")
PARTS_OF_TEXT = ("text", "text again", "tuned", "first-blocks", "first-blocks again")


def test_what_is_said_about_queries_is_what_is_kept() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## qumatl")[2].partition("\n## ")[0]
    output = " ".join(text.split())
    found = qumatl.report(RESULTS / "qumatl.json")
    verdicts: dict[str, set[tuple[str, str, str]]] = {}  # condition, other model, metric
    for entry, claim in zip(found["claims"], qumatl.PAPER.claims, strict=True):
        assert isinstance(claim, BetterThan) and claim.claim == entry["claim"]
        for name, test in entry["tests"].items():
            verdict = verdicts.setdefault(holds(test, entry["sign"]), set())
            verdict.add((name, claim.second, claim.metric))
    better = {test for test in verdicts["holds"] if "majority" not in test[1]}
    assert not better and "better than no other model of annotators, in accuracy or cross" in output
    assert {metric for _, _, metric in verdicts["not tested"]} == {"annotator macro-F1", "DIC"}
    of_crowd = {t for tests in verdicts.values() for t in tests if t[0] in EVERYWHERE}
    counts = [m for _, other, m in of_crowd if "majority" not in other and m in TESTED]
    assert len(counts) == 60
    worse = {("speech", m, "annotator cross-entropy") for m in ("base", "padl", "madl", "heads")}
    assert verdicts["the reverse holds"] == worse
    assert "no model has a lower cross-entropy than each annotator's most frequent" in output
    for name in ("armis", "faces"):
        entropy = {
            model: next(iter(questions.values()))["annotator cross-entropy"]["mean"]
            for model, questions in found["conditions"][name]["models"].items()
        }
        assert min(entropy, key=lambda model: entropy[model]) == "annotator-majority"
    scenes = found["conditions"]["labelme"]
    scores = {model: questions["scene"] for model, questions in scenes["models"].items()}
    for metric, best in (("accuracy, weighted", max), ("macro-F1", max), ("cross-entropy", min)):
        of_model = {model: of[f"annotator {metric}"]["mean"] for model, of in scores.items()}
        assert best(of_model, key=lambda model: of_model[model]) == "embedding"
    differences = {
        model: questions["scene"]["annotator cross-entropy"]
        for model, questions in scenes["against"].items()
    }
    assert {m for m, d in differences.items() if holds(d, -1) == "holds"} == {
        *("padl", "madl", "embedding", "heads")
    }
    assert {m for m, d in differences.items() if holds(d, -1) == "the reverse holds"} == {
        *("base", "d-lema", "prior", "annotator-majority")
    }
    simulated = json.loads((RESULTS / "queries.json").read_text(encoding="utf-8"))["rows"]
    of_text = {name: [row["emotion"] for row in simulated[f"{name}: final"]["seeds"]]
               for name in PARTS_OF_TEXT}  # fmt: skip
    below = {name: np.mean([row["best"] - row["accuracy"] for row in rows])
             for name, rows in of_text.items()}  # fmt: skip
    assert 0.02 < below["text again"] < below["text"] < 0.031 and below["tuned"] < 0.005
    assert 0.014 < below["first-blocks again"] < below["first-blocks"] < 0.022
    said = " ".join((ROOT / "docs" / "methods.md").read_text(encoding="utf-8").split())
    first, second = (
        tuple(np.mean([row[name] for row in of_text[part]]) for name in ("accuracy", "part"))
        for part in ("text", "text again")
    )
    pairs = [f".{round(1000 * a)} and {100 * b:.0f} %" for a, b in (first, second)]
    assert f"frozen, {pairs[0]} (seed 1), {pairs[1]} (seed 2)" in said
    speed = json.loads((RESULTS / "queries_speed.json").read_text(encoding="utf-8"))
    of_kind = {row["kind"]: row for row in speed["rows"] if row["items"] == 2048}
    together, alone, again = (
        of_kind[kind]["items a second"] for kind in ("together", "alone, as usual", "one at a time")
    )
    assert f"{together:,.0f} items a second" in output
    assert f"reaches {alone:,.0f} ({together / alone:.1f} times fewer)" in output
    assert f"{again:,.0f} ({together / again:.1f} times)" in output
    shares = [of_kind[kind]["share of peak"] for kind in ("together", "a step of training")]
    assert (
        "use {:.0%} of the chip's peak; a step of training, {:.0%}".format(*shares).replace(
            "%", " %"
        )
        in output
    )
