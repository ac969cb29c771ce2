"""Pictures, and moments of videos and recordings."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus, Focus, LeftOut
from dissensus.datasets.files import (
    Folder,
    errors_in,
    labels,
    names_in_order,
    numbered,
    numbers_or_nan,
)
from dissensus.errors import DataError, counted, listed
from dissensus.files.plain import numpy_array, zip_members
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Ordinal, Scale

QUESTIONS = ("complexity", "beauty")


def load_ca_patterns216(folder: Folder, corpus: str) -> Corpus:
    """Patterns of cells (Nath et al. 2023): complexity and beauty, 0 to 100, of 216 patterns.

    Eighty annotators rated the 54 patterns of one block each. Their second answers to six patterns,
    which were shown twice, are left out.

    Questions `complexity` and `beauty`, one response each; an item is a pattern.
    """
    patterns = folder.csv("items.csv", ("item", "file", "block", "rule", "split"))
    names, numbers = ("item", "annotator"), (*QUESTIONS, "rt_ms")
    every = folder.csv("answers.csv", names, numbers, showing=pa.int32())
    checks = "num_failed_attention_checks"
    people = folder.csv("annotators.csv", ("annotator", "block"), **{checks: pa.int32()})
    items, annotators = patterns.names("item"), people.names("annotator")
    rows = every.filter(pc.equal(every["showing"], 1))
    n_again = int((every.array("showing") == 2).sum())
    scales, seconds = dict.fromkeys(QUESTIONS, Interval(0, 100)), rows.array("rt_ms") / 1000
    who: dict[str, Any] = {"annotator": "annotator", "annotators": annotators}
    questions = rows.responses(scales, items, "item", **who, what="pattern", seconds=seconds)
    again = "the same annotator's second answer"
    return Corpus.build(
        corpus,
        items,
        questions,
        annotators=annotators,
        contents={"image": folder.folder("images").pictures(patterns.list("file"))},
        item_attributes={name: patterns[name] for name in ("block", "rule")},
        annotator_attributes={"block": people["block"], "failed_checks": people[checks]},
        splits={"block": patterns["split"]},
        left_out=[LeftOut(question, again, n_again) for question in QUESTIONS],
    )


PANELS = {"conflict": ("neutral", "shape", "texture"), "edges": ("edge",)}
LATE = "na"  # no answer within 1.5 s
OBJECTS = Nominal(
    ("airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat", "chair", "clock", "dog",
     "elephant", "keyboard", "knife", "oven", "truck")
)  # fmt: skip
ATTRIBUTES = ("shape_class", "texture_class", "congruent", "shape_source")


def load_cue_conflict16(folder: Folder, corpus: str) -> Corpus:
    """Cue conflict (Geirhos et al. 2019): which of 16 objects thirty people saw in 1,280 pictures.

    A picture has the shape of one object and the texture of another. Ten annotators each were asked
    for the object (`neutral`), for its shape, and for its texture; `conflict` has all thirty.
    `edges` are 160 drawings that ten others saw.

    Question `object`; splits `source` (by the photograph of the shape) and `item`.
    """
    splits = ("split_source", "split_item")
    facts = folder.csv("items.csv", ("item", "file", "kind", *ATTRIBUTES, *splits))
    facts = facts.filter(pc.equal(facts["kind"], "edge" if corpus == "edges" else "conflict"))
    rows = folder.csv("answers.csv", ("item", "annotator", "panel", "answer", "rt_s"))
    rows = rows.filter(pc.is_in(rows["panel"], pa.array(PANELS.get(corpus, (corpus,)))))
    late = pc.equal(rows["answer"], LATE)
    n_late = pc.sum(late).as_py() or 0
    annotators = names_in_order(rows["annotator"])
    _, panel = rows.once_each(rows.codes("annotator", annotators), "panel")
    rows = rows.filter(pc.invert(late))
    with rows.errors():
        seconds = np.array(rows.list("rt_s"), dtype=float)
    items = facts.names("item")
    answers = rows.annotations(
        "answer", OBJECTS, items, "item", "annotator", annotators=annotators, seconds=seconds
    )
    return Corpus.build(
        "cue_conflict16" if corpus == "conflict" else f"cue_conflict16-{corpus}",
        items,
        {"object": answers},
        annotators=annotators,
        contents={"image": folder.folder("images").pictures(facts.list("file"))},
        item_attributes={name: facts[name] for name in ATTRIBUTES},
        annotator_attributes={"panel": panel},
        splits={name.removeprefix("split_"): facts[name] for name in splits},
        group="shape_source",
        left_out=[LeftOut("object", "no answer within 1.5 s", n_late)],
    )


TRAITS = ("att", "dom", "health", "sexdim", "trust")
SCALE = Interval(1, 7)


def load_faces_3dsk(folder: Folder, corpus: str) -> Corpus:
    """3DSK faces (DeBruine & Jones 2020): five traits of 100 faces, rated from 1 to 7.

    Each of the 2,000 annotators rated one trait of the 50 faces of one gender. A trait is a
    question; no annotator answered two of them, so `joint` is empty.

    Questions att(ractive), dom(inant), health(y), sexdim (feminine or masculine) and
    trust(worthy); an item is a face, its content the bytes of a JPEG.
    """
    faces = folder.csv("faces.csv", ("face_id", "face_gender"), face_age=pa.int32())
    texts = ("face_id", "rater_id", "rater_gender", "trait")
    ratings = folder.csv("ratings.csv.gz", texts, ("rater_age", "rating"))
    items = faces.names("face_id")
    annotators = names_in_order(ratings["rater_id"])
    annotator = annotators.codes(ratings["rater_id"])
    attributes = {key: ratings.once_each(annotator, f"rater_{key}")[1] for key in ("gender", "age")}
    ratings.codes("face_id", items, "face")
    with ratings.errors():
        SCALE.check(ratings.array("rating"))  # here, so that the row is one of the file
        Nominal(TRAITS).encode(ratings["trait"])
    questions = {
        trait: ratings.filter(pc.equal(ratings["trait"], trait)).annotations(
            "rating", SCALE, items, "face_id", "rater_id", annotators=annotators
        )
        for trait in TRAITS
    }
    files = [f"{name}.jpg" for name in items]
    return Corpus.build(
        corpus,
        items,
        questions,
        annotators=annotators,
        contents={"image": folder.folder("images").pictures(files)},
        item_attributes={"gender": faces["face_gender"], "age": faces["face_age"]},
        annotator_attributes=attributes,
    )


FEATURES = "vgg16_avg_features.npz"
PARTS = {"train": "train", "valid": "validation", "test": "test"}
SCENES = Nominal(
    ("highway", "insidecity", "tallbuilding", "street", "forest", "coast", "mountain",
     "opencountry")
)  # fmt: skip


def load_labelme_crowds(folder: Folder, corpus: str) -> Corpus:
    """LabelMe with a crowd (Rodrigues & Pereira 2018): the scene of 2,688 photographs.

    1,000 training photographs have one to three answers each, by 59 annotators; all photographs
    have gold. The content of a photograph is a vector of features of VGG16.

    Question `scene`, one of 8; items are named "train-0"; answers on the training part only.
    """
    vectors, labels_of = _arrays(folder)
    part = [name for name, rows in vectors.items() for _ in rows]
    items = Names([f"{name}-{row}" for name, rows in vectors.items() for row in range(len(rows))])
    with errors_in(folder / FEATURES):
        gold = labels(np.concatenate(labels_of), SCENES, items)
    contents, shown = Contents.distinct("features", np.concatenate(list(vectors.values())))
    rows = folder.csv("annotations.csv", ("item_id", "annotator_id"), label=pa.int32())
    with rows.errors():  # item_id is the row among the training vectors
        item = items.codes([f"train-{row}" for row in rows.list("item_id")], "item")
    parts, notes = np.array(part), []
    trained = np.isin(shown, shown[parts == "train"])
    for name in ("validation", "test"):
        if n := int((trained & (parts == name)).sum()):
            notes.append(
                f"{counted(n, 'vector')} of {name} also occur in train: a split by "
                "content keeps them together, the official split does not"
            )
    return Corpus.build(
        corpus,
        items,
        {"scene": rows.annotations(rows.array("label"), SCENES, items, item)},
        contents={"image": (contents, shown)},
        gold={"scene": gold},
        splits={"official": part},
        notes=tuple(notes),
    )


def _arrays(folder: Folder) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """Part -> vectors (n_items, n_features), and the labels (n_items,) of each part."""
    path = folder.file(FEATURES)
    members = zip_members(path)
    arrays = {name.removesuffix(".npy"): numpy_array(data, path) for name, data in members}
    missing = [name for part in PARTS for name in (f"X_{part}", f"y_{part}") if name not in arrays]
    if missing:
        raise DataError(f"{path}: damaged (no array {listed(missing)})")
    vectors = {PARTS[part]: arrays[f"X_{part}"] for part in PARTS}
    labels_of = [arrays[f"y_{part}"] for part in PARTS]
    for (part, rows), label in zip(vectors.items(), labels_of, strict=True):
        if rows.ndim != 2 or label.shape != rows.shape[:1] or rows.dtype.kind != "f":
            raise DataError(
                f"{path}: expected a vector and a label for each item of {part!r}, found "
                f"{rows.dtype} of shape {rows.shape} and {label.shape}"
            )
    widths = sorted({rows.shape[1] for rows in vectors.values()})
    if len(widths) > 1:
        shown = ", ".join(str(width) for width in widths)
        raise DataError(f"{path}: the vectors of the parts have several widths: {shown}")
    return vectors, labels_of


WITHOUT_PICTURE = "shots have no picture; read them as tvsum-shots"


def load_tvsum(folder: Folder, corpus: str) -> Corpus:
    """TVSum (Song et al. 2015): how important is this moment of a video, from 1 to 5?

    Twenty annotators rated every two seconds of each of 50 videos. An annotator of the file is a
    slot of one video: slots of different videos are different annotators, so that there are 1,000
    of them, and no two videos have one in common. Pictures are known for 329 key frames of 20
    videos. They were chosen where ratings are high.

    Question `importance`, from 1 to 5. An item of `tvsum` is a key frame (role `image`, a JPEG),
    of `tvsum-shots` a shot of two seconds, with the title of its video as text.
    """
    videos = folder.csv("videos.csv", ("video", "category", "title"))
    texts, numbers = ("video", "annotator_slot"), ["score_1_5"]
    scores = folder.csv("shot_scores.csv.gz", texts, numbers, shot_2s=pa.int64())
    n_shots, place = len(scores), "shot_2s"
    if corpus == "tvsum":
        place = "frame"
        scores = folder.csv("keyframe_scores.csv", texts, numbers, frame=pa.int64())
    known = videos.names("video")
    video = scores.codes("video", known, "video")
    with scores.errors():
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
        frames = folder.folder("keyframes").pictures(files)
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


EVENTS = "fixation_events.csv"
CODERS = Names(["DN", "IH", "JB", "JF", "JV", "KH", "MN", "MS", "PZ", "RA", "RH", "TC"])
SEEN = ("x", "y", "v")  # where the eye looks, in pixels of the screen, and how fast it moves
QUESTION = "fixation"
LISTS = "a list of time intervals for each trial, which the samples follow"
VECTORS = (
    "gaze: a sample is x, y (pixels), v (speed), 1 if the place is known else 0, 1 if the speed is "
    "known else 0; what is not known is 0"
)


def load_eye_fixations_12coders(folder: Folder, corpus: str) -> Corpus:
    """Eye fixations by twelve experts (Hooge et al. 2018): is the eye at rest in this sample?

    A trial is a sequence of samples of where a subject looked, 300 a second; an item is one sample
    of a trial.

    Question `fixation`, 0 or 1; the content is the trial, the focus the sample in it.
    """
    columns = [f"fix_{coder}" for coder in CODERS]
    types = dict.fromkeys(columns, pa.int32())
    texts = ("trial", "subject", *SEEN)
    samples = folder.csv("samples_with_12_labels.csv.gz", texts, ["time"], **types)
    trials, trial = Names.encode(samples["trial"])
    events = folder.csv(EVENTS, ("trial", "annotator_id"))
    marked = events.codes("trial", trials, "trial"), events.codes("annotator_id", CODERS, "coder")
    coded = np.zeros((len(trials), len(CODERS)), bool)  # whether a coder marked anything in a trial
    coded[marked] = True
    with samples.errors():
        starts = _starts(trial, samples.array("time"))
        frame = np.arange(len(trial)) - starts[trial]
        items = Names(numbered(samples["trial"], frame))
        annotations = _eye_annotations(samples.array(*columns), coded[trial], items)
        x, y, v = (numbers_or_nan(samples, name) for name in SEEN)
    there = [~np.isnan(x) & ~np.isnan(y), ~np.isnan(v)]
    gaze = np.stack([*np.nan_to_num([x, y, v]), *there], axis=1).astype(np.float32)
    contents, shown = Contents.distinct("features", np.split(gaze, starts[1:]))
    missing = np.nonzero(~coded)
    n_cells = int(np.bincount(trial)[missing[0]].sum())
    pairs = [f"{CODERS[c]} in {trials[t]}" for t, c in zip(*missing, strict=True)]
    absent = (
        f"{len(pairs)} pairs of coder and trial are without any fixation and taken as missing, "
        f"not as 0 ({n_cells} cells): {listed(pairs)}"
    )
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
        notes=(absent, VECTORS),
    )


def _starts(trial: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The first sample of each trial, (n_trials,)."""
    starts = np.flatnonzero(np.r_[True, np.diff(trial) != 0])
    rises = np.diff(time) > 0
    rises[starts[1:] - 1] = True
    if len(starts) != trial.max() + 1 or not rises.all():
        raise DataError("the samples of a trial must follow one another in time")
    return starts


def _eye_annotations(answer: np.ndarray, coded: np.ndarray, items: Names) -> Annotations:
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


IMPRESSIONS = {  # the names of columns -> questions
    "Happiness": "happiness", "Healthy": "healthiness", "Safe": "safety", "Lively": "liveliness",
    "Orderly": "orderliness",
}  # fmt: skip
SIX_LEVELS = Ordinal(("-3", "-2", "-1", "1", "2", "3"))
EIGHT_EMOTIONS = Nominal(
    ("worried", "happy", "neutral", "angry", "surprise", "sad", "other", "unknown")
)


def load_street(folder: Folder, corpus: str) -> Corpus:
    """STREET and AMER (Zhang et al. 2025): impressions of photographs, emotions in clips of films.

    Both corpora were announced and are not public yet. Their authors' code reads them like this; a
    cell is empty where an annotator gave no label:

        labels.csv, images/                     five impressions of 4,300 photographs of cities

            name,Happiness_1,Healthy_1,Safe_1,Lively_1,Orderly_1,Happiness_2,...,Orderly_10
            0001.jpg,-2,1,1,3,-1,2,...

        discrete-multi-annotator.csv, videos/   the emotion in clips of films, by 13 annotators

            name,discrete1,...,discrete13
            0001.mp4,happy,,worried,...

    A name may lack the ending of its file; "(12)" in it is "_12" in the file's. The split `paper`
    is the authors': 70 % for training, the rest halved, drawn with the seed 42.
    """
    kind: Kind
    scale: Scale
    if corpus == "street":
        kind, table, media, n, scale = "image", "labels.csv", "images", 10, SIX_LEVELS
        words = {f"{word}_": question for word, question in IMPRESSIONS.items()}
    else:
        kind, table, media, n = "video", "discrete-multi-annotator.csv", "videos", 13
        scale, words = EIGHT_EMOTIONS, {"discrete": "emotion"}
    columns = {name: [f"{word}{k}" for k in range(1, n + 1)] for word, name in words.items()}
    rows = folder.csv(table, ("name", *(name for own in columns.values() for name in own)))
    items = rows.names("name")
    annotators = Names([f"A{k}" for k in range(1, n + 1)])
    questions = {}
    for question, own in columns.items():
        labels_of = np.array([rows[name].to_pylist() for name in own], dtype=object).T
        item, annotator = np.nonzero(labels_of != "")
        answer = pa.array(labels_of[item, annotator], pa.string())
        questions[question] = rows.annotations(
            answer, scale, items, item, annotator, annotators=annotators
        )
    paths = [str(path.resolve()) for path in _media(folder.folder(media), items)]
    contents: dict[str, Any] = {kind: Contents.distinct(kind, pa.array(paths, pa.string()))}
    return Corpus.build(
        corpus, items, questions, annotators=annotators, contents=contents,
        splits={"paper": _seventy_percent(len(items))},
    )  # fmt: skip


def _media(folder: Folder, items: Names) -> list[Path]:
    files = {
        name: path for path in sorted(folder.path.iterdir()) for name in (path.stem, path.name)
    }
    names = [re.sub(r" ?\((\d+)\)", r"_\1", item) for item in items]
    return [files.get(item) or files.get(name) or folder.file(item)
            for item, name in zip(items, names, strict=True)]  # fmt: skip


def _seventy_percent(n: int) -> list[str]:
    """The parts that scikit-learn's `train_test_split` draws twice with the seed 42."""
    order = np.random.RandomState(42).permutation(n)
    n_rest = math.ceil(0.3 * n)
    rest = order[:n_rest]
    again = np.random.RandomState(42).permutation(n_rest)
    parts = np.full(n, "train", dtype=object)
    parts[rest] = "dev"
    parts[rest[again[: math.ceil(0.5 * n_rest)]]] = "test"
    return list(parts)


load_amer = load_street
