"""Folders: the files in them that belong together, and the annotators whom their names name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from dissensus.errors import DataError
from dissensus.readers.files import ending, first_bytes, stem

MOST_FILES = 20_000  # of one format in a folder
BEGINNING = 1 << 18  # bytes of a file that are read to recognise it
WEBANNO = b"#FORMAT=WebAnno TSV 3"
TEXTS = (".csv", ".tsv", ".tab", ".txt")
LINES = (".jsonl", ".ndjson", ".json1", ".json")
COLUMNS = (".parquet", ".pq", ".arrow")
ARROW = (".arrow", ".arrows", ".feather", ".ipc")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
ASIDE = (  # what names of files begin with that are about the tables beside them
    "readme", "license", "licence", "card", "dataset_info", "state", "metadata", "requirements",
)  # fmt: skip
STEM, PARENT, WORDS = "stem", "parent", "words"  # where the annotator's name is


def files_in(path: Path, *endings: str) -> list[Path]:
    """The files with these endings, or all, in a folder and the folders in it, or a file itself, in
    order; those that a system put there are left out."""
    if not path.is_dir():
        return [path] if path.is_file() and ending(path) in endings else []
    files: list[Path] = []
    for file in path.rglob("*"):
        wanted = not endings or ending(file) in endings
        if wanted and is_own(file.relative_to(path)) and file.is_file():
            files.append(file)
        if len(files) > MOST_FILES:
            raise DataError(f"{path}: more than {MOST_FILES} files; name a folder with fewer")
    return sorted(files)


def is_own(name: str | Path) -> bool:
    """Whether a file was put into a folder or zip by a person, not by the system."""
    parts = PurePosixPath(name).parts or (".",)
    return not any(part.startswith((".", "~$", "__")) for part in parts)


def table_files(path: Path) -> list[Path]:
    """The tables in a folder; a text may be anything, so it counts if there is no other."""
    every = files_in(path, *TEXTS, *LINES, *COLUMNS, *SPREADSHEETS)
    files = [file for file in every if not stem(file.name).lower().startswith(ASIDE)]
    return [file for file in files if ending(file) != ".txt"] or files


def webanno_files(path: Path) -> list[Path]:
    """The documents of WebAnno, without those that nobody annotated or all did together."""
    files = [f for f in files_in(path, ".tsv", ".txt") if first_bytes(f, 64).startswith(WEBANNO)]
    aside = ("INITIAL_CAS", "CURATION_USER")
    return [file for file in files if file == path or not file.stem.startswith(aside)]


def annotation_files(path: Path) -> list[Path]:
    """brat's files of annotations."""
    return files_in(path, ".ann")


def texts_by_name(path: Path) -> dict[str, Path]:
    """A file for each name of a text, anywhere in the folder."""
    folder = path.parent if path.is_file() else path
    return {file.stem: file for file in reversed(files_in(folder, ".txt"))}


def potato_files(path: Path) -> list[Path]:
    """The file of each annotator, in the folder itself or one below."""
    names = ("user_state.json", "annotated_instances.jsonl")
    files = [f for depth in ("*", "*/*") for name in names for f in path.glob(f"{depth}/{name}")]
    if not files and (path / names[0]).is_file():
        files = [path / names[0]]
    return sorted({file.parent: file for file in reversed(files)}.values())


def doccano_files(path: Path) -> list[Path]:
    """The files in a folder; none if there are others than JSON lines."""
    inside = sorted(one for one in path.iterdir() if not one.name.startswith("."))
    lines = (".jsonl", ".json1")  # as doccano calls its files
    return inside if all(file.suffix.lower() in lines for file in inside) else []


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without the words at their ends that all share; numbers alone are not names.

    Example:
        >>> short_names(["ann_IAA_2024", "bob_IAA_2024"])
        {'ann_IAA_2024': 'ann', 'bob_IAA_2024': 'bob'}
        >>> short_names(["annotator_1", "annotator_2"])
        {'annotator_1': 'annotator_1', 'annotator_2': 'annotator_2'}
    """
    words = [name.replace("-", "_").split("_") for name in names]
    while all(len(w) > 1 and w[-1] == words[0][-1] for w in words):
        words = [w[:-1] for w in words]
    while all(len(w) > 1 and w[0] == words[0][0] for w in words):
        words = [w[1:] for w in words]
    short = ["_".join(w) for w in words]
    if len(set(short)) < len(short) or any(one.isdigit() for one in short):
        short = list(names)
    return dict(zip(names, short, strict=True))


def documents_and_annotators(texts: dict[Path, str]) -> dict[Path, tuple[str, str | None]]:
    """The document and the annotator of each file, from the files' texts and names.

    Files with the same text are one document. Its name is what their names share: `doc/ann.tsv`,
    `ann/doc.tsv` or `ann_doc.tsv`.
    """
    groups: dict[str, list[Path]] = {}
    for file, text in texts.items():
        groups.setdefault(text, []).append(file)
    places = Counter(_place(files) for files in groups.values() if len(files) > 1)
    usual = places.most_common(1)[0][0] if places else None
    named: dict[Path, tuple[str, str | None]] = {}
    for files in groups.values():
        place = _place(files) if len(files) > 1 else usual
        for file in files:
            named[file] = _named(file, files, place)
    return named


def _place(files: Sequence[Path]) -> str:
    if len({file.stem for file in files}) == 1:
        return PARENT
    short = short_names([file.stem for file in files])
    return STEM if all(name == full for full, name in short.items()) else WORDS


def _named(file: Path, files: Sequence[Path], place: str | None) -> tuple[str, str | None]:
    if place is None:
        return file.stem, None
    if place == PARENT:
        return file.stem, file.parent.name
    if place == STEM or len(files) == 1:
        return file.parent.name, file.stem
    annotator = short_names([one.stem for one in files])[file.stem]
    document = file.stem.replace(annotator, "", 1).strip("_- .") or file.parent.name
    return document, annotator
