"""The part of a corpus to train on, and the part to predict."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli.console import say
from dissensus.errors import DataError, counted, listed

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.methods.framework.base import Method
    from dissensus.prediction import Predictions


def readable(method: Method, corpus: Corpus) -> Corpus:
    """The corpus without items whose contents the method cannot read; each kind is reported."""
    read = method.encodings(corpus)
    if not read:
        return corpus
    from dissensus.encoders import without_unreadable

    left, lines = without_unreadable(corpus, read)
    for line in lines:
        say(line)
    return left


def training_part(
    corpus: Corpus, split: str | None, hold_out: float | None, seed: int
) -> tuple[Corpus, dict[str, Any], str]:
    """The part to train on, a note about it to save with the model, and a message.

    By default the training part of the official split; without one all items, or all that
    `hold_out` leaves.
    """
    if split is None and hold_out is None and "train" in corpus.parts():
        split = "train"
    if split == "all" or (split is None and hold_out is None):
        line = f"training on all {counted(corpus.n_items, 'item')}"
        if split is None and corpus.parts():
            line += f": the official split has no part 'train' but {listed(corpus.parts())}; "
            line += "name the part to train on with --split"
        return corpus, {}, line
    if split is not None and hold_out is not None:
        raise DataError("use either --split or --hold-out, not both")
    if split is not None:
        part = corpus.part(split)
        note: dict[str, Any] = {"split": split}
        of = counted(corpus.n_items, "item")
        line = f"training on the official part {split!r}: {part.n_items} of {of}"
    else:
        assert hold_out is not None
        if not 0 < hold_out < 1:
            raise DataError(f"--hold-out must be between 0 and 1, found {hold_out:g}")
        part, rest = corpus.split(hold_out, seed=seed)
        note = {"hold_out": hold_out, "seed": seed}
        line = f"training on {counted(part.n_items, 'item')}; {rest.n_items} held out"
    return part, note | {"items": _digest(part)}, line


def prediction_part(
    corpus: Corpus, split: str | None, trained_on: str, note: dict[str, Any], model: Path
) -> tuple[Corpus, str]:
    """The part to predict, and a message.

    By default what was not used for training: the official test part (else development), or the
    items that were held out.

    Args:
        trained_on: the name of the corpus of the model.
        note: what `training_part` returned.
        model: its folder.
    """
    if split == "all":
        return corpus, f"predicting all {counted(corpus.n_items, 'item')}"
    if split is not None:
        part = corpus.part(split)
        return part, f"predicting the official part {split!r}: {counted(part.n_items, 'item')}"
    every = counted(corpus.n_items, "item")
    if corpus.name != trained_on:
        return corpus, f"predicting all {every}"
    others = [part for part in corpus.parts() if part != note.get("split")]
    if not note or ("split" in note and not others):
        return corpus, f"predicting all {every}{_used(model, corpus)}"
    if "split" in note:
        chosen = next((p for p in ("test", "dev", "validation") if p in others), others[0])
        part = corpus.part(chosen)
        return part, f"predicting the official part {chosen!r}: {counted(part.n_items, 'item')}"
    learned, part = corpus.split(note["hold_out"], seed=note["seed"])
    if _digest(learned) != note["items"]:
        raise DataError(
            f"{corpus.name}: has changed since training, so the held-out items are not known; use "
            "--split all to predict every item"
        )
    return part, f"predicting the {counted(part.n_items, 'held-out item')}"


def _used(folder: Path, corpus: Corpus) -> str:
    from dissensus.methods.framework.model_folder import trained_items

    trained = trained_items(folder, corpus)
    if trained is None or trained.all():
        return ", including those used for training"
    return f", {trained.sum()} of them used for training" if trained.any() else ""


def with_trained_items(predictions: Predictions, folder: Path, corpus: Corpus) -> Predictions:
    """The predictions, with a mark on items that the model in the folder learned from; unchanged
    if an earlier version wrote the folder."""
    from dissensus.methods.framework.model_folder import trained_items

    trained = trained_items(folder, corpus)
    if trained is None:
        return predictions
    marked = {name: replace(each, trained=trained) for name, each in predictions.items()}
    densities = predictions.densities.values()
    return type(predictions)(marked, predictions.method, predictions.corpus, densities)


def _digest(corpus: Corpus) -> str:
    return hashlib.sha256("\n".join(corpus.items).encode()).hexdigest()
