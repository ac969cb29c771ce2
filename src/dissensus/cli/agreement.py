"""dissensus agreement: how much annotators agree, whole, or by item, annotator or pair."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.reading import Reading, reads_corpus
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
            help="krippendorff-alpha, cohen-kappa, icc2, ...; repeatable; all that apply."
        ),
    ] = None,
    question: console.Question = None,
    by: Annotated[
        str | None, typer.Option(help="item, annotator or pair: a line for each, not one in all.")
    ] = None,
    interval: Annotated[
        bool, typer.Option("--interval", help="Show 95 % intervals, by drawing items 1,000 times.")
    ] = False,
    most: Annotated[
        int, typer.Option(min=0, help="How many lines of --by to show, the oddest first.")
    ] = 20,
    json: console.Json = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Also write the result here, as JSON, every line."),
    ] = None,
) -> None:
    """Measure how much the annotators of FILE agree; what is undefined says why."""
    _check(by, measure or [], interval)
    corpus = reading.read()
    asked = question or list(corpus.questions)
    corpus.check_questions(asked)
    if by is None:
        found = [_measured(corpus[name], name, measure, interval) for name in asked]
    else:
        found = _broken_down(corpus, asked, by, measure)
    content = {"corpus": corpus.name, "questions": found}
    if output is not None:
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
            low, high, _ = measures.interval(name, annotations)
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


# ---- by item, annotator or pair ----


def _broken_down(
    corpus: Corpus, asked: list[str], by: str, names: list[str] | None
) -> list[dict[str, Any]]:
    """The questions that can be broken down so; why others cannot goes to stderr."""
    from dissensus.agreement import why_unfit

    found = []
    for name in asked:
        annotations = corpus[name]
        chosen = {n: e for n, e in _entries(by).items() if n in (names or _entries(by))}
        unfit = {n: why_unfit(entry, annotations) for n, entry in chosen.items()}
        fitting = {n: chosen[n] for n, why in unfit.items() if why is None}
        if fitting or (by != "item" and annotations.annotator is not None):
            found.append(_parts(annotations, name, by, fitting, names is None))
        else:
            reasons = list(dict.fromkeys(why for why in unfit.values() if why))
            console.say(f"{name}: left out, nothing by {by}: {'; '.join(reasons)}")
    if not found:
        raise DataError(f"{corpus.name}: no question has such a measure by {by}")
    return found


def _parts(
    annotations: Annotations,
    question: str,
    by: str,
    entries: Mapping[str, Any],
    confusions: bool,
) -> dict[str, Any]:
    """One line per item, annotator or pair, the oddest first by the first measure."""
    import numpy as np

    values = {name: entry.function(annotations) for name, entry in entries.items()}
    if by == "pair":
        names, values = _pairs(annotations, values)
    else:
        size = annotations.per_item() if by == "item" else annotations.per_annotator()
        there = np.flatnonzero(size)
        of = annotations.items if by == "item" else annotations.annotators
        names = {by: list(of.take(there)), "answers": size[there].tolist()}
        values = {name: value[there] for name, value in values.items()}
        if by == "annotator" and confusions:
            names |= _confusions(annotations, there)
    order = _order(values, entries, len(next(iter(names.values()))))
    cells = {n: list(v) for n, v in names.items()} | {n: v.tolist() for n, v in values.items()}
    lines = [{name: _or_none(cell[row]) for name, cell in cells.items()} for row in order]
    return {**_about(annotations, question), f"{by}s": lines}


def _pairs(
    annotations: Annotations, values: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Only those who share items, each once."""
    import numpy as np

    from dissensus.agreement import common_items

    common = common_items(annotations)
    first, second = np.nonzero(np.triu(common, 1))
    everyone = list(annotations.annotators)
    names = {
        "first": [everyone[code] for code in first],
        "second": [everyone[code] for code in second],
        "items": common[first, second].tolist(),
    }
    return names, {name: value[first, second] for name, value in values.items()}


def _confusions(annotations: Annotations, there: np.ndarray) -> dict[str, Any]:
    """Answers (columns) to items of each consensus (rows), for the programs that read JSON."""
    from dissensus.agreement import confusion

    n_values = annotations.scale.n_columns
    few = annotations.n_annotators * n_values**2 <= MOST_CELLS
    if annotations.scale.kind not in ("nominal", "ordinal") or not few:
        return {}
    return {"confusion": confusion(annotations)[there].tolist()}


def _order(values: dict[str, np.ndarray], entries: Mapping[str, Breakdown], n: int) -> np.ndarray:
    """The least agreement first, what is undefined last."""
    import numpy as np

    if not values:
        return np.arange(n)
    name, first = next(iter(values.items()))
    odd = first if entries[name].higher_is_agreement else -np.abs(first)
    return np.argsort(np.round(odd, 9), kind="stable")


def _lines(result: dict[str, Any], by: str, most: int) -> Any:
    lines = [{k: v for k, v in line.items() if k != "confusion"} for line in result[f"{by}s"]]
    names = list(lines[0]) if lines else [by]
    texts = [name for name in names if name in ("item", "annotator", "first", "second")]
    numbers = [name for name in names if name not in texts]
    rows = [[_shown(line[name]) for name in names] for line in lines[:most]]
    more = len(lines) - most
    if more > 0:
        rows.append([f"... {number(more)} more", *[""] * (len(names) - 1)])
    return columns(names, rows, numbers)


def _or_none(value: Any) -> Any:
    """What is undefined is null in JSON."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else number(value)
