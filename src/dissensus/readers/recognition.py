"""Recognition: every format, with the sign by which a file or folder of it is known.

    Format(name, file, folder, read)

`file` looks at the head of a file, `folder` at a folder; neither raises on content. `read` is a
function of `formats/`, called `read(path, layout)`, which raises nothing but DissensusError. The
order of `READERS` is the order in which formats are tried.
"""

from __future__ import annotations

import importlib
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.files.plain import check_zip
from dissensus.readers.delimited import names_of
from dissensus.readers.exports import folders
from dissensus.readers.files import ending, first_bytes, is_text, not_text, read_bytes
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import NAMES, plain

SIZE = 1 << 16  # bytes of a file that are looked at
ZIP = b"PK\x03\x04"
_KEY = r'"(?:[^"\\]|\\.)*"\s*:\s*'
RECORDS = r"\s*\[?\s*\{"  # how JSON begins: an object for each record, or an array of them
BY_NAME = rf"\s*\{{\s*({_KEY}\{{|\}}\s*$)"  # an object of objects
TASKS_OF_NUMBERS = rf"\s*\{{\s*{_KEY}\{{\s*{_KEY}-?\d"


@dataclass(frozen=True, eq=False)
class Head:
    """The first bytes of a file, unpacked, and what they show; of a folder, its path alone."""

    path: Path
    is_file: bool
    start: bytes  # none of a folder, or of a file that cannot be read

    @classmethod
    def of(cls, path: Path) -> Head:
        is_file = path.is_file()
        return cls(path, is_file, first_bytes(path, SIZE) if is_file else b"")

    @property
    def is_text(self) -> bool:
        return self.is_file and is_text(self.start[:4096])

    @cached_property
    def text(self) -> str:
        """The first bytes as text; what is not UTF-8 is replaced."""
        return self.start.decode("utf-8-sig", errors="replace")

    @cached_property
    def names(self) -> list[str]:
        """The column names in the first line; none if it is not a table of texts."""
        return names_of(self.start)


Sign = Callable[[Head], Any]  # whether a file or folder is of a format


def keys(*patterns: str, opening: str = RECORDS) -> Sign:
    """The sign of JSON that begins so, and has these patterns."""

    def sign(head: Head) -> bool:
        opens = re.match(opening, head.text)
        return bool(opens) and all(re.search(pattern, head.text) for pattern in patterns)

    return sign


def columns(*patterns: str) -> Sign:
    """The sign of a table with a column for each of these patterns, such as "Answer.*"."""
    return lambda head: all(
        any(fnmatchcase(name, pattern) for name in head.names) for pattern in patterns
    )


def either(*signs: Sign) -> Sign:
    """Any of these signs."""
    return lambda head: any(sign(head) for sign in signs)


def begins(*starts: bytes, endings: Sequence[str] = ()) -> Sign:
    """The sign of a file that begins so, or whose name ends so."""
    return lambda head: head.start.startswith(starts) or ending(head.path) in endings


@dataclass(frozen=True)
class Format:
    """A format that can be read.

    Args:
        name: that users type.
        file: whether the head of a file shows this format.
        folder: whether a folder has it.
        read: a function, called `read(path, layout)`, or the module and the name of one in
            `formats`; as the name if left out.
        tool: the annotation tool of an export, whose columns have a fixed meaning.
        may: options about columns that an export allows nevertheless.
        table: the format that reads an export as a table.
    """

    name: str
    file: Sign = lambda _: False
    folder: Sign = lambda _: False
    read: str | Callable[[Path, Layout], Corpus] = ""
    tool: str = ""
    may: tuple[str, ...] = ()
    table: str = "csv"

    def fits(self, head: Head) -> bool:
        """Whether a file or folder is of this format."""
        if head.is_file:
            return bool(self.file(head))
        return head.path.is_dir() and bool(self.folder(head))

    def corpus(self, path: Path, layout: Layout) -> Corpus:
        """Read a file or folder of this format."""
        if self.tool:
            check_options(path, layout, self.tool, self.may, self.table)
        if callable(self.read):
            return self.read(path, layout)
        module, _, function = (self.read or f"{self.name.replace('-', '_')}.read").partition(".")
        reads = getattr(importlib.import_module(f"dissensus.readers.formats.{module}"), function)
        corpus: Corpus = reads(path, layout)
        return corpus


def check_options(
    path: Path, layout: Layout, tool: str, may: Sequence[str] = (), plain: str = "csv"
) -> None:
    """Refuse options about columns whose meaning is fixed in an export of this tool."""
    refused = [option for option in layout.columns_named if option not in may]
    refused += ["merge_variants"] if layout.merge_variants else []
    if refused:
        raise DataError(
            f"{path}: in an export of {tool} the meaning of every column is fixed; leave out "
            f'{listed(refused)}, or use format="{plain}" (--format {plain}) to read it as a table'
        )


# ---- surveys, matrices and other tables ----

TIMESTAMPS = ("timestamp", "zeitstempel", "horodateur", "marcatemporal", "carimbodedatahora")
GRID_COLUMN = re.compile(r"(?P<question>.*\S)\s*\[(?P<item>[^\[\]]+)\]\s*")  # Question [item]
_SERVICES = (  # columns of Qualtrics and of LimeSurvey
    {"responseid", "startdate", "recordeddate"},
    {"submitdate", "lastpage", "startlanguage"},
)
FEWEST_LINES = 10  # in which annotators have given the same answers
_WHOLE = re.compile(rb"-1|[0-9]+|(?i:nan)")


def is_survey(header: Sequence[str]) -> bool:
    """Whether a table is a survey: by its columns about participants, or by names that occur again,
    all equally often, in a table without items. Numbers that occur again are a row of answers."""
    names = [plain(name) for name in header]
    texts = [name for name in header if any(map(str.isalpha, name))]
    times = {n for n in Counter(texts).values() if n > 1}
    repeated = len(times) == 1 and not any(name in NAMES["item"] for name in names)
    if repeated or any(one <= {*names} for one in _SERVICES):
        return True
    n_grid = sum(GRID_COLUMN.fullmatch(name) is not None for name in header)
    return names[:1] != [] and names[0] in TIMESTAMPS and n_grid > 1


def _is_matrix(head: Head) -> bool:
    """By numpy's first bytes, or by lines of several whole numbers with spaces between.

    With tabs between, a first line of different numbers may be a header; then it is not a matrix.
    """
    start = head.start[:4096]
    if start.startswith(b"\x93NUMPY"):
        return True
    lines = start.removeprefix(b"\xef\xbb\xbf").splitlines() if head.is_text else []
    if len(start) == 4096 and lines:  # the last line, or the only one's last number, may be cut off
        lines = lines[:-1] if len(lines) > 1 else [b" ".join(start.split()[:-1])]
    fields = [line.split() for line in lines if line.strip()]
    if not fields or len(fields[0]) < 2:
        return False
    header = len(set(fields[0])) == len(fields[0]) and b"-1" not in fields[0]
    whole = all(_WHOLE.fullmatch(field) for line in fields for field in line)
    several = len(fields) >= FEWEST_LINES
    return whole and not (b"\t" in lines[0] and header) and not (several and _have_ids(fields))


def _have_ids(lines: list[list[bytes]]) -> bool:
    """Whether a column has values that no other has: ids or times, not answers."""
    columns = [{*column} for column in zip(*lines, strict=False)]
    times = Counter(value for column in columns for value in column)
    return any(2 * sum(times[value] > 1 for value in column) < len(column) for column in columns)


# ---- exports of tools ----

LABEL_STUDIO_TIMES = ("lead_time", "created_at", "updated_at")
_DOCCANO = re.compile(r'\s*\{.*"(?:label|labels|entities|category|categories)"\s*:')
_SPANS = (
    r'"(?:label|labels|entities)"\s*:\s*\[\s*(?:\[\s*\d+\s*,\s*\d+\s*,\s*"|\{[^}]*"start_offset")'
)
_VERDICT = r'"answer"\s*:\s*"(?:accept|reject|ignore)"'
_ANNOTATORS = r'"annotators"\s*:\s*"'


def _has_doccano(head: Head) -> bool:
    starts = [first_bytes(file, folders.BEGINNING) for file in folders.doccano_files(head.path)]
    texts = [start.decode("utf-8-sig", errors="replace") for start in starts]
    lines = [text.lstrip().split("\n", 1)[0] for text in texts]
    return bool(lines) and all('"text"' in line and _DOCCANO.match(line) for line in lines)


def _is_record(head: Head) -> bool:
    """Whether Label Studio wrote a record for each annotation as JSON."""
    record = keys(r'"annotation_id"\s*:', rf'"(?:{"|".join(LABEL_STUDIO_TIMES)})"\s*:')
    return bool(record(head)) and '"annotations"' not in head.text


def _is_brat(head: Head) -> bool:
    """Whether files of annotations have brat's lines, and texts have the same names."""
    files = folders.annotation_files(head.path)[:100]
    filled = [file for file in files if first_bytes(file, 1)][:3]
    lines = re.compile(rb"([TREAMN#]\d+|\*)\t")
    if not filled or not all(lines.match(first_bytes(file, 64)) for file in filled):
        return False
    texts = folders.texts_by_name(head.path)
    return any(file.stem in texts for file in files)


def _has_tables(head: Head) -> bool:
    files = folders.table_files(head.path)
    return len(files) > 1 or any(ending(file) in folders.COLUMNS for file in files)


def _is_webanno(head: Head) -> bool:
    begun = not head.is_file or head.start.startswith(folders.WEBANNO)
    return begun and bool(folders.webanno_files(head.path))


# fmt: off
_FORMATS = (
    Format("corpus", folder=lambda head: (head.path / "corpus.json").is_file()),
    Format("webanno", _is_webanno, _is_webanno, tool="WebAnno TSV"),
    Format("brat", _is_brat, _is_brat, tool="brat"),
    Format("potato", columns("user", "instance_id", "*:::*"),
           lambda head: folders.potato_files(head.path), tool="potato", may=("text",)),
    Format("doccano", keys('"text"', _SPANS, opening=r"\s*\{"), _has_doccano,
           tool="doccano", table="jsonl"),
    Format("spreadsheet", lambda head: head.start.startswith(b"\xd0\xcf\x11\xe0") or (
        head.start.startswith(ZIP) and ending(head.path) in folders.SPREADSHEETS)),
    Format("zip", lambda head: head.start.startswith(ZIP) and zipfile.is_zipfile(head.path),
           read="folder.read_zip"),
    Format("parquet", begins(b"PAR1", endings=(".parquet", ".pq"))),
    Format("arrow",  # a file, a stream, or an old Feather file
           begins(b"ARROW1", b"\xff\xff\xff\xff", b"FEA1", endings=folders.ARROW),
           read="parquet.read_arrow"),
    Format("lewidi2023", keys(_ANNOTATORS, r'"annotations"\s*:\s*"', opening=BY_NAME),
           read="lewidi.read_2023"),
    Format("lewidi2025", keys(_ANNOTATORS, r'"annotations"\s*:\s*\{', opening=BY_NAME),
           read="lewidi.read_2025"),
    Format("mturk", columns("WorkerId", "Answer.*"), read="platforms.read_mturk",
           tool="Mechanical Turk", may=("answer", "text")),
    Format("toloka", columns("ASSIGNMENT:worker_id", "OUTPUT:*"), read="platforms.read_toloka",
           tool="Toloka", may=("answer", "text")),
    Format("figure-eight",  # the second are those of an aggregated report
           either(columns("_unit_id", "_worker_id"), columns("_unit_id", "*:confidence")),
           read="platforms.read_figure_eight", tool="Figure Eight", may=("answer", "text")),
    Format("zooniverse", columns("classification_id", "subject_ids", "annotations"),
           tool="Zooniverse", may=("text",)),
    Format("matrix", _is_matrix),
    Format("label-studio", keys(r'"data"\s*:\s*\{', r'"(annotations|completions)"\s*:\s*\['),
           tool="Label Studio", may=("text",), table="jsonl"),
    Format("label-studio-records",
           either(_is_record, *(columns("annotation_id", time) for time in LABEL_STUDIO_TIMES)),
           read="label_studio.read_records", tool="Label Studio",
           may=("item", "annotator", "answer", "text")),
    Format("argilla", either(keys(r'"fields"\s*:\s*\{', r'"responses"\s*:\s*\{'),
                             keys(r'"[^"]+\.responses\.users"\s*:')),
           tool="Argilla", may=("text",), table="jsonl"),
    Format("prodigy", keys(r'"_(?:input|task)_hash"\s*:', _VERDICT), tool="Prodigy", table="jsonl"),
    Format("peerannot", keys(opening=TASKS_OF_NUMBERS),
           lambda head: keys(opening=TASKS_OF_NUMBERS)(Head.of(head.path / "answers.json")),
           tool="peerannot", table="jsonl"),
    Format("jsonl", lambda head: head.is_text and (
        ending(head.path) in folders.LINES or keys()(head))),
    Format("folder", folder=_has_tables),
    Format("survey", lambda head: is_survey(head.names)),
    Format("csv", lambda head: head.is_text),  # any text can be a table, so it is tried last
)
# fmt: on
READERS = {one.name: one for one in _FORMATS}


def register(own: Format) -> None:
    """Read a further format in this program; it is tried before the others."""
    others = {name: one for name, one in READERS.items() if name != own.name}
    READERS.clear()
    READERS.update({own.name: own} | others)


def recognise(path: Path) -> str:
    """The name of the format of a file or folder; refused if there is none."""
    if not os.path.exists(path):
        raise DataError(f"{path}: no such file or folder")
    head = Head.of(path)
    for name, one in READERS.items():
        if one.fits(head):
            return name
    if path.is_dir():
        raise DataError(f"{path}: a folder without a corpus or several tables; name a file in it")
    read_bytes(path)  # refuses one that is empty or may not be read
    if zipfile.is_zipfile(path):
        check_zip(path)
    raise not_text(path, first_bytes(path))
