"""Surveys as Google Forms, Qualtrics and Prolific export them: a CSV file, a row per participant.

They have one column per question and item. The columns of a
question are recognised by their names: the same name again, `Question [item]`, `1_Q3` (loop and
merge), `Q3_1` (a matrix) or names that differ in a number only. What is asked once, such as age, is
an attribute of the participant. Qualtrics has three rows of headers: names, wording and import ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, did_you_mean, listed
from dissensus.readers.delimited import delimited_cells
from dissensus.readers.exports.responses import Left, are_free, export_corpus, table
from dissensus.readers.layout import Layout
from dissensus.readers.recognition import GRID_COLUMN, TIMESTAMPS, check_options
from dissensus.readers.tables.column_names import plain
from dissensus.readers.tables.column_roles import ColumnRoles

IMPORT = '{"ImportId"'
PARTICIPANTS = (  # the likelier first
    "prolificpid", "prolificid", "participantid", "participant", "workerid", "userid",
    "respondentid", "emailaddress", "email", "responseid", "submissionid",
)  # fmt: skip
PREVIEWS = ("survey preview", "preview", "spam", "survey test", "test")
SERVICE = (  # plain names of what surveys write about a response
    *TIMESTAMPS, *PARTICIPANTS, "startdate", "enddate", "status", "ipaddress", "progress",
    "durationinseconds", "finished", "recordeddate", "recipientlastname", "recipientfirstname",
    "recipientemail", "externalreference", "externaldatareference", "locationlatitude",
    "locationlongitude", "distributionchannel", "userlanguage", "score", "studyid", "sessionid",
)  # fmt: skip
_LOOP = re.compile(r"(?P<item>\d+)_(?P<question>\D.*)")
_MATRIX = re.compile(r"(?P<question>.*[^\W_])[_.](?P<item>\d+)")
_NUMBER = re.compile(r"(?P<before>.*?\D)(?P<item>\d+)(?P<after>\D*)")
Row = Sequence[str | None]


class _Cell(NamedTuple):
    """The question and the item of a column."""

    question: str
    item: str


def read(path: Path, options: Layout) -> Corpus:
    """Read every participant's answers."""
    header, *cells = delimited_cells(path, options) or [[]]
    if not header:
        raise DataError(f"{path}: the file is empty")
    width = len(header)
    rows = [[*row, *[None] * (width - len(row))][:width] for row in cells if any(row)]
    return survey_corpus(path, [(name or "").strip() for name in header], rows, options)


def survey_corpus(
    path: Path, header: Sequence[str], cells: Sequence[Row], options: Layout
) -> Corpus:
    """Read a survey; options may name the participants' column and the questions."""
    check_options(path, options, "a survey", ("annotator", "answer"))
    wording, rows = _without_headers(header, cells)
    rows, left = _without_previews(header, rows)
    if not rows:
        raise DataError(f"{path}: no participants")
    columns = _columns(header, rows, wording)
    if options.answer is not None:
        known = dict.fromkeys(cell.question for cell in columns.values())
        missing = [name for name in options.answer if name not in known]
        if missing:
            raise DataError(
                f"{path}: no question {listed(missing)}{did_you_mean(missing[0], known)}; "
                f"there are {listed(known, 20)}"
            )
        columns = {at: cell for at, cell in columns.items() if cell.question in options.answer}
    if not columns:
        raise DataError(
            f"{path}: a survey without a question that is asked for several items: no columns of "
            f"{listed([name for name in header if name], 12)} share a name or differ in a number "
            'only; use format="long" (--format long) if a row is an answer'
        )
    annotators, named = _participants(path, header, rows, options)
    return _corpus(path, header, rows, columns, annotators, named, options, left)


def _without_headers(header: Sequence[str], cells: Sequence[Row]) -> tuple[Row, list[Row]]:
    """The wording of each question, if rows of Qualtrics say it, and the participants' rows."""
    for number, row in enumerate(cells[:3]):
        if any((cell or "").startswith(IMPORT) for cell in row):
            return (cells[number - 1] if number else [None] * len(header)), [*cells[number + 1 :]]
    return [None] * len(header), list(cells)


def _without_previews(header: Sequence[str], rows: list[Row]) -> tuple[list[Row], int]:
    at = [n for n, name in enumerate(header) if plain(name) in ("status", "distributionchannel")]
    kept = [row for row in rows if not any((row[n] or "").casefold() in PREVIEWS for n in at)]
    return kept, len(rows) - len(kept)


def _columns(header: Sequence[str], rows: Sequence[Row], wording: Row) -> dict[int, _Cell]:
    """Column -> its question and item, where a question has several items."""
    usable = [
        at
        for at, name in enumerate(header)
        if name and plain(name) not in SERVICE and any(row[at] for row in rows)
    ]
    times = Counter(header[at] for at in usable)
    columns: dict[int, _Cell] = {}
    seen: Counter[str] = Counter()
    for at in usable:
        if times[header[at]] > 1:
            seen[header[at]] += 1
            columns[at] = _Cell(header[at], str(seen[header[at]]))
    if not columns:
        for pattern in (GRID_COLUMN, _LOOP, _MATRIX, _NUMBER):
            columns = _by_name(header, usable, wording, pattern)
            if columns:
                break
    texts: dict[str, list[str]] = {}
    for at, cell in columns.items():
        texts.setdefault(cell.question, []).extend(text for row in rows if (text := row[at]))
    free = {question for question, answers in texts.items() if are_free(answers, fewest=11)}
    return {at: cell for at, cell in columns.items() if cell.question not in free}


def _by_name(
    header: Sequence[str], usable: Sequence[int], wording: Row, pattern: re.Pattern[str]
) -> dict[int, _Cell]:
    """The columns whose names fit a pattern, if their question has several items."""
    columns = {}
    for at in usable:
        match = pattern.fullmatch(header[at].strip())
        if match is None:
            continue
        parts = match.groupdict()
        question = parts.get("question") or f"{parts['before']}{parts['after']}"
        item = parts["item"].strip()
        words = (wording[at] or "") if pattern is _MATRIX else ""
        if " - " in words:  # "How much do you agree? - I like it"
            item = words.rpartition(" - ")[2].strip()
        columns[at] = _Cell(re.sub(r"\s+", " ", question).strip(" _-.") or "answer", item)
    items = Counter(cell.question for cell in columns.values())
    kept = {at: cell for at, cell in columns.items() if items[cell.question] > 1}
    return kept if len(set(kept.values())) == len(kept) else {}


def _participants(
    path: Path, header: Sequence[str], rows: Sequence[Row], options: Layout
) -> tuple[list[str], str | None]:
    """The name of each row's participant, and the column that says it."""
    names = [plain(name) for name in header]
    if options.annotator is not None:
        if options.annotator not in header:
            guess = did_you_mean(options.annotator, header)
            raise DataError(
                f"{path}: no column {options.annotator!r}{guess}; it has {listed(header, 40)}"
            )
        wanted = [list(header).index(options.annotator)]
    else:
        exact = [names.index(name) for name in PARTICIPANTS if name in names]
        wanted = [*exact, *(at for at, name in enumerate(names) if "email" in name)]
    for at in wanted:
        if all(row[at] for row in rows):
            return [str(row[at]) for row in rows], header[at]
    return [f"participant {number}" for number in range(1, len(rows) + 1)], None


def _corpus(
    path: Path,
    header: Sequence[str],
    rows: Sequence[Row],
    columns: dict[int, _Cell],
    annotators: list[str],
    named: str | None,
    options: Layout,
    n_previews: int,
) -> Corpus:
    questions = list(dict.fromkeys(cell.question for cell in columns.values()))
    items = list(dict.fromkeys(cell.item for cell in columns.values()))
    at = {cell: number for number, cell in columns.items()}
    cells: dict[str, list[str | None]] = {"(item)": [], "(annotator)": []}
    cells |= {question: [] for question in questions}
    others: dict[str, int] = {}  # of several columns with the same name the first
    for number, name in enumerate(header):
        free = name and number not in columns and name != named and name not in cells
        if free and any(row[number] for row in rows):
            others.setdefault(name, number)
    cells |= {name: [] for name in others}
    places = []
    for number, (row, annotator) in enumerate(zip(rows, annotators, strict=True), start=1):
        for item in items:
            answers = [_answer(row, at, question, item) for question in questions]
            if not any(answers):
                continue
            places.append(f"participant {number}, item {item}")
            cells["(item)"].append(item)
            cells["(annotator)"].append(annotator)
            for question, answer in zip(questions, answers, strict=True):
                cells[question].append(answer)
            for name, column in others.items():
                cells[name].append(row[column])
    roles = ColumnRoles("(item)", "(annotator)", tuple(questions), {})
    by = f"annotator = {named}" if named else "annotators are numbered, as no column names them"
    notes = [
        f"a row per participant, {by}; items = {', '.join(items[:8])}{', ...' * (len(items) > 8)}"
    ]
    if all(item == str(number) for number, item in enumerate(items, start=1)):
        notes.append(
            "items are the positions of columns; if participants saw different things at a "
            "position, agreement says nothing"
        )
    if n_previews:
        notes.append(f"{counted(n_previews, 'preview')} left out")
    plain_options = replace(options, annotator=None, answer=None)
    return export_corpus(table(path, cells, places), roles, plain_options, "survey", Left(), notes)


def _answer(row: Row, at: dict[_Cell, int], question: str, item: str) -> str | None:
    number = at.get(_Cell(question, item))
    return None if number is None else row[number]
