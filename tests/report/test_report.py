"""Reports: what they show, that nothing is lost or run, and that small and odd corpora have one."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dissensus import Annotations, Corpus, Interval, MultiLabel, simulate
from dissensus.agreement import masi_kappa_matrix, positive_agreement
from dissensus.contents import Contents
from dissensus.methods import AnnotatorQueries, method
from dissensus.report import Report, make_report
from dissensus.training import Training
from dissensus.workflow.models import held_out
from tests.evaluation.comparisons import comparison
from tests.test_annotator_clusters import crowd, of_sets
from tests.tiny import tiny_bert


class Page(HTMLParser):
    """The elements of a page, and whether every one of them is closed."""

    EMPTY = {"meta", "link", "input", "img"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.opened.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.text(n_items=40, n_annotators=5, labels_per_item=4, seed=0)


@pytest.fixture(scope="module")
def whole(corpus: Corpus) -> Report:
    train, tested = corpus.split(0.3, seed=0)
    predictions = method("annotator-majority")().fit(train).predict(tested)
    return make_report(
        corpus,
        comparison(n_seeds=2),
        tested=tested,
        predictions=predictions,
        method="annotator-majority",
        facts={"command": "dissensus run <x>"},
        date="2026-01-01",
    )


def test_every_section_is_there(whole: Report) -> None:
    keys = [section.key for section in whole.sections]
    known = ["overview", "agreement", "disputed", "looks", "annotators", "methods", "predictions"]
    assert [key for key in keys if key in known] == known and keys[-1] == "run"
    page = Page(whole.to_html())
    assert page.opened == []
    anchors = [about.get("id") for tag, about in page.elements if tag == "details"]
    links = [about["href"] for tag, about in page.elements if tag == "a" and "class" not in about]
    assert anchors == keys and links == [f"#{key}" for key in keys]


def test_predictions_say_how_large_sets_are_and_which_jury_to_ask(corpus: Corpus) -> None:
    whose = pa.array(["f", "m", "m", "f", "m"])
    corpus = dataclasses.replace(corpus, annotator_attributes={"gender": whose})
    train, tested = corpus.split(0.3, seed=0)
    predictions = method("annotator-majority")().fit(train).predict(tested)
    text = make_report(corpus, tested=tested, predictions=predictions, method="it").to_html()
    assert "emotion: 90% coverage of one more annotator&#x27;s answer: sets of " in text
    assert "<code>--jury gender=m:2,gender=f:2</code>" in text


def test_the_page_loads_nothing_and_figures_have_a_text(whole: Report) -> None:
    page = Page(whole.to_html())
    sources = [about for _, about in page.elements if "src" in about or "srcset" in about]
    assert sources == []
    assert not re.search(r"https?://(?!www\.w3\.org)", whole.to_html())
    pictures = [about for tag, about in page.elements if tag == "svg"]
    assert pictures and all(p.get("role") == "img" and p.get("aria-label") for p in pictures)


def test_everything_that_is_shown_is_written_as_json_too(whole: Report, tmp_path: Path) -> None:
    paths = whole.save(tmp_path / "new" / "report.html")
    assert [path.name for path in paths] == ["report.html", "report.json"]
    content = json.loads(paths[1].read_text(encoding="utf-8"))
    assert content["summary"] == list(whole.summary) and 4 <= len(content["summary"]) <= 5
    agreement = next(s for s in content["sections"] if s["section"] == "Agreement")["blocks"][0]
    values = {row[0]: row[1] for row in agreement["rows"]}
    from dissensus.agreement import krippendorff_alpha

    corpus = simulate.text(n_items=40, n_annotators=5, labels_per_item=4, seed=0)
    assert values["krippendorff-alpha"] == pytest.approx(
        krippendorff_alpha(corpus["emotion"]), abs=1e-6
    )
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "report.html",
        "report.json",
    ]


def test_texts_and_names_of_a_corpus_are_escaped() -> None:
    evil = "</script><img src=x onerror=alert(1)>\x00"
    rows = [(evil, evil + name, answer) for name in "abc" for answer in (evil,)]
    rows += [("t2", evil + "a", "no"), ("t2", evil + "b", evil)]
    answers = Annotations.from_rows(rows)
    contents = Contents.distinct("text", [evil, "b"])
    built = Corpus.build(evil, answers.items, {evil: answers}, contents={"text": contents})
    page = make_report(built).to_html()
    assert "<img" not in page and "\x00" not in page
    assert page.count("</script>") == 2


def _odd() -> dict[str, Corpus]:
    one = Annotations.from_rows([("t1", "ann", "yes")])
    same = Annotations.from_rows([(f"t{i}", name, "yes") for i in range(3) for name in "ab"])
    ratings = Annotations.from_rows(
        [(f"t{i}", name, i + len(name)) for i in range(4) for name in ("a", "bb")], Interval(0, 9)
    )
    sets = Annotations.from_rows(
        [(f"t{i}", name, ("x", "y")[: i % 3]) for i in range(4) for name in "ab"],
        MultiLabel(("x", "y")),
    )
    votes = Annotations.from_arrays(["t1", "t1"], None, ["no", "yes"], count=np.array([3, 4]))
    nobody = Annotations.from_arrays([], None, np.zeros(0), Interval(0, 1))
    named = {"one": one, "same": same, "ratings": ratings, "sets": sets, "votes": votes}
    built = {name: Corpus.build(name, a.items, {"q": a}) for name, a in named.items()}
    both = {"q": one, "empty": nobody.on(one.items, one.annotators)}
    return built | {"unanswered question": Corpus.build("both", one.items, both)}


@pytest.mark.parametrize("name", _odd())
def test_small_and_odd_corpora_have_an_honest_report(name: str) -> None:
    report = make_report(_odd()[name])
    page = Page(report.to_html())
    assert page.opened == [] and "nan" not in " ".join(report.summary)


def test_a_comparison_alone() -> None:
    report = make_report(results=comparison(n_seeds=2))
    assert [section.key for section in report.sections] == ["methods", "run"]
    assert "predicts hate best" in report.summary[-1]


def test_settings_that_were_chosen_are_said() -> None:
    results = comparison(n_seeds=2)
    first, *others = [dataclasses.replace(fit, settings={}) for fit in results.fits]
    untuned = dataclasses.replace(results, fits=(first, *others))
    assert "all have defaults" in make_report(results=untuned).to_html()
    tuned = dataclasses.replace(first, settings={"training.learning_rate": 0.01})
    html = make_report(results=dataclasses.replace(results, fits=(tuned, *others))).to_html()
    chosen = f"{first.method}: training.learning_rate = 0.01 (1); the others have their defaults"
    assert chosen in html


def test_a_large_crowd_is_cut_and_that_is_said() -> None:
    generator = np.random.default_rng(0)
    n = 500
    rows = [(f"t{i}", f"p{a:04}", "ab"[generator.integers(2)]) for a in range(n) for i in range(12)]
    answers = Annotations.from_rows(rows)
    page = make_report(Corpus.build("crowd", answers.items, {"q": answers})).to_html()
    assert len(page) < 3_000_000 and "460 more are not shown" in page and "300 of 500 rows" in page
    assert "; <code>dissensus agreement FILE</code> has them" in page
    assert "`" not in page.split("<script")[0]


# ---- sections ----


def test_annotators_who_answer_alike_are_named_with_the_evidence() -> None:
    answers = crowd(1, camps=True, n_items=120)
    report = make_report(Corpus.build("camps", answers.items, {"stance": answers}))
    blocks = _agreement(report)
    (table,) = [b for b in blocks if b.get("table", "").startswith("Annotators who answer alike")]
    assert table["columns"][:3] == ["cluster", "annotators", "Cohen's kappa within"]
    assert sum(row[1] for row in table["rows"]) >= 10
    assert any("simulated crowds" in b.get("text", "") for b in blocks)
    assert (
        "Some annotators answer alike, more than a common view of the items explains (p = 0.01): p"
        in " ".join(report.summary)
    )


def test_sets_have_a_matrix_and_clusters() -> None:
    answers = of_sets(1, camps=True, n_items=120)
    report = make_report(Corpus.build("camps", answers.items, {"emotions": answers}))
    blocks = _agreement(report)
    (matrix,) = [b for b in blocks if b.get("figure", "").startswith("Who agrees with whom")]
    names = matrix["columns"][1:]
    kappas = masi_kappa_matrix(answers)
    order = answers.annotators.codes(names)
    expected = kappas[order[0], order[1]]
    assert matrix["rows"][0][2] == pytest.approx(expected, abs=1e-6)
    assert any(b.get("table", "").startswith("Annotators who answer alike") for b in blocks)


def test_agreement_on_each_value(whole: Report, corpus: Corpus) -> None:
    blocks = _agreement(whole)
    (table,) = [b for b in blocks if b.get("table", "").startswith("Agreement on each value")]
    values = corpus["emotion"].scale.to_dict()["values"]
    expected = dict(zip(values, positive_agreement(corpus["emotion"]), strict=True))
    assert {row[0]: row[2] for row in table["rows"]} == pytest.approx(expected, abs=1e-6)


def _agreement(report: Report) -> list[dict[str, Any]]:
    """The blocks of the section on agreement."""
    section = next(section for section in report.sections if section.key == "agreement")
    return [block.to_dict() for block in section.blocks]


def _titles(report: Report, key: str) -> list[str]:
    section = next(section for section in report.sections if section.key == key)
    return [block["figure"] for block in section.to_dict()["blocks"] if "figure" in block]


def test_ratings_on_two_questions_have_densities_and_predicted_ones() -> None:
    rated = simulate.ratings(n_items=40, n_annotators=6, labels_per_item=5, seed=0)
    learner = method("annotator-majority")()
    tested, predictions = held_out(rated, learner)
    report = make_report(rated, tested=tested, predictions=predictions, method="floor")
    assert _titles(report, "densities") == ["Ratings on valence and activation"]
    assert _titles(report, "predictions") == ["Mean ratings, valence", "Mean ratings, activation"]
    section = next(section for section in report.sections if section.key == "densities")
    shares = [row[2] for row in section.to_dict()["blocks"][0]["rows"]]
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert Page(report.to_html()).opened == []


def test_who_looked_where_from_rationales(corpus: Corpus) -> None:
    report = make_report(corpus)
    titles = _titles(report, "looks")
    assert len(titles) == 3 and titles[0].startswith("Marked in item ")
    bare = dataclasses.replace(corpus, rationales=None)
    assert "looks" not in [section.key for section in make_report(bare).sections]


@pytest.mark.slow
def test_who_looked_where_from_attention(corpus: Corpus, tmp_path: Path) -> None:
    learner = AnnotatorQueries(encoder=tiny_bert(tmp_path), training=Training(epochs=1))
    tested, predictions = held_out(corpus, learner)
    report = make_report(corpus, tested=tested, predictions=predictions, method="queries")
    titles = _titles(report, "looks")
    assert len(titles) == 3 and titles[0].startswith("Attention to item ")
    section = next(section for section in report.sections if section.key == "looks")
    figure = section.to_dict()["blocks"][1]
    item = titles[0].split(",")[0].removeprefix("Attention to item ")
    text = corpus.text_of(int(corpus.items.codes([item])[0]))
    assert figure["rows"] and all(row[4] in text for row in figure["rows"])


@pytest.mark.slow
def test_many_questions_keep_the_page_small() -> None:
    generator = np.random.default_rng(0)
    n_items, n = 40, 50
    item, annotator = np.divmod(np.arange(n_items * n), n)
    names = [f"t{i}" for i in item], [f"p{a}" for a in annotator]
    questions = {
        f"q{number}": Annotations.from_arrays(
            *names, np.array(["a", "b", "c"])[generator.integers(3, size=len(item))]
        )
        for number in range(30)
    }
    first = next(iter(questions.values()))
    page = make_report(Corpus.build("many", first.items, questions)).to_html()
    assert len(page.encode()) < 3_000_000


def test_annotators_who_share_items_are_compared() -> None:
    """Fifty who answered much and share nothing do not hide a few who share everything."""
    rows = [(f"own-{who}-{i}", f"lone-{who}", "ab"[i % 2]) for who in range(50) for i in range(20)]
    rows += [(f"t{i}", who, "ab"[i % 2]) for i in range(10) for who in ("ann", "bob", "cleo")]
    answers = Annotations.from_rows(rows)
    report = make_report(Corpus.build("crowd", answers.items, {"q": answers}))
    assert not any("Who agrees" in str(block) for block in _agreement(report))  # 3 of 780 pairs
    few = answers.take(np.flatnonzero(answers.item >= 46 * 20))  # four of the fifty
    report = make_report(Corpus.build("crowd", few.items, {"q": few}))
    (figure,) = [b for b in _agreement(report) if "Who agrees" in str(b)[:30]]
    assert {"ann", "bob", "cleo"} <= set(figure["columns"])


def test_disputed_pictures_are_shown_small() -> None:
    pictured = simulate.image(n_items=12, n_annotators=4, labels_per_item=3, seed=0)
    report = make_report(pictured)
    page = Page(report.to_html())
    images = [about for tag, about in page.elements if tag == "img"]
    section = next(section for section in report.sections if section.key == "disputed")
    table = section.to_dict()["blocks"][0]
    assert table["columns"].index("picture") == 1
    rows = [*table["rows"][:8], *table["rows"]]  # the first of them are to be discussed
    assert [about["alt"] for about in images] == [f"item {row[0]}" for row in rows]
    assert all((about["src"] or "").startswith("data:image/jpeg;base64,") for about in images)
    assert "<th" in report.to_html() and ">text</button>" not in report.to_html()
    files = pa.array([b"no picture"] * 12, pa.binary())
    damaged = dataclasses.replace(
        pictured,
        contents={"image": Contents("image", files)},
        content={"image": np.arange(12)},
        rationales=None,
    )
    assert "<img" not in make_report(damaged).to_html()


@pytest.mark.parametrize("what", ["value", "annotator", "item", "question", "corpus", "fact"])
def test_what_is_very_long_is_cut_everywhere(what: str) -> None:
    def name(of: str, end: str) -> str:
        return "x" * 10**5 + end if of == what else end

    draw = np.random.default_rng(0)
    values = [name("value", end) for end in ("no", "yes", "maybe")]
    rows = [
        (name("item", f"t{item}"), name("annotator", f"a{at}"), values[draw.integers(3)])
        for item in range(25)
        for at in range(4)
    ]
    answers = Annotations.from_rows(rows)
    questions = {name("question", "rude"): answers}
    corpus = Corpus.build(name("corpus", "c"), answers.items, questions)
    predictions = method("prior")().fit(corpus).predict(corpus)
    facts = {"command": name("fact", "run")}
    report = make_report(corpus, tested=corpus, predictions=predictions, facts=facts)
    page, data = report.to_html(), report.to_dict()
    Page(page)
    assert "x" * 200 in page
    longest = max(map(len, re.findall("x+", page)))
    assert longest <= 2000 or what in ("question", "corpus")  # sentences with their names: 10,000
    assert len(page) < 500_000
    assert len(json.dumps(data)) < 250_000
