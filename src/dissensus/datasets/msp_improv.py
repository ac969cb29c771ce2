"""MSP-Improv (Busso et al. 2017): the emotion of 8,438 turns of twelve actors, rated by a crowd.

A licensed corpus; this reads the folder as it is distributed. Valence, activation and dominance are
rated from 1 to 5. The file has activation the other way round (1 is the most active): the answer
here is 6 minus that number, as in Tavernor et al. (2024). Their speaker-independent split is
`paper`.

Every rated clip is kept, with one annotator too. `clip_ratings.usable_clips` makes the selection
of the paper: it leaves out clips with fewer than two annotators and clips whose stored mean is not
that of their ratings, and counts them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.clip_ratings import (
    OTHERS,
    RatedLine,
    Rating,
    clip_corpus,
    rated_line,
    sound_files,
    transcripts,
)
from dissensus.datasets.files import present, text_lines
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval

RATINGS, MISSPELT = "Evaluation.txt", "Evalution.txt"  # earlier copies have the second name
SCALE = Interval(1, 5)
VIDEO, CLIP = "UTD-IMPROV-", "MSP-IMPROV-"  # the ratings name the video, the sound files the clip
PARTS = {
    "train": ("F01", "F03", "F05", "F06", "M02", "M03", "M04", "M06"),
    "validation": ("F02", "M01"),
    "test": ("F04", "M05"),
}
_CLIP = re.compile(
    r"MSP-IMPROV-S(?P<sentence>\d\d)(?P<intended_emotion>[AHSN])"
    r"-(?P<speaker>(?P<gender>[FM])0?(?P<session>\d+))-(?P<scenario>[PRST])-[FM]{2}\d+"
)


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `valence`, `activation` and `dominance`, from 1 to 5; an item is a clip."""
    misspelt = (folder / MISSPELT).is_file() and not (folder / RATINGS).is_file()
    path = present(folder, MISSPELT if misspelt else RATINGS)
    stated, lines = _lines(path)
    clips = Names(list(stated))
    n_natural = sum(not np.isnan(line.naturalness) for _, line in lines)
    attributes = _attributes(path, clips)
    part_of = {speaker: part for part, speakers in PARTS.items() for speaker in speakers}
    return clip_corpus(
        corpus,
        path,
        clips,
        [Rating(clip, line.name, _flipped(line)) for clip, line in lines],
        SCALE,
        means={clip: _flipped(line) for clip, line in stated.items()},
        sounds=sound_files(folder),
        sound_folder=folder,
        texts=transcripts(folder / "Text", clips),
        attributes=attributes | {"emotion": [line.emotions for line in stated.values()]},
        splits={"paper": pa.array([part_of.get(s) for s in attributes["speaker"]], pa.string())},
        left_out=[
            LeftOut("naturalness", OTHERS, n_natural),
            LeftOut("emotion", OTHERS, len(lines)),
        ],
        notes=("activation is 6 minus the number in the file",),
    )


def _lines(path: Path) -> tuple[dict[str, RatedLine], list[tuple[str, RatedLine]]]:
    """What the file states for each clip, and the lines of its annotators with their clip."""
    stated: dict[str, RatedLine] = {}
    lines: list[tuple[str, RatedLine]] = []
    clip = None
    for number, text in enumerate(text_lines(path), 1):
        where = f"{path}, line {number}"
        if not text.strip():
            clip = None
        elif text.startswith(VIDEO):
            line = rated_line(text, SCALE, where)
            clip = CLIP + line.name.removeprefix(VIDEO).removesuffix(".avi")
            if clip in stated:
                raise DataError(f"{where}: clip {clip!r} is there for the second time")
            stated[clip] = line
        elif clip is None:
            raise DataError(f"{where}: expected a line that begins with {VIDEO}")
        else:
            lines.append((clip, rated_line(text, SCALE, where)))
    if not lines:
        raise DataError(f"{path}: no ratings")
    return stated, lines


def _flipped(line: RatedLine) -> tuple[float, float, float]:
    """The answers to the three questions."""
    return line.valence, 6 - line.activation, line.dominance


def _attributes(path: Path, clips: Names) -> dict[str, list[Any]]:
    """What the names of the clips say: MSP-IMPROV-S01A-F01-P-FM01."""
    matches = [_CLIP.fullmatch(clip) for clip in clips]
    strange = [clip for clip, match in zip(clips, matches, strict=True) if match is None]
    if strange:
        raise DataError(
            f"{path}: {strange[0]!r} is no name of a clip, such as 'MSP-IMPROV-S01A-F01-P-FM01'"
        )
    keys = ("speaker", "gender", "session", "scenario", "sentence", "intended_emotion")
    return {key: [match[key] for match in matches if match is not None] for key in keys}
