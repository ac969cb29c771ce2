"""dissensus agreement: how much annotators agree, overall or by item, annotator, pair or value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli import console
from dissensus.cli.group_tables import attribute_names, show_comparisons
from dissensus.cli.outputs import RESULT_DIGITS, check_result, write_result, write_tables
from dissensus.cli.source import Source, reads_corpus
from dissensus.cli.tables import STYLES, columns, number, show, styled
from dissensus.errors import DataError, counted

if TYPE_CHECKING:
    from dissensus.corpus import Corpus


@reads_corpus
def agreement(
    source: Source,
    measure: list[str] | None = None,
    question: list[str] | None = None,
    by: str | None = None,
    groups: list[str] | None = None,
    interval: str | None = None,
    formulas: bool = False,
    weights: str | None = None,
    benchmark: str | None = None,
    most: int | None = None,
    from_disk: bool = False,
    cluster: str | None = None,
    as_: str = "text",
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Measure how much the annotators in FILE agree.

    A measure that is undefined is shown with the reason. Spans are compared too: alpha and F1 of
    each label. --groups compares the annotators of
    several groups: alpha within and between them, and a permutation test. The last line is a
    sentence for a paper: Krippendorff's alpha, or the first --measure, with its 95 % interval.

    Args:
        measure: Measure to compute, e.g. krippendorff-alpha, icc2 or span-f1; repeatable (default:
            all that apply).
        by: Break results down by item, annotator, pair or value.
        interval (metavar=[raters]): Add 95 % confidence intervals: over items, for these
            annotators; with raters, over items and annotators, for others like them.
        formulas: Add the standard error, 95 % interval, test and p of measures that have formulas
            for them.
        weights: Weights of kappas and alpha between levels: identity, linear, quadratic, ordinal,
            radical, ratio, circular or bipolar.
        benchmark: Add the words of landis-koch, fleiss or altman for values of kappa; they are
            conventions, not tests.
        most (--top, min=0): Number of rows of --by to show, the most unusual first (default: 20),
            or of items that divide --groups (default: 5).
        cluster: Address of a Dask scheduler whose workers count the answers to some items each, for
            measures that are sums over items.
        as_: Format of the tables: text, csv, markdown or latex.
        output (-o): Also write the whole result to this file: .csv, .tsv, .parquet, .json or
            .jsonl.

    Examples:
        dissensus agreement labels.csv --interval
        dissensus agreement labels.csv --measure krippendorff-alpha --as latex
    """
    from dissensus.agreement import BREAKDOWNS, SPAN_MEASURES, check_measures

    if by is not None and by not in BREAKDOWNS:
        raise DataError(f"--by must be item, annotator, pair or value, found {by}")
    if as_ not in STYLES:
        raise DataError(f"--as must be {', '.join(STYLES[:-1])} or {STYLES[-1]}, found {as_}")
    span_measures = [name for name in measure or SPAN_MEASURES if name in SPAN_MEASURES]
    answer_measures = [name for name in measure or () if name not in SPAN_MEASURES]
    check_measures(answer_measures if by is None else measure or (), by)
    if interval not in (None, "items", "raters"):
        raise DataError(f"--interval is over items or raters, found {interval}")
    over: Any = interval or "items"
    for_measures = {
        "--interval": interval is not None,
        "--formulas": formulas,
        "--weights": weights is not None,
        "--benchmark": benchmark is not None,
    }
    for option in (option for option, given in for_measures.items() if given):
        if by is not None:
            raise DataError(f"{option} applies to whole measures; leave out --by {by}")
        if groups and option != "--interval":
            raise DataError(f"--groups compares alpha; leave out {option}")
    if groups and over == "raters":
        raise DataError("--groups has intervals over items; leave out --interval raters")
    in_blocks = "--from-disk" if from_disk else "--cluster" if cluster is not None else None
    not_in_blocks = {
        "--by": by is not None,
        "--groups": bool(groups),
        "--formulas": formulas,
        "--interval raters": over == "raters",
        f"--measure {span_measures[0] if span_measures else ''}": bool(measure and span_measures),
    }
    for option in (option for option, given in not_in_blocks.items() if given and in_blocks):
        raise DataError(f"{in_blocks} counts whole measures in blocks of items; leave out {option}")
    check_result(output)
    source.check_outputs(output)
    if groups:
        if by is not None or measure:
            raise DataError("--groups compares alpha; leave out --by and --measure")
        if as_ != "text":
            raise DataError(f"--groups is not printed as {as_}; write it with -o FILE.csv")
        _compare_groups(source, groups, question, 5 if most is None else most, json, output)
        return
    most = 20 if most is None else most
    corpus: Any = source.open() if from_disk else source.read()
    lines: list[str] | None = None
    if by is None and in_blocks:
        results = _block_summary(corpus, question, answer_measures, weights, benchmark, cluster)
        lines = _block_sentences(corpus, results, measure or ["krippendorff-alpha"])
        if not interval:
            _drop_intervals(results)
    elif by is None:
        results = _summary(
            corpus, question, answer_measures, interval, formulas, weights, benchmark
        )
        _add_spans(corpus, results, span_measures, interval == "items")
        if measure and not answer_measures:
            results = [{**result, "measures": []} for result in results if result["spans"]]
            if not results:
                raise DataError(f"{corpus.name}: no spans; {measure[0]} is a measure of spans")
    else:
        results = _breakdown(
            corpus, by, question, measure, None if json or output or as_ == "csv" else most
        )
    content = {"corpus": corpus.name, "questions": results}
    if output is not None:
        write_result(output, content, lambda: _tables(results, by))
    if json:
        console.print_json(content)
        return
    if as_ == "csv":
        write_tables(_tables(results, by), None, RESULT_DIGITS)
    place = 0
    for result in results if as_ != "csv" else ():
        for heading, cells in _shown(corpus, result, by, most, weights, benchmark):
            names, rows, numbers = cells
            if as_ == "text":
                whole = [names[0], *numbers] if by is None else []
                show(*([""] if place else []), heading, columns(names, rows, numbers, whole=whole))
            else:
                print(console.visible(styled(as_, names, rows, numbers, heading)), end="\n\n")
            place += 1
    if by is None and weights is None:
        if lines is None:
            lines = _sentences(corpus, results, measure or ["krippendorff-alpha"], over)
        _say_sentences(lines, as_)
    if benchmark is not None:
        from dissensus.agreement import BENCHMARKS

        console.say(
            f"{benchmark}: the words of {BENCHMARKS[benchmark].source}; a convention, not a test"
        )


def _sentences(
    corpus: Corpus, results: list[dict[str, Any]], measures: list[str], over: Any
) -> list[str]:
    """A sentence for a paper for each question."""
    from dissensus.agreement import sentence

    return [
        f"{result['question']}: {sentence(corpus[result['question']], chosen['measure'], over)}"
        for result in results
        if (chosen := _chosen(result, measures)) is not None
    ]


def _chosen(result: dict[str, Any], measures: list[str]) -> dict[str, Any] | None:
    """The entry of the first of these measures that is defined."""
    defined = {one["measure"]: one for one in result["measures"] if one["undefined"] is None}
    return next((defined[name] for name in measures if name in defined), None)


def _block_summary(
    corpus: Any,
    questions: list[str] | None,
    measures: list[str] | None,
    weights: Any,
    benchmark: str | None,
    cluster: str | None,
) -> list[dict[str, Any]]:
    """Measures with their intervals, counted in blocks of items."""
    from dissensus.agreement import summarise

    agreement = summarise(
        corpus,
        questions or None,
        measures or None,
        intervals=True,
        weights=weights,
        benchmark=benchmark,
        cluster=cluster,
    )
    return [question.to_dict() | {"spans": []} for question in agreement]


def _block_sentences(corpus: Any, results: list[dict[str, Any]], measures: list[str]) -> list[str]:
    """A sentence for a paper for each question, from what was counted."""
    from dissensus.agreement import ConfidenceInterval
    from dissensus.agreement.sentence import written

    lines = []
    for result in results:
        chosen = _chosen(result, measures)
        if chosen is None:
            continue
        annotations = corpus[result["question"]]
        n_annotators = None
        if annotations.n_annotators:
            n_annotators = int((annotations.per_annotator() > 0).sum())
        ends = ConfidenceInterval(
            *(math.nan if chosen[end] is None else chosen[end] for end in ("low", "high"))
        )
        size = result["items"], result["answers"], n_annotators
        text = written(chosen["measure"], chosen["value"], ends, *size)
        lines.append(f"{result['question']}: {text}")
    return lines


def _drop_intervals(results: list[dict[str, Any]]) -> None:
    for result in results:
        for entry in result["measures"]:
            del entry["low"], entry["high"]


def _say_sentences(lines: list[str], style: str) -> None:
    """Print sentences; on stderr if stdout is to be copied."""
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
    corpus: Corpus,
    questions: list[str] | None,
    measures: list[str] | None,
    interval: Any,
    formulas: bool,
    weights: Any,
    benchmark: str | None,
) -> list[dict[str, Any]]:
    from dissensus.agreement import summarise

    agreement = summarise(
        corpus, questions or None, measures or None, interval or False, formulas, weights, benchmark
    )
    return [question.to_dict() for question in agreement]


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


def _add_spans(
    corpus: Corpus, results: list[dict[str, Any]], measures: list[str], interval: bool
) -> None:
    """Add the agreement on spans to the result of each question."""
    from dissensus.agreement import span_agreement

    for result in results:
        spans = span_agreement(corpus, result["question"], measures, interval) if measures else []
        result["spans"] = [one.to_dict() for one in spans]


Cells = tuple[list[str], list[list[str]], list[str]]  # names, rows, columns of numbers


def _shown(
    corpus: Corpus,
    result: dict[str, Any],
    by: str | None,
    most: int,
    weights: str | None,
    benchmark: str | None,
) -> Iterator[tuple[str, Cells]]:
    """The tables of a question, each with its heading."""
    heading = f"{corpus.name}, {result['question']}"
    if by is not None:
        yield f"{heading} ({result['scale']})", _rows(result, by, most)
        return
    if result["measures"]:
        weighted = "" if weights is None else f", {weights} weights"
        yield f"{heading} ({result['scale']}){weighted}", _measures(result, benchmark)
    if result["spans"]:
        amount = counted(result["spans"][0]["spans"], "span")
        yield f"{heading}: {amount}", _span_rows(result["spans"], most)


def _span_rows(spans: list[dict[str, Any]], most: int) -> Cells:
    """A row for each label, or for each measure if there is only one label."""
    from dissensus.agreement import SPAN_MEASURES

    def cell(entry: dict[str, Any]) -> str:
        ends = (
            f" [{_cell(entry['low'])}, {_cell(entry['high'])}]"
            if entry.get("low") is not None
            else ""
        )
        return _cell(entry["value"]) + ends

    if len(spans) == 1:
        rows = []
        for entry in spans[0]["measures"]:
            why = entry["undefined"]
            meaning = SPAN_MEASURES[entry["measure"]] if why is None else f"undefined: {why}"
            rows.append([entry["measure"], cell(entry), meaning])
        return ["measure", "value", "meaning"], rows, ["value"]
    names = [entry["measure"] for entry in spans[0]["measures"]]
    rows = [
        [
            "all labels" if one["label"] is None else one["label"] or "(no label)",
            number(one["spans"]),
            *map(cell, one["measures"]),
        ]
        for one in spans[: most + 1]
    ]
    if len(spans) > len(rows):
        more = f"... {number(len(spans) - len(rows))} more"
        rows.append([more, *[""] * (len(names) + 1)])
    return ["label", "spans", *names], rows, ["spans", *names]


def _tables(results: list[dict[str, Any]], by: str | None) -> list[dict[str, list[Any]]]:
    """The results of all questions as the columns of tables, of spans too."""
    tables = []
    for result in results:
        if by is not None or result["measures"]:
            tables.append(_columns(result, by))
        lines = [
            {"label": "" if one["label"] is None else one["label"], **entry}
            for one in result.get("spans", ())
            for entry in one["measures"]
        ]
        if lines:
            columns = {name: [line[name] for line in lines] for name in lines[0]}
            tables.append({"question": [result["question"]] * len(lines), **columns})
    return tables


FORMULA = {  # columns of --formulas, as a table shows them
    "standard_error": "error",
    "formula_low": "from",
    "formula_high": "to",
    "test": "test",
    "p": "p",
}


def _measures(result: dict[str, Any], benchmark: str | None) -> Cells:
    from dissensus.agreement import MEASURES

    known = list(result["measures"][0]) if result["measures"] else []
    numbers = [name for name in ("value", "low", "high", *FORMULA) if name in known]
    brief = "p" in known  # so that the table is not too wide
    words = ["benchmark"] if benchmark is not None else []
    rows = []
    for entry in result["measures"]:
        why = entry["undefined"]
        meaning = "" if brief else MEASURES[entry["measure"]].description
        meaning = meaning if why is None else f"undefined: {why}"
        cells = [_p(entry[key]) if key == "p" else _cell(entry[key]) for key in numbers]
        cells += [entry[key] or "" for key in words]
        rows.append([entry["measure"], *cells, meaning])
    names = [FORMULA.get(name, name) for name in numbers]
    head = ["measure", *names, *([benchmark] if benchmark is not None else []), "meaning"]
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return head, rows, names


def _p(value: float | None) -> str:
    """A p-value; the smallest are not shown as 0."""
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _rows(result: dict[str, Any], by: str, most: int) -> Cells:
    lines = result[f"{by}s"][:most]
    names = [name for name in (lines[0] if lines else [by]) if name != "confusion"]
    texts = ("item", "annotator", "first", "second", "value")
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
