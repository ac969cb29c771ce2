"""STREET (Zhang et al. 2025): five impressions of 4,300 photographs of cities, by ten annotators.

The corpus was announced and is not public yet. This reads a plain layout: the folder `images` with
the photographs, and the table `street_labels.csv` with a row for each label:

    file,annotator,perspective,label
    0001.jpg,A1,happiness,-2
    0001.jpg,A1,safety,3

`perspective` is happiness, healthiness, safety, liveliness or orderliness; `label` is -3, -2, -1,
1, 2 or 3 (there is no 0). A label that was not given is a row that is not there.
"""

from __future__ import annotations

from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.datasets.media_labels import load_labels
from dissensus.scales import Ordinal

LABELS = "street_labels.csv"
PERSPECTIVES = ("happiness", "healthiness", "safety", "liveliness", "orderliness")
SCALE = Ordinal(("-3", "-2", "-1", "1", "2", "3"))


def load(folder: Path, corpus: str) -> Corpus:
    """A question for each perspective, with six levels; an item is a photograph, role `image`."""
    scales = dict.fromkeys(PERSPECTIVES, SCALE)
    return load_labels(folder, corpus, LABELS, "images", "image", scales, "perspective")
