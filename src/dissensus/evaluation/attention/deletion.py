"""Predict again with part of each content deleted: words, cells of a picture, stretches of time."""

from __future__ import annotations

import io
import math
import re
import wave
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dissensus.annotations import Annotations
from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.prediction import Attention, Prediction
from dissensus.scales import Interval, MultiLabel

if TYPE_CHECKING:
    from dissensus.methods import Method

FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5)  # of the positions (of a text: words) that are deleted
LONGEST = 3600.0  # seconds of a recording that are read
RATE = 16_000
Order = Literal["attention", "random"]


def deletion_confidence(
    method: Method,
    corpus: Corpus,
    question: str,
    prediction: Prediction,
    attention: Attention,
    pairs: np.ndarray,
    by: Order,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """The confidence in each pair's predicted answer, whole and after each step of deletion.

    Of values and levels it is the probability of the answer; of sets the mean over values; of
    ratings, 1 minus the distance to the whole content's rating, as a share of the scale.

    Args:
        corpus: of the predicted items, in the same order.
        pairs: rows of `prediction.by_annotator`.
        by: what is deleted first: the positions with most attention, or any.

    Returns:
        (n_pairs,) and (n_pairs, n_steps).
    """
    assert prediction.by_annotator is not None
    own, role = prediction.by_annotator, attention.role.split("&")[0]
    if role not in corpus.contents:
        raise DataError(
            f"{corpus.name}: nothing can be deleted from {role!r}, which is not a content"
        )
    generator = np.random.default_rng(seed)
    kind, values, items = corpus.contents[role].kind, [], []
    for pair in pairs:
        item = int(own.item[pair])
        weight = attention.of_pair(int(pair)).astype(float)
        places = attention.places_of(item)
        value = _value(corpus.contents[role], int(corpus.content[role][item]))
        units = _units(kind, value, places, weight)
        order = np.argsort(-units if by == "attention" else generator.random(len(units)))
        for fraction in (0.0, *FRACTIONS):
            n = min(math.ceil(fraction * len(units)), len(units) - 1)
            values.append(_without(kind, value, places, order[:n]))
            items.append(item)
    steps = len(FRACTIONS) + 1
    shortened = _corpus(corpus, role, kind, values, np.array(items))
    names = [own.annotators[int(code)] for code in own.annotator[pairs]]
    wanted = [(str(n), name) for n, name in enumerate(np.repeat(names, steps))]
    predicted = method.predict(shortened, annotators=wanted, consensus="all", same_annotators=True)
    confidence = _confidence(predicted[question], steps)
    return confidence[:, 0], confidence[:, 1:]


def _confidence(prediction: Prediction, steps: int) -> np.ndarray:
    """The confidence in the answer of the first of each pair's steps, (n_pairs, steps)."""
    pairs, scale = prediction.by_annotator, prediction.scale
    assert pairs is not None
    order = np.argsort(pairs.item, kind="stable")
    value = pairs.value[order].reshape(-1, steps)
    if isinstance(scale, Interval):
        away = np.abs(value - value[:, :1]) / (scale.high - scale.low)
        return np.asarray(1 - away)
    if pairs.distribution is None:
        raise DataError("the method predicts no distribution for annotators")
    mass = pairs.distribution[order].reshape(-1, steps, pairs.distribution.shape[1])
    if isinstance(scale, MultiLabel):
        chosen = mass[:, :1] > 0.5
        return np.asarray(np.where(chosen, mass, 1 - mass).mean(axis=2))
    return np.asarray(np.take_along_axis(mass, value[:, :1, None].astype(int), axis=2)[..., 0])


def _corpus(corpus: Corpus, role: str, kind: Kind, values: list[Any], items: np.ndarray) -> Corpus:
    """An item for each shortened content, without answers; other roles stay as they are."""
    contents: dict[str, Any] = {
        other: (of_role, corpus.content[other][items]) for other, of_role in corpus.contents.items()
    }
    contents[role] = Contents.distinct(kind, values)
    none: dict[str, Annotations] = {}
    names = Names.range(len(items))
    return Corpus.build(corpus.name, names, none, contents=contents)


# ---- contents ----


def _value(contents: Contents, code: int) -> Any:
    """The content as something that can be shortened."""
    if contents.kind == "text":
        return str(contents[code])
    if contents.kind == "features":
        return np.array(contents[code], dtype=np.float32)
    if contents.kind == "image":
        from dissensus.encoders.framework.media import picture

        return np.array(picture(contents, code).image.convert("RGB"))
    if contents.kind == "audio":
        from dissensus.encoders.framework.media import sound

        return sound(contents.bytes_of(code), LONGEST, RATE)[0]
    raise DataError(f"nothing can be deleted from {contents.kind} contents")


def _units(kind: Kind, value: Any, places: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The attention on each thing that can be deleted: words, or positions."""
    weight = np.where((places[..., 1] > places[..., 0]).all(axis=1), weight, 0)
    if kind != "text":
        return weight
    words = np.array([match.span() for match in re.finditer(r"\S+", value)]).reshape(-1, 2)
    met = (places[:, 0, 0] < words[:, 1:]) & (words[:, :1] < places[:, 0, 1])
    return np.asarray((met * weight).sum(axis=1))


def _without(kind: Kind, value: Any, places: np.ndarray, deleted: np.ndarray) -> Any:
    """The content without some of its units, in the form that `Contents` takes."""
    if kind == "text":
        words = value.split()
        gone = set(deleted.tolist())
        return " ".join(word for at, word in enumerate(words) if at not in gone)
    if kind == "features":
        kept = np.ones(len(value), dtype=bool)
        for begin, end in places[deleted, 0].astype(int):
            kept[begin:end] = False
        return value[kept] if kept.any() else value[:1]
    if kind == "image":
        return _picture(value, places, deleted)
    kept = np.ones(len(value), dtype=bool)
    for begin, end in np.rint(places[deleted, 0] * RATE).astype(int):
        kept[begin:end] = False
    return _recording(value[kept] if kept.any() else value[:1])


def _picture(pixels: np.ndarray, places: np.ndarray, deleted: np.ndarray) -> bytes:
    """A PNG in which cells have the mean colour of the picture."""
    from PIL import Image

    blanked = pixels.copy()
    for (top, bottom), (left, right) in np.rint(places[deleted]).astype(int):
        blanked[top:bottom, left:right] = np.rint(pixels.mean(axis=(0, 1)))
    file = io.BytesIO()
    Image.fromarray(blanked).save(file, "PNG")
    return file.getvalue()


def _recording(samples: np.ndarray) -> bytes:
    """A WAV file with one channel."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((samples.clip(-1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()
