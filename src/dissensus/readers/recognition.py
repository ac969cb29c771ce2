"""Recognition: every format, with the sign by which a file or folder of it is known.

    Format(name, file, folder, read)

`file` looks at the head of a file, `folder` at the path of a folder; neither raises on content.
`read` is a function of `formats/`, called `read(path, layout)`, which raises nothing but
DissensusError. The order of `READERS` is the order in which formats are tried.
"""

from __future__ import annotations

import importlib
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.readers.delimited import names_of
from dissensus.readers.exports import folders
from dissensus.readers.files import ending, first_bytes, is_text, read_bytes, refuse_binary
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import NAMES, plain

SIZE = 1 << 16  # bytes of a file that are looked at
_OBJECT = re.compile(r"\s*\[?\s*\{")


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

    def opens_with(self, *keys: str) -> bool:
        """Whether it begins with a JSON object, alone or in an array, that has these patterns."""
        opens = bool(_OBJECT.match(self.text))
        return opens and all(re.search(key, self.text) for key in keys)


def _never(_: Any) -> bool:
    return False


@dataclass(frozen=True)
class Format:
    """A format that can be read.

    Args:
        name: that users type.
        file: whether the head of a file shows this format.
        folder: whether a folder has it.
        read: the module and the function of `formats` that read it; as the name if left out.
    """

    name: str
    file: Callable[[Head], Any] = _never
    folder: Callable[[Path], Any] = _never
    read: str = ""

    def fits(self, head: Head) -> bool:
        """Whether a file or folder is of this format."""
        if head.is_file:
            return bool(self.file(head))
        return head.path.is_dir() and bool(self.folder(head.path))

    def corpus(self, path: Path, layout: Layout) -> Corpus:
        """Read a file or folder of this format."""
        if self.name in EXPORTS:
            check_options(path, layout, *EXPORTS[self.name])
        module, _, function = (self.read or f"{self.name.replace('-', '_')}.read").partition(".")
        reads = getattr(importlib.import_module(f"dissensus.readers.formats.{module}"), function)
        corpus: Corpus = reads(path, layout)
        return corpus


EXPORTS: dict[str, tuple[str, tuple[str, ...], str]] = {  # the tool, the options about columns
    # that are allowed nevertheless, and the format that reads it as a table
    "webanno": ("WebAnno TSV", (), "csv"),
    "brat": ("brat", (), "csv"),
    "elan": ("ELAN", (), "csv"),
    "potato": ("potato", ("text",), "csv"),
    "sagemaker": ("SageMaker Ground Truth", ("text",), "jsonl"),
    "doccano": ("doccano", (), "jsonl"),
    "mturk": ("Mechanical Turk", ("answer", "text"), "csv"),
    "toloka": ("Toloka", ("answer", "text"), "csv"),
    "figure-eight": ("Figure Eight", ("answer", "text"), "csv"),
    "zooniverse": ("Zooniverse", ("text",), "csv"),
    "label-studio": ("Label Studio", ("text",), "jsonl"),
    "label-studio-records": ("Label Studio", ("item", "annotator", "answer", "text"), "csv"),
    "argilla": ("Argilla", ("text",), "jsonl"),
    "prodigy": ("Prodigy", (), "jsonl"),
    "peerannot": ("peerannot", (), "jsonl"),
}


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


# ---- objects of JSON ----

LABEL_STUDIO_TIMES = ("lead_time", "created_at", "updated_at")
_KEY = r'"(?:[^"\\]|\\.)*"\s*:\s*'
_OBJECTS = re.compile(rf"\s*\{{\s*({_KEY}\{{|\}}\s*$)")
_TASKS_OF_NUMBERS = re.compile(rf"\s*\{{\s*{_KEY}\{{\s*{_KEY}-?\d")
_DOCCANO = re.compile(r'\s*\{.*"(?:label|labels|entities|category|categories)"\s*:')
_DOCCANO_SPANS = re.compile(
    r'"(?:label|labels|entities)"\s*:\s*\[\s*(?:\[\s*\d+\s*,\s*\d+\s*,\s*"|\{[^}]*"start_offset")'
)


def _is_lewidi(head: Head, annotations: str) -> bool:
    keys = (r'"annotators"\s*:\s*"', rf'"annotations"\s*:\s*{annotations}')
    return bool(_OBJECTS.match(head.text)) and all(re.search(key, head.text) for key in keys)


def _is_prodigy(head: Head) -> bool:
    verdict = r'"answer"\s*:\s*"(?:accept|reject|ignore)"'
    return head.opens_with(r'"_(?:input|task)_hash"\s*:', verdict)


def _is_argilla(head: Head) -> bool:
    nested = (r'"fields"\s*:\s*\{', r'"responses"\s*:\s*\{')
    return head.opens_with(*nested) or head.opens_with(r'"[^"]+\.responses\.users"\s*:')


def _is_label_studio_records(head: Head) -> bool:
    times = "|".join(LABEL_STUDIO_TIMES)
    if head.opens_with(r'"annotation_id"\s*:', rf'"(?:{times})"\s*:'):
        return '"annotations"' not in head.text
    return "annotation_id" in head.names and any(one in head.names for one in LABEL_STUDIO_TIMES)


def _is_peerannot(head: Head) -> bool:
    return bool(_TASKS_OF_NUMBERS.match(head.text))


def _is_doccano(head: Head) -> bool:
    """Whether the texts of a file have spans."""
    return head.opens_with('"text"', _DOCCANO_SPANS.pattern) and head.text.lstrip()[0] == "{"


def _are_doccano(starts: Sequence[bytes]) -> bool:
    """Whether the files that begin so have texts with labels."""
    texts = [start.decode("utf-8-sig", errors="replace") for start in starts]
    lines = [text.lstrip().split("\n", 1)[0] for text in texts]
    return bool(lines) and all('"text"' in line and _DOCCANO.match(line) for line in lines)


def _has_doccano(path: Path) -> bool:
    files = folders.doccano_files(path)
    return _are_doccano([first_bytes(file, folders.BEGINNING) for file in files])


# ---- tables ----

TIMESTAMPS = ("timestamp", "zeitstempel", "horodateur", "marcatemporal", "carimbodedatahora")
GRID_COLUMN = re.compile(r"(?P<question>.*\S)\s*\[(?P<item>[^\]]+)\]\s*")  # Question [item]
_QUALTRICS = frozenset(("responseid", "startdate", "recordeddate"))
_WHOLE = re.compile(rb"-1|[0-9]+|(?i:nan)")


def _has_columns(head: Head, annotator: str, answer: str) -> bool:
    """Whether a table has a column of annotators, and columns that begin as answers do."""
    return annotator in head.names and any(name.startswith(answer) for name in head.names)


def _is_mturk(head: Head) -> bool:
    return _has_columns(head, "WorkerId", "Answer.")


def _is_toloka(head: Head) -> bool:
    return _has_columns(head, "ASSIGNMENT:worker_id", "OUTPUT:")


def _is_figure_eight(head: Head) -> bool:
    aggregated = any(name.endswith(":confidence") for name in head.names)
    return "_unit_id" in head.names and ("_worker_id" in head.names or aggregated)


def _is_zooniverse(head: Head) -> bool:
    return {"classification_id", "subject_ids", "annotations"} <= set(head.names)


def _is_potato(head: Head) -> bool:
    columns = {"user", "instance_id"} <= set(head.names)
    return columns and any(":::" in name for name in head.names)


def is_survey(header: Sequence[str]) -> bool:
    """Whether a table is a survey: by its columns about participants, or by names that occur again,
    all equally often, in a table without items."""
    names = [plain(name) for name in header]
    times = {n for name, n in Counter(filter(None, header)).items() if n > 1}
    repeated = len(times) == 1 and not any(name in NAMES["item"] for name in names)
    if repeated or set(names) >= _QUALTRICS:
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
    return whole and not (b"\t" in lines[0] and header)


def _is_spreadsheet(head: Head) -> bool:
    packed = head.start.startswith(b"PK\x03\x04") and ending(head.path) in folders.SPREADSHEETS
    return packed or head.start.startswith(b"\xd0\xcf\x11\xe0")


def _is_zip(head: Head) -> bool:
    return head.start.startswith(b"PK\x03\x04") and zipfile.is_zipfile(head.path)


def _is_arrow(head: Head) -> bool:
    """By the first bytes of a file, of a stream, or of an old Feather file; or by its ending."""
    magic = head.start.startswith((b"ARROW1", b"\xff\xff\xff\xff", b"FEA1"))
    return magic or ending(head.path) in (".arrow", ".arrows", ".feather", ".ipc")


# ---- folders ----


def _is_brat(path: Path) -> bool:
    """Whether files of annotations have brat's lines, and texts have the same names."""
    files = folders.annotation_files(path)[:100]
    filled = [file for file in files if first_bytes(file, 1)][:3]
    if not filled or not all(
        re.match(rb"([TREAMN#]\d+|\*)\t", first_bytes(file, 64)) for file in filled
    ):
        return False
    texts = folders.texts_by_name(path)
    return any(file.stem in texts for file in files)


def _is_elan(path: Path) -> bool:
    files = folders.files_in(path, ".eaf")[:3]
    return bool(files) and all(b"<ANNOTATION_DOCUMENT" in first_bytes(file) for file in files)


def _has_tables(path: Path) -> bool:
    files = folders.table_files(path)
    return len(files) > 1 or any(ending(file) in folders.COLUMNS for file in files)


def _is_webanno(head: Head) -> bool:
    return head.start.startswith(folders.WEBANNO) and bool(folders.webanno_files(head.path))


def _is_manifest(head: Head) -> bool:
    job = re.search(r'"type"\s*:\s*"groundtruth/', head.text)
    return head.path.suffix.lower() == ".manifest" and job is not None


def _is_label_studio(head: Head) -> bool:
    return head.opens_with(r'"data"\s*:\s*\{', r'"(annotations|completions)"\s*:\s*\[')


def _is_parquet(head: Head) -> bool:
    return head.start.startswith(b"PAR1") or ending(head.path) in (".parquet", ".pq")


def _is_json(head: Head) -> bool:
    return head.is_text and (ending(head.path) in folders.LINES or head.opens_with())


_FORMATS = (
    Format("corpus", folder=lambda path: (path / "corpus.json").is_file()),
    Format("webanno", _is_webanno, folders.webanno_files),
    Format("brat", lambda head: _is_brat(head.path), _is_brat),
    Format("elan", lambda head: _is_elan(head.path), _is_elan),
    Format("potato", _is_potato, folders.potato_files),
    Format("sagemaker", _is_manifest, folders.sagemaker_files),
    Format("doccano", _is_doccano, _has_doccano),
    Format("spreadsheet", _is_spreadsheet),
    Format("zip", _is_zip, read="folder.read_zip"),
    Format("parquet", _is_parquet),
    Format("arrow", _is_arrow, read="parquet.read_arrow"),
    Format("lewidi2023", lambda head: _is_lewidi(head, '"'), read="lewidi.read_2023"),
    Format("lewidi2025", lambda head: _is_lewidi(head, r"\{"), read="lewidi.read_2025"),
    Format("mturk", _is_mturk, read="platforms.read_mturk"),
    Format("toloka", _is_toloka, read="platforms.read_toloka"),
    Format("figure-eight", _is_figure_eight, read="platforms.read_figure_eight"),
    Format("zooniverse", _is_zooniverse),
    Format("matrix", _is_matrix),
    Format("label-studio", _is_label_studio),
    Format("label-studio-records", _is_label_studio_records, read="label_studio.read_records"),
    Format("argilla", _is_argilla),
    Format("prodigy", _is_prodigy),
    Format("peerannot", _is_peerannot, lambda path: _is_peerannot(Head.of(path / "answers.json"))),
    Format("jsonl", _is_json),
    Format("folder", folder=_has_tables),
    Format("survey", lambda head: is_survey(head.names)),
    Format("csv", lambda head: head.is_text),  # any text can be a table, so it is tried last
)
READERS = {one.name: one for one in _FORMATS}


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
    refuse_binary(path)
