"""Folders in the layouts of licensed and unpublished corpora, with made-up contents and answers."""

from __future__ import annotations

import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

N_CLIPS, N_RATERS = 48, 4  # ratings of each clip, by 6 annotators
SPEAKERS = tuple(f"{gender}0{number}" for gender in "FM" for number in range(1, 7))


def ratings(clip: int, levels: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Who rated a clip, and their activation and valence, which is higher in later words."""
    generator = np.random.default_rng(clip)
    who = generator.permutation(6)[:N_RATERS]
    level = 1 + (levels - 1) * (clip % 6) / 5
    both = level + who[:, None] / 5 + generator.normal(0, 0.7, (N_RATERS, 2))
    activation, valence = np.rint(both).clip(1, levels).T
    return [f"WORKER{n:08d}" for n in who], activation, valence


def words(clip: int) -> str:
    return " ".join(["tea", "mug", "rain", "sun", "song", "dance"][clip % 6 :])


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sound(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(bytes(3200))


def msp_improv(folder: Path) -> None:
    """Activation is the other way round in the file."""
    lines = []
    for clip in range(N_CLIPS):
        speaker = SPEAKERS[clip // 4]
        name = f"S{1 + clip % 20:02d}A-{speaker}-P-FM{clip:02d}"
        who, activation, valence = ratings(clip, 5)
        means = f"A:{6 - activation.mean():.4f}; V:{valence.mean():.4f}; D:NaN ; N:NaN;"
        lines.append(f"UTD-IMPROV-{name}.avi; N; {means}")
        lines += [
            f"{one}; Neutral; Neutral; A:{6 - a:.1f}; V:{v:.1f}; D:NaN; N:NaN;"
            for one, a, v in zip(who, activation, valence, strict=True)
        ] + [""]
        sound(folder / f"session{speaker[-1]}" / f"MSP-IMPROV-{name}.wav")
        write(folder / "Text" / f"MSP-IMPROV-{name}.txt", words(clip))
    write(folder / "Evaluation.txt", "\n".join(lines))


def msp_podcast(folder: Path, third: str = "Test1") -> None:
    """Version 1.11; 1.12 has quotes around details, whose emotions may have commas.

    Args:
        third: the part of the third speakers; copies of a challenge have no test part.
    """
    stated, detailed = [], []
    for clip in range(N_CLIPS):
        name = f"MSP-PODCAST_{clip // 6:04d}_{clip:04d}"
        who, activation, valence = ratings(clip, 7)
        part = ("Train", "Development", third, "Train")[clip // 6 % 4]
        means = f"{activation.mean():.4f},{valence.mean():.4f},4.0"
        stated.append(f"{name}.wav,N,{means},{clip // 6},Female,{part}")
        detailed += [
            f'{name}.wav,"{one}; Other-so; Neutral,Tired; A:{a:.1f}; V:{v:.1f}; D:4.0;"'
            for one, a, v in zip(who, activation, valence, strict=True)
        ]
        sound(folder / "Audios" / f"{name}.wav")
        write(folder / "Transcripts" / f"{name}.txt", words(clip))
    header = "FileName,EmoClass,EmoAct,EmoVal,EmoDom,SpkrID,Gender,Split_Set"
    write(folder / "Labels" / "labels_consensus.csv", "\n".join([header, *stated, ""]))
    header = "FileName,EmoDetail"
    write(folder / "Labels" / "labels_detailed.csv", "\n".join([header, *detailed, ""]))


def iemocap(folder: Path) -> None:
    """One session, as some have it."""
    session, dialog = folder / "Session1", "Ses01F_impro01"
    rated, spoken = ["% header", ""], []
    for clip in range(N_CLIPS):
        name = f"{dialog}_{'FM'[clip % 2]}{clip:03d}"
        _, activation, valence = ratings(clip, 5)
        means = f"[{valence.mean():.4f}, {activation.mean():.4f}, 3.0000]"
        rated.append(f"[{clip}.0000 - {clip}.9000]\t{name}\tneu\t{means}")
        rated += [
            f"A-E{n + 1}:\tval {v:.0f}; act {a:.0f}; dom  3;\t()"
            for n, (a, v) in enumerate(zip(activation, valence, strict=True))
        ] + [""]
        spoken.append(f"{name} [{clip}.0000-{clip}.9000]: {words(clip)}")
        sound(session / "sentences" / "wav" / dialog / f"{name}.wav")
    write(session / "dialog" / "EmoEvaluation" / f"{dialog}.txt", "\n".join(rated))
    write(session / "dialog" / "transcriptions" / f"{dialog}.txt", "\n".join(spoken))


def muse(folder: Path) -> None:
    """With the file of the authors' loader that names annotators."""
    columns = "Sentence_name,Duration,Gender,Type,Ques_Type"
    of_question = ("{0}Activation_Mean", "{0}Valence_Mean", "{0}Activation_Annotation",
                   "{0}Valence_Annotation")  # fmt: skip
    names = [name.format(prefix) for prefix in ("", "C_") for name in of_question]
    rows = [",".join([columns, *names, "S_Activation", "S_Valence"])]
    known = ["FileName,soft_act_labels,soft_val_labels,annotators"]
    for clip in range(N_CLIPS):
        name, kind = f"{clip % 8:02d}_DR-100_{clip:04d}_1_sentence_1.wav", ("NS", "S")[clip % 2]
        who, activation, valence = ratings(clip, 9)
        lists = [";".join(f"{n:.0f}" for n in each) for each in (activation, valence)]
        means = f"{activation.mean():.4f},{valence.mean():.4f}"
        rows.append(f"{name},2.0,F,{kind},neutral,{means},{','.join(lists)},,,,,4,6")
        cells = ([*activation.astype(int), 4], [*valence.astype(int), 6], [*who, "self_report_00"])
        known.append(",".join([name, *(f'"{[*map(_plain, each)]}"' for each in cells)]))
        place = "NotStressed" if kind == "NS" else "Stressed"
        sound(folder / place / "Audio" / name)
        transcript = folder / "Combined" / "Utterance Transcripts"
        write(transcript / name.replace(".wav", ".txt"), words(clip))
    survey = (
        "Emotion data from crowdsourcing "
        "(C is when annotators had access to all previous sentences).csv"
    )
    write(folder / "SurveyInformation" / survey, "\n".join([*rows, ""]))
    write(folder / "muse_annotators.csv", "\n".join([*known, ""]))


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


IMPRESSIONS = ("Happiness", "Healthy", "Safe", "Lively", "Orderly")
EMOTIONS = ("worried", "happy", "neutral", "angry", "surprise", "sad", "other", "unknown")


def street(folder: Path) -> None:
    """Pictures of one colour, which the impressions follow."""
    columns = [f"{word}_{k}" for k in range(1, 11) for word in IMPRESSIONS]
    rows = [",".join(["name", *columns])]
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for clip in range(N_CLIPS):
        generator = np.random.default_rng(clip)
        levels = (clip % 6 + generator.integers(-1, 2, len(columns))).clip(0, 5)
        labels = [str((-3, -2, -1, 1, 2, 3)[level]) for level in levels]
        rows.append(",".join([f"{clip:04d}.jpg", *labels]))
        picture = Image.new("RGB", (64, 64), (40 * (clip % 6), 80, 120))
        picture.save(folder / "images" / f"{clip:04d}.jpg")
    write(folder / "labels.csv", "\n".join([*rows, ""]))


def amer(folder: Path) -> None:
    """Clips of one colour; each of the first ten annotators labels every third clip."""
    rows = [",".join(["name", *(f"discrete{k}" for k in range(1, 14))])]
    (folder / "videos").mkdir(parents=True, exist_ok=True)
    for clip in range(N_CLIPS):
        labels = [EMOTIONS[(clip + (k > 10)) % 8] if k > 10 or (clip + k) % 3 == 0 else ""
                  for k in range(1, 14)]  # fmt: skip
        rows.append(",".join([f"{clip:04d}.mp4", *labels]))
        film(folder / "videos" / f"{clip:04d}.mp4", (30 * (clip % 8), 80, 120))
    write(folder / "discrete-multi-annotator.csv", "\n".join([*rows, ""]))


def film(path: Path, colour: tuple[int, int, int], n_frames: int = 8) -> None:
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("mpeg4", rate=8)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        pixels = np.full((64, 64, 3), colour, np.uint8)
        for _ in range(n_frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        container.mux(stream.encode())


FOLDERS: dict[str, Callable[[Path], None]] = {
    "msp_improv": msp_improv,
    "msp_podcast": msp_podcast,
    "iemocap": iemocap,
    "muse": muse,
}
PANELS: dict[str, Callable[[Path], None]] = {"street": street, "amer": amer}
