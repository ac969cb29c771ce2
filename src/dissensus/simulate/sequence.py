"""Sequences with several events; annotators attend to different events."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.scales import Nominal
from dissensus.simulate.crowd import MOST, Draws, Parts, Sizes
from dissensus.simulate.text import emotion_scale
from dissensus.simulate.truth import SimulatedContents, labelled

ASPECTS = ("face", "gaze", "hands", "posture", "voice", "words")  # where an event shows
PAUSE = (1, 3)  # frames before, between and after events, from and to
EVENT = (4, 7)  # frames of an event
STEPS = 64  # of a feature from 0 to 1; features are whole steps, so nothing is rounded
NOISE_STEPS = 12  # the most by which noise moves a feature, either way
N_NOISES = 4096  # different frames of noise
LARGE = 2**31 - 1  # numbers, beyond which the lists need larger offsets


def sequence(
    n_items: int = 1000,
    n_annotators: int = 10,
    labels_per_item: int = 5,
    n_values: int = 6,
    seed: int = 0,
) -> Corpus:
    """A corpus of feature sequences with several events, and annotators with known tendencies.

    Each item is a clip of 16 to 43 frames in which three or four events follow one another. An
    event shows in one channel (face, voice, ...) and expresses one emotion; two events of an item
    share theirs, none its channel. A frame is a vector of one number per channel and then one per
    emotion: during an event those of its channel and of its emotion rise to 1 and fall again, the
    others are noise around 0. Annotators are asked for *the* emotion: each attends mostly to the
    channels they prefer, prefers certain answers and is careless now and then.

    The truth is saved with the corpus, as `text` describes: parts are events, aspects channels,
    values emotions, and places frames.

    All else, and the arguments, are as in `text`: preferences, noise, the best possible accuracy.

    Example:
        >>> corpus = sequence(n_items=100)
        >>> corpus["emotion"].n_rows, np.array(corpus.contents["clip"][0]).shape
        (500, (32, 12))
    """
    sizes = Sizes(n_items, n_annotators, labels_per_item, n_values, seed)
    return labelled("sequence", "emotion", sizes, emotion_scale, ASPECTS, show_clips)


def show_clips(parts: Parts, scale: Nominal, draws: Draws) -> SimulatedContents:
    """A clip of each item, as lists of frames, with an event for each part."""
    width = len(ASPECTS) + len(scale)
    there = parts.there
    lengths = np.empty((len(parts), 2 * MOST + 1), dtype=np.int64)  # pause, event, pause, ...
    lengths[:, ::2] = PAUSE[0] + draws.below(PAUSE[1] - PAUSE[0] + 1, len(parts), MOST + 1)
    lengths[:, 1::2] = EVENT[0] + draws.below(EVENT[1] - EVENT[0] + 1, len(parts), MOST)
    lengths[:, 1:] *= np.repeat(there, 2, axis=1)  # a missing event has no pause after it
    stop = lengths.cumsum(axis=1)
    first = draws.below(N_NOISES, len(parts))
    noise = draws.below(2 * NOISE_STEPS + 1, N_NOISES, width) - NOISE_STEPS
    n_frames = stop[:, -1]
    frame = np.arange(n_frames.sum()) + np.repeat(first - (n_frames.cumsum() - n_frames), n_frames)
    steps = noise.astype(np.int16)[frame % N_NOISES]  # from its first frame of noise on
    _add_events(steps, parts, lengths)
    features = steps.astype(np.float32)
    features /= STEPS  # a power of two: exact
    ends = stop[:, 1::2].astype(np.int32)
    begins = ends - lengths[:, 1::2].astype(np.int32)
    clips = _nested(features, np.append(0, stop[:, -1].cumsum()))
    content = np.arange(len(parts), dtype=np.int32)  # noise keeps clips apart
    places = np.where(there, begins, -1), np.where(there, ends, -1)
    return SimulatedContents("clip", Contents("features", clips), content, *places)


def _add_events(steps: np.ndarray, parts: Parts, lengths: np.ndarray) -> None:
    """Let the channel and the emotion of every event rise and fall, in place."""
    there = parts.there
    clip_start = lengths.sum(axis=1).cumsum() - lengths.sum(axis=1)
    start = (clip_start[:, None] + lengths.cumsum(axis=1))[:, 0:-1:2][there]  # (n_events,)
    length = lengths[:, 1::2][there]
    channel, value = parts.aspect[there], len(ASPECTS) + parts.value[there]
    for place in range(EVENT[1]):
        on = place < length
        height = STEPS * np.minimum(np.minimum(place + 1, length - place), 3)[on] // 3
        for column in (channel, value):
            steps[start[on] + place, column[on]] += height.astype(np.int16)


def _nested(vectors: np.ndarray, offsets: np.ndarray) -> Any:
    """Sequences of vectors as Arrow lists of lists; offsets count vectors."""
    width = vectors.shape[1]
    large = vectors.size > LARGE
    lists, whole = (pa.LargeListArray, np.int64) if large else (pa.ListArray, np.int32)
    inner = np.arange(len(vectors) + 1, dtype=whole) * width
    frames = lists.from_arrays(pa.array(inner), pa.array(vectors.ravel()))
    return lists.from_arrays(pa.array(offsets.astype(whole)), frames)
