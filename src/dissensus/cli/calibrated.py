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


def calibrated(
    predictions: Predictions,
    part: Corpus,
    predict: Callable[[Corpus], Predictions],
    model: Path,
    file: Corpus | None,
    coverage: float | None,
    by: Literal["item", "annotator"],
) -> tuple[Predictions, dict[str, dict[str, Any]]]:
    """The predictions with calibrated shares, and the columns of sets by question.

    Args:
        part: what was predicted, which is calibrated on if there is no `file`.
        predict: predicts the items of the file in the same way.
    """
    from dissensus.calibration import Conformal, coverage_notes

    held_out = _not_learned(part if file is None else file, model)
    predicted = predictions if file is None else predict(held_out)
    if file is not None:
        predictions, predicted, held_out = _with_votes(
            predictions, predicted, held_out, coverage is not None
        )
    columns: dict[str, dict[str, Any]] = {}
    for question, prediction in predictions.items() if coverage is not None else ():
        assert coverage is not None
        columns[question], answers, own = {}, held_out[question], predicted[question]
        kinds: tuple[Of, ...] = ("answer", "consensus", "distribution")
        kinds = kinds[: 2 if prediction.scale.kind == "interval" else 3]
        for of in kinds if by == "item" else ("annotator",):
            sets = Conformal(coverage, of).fit(own, answers, held_out.units())
            columns[question] |= sets.columns(prediction)
            for line in coverage_notes(sets, own, answers):
                say(f"{question}: {line}")
    if columns:
        say(PROMISE)
    return predictions, columns


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


def _with_votes(
    predictions: Predictions, predicted: Predictions, held_out: Corpus, half: bool
) -> tuple[Predictions, Predictions, Corpus]:
    """Both predictions with shares calibrated to votes, where held-out items gain from it; and the
    items that are left to calibrate sets on: if there was a gain, only the other half.

    Args:
        predicted: those of the held-out items.
        half: whether to leave half of them.
    """
    from dissensus.calibration import VoteCalibration

    units, new = held_out.units(), (dict(predictions), dict(predicted))
    first = np.random.default_rng(0).permutation(units.max() + 1)[units] % 2 == 0
    left = held_out
    for question in predictions:
        if predictions[question].scale.kind not in ("nominal", "ordinal"):
            continue
        answers, calibration = held_out[question], VoteCalibration()
        before, after = calibration.gain(predicted[question], answers, units)
        found = f"cross-entropy of held-out votes {before:.3f} as predicted, {after:.3f} calibrated"
        found = "too few items to calibrate shares on" if np.isnan(after) else found
        say(f"{question}: {found}; shares are {'not ' * (not after < before)}calibrated")
        if after < before:
            rows = answers.take(np.flatnonzero(first[answers.item] | (not half)))
            calibration.fit(predicted[question], rows)
            for each in new:
                each[question] = calibration.calibrated(each[question])
            left = held_out.select(items=~first) if half else held_out
    return predictions.with_questions(new[0]), predicted.with_questions(new[1]), left
