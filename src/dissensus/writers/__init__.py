"""Writers: Corpus -> files in the conventions of others.

`write` takes the format from the ending of the path, or from `to`. It returns notes: what the
format cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.files.folders import check_free_file, staged
from dissensus.files.tabular import TABLES, is_table
from dissensus.writers.hugging_face import write_datasets
from dissensus.writers.label_studio import write_tasks
from dissensus.writers.table_files import write_crowd_kit, write_long, write_wide

Writer = Callable[[Corpus, Path], list[str]]
WRITERS: dict[str, Writer] = {
    "long": write_long,
    "wide": write_wide,
    "crowd-kit": write_crowd_kit,
    "datasets": write_datasets,
    "label-studio": write_tasks,
}
FOLDERS = ("corpus", "datasets")
FORMATS = ("corpus", *WRITERS)


def format_of(path: Path, to: str | None) -> str:
    """The format to write: the one that is named, or by the ending of the path.

    Example:
        >>> format_of(Path("labels.csv"), None), format_of(Path("corpus"), None)
        ('long', 'corpus')
    """
    if to is not None and to not in FORMATS:
        guess = did_you_mean(to, FORMATS)
        raise DataError(f"no format {to!r} to write{guess}; there are {listed(FORMATS, 10)}")
    as_table = is_table(path)
    if to is None:
        if path.suffix.lower() in (".xls", ".ods", ".txt", ".gz", ".zip", ".arrow"):
            raise DataError(f"{path}: write a file that ends in {listed(TABLES)}, or a folder")
        return "long" if as_table else "corpus"
    if to in FOLDERS and as_table:
        raise DataError(f"{path}: {to} is a folder; name one, such as {path.with_suffix('')}")
    if to == "label-studio" and path.suffix.lower() != ".json":
        raise DataError(f"{path}: Label Studio imports JSON; the path must end in .json")
    if to in ("long", "wide", "crowd-kit") and not as_table:
        raise DataError(f"{path}: {to} is a table; the path must end in {listed(TABLES)}")
    return to


def write(corpus: Corpus, path: Path, to: str | None = None, overwrite: bool = False) -> list[str]:
    """Write a corpus, whole or not at all; the notes say what the format cannot hold.

    Args:
        overwrite: whether a file or a corpus folder that exists is replaced; any other folder never
            is.
    """
    path = Path(path)
    to = format_of(path, to)
    if to == "corpus":
        corpus.save(path, overwrite)
        return []
    if to == "datasets" and path.exists():
        raise DataError(f"{path}: already exists; choose another path")
    if path.is_dir() and to != "datasets":
        raise DataError(f"{path}: is a folder; name a file")
    check_free_file(path, overwrite)
    if not path.parent.is_dir():
        raise DataError(f"{path.parent}: no such folder")
    with staged(path) as new:
        notes = WRITERS[to](corpus, new)
    return notes
