"""IEMOCAP (Busso et al. 2008): the emotion of 10,039 turns of ten actors in dialogs.

A licensed corpus; this reads the folder as it is distributed (IEMOCAP_full_release). Valence,
activation and dominance are rated from 1 to 5. The actors' ratings of themselves are left out: they
are not in the means of the source either. There is no official split. Sessions whose folder is
missing are not read, but one has to be there.

Every rated clip is kept, with one annotator too. `clip_ratings.usable_clips` makes the selection
of Tavernor et al. (2024): it leaves out clips with fewer than two annotators and clips whose
stored mean is not that of their ratings, and counts them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.clip_ratings import OTHERS, QUESTIONS, Rating, clip_corpus, sound_files
from dissensus.datasets.files import present_folder, text_lines
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import Interval

SESSIONS = tuple(f"Session{number}" for number in range(1, 6))
RATINGS, TRANSCRIPTS, SOUNDS = "dialog/EmoEvaluation", "dialog/transcriptions", "sentences/wav"
SCALE = Interval(1, 5)
OWN = "the actor's own rating"
UNREADABLE = "not a number from 1 to 5"

_TURN = re.compile(
    r"\[(?P<start>[\d.]+) - (?P<stop>[\d.]+)\]\s+(?P<clip>\S+)\s+(?P<emotion>\S+)\s+"
    r"\[(?P<means>[^\]]*)\]\s*"
)
_CLIP = re.compile(r"(?P<dialog>Ses(?P<session>\d\d)[FM]_\w+)_(?P<gender>[FM])\w*\d+")
_RATING = re.compile(
    r"A-(?P<annotator>\w+):\s*val(?P<valence>[^;]*);\s*act(?P<activation>[^;]*);"
    r"\s*dom(?P<dominance>[^;]*);.*"
)
_SPOKEN = re.compile(r"(?P<clip>Ses\S+)\s+\[[^\]]*\]:?\s*(?P<text>.*)")


@dataclass
class _Turns:
    """What the files with ratings contain."""

    emotion: dict[str, str] = field(default_factory=dict)  # by clip, as are means and seconds
    means: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    ratings: list[Rating] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)  # by question and reason


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `valence`, `activation` and `dominance`, from 1 to 5; an item is a turn.

    Annotators are `E1`, `E2`, ...; a speaker is the session and F or M.
    """
    turns, texts, sounds = _Turns(), dict[str, str | None](), dict[str, Path]()
    present = [session for session in SESSIONS if (folder / session).is_dir()]
    for session in present or SESSIONS[:1]:
        inside = present_folder(folder, session)
        for path in _text_files(present_folder(inside, RATINGS)):
            _read_ratings(path, turns)
        for path in _text_files(present_folder(inside, TRANSCRIPTS)):
            spoken = (_SPOKEN.fullmatch(line.strip()) for line in text_lines(path))
            texts |= {match["clip"]: match["text"] or None for match in spoken if match}
        sounds |= sound_files(present_folder(inside, SOUNDS))
    if not turns.ratings:
        raise DataError(f"{folder}: no ratings in {SESSIONS[0]}/{RATINGS} and the other sessions")
    clips = Names(list(turns.emotion))
    named = [match for clip in clips if (match := _CLIP.fullmatch(clip))]
    return clip_corpus(
        corpus,
        folder,
        clips,
        turns.ratings,
        SCALE,
        notes=tuple(f"{session} is not there" for session in SESSIONS if session not in present),
        means=turns.means,
        sounds=sounds,
        sound_folder=folder,
        texts=texts,
        attributes={
            "speaker": [f"{match['session']}{match['gender']}" for match in named],
            **{key: [match[key] for match in named] for key in ("gender", "session", "dialog")},
            "emotion": list(turns.emotion.values()),
            "seconds": list(turns.seconds.values()),
        },
        left_out=[LeftOut(question, why, n) for (question, why), n in turns.left_out.items()],
    )


def _text_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.txt") if not path.name.startswith("._"))


def _read_ratings(path: Path, turns: _Turns) -> None:
    """Add the turns of one dialog: `[start - end] name emotion [v, a, d]`, then its ratings."""
    clip = None
    for number, text in enumerate(text_lines(path), 1):
        where = f"{path}, line {number}"
        if text.startswith("["):
            clip = _read_turn(text.strip(), where, turns)
        elif text.startswith(("A-", "C-")) and clip is None:
            raise DataError(f"{where}: a rating without a turn before it")
        elif text.startswith("C-"):
            turns.left_out["emotion", OTHERS] += 1
        elif text.startswith("A-"):
            _read_rating(text.strip(), where, str(clip), turns)


def _read_turn(text: str, where: str, turns: _Turns) -> str:
    """Add a turn; its name is returned."""
    turn = _TURN.fullmatch(text)
    try:
        if turn is None or _CLIP.fullmatch(turn["clip"]) is None:
            raise ValueError
        means = [float(mean) for mean in turn["means"].split(",")]
        seconds = float(turn["stop"]) - float(turn["start"])
        if len(means) != len(QUESTIONS):
            raise ValueError
    except ValueError:
        raise DataError(
            f"{where}: expected '[START - END] Ses01F_impro01_F000 EMOTION [V, A, D]', found "
            f"{text[:60]!r}"
        ) from None
    clip = turn["clip"]
    if clip in turns.emotion:
        raise DataError(f"{where}: turn {clip!r} is there for the second time")
    turns.emotion[clip], turns.means[clip], turns.seconds[clip] = turn["emotion"], means, seconds
    return clip


def _read_rating(text: str, where: str, clip: str, turns: _Turns) -> None:
    """Add a line such as `A-E1: val 3; act 2; dom 2; ()`. A blank number is no answer."""
    line = _RATING.fullmatch(text)
    if line is None:
        raise DataError(f"{where}: expected 'A-E1: val 3; act 2; dom 2;', found {text[:60]!r}")
    own = not line["annotator"].startswith("E")
    values = []
    for question in QUESTIONS:
        number = line[question].strip()
        values.append(float("nan") if own else _on_scale(number))
        if number and np.isnan(values[-1]):
            turns.left_out[question, OWN if own else UNREADABLE] += 1
    if not np.isnan(values).all():
        turns.ratings.append(Rating(clip, line["annotator"], values))


def _on_scale(number: str) -> float:
    """The number; nan if it is none of the scale."""
    try:
        value = float(number)
    except ValueError:
        return float("nan")
    return value if SCALE.low <= value <= SCALE.high else float("nan")
