"""Reports: what they show, that nothing is lost or run, and that small and odd corpora have one."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from dissensus import Annotations, Corpus, Interval, MultiLabel, simulate
from dissensus.agreement import positive_agreement
from dissensus.contents import Contents
from dissensus.errors import DataError
from dissensus.methods import method
from dissensus.report import Report, make_report
from dissensus.report.project import best_method, held_out, plan, with_answers, without_answers
from dissensus.report.sections.agreement import similar_order
from tests.evaluation.comparisons import comparison
from tests.test_annotator_clusters import crowd


class Page(HTMLParser):
    """The elements of a page, and whether every one of them is closed."""

    EMPTY = {"meta", "link", "input"}

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
    assert keys == [
        *("glance", "agreement", "disputed", "annotators", "methods", "predictions", "run")
    ]
    page = Page(whole.to_html())
    assert page.opened == []
    anchors = [about.get("id") for tag, about in page.elements if tag == "h2"]
    links = [about["href"] for tag, about in page.elements if tag == "a" and "class" not in about]
    assert anchors == keys and links == [f"#{key}" for key in keys]


def test_the_page_loads_nothing_and_figures_have_a_text(whole: Report) -> None:
    page = Page(whole.to_html())
    sources = [about for _, about in page.elements if "src" in about or "srcset" in about]
    assert sources == []
    assert not re.search(r"https?://(?!www\.w3\.org)", whole.to_html())
    pictures = [about for tag, about in page.elements if tag == "svg"]
    assert pictures and all(p.get("role") == "img" and p.get("aria-label") for p in pictures)


def test_the_same_corpus_gives_the_same_page(corpus: Corpus) -> None:
    first, second = (make_report(corpus, date="then").to_html() for _ in range(2))
    assert first == second


def test_everything_that_is_shown_is_written_as_json_too(whole: Report, tmp_path: Path) -> None:
    paths = whole.save(tmp_path / "new" / "report.html")
    assert [path.name for path in paths] == ["report.html", "report.json"]
    content = json.loads(paths[1].read_text(encoding="utf-8"))
    assert content["summary"] == list(whole.summary) and 4 <= len(content["summary"]) <= 5
    agreement = content["sections"][1]["blocks"][0]
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


def test_a_comparison_alone(tmp_path: Path) -> None:
    report = make_report(results=comparison(n_seeds=2))
    assert [section.key for section in report.sections] == ["methods", "run"]
    assert "predicts hate best" in report.summary[-1]
    with pytest.raises(DataError, match="needs a corpus"):
        make_report()
    with pytest.raises(DataError, match=r"ends in \.html"):
        report.save(tmp_path / "report.pdf")


def test_a_large_crowd_is_cut_and_that_is_said() -> None:
    generator = np.random.default_rng(0)
    n = 500
    rows = [(f"t{i}", f"p{a:04}", "ab"[generator.integers(2)]) for a in range(n) for i in range(12)]
    answers = Annotations.from_rows(rows)
    page = make_report(Corpus.build("crowd", answers.items, {"q": answers})).to_html()
    assert len(page) < 3_000_000 and "460 more are not shown" in page and "200 more" in page


def test_annotators_who_answer_alike_are_neighbours() -> None:
    group = np.arange(8) % 2
    values = np.where(group[:, None] == group[None, :], 0.8, 0.1)
    np.fill_diagonal(values, np.nan)
    ordered = group[similar_order(values)]
    assert (np.diff(ordered) != 0).sum() == 1


# ---- the whole way ----


def test_a_plan_says_why() -> None:
    texts = plan(simulate.text(n_items=300, seed=0))
    assert texts.seeds == 2 and "annotator-queries" in texts.methods
    assert texts.reasons[0].startswith("5 folds of 300 items")
    few = plan(simulate.text(n_items=20, seed=0))
    assert few.methods == () and "30 are needed" in few.reasons[0]
    rows = [(f"t{i}", "ann", "yes") for i in range(50)]
    answers = Annotations.from_rows(rows)
    bare = plan(Corpus.build("bare", answers.items, {"q": answers}))
    assert bare.methods == () and "no texts" in bare.reasons[0]


def test_the_best_method_is_no_floor() -> None:
    assert best_method(comparison(n_seeds=2)) in ("single", "soft_label")


def test_items_without_answers_are_set_apart(corpus: Corpus) -> None:
    assert without_answers(corpus) is None and with_answers(corpus) is corpus
    answers = corpus["emotion"].take(corpus["emotion"].item > 2)
    some = Corpus.build("some", corpus.items, {"emotion": answers})
    bare = without_answers(some)
    assert bare is not None and (bare.n_items, with_answers(some).n_items) == (3, 37)


def test_held_out_items_were_not_trained_on(corpus: Corpus) -> None:
    learner = method("annotator-majority")()
    tested, predictions = held_out(corpus, learner)
    assert tested.n_items == 8 and len(predictions["emotion"].items) == 8
    assert learner.learned_.corpus == corpus.name


# ---- sections ----


def test_annotators_who_answer_alike_are_named_with_the_evidence() -> None:
    answers = crowd(1, camps=True, n_items=120)
    report = make_report(Corpus.build("camps", answers.items, {"stance": answers}))
    blocks = report.sections[1].to_dict()["blocks"]
    (table,) = [b for b in blocks if b.get("table", "").startswith("Annotators who answer alike")]
    assert table["columns"][:3] == ["cluster", "annotators", "Cohen's kappa within"]
    assert sum(row[1] for row in table["rows"]) >= 10
    assert any("simulated crowds" in b.get("text", "") for b in blocks)
    assert "Some answer alike, more than chance would give: p" in " ".join(report.summary)


def test_agreement_on_each_value(whole: Report, corpus: Corpus) -> None:
    blocks = whole.sections[1].to_dict()["blocks"]
    (table,) = [b for b in blocks if b.get("table", "").startswith("Agreement on each value")]
    values = corpus["emotion"].scale.to_dict()["values"]
    expected = dict(zip(values, positive_agreement(corpus["emotion"]), strict=True))
    assert {row[0]: row[2] for row in table["rows"]} == pytest.approx(expected, abs=1e-6)
