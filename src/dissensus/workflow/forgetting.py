"""Remove annotators from what dissensus wrote: models, corpora and predictions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
    every = [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())]
    own = [(path, kind) for path in every for kind in KINDS if is_own(path, kind)]
    if not own:
        raise DataError(f"{folder}: not a folder of a model, a corpus or predictions")
    lines = []
    for path, kind in own:
        lines += [f"{path}: {line}" for line in KINDS[kind](path, names)]
    if not lines:
        raise DataError(f"{folder}: no annotator {listed(names, 5)}")
    places = {path for path, _ in own}
    others = (path for path in sorted(folder.rglob("*")) if path.parent not in places)
    left = [str(path) for path in others if path.is_file() and _has_name(path, names)]
    if left:
        lines.append(f"still with the name, write again or delete: {', '.join(left)}")
    return lines


def _forget_in_model(folder: Path, names: Sequence[str]) -> list[str]:
    fitted = load(folder)
    known = [name for name in names if name in fitted.learned_.annotators]
    if not known:
        return []
    fewer = fitted.forget(known)
    save_again(fewer.write_to, folder, folder)
    return fewer.notes_


def _forget_in_corpus(folder: Path, names: Sequence[str]) -> list[str]:
    corpus = Corpus.load(folder)
    known = [name for name in names if name in corpus.annotators]
    fewer = corpus.without(annotators=known)
    notes = tuple(note for note in corpus.notes if not _names(note, names))
    left_out = tuple(
        row._replace(reason=REMOVED) if _names(row.reason, names) else row
        for row in corpus.left_out
    )
    fewer = replace(fewer, notes=notes, left_out=left_out)
    if not known and fewer.equals(corpus):
        return []
    fewer.save(folder, overwrite=True)
    n_answers = sum(one.n_rows for one in corpus.questions.values())
    n_answers -= sum(one.n_rows for one in fewer.questions.values())
    return [f"forgotten: {listed(names, 5)}, {n_answers} answers"]


def _forget_in_predictions(folder: Path, names: Sequence[str]) -> list[str]:
    predictions = Predictions.load(folder)
    fewer = predictions.without(names)
    if fewer is predictions:
        return []
    fewer.save(folder, overwrite=True)
    return [
        f"forgotten: {listed(names, 5)}",
        "distributions of items may be means that include them; predict again to leave them out",
    ]


KINDS: dict[str, Callable[[Path, Sequence[str]], list[str]]] = {
    "config": _forget_in_model,
    "corpus": _forget_in_corpus,
    "predictions": _forget_in_predictions,
}


def _names(text: str, names: Sequence[str]) -> bool:
    """Whether a text has one of the names as a word of its own."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def _has_name(path: Path, names: Sequence[str]) -> bool:
    with path.open("rb") as file:
        return _names(file.read(MOST_SEARCHED).decode(errors="replace"), names)
