"""Tables: figures, floors, marks and the corrected comparison; rendered in four ways."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from dissensus.agreement import holm
from dissensus.evaluation.comparison_table import (
    ALPHA,
    FORMATS,
    Cell,
    ComparisonTable,
    Row,
    format_tables,
    to_csv,
    to_latex,
    to_markdown,
    to_text,
)
from dissensus.evaluation.fit import item_table
from dissensus.evaluation.result_tables import table, tables
from dissensus.evaluation.significance.method_difference import compared
from dissensus.names import Names
from tests.evaluation.comparisons import comparison


@pytest.fixture(scope="module")
def comparison_table() -> ComparisonTable:
    return table(comparison(n_seeds=5), reference="single", resamples=300)


def test_methods_come_first_and_floors_last(comparison_table: ComparisonTable) -> None:
    assert [(row.name, row.floor) for row in comparison_table.rows] == [
        ("single", False),
        ("soft_label", False),
        ("prior", True),
        ("perfect prediction", True),
        ("noise floor", True),
    ]
    assert comparison_table["noise floor"].cells == {"DIC": Cell(0.9)}
    with pytest.raises(KeyError):
        comparison_table["nobody"]


def test_a_cell_holds_mean_spread_and_interval(comparison_table: ComparisonTable) -> None:
    results = comparison(n_seeds=5)
    cell = comparison_table["single"].cells["accuracy"]
    figures = [fit.score("hate", "accuracy") for fit in results.of("single")]
    assert cell.mean == pytest.approx(np.mean(figures))  # the folds are equally large
    assert cell.spread == pytest.approx(np.std(figures, ddof=1))
    alone = compared(results, "hate", "accuracy", "single")
    assert (cell.low, cell.high, cell.n_fits) == (alone.low, alone.high, 10)
    dic = comparison_table["soft_label"].cells["DIC"]
    assert np.isnan([dic.low, dic.high]).all()  # noise raises it
    assert dic.against is not None and dic.against.low < dic.against.effect < dic.against.high


def test_infinite_scores_have_no_spread() -> None:
    built = comparison()
    for one in built.of("single"):
        one.scores["hate"]["cross-entropy"] = np.inf
    cell = tables(built)[0]["single"].cells["cross-entropy"]
    assert np.isnan(cell.spread)


def test_the_best_is_marked_among_methods_that_are_no_floors(
    comparison_table: ComparisonTable,
) -> None:
    best = {m: [row.name for row in comparison_table.rows if m in row.cells and row.cells[m].best]
            for m in comparison_table.metrics}  # fmt: skip
    assert best == {
        "cross-entropy": ["soft_label"],
        "accuracy": ["soft_label"],
        "macro-F1": ["soft_label"],
        "DIC": ["single"],
    }


def test_methods_that_tie_are_both_best() -> None:
    results = comparison(methods=("single", "soft_label"))
    copied = [replace(f, method="soft_label") for f in results.of("single")]
    tied = replace(results, fits=(*results.of("single"), *copied))
    result = table(tied, metrics=["accuracy"], reference="single")
    assert [row.cells["accuracy"].best for row in result.rows] == [True, True]
    against = result["soft_label"].cells["accuracy"].against
    assert against is not None and (against.p, against.adjusted) == (1, 1)
    assert "soft_label (accuracy): identical scores on all 120 items" in result.notes


def test_where_no_difference_could_be_significant_there_is_no_p() -> None:
    many = tables(comparison(n_seeds=2), ["hate"] * 9, reference="single", resamples=200)
    assert many[0].n_comparisons == 0 and "p =" not in to_text(many[0]).split("No p")[0]
    assert all(c.against is None or np.isnan(c.against.p)
               for row in many[0].rows for c in row.cells.values())  # fmt: skip
    note = next(note for note in many[0].notes if note.startswith("No p"))
    assert note == (
        "No p: with 2 seeds and 72 comparisons, not even the largest possible difference would be "
        "significant; use 3 seeds, or fewer methods and metrics."
    )
    few = table(comparison(n_seeds=3), reference="single", resamples=200)
    assert few.n_comparisons == 8 and not any(note.startswith("No p") for note in few.notes)


def test_floors_count_in_the_family_that_p_is_corrected_over() -> None:
    pair = tables(comparison(), ["hate", "hate"], reference="soft_label", resamples=200)
    cells = [c for t in pair for row in t.rows for c in row.cells.values() if c.against]
    differences = [cell.against for cell in cells if cell.against is not None]
    raw = [difference.p for difference in differences]
    expected = holm(raw)
    assert [d.adjusted for d in differences] == pytest.approx(expected.tolist())
    assert [cell.differs for cell in cells] == (expected < ALPHA).tolist()
    assert pair[0].n_comparisons == len(raw) and any(
        c.against for c in pair[0]["prior"].cells.values()
    )
    assert f"over {len(raw)} comparisons, floors included" in to_text(pair[0])


def test_what_several_questions_share_is_said_once(comparison_table: ComparisonTable) -> None:
    other = replace(
        comparison_table, question="irony", notes=(*comparison_table.notes, "only here")
    )
    for style in ("text", "markdown", "latex"):
        text = format_tables([other, comparison_table], style).replace("\\_", "_")
        for line in (*comparison_table.notes, comparison_table.command, "only here"):
            assert sum(line in shown.replace("\\", "") for shown in text.splitlines()) == 1, line
        assert text.count("comparisons, floors included") == (2 if style == "latex" else 1)
        assert text.index("only here") < text.index(comparison_table.command)
    rows = list(csv.DictReader(io.StringIO(format_tables([other, comparison_table], "csv"))))
    assert {row["question"] for row in rows} == {"hate", "irony"}
    one = {style: format_tables([comparison_table], style) for style in FORMATS}
    assert one == {style: write(comparison_table) for style, write in FORMATS.items()}


@pytest.mark.parametrize("style", ["text", "markdown", "latex"])
def test_compact_tables_have_means_and_marks_only(
    style: str, comparison_table: ComparisonTable
) -> None:
    text = format_tables([comparison_table], style, compact=True)
    cell = comparison_table["soft_label"].cells["accuracy"]
    assert f"{cell.mean:.3f}" in text and f"{cell.low:.3f}" not in text
    assert "ifference from" not in text and "±" not in text and "pm" not in text


def test_what_was_left_out_or_ended_badly_is_said() -> None:
    result = table(comparison(broken=True), metrics=["accuracy"], reference="single")
    assert result.notes == (
        "annotator-heads left out: nobody knows who answered",
        "soft_label: 1 of 6 fits diverged ('loss is nan in epoch 3')",
        "soft_label (accuracy): 1 of 3 runs left out: a fit failed or diverged",
    )


@pytest.mark.parametrize(
    ("metric", "scores", "limits"),
    [
        ("cross-entropy", (0.0001, 0.02), (0.0, None)),
        ("accuracy", (0.999, 0.8), (None, 1.0)),
        ("accuracy", (0.001, 0.2), (0.0, None)),
        ("CCC", (-0.01, 0.9), (-1.0, 1.0)),
    ],
)
def test_an_interval_has_no_scores_that_are_impossible(
    metric: str, scores: tuple[float, float], limits: tuple[float | None, float | None]
) -> None:
    results = comparison(n_seeds=2, k=2, methods=("single", "soft_label"))
    of_seeds = [fit for fit in results.of("single") if fit.fold == "fold 1"]
    fits = []
    for fit, score in zip(of_seeds, scores, strict=True):
        each = Names(list("abcd")), score + np.array([0, 1e-6, 0, -1e-6])
        items = item_table({"hate": {metric: each}})
        fits.append(replace(fit, scores={"hate": {metric: score}}, items=items))
    about = replace(results.about, metrics=(metric,), methods=("single",))
    cell = table(replace(results, about=about, fits=tuple(fits)))["single"].cells[metric]
    assert cell.low < cell.mean < cell.high
    assert all(x in (None, y) for x, y in zip(limits, (cell.low, cell.high), strict=True))


# ---- rendering ----


SMALL = ComparisonTable(
    "made-up",
    "hate",
    ("TVD", "accuracy"),
    (
        Row(
            "soft_label",
            {"TVD": Cell(-0.25, 0.01, -0.3, -0.2, 6, best=True), "accuracy": Cell(0.5)},
        ),
        Row("50 % & more", {"accuracy": Cell(0.4)}, floor=True),
    ),
    None,
    0,
    ("a note on soft_label",),
    "dissensus compare crowd/",
)


def test_text() -> None:
    assert to_text(SMALL).splitlines() == [
        "hate                                    TVD ↓  accuracy ↑",
        "---------------------------------------------------------",
        "soft_label   -0.250 ± 0.010 [-0.300, -0.200]*       0.500",
        "---------------------------------------------------------",
        "50 % & more                                 -       0.400",
        "",
        "Mean ± sd over fits [95 % interval]; *: best mean, without floors.",
        "a note on soft_label",
        "dissensus compare crowd/",
    ]


def test_markdown() -> None:
    assert (
        to_markdown(SMALL)
        == r"""| hate | TVD ↓ | accuracy ↑ |
| --- | --: | --: |
| soft\_label | **-0.250** ± 0.010 [-0.300, -0.200] | 0.500 |
| *50 % & more* | - | 0.400 |

Mean ± sd over fits [95 % interval]; bold: best mean, without floors.  
a note on soft\_label  
`dissensus compare crowd/`
"""
    )


def test_latex_is_escaped() -> None:
    assert (
        to_latex(SMALL)
        == r"""\begin{table}[t] % \usepackage{booktabs}
\centering
\caption{made-up, hate. Mean $\pm$ sd over fits [95 \% interval]; bold: best mean, without floors.}
\label{tab:made-up-hate}
\begin{tabular}{lrr}
\toprule
hate & TVD $\downarrow$ & accuracy $\uparrow$ \\
\midrule
soft\_label & \textbf{$-0.250$} $\pm$ 0.010 [$-0.300$, $-0.200$] & 0.500 \\
\midrule
50 \% \& more & - & 0.400 \\
\bottomrule
\end{tabular}
\end{table}
% a note on soft_label
% dissensus compare crowd/
"""
    )


def test_a_notebook_shows_tables_with_intervals_differences_and_notes(
    comparison_table: ComparisonTable,
) -> None:
    page = replace(comparison_table, notes=("a < b",))._repr_html_()
    cell = comparison_table["soft_label"].cells["accuracy"]
    assert cell.against is not None
    assert f"{cell}*+" in page and cell.against.effect_text() in page
    assert page.endswith("<p>a &lt; b</p>")
    results = comparison(n_seeds=5)
    assert repr(results) == "<Results on 'made-up': 3 methods, 2 folds, 5 seeds, 22 fits>"
    scores = [fit.score("hate", "accuracy") for fit in results.of("soft_label")]
    assert f"<td>{np.mean(scores):.4g}</td>" in results._repr_html_()


def test_csv_holds_every_figure_unrounded(comparison_table: ComparisonTable) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(comparison_table))))
    assert len(rows) == sum(len(row.cells) for row in comparison_table.rows)
    result = next(r for r in rows if (r["method"], r["metric"]) == ("soft_label", "accuracy"))
    cell = comparison_table["soft_label"].cells["accuracy"]
    assert cell.against is not None
    assert [float(result[c]) for c in ("mean", "sd over fits", "low", "high", "difference")] == [
        cell.mean,
        cell.spread,
        cell.low,
        cell.high,
        cell.against.effect,
    ]
    assert (result["p (Holm)"], result["test"]) == (repr(cell.against.adjusted), "seeds and items")
    floor = next(r for r in rows if r["method"] == "perfect prediction")
    assert (floor["kind"], floor["mean"], floor["low"], floor["p"]) == ("floor", "0.0", "", "")
