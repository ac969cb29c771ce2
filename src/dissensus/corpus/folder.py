"""A corpus as a folder of Parquet and JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.annotations.annotations import COLUMNS
from dissensus.contents import Contents, media_roots
from dissensus.corpus.fields import CorpusFields, Focus, LeftOut, Rationales, plain_column
from dissensus.errors import DataError
from dissensus.files.folders import (
    column_names,
    read_integers,
    read_json,
    read_table,
    reading,
    write_json,
    write_table,
)
from dissensus.names import Names, code_type, string_array
from dissensus.scales import (
    MultiLabel,
    Nominal,
    Ordinal,
    ScaleFields,
    mask_bytes,
    masks_of_bytes,
    scale_from_dict,
)

MOST_UNUSED = 10**7  # items or annotators without a name, of few answers
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


def write_corpus(corpus: CorpusFields, folder: Path) -> None:
    """Write tables of items, annotators, contents and answers, and corpus.json."""
    annotators = {} if corpus.annotators.is_range else {"name": corpus.annotators.array}
    facts = corpus.annotator_attributes.items()
    annotators |= {f"attribute.{key}": values for key, values in facts}
    tables = {"items": _item_columns(corpus), "annotators": annotators}
    for name, columns in tables.items():
        write_table(folder / f"{name}.parquet", columns)
    for number, contents in enumerate(corpus.contents.values()):
        write_table(folder / f"content-{number}.parquet", {"value": contents.values})
    for kind, by_question in (("question", corpus.questions), ("gold", corpus.gold)):
        for number, answers in enumerate(by_question.values()):
            write_table(folder / f"{kind}-{number}.parquet", _answer_columns(answers))
    if corpus.rationales is not None:
        spans = dict(vars(corpus.rationales))
        spans |= _axes("start.", spans.pop("start")) | _axes("stop.", spans.pop("stop"))
        write_table(folder / "rationales.parquet", spans)
    written = [name for name, columns in tables.items() if columns]
    write_json(folder, "corpus", _front(corpus, written))


def _front(corpus: CorpusFields, tables: list[str]) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "n_items": corpus.n_items,
        "n_annotators": corpus.n_annotators,
        "tables": tables,
        "contents": [{"role": r, "kind": c.kind} for r, c in corpus.contents.items()],
        "questions": [_question_front(q, a) for q, a in corpus.questions.items()],
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


def _axes(prefix: str, places: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{prefix}{axis}": places[:, axis] for axis in range(places.shape[1])}


def _ends(columns: dict[str, Any], prefix: str) -> list[np.ndarray]:
    """Where spans start and stop, (n, n_axes) each, as `_axes` wrote them."""
    n_axes = sum(name.startswith(f"{prefix}start.") for name in columns)
    return [
        np.stack([columns[f"{prefix}{end}.{n}"].to_numpy() for n in range(n_axes)], axis=1)
        for end in ("start", "stop")
    ]


def _question_front(name: str, annotations: Annotations) -> dict[str, Any]:
    scale = annotations.scale.to_dict()
    return {"name": name, "scale": scale, "repeats": annotations.repeats}


def _answer_columns(annotations: Annotations) -> dict[str, Any]:
    columns = {name: getattr(annotations, name) for name in COLUMNS}
    columns = {name: column for name, column in columns.items() if column is not None}
    if annotations.answer.dtype == object and isinstance(annotations.scale, MultiLabel):
        columns["answer"] = mask_bytes(annotations.answer, annotations.scale)
    return columns | {f"extra.{name}": column for name, column in annotations.extra.items()}


def read_corpus(folder: Path, make: type[AnyCorpus]) -> AnyCorpus:
    """Read and check a corpus that `write_corpus` wrote."""
    front = read_json(folder, "corpus", _Front)
    with reading(folder):
        corpus = _assembled(folder, front, make)
        corpus.check()
        most = MOST_UNUSED + 100 * sum(one.n_rows for one in corpus.questions.values())
        for kind in {"items", "annotators"} - {*front["tables"]}:  # only their number is stored
            if front[f"n_{kind}"] > most:
                raise DataError(f"{front[f'n_{kind}']:,} {kind}, of which nearly none has answers")
    return corpus


def _assembled(folder: Path, front: dict[str, Any], make: type[AnyCorpus]) -> AnyCorpus:
    table, annotator_table = (
        _columns(folder / f"{kind}.parquet") if kind in front["tables"] else {}
        for kind in ("items", "annotators")
    )
    items, annotators = (  # distinct as they were written
        Names.compressed(string_array(columns["name"]))
        if "name" in columns
        else Names.range(front[f"n_{kind}"])
        for kind, columns in (("items", table), ("annotators", annotator_table))
    )
    role, rationales, contents = front["focus"], None, {}
    if "name" in table:
        del table["name"]
    pa.default_memory_pool().release_unused()
    for number, entry in enumerate(front["contents"]):
        values = _columns(folder / f"content-{number}.parquet")["value"]
        contents[entry["role"]] = Contents(entry["kind"], values, media_roots(folder))
    if front["rationales"]:
        spans = _columns(folder / "rationales.parquet")
        item, annotator = (spans[name].to_numpy() for name in ("item", "annotator"))
        texts = {name: string_array(spans[name]) for name in ("question", "role", "kind")}
        start, stop = _ends(spans, "")
        rationales = Rationales(item, annotator, start=start, stop=stop, **texts)
    return make(
        name=front["name"],
        items=items,
        annotators=annotators,
        questions=_read_questions(folder, "question", front["questions"], items, annotators),
        contents=contents,
        content={role: table[f"content.{role}"].to_numpy() for role in contents},
        item_attributes=_attributes(table),
        annotator_attributes=_attributes(annotator_table),
        gold=_read_questions(folder, "gold", front["gold"], items, Names.range(0)),
        focus=None if role is None else Focus(role, *_ends(table, "focus.")),
        rationales=rationales,
        splits=_attributes(table, "split."),
        group=front["group"],
        left_out=tuple(LeftOut(*row) for row in front["left_out"]),
        notes=tuple(front["notes"]),
        columns=dict(front.get("columns", {})),
    )


def _read_questions(
    folder: Path, kind: str, fronts: list[dict[str, Any]], items: Names, annotators: Names
) -> dict[str, Annotations]:
    return {
        entry["name"]: _read_answers(folder / f"{kind}-{n}.parquet", entry, items, annotators)
        for n, entry in enumerate(fronts)
    }


def _read_answers(
    path: Path, front: dict[str, Any], items: Names, annotators: Names
) -> Annotations:
    """Column after column, so that there is never a second copy of all."""
    scale = scale_from_dict(front["scale"])
    n_codes = {"item": len(items), "annotator": len(annotators)}
    if isinstance(scale, Nominal | Ordinal):
        n_codes["answer"] = len(scale)
    columns: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for name in column_names(path):
        if name in n_codes:  # 8 bytes each in folders of earlier versions
            arrays[name] = read_integers(path, name, code_type(n_codes[name]))
            continue
        column = read_table(path, [name])[name].combine_chunks()
        if name.startswith("extra."):
            plain = plain_column(column, name)  # refuses types that cannot be taken or written
            columns[name] = plain if "view" in str(column.type) else column
        else:
            arrays[name] = column.to_numpy(zero_copy_only=False)
            if pa.types.is_binary(column.type):  # sets of many values
                arrays[name] = masks_of_bytes(arrays[name])
    item, annotator, answer = (arrays.pop(name, None) for name in ("item", "annotator", "answer"))
    arrays |= {"items": items, "annotators": annotators, "extra": _stripped(columns, "extra.")}
    annotations = Annotations.from_arrays(item, annotator, answer, scale, repeats="keep", **arrays)
    return replace(annotations, repeats=front["repeats"])


def _columns(path: Path) -> dict[str, Any]:
    """The columns; what Arrow needed to read them goes back to the system."""
    table = read_table(path)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    del table
    pa.default_memory_pool().release_unused()
    return columns


def _attributes(columns: dict[str, Any], prefix: str = "attribute.") -> dict[str, Any]:
    return {k: plain_column(v, k) for k, v in _stripped(columns, prefix).items()}


def _stripped(columns: dict[str, Any], prefix: str) -> dict[str, Any]:
    named = {name: column for name, column in columns.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): column for name, column in named.items()}
