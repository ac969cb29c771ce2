"""TVSum (Song et al. 2015): how important is this moment of a video, from 1 to 5?

Twenty annotators rated every two seconds of each of 50 videos. An annotator of the file is a slot
of one video: slots of different videos are different annotators, so that there are 1,000 of them,
and no two videos have one in common. Pictures are known for 329 key frames of 20 videos. They were
chosen where ratings are high.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, present, present_folder
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("tvsum", "tvsum-shots")
DEFAULT: str | None = "tvsum"
VIDEOS, SHOTS, FRAMES, PICTURES = (
    "videos.csv",
    "shot_scores.csv.gz",
    "keyframe_scores.csv",
    "keyframes",
)
QUESTION = "importance"
SCALE = Interval(1, 5)
WITHOUT_PICTURE = "shots have no picture; read them as tvsum-shots"


def recognise(folder: Path) -> bool:
    """Whether the folder contains the scores of shots and key frames."""
    return (folder / SHOTS).is_file() and (folder / FRAMES).is_file()


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `importance`, from 1 to 5. An item of `tvsum` is a key frame (role `image`, a JPEG),
    of `tvsum-shots` a shot of two seconds, with the title of its video as text."""
    name = chosen(folder, corpus, CORPORA, DEFAULT)
    kept, place = (FRAMES, "frame") if name == "tvsum" else (SHOTS, "shot_2s")
    videos = csv_table(
        folder,
        VIDEOS,
        **dict.fromkeys(("video", "category", "title"), pa.string()),
        length_s=pa.float64(),
    )
    shots = csv_table(folder, SHOTS, **_types("shot_2s"))
    scores = shots if name == "tvsum-shots" else csv_table(folder, FRAMES, **_types("frame"))
    with errors_in(folder / VIDEOS):
        known = Names(videos["video"])
    with errors_in(folder / kept):
        video = known.codes(scores["video"], "video")
        items, item = Names.encode(_joined(scores["video"], scores[place]))
        annotators, annotator = Names.encode(_joined(scores["video"], scores["annotator_slot"]))
        answers = Annotations.from_arrays(
            item, annotator, scores["score_1_5"].to_numpy(), SCALE, items=items,
            annotators=annotators,
        )  # fmt: skip
    first = np.unique(item, return_index=True)[1]  # a row of each item
    of_item = pa.array(video[first])
    if name == "tvsum":
        contents = {"image": Contents.distinct("image", _pictures(folder, scores, first))}
        left_out: tuple[LeftOut, ...] = (
            LeftOut("importance, shots", WITHOUT_PICTURE, shots.num_rows),
        )
    else:
        contents = {"title": Contents.distinct("text", videos["title"].take(of_item))}
        left_out = ()
    own = pa.array(video[np.unique(annotator, return_index=True)[1]])
    return Corpus.build(
        name,
        items,
        {QUESTION: answers},
        annotators=annotators,
        contents=contents,
        item_attributes={
            "video": videos["video"].take(of_item),
            "category": videos["category"].take(of_item),
            "title": videos["title"].take(of_item),
            place: scores[place].take(pa.array(first)),
        },
        annotator_attributes={"video": videos["video"].take(own)},
        group="video",
        left_out=left_out,
    )


def _types(place: str) -> dict[str, Any]:
    texts = dict.fromkeys(("video", "annotator_slot"), pa.string())
    return {**texts, place: pa.int64(), "score_1_5": pa.float64()}


def _joined(video: Any, number: Any) -> Any:
    """A name for each row: the video, and a number in it."""
    return pc.binary_join_element_wise(video, number.cast(pa.string()), "-")


def _pictures(folder: Path, scores: Any, rows: np.ndarray) -> Any:
    """The bytes of the key frame of each of these rows."""
    pictures = present_folder(folder, PICTURES)
    at = pa.array(rows)
    named = zip(scores["video"].take(at).to_pylist(), scores["frame"].take(at).to_pylist(),
                strict=True)  # fmt: skip
    files = [present(pictures, f"{video}_{frame:05d}.jpg").read_bytes() for video, frame in named]
    return pa.array(files, pa.binary())
