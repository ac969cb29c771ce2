"""peerannot's answers.json: an object of tasks, each an object of workers and their labels.

    {"0": {"12": 1, "7": 0}, "1": {"12": 1}}

If `metadata.json` is in the same folder, its `n_classes` says which labels there are.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted
from dissensus.files.checked_json import kind, parse_json
from dissensus.files.plain import plain_bytes
from dissensus.readers.exports.responses import table
from dissensus.readers.files import read_utf8
from dissensus.readers.json_text import as_object, parsed
from dissensus.readers.layout import Layout, layouts_taken
from dissensus.readers.tables.shapes import table_corpus
from dissensus.scales import Nominal

MOST_CLASSES = 100_000


def read(path: Path, options: Layout) -> Corpus:
    """Read every label; a scale may be declared."""
    path = path / "answers.json" if path.is_dir() else path
    tasks = as_object(parsed(read_utf8(path, options.encoding), path), str(path), "tasks")
    rows: list[tuple[str, str, str | None]] = []
    for task, labels in tasks.items():
        where = f"{path}, task {task!r}"
        for worker, label in as_object(labels, where, "labels by worker").items():
            if isinstance(label, bool | dict | list):
                raise DataError(
                    f"{where}: the label of worker {worker!r} must be a number or a text, found "
                    f"{kind(label)}"
                )
            rows.append((task, worker, None if label is None else str(label)))
    if not rows:
        raise DataError(f"{path}: no labels in {counted(len(tasks), 'task')}")
    names = ("task", "worker", "label")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    places = [f"task {task!r}" for task in columns["task"]]
    classes = tuple(map(str, range(_n_classes(path.parent / "metadata.json"))))
    if options.scale is None and classes and {None, *classes} >= set(columns["label"]):
        options = replace(options, scale=Nominal(classes))
    layout = Layout(item="task", annotator="worker", answer=("label",))
    with layouts_taken():
        return table_corpus(table(path, columns, places), layout.with_changes(**options.stated()))


def _n_classes(path: Path) -> int:
    """The number of classes that peerannot states; 0 if it does not, or cannot be meant."""
    try:
        n_classes = int(parse_json(plain_bytes(path), path)["n_classes"])
        return n_classes if n_classes <= MOST_CLASSES else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0
