"""dissensus agreement: how much annotators agree, overall or by item, annotator or pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.group_tables import Groups, attribute_names, show_comparisons
from dissensus.cli.outputs import ENDINGS, RESULT_DIGITS, check_result, write_result, write_tables
from dissensus.cli.source import Source, reads_corpus
from dissensus.cli.tables import STYLES, columns, number, show, styled
from dissensus.errors import DataError

if TYPE_CHECKING:
    from dissensus.corpus import Corpus


@reads_corpus
def agreement(
    source: Source,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure to compute, e.g. krippendorff-alpha or icc2; repeatable (default: all "
            "that apply)."
        ),
    ] = None,
    question: console.Question = None,
    by: Annotated[
        str | None, typer.Option(help="Break results down by item, annotator or pair.")
    ] = None,
    groups: Groups = None,
    interval: Annotated[
        bool,
        typer.Option("--interval", help="Add 95 % confidence intervals (jackknife over items)."),
    ] = False,
    most: Annotated[
        int | None,
        typer.Option(
            "--most",
            "--top",
            min=0,
            help="Number of rows of --by to show, the most unusual first (default: 20), or of "
            "items that divide --groups (default: 5).",
        ),
    ] = None,
    style: Annotated[
        str, typer.Option("--as", help="Format of the tables: text, csv, markdown or latex.")
    ] = "text",
    json: console.Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help=f"Also write the whole result to this file: {ENDINGS}.",
        ),
    ] = None,
) -> None:
    """Measure how much the annotators in FILE agree.

    A measure that is undefined is shown with the reason. --groups compares the annotators of
    several groups: alpha within and between them, and a permutation test. The last line is a
    sentence for a paper: Krippendorff's alpha, or the first --measure, with its 95 % interval.
    """
    from dissensus.agreement import BREAKDOWNS, check_measures

    if by is not None and by not in BREAKDOWNS:
        raise DataError(f"--by must be item, annotator or pair, found {by}")
    if style not in STYLES:
        raise DataError(f"--as must be {', '.join(STYLES[:-1])} or {STYLES[-1]}, found {style}")
    check_measures(measure or (), by)
    if by is not None and interval:
        raise DataError(f"--interval applies to whole measures; leave out --by {by}")
    check_result(output)
    source.check_outputs(output)
    if groups:
        if by is not None or measure:
            raise DataError("--groups compares alpha; leave out --by and --measure")
        if style != "text":
            raise DataError(f"--groups is not printed as {style}; write it with -o FILE.csv")
        _compare_groups(source, groups, question, 5 if most is None else most, json, output)
        return
    most = 20 if most is None else most
    corpus = source.read()
    if by is None:
        results = _summary(corpus, question, measure, interval)
    else:
        results = _breakdown(
            corpus, by, question, measure, None if json or output or style == "csv" else most
        )
    content = {"corpus": corpus.name, "questions": results}
    if output is not None:
        write_result(output, content, lambda: [_columns(result, by) for result in results])
    if json:
        console.print_json(content)
        return
    if style == "csv":
        write_tables([_columns(result, by) for result in results], None, RESULT_DIGITS)
    for place, result in enumerate(results if style != "csv" else ()):
        heading = f"{corpus.name}, {result['question']} ({result['scale']})"
        names, rows, numbers = (
            _measures(result, interval) if by is None else _rows(result, by, most)
        )
        if style == "text":
            whole = ["measure", *numbers] if by is None else []
            show(*([""] if place else []), heading, columns(names, rows, numbers, whole=whole))
        else:
            print(styled(style, names, rows, numbers, heading), end="\n\n")
    if by is None:
        _say_sentences(corpus, results, measure or ["krippendorff-alpha"], style)


def _say_sentences(
    corpus: Corpus, results: list[dict[str, Any]], measures: list[str], style: str
) -> None:
    """A sentence for a paper for each question; on stderr if stdout is to be copied."""
    from dissensus.agreement import sentence

    lines = []
    for result in results:
        defined = {entry["measure"] for entry in result["measures"] if entry["undefined"] is None}
        chosen = next((name for name in measures if name in defined), None)
        if chosen is not None:
            question = result["question"]
            lines.append(f"{question}: {sentence(corpus[question], chosen)}")
    if style == "text" and lines:
        print("", *map(console.visible, lines), sep="\n")
    elif style != "text":
        for line in lines:
            console.say(line)


def _compare_groups(
    source: Source,
    groups: list[str],
    questions: list[str] | None,
    most: int,
    json: bool,
    output: Path | None,
) -> None:
    from dissensus.agreement import compare_groups

    corpus = source.read()
    results = compare_groups(corpus, attribute_names(groups), questions or None, most)
    content = {"corpus": corpus.name, "comparisons": [result.to_dict() for result in results]}
    if output is not None:
        write_result(output, content, lambda: [result.to_columns() for result in results])
    if json:
        console.print_json(content)
    else:
        show_comparisons(corpus.name, results)


def _summary(
    corpus: Corpus, questions: list[str] | None, measures: list[str] | None, interval: bool
) -> list[dict[str, Any]]:
    from dissensus.agreement import summarise

    return [r.to_dict() for r in summarise(corpus, questions or None, measures or None, interval)]


def _breakdown(
    corpus: Corpus,
    by: str,
    questions: list[str] | None,
    measures: list[str] | None,
    most: int | None,
) -> list[dict[str, Any]]:
    from dissensus.agreement import break_down

    breakdown = break_down(corpus, by, questions or None, measures or None, most)
    for name, reason in breakdown.left_out.items():
        console.say(f"{name}: left out, no measure by {by}: {reason}")
    if not breakdown.questions:
        raise DataError(f"{corpus.name}: no question has a measure by {by}")
    return [result.to_dict() for result in breakdown.questions]


Cells = tuple[list[str], list[list[str]], list[str]]  # names, rows, columns of numbers


def _measures(result: dict[str, Any], interval: bool) -> Cells:
    from dissensus.agreement import MEASURES

    numbers = ["value", *(["low", "high"] if interval else [])]
    rows = []
    for entry in result["measures"]:
        why = entry["undefined"]
        meaning = MEASURES[entry["measure"]].description if why is None else f"undefined: {why}"
        rows.append([entry["measure"], *(_cell(entry[key]) for key in numbers), meaning])
    return ["measure", *numbers, "meaning"], rows, numbers


def _rows(result: dict[str, Any], by: str, most: int) -> Cells:
    lines = result[f"{by}s"][:most]
    names = [name for name in (lines[0] if lines else [by]) if name != "confusion"]
    texts = ("item", "annotator", "first", "second")
    rows = [[_cell(line[name]) for name in names] for line in lines]
    more = result["total"] - len(lines)
    if more > 0:
        rows.append([f"... {number(more)} more", *[""] * (len(names) - 1)])
    return names, rows, [name for name in names if name not in texts]


def _columns(result: dict[str, Any], by: str | None) -> dict[str, list[Any]]:
    """The result of a question as the columns of a table; confusions are for JSON only."""
    lines = result["measures" if by is None else f"{by}s"]
    names = [name for name in (lines[0] if lines else ()) if name != "confusion"]
    columns = {name: [line[name] for line in lines] for name in names}
    return {"question": [result["question"]] * len(lines), **columns}


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else number(value)
