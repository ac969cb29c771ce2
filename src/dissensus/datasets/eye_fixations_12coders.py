"""Eye fixations by twelve experts (Hooge et al. 2018): is the eye at rest in this sample?

A trial is a sequence of samples of where a subject looked, 300 a second; an item is one sample of
a trial.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Focus, LeftOut
from dissensus.datasets.files import Table, csv_table, numbered, numbers_or_nan
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Nominal

EVENTS = "fixation_events.csv"
CODERS = Names(["DN", "IH", "JB", "JF", "JV", "KH", "MN", "MS", "PZ", "RA", "RH", "TC"])
SEEN = ("x", "y", "v")  # where the eye looks, in pixels of the screen, and how fast it moves
QUESTION = "fixation"
LISTS = "a list of time intervals for each trial, which the samples follow"
VECTORS = (
    "gaze: a sample is x, y (pixels), v (speed), 1 if the place is known else 0, 1 if the speed is "
    "known else 0; what is not known is 0"
)


def load(folder: Path, corpus: str) -> Corpus:
    """Question `fixation`, 0 or 1; the content is the trial, the focus the sample in it."""
    columns = [f"fix_{coder}" for coder in CODERS]
    types = dict.fromkeys(columns, pa.int32())
    texts = ("trial", "subject", *SEEN)
    samples = csv_table(folder, "samples_with_12_labels.csv.gz", texts, ["time"], **types)
    trials, trial = Names.encode(samples["trial"])
    coded = _coded(folder, trials)  # (n_trials, n_coders)
    with samples.errors():
        starts = _starts(trial, samples.array("time"))
        frame = np.arange(len(trial)) - starts[trial]
        items = Names(numbered(samples["trial"], frame))
        annotations = _annotations(samples.array(*columns), coded[trial], items)
        gaze = _gaze(samples)
    contents, shown = Contents.distinct("features", np.split(gaze, starts[1:]))
    return Corpus.build(
        corpus,
        items,
        {QUESTION: annotations},
        annotators=CODERS,
        contents={"gaze": (contents, shown[trial])},
        item_attributes={key: samples[key] for key in ("trial", "time", "subject")},
        focus=Focus("gaze", frame[:, None].astype(float), frame[:, None] + 1.0),
        group="trial",
        left_out=(LeftOut("fixation events, per trial", LISTS, int(coded.sum())),),
        notes=(_absent(coded, trials, trial), VECTORS),
    )


def _coded(folder: Path, trials: Names) -> np.ndarray:
    """Whether a coder marked anything in a trial, (n_trials, n_coders) booleans."""
    events = csv_table(folder, EVENTS, ("trial", "annotator_id"))
    coded = np.zeros((len(trials), len(CODERS)), bool)
    with events.errors():
        trial = trials.codes(events["trial"], "trial")
        coded[trial, CODERS.codes(events["annotator_id"], "coder")] = True
    return coded


def _starts(trial: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The first sample of each trial, (n_trials,)."""
    starts = np.flatnonzero(np.r_[True, np.diff(trial) != 0])
    rises = np.diff(time) > 0
    rises[starts[1:] - 1] = True
    if len(starts) != trial.max() + 1 or not rises.all():
        raise DataError("the samples of a trial must follow one another in time")
    return starts


def _annotations(answer: np.ndarray, coded: np.ndarray, items: Names) -> Annotations:
    """The answers of the coders of each trial; without any mark, a coder did not code it."""
    wrong = (answer != 0) & ((answer != 1) | ~coded)
    if wrong.any():
        row, coder = (int(at[0]) for at in np.nonzero(wrong))
        value = answer[row, coder]
        raise DataError(
            f"row {row + 1}: fix_{CODERS[coder]} is {value}, but {EVENTS} has no fixation of "
            f"{CODERS[coder]} in this trial"
            if value == 1
            else f"row {row + 1}: fix_{CODERS[coder]} must be 0 or 1, found {value}"
        )
    item, annotator = np.nonzero(coded)
    return Annotations.from_arrays(
        item, annotator, answer[coded], Nominal(("0", "1")), items=items, annotators=CODERS
    )


def _gaze(samples: Table) -> np.ndarray:
    """A vector per sample, (n_samples, 5): x, y, v, and whether there is an x and a v."""
    x, y, v = (numbers_or_nan(samples, name) for name in SEEN)
    there = [~np.isnan(x) & ~np.isnan(y), ~np.isnan(v)]
    return np.stack([*np.nan_to_num([x, y, v]), *there], axis=1).astype(np.float32)


def _absent(coded: np.ndarray, trials: Names, trial: np.ndarray) -> str:
    missing_trial, missing_coder = np.nonzero(~coded)
    n_cells = int(np.bincount(trial)[missing_trial].sum())
    missing = zip(missing_trial, missing_coder, strict=True)
    pairs = [f"{CODERS[c]} in {trials[t]}" for t, c in missing]
    return (
        f"{len(pairs)} pairs of coder and trial are without any fixation and taken as missing, "
        f"not as 0 ({n_cells} cells): {listed(pairs)}"
    )
