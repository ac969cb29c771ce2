"""Corpora as a folder of media files and a long table with a row for each label."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, errors_in, names_in_order, present, present_folder
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
    types = dict.fromkeys(("file", "annotator", "label"), pa.string())
    columns = csv_table(folder, table, **types | ({question: pa.string()} if question else {}))
    files = present_folder(folder, media)
    with errors_in(folder / table):
        items, item = Names.encode(columns["file"])
        annotators = names_in_order(columns["annotator"])
        annotator = annotators.codes(columns["annotator"])
        question_column = columns[question] if question else None
        if question_column is not None:
            _check_questions(question_column, scales, question or "")
        questions = {}
        for one, scale in scales.items():
            rows = (
                pc.equal(question_column, one)
                if question_column is not None
                else pa.array([True] * len(columns))
            )
            kept = rows.to_numpy(zero_copy_only=False)
            answer = scale.encode(columns["label"].filter(rows))
            questions[one] = Annotations.from_arrays(
                item[kept], annotator[kept], answer, scale, items=items, annotators=annotators
            )
    paths = [str(present(files, file).resolve()) for file in items]
    contents: dict[str, Any] = {kind: Contents.distinct(kind, pa.array(paths, pa.string()))}
    return Corpus.build(name, items, questions, annotators=annotators, contents=contents)


def _check_questions(question_column: Any, scales: Mapping[str, Scale], column: str) -> None:
    unknown = [name for name in pc.unique(question_column).to_pylist() if name not in scales]
    if unknown:
        raise DataError(f"{column} {unknown[0]!r} is none of {listed(scales)}")
