"""AMER (Zhang et al. 2025): the emotion in 5,207 clips of films and series, by 13 annotators.

The corpus was announced and is not public yet. This reads a plain layout: the folder `videos` with
the clips, and the table `amer_labels.csv` with a row for each label:

    file,annotator,label
    0001.mp4,A1,happy

`label` is worried, happy, neutral, angry, surprise, sad, other or unknown. A label that was not
given is a row that is not there: ten of the annotators labelled about a fifth of the clips.
"""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.datasets.media_labels import load_labels
from dissensus.scales import Nominal

EMOTIONS = ("worried", "happy", "neutral", "angry", "surprise", "sad", "other", "unknown")


def load(folder: Path, corpus: str) -> Corpus:
    """Question `emotion`, eight values; an item is a clip, role `video`."""
    scales = {"emotion": Nominal(EMOTIONS)}
    return load_labels(folder, corpus, "amer_labels.csv", "videos", "video", scales)
