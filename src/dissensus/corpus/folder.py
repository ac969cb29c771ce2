"""A corpus as a folder of Parquet and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.contents import Contents
from dissensus.corpus.fields import (
    CorpusFields,
    Focus,
    LeftOut,
    Rationales,
    check_questions,
)
from dissensus.errors import DataError
from dissensus.files.arrow import ColumnChunk, row_groups, unpacked_size
from dissensus.files.folders import read_json, read_table, reading, write_json, write_table
from dissensus.files.plain import check_unpacked, open_plain
from dissensus.names import Names, OfNames
from dissensus.scales import (
    MultiLabel,
    ScaleFields,
    mask_bytes,
    masks_of_bytes,
    scale_from_dict,
)

AnyCorpus = TypeVar("AnyCorpus", bound=CorpusFields)


class _Content(TypedDict):
    role: str
    kind: str


class _Question(TypedDict):
    name: str
    scale: ScaleFields
    repeats: bool


class _Front(TypedDict):
    """The content of corpus.json."""

    name: str
    n_items: int
    n_annotators: int
    tables: list[str]
    contents: list[_Content]
    questions: list[_Question]
    gold: list[_Question]
    focus: str | None
    rationales: bool
    group: str | None
    left_out: list[tuple[str, str, int]]
    notes: list[str]
    columns: NotRequired[dict[str, str]]


def write_corpus(
    corpus: CorpusFields, folder: Path, blocks: Mapping[str, AnnotationBlocks] | None = None
) -> None:
    """Write tables of items, annotators, contents and answers, and corpus.json.

    Args:
        blocks: the answers to all questions, to be written in blocks of items instead of those
            of the corpus.
    """
    tables = {"items": _item_columns(corpus), "annotators": _annotator_columns(corpus)}
    for name, columns in tables.items():
        write_table(folder / f"{name}.parquet", columns)
    for number, contents in enumerate(corpus.contents.values()):
        write_table(folder / f"content-{number}.parquet", {"value": contents.values})
    questions: Mapping[str, Any] = blocks or corpus.questions
    for number, answers in enumerate(questions.values()):
        path = folder / f"question-{number}.parquet"
        if isinstance(answers, AnnotationBlocks):
            _write_blocks(path, answers)
        else:
            write_table(path, _answer_columns(answers))
    for number, label in enumerate(corpus.gold.values()):
        write_table(folder / f"gold-{number}.parquet", _answer_columns(label))
    if corpus.rationales is not None:
        spans = dict(vars(corpus.rationales))
        spans |= _axes("start.", spans.pop("start")) | _axes("stop.", spans.pop("stop"))
        write_table(folder / "rationales.parquet", spans)
    written = [name for name, columns in tables.items() if columns]
    write_json(folder, "corpus", _front(corpus, written, questions))


def _write_blocks(path: Path, blocks: AnnotationBlocks) -> None:
    """Write a row group for each block."""
    with ExitStack() as stack:
        writer = None
        for items, block in blocks:
            columns = _answer_columns(block) | {"item": block.item.astype(np.int64) + items.start}
            if block.annotator is not None:
                columns["annotator"] = block.annotator.astype(np.int64)
            table = pa.table(columns)
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema, compression="zstd")
                stack.enter_context(writer)
            if table.num_rows:
                writer.write_table(table, row_group_size=table.num_rows)


def _front(corpus: CorpusFields, tables: list[str], questions: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "n_items": corpus.n_items,
        "n_annotators": corpus.n_annotators,
        "tables": tables,
        "contents": [{"role": r, "kind": c.kind} for r, c in corpus.contents.items()],
        "questions": [_question_front(q, a) for q, a in questions.items()],
        "gold": [_question_front(q, a) for q, a in corpus.gold.items()],
        "focus": corpus.focus and corpus.focus.role,
        "rationales": corpus.rationales is not None,
        "group": corpus.group,
        "left_out": [(row.question, row.reason, int(row.answers)) for row in corpus.left_out],
        "notes": list(corpus.notes),
        "columns": corpus.columns,
    }


def _item_columns(corpus: CorpusFields) -> dict[str, Any]:
    columns: dict[str, Any] = {} if corpus.items.is_range else {"name": corpus.items.array}
    columns |= {f"content.{role}": codes for role, codes in corpus.content.items()}
    columns |= {f"attribute.{key}": values for key, values in corpus.item_attributes.items()}
    columns |= {f"split.{key}": values for key, values in corpus.splits.items()}
    if corpus.focus is not None:
        columns |= _axes("focus.start.", corpus.focus.start)
        columns |= _axes("focus.stop.", corpus.focus.stop)
    return columns


def _annotator_columns(corpus: CorpusFields) -> dict[str, Any]:
    names = {} if corpus.annotators.is_range else {"name": corpus.annotators.array}
    facts = corpus.annotator_attributes.items()
    return names | {f"attribute.{key}": values for key, values in facts}


def _axes(prefix: str, places: np.ndarray) -> dict[str, np.ndarray]:
    """One column per axis."""
    return {f"{prefix}{axis}": places[:, axis] for axis in range(places.shape[1])}


def _ends(columns: dict[str, Any], prefix: str) -> list[np.ndarray]:
    """Where spans start and stop, (n, n_axes) each, as `_axes` wrote them."""
    n_axes = sum(name.startswith(f"{prefix}start.") for name in columns)
    return [
        np.stack([columns[f"{prefix}{end}.{n}"].to_numpy() for n in range(n_axes)], axis=1)
        for end in ("start", "stop")
    ]


def _question_front(name: str, annotations: Annotations | AnnotationBlocks) -> dict[str, Any]:
    scale = annotations.scale.to_dict()
    return {"name": name, "scale": scale, "repeats": annotations.repeats}


def _answer_columns(annotations: Annotations) -> dict[str, Any]:
    names = ("item", "annotator", "answer", "count", "response", "seconds")
    columns = {name: getattr(annotations, name) for name in names}
    columns = {name: column for name, column in columns.items() if column is not None}
    if annotations.answer.dtype == object and isinstance(annotations.scale, MultiLabel):
        columns["answer"] = mask_bytes(annotations.answer, annotations.scale)
    return columns | {f"extra.{name}": column for name, column in annotations.extra.items()}


def front_of(folder: Path) -> dict[str, Any]:
    """What corpus.json says."""
    return read_json(folder, "corpus", _Front)


def names_of(folder: Path, front: dict[str, Any]) -> tuple[Names, Names]:
    """The names of items and annotators, as they were written."""
    tables = _name_tables(folder, front)
    items, annotators = (
        Names.distinct(table["name"]) if "name" in table else Names.range(front[f"n_{kind}"])
        for kind, table in tables.items()
    )
    return items, annotators


def _name_tables(folder: Path, front: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The columns about items and annotators; without a table, names are a range."""
    return {
        kind: _columns(folder / f"{kind}.parquet") if kind in front["tables"] else {}
        for kind in ("items", "annotators")
    }


def gold_of(folder: Path, front: dict[str, Any], items: Names) -> dict[str, Annotations]:
    """The gold labels, as they were written."""
    return _read_questions(folder, "gold", front["gold"], items, Names.range(0))


def read_corpus(folder: Path, make: type[AnyCorpus]) -> AnyCorpus:
    """Read and check a corpus that `write_corpus` wrote."""
    front = front_of(folder)
    with reading(folder):
        corpus = _assembled(folder, front, make)
        corpus.check()
    return corpus


def _assembled(folder: Path, front: dict[str, Any], make: type[AnyCorpus]) -> AnyCorpus:
    table, annotator_table = _name_tables(folder, front).values()
    items, annotators = (
        Names(columns["name"]) if "name" in columns else Names.range(front[f"n_{kind}"])
        for kind, columns in (("items", table), ("annotators", annotator_table))
    )
    role = front["focus"]
    return make(
        name=front["name"],
        items=items,
        annotators=annotators,
        questions=_read_questions(folder, "question", front["questions"], items, annotators),
        contents={
            entry["role"]: Contents(
                entry["kind"], _columns(folder / f"content-{number}.parquet")["value"]
            )
            for number, entry in enumerate(front["contents"])
        },
        content={
            entry["role"]: table[f"content.{entry['role']}"].to_numpy()
            for entry in front["contents"]
        },
        item_attributes=_stripped(table, "attribute."),
        annotator_attributes=_stripped(annotator_table, "attribute."),
        gold=gold_of(folder, front, items),
        focus=None if role is None else Focus(role, *_ends(table, "focus.")),
        rationales=_read_rationales(folder) if front["rationales"] else None,
        splits=_stripped(table, "split."),
        group=front["group"],
        left_out=tuple(LeftOut(*row) for row in front["left_out"]),
        notes=tuple(front["notes"]),
        columns=dict(front.get("columns", {})),
    )


def _read_questions(
    folder: Path, kind: str, fronts: list[dict[str, Any]], items: Names, annotators: Names
) -> dict[str, Annotations]:
    """Annotations, or gold labels, by question."""
    return {
        entry["name"]: _read_answers(folder / f"{kind}-{n}.parquet", entry, items, annotators)
        for n, entry in enumerate(fronts)
    }


def _read_rationales(folder: Path) -> Rationales:
    spans = _columns(folder / "rationales.parquet")
    item, annotator = (spans[name].to_numpy() for name in ("item", "annotator"))
    start, stop = _ends(spans, "")
    return Rationales(item, annotator, spans["question"], spans["role"], start, stop, spans["kind"])


def _read_answers(
    path: Path, front: dict[str, Any], items: Names, annotators: Names
) -> Annotations:
    columns = _columns(path)
    arrays = {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in columns.items()
        if not name.startswith("extra.")
    }
    if pa.types.is_binary(columns["answer"].type):  # sets of many values
        arrays["answer"] = masks_of_bytes(arrays["answer"])
    return Annotations.from_arrays(
        arrays.pop("item"),
        arrays.pop("annotator", None),
        arrays.pop("answer"),
        scale_from_dict(front["scale"]),
        items=items,
        annotators=annotators,
        extra=_stripped(columns, "extra."),
        repeats="keep" if front["repeats"] else "error",
        **arrays,
    )


def _columns(path: Path) -> dict[str, Any]:
    table = read_table(path)
    return {name: table[name].combine_chunks() for name in table.column_names}


def _stripped(columns: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): column
        for name, column in columns.items()
        if name.startswith(prefix)
    }


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
