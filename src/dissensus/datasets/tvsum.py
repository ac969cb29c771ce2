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

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import csv_table, numbered, pictures, present_folder
from dissensus.names import Names
from dissensus.scales import Interval

WITHOUT_PICTURE = "shots have no picture; read them as tvsum-shots"


def load(folder: Path, corpus: str) -> Corpus:
    """Question `importance`, from 1 to 5. An item of `tvsum` is a key frame (role `image`, a JPEG),
    of `tvsum-shots` a shot of two seconds, with the title of its video as text."""
    videos = csv_table(folder, "videos.csv", ("video", "category", "title"))
    texts, numbers = ("video", "annotator_slot"), ["score_1_5"]
    scores = csv_table(folder, "shot_scores.csv.gz", texts, numbers, shot_2s=pa.int64())
    n_shots, place = len(scores), "shot_2s"
    if corpus == "tvsum":
        place = "frame"
        scores = csv_table(folder, "keyframe_scores.csv", texts, numbers, frame=pa.int64())
    known = videos.names("video")
    with scores.errors():
        video = known.codes(scores["video"], "video")
        items, item = Names.encode(numbered(scores["video"], scores[place]))
        annotators, annotator = Names.encode(numbered(scores["video"], scores["annotator_slot"]))
    answers = scores.annotations(
        "score_1_5", Interval(1, 5), items, item, annotator, annotators=annotators
    )
    first = np.unique(item, return_index=True)[1]  # a row of each item
    about, places = videos.columns.take(video[first]), scores[place].take(first)
    own = videos.columns.take(video[np.unique(annotator, return_index=True)[1]])
    parts: dict[str, Any] = {"contents": {"title": about["title"]}}
    if corpus == "tvsum":
        named = zip(about["video"].to_pylist(), places.to_pylist(), strict=True)
        files = [f"{video}_{frame:05d}.jpg" for video, frame in named]
        frames = pictures(present_folder(folder, "keyframes"), files)
        left_out = (LeftOut("importance, shots", WITHOUT_PICTURE, n_shots),)
        parts = {"contents": {"image": frames}, "left_out": left_out}
    return Corpus.build(
        corpus,
        items,
        {"importance": answers},
        annotators=annotators,
        item_attributes={
            **{key: about[key] for key in ("video", "category", "title")},
            place: places,
        },
        annotator_attributes={"video": own["video"]},
        group="video",
        **parts,
    )
