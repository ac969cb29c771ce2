"""File names: which part of a name is the annotator, and which the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

STEM, PARENT, WORDS = "stem", "parent", "words"  # where the annotator's name is


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
