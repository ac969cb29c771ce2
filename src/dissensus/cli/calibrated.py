"""Calibrate what `dissensus predict` predicts on answers that the model did not learn from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dissensus.cli.console import say
from dissensus.errors import DataError, counted

if TYPE_CHECKING:
    from dissensus.calibration.conformal import Of
    from dissensus.corpus import Corpus
    from dissensus.prediction import Predictions

PROMISE = (
    "promised on average for items not used for training and annotators drawn like these, not for "
    "a single item, annotator or group"
)


def set_columns(
    predictions: Predictions,
    part: Corpus,
    predict: Callable[[Corpus], Predictions],
    model: Path,
    file: Corpus | None,
    coverage: float,
    by: Literal["item", "annotator"],
) -> dict[str, dict[str, Any]]:
    """The columns of sets with a promised coverage by question; prints what is promised.

    Args:
        part: what was predicted, which is calibrated on if there is no `file`.
        predict: predicts the items of the file in the same way.
    """
    from dissensus.calibration import Conformal, coverage_notes, of_value
    from dissensus.scales import Interval, MultiLabel

    held_out = _not_learned(part if file is None else file, model)
    predicted = predictions if file is None else predict(held_out)
    columns: dict[str, dict[str, Any]] = {}
    for question, prediction in predictions.items():
        scale, each = prediction.scale, (prediction, predicted[question], held_out[question])
        columns[question], parts = {}, {"": list[Any](each)}
        kinds: tuple[Of, ...] = ("answer", "consensus", "distribution")
        if isinstance(scale, Interval | MultiLabel):
            kinds = kinds[:2]
        if isinstance(scale, MultiLabel):
            parts = {
                value: [of_value(one, at) for one in each] for at, value in enumerate(scale.values)
            }
        for value, (wanted, own, answers) in parts.items():
            for of in kinds if by == "item" else ("annotator",):
                sets = Conformal(coverage, of).fit(own, answers, held_out.units())
                named = sets.columns(wanted).items()
                columns[question] |= {f"{n}.{value}".rstrip("."): column for n, column in named}
                for line in coverage_notes(sets, own, answers):
                    say(f"{question}, {value}: {line}" if value else f"{question}: {line}")
    say(PROMISE)
    return columns


def _not_learned(corpus: Corpus, model: Path) -> Corpus:
    """The items with answers that the model did not learn from."""
    from dissensus.methods.framework.model_folder import trained_items

    learned = trained_items(model, corpus)
    if learned is None:
        raise DataError(f"{model}: does not say which items it learned; use dissensus train")
    answered = np.zeros(corpus.n_items, dtype=bool)
    for answers in corpus.questions.values():
        answered |= answers.per_item() > 0
    kept, others = answered & ~learned, int((answered & learned).sum())
    if not kept.any():
        why = "the model learned from all items with answers" if others else "there are none"
        raise DataError(
            f"{corpus.name}: no answers to calibrate on, because {why}; hold items out (train "
            "--hold-out 0.2), or name a file with answers to other items with --calibrate"
        )
    rest = f"; {counted(others, 'item')} used for training left out" if others else ""
    say(f"calibrating on {counted(int(kept.sum()), 'item')} not used for training{rest}")
    return corpus.select(items=kept)
