"""A folder of tables: a file for each annotator, or parts of one table; a Hugging Face dataset.

Tables are CSV, TSV, spreadsheets and JSON lines. If the files have the same columns and name no
annotator, the name of a file is the annotator; a folder for each annotator is the same. Parquet and
Arrow files are parts of one table: `train-00000-of-00002.parquet` is in the split `train`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.files.plain import zip_members
from dissensus.readers.delimited import delimited_cells, delimited_rows
from dissensus.readers.exports import folders
from dissensus.readers.exports.grids import (
    Cells,
    Grid,
    grid,
    grids_corpus,
    looks_named,
    matched_corpus,
    rows_of,
)
from dissensus.readers.files import ending, read_bytes, read_utf8, stem
from dissensus.readers.formats import spreadsheet
from dissensus.readers.formats.jsonl import object_rows
from dissensus.readers.formats.parquet import column_table
from dissensus.readers.json_text import objects, value_text
from dissensus.readers.layout import Layout, file_beside, taken_without
from dissensus.readers.recognition import READERS, recognise
from dissensus.readers.tables.arrow_columns import file_rows
from dissensus.readers.tables.rows import Rows, free_name
from dissensus.readers.tables.shapes import table_corpus

_SHARD = re.compile(r"(?P<split>.+?)[-_]\d{3,}([-_]of[-_]\d+)?([-_]\w+)?")


def read(path: Path, options: Layout) -> Corpus:
    """Read the tables of all files as one corpus; `corpus` names one file."""
    if not path.is_dir():
        raise DataError(f"{path}: not a folder")
    if options.files is not None:
        names = [file.relative_to(path).as_posix() for file in folders.files_in(path)]
        return matched_corpus(
            path, names, lambda name: _rows(path / name, options), options, "file"
        )
    files = folders.table_files(path)
    if not files:
        raise DataError(f"{path}: a folder without tables; name a file (CSV, TSV, XLSX, JSONL)")
    shards = [file for file in files if ending(file) in folders.COLUMNS]
    if shards:
        return _shards(path, shards, options)
    grids = _grids(path, files, options)
    if (
        not (len(grids) > 2 and all(len(one.cells) == 1 for one in grids))
        or options.item is not None
    ):
        return grids_corpus(path, grids, options, "file")
    header = list(dict.fromkeys(name for one in grids for name in one.header))
    item = free_name("file", header)  # files with an object each are items, named as the file
    rows = [{item: one.name, **dict(zip(one.header, one.cells[0], strict=True))} for one in grids]
    cells = [[row.get(name) for name in (item, *header)] for row in rows]
    table = rows_of(path, [item, *header], cells, [f"file {one.name!r}" for one in grids])
    with taken_without([item]):
        corpus = table_corpus(table, replace(options, item=item))
    return replace(corpus, notes=(*corpus.notes, f"{path.name}: an item in each file"))


def read_zip(path: Path, options: Layout) -> Corpus:
    """Read a zip as the folder that it unpacks to; `corpus` names one file."""
    with TemporaryDirectory() as place:
        folder = Path(place) / path.name
        for name, data in zip_members(path):
            if folders.is_own(name):
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        if options.corpus is not None and (folder / options.corpus).is_file():
            folder, options = folder / options.corpus, options.with_changes(corpus=None)
        elif folder.is_dir() and len(files := [*folder.rglob("*.*")]) == 1:
            folder = files[0]
        try:
            file_format = "folder" if options.files is not None else recognise(folder)
            return READERS[file_format].corpus(folder, options)
        except DataError as error:
            error.args = (str(error).replace(place, str(path.parent)),)
            raise


# ---- a table in each file ----


def _rows(file: Path, options: Layout) -> Rows:
    if ending(file) in folders.SPREADSHEETS:
        one = max(spreadsheet.sheets(file, options), key=lambda one: len(one.cells))
        return one.rows(file)
    if ending(file) in folders.LINES:
        return object_rows(file, options)
    if ending(file) in folders.COLUMNS:
        return file_rows(file, lambda: _table(file))
    return delimited_rows(file, options)


def _grids(path: Path, files: list[Path], options: Layout) -> list[Grid]:
    if options.item is None:
        _check_documents(path, files)
    names = _names(path, files)
    texts = [file for file in files if ending(file) not in folders.SPREADSHEETS]
    cells = {file: _cells(file, options) for file in texts}
    grids = {file: grid(names[file], rows) for file, rows in cells.items()}
    tables = [file for file in cells if ending(file) in folders.TEXTS]
    if tables and not looks_named([one for one in grids.values() if one is not None]):
        grids |= {file: grid(names[file], cells[file], named=False) for file in tables}
    for file in files:
        if file not in cells and (sheets := spreadsheet.sheets(file, options)):
            grids[file] = replace(max(sheets, key=lambda one: len(one.cells)), name=names[file])
    known = {file: one for file in files if (one := grids.get(file)) is not None}
    return list(known.values())


def _check_documents(path: Path, files: list[Path]) -> None:
    """Refuse a folder for each annotator, with several files that are called as those in others."""
    named = {(file.parent.relative_to(path).as_posix(), file.name) for file in files}
    sizes = [len({one[at] for one in named}) for at in (0, 1)]
    if all(1 < size < len(files) for size in sizes):
        pattern = f"{{annotator}}/{{document}}{files[0].suffix}"
        layout = Layout(files=pattern, item=("document", "{row}")).to_toml().replace("\n", " and ")
        raise DataError(
            f"{path}: folders with files of the same names; if each folder is an annotator, and "
            f"each row of a file an item, write {file_beside(path).name} with the lines {layout}"
        )


def _names(path: Path, files: list[Path]) -> dict[Path, str]:
    """A name for each file: its own if that is distinct, otherwise that of its folder."""
    paths = [file.relative_to(path) for file in files]
    ways = (
        [stem(file.name) for file in files],
        [one.parent.as_posix() for one in paths],
        [one.as_posix() for one in paths],
    )
    return next(dict(zip(files, way, strict=True)) for way in ways if len(set(way)) == len(files))


def _cells(file: Path, options: Layout) -> Sequence[Cells]:
    """All cells of a file, the column names first."""
    if ending(file) not in folders.LINES:
        named = options if options.header is not None else replace(options, header=1)
        return delimited_cells(file, named)  # `looks_named` sees whether all files have names
    text = read_utf8(file, options.encoding).decode("utf-8")
    entries = [entry for _, entry in objects(text, file)]
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    return [[*names], *([value_text(entry.get(name)) for name in names] for entry in entries)]


# ---- parts of one table ----


def _shards(path: Path, files: list[Path], options: Layout) -> Corpus:
    """Parquet or Arrow files with the same columns, as one table with a column of splits."""
    splits = [_split(path, file) for file in files]
    if options.corpus is not None:
        if options.corpus not in splits:
            raise DataError(f"{path}: no part {options.corpus!r}; there are {listed(set(splits))}")
        files = [f for f, split in zip(files, splits, strict=True) if split == options.corpus]
        splits = [options.corpus] * len(files)
        options = replace(options, corpus=None)

    def joined() -> Any:
        tables = [_table(file) for file in files]
        if len(set(splits)) > 1 and "split" not in tables[0].column_names:
            tables = [
                one.append_column("split", pa.array([split] * one.num_rows))
                for one, split in zip(tables, splits, strict=True)
            ]
        return pa.concat_tables(tables, promote_options="permissive")

    corpus = table_corpus(file_rows(path, joined), options)
    note = f"{path.name}: one table in {len(files)} files: {', '.join(dict.fromkeys(splits))}"
    return replace(corpus, notes=(*corpus.notes, note)) if len(files) > 1 else corpus


def _table(file: Path) -> Any:
    try:
        return column_table(file, read_bytes(file))
    except pa.ArrowException as error:
        raise DataError(f"{file}: damaged ({str(error).splitlines()[0]})") from None


def _split(path: Path, file: Path) -> str:
    """The split that a file is part of: train-00000-of-00002.parquet, train/data-00000.arrow."""
    match = _SHARD.fullmatch(stem(file.name))
    name = match["split"] if match else stem(file.name)
    folder = file.parent.relative_to(path).name
    return folder if name in ("data", "dataset", "part") and folder else name
