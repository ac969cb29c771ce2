"""The report in a real browser: Debian's Chromium, driven by Playwright (`make test-browser`)."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dissensus import read, simulate
from dissensus.methods import AnnotatorQueries, method
from dissensus.report import make_report
from dissensus.training import Training
from tests.cli.test_layout_page import TITLED
from tests.evaluation.comparisons import comparison
from tests.tiny import tiny_bert

pytestmark = pytest.mark.slow
SECTIONS = [
    "The corpus at a glance",
    "Agreement",
    "Disputed items",
    "Who looked where",
    "Annotators",
    "Methods compared",
    "Predicted and true",
    "What was run, and how to run it again",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="make test-browser installs it")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = simulate.text(n_items=60, n_annotators=12, labels_per_item=6, seed=0)
    train, tested = corpus.split(0.3, seed=0)
    predictions = method("annotator-majority")().fit(train).predict(tested)
    facts: dict[str, Any] = {
        "tested": tested,
        "predictions": predictions,
        "method": "annotator-majority",
    }
    path = tmp_path_factory.mktemp("report") / "report.html"
    make_report(corpus, comparison(n_seeds=2), **facts).save(path)
    return path


def opened(chromium: Any, report: Path) -> Any:
    """The page with all sections open."""
    page = chromium.new_page()
    page.goto(report.as_uri())
    page.get_by_role("button", name="Open all").click()
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_opens_without_an_error_or_a_request(
    chromium: Any, report: Path, width: int, scheme: str, tmp_path: Path
) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    errors: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    sections = page.locator("details.section")
    assert sections.locator("> summary h2").all_text_contents() == SECTIONS
    assert page.locator("details[open]").count() == 0
    page.get_by_role("link", name="Annotators").click()
    page.locator("details#annotators[open]").wait_for()
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details[open]").count() == len(SECTIONS)
    assert errors == [] and [url for url in requests if not url.startswith("data:")] == [
        report.as_uri()
    ]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    page.screenshot(path=str(tmp_path / "page.png"), full_page=True)
    page.close()


def test_tables_are_sorted_and_filtered_and_annotators_picked(chromium: Any, report: Path) -> None:
    page = opened(chromium, report)
    table = page.locator("table", has=page.locator("th", has_text="with the rest")).first
    header = table.locator("th", has_text="kappa")
    column = header.evaluate("header => header.cellIndex")
    header.locator("button").click()
    cells = f"rows => rows.map(row => Number(row.cells[{column}].dataset.sort))"
    values = table.locator("tbody tr").evaluate_all(cells)
    assert values == sorted(values, reverse=True)
    bar = table.locator(".bar").first
    bar.hover()
    cell = bar.locator("xpath=ancestor::td")
    assert cell.get_attribute("title") == bar.get_attribute("aria-label")
    header.locator("button").press("Enter")
    assert table.locator("tbody tr").evaluate_all(cells) == sorted(values)
    name = table.locator("tbody tr").first.get_attribute("data-annotator")
    table.locator("tbody tr").first.locator("button").click()
    picked = page.locator(".picked").evaluate_all("all => all.map(one => one.dataset.annotator)")
    assert len(picked) > 2 and set(picked) == {name}
    page.get_by_role("button", name="Mark none").press("Enter")
    assert page.locator(".picked").count() == 0
    page.get_by_label("Mark annotators").press_sequentially(str(name).upper())
    page.keyboard.press("Enter")
    assert page.locator(".picked").count() == len(picked)
    assert page.locator("#picked").text_content() == name
    page.get_by_label("Mark annotators").fill("nobody")
    page.keyboard.press("Enter")
    assert "no annotator" in page.locator("#picked").text_content()
    page.locator(f"#{table.get_attribute('id')}").evaluate("table => table.scrollIntoView()")
    search = page.locator(f"input[data-filter={table.get_attribute('id')}]")
    search.fill(str(name))
    assert table.locator("tbody tr:visible").count() == 1
    page.close()


def test_printed_pages_cut_nothing_off(chromium: Any, report: Path) -> None:
    page = chromium.new_page(viewport={"width": 700, "height": 900})  # A4 without its margins
    page.goto(report.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 2  # what is open
    page.get_by_role("button", name="Open all").click()
    page.emulate_media(media="print")
    reach = "parts => parts.map(part => part.firstElementChild.getBoundingClientRect().right)"
    assert max(page.locator(".scroll").evaluate_all(reach)) <= 700
    assert page.get_by_role("button", name="SVG").first.is_hidden()
    page.close()


def test_figures_and_tables_are_saved(chromium: Any, report: Path, tmp_path: Path) -> None:
    page = opened(chromium, report)
    for kind, start in (("svg", "<svg"), ("csv", "value,share")):
        with page.expect_download() as download:
            page.locator("figure").first.locator(f"[data-{kind}]").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        assert path.suffix == f".{kind}" and path.read_text(encoding="utf-8").startswith(start)
    page.close()


# ---- dissensus serve ----


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that `dissensus serve` prints, in a process of its own."""
    pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
    folder = tmp_path_factory.mktemp("serve")
    corpus = simulate.text(n_items=30, n_annotators=4, labels_per_item=3, seed=0)
    corpus.save(folder / "corpus")
    learner = AnnotatorQueries(
        encoder=tiny_bert(tmp_path_factory.mktemp("tiny")), training=Training(epochs=1)
    )
    learner.fit(corpus).save(folder / "model")
    with served(folder / "corpus", "--model", str(folder / "model")) as (printed, _):
        yield printed


@contextmanager
def served(
    *typed: str | Path, command: str = "serve"
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address that a command prints, and its process."""
    words = [sys.executable, "-m", "dissensus", command, *map(str, typed)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_a_typed_text_is_answered_by_each_annotator_with_attention(
    chromium: Any, address: str
) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{30,}", address)
    page = chromium.new_page()
    errors: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    text = "\U0001f600 what a lovely <b>day</b>, I was so glad"
    page.get_by_label("What would each annotator say").fill(text)
    page.get_by_role("button", name="Predict").press("Enter")
    rows = page.locator("#try-output tbody tr")
    rows.first.wait_for()
    cells = rows.evaluate_all("rows => rows.map(row => [...row.cells].map(c => c.textContent))")
    assert [cell[0] for cell in cells] == [f"annotator-{n}" for n in (1, 2, 3, 4)]
    assert all(0 < float(cell[2]) <= 1 and cell[3] == text for cell in cells)
    marks = rows.first.locator("mark").all_text_contents()
    assert "lovely" in "".join(marks) and not any(mark != mark.strip() for mark in marks)
    assert page.locator("#try-output b").count() == 0  # what was typed is text
    rows.first.locator("button").press("Enter")  # marks the annotator in the whole report
    assert page.locator("#picked").text_content() == "annotator-1"
    origin = address.split("?")[0]
    assert errors == [] and all(url.startswith((origin, "data:")) for url in requests)
    page.close()


def test_a_wrong_token_and_paths_are_refused(chromium: Any, address: str) -> None:
    page = chromium.new_page()
    origin, token = address.split("?token=")
    assert page.goto(f"{origin}?token=wrong").status == 403
    assert "Wrong token" in page.content() and page.locator("#try").count() == 0
    for path in ("model/config.json", "..%2f..%2fetc/passwd", "%2e%2e/corpus/corpus.json"):
        assert page.goto(f"{origin}{path}?token={token}").status == 404
    page.close()


def test_long_texts_and_a_server_that_ended_are_answered_in_words(
    chromium: Any, tmp_path: Path
) -> None:
    corpus = simulate.text(n_items=30, n_annotators=4, labels_per_item=3, seed=0)
    corpus.save(tmp_path / "corpus")
    learner = AnnotatorQueries(encoder=tiny_bert(tmp_path / "tiny"), training=Training(epochs=1))
    learner.fit(corpus).save(tmp_path / "model")
    page = chromium.new_page()
    model = ("--model", tmp_path / "model")
    with served(tmp_path / "corpus", *model) as (printed, process):
        page.goto(printed)
        output = page.locator("#try-output")
        for text, words in (("a" * 70_000, "longer than 64 kB"), (" ", "Type a text.")):
            page.locator("#try-text").fill(text)
            page.locator("#try-text").press("Control+Enter")
            output.get_by_text(words).wait_for()
        process.send_signal(signal.SIGINT)
        process.wait(60)
        page.locator("#try-text").fill("so good")
        page.locator("#try-text").press("Control+Enter")
        output.get_by_text("Is dissensus serve still running?").wait_for()
    page.close()


def test_a_comparison_is_served(chromium: Any, tmp_path: Path) -> None:
    comparison(n_seeds=2).save(tmp_path / "comparison")
    page = chromium.new_page()
    with served(tmp_path / "comparison") as (printed, _):
        page.goto(printed)
        assert page.locator("details h2").all_text_contents()[0] == "Methods compared"
        assert page.locator("#try").count() == 0
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_a_spreadsheet_with_a_title_row_is_corrected_on_a_page(
    chromium: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    path = tmp_path / "survey.csv"
    path.write_text(TITLED)
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    with served(path, "--browser", command="layout") as (printed, _):
        page.goto(printed)
        use, reading = page.locator("#use"), page.locator("#reading")
        assert use.is_disabled() and "no name" in reading.text_content()
        page.get_by_role("button", name="names").nth(1).click()
        reading.get_by_text("4 items, 3 annotators").wait_for()
        for column in ("ben", "cleo"):  # if no column had a role, all would be recognised again
            page.get_by_label(f"What {column} is").select_option("")
        page.get_by_label("What id is").select_option("item")
        page.get_by_label("What anna is").select_option("annotators")
        page.get_by_role("button", name="one annotator: also ben, cleo").click()
        reading.get_by_text("4 items, 3 annotators").wait_for()
        page.get_by_label("What cleo is").select_option("ignore")
        reading.get_by_text("4 items, 2 annotators").wait_for()
        assert "alpha of" in reading.text_content()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.screenshot(path=str(tmp_path / "page.png"), full_page=True)
        use.click()
        page.get_by_text("Kept in survey.csv.dissensus.toml").wait_for()
    assert errors == [] and read(path).n_annotators == 2
    page.close()
