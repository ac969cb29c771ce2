"""A corpus whose answers stay on disk: they are read in blocks of items while they are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.corpus.corpus import Corpus
from dissensus.corpus.folder import front_of, gold_of, names_of, write_corpus
from dissensus.corpus.parts import LeftOut, check_questions
from dissensus.errors import DataError
from dissensus.files.arrow import unpacked_size
from dissensus.files.folders import reading, writing
from dissensus.files.parquet_sizes import ColumnChunk, row_groups
from dissensus.files.plain import check_unpacked, open_plain
from dissensus.names import Names, OfNames
from dissensus.scales import masks_of_bytes, scale_from_dict

COLUMNS = ("item", "annotator", "answer", "count")


@dataclass(frozen=True, eq=False, repr=False)
class StoredAnnotations(AnnotationBlocks):
    """Answers in a file of a corpus folder; each row group has all answers to its items."""

    path: Path = field(kw_only=True)
    columns: tuple[str, ...] = field(kw_only=True)

    @classmethod
    def of(
        cls, path: Path, front: Mapping[str, Any], items: Names, annotators: Names
    ) -> StoredAnnotations:
        """The answers in a file, of which only the description is read."""
        about = pq.read_metadata(path)
        with open_plain(path) as file:
            groups = row_groups(file)
        n_packed = path.stat().st_size
        for group in groups:
            check_unpacked(path, unpacked_size(group), n_packed, ratio_only=True)
        columns = tuple(name for name in COLUMNS if name in about.schema.names)
        bounds = _bounds(groups, path, len(items))
        scale = scale_from_dict(front["scale"])
        return cls(
            scale,
            items,
            annotators,
            about.num_rows,
            bounds,
            "annotator" not in columns,
            bool(front["repeats"]),
            path=path,
            columns=columns,
        )

    def block(self, number: int) -> Annotations:
        first, last = self.bounds[number], self.bounds[number + 1]
        with reading(self.path.parent):
            table = pq.ParquetFile(self.path).read_row_group(number, list(self.columns))
            arrays = {name: table[name].to_numpy() for name in self.columns}
            if pa.types.is_binary(table["answer"].type):  # sets of many values
                arrays["answer"] = masks_of_bytes(arrays["answer"])
            annotations = Annotations.from_arrays(
                arrays.pop("item") - first,
                arrays.pop("annotator", None),
                arrays.pop("answer"),
                self.scale,
                items=Names.range(last - first),
                annotators=Names.range(self.n_annotators),
                repeats="keep",
                **arrays,
            )
        return replace(annotations, repeats=self.repeats)


def _bounds(groups: Sequence[Sequence[ColumnChunk]], path: Path, n_items: int) -> tuple[int, ...]:
    """The first item of each row group, from the statistics of the file."""
    spans = []
    for group in groups:
        span = next((chunk.bounds for chunk in group if chunk.name == "item"), None)
        if span is None:
            raise DataError(f"{path}: a row group does not say which items it has; {_HINT}")
        spans.append(span)
    for (_, last), (first, _) in zip(spans, spans[1:], strict=False):
        if first <= last:
            raise DataError(f"{path}: answers are not in the order of items; {_HINT}")
    return (0, *(first for first, _ in spans[1:]), n_items) if spans else (0, n_items)


_HINT = "write the folder again with `dissensus convert FOLDER NEW --by-item`"


@dataclass(frozen=True, eq=False)
class StoredCorpus(OfNames):
    """The questions of a corpus folder, without loading their answers."""

    name: str
    items: Names
    annotators: Names
    questions: dict[str, StoredAnnotations]
    gold: dict[str, Annotations] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()

    def __getitem__(self, question: str) -> StoredAnnotations:
        self.check_questions([question])
        return self.questions[question]

    def check_questions(self, questions: Iterable[str]) -> None:
        """Refuse questions that are not there."""
        check_questions(self.name, self.questions, questions)


def open_corpus(path: str | Path) -> StoredCorpus:
    """Open a corpus folder without loading its answers, to count them in blocks of items.

    The folder must have been written with its answers in the order of items:
    `corpus.save(path, by_item=True)` or `dissensus convert FILE FOLDER --by-item`. `aggregate`
    (majority, soft-vote, dawid-skene, one-coin, mace) and `agreement.summarise` take what it
    returns.

    Example:
        >>> import tempfile
        >>> from dissensus import simulate
        >>> folder = f"{tempfile.mkdtemp()}/crowd"
        >>> simulate.text(n_items=50).save(folder, by_item=True)
        >>> open_corpus(folder)["emotion"].n_items
        50
    """
    folder = Path(path)
    front = front_of(folder)
    with reading(folder):
        items, annotators = names_of(folder, front)
        questions = {
            entry["name"]: StoredAnnotations.of(
                folder / f"question-{number}.parquet", entry, items, annotators
            )
            for number, entry in enumerate(front["questions"])
        }
        left_out = tuple(LeftOut(*row) for row in front["left_out"])
        gold = gold_of(folder, front, items)
        return StoredCorpus(front["name"], items, annotators, questions, gold, left_out)


def save_blocks(path: str | Path, name: str, questions: Mapping[str, AnnotationBlocks]) -> None:
    """Write a corpus folder from blocks of answers, one after another.

    All questions share their items and annotators.
    """
    blocks = next(iter(questions.values()))
    bare = Corpus.build(name, blocks.items, {}, annotators=blocks.annotators)
    with writing(path, "corpus") as folder:
        write_corpus(bare, folder, questions)
