"""A folder for Hugging Face `datasets`: a Parquet file for each split, and a card with features."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.corpus import Corpus
from dissensus.writers.table_files import long_table, losses

TYPES = ((pa.types.is_integer, "int64"), (pa.types.is_floating, "float64"))


def write_datasets(corpus: Corpus, path: Path) -> list[str]:
    """Write `data/SPLIT-00000-of-00001.parquet` and README.md."""
    table = long_table(corpus)
    splits = {"train": table}
    if "split" in table.column_names and "official" in corpus.splits:
        names = [name for name in corpus.parts() if name]
        splits = {
            name: table.filter(pc.fill_null(pc.equal(table["split"], name), False)).drop(["split"])
            for name in names
        }
        splits = {name: part for name, part in splits.items() if part.num_rows}
    (path / "data").mkdir(parents=True)
    for name, part in splits.items():
        pq.write_table(part, path / "data" / f"{name}-00000-of-00001.parquet")
    (path / "README.md").write_text(_card(corpus, splits), encoding="utf-8")
    return losses(corpus, stored_fields=("gold", "splits", "annotator_attributes"))


def _card(corpus: Corpus, splits: dict[str, pa.Table]) -> str:
    """The dataset card: features and splits as YAML, then what the corpus is."""
    first = next(iter(splits.values()))
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    for name in splits:
        lines += [f"  - split: {name}", f"    path: data/{name}-*"]
    lines += ["dataset_info:", "  features:"]
    for field in first.schema:
        lines.append(f"  - name: {json.dumps(field.name, ensure_ascii=False)}")
        if pa.types.is_list(field.type) or pa.types.is_large_list(field.type):
            lines.append(f"    sequence: {_type(field.type.value_type)}")
        else:
            lines.append(f"    dtype: {_type(field.type)}")
    lines.append("  splits:")
    for name, part in splits.items():
        lines += [f"  - name: {name}", f"    num_examples: {part.num_rows}"]
    lines += ["---", "", f"# {corpus.name}", ""]
    lines.append(
        f"Annotations of {corpus.n_items} items by {corpus.n_annotators or 'anonymous'} "
        "annotators; "
        "a row is the answer of one annotator to one item."
    )
    lines += ["", "| question | scale | answers |", "|---|---|---|"]
    for name, answers in corpus.questions.items():
        lines.append(f"| {name} | {answers.scale.kind} | {answers.n_answers} |")
    return "\n".join(lines) + "\n"


def _type(kind: Any) -> str:
    return next((name for fits, name in TYPES if fits(kind)), "string")
