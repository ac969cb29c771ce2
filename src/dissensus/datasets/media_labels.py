"""Corpora as a folder of media files and a long table with a row for each label."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, names_in_order, present, present_folder
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Scale


def load_labels(
    folder: Path,
    name: str,
    table: str,
    media: str,
    kind: Kind,
    scales: Mapping[str, Scale],
    question: str | None = None,
) -> Corpus:
    """Read a table with the columns `file`, `annotator`, `label`, and the files it names.

    A label that was not given is a row that is not there. The corpus contains the paths of the
    files, which stay where they are.

    Args:
        table: the name of the CSV file.
        media: the name of the folder of media files.
        scales: the scale of each question.
        question: the column that names the question; None if there is only one.
    """
    columns = ("file", "annotator", "label", *([question] if question else []))
    rows = csv_table(folder, table, columns)
    files = present_folder(folder, media)
    with rows.errors():
        items, _ = Names.encode(rows["file"])
        annotators = names_in_order(rows["annotator"])
        named = pc.unique(rows[question]).to_pylist() if question else []
        unknown = [one for one in named if one not in scales]
        if unknown:
            raise DataError(f"{question} {unknown[0]!r} is none of {listed(scales)}")
    questions = {}
    for one, scale in scales.items():
        part = rows.filter(pc.equal(rows[question], one)) if question else rows
        questions[one] = part.annotations(
            "label", scale, items, "file", "annotator", annotators=annotators
        )
    paths = [str(present(files, file).resolve()) for file in items]
    contents: dict[str, Any] = {kind: Contents.distinct(kind, pa.array(paths, pa.string()))}
    return Corpus.build(name, items, questions, annotators=annotators, contents=contents)
