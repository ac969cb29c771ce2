"""dissensus agreement: how much annotators agree, whole, or by item, annotator or pair."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.reading import Reading, reads_corpus
from dissensus.cli.table_files import TABLES, check_output, write_tables
from dissensus.cli.tables import columns, number, show
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from dissensus.agreement import Breakdown, Measure
    from dissensus.annotations import Annotations
    from dissensus.corpus import Corpus

MOST_CELLS = 1_000_000  # of the confusions that are written


@reads_corpus
def agreement(
    reading: Reading,
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
    interval: Annotated[
        bool,
        typer.Option("--interval", help="Add 95 % confidence intervals (jackknife over items)."),
    ] = False,
    most: Annotated[
        int, typer.Option(min=0, help="Number of rows of --by to show, the most unusual first.")
    ] = 20,
    json: console.Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Also write the whole result to this file: .json, .csv or .parquet.",
        ),
    ] = None,
) -> None:
    """Measure how much the annotators in FILE agree.

    A measure that is undefined is shown with the reason.
    """
    _check(by, measure or [], interval)
    check_output(output)
    reading.spare(output)
    corpus = reading.read()
    asked = question or list(corpus.questions)
    corpus.check_questions(asked)
    if by is None:
        found = [_measured(corpus[name], name, measure, interval) for name in asked]
    else:
        found = _broken_down(corpus, asked, by, measure, None if json or output else most)
    content = {"corpus": corpus.name, "questions": found}
    if output is not None and output.suffix in TABLES:
        write_tables([_columns(result, by) for result in found], output)
    elif output is not None:
        console.write_json(output, content)
    if json:
        console.print_json(content)
        return
    for place, result in enumerate(found):
        heading = f"{corpus.name}, {result['question']} ({result['scale']})"
        table = _table(result, interval) if by is None else _lines(result, by, most)
        show(*([""] if place else []), heading, table)


def _entries(by: str | None) -> Mapping[str, Measure] | Mapping[str, Breakdown]:
    from dissensus import agreement as measures

    if by is None:
        return measures.MEASURES
    parts = {
        "item": measures.PER_ITEM,
        "annotator": measures.PER_ANNOTATOR,
        "pair": measures.PER_PAIR,
    }
    if by not in parts:
        raise DataError(f"--by {by}: there are item, annotator and pair")
    return parts[by]


def _check(by: str | None, names: Iterable[str], interval: bool) -> None:
    """Refuse options that do not fit, before anything is read."""
    entries = _entries(by)
    strange = [name for name in names if name not in entries]
    if strange:
        where = "" if by is None else f" by {by}"
        raise DataError(f"no measure {listed(strange)}{where}; there are {listed(entries, 40)}")
    if by is not None and interval:
        raise DataError(f"--interval is of a whole measure; leave out --by {by}")


def _measured(
    annotations: Annotations, question: str, names: list[str] | None, interval: bool
) -> dict[str, Any]:
    from dissensus.agreement import MEASURES, why_unfit

    fitting = names or [n for n, m in MEASURES.items() if why_unfit(m, annotations) is None]
    return {
        **_about(annotations, question),
        "measures": [_value(annotations, name, interval) for name in fitting],
    }


def _about(annotations: Annotations, question: str) -> dict[str, Any]:
    return {
        "question": question,
        "scale": annotations.scale.kind,
        "answers": annotations.n_answers,
        "items": int((annotations.per_item() > 0).sum()),
    }


def _value(annotations: Annotations, name: str, interval: bool) -> dict[str, Any]:
    """A measure, its interval, and why it is undefined where it is."""
    from dissensus import agreement as measures

    measure = measures.MEASURES[name]
    unfit = measures.why_unfit(measure, annotations)
    value = math.nan if unfit else measure.function(annotations)
    found: dict[str, Any] = {"measure": name, "value": _or_none(value)}
    if interval:
        low, high = math.nan, math.nan
        if not math.isnan(value):
            low, high = measures.interval(name, annotations)
        found |= {"low": _or_none(low), "high": _or_none(high)}
    why = measures.why_undefined(name, annotations) if math.isnan(value) else None
    return {**found, "undefined": why}


def _table(result: dict[str, Any], interval: bool) -> Any:
    from dissensus.agreement import MEASURES

    numbers = ["value", *(["low", "high"] if interval else [])]
    rows = []
    for found in result["measures"]:
        why = found["undefined"]
        says = MEASURES[found["measure"]].description if why is None else f"undefined: {why}"
        rows.append([found["measure"], *(_shown(found[key]) for key in numbers), says])
    return columns(["measure", *numbers, "meaning"], rows, numbers, whole=["measure", *numbers])


def _columns(result: dict[str, Any], by: str | None) -> dict[str, list[Any]]:
    """The result of a question as the columns of a table; confusions are for JSON only."""
    lines = result["measures" if by is None else f"{by}s"]
    names = [name for name in (lines[0] if lines else ()) if name != "confusion"]
    columns = {name: [line[name] for line in lines] for name in names}
    return {"question": [result["question"]] * len(lines), **columns}


# ---- by item, annotator or pair ----


def _broken_down(
    corpus: Corpus, asked: list[str], by: str, names: list[str] | None, most: int | None
) -> list[dict[str, Any]]:
    """The questions that can be broken down so; why others cannot goes to stderr.

    Args:
        most: how many lines of each are wanted; None: all, with everybody's confusions.
    """
    from dissensus.agreement import why_unfit

    found = []
    for name in asked:
        annotations = corpus[name]
        chosen = {n: e for n, e in _entries(by).items() if n in (names or _entries(by))}
        unfit = {n: why_unfit(entry, annotations) for n, entry in chosen.items()}
        fitting = {n: chosen[n] for n, why in unfit.items() if why is None}
        if fitting:
            lines, total = _parts(annotations, by, fitting, most)
            if by == "annotator" and names is None and most is None:
                _add_confusions(annotations, lines)
            found.append({**_about(annotations, name), "total": total, f"{by}s": lines})
        else:
            reasons = list(dict.fromkeys(why for why in unfit.values() if why))
            console.say(f"{name}: left out, nothing by {by}: {'; '.join(reasons)}")
    if not found:
        raise DataError(f"{corpus.name}: no question has such a measure by {by}")
    return found


def _parts(
    annotations: Annotations, by: str, entries: Mapping[str, Any], most: int | None
) -> tuple[list[dict[str, Any]], int]:
    """A line for each, the oddest first by the first measure; and how many there are."""
    values = {name: entry.function(annotations) for name, entry in entries.items()}
    if by == "pair":
        names, places = _pairs(annotations)
    else:
        names, places = _who(annotations, by)
    values = {name: value[places] for name, value in values.items()}
    order = _order(values, entries)[:most]
    cells = {name: _cells(column, order) for name, column in names.items()}
    cells |= {name: value[order].tolist() for name, value in values.items()}
    lines = [
        dict(zip(cells, map(_or_none, line), strict=True))
        for line in zip(*cells.values(), strict=True)
    ]
    return lines, len(places[0])


def _who(annotations: Annotations, by: str) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """Items or annotators with answers, and where they stand."""
    import numpy as np

    size = annotations.per_item() if by == "item" else annotations.per_annotator()
    there = np.flatnonzero(size)
    names = annotations.items if by == "item" else annotations.annotators
    return {by: (names, there), "answers": size[there]}, (there,)


def _pairs(annotations: Annotations) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """Annotators who share items, each two once, and where they stand in the matrices."""
    import numpy as np

    from dissensus.agreement import common_items

    common = common_items(annotations)
    first, second = np.nonzero(np.triu(common, 1))
    everyone = annotations.annotators
    names = {"first": (everyone, first), "second": (everyone, second)}
    return {**names, "items": common[first, second]}, (first, second)


def _cells(column: Any, order: np.ndarray) -> list[Any]:
    """Numbers, or names given as a list of all and a code each, in this order."""
    if not isinstance(column, tuple):
        return list(column[order].tolist())
    names, codes = column
    return list(names.array.take(codes[order]).to_pylist())


def _add_confusions(annotations: Annotations, lines: list[dict[str, Any]]) -> None:
    """Answers (columns) to items of each consensus (rows), for the programs that read JSON."""
    from dissensus.agreement import confusion

    n_values = annotations.scale.n_columns
    few = annotations.n_annotators * n_values**2 <= MOST_CELLS
    if annotations.scale.kind not in ("nominal", "ordinal") or not few:
        return
    every = confusion(annotations)
    codes = annotations.annotators.codes([line["annotator"] for line in lines])
    for line, code in zip(lines, codes, strict=True):
        line["confusion"] = every[code].tolist()


def _order(values: dict[str, np.ndarray], entries: Mapping[str, Breakdown]) -> np.ndarray:
    """The least agreement first, what is undefined last."""
    import numpy as np

    name, first = next(iter(values.items()))
    odd = first if entries[name].higher_is_agreement else -np.abs(first)
    return np.argsort(np.round(odd, 9), kind="stable")


def _lines(result: dict[str, Any], by: str, most: int) -> Any:
    lines = result[f"{by}s"][:most]
    names = [name for name in (lines[0] if lines else [by]) if name != "confusion"]
    texts = ("item", "annotator", "first", "second")
    rows = [[_shown(line[name]) for name in names] for line in lines]
    more = result["total"] - len(lines)
    if more > 0:
        rows.append([f"... {number(more)} more", *[""] * (len(names) - 1)])
    return columns(names, rows, [name for name in names if name not in texts])


def _or_none(value: Any) -> Any:
    """What is undefined is null in JSON."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else number(value)
