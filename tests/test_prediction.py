"""Prediction and Predictions: what every method answers."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.prediction import Attention, ByAnnotator, JointDensity, Prediction, Predictions
from dissensus.prediction.answer_files import joined
from dissensus.scales import SCALES, Interval, MultiLabel, Nominal, Ordinal, Scale
from tests.error_texts import error_text

SCALE_OF: dict[str, Scale] = {
    "nominal": Nominal(("no", "maybe", "yes"), 1.0 - np.eye(3)),
    "ordinal": Ordinal(("-2", "-1", "1", "2")),
    "interval": Interval(0, 10, n_bins=4),
    "multi-label": MultiLabel(("joy", "fear", "anger")),
}


def prediction(scale: Scale, *, full: bool = True, seed: int = 0) -> Prediction:
    """Random answers to 5 items; with `full` every optional part, annotator 'c' not asked."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.ones(scale.n_columns), 5)
    items = Names(["t1", "t2", "t3", "t4", "t5"])
    if not full:
        return Prediction(scale, items, shares, scale.consensus(shares))
    by_pair = random.dirichlet(np.ones(scale.n_columns), 4).astype(np.float32)
    pairs = ByAnnotator(
        np.array([4, 0, 0, 2]),
        np.array([3, 1, 0, 3]),
        Names(["a", "b", "c", "d"]),
        scale.consensus(by_pair),
        by_pair,
    )
    attention = tuple(
        Attention(
            role,
            random.random(9).astype(np.float32),
            np.array([0, 2, 4, 6, 9]),
            random.random((7, n_axes, 2)),
            np.array([0, 2, 2, 5, 5, 7]),
        )
        for role, n_axes in (("text", 1), ("image", 2))
    )
    members = np.stack([scale.consensus(np.roll(shares, n, axis=0)) for n in range(3)])
    disputed = random.random(5)
    consensus = scale.consensus(shares)
    return Prediction(scale, items, shares, consensus, pairs, attention, members, disputed)


def assert_same(one: Any, other: Any) -> None:
    """Equal in every field, to the bit."""
    for field in fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs, err_msg=field.name, strict=True)
        elif isinstance(mine, ByAnnotator):
            assert_same(mine, theirs)
        elif field.name == "attention":
            for seen, read in zip(mine, theirs, strict=True):
                assert_same(seen, read)
        else:
            assert mine == theirs, field.name


# ---- the promise of every scale ----


@pytest.fixture(params=SCALES)
def scale(request: pytest.FixtureRequest) -> Scale:
    return SCALE_OF[request.param]


@pytest.mark.parametrize("full", [True, False])
def test_write_then_read_is_the_identity(scale: Scale, full: bool, tmp_path: Path) -> None:
    built = prediction(scale, full=full)
    Predictions({"q": built}, "single", "mine").save(tmp_path / "answers")
    again = Predictions.load(tmp_path / "answers")
    assert (again.method, again.corpus, list(again)) == ("single", "mine", ["q"])
    assert_same(built, again["q"])
    assert [field.name for field in fields(built) if getattr(again["q"], field.name) is None] == (
        [] if full else ["by_annotator", "members", "disagreement"]
    ) + ["index", "trained"]


def test_a_table_for_pandas_holds_names(scale: Scale) -> None:
    built = prediction(scale)
    assert built.by_annotator is not None
    table = built.to_pandas()
    certain = scale.confidence(built.distribution, built.consensus)
    if isinstance(scale, Interval):
        certain = scale.spread(built.distribution)
    np.testing.assert_array_equal(
        table["sd" if scale.kind == "interval" else "confidence"], certain
    )
    assert list(table["item"]) == ["t1", "t2", "t3", "t4", "t5"]
    shares = [name for name in table.columns if name.startswith("share.")]
    assert (
        shares[0]
        == {
            "nominal": "share.no",
            "ordinal": "share.-2",
            "interval": "share.bin-0",
            "multi-label": "share.joy",
        }[scale.kind]
    )
    np.testing.assert_array_equal(table[shares].to_numpy(), built.distribution)
    np.testing.assert_array_equal(table["disagreement"], built.disagreement)
    rows = built.to_table(by="annotator").to_pylist()
    assert [(row["item"], row["annotator"]) for row in rows] == [
        ("t5", "d"), ("t1", "b"), ("t1", "a"), ("t3", "d"),
    ]  # fmt: skip
    answers = scale.decode(built.by_annotator.value)
    if scale.kind == "ordinal":
        answers = [int(level) for level in answers]
    assert [row["answer"] for row in rows] == [list(a) if type(a) is tuple else a for a in answers]
    assert error_text(prediction(scale, full=False).to_table, "annotator") == (
        "no answers of annotators were predicted; use by='item'"
    )
    assert error_text(built.to_table, "value") == (
        "by must be 'item' or 'annotator', found 'value'"
    )


# ---- the mapping ----


def test_predictions_are_a_mapping_from_question_to_prediction() -> None:
    built = prediction(SCALE_OF["nominal"])
    both = Predictions({"valence": built, "arousal": built}, "single", "mine")
    assert len(both) == 2 and list(both) == ["valence", "arousal"] and both["arousal"] is built
    assert "valence" in both and "humour" not in both
    assert both.get("arousal") is built and both.get("humour") is None
    assert error_text(both.__getitem__, "humour") == (
        "no prediction for 'humour'; choose from 'valence', 'arousal'"
    )


def test_questions_keep_their_order_and_names(tmp_path: Path) -> None:
    names = ["b/c", "a", "é 😀"]
    examples = {name: prediction(SCALE_OF["ordinal"], seed=n) for n, name in enumerate(names)}
    Predictions(examples, "single", "mine").save(tmp_path / "answers")
    again = Predictions.load(tmp_path / "answers")
    assert list(again) == names
    for name in names:
        assert_same(examples[name], again[name])


def asked(item: list[int], annotator: list[int], value: list[float]) -> Prediction:
    scale = Interval(0, 10, n_bins=2)
    pairs = ByAnnotator(np.array(item), np.array(annotator), Names(["a", "b"]), np.array(value))
    return Prediction(scale, Names.range(3), np.full((3, 2), 0.5), np.full(3, 5.0), pairs)


def test_joint_answers_are_paired_row_for_row() -> None:
    valence = asked([2, 0, 1], [0, 1, 1], [1.0, 2.0, 3.0])
    arousal = asked([0, 1, 2, 0], [1, 0, 0, 0], [7.0, 8.0, 9.0, 6.0])
    joint = Predictions({"v": valence, "a": arousal}, "m", "c").joint("v", "a")
    rows = {
        (int(i), int(p)): (v, a)
        for i, p, v, a in zip(
            joint["item"], joint["annotator"], joint["v"], joint["a"], strict=True
        )
    }
    assert rows == {(0, 1): (2.0, 7.0), (2, 0): (1.0, 9.0)}
    both = Predictions({"v": valence, "a": replace(arousal, by_annotator=None)}, "prior", "mine")
    text = "a joint prediction needs predicted answers of annotators to every question"
    assert error_text(both.joint, "v", "a") == text


# ---- awkward sizes ----


def test_many_annotators_with_long_names_keep_their_codes(tmp_path: Path) -> None:
    names = Names([f"{'annotator' * 20}-{n}" for n in range(15_000)])
    random = np.random.default_rng(0)
    who = random.permutation(15_000)[:12_000]
    pairs = ByAnnotator(np.zeros(12_000, int), who, names, np.ones(12_000))
    scale = Interval(0, 10, n_bins=2)
    built = Prediction(scale, Names.range(1), np.full((1, 2), 0.5), np.full(1, 5.0), pairs)
    Predictions({"q": built}, "m", "c").save(tmp_path / "answers")
    again = Predictions.load(tmp_path / "answers")["q"]
    assert again.by_annotator is not None and again.by_annotator.annotators == names
    np.testing.assert_array_equal(again.by_annotator.annotator, who)


def test_no_items_pairs_or_positions_are_saved_too(tmp_path: Path) -> None:
    scale = SCALE_OF["nominal"]
    pairs = ByAnnotator(np.zeros(0, int), np.zeros(0, int), Names(["a"]), np.zeros(0, int))
    attention = Attention.empty("text", pairs.item, np.zeros((0, 1, 2)), np.zeros(1, int))
    built = Prediction(scale, Names([]), np.zeros((0, 3)), np.zeros(0, int), pairs, (attention,))
    Predictions({"q": built}, "m", "c").save(tmp_path / "answers")
    assert_same(built, Predictions.load(tmp_path / "answers")["q"])


# ---- damage ----


def saved(folder: Path) -> Predictions:
    examples = {name: prediction(scale) for name, scale in SCALE_OF.items()}
    answers = Predictions(examples, "single", "mine")
    answers.save(folder)
    return answers


def test_an_unknown_format_number_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "answers")
    path = tmp_path / "answers/predictions.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 7'))
    assert error_text(Predictions.load, tmp_path / "answers") == (
        f"{path}: format number 7, this version reads 1; "
        "read it with the version of dissensus that wrote it"
    )


def test_a_corpus_folder_is_not_taken_for_predictions(tmp_path: Path) -> None:
    (tmp_path / "corpus.json").write_text("{}")
    assert error_text(Predictions.load, tmp_path) == (
        f"{tmp_path}: not a dissensus predictions folder: predictions.json is missing"
    )
    answers = Predictions({}, "m", "c")
    assert error_text(answers.save, tmp_path) == (
        f"{tmp_path}: already exists and is not a dissensus predictions folder; choose another path"
    )


# ---- attention ----


def test_maps_that_questions_share_are_written_once(tmp_path: Path) -> None:
    one = prediction(SCALE_OF["nominal"])
    other = replace(prediction(SCALE_OF["nominal"], seed=1), attention=one.attention)
    apart = prediction(SCALE_OF["ordinal"])
    predictions = Predictions({"a": one, "b": other, "c": apart}, "m", "c")
    predictions.save(tmp_path / "answers")
    names = sorted(path.name for path in (tmp_path / "answers").glob("*.attention-0.parquet"))
    assert names == ["question-0.attention-0.parquet", "question-2.attention-0.parquet"]
    again = Predictions.load(tmp_path / "answers")
    for question, written in predictions.items():
        assert_same(written, again[question])
    assert again["a"].attention[0] is again["b"].attention[0]


# ---- joint densities ----


def density(*questions: str, bins: int = 4) -> JointDensity:
    """Random densities of 5 items."""
    shape = (bins,) * len(questions)
    mass = np.random.default_rng(3).dirichlet(np.ones(bins ** len(questions)), 5)
    scales = (Interval(1, 5), Ordinal(("low", "middle", "high")))[: len(questions)]
    return JointDensity(
        questions, scales, Names([f"t{n}" for n in range(1, 6)]), mass.reshape(5, *shape)
    )


def test_densities_are_saved_and_read_back(tmp_path: Path) -> None:
    one, two = density("valence"), density("valence", "arousal")
    by_question = {"valence": prediction(SCALE_OF["interval"], full=False)}
    Predictions(by_question, "grid-density", "clips", [one, two]).save(tmp_path / "out")
    back = Predictions.load(tmp_path / "out")
    assert list(back.densities) == [("valence",), ("valence", "arousal")]
    for written, read in zip((one, two), back.densities.values(), strict=True):
        np.testing.assert_array_equal(read.mass, written.mass)
        assert (read.scales, read.items, read.name) == (written.scales, written.items, written.name)


def test_marginals_and_cells_of_a_density() -> None:
    joint = density("valence", "arousal")
    assert joint.shape == (4, 4) and joint.cells.shape == (5, 16)
    np.testing.assert_allclose(joint.marginal("arousal"), joint.mass.sum(axis=1))
    table = joint.to_table()
    assert table.column_names == ["item", "cell.valence", "cell.arousal", "mass"]
    assert table.num_rows == 80 and table["mass"][6].as_py() == joint.mass[0, 1, 2]
    with pytest.raises(DataError, match="no density over 'joy'; choose from 'valence', 'arousal'"):
        joint.marginal("joy")


def test_tables_of_questions_are_joined_whatever_their_types() -> None:
    first = pa.table({"item": ["a"], "answer": [["x", "y"]], "team": [1]})
    second = pa.table({"item": ["b"], "answer": [2.5], "team": ["red"]})
    assert joined([first, second]).to_pylist() == [
        {"item": "a", "answer": "x,y", "team": "1"},
        {"item": "b", "answer": "2.5", "team": "red"},
    ]
    with pytest.raises(DataError, match="there is no question"):
        joined([])
