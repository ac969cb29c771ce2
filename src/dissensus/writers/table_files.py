"""Tables: a row per answer (long), a column per annotator (wide), or crowd-kit's three columns."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_column, item_columns, with_columns
from dissensus.errors import DataError, listed
from dissensus.scales import Ordinal, as_numbers

MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767  # of a sheet; of a cell
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
Cell = str | float | int | None
_OPEN = "http://schemas.openxmlformats.org"
_MAIN, _OFFICE = f"{_OPEN}/spreadsheetml/2006/main", f"{_OPEN}/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0"?>'


def write_workbook(path: Path, sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> None:
    """Write each sheet's rows."""
    numbers = range(1, len(sheets) + 1)
    names = "".join(
        f'<sheet name={quoteattr(name[:31])} sheetId="{n}" r:id="r{n}"/>'
        for n, name in enumerate(sheets, start=1)
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for n in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_OPEN}/package/2006/content-types"><Default '
        'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{types}'
        "</Types>",
        "_rels/.rels": _relations("officeDocument", ["xl/workbook.xml"]),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            "worksheet", [f"worksheets/sheet{n}.xml" for n in numbers]
        ),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for part, text in parts.items():
            packed.writestr(part, _XML + text)
        for number, rows in enumerate(sheets.values(), start=1):
            with packed.open(f"xl/worksheets/sheet{number}.xml", "w") as file:
                file.write(f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
                for n, row in enumerate(rows, start=1):
                    if n > MOST_ROWS or len(row) > MOST_COLUMNS:
                        raise DataError(
                            f"{path}: a sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
                            "columns; write CSV or Parquet"
                        )
                    file.write(f"<row>{''.join(map(_xml_cell, row))}</row>".encode())
                file.write(b"</sheetData></worksheet>")


def _relations(kind: str, targets: list[str]) -> str:
    parts = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, target in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_OPEN}/package/2006/relationships">{parts}</Relationships>'


def _xml_cell(cell: Cell) -> str:
    if cell is None:
        return "<c/>"
    if isinstance(cell, int | float) and cell == cell:
        return f"<c><v>{cell!r}</v></c>"
    text = escape(_CONTROL.sub("\ufffd", str(cell)[:MOST_LETTERS]))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".json", ".xlsx")


def write_long(corpus: Corpus, path: Path) -> list[str]:
    """One row per item and annotator, with a column for each question."""
    table = long_table(corpus)
    save_table(table, path)
    return losses(corpus, stored_fields=("gold", "splits", "annotator_attributes"))


def write_wide(corpus: Corpus, path: Path) -> list[str]:
    """One row per item, one column per annotator; of several questions, per question and annotator.

    The columns of several questions are called QUESTION_ANNOTATOR.
    """
    about = item_columns(corpus)
    about.setdefault(item_column(corpus), corpus.items.array)
    about = {item_column(corpus): about.pop(item_column(corpus)), **about}
    for question, answers in corpus.questions.items():
        prefix = f"{question}_" if len(corpus.questions) > 1 else ""
        about = with_columns(about, _wide_columns(corpus, answers, prefix))
    save_table(pa.table(_with_gold(corpus, about)), path)
    notes = losses(corpus, stored_fields=("gold", "splits"))
    names = [name for name in corpus.annotators if "," not in name]
    if len(names) == corpus.n_annotators <= 20:
        notes.append(f"to read it back: --format wide --annotator-columns {','.join(names)}")
    return notes


def _wide_columns(corpus: Corpus, answers: Annotations, prefix: str) -> dict[str, Any]:
    """The answers of each annotator who answered a question, a column each."""
    codes = annotators_of(answers, "wide")
    values = answers.scale.column(answers.answer)
    columns = {}
    for code, name in enumerate(corpus.annotators):
        rows: list[int | None] = [None] * corpus.n_items
        for row in (codes == code).nonzero()[0].tolist():
            rows[int(answers.item[row])] = row
        if any(row is not None for row in rows):
            columns[prefix + name] = values.take(pa.array(rows, pa.int64()))
    return columns


def write_crowd_kit(corpus: Corpus, path: Path) -> list[str]:
    """crowd-kit's table: task, worker, label."""
    _, answers = only_question(corpus, "crowd-kit")
    codes = annotators_of(answers, "crowd-kit")
    save_table(
        pa.table(
            {
                "task": corpus.items.array.take(pa.array(answers.item)),
                "worker": corpus.annotators.array.take(pa.array(codes)),
                "label": answers.scale.column(answers.answer),
            }
        ),
        path,
    )
    contents = [f"content {role}" for role in corpus.contents]
    attributes = [f"item attribute {name}" for name in corpus.item_attributes]
    return losses(corpus, stored_fields=(), more=[*contents, *attributes])


def only_question(corpus: Corpus, to: str) -> tuple[str, Annotations]:
    """The one question of a corpus; refused if there are several."""
    if len(corpus.questions) != 1:
        raise DataError(
            f"{corpus.name}: {to} holds one question; choose one of {listed(corpus.questions)} "
            "with --question"
        )
    ((name, answers),) = corpus.questions.items()
    return name, answers


def annotators_of(answers: Annotations, to: str) -> Any:
    """The code of each row's annotator; refused if they are anonymous or answered twice."""
    if answers.annotator is None:
        raise DataError(f"{to} needs annotators, and here they are anonymous; use --to long")
    if answers.repeats:
        raise DataError(
            f"{to} holds one answer of an annotator to an item; read it with --repeats first, last "
            "or mean"
        )
    return answers.annotator


def long_table(corpus: Corpus) -> pa.Table:
    """The answers of a corpus with gold labels and the official split of each item."""
    table = corpus.to_table()
    name = item_column(corpus)
    if name not in table.column_names or not (corpus.gold or corpus.splits):
        return table
    at = pa.array(corpus.items.codes(table[name], "item"))
    columns = {key: table[key] for key in table.column_names}
    extra = _with_gold(corpus, {})
    return pa.table(with_columns(columns, {key: c.take(at) for key, c in extra.items()}))


def _with_gold(corpus: Corpus, columns: dict[str, Any]) -> dict[str, Any]:
    """Columns of items, with the gold labels and the official split."""
    for question, gold in corpus.gold.items():
        rows: list[int | None] = [None] * corpus.n_items
        for row, item in enumerate(gold.item.tolist()):
            rows[item] = row
        values = gold.scale.column(gold.answer).take(pa.array(rows, pa.int64()))
        name = "gold" if len(corpus.questions) == 1 else f"gold_{question}"
        columns = with_columns(columns, {name: values})
    if "official" in corpus.splits:
        columns = with_columns(columns, {"split": corpus.splits["official"]})
    return columns


def save_table(table: pa.Table, path: Path) -> None:
    """Write a table in the format that its ending names; sets are JSON lists in text files."""
    ending = path.suffix.lower()
    if ending == ".parquet":
        pq.write_table(table, path)
        return
    if ending in (".jsonl", ".json"):
        records = [{k: v for k, v in row.items() if v is not None} for row in table.to_pylist()]
        with path.open("w", encoding="utf-8") as file:
            if ending == ".json":
                json.dump(records, file, ensure_ascii=False, indent=1, default=str)
            else:
                file.writelines(
                    json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in records
                )
        return
    columns = [[_cell(value) for value in column.to_pylist()] for column in table.columns]
    rows = zip(*columns, strict=True)
    if ending == ".xlsx":
        write_workbook(path, {"answers": [table.column_names, *map(list, rows)]})
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def losses(
    corpus: Corpus, stored_fields: tuple[str, ...], more: list[str] | None = None
) -> list[str]:
    """A note about what a table does not contain, and about scales that it cannot state."""
    lost = list(more or ())
    lost += [f"content {r} ({c.kind})" for r, c in corpus.contents.items() if _is_stored(c)]
    lost += [what for what in ("rationales", "focus") if getattr(corpus, what) is not None]
    lost += ["gold labels"] if corpus.gold and "gold" not in stored_fields else []
    schemes = [
        name for name in corpus.splits if name != "official" or "splits" not in stored_fields
    ]
    lost += [f"split {name}" for name in schemes]
    if "annotator_attributes" not in stored_fields:
        lost += [f"annotator attribute {name}" for name in corpus.annotator_attributes]
    used = {int(item) for answers in corpus.questions.values() for item in set(answers.item)}
    bare = corpus.n_items - len(used)
    lost += (
        [f"{bare} items without answers"]
        if bare and "annotator_attributes" in stored_fields
        else []
    )
    notes = [f"not in the file: {', '.join(dict.fromkeys(lost))}"] if lost else []
    words = [
        (name, answers.scale)
        for name, answers in corpus.questions.items()
        if isinstance(answers.scale, Ordinal) and as_numbers(answers.scale.values) is None
    ]
    notes += [
        f"the order of {name} is not in the file; to read it back: --scale "
        f"ordinal:{','.join(scale.values)}"
        for name, scale in words
    ]
    return notes


def _is_stored(contents: Any) -> bool:
    """Whether contents are bytes or features, which a table does not contain."""
    kind = contents.values.type
    return not (pa.types.is_string(kind) or pa.types.is_large_string(kind))
