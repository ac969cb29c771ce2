"""Remove annotators from what dissensus wrote: models, corpora and predictions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.files.folders import is_own
from dissensus.methods import load
from dissensus.methods.framework.model_folder import save_again
from dissensus.prediction import Predictions

REMOVED = "answers of annotators who were removed"
MOST_SEARCHED = 1 << 28  # bytes of a file


def forget_in(folder: Path, names: Sequence[str]) -> list[str]:
    """Remove annotators from a folder that dissensus wrote, and from all such folders within it.

    Returns lines that say what was removed, what remains, and which other files have the names.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; name that of a model, corpus or predictions")
    within = sorted(folder.rglob("*"))
    changes = {path: _forget(path, names) for path in [folder, *within] if path.is_dir()}
    own = {path: lines for path, lines in changes.items() if lines is not None}
    if not own:
        raise DataError(f"{folder}: not a folder of a model, a corpus or predictions")
    every = [f"{path}: {line}" for path, lines in own.items() for line in lines]
    if not every:
        raise DataError(f"{folder}: no annotator {listed(names, 5)}")
    others = (path for path in within if path.parent not in own and path.is_file())
    if left := [str(path) for path in others if _has_name(path, names)]:
        every.append(f"still with the name, write again or delete: {', '.join(left)}")
    return every


def _forget(folder: Path, names: Sequence[str]) -> list[str] | None:
    """What was removed from a folder, and what remains; None if dissensus did not write it."""
    if is_own(folder, "config"):
        fitted = load(folder)
        if not (known := [name for name in names if name in fitted.learned_.annotators]):
            return []
        model = fitted.forget(known)
        save_again(model.write_to, folder, folder)
        return model.notes_
    if is_own(folder, "corpus"):
        return _forget_in_corpus(folder, names)
    if not is_own(folder, "predictions"):
        return None
    predictions = Predictions.load(folder)
    if (fewer := predictions.without(names)) is predictions:
        return []
    fewer.save(folder, overwrite=True)
    return [
        f"forgotten: {listed(names, 5)}",
        "distributions of items may be means that include them; predict again to leave them out",
    ]


def _forget_in_corpus(folder: Path, names: Sequence[str]) -> list[str]:
    corpus = Corpus.load(folder)
    known = [name for name in names if name in corpus.annotators]
    fewer = replace(
        corpus.without(annotators=known),
        notes=tuple(note for note in corpus.notes if not _names(note, names)),
        left_out=tuple(
            row._replace(reason=REMOVED) if _names(row.reason, names) else row
            for row in corpus.left_out
        ),
    )
    if not known and fewer.equals(corpus):
        return []
    fewer.save(folder, overwrite=True)
    before, after = (sum(a.n_rows for a in c.questions.values()) for c in (corpus, fewer))
    return [f"forgotten: {listed(names, 5)}, {before - after} answers"]


def _names(text: str, names: Sequence[str]) -> bool:
    """Whether a text has one of the names as a word of its own."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def _has_name(path: Path, names: Sequence[str]) -> bool:
    with path.open("rb") as file:
        return _names(file.read(MOST_SEARCHED).decode(errors="replace"), names)
