"""Drawings of items: they are XML, and everything that was said is in them."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from typer.testing import CliRunner

from dissensus.annotations import Annotations
from dissensus.cli import app
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Focus, Rationales
from dissensus.drawing import MOST_NAMED, PALETTE, WIDTH, draw
from dissensus.drawing.attention import blended, heat_map
from dissensus.errors import DataError
from dissensus.prediction import Attention, ByAnnotator, Prediction, Predictions
from dissensus.scales import Interval, MultiLabel
from dissensus.simulate import PRESETS, image, ratings, sequence, text, truth

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)


def words(drawing: str) -> list[str]:
    """Every text of a drawing, in order."""
    return ["".join(result.itertext()) for result in parsed(drawing).iter(f"{SVG}text")]


def shapes(drawing: str, kind: str) -> list[dict[str, str]]:
    """The attributes of all shapes of a kind."""
    return [one.attrib for one in parsed(drawing).iter(f"{SVG}{kind}")]


def lines(drawing: str, **wanted: str) -> list[tuple[float, ...]]:
    """Where lines with these attributes run."""
    return [
        tuple(float(line[end]) for end in ("x1", "y1", "x2", "y2"))
        for line in shapes(drawing, "line")
        if wanted.items() <= line.items()
    ]


def fills(drawing: str) -> list[str]:
    return [box["fill"] for box in shapes(drawing, "rect")]


def spans_of(corpus: Corpus, item: int) -> Rationales:
    assert corpus.rationales is not None
    return corpus.rationales.take(corpus.rationales.item == item)


def small(
    rows: Sequence[tuple[str, ...]], shown: str = "so good", scale: Any = None, **facts: Any
) -> Corpus:
    answers = Annotations.from_rows(rows, scale)
    contents = {"text": Contents.distinct("text", [shown, "another"])}
    return Corpus.build("mine", ["t1", "t2"], {"q": answers}, contents=contents, **facts)


def marked(*spans: tuple[int, int, int]) -> Rationales:
    """(annotator, start, stop) on the first item."""
    who, start, stop = (np.array(column, dtype=int) for column in zip(*spans, strict=True))
    n = len(spans)
    same = [pa.array([word] * n) for word in ("q", "text", "word")]
    return Rationales(np.zeros(n, int), who, same[0], same[1], start, stop, same[2])


# ---- every preset ----


@pytest.mark.parametrize("preset", PRESETS)
def test_everybody_is_in_the_legend_with_their_answer(preset: str) -> None:
    corpus = PRESETS[preset](n_items=5, n_annotators=9, labels_per_item=9)
    for item in range(5):
        drawing = draw(corpus, item)
        output = words(drawing)
        for code, name in enumerate(corpus.annotators):
            answers = []
            for question, labels in corpus.questions.items():
                (row,) = np.flatnonzero((labels.item == item) & (labels.annotator == code))
                (answer,) = labels.take(np.array([row])).answers()
                answers.append(f"{question} {answer:g}" if preset == "ratings" else answer)
            assert f"{name}: {', '.join(answers)}" in output
        assert output[0].startswith(f"simulated-{preset}, item {item}: ")


@pytest.mark.parametrize("preset", PRESETS)
def test_nothing_leaves_the_drawing(preset: str) -> None:
    corpus = PRESETS[preset](n_items=5, n_annotators=20, labels_per_item=20)
    root = parsed(draw(corpus, range(5)))
    height = float(root.attrib["height"])
    for group in root.iter(f"{SVG}g"):
        match = re.match(r"translate\((\S+) (\S+)\)", group.attrib.get("transform", ""))
        if match is None:
            continue
        for line in group.iter(f"{SVG}line"):
            x = [float(line.attrib[end]) + float(match[1]) for end in ("x1", "x2")]
            y = [float(line.attrib[end]) + float(match[2]) for end in ("y1", "y2")]
            assert 0 <= min(x) <= max(x) <= WIDTH and 0 <= min(y) <= max(y) <= height


# ---- texts ----


def test_words_are_underlined_where_they_were_marked() -> None:
    spans = marked((0, 3, 7), (1, 0, 2), (1, 3, 7))
    corpus = small([("t1", "ann", "yes"), ("t1", "bob", "no")], rationales=spans)
    drawing = draw(corpus, "t1")
    assert words(drawing) == ["mine, item t1: q", "so good", "ann: yes", "bob: no"]
    letter = 8.4
    ann = lines(drawing, stroke=PALETTE[0], **{"stroke-width": "3"})
    bob = lines(drawing, stroke=PALETTE[1], **{"stroke-width": "3"})
    assert len(ann) == 1
    assert ann[0] == pytest.approx((3 * letter, 20, 7 * letter, 20), abs=0.1)
    assert [line[::2] for line in bob] == [
        pytest.approx((0, 2 * letter), abs=0.1),
        pytest.approx((3 * letter, 7 * letter), abs=0.1),
    ]
    assert [line[1] for line in bob] == [20, 25]  # below ann's, where both marked


def test_spans_with_several_labels_name_them() -> None:
    spans = marked((0, 3, 7), (1, 0, 2), (1, 3, 7))
    spans = replace(spans, kind=pa.array(["praise", "praise", "irony"]))
    corpus = small([("t1", "ann", "yes"), ("t1", "bob", "no")], rationales=spans)
    drawing = draw(corpus, "t1")
    assert words(drawing)[2:5] == ["praise", "praise", "irony"]
    bob = lines(drawing, stroke=PALETTE[1], **{"stroke-width": "3"})
    assert [line[1] for line in bob] == [35, 50]  # none is over the label of another


def test_a_long_text_is_broken_between_words_and_keeps_its_marks() -> None:
    shown = "many words " * 30 + "\n" + "x" * 200
    corpus = small([("t1", "ann", "yes")], shown, rationales=marked((0, 0, len(shown)), (0, 5, 5)))
    drawing = draw(corpus, "t1")
    output = words(drawing)[1:-1]
    assert "".join(output).replace(" ", "") == re.sub(r"\s", "", shown)
    assert max(len(line) for line in output) * 8.4 <= WIDTH - 40
    assert len(lines(drawing, stroke=PALETTE[0], **{"stroke-width": "3"})) == len(output)


def test_the_focus_of_an_item_has_a_ground_of_its_own() -> None:
    focus = Focus("text", np.array([[3.0], [np.nan]]), np.array([[7.0], [np.nan]]))
    corpus = small([("t1", "ann", "yes"), ("t2", "ann", "no")], focus=focus)
    boxes = [box for item in ("t1", "t2") for box in shapes(draw(corpus, item), "rect")]
    assert [box["x"] for box in boxes if box["fill"] == "#FFF3B0"] == ["25.2"]


# ---- pictures ----


def test_a_picture_is_embedded_and_looked_at_boxes_are_framed() -> None:
    corpus = image(n_items=3, n_annotators=9, labels_per_item=9)
    drawing, known = draw(corpus, 1), truth(corpus)
    (picture,) = shapes(drawing, "image")
    data = picture["href"].removeprefix("data:image/png;base64,")
    assert base64.b64decode(data) == corpus.contents["image"][1]
    scale, corner = 336 / 48, float(picture["x"])
    spans = spans_of(corpus, 1)
    ranks: dict[tuple[int, ...], int] = {}
    for row in range(len(spans)):
        colour, dash = PALETTE[row % 7], ("", "7 3")[row // 7]
        top, left = spans.start[row]
        out = 2 + 4 * ranks.get((top, left), 0)  # who shares a box stands outside of it
        ranks[top, left] = ranks.get((top, left), 0) + 1
        (frame,) = (
            box
            for box in shapes(drawing, "rect")
            if box.get("stroke") == colour and box.get("stroke-dasharray", "") == dash
        )
        assert float(frame["x"]) == pytest.approx(left * scale + corner - out, abs=0.1)
        assert float(frame["y"]) == pytest.approx(top * scale + corner - out, abs=0.1)
        assert float(frame["width"]) == pytest.approx(12 * scale + 2 * out, abs=0.1)
    assert len(ranks) <= known.parts.there[1].sum()


def picture_file(width: int, height: int, kind: str = "JPEG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), (200, 10, 10)).save(file, kind)
    return file.getvalue()


@pytest.mark.parametrize(
    ("file", "kind", "size"),
    [
        (picture_file(100, 50, "JPEG"), "jpeg", ("336", "168")),
        (picture_file(20, 40, "GIF"), "gif", ("168", "336")),
    ],
)
def test_other_kinds_of_pictures(file: bytes, kind: str, size: tuple[str, str]) -> None:
    (picture,) = shapes(draw(pictured(file), "t1"), "image")
    assert picture["href"].startswith(f"data:image/{kind};base64,")
    assert (picture["width"], picture["height"]) == size


def pictured(file: bytes, **facts: Any) -> Corpus:
    answers = Annotations.from_rows([("t1", "ann", "yes")])
    contents = {"image": Contents.distinct("image", [file])}
    return Corpus.build("mine", ["t1"], {"q": answers}, contents=contents, **facts)


@pytest.mark.parametrize("file", [b"", b"BM nothing", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"GIF8"])
def test_a_picture_that_cannot_be_drawn_is_said_so(file: bytes) -> None:
    assert words(draw(pictured(file), "t1"))[1:] == [
        "<a picture in a format that cannot be drawn>",
        "ann: yes",
    ]


def test_the_focus_in_a_picture_is_framed() -> None:
    focus = Focus("image", np.array([[10.0, 20.0]]), np.array([[30.0, 60.0]]))
    boxes = shapes(draw(pictured(picture_file(100, 50), focus=focus), "t1"), "rect")
    (frame,) = (box for box in boxes if box.get("stroke") == "#000000")
    assert frame["stroke-dasharray"] == "4 4"
    assert float(frame["width"]) == pytest.approx(40 * 3.36 + 4, abs=0.1)


# ---- sequences ----


def test_frames_have_bars_and_answers_beside_them() -> None:
    corpus = sequence(n_items=3, n_annotators=6, labels_per_item=6)
    drawing, spans = draw(corpus, 2), spans_of(corpus, 2)
    n_frames = len(corpus.contents["clip"][2])
    across = WIDTH - 40
    for row in range(6):
        (bar,) = lines(drawing, stroke=PALETTE[row], **{"stroke-width": "8"})
        place = across * spans.start[row, 0] / n_frames, across * spans.stop[row, 0] / n_frames
        assert bar[::2] == pytest.approx(place, abs=0.1)
    output = words(drawing)
    answers = corpus["emotion"].take(corpus["emotion"].item == 2).answers()
    assert sorted(output[2:8]) == sorted(answers)
    assert output[8:11] == ["0", f"{n_frames / 2:g}", f"{n_frames} frames"]


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0], [5.0, 5.0], [[1.0, float("nan")]]])
def test_odd_features_are_drawn(values: list[Any]) -> None:
    answers = Annotations.from_rows([("t1", "ann", "yes")])
    contents = {"features": Contents.distinct("features", [np.array(values)])}
    corpus = Corpus.build("mine", ["t1"], {"q": answers}, contents=contents)
    assert len(shapes(draw(corpus, "t1"), "image")) == 1


# ---- ratings ----


def circles(drawing: str) -> list[tuple[float, float]]:
    return [(float(one["cx"]), float(one["cy"])) for one in shapes(drawing, "circle")]


def test_ratings_of_two_questions_lie_in_a_square() -> None:
    corpus = ratings(n_items=3, n_annotators=5, labels_per_item=5)
    drawing = draw(corpus, 1)
    joint = corpus.joint("valence", "activation")
    rows = joint.item == 1
    valence, activation = (joint.answers[name][rows] for name in ("valence", "activation"))
    for (x, y), right, up in zip(circles(drawing), valence, activation, strict=True):
        assert x == pytest.approx(210 + (right + 1) * 150, abs=0.1)
        assert y == pytest.approx(324 - (up + 1) * 150, abs=0.1)
    output = words(drawing)
    assert {"valence", "activation"} <= set(output)


def test_one_question_is_a_line_and_equal_ratings_are_stacked() -> None:
    rows = [("t1", "ann", "2"), ("t1", "bob", "2"), ("t1", "eve", "10")]
    drawing = draw(small(rows, scale=Interval(0, 10)), "t1")
    assert circles(drawing) == [(180, 120), (180, 108), (660, 120)]
    assert {"ann: 2", "bob: 2", "eve: 10", "0", "10"} <= set(words(drawing))


def test_very_many_ratings_are_bars() -> None:
    corpus = ratings(n_items=1, n_annotators=200, labels_per_item=200)
    drawing = draw(corpus, 0, "valence")
    assert circles(drawing) == []
    bars = [box for box in shapes(drawing, "rect") if box["fill"] == "#999999"]
    counts = np.bincount(Interval(-1, 1).bins(corpus["valence"].answer), minlength=20)
    heights = [float(bar["height"]) for bar in bars]
    np.testing.assert_allclose(heights, 100 * counts / counts.max(), atol=0.1)


# ---- who answered, and what ----


def one_item(answers: Annotations, **facts: Any) -> Corpus:
    return Corpus.build("mine", ["t1"], {"q": answers}, **facts)


def labelled(*rows: tuple[str, str], **options: Any) -> Annotations:
    return Annotations.from_rows([("t1", *row) for row in rows], **options)


YES = labelled(("ann", "yes"))
PAIR = {"premise": ["it rains"], "hypothesis": ["it is wet"], "speech": [None]}
CLIP = {"speech": Contents.distinct("audio", ["speech.wav"])}
SECONDS = replace(marked((0, 1, 4)), role=pa.array(["speech"]))
RATINGS = Annotations.from_arrays(["t1", "t1"], None, np.array([2.0, 5.0]), Interval(0, 10))
VOTES = Annotations.from_arrays(["t1", "t1"], None, ["cat", "dog"], count=[7, 1])
SETS = labelled(("ann", "joy,fear"), ("ann", ""), scale=MultiLabel(("joy", "fear")), repeats="keep")
WORDS: dict[str, tuple[Corpus, list[str]]] = {
    "no question": (Corpus.build("mine", ["t1"], {}), ["no answers"]),
    "no answers": (small([("t2", "ann", "yes")]), ["so good", "no answers"]),
    "several roles": (
        one_item(YES, contents={r: Contents.distinct("text", v) for r, v in PAIR.items()}),
        ["premise", "it rains", "hypothesis", "it is wet", "ann: yes"],
    ),
    "seconds of a recording": (
        one_item(YES, contents=CLIP, rationales=SECONDS),
        ["<audio>", "yes", "0", "2", "4 seconds", "ann: yes"],
    ),
    "a recording without spans": (one_item(YES, contents=CLIP), ["<audio>", "ann: yes"]),
    "votes": (one_item(VOTES), ["7 annotators: cat", "unknown annotator: dog"]),
    "sets, repeated": (one_item(SETS), ["ann: joy + fear / (none)"]),
    "anonymous ratings": (
        one_item(RATINGS),
        ["0", "10", "q", "unknown annotator: 2", "unknown annotator: 5"],
    ),
    "signs of XML": (
        small([("t1", 'a<b>"&', "<&>"), ("t1", "bob", "]]>")], "1 < 2 & 3 > 2 \x00\x1b \ufffe"),
        ["1 < 2 & 3 > 2 \ufffd\ufffd \ufffd", 'a<b>"&: <&>', "bob: ]]>"],
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_of_a_drawing(name: str) -> None:
    corpus, wanted = WORDS[name]
    assert words(draw(corpus, "t1"))[1:] == wanted


def test_large_crowds_have_no_names_next_to_points_and_are_cut_in_the_legend() -> None:
    corpus = ratings(n_items=2, n_annotators=30, labels_per_item=30)
    drawing = draw(corpus, 0)
    assert len(circles(drawing)) == 30
    assert not set(corpus.annotators) & set(words(drawing))
    output = words(draw(text(n_items=2, n_annotators=100, labels_per_item=100), 0))
    assert output[-1] == f"and {100 - MOST_NAMED} more"
    assert sum(line.startswith("annotator-") for line in output) == MOST_NAMED


def test_who_marked_without_answering_and_marks_of_nobody() -> None:
    rows = [("t1", "ann", "yes"), ("t2", "bob", "no")]
    drawing = draw(small(rows, rationales=marked((1, 0, 2), (-1, 3, 7))), "t1")
    assert words(drawing)[2:] == ["ann: yes", "bob: no answer", "unknown annotator: marked"]
    assert len(lines(drawing, stroke="#777777", **{"stroke-width": "3"})) == 1


def test_several_items_stand_below_one_another() -> None:
    corpus = small([("t1", "ann", "yes"), ("t2", "ann", "no")])
    both = draw(corpus, ["t2", "t1"])
    assert words(both) == [*words(draw(corpus, "t2")), *words(draw(corpus, "t1"))]
    heights = [float(parsed(draw(corpus, item)).attrib["height"]) for item in ("t1", "t2")]
    assert float(parsed(both).attrib["height"]) > max(heights) + 40


# ---- predictions and attention ----


def looked(corpus: Corpus, role: str, places: np.ndarray, weight: Any, n: int = 2) -> Predictions:
    """Predictions of n annotators for the first item; `weight`: (n, n_positions)."""
    question = next(iter(corpus.questions))
    scale = corpus[question].scale
    item, annotator = np.zeros(n, dtype=int), np.arange(n)
    offsets = np.append(0, np.full(corpus.n_items, len(places)))
    maps = Attention.empty(role, item, places, offsets)
    maps.weight[:] = np.ravel(weight)
    mass = np.tile(np.arange(1.0, scale.n_columns + 1), (corpus.n_items, 1))
    mass /= mass.sum(axis=1, keepdims=True)
    value = scale.consensus(mass[item])
    pairs = ByAnnotator(item, annotator, corpus.annotators, value, mass[item])
    whole = Prediction(scale, corpus.items, mass, scale.consensus(mass), pairs, (maps,))
    return Predictions({question: whole}, "queries", corpus.name)


def test_words_are_the_darker_the_more_attention_they_have() -> None:
    corpus = small([("t1", "ann", "no"), ("t1", "bob", "yes")])
    places = np.array([[[0, 0]], [[0, 2]], [[3, 7]]])
    drawing = draw(
        corpus, 0, predictions=looked(corpus, "text", places, [[0.5, 0.4, 0.1], [0, 0, 1]])
    )
    texts = words(drawing)
    assert "ann: no, predicted yes (0.67)" in texts and "bob: yes, predicted yes (0.67)" in texts
    assert "attention to text, queries" in texts and "0.67" in texts and "0.50" in texts
    inside, (ann, bob) = fills(drawing), PALETTE[:2]
    assert inside.count(blended(ann, 0.75)) == 1 == inside.count(blended(bob, 0.75))
    assert inside.count(blended(ann, 0.75 * 0.25)) == 1  # .1 where the most is .4; not the mark


def test_annotators_keep_the_colour_of_the_legend_and_are_chosen_by_name() -> None:
    corpus = small([("t1", "ann", "no"), ("t2", "eve", "yes"), ("t1", "bob", "yes")])
    answers = looked(corpus, "text", np.array([[[0, 2]], [[3, 7]]]), [[1, 0]] * 3, n=3)

    def headings(drawing: str) -> list[str]:
        return [text for text in words(drawing) if "predicted " in text]

    names = [heading.split(":")[0] for heading in headings(draw(corpus, 0, predictions=answers))]
    assert names == ["ann", "bob", "eve"]  # who answered comes first
    drawing = draw(corpus, 0, predictions=answers, annotators=["bob"])
    assert headings(drawing) == ["bob: yes, predicted yes (0.67)"]
    assert blended(PALETTE[1], 0.75) in drawing


def test_heat_maps_cover_pictures_and_are_hottest_where_attention_is() -> None:
    edges = np.array([0, 16, 32, 48])
    cells = [
        [[edges[r], edges[r + 1]], [edges[c], edges[c + 1]]] for r in range(3) for c in range(3)
    ]
    weight = np.full(9, 0.02)
    weight[5] = 0.84  # the middle row, at the right
    values = heat_map(weight, np.array(cells), 48, 48)
    assert values.shape == (112, 112) and values.min() == 0 and values.max() == 1
    assert values[56, 100] > 0.9 and values[10, 10] < 0.05
    assert not heat_map(np.full(9, 1 / 9), np.array(cells), 48, 48).any()
    corpus = image(n_items=2, n_annotators=6)
    drawing = draw(
        corpus, 0, predictions=looked(corpus, "image", np.array(cells), [weight, weight])
    )
    pictures = [picture["href"] for picture in shapes(drawing, "image")]
    assert len(pictures) == 5  # the picture, and twice the picture under a map
    over = base64.b64decode(pictures[-1].split(",")[1])
    pixels = np.array(Image.open(io.BytesIO(over)))
    assert pixels.shape == (112, 112, 4)
    assert pixels[56, 100, 0] > pixels[56, 100, 2] and pixels[10, 10, 3] < 40  # red, transparent


def test_curves_of_attention_over_frames() -> None:
    corpus = sequence(n_items=2, n_annotators=6)
    n_frames = len(corpus.contents["clip"][corpus.content["clip"][0]])
    places = np.stack([np.arange(n_frames), np.arange(1, n_frames + 1)], axis=1)[:, None]
    weight = np.full((2, n_frames), 0.5 / (n_frames - 1))
    weight[:, 3] = 0.5
    drawing = draw(corpus, 0, predictions=looked(corpus, "clip", places, weight))
    curves = shapes(drawing, "path")
    assert len(curves) == 2 and curves[0]["stroke"] != curves[1]["stroke"]
    heights = [float(y) for y in re.findall(r"[\d.]+ ([\d.]+)", curves[0]["d"])]
    assert max(heights) - min(heights) == 40  # the most attention has the whole height
    assert f"{n_frames} frames" in words(drawing)


def test_predicted_ratings_are_drawn_behind_those_that_were_given() -> None:
    corpus = ratings(n_items=2, n_annotators=6)
    places = np.array([[[0, 2]], [[3, 7]]])
    drawing = draw(corpus, 0, "valence", looked(corpus, "text", places, [[1, 0], [0, 1]]))
    n_bins = corpus["valence"].scale.n_columns
    assert fills(drawing).count("#9ecae1") == n_bins + 1 == fills(drawing).count("#444444")


def test_the_command_draws_what_is_named(tmp_path: Path) -> None:
    corpus = small([("t1", "ann", "no"), ("t1", "bob", "yes")])
    corpus.save(tmp_path / "corpus")
    looked(corpus, "text", np.array([[[0, 2]], [[3, 7]]]), [[1, 0]] * 2).save(tmp_path / "answers")
    arguments = ["draw", str(tmp_path / "corpus"), "--show", "t1", "--annotators", "bob",
                 "--predictions", str(tmp_path / "answers"), "-o"]  # fmt: skip
    CliRunner().invoke(app, [*arguments, str(tmp_path / "t.svg")], catch_exceptions=False)
    shown = words((tmp_path / "t.svg").read_text())
    assert "bob: yes, predicted yes (0.67)" in shown and "answers" in shown
    CliRunner().invoke(app, [*arguments, str(tmp_path / "t.png")], catch_exceptions=False)
    with Image.open(tmp_path / "t.png") as picture:
        assert picture.width == 2 * WIDTH
    with pytest.raises(DataError, match=r"t\.gif: pictures are saved as \.svg, \.png or \.pdf"):
        CliRunner().invoke(app, [*arguments, str(tmp_path / "t.gif")], catch_exceptions=False)
    (blind,) = looked(corpus, "text", np.array([[[0, 2]]]), [[1]] * 2).values()
    plain = Predictions({"q": replace(blind, attention=())}, "plain", corpus.name)
    plain.save(tmp_path / "plain")
    arguments[-2] = str(tmp_path / "plain")
    with pytest.raises(DataError, match=r"plain: no attention .* `dissensus predict` with --att"):
        CliRunner().invoke(app, [*arguments, str(tmp_path / "u.svg")], catch_exceptions=False)
