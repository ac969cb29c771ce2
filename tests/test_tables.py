"""One table in four formats, and within the width of a terminal."""

from __future__ import annotations

import pytest

from dissensus.tables import Emphasis, Table, escaped_latex, text_width

TABLE = Table(
    ["", "first", "second"],
    [
        [],
        ["a_b", Emphasis("1.00", " ± 0.10"), "-"],
        ["stems"],
        [Emphasis("floor", italic=True), "0.50", "+0.2 [-0.1, +0.5], p < 0.001"],
    ],
    "Title & more",
    notes=("a note",),
)


def test_text_has_rules_and_headings() -> None:
    assert TABLE.to_text().splitlines() == [
        "Title & more",
        "             first                        second",
        "-" * 48,
        "a_b    1.00 ± 0.10                             -",
        "stems",
        "floor         0.50  +0.2 [-0.1, +0.5], p < 0.001",
        "a note",
    ]


def test_a_narrow_terminal_wraps_cells_and_divides_columns_but_keeps_intervals_and_p() -> None:
    assert TABLE.to_text(width=23).splitlines() == [
        "Title & more",
        "             first",
        "-" * 18,
        "a_b    1.00 ± 0.10",
        "stems",
        "floor         0.50",
        "",
        "                second",
        "-" * 22,
        "a_b                  -",
        "stems",
        "floor             +0.2",
        "         [-0.1, +0.5],",
        "             p < 0.001",
        "a note",
    ]


def test_markdown() -> None:
    assert TABLE.to_markdown().splitlines() == [
        "Title & more",
        "",
        "|  | first | second |",
        "| --- | --: | --: |",
        "| a\\_b | **1.00** ± 0.10 | - |",
        "| stems |  |  |",
        "| *floor* | 0.50 | +0.2 [-0.1, +0.5], p \\< 0.001 |",
        "",
        "a note  ",
    ]


def test_latex() -> None:
    assert TABLE.to_latex("made-up").splitlines() == [
        "\\begin{table}[t] % \\usepackage{booktabs}",
        "\\centering",
        "\\caption{Title \\& more}",
        "\\label{tab:made-up}",
        "\\begin{tabular}{lrr}",
        "\\toprule",
        " & first & second \\\\",
        "\\midrule",
        "a\\_b & \\textbf{1.00} $\\pm$ 0.10 & - \\\\",
        "\\multicolumn{3}{l}{stems} \\\\",
        "\\textit{floor} & 0.50 & $+0.2$ [$-0.1$, $+0.5$], p $<$ 0.001 \\\\",
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
        "% a note",
    ]
    assert escaped_latex(r"a\b{c}#$%&_^~") == (
        r"a\textbackslash{}b\{c\}\#\$\%\&\_\textasciicircum{}\textasciitilde{}"
    )


def test_html_is_escaped() -> None:
    page = TABLE.to_html()
    assert page.startswith("<p>Title &amp; more</p><table>") and page.endswith("<p>a note</p>")
    assert "p &lt; 0.001" in page and page.count("<tr>") == 4


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("ä", 1), ("a\u0308", 1), ("数据", 4)])
def test_wide_characters_are_aligned(text: str, width: int) -> None:
    assert text_width(text) == width
    lines = Table(["name", "n"], [[text, "1"], ["longest name", "20"]]).to_text().splitlines()
    assert {text_width(line) for line in lines} == {16}
