"""Reports within the width of a terminal, and whole where there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dissensus_papers import PAPERS, paper
from dissensus_papers.framework.text import table, whole, written

RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results"
SHOWN: dict[str, Callable[[int | None], str]] = {
    name: lambda width, name=name: paper(name).shown(  # type: ignore[misc]
        paper(name).report(RESULTS / f"{name.replace('-', '_')}.json"), width
    )
    for name in PAPERS
}


@pytest.mark.parametrize("width", [60, 80, 100, 132])
@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_what_is_kept_fits_and_nothing_is_lost(
    shown: Callable[[int | None], str], width: int
) -> None:
    text = shown(width)
    assert [line for line in text.splitlines() if len(line) > width] == []
    assert all(line == line.rstrip() for line in text.splitlines())
    assert set(text.split()) == set(shown(None).split())


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_without_a_terminal_nothing_is_broken(shown: Callable[[int | None], str]) -> None:
    text = shown(None)
    assert max(map(len, text.splitlines())) > 200
    assert text == shown(100_000) and "\N{NO-BREAK SPACE}" not in text


def test_intervals_and_p_stay_in_one_line() -> None:
    output = "- STL: holds by +0.85 [+0.58, +1.11], p = 0.001"
    assert written([output], 27).splitlines() == [
        "- STL: holds by +0.85",
        "  [+0.58, +1.11], p = 0.001",
    ]


def test_what_cannot_be_broken_is_whole() -> None:
    command = "dissensus papers seedbert data -o out"
    text = written(
        [f"commit 123: {whole(command)} (bf16)", table("H", ["", ""], [["", "x" * 30]], "n")], 20
    )
    assert text.splitlines() == [
        "commit 123:",
        f"  {command}",
        "  (bf16)",
        "",
        "H",
        f"  {'x' * 30}",
        "n",
    ]


def test_parts_that_say_nothing_are_left_out() -> None:
    assert written(["a", "", table("b", ["c", "d"], [["1", "2"]])]) == "a\n\nb\nc  d\n1  2\n"
    assert table("b", ["c", "d"], []) == ""
