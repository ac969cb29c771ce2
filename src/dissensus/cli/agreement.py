"""dissensus agreement: how much annotators agree, overall or by item, annotator, pair or value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli import console
from dissensus.cli.console import columns, emit, number, show_each, with_rest
from dissensus.cli.group_tables import show_comparisons
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError, counted

if TYPE_CHECKING:
    from dissensus.corpus import Corpus

STYLES = ("text", "csv", "markdown", "latex")
NAMES = ("item", "annotator", "first", "second", "value")  # columns of --by that are no numbers
Cells = tuple[list[str], list[list[str]], list[str]]  # names, rows, columns of numbers


@reads_corpus
def agreement(
    source: Input,
    measure: list[str] | None = None,
    question: list[str] | None = None,
    by: str | None = None,
    groups: list[str] | None = None,
    interval: str | None = None,
    weights: str | None = None,
    most: int | None = None,
    as_: str = "text",
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Measure how much the annotators in FILE agree.

    A measure that is undefined is shown with the reason. Spans are compared too: alpha and F1 of
    each label. --groups compares the annotators of several groups: alpha within and between them,
    and a permutation test. The last line is a sentence for a paper: Krippendorff's alpha, or the
    first --measure, with its 95 % interval.

    Args:
        measure: Measure to compute, e.g. krippendorff-alpha, icc2 or span-f1; repeatable (default:
            all that apply).
        by: Break results down by item, annotator, pair or value.
        interval (metavar=[raters]): Add 95 % confidence intervals: over items, for these
            annotators; with raters, over items and annotators, for others like them.
        weights: Weights of kappas and alpha between levels: identity, linear, quadratic or
            ordinal.
        most (--top, min=0): Number of rows of --by to show, the most unusual first (default: 20),
            or of items that divide --groups (default: 5).
        as_: Format of the tables: text, csv, markdown or latex.
        output (-o): Also write the whole result to this file: .csv, .tsv, .parquet, .json,
            .jsonl or .xlsx.

    Examples:
        dissensus agreement labels.csv --interval
        dissensus agreement labels.csv --measure krippendorff-alpha --as latex
    """
    from dissensus.agreement import (
        BREAKDOWNS,
        SPAN_MEASURES,
        break_down,
        check_measures,
        compare_groups,
        span_agreement,
    )
    from dissensus.description import marks_by_question, marks_text

    if by is not None and by not in BREAKDOWNS:
        raise DataError(f"--by must be item, annotator, pair or value, found {by}")
    if as_ not in STYLES:
        raise DataError(f"--as must be {', '.join(STYLES[:-1])} or {STYLES[-1]}, found {as_}")
    span_measures = [name for name in measure or SPAN_MEASURES if name in SPAN_MEASURES]
    answer_measures = [name for name in measure or () if name not in SPAN_MEASURES]
    check_measures(answer_measures if by is None else measure or (), by)
    if interval not in (None, "items", "raters"):
        raise DataError(f"--interval is over items or raters, found {interval}")
    typed = {"--interval": interval, "--weights": weights}
    for option in (option for option, value in typed.items() if value is not None):
        if by is not None:
            raise DataError(f"{option} applies to whole measures; leave out --by {by}")
        if groups and option != "--interval":
            raise DataError(f"--groups compares alpha; leave out {option}")
    if groups and interval == "raters":
        raise DataError("--groups has intervals over items; leave out --interval raters")
    console.check_result(output, overwrite)
    if groups and (by is not None or measure):
        raise DataError("--groups compares alpha; leave out --by and --measure")
    if groups and as_ != "text":
        raise DataError(f"--groups is not printed as {as_}; write it with -o FILE.csv")
    corpus = source.read()
    if groups:
        compared_by = console.attribute_names(groups), question or None, 5 if most is None else most
        compared = compare_groups(corpus, *compared_by)
        marks = marks_by_question(corpus, question or None)
        fewer = []
        if marks:
            everybody = dict(pair for who in marks.values() for pair in who.items())
            fewer = compare_groups(corpus.without(annotators=list(everybody)), *compared_by)

        def show_groups() -> None:
            show_comparisons(corpus.name, compared)
            for one in fewer:
                conclusion = f"{one.question} by {one.attribute}: {one.conclusion}"
                console.say_wrapped(f"without {marks_text(everybody)}: {conclusion}")

        content: dict[str, Any] = {"corpus": corpus.name}
        content["comparisons"] = [one.to_dict() for one in compared]
        if fewer:
            comparisons = [one.to_dict() for one in fewer]
            content["without"] = {"annotators": everybody, "comparisons": comparisons}
        emit(lambda: content, lambda: [c.to_columns() for c in compared], show_groups, output, json)
        return
    most = 20 if most is None else most
    if by is not None:
        every = json or output is not None or as_ == "csv"
        rows = None if every else most
        breakdown = break_down(corpus, by, question or None, measure or None, rows)
        for name, reason in breakdown.left_out.items():
            console.say(f"{name}: left out, no measure by {by}: {reason}")
        if not breakdown.questions:
            raise DataError(f"{corpus.name}: no question has a measure by {by}")
        results = [one.to_dict() for one in breakdown.questions]
    else:
        options = interval or False, weights
        results = _summary(corpus, question, answer_measures, *options)
        _add_without(corpus, results)
        for result in results:
            on_items = result["question"], span_measures, interval == "items"
            spans = span_agreement(corpus, *on_items) if span_measures else []
            result["spans"] = [one.to_dict() for one in spans]
        if measure and not answer_measures:
            results = [{**result, "measures": []} for result in results if result["spans"]]
            if not results:
                raise DataError(f"{corpus.name}: no spans; {measure[0]} is a measure of spans")

    def show_tables() -> None:
        if as_ == "csv":
            console.write_tables(list(_tables(results, by)), None, console.RESULT_DIGITS)
        else:
            shown = [t for r in results for t in _shown(corpus, r, by, most, weights)]
            _show(shown, as_, by is None)
        if by is None and weights is None:
            names = measure or ["krippendorff-alpha"]
            over = interval or "items"
            sentences = [_sentence(corpus, result, names, over) for result in results]
            for without in (result["without"] for result in results if "without" in result):
                who = without["annotators"]
                sentence = _sentence(corpus.without(annotators=[*who]), without, names, over)
                sentences.append(sentence and f"without {marks_text(who)}: {sentence}")
            known = list(filter(None, sentences))
            if as_ == "text" and known:
                print("", *map(console.visible, known), sep="\n")
            for sentence in known if as_ != "text" else ():  # stdout is to be copied
                console.say(sentence)

    everything = {"corpus": corpus.name, "questions": results}
    emit(lambda: everything, lambda: list(_tables(results, by)), show_tables, output, json)


# ---- results ----


def _summary(
    corpus: Any, questions: list[str] | None, measures: list[str], *options: Any
) -> list[dict[str, Any]]:
    from dissensus.agreement import summarise

    agreement = summarise(corpus, questions or None, measures or None, *options)
    return [question.to_dict() for question in agreement]


def _add_without(corpus: Corpus, results: list[dict[str, Any]]) -> None:
    from dissensus.description import marks_by_question

    for question, marks in marks_by_question(corpus, [one["question"] for one in results]).items():
        fewer = corpus.without(annotators=list(marks))
        (result,) = (one for one in results if one["question"] == question)
        names = [measure["measure"] for measure in result["measures"]]
        (without,) = _summary(fewer, [question], names) if names else ({},)
        result["without"] = {"annotators": marks, **without}


def _sentence(corpus: Any, result: dict[str, Any], measures: list[str], over: Any) -> str | None:
    """The first of these measures that is defined, with its interval, as a sentence for a paper."""
    from dissensus.agreement import summarise
    from dissensus.agreement.summary import written

    defined = [one["measure"] for one in result["measures"] if one["undefined"] is None]
    chosen = next((name for name in measures if name in defined), None)
    if chosen is None:
        return None
    question = result["question"]
    (one,) = summarise(corpus, [question], [chosen], over)[0].measures
    assert one.interval is not None
    answers = corpus[question]
    known = int((answers.per_annotator() > 0).sum()) if answers.n_annotators else None
    size = result["items"], result["answers"], known
    return f"{question}: {written(chosen, one.value, one.interval, *size, over)}"


# ---- what is shown and written ----


def _show(tables: list[tuple[str, Cells]], style: str, wide: bool) -> None:
    """Print tables with their headings.

    Args:
        wide: whether names of measures are never wrapped.
    """
    from dissensus.tables import Table

    if style == "text":
        show_each(
            (heading, columns(*cells, whole=[cells[0][0], *cells[2]] if wide else ()))
            for heading, cells in tables
        )
        return
    for heading, (names, rows, numbers) in tables:
        sides = "".join("r" if name in numbers else "l" for name in names)
        table = Table(names, rows, heading, sides)
        text = table.to_markdown() if style == "markdown" else table.to_latex()
        print(console.visible(text), end="\n\n")


def _tables(results: list[dict[str, Any]], by: str | None) -> Iterator[Any]:
    """The results of all questions as Arrow tables, of spans too; confusions are for JSON only."""
    import pyarrow as pa

    for result in results:
        spans = [
            {"label": one["label"] or "", **entry}
            for one in result.get("spans", ())
            for entry in one["measures"]
        ]
        for lines in (result["measures" if by is None else f"{by}s"], spans):
            rows = [{"question": result["question"], **line} for line in lines]
            if rows:
                table = pa.Table.from_pylist(rows)
                yield table.drop(["confusion"]) if "confusion" in table.column_names else table
        if by is not None and not result[f"{by}s"]:
            yield pa.table({"question": pa.array([], pa.string())})


def _shown(
    corpus: Corpus, result: dict[str, Any], by: str | None, most: int, weights: str | None
) -> Iterator[tuple[str, Cells]]:
    heading = f"{corpus.name}, {result['question']}"
    if by is not None:
        yield f"{heading} ({result['scale']})", _rows(result, by, most)
        return
    if result["measures"]:
        weighted = "" if weights is None else f", {weights} weights"
        yield f"{heading} ({result['scale']}){weighted}", _measures(result)
    if result["spans"]:
        amount = counted(result["spans"][0]["spans"], "span")
        yield f"{heading}: {amount}", _span_rows(result["spans"], most)


def _span_rows(spans: list[dict[str, Any]], most: int) -> Cells:
    """A row for each label, or for each measure if there is only one label."""
    from dissensus.agreement import SPAN_MEASURES

    def cell(entry: dict[str, Any]) -> str:
        low, high = (_cell(entry.get(end)) for end in ("low", "high"))
        return _cell(entry["value"]) + ("" if low == "-" else f" [{low}, {high}]")

    if len(spans) == 1:
        rows = [
            [one["measure"], cell(one), _meaning(one, SPAN_MEASURES[one["measure"]])]
            for one in spans[0]["measures"]
        ]
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
    names = ["spans", *names]
    return ["label", *names], with_rest(rows, len(spans), len(names) + 1), names


def _measures(result: dict[str, Any]) -> Cells:
    from dissensus.agreement import MEASURES

    numbers = [n for n in ("value", "low", "high") if n in result["measures"][0]]
    rows = []
    for entry in result["measures"]:
        cells = [_cell(entry[key]) for key in numbers]
        meaning = _meaning(entry, MEASURES[entry["measure"]].description)
        rows.append([entry["measure"], *cells, meaning])
    head = ["measure", *numbers, "meaning"]
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return head, rows, numbers


def _meaning(entry: dict[str, Any], meaning: str) -> str:
    why = entry["undefined"]
    return meaning if why is None else f"undefined: {why}"


def _rows(result: dict[str, Any], by: str, most: int) -> Cells:
    lines = result[f"{by}s"][:most]
    names = [name for name in (lines[0] if lines else [by]) if name != "confusion"]
    rows = [[_cell(line[name]) for name in names] for line in lines]
    rows = with_rest(rows, result["total"], len(names))
    return names, rows, [name for name in names if name not in NAMES]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else number(value)
