"""Surveys as Google Forms, Qualtrics, LimeSurvey and Prolific export them: a row per participant.

They have one column per question and item. The columns of a question are recognised by their names:
the same name again, `Question [item]`, `1_Q3` (loop and merge), `Q3_1` (a matrix) or names that
differ in a number only. What is asked once, such as age, is an attribute of the participant.
Qualtrics has three rows of headers: names, wording and import ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.readers.delimited import delimited_cells, delimited_rows
from dissensus.readers.exports.responses import are_free, check_known, table
from dissensus.readers.files import check_width
from dissensus.readers.layout import Layout, layouts_taken
from dissensus.readers.recognition import GRID_COLUMN, TIMESTAMPS, check_options
from dissensus.readers.tables.column_names import plain
from dissensus.readers.tables.rows import free_name
from dissensus.readers.tables.shapes import table_corpus

IMPORT = '{"ImportId"'
PARTICIPANTS = (  # the likelier first
    "prolificpid", "prolificid", "participantid", "participant", "workerid", "userid",
    "respondentid", "emailaddress", "email", "responseid", "submissionid",
    "id",
)  # fmt: skip
PREVIEWS = ("survey preview", "preview", "spam", "survey test", "test")
SERVICE = (  # plain names of what surveys write about a response
    *TIMESTAMPS, *PARTICIPANTS, "startdate", "enddate", "status", "ipaddress", "progress",
    "durationinseconds", "finished", "recordeddate", "recipientlastname", "recipientfirstname",
    "recipientemail", "externalreference", "externaldatareference", "locationlatitude",
    "locationlongitude", "distributionchannel", "userlanguage", "score", "studyid", "sessionid",
    "submitdate", "lastpage", "startlanguage", "datestamp", "seed",
)  # fmt: skip
_LOOP = re.compile(r"(?P<item>\d+)_(?P<question>\D.*)")
_MATRIX = re.compile(r"(?P<question>.*[^\W_])[_.](?P<item>\d+)")
_NUMBER = re.compile(r"(?P<before>.*?\D)(?P<item>\d+)(?P<after>\D*)")
Row = Sequence[str | None]


Cell = tuple[str, str]  # the question and the item of a column


def read(path: Path, options: Layout) -> Corpus:
    """Read every participant's answers; patterns in `answer` say how a table is read."""
    if options.has_patterns:
        return table_corpus(delimited_rows(path, options), options)
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
    check_width(len(header), path)
    check_options(path, options, "a survey", ("annotator", "answer"))
    wording: Row = [None] * len(header)  # what Qualtrics asked, above import ids
    rows = list(cells)
    for number, row in enumerate(rows[:3]):
        if any((cell or "").startswith(IMPORT) for cell in row):
            wording, rows = rows[number - 1] if number else wording, rows[number + 1 :]
            break
    at = [n for n, name in enumerate(header) if plain(name) in ("status", "distributionchannel")]
    kept = [row for row in rows if not any((row[n] or "").casefold() in PREVIEWS for n in at)]
    n_previews, rows = len(rows) - len(kept), kept
    notes = [f"{counted(n_previews, 'preview')} left out"] if n_previews else []
    if not rows:
        raise DataError(f"{path}: no participants")
    _refuse_second_names(path, header, rows)
    columns = _columns(header, rows, wording)
    if options.annotator is not None:
        check_known(path, [options.annotator], header, "column")
    if options.answer is not None:
        check_known(path, options.answer, dict.fromkeys(q for q, _ in columns.values()), "question")
        columns = {at: cell for at, cell in columns.items() if cell[0] in options.answer}
    if not columns:
        raise DataError(
            f"{path}: a survey without a question that is asked for several items: no columns of "
            f"{listed([name for name in header if name], 12)} share a name or differ in a number "
            'only; use format="long" (--format long) if a row is an answer'
        )
    return _corpus(path, header, rows, columns, options, notes)


def _columns(header: Sequence[str], rows: Sequence[Row], wording: Row) -> dict[int, Cell]:
    """Column -> its question and item, where a question has several items."""
    usable = [
        at
        for at, name in enumerate(header)
        if name and plain(name) not in SERVICE and any(row[at] for row in rows)
    ]
    times, seen = Counter(header[at] for at in usable), Counter[str]()
    columns: dict[int, Cell] = {}
    for at in usable:
        if times[header[at]] > 1:
            seen[header[at]] += 1
            columns[at] = header[at], str(seen[header[at]])
    if not columns:
        patterns = (GRID_COLUMN, _LOOP, _MATRIX, _NUMBER)
        by_name = (_by_name(header, usable, wording, pattern) for pattern in patterns)
        columns = next(filter(None, by_name), {})
    texts: dict[str, list[str]] = {}
    for at, (question, _) in columns.items():
        texts.setdefault(question, []).extend(text for row in rows if (text := row[at]))
    free = {question for question, answers in texts.items() if are_free(answers, fewest=11)}
    return {at: cell for at, cell in columns.items() if cell[0] not in free}


def _refuse_second_names(path: Path, header: Sequence[str], rows: Sequence[Row]) -> None:
    """Refuse names that are repeated above other names, such as a question over annotators."""
    times = Counter(header)
    columns = [at for at, name in enumerate(header) if name and times[name] > 1]
    first, *below = ([row[at] for at in columns] for row in rows)
    again = {cell for row in below for cell in row}
    if len(below) > 1 < len(columns) == len({*first} - {None, *again}):
        raise DataError(
            f"{path}: names are repeated, and below them stand {listed(first, 3)}: if two rows "
            "contain the column names, use header=2 (--header 2)"
        )


def _by_name(
    header: Sequence[str], usable: Sequence[int], wording: Row, pattern: re.Pattern[str]
) -> dict[int, Cell]:
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
        columns[at] = re.sub(r"\s+", " ", question).strip(" _-.") or "answer", item
    items = Counter(question for question, _ in columns.values())
    kept = {at: cell for at, cell in columns.items() if items[cell[0]] > 1}
    return kept if len(set(kept.values())) == len(kept) else {}


def _participants(header: Sequence[str], rows: Sequence[Row], options: Layout) -> int | None:
    """The column that names the participant in every row."""
    if options.annotator is not None:
        return list(header).index(options.annotator)
    names = [plain(name) for name in header]
    exact = [names.index(name) for name in PARTICIPANTS if name in names]
    others = [at for at, name in enumerate(names) if "email" in name]
    return next((at for at in (*exact, *others) if all(row[at] for row in rows)), None)


def _corpus(
    path: Path,
    header: Sequence[str],
    rows: Sequence[Row],
    columns: dict[int, Cell],
    options: Layout,
    notes: list[str],
) -> Corpus:
    """The corpus of a table with a row per participant and a column `question [item]` for each."""
    named = {at: f"{question} [{item}]" for at, (question, item) in columns.items()}
    participant, names = _participants(header, rows, options), {*named.values()}
    for at, name in enumerate(header):  # of several columns with the same name the first
        if name and name not in names and (at == participant or any(r[at] for r in rows)):
            named.setdefault(at, name)
            names.add(name)
    table_of = {name: [row[at] for row in rows] for at, name in sorted(named.items())}
    annotator = free_name("participant", named.values())
    if participant is None:
        notes.append("annotators are numbered, as no column names them")
        table_of[annotator] = [f"participant {number}" for number in range(1, len(rows) + 1)]
    items = dict.fromkeys(item for _, item in columns.values())
    if all(item == str(number) for number, item in enumerate(items, start=1)):
        notes.append(
            "items are the positions of columns; if participants saw different things at a "
            "position, agreement says nothing"
        )
    places = [f"participant {number}" for number in range(1, len(rows) + 1)]
    as_rows = replace(table(path, table_of, places), notes=("a survey", *notes))
    questions = dict.fromkeys(f"{question} [{{item}}]" for question, _ in columns.values())
    layout = Layout(
        annotator=annotator if participant is None else header[participant], answer=(*questions,)
    )
    stated = replace(options, annotator=None, answer=None).stated()
    with layouts_taken():  # this one is about columns that are called otherwise
        return table_corpus(as_rows, layout.with_changes(**stated))
