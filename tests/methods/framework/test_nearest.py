"""Newcomers are predicted as the annotator of the training who agrees best with their answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import dissensus as ds
from dissensus import Annotations, Corpus, Interval, Names, Nominal, Ordinal
from dissensus.errors import DataError
from dissensus.methods import AnnotatorHeads
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers
from dissensus.metrics import concordance
from dissensus.scales import MultiLabel, Scale
from dissensus.training import Training
from tests.crowds import feature_crowd

N_SEEN, N_ITEMS = 6, 12
SCALES: dict[str, Scale] = {
    "interval": Interval(0, 10),
    "ordinal": Ordinal(("0", "1", "2", "3", "4")),
    "nominal": Nominal(("a", "b", "c")),
    "multi-label": MultiLabel(("a", "b", "c")),
}


@dataclass(eq=False)
class Recited(Method):
    """Predicts what is in a table, (n_items, n_annotators), whatever it learns from."""

    table: Any = None
    name: ClassVar[str] = "recited"
    individual: ClassVar[bool] = True

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None: ...

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        value = self.table[item, annotator]
        scales = self.learned_.questions
        return {q: Answers(scale.one_hot(value) * 1.0, value) for q, scale in scales.items()}

    def weights(self) -> dict[str, np.ndarray]:
        return {}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None: ...


def _corpus(
    rows: list[tuple[int, str, Any]], scale: Scale, annotators: list[str], name: str = "c"
) -> Corpus:
    item, names, answer = zip(*rows, strict=True)
    known = Names(annotators)
    answers = Annotations.from_arrays(
        np.array(item), known.codes(list(names)), np.array(answer), scale,
        items=Names.range(N_ITEMS), annotators=known,
    )  # fmt: skip
    return Corpus.build(name, answers.items, {"q": answers})


def _values(scale: Scale, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    if isinstance(scale, Interval):
        return generator.uniform(0, 10, shape)
    n = 8 if isinstance(scale, MultiLabel) else scale.n_columns
    return generator.integers(0, n, shape)


def _model(scale: Scale, seed: int = 0) -> Recited:
    """Annotator p5 has one answer in training, p4 two, ...; p0 none."""
    generator = np.random.default_rng(seed)
    table = _values(scale, generator, (N_ITEMS, N_SEEN))
    rows = [(i, f"p{a}", table[i, a]) for a in range(1, N_SEEN) for i in range(N_SEEN - a)]
    return Recited(table).fit(_corpus(rows, scale, [f"p{a}" for a in range(N_SEEN)]))


def _brute_force(model: Recited, scale: Scale, answers: dict[int, Any], without: int) -> int:
    """The nearest seen annotator by the answers to other items, -1 if there is none."""
    items = [i for i in answers if i != without]
    if len(items) < 2:
        return -1
    own = np.array([answers[i] for i in items])
    best, chosen = -np.inf, -1
    for a in range(1, N_SEEN):  # in the order of ties: p1 has most answers
        predicted = model.table[items, a]
        if isinstance(scale, Interval | Ordinal):
            if len(set(own.tolist())) == 1:
                return -1
            agreement = concordance(own.astype(float), predicted.astype(float))
        else:
            agreement = float((own == predicted).mean())
        if agreement > best + 1e-9:
            best, chosen = agreement, a
    return chosen


def _newcomers(scale: Scale, seed: int = 1) -> tuple[Corpus, dict[str, dict[int, Any]]]:
    generator = np.random.default_rng(seed)
    answers: dict[str, dict[int, Any]] = {}
    for number, n in enumerate([1, 2, 3, 5, 8, 12, 4, 4]):
        items = generator.permutation(N_ITEMS)[:n].tolist()
        values = _values(scale, generator, (n,))
        if number == 6:
            values[:] = values[0]  # always the same
        answers[f"n{number}"] = dict(zip(items, values, strict=True))
    rows = [(i, name, v) for name, own in answers.items() for i, v in own.items()]
    rows += [(0, "p1", rows[0][2])]
    return _corpus(rows, scale, ["p1", *answers]), answers


@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_is_that_of_a_plain_search_without_the_item(kind: str, seed: int) -> None:
    scale = SCALES[kind]
    model, (corpus, answers) = _model(scale, seed), _newcomers(scale, seed + 10)
    prediction = model.predict(corpus, unknown="nearest")["q"].by_annotator
    assert prediction is not None
    n_matched = 0
    for item, annotator, value in zip(
        prediction.item, prediction.annotator, prediction.value, strict=True
    ):
        name = prediction.annotators[annotator]
        if name == "p1":
            assert value == model.table[item, 1]
            continue
        nearest = _brute_force(model, scale, answers[name], item)
        if nearest >= 0:
            n_matched += 1
            assert value == model.table[item, nearest], (name, item)
        elif isinstance(scale, Interval):
            assert value == pytest.approx(model.table[item, 1:].mean())
    assert n_matched >= 20
    notes = " ".join(model.notes_)
    assert "predicted as the annotator who agrees best with their answers to other items" in notes
    assert "fewer than 2 answers to other items, or all the same, from annotator 'n0'" in notes


@pytest.mark.parametrize("kind", SCALES)
def test_an_answer_is_never_used_to_predict_its_own_item(kind: str) -> None:
    scale = SCALES[kind]
    model, (corpus, _) = _model(scale), _newcomers(scale)
    before = model.predict(corpus, unknown="nearest")["q"]
    annotations, changed = corpus["q"], {}
    for item in range(N_ITEMS):
        here = annotations.item == item
        other = annotations.answer.copy()
        other[here] = _values(scale, np.random.default_rng(item), (int(here.sum()),))
        rows = [
            (int(i), annotations.annotators[a], v)
            for i, a, v in zip(
                annotations.item, annotations.annotator_codes("test"), other, strict=True
            )
        ]
        after = model.predict(
            _corpus(rows, scale, list(corpus.annotators)), unknown="nearest"
        )["q"]  # fmt: skip
        np.testing.assert_array_equal(after.distribution[item], before.distribution[item])
        one, two = before.by_annotator, after.by_annotator
        assert one is not None and two is not None
        np.testing.assert_array_equal(one.value[one.item == item], two.value[two.item == item])
        changed[item] = not np.array_equal(one.value, two.value)
    assert any(changed.values())  # answers do matter for other items


def test_an_enrolment_corpus_matches_newcomers_once() -> None:
    scale = SCALES["interval"]
    model, (corpus, _) = _model(scale), _newcomers(scale)
    enrolment = _corpus(
        [(i, "zoe", float(model.table[i, 3]) + 0.01) for i in range(4)], scale, ["zoe"], "early"
    )
    for unanswered in (corpus, corpus.select(items=[0, 5])):
        pairs = model.predict(
            unanswered, annotators=["zoe"], unknown="nearest", enrolment=enrolment
        )["q"].by_annotator
        assert pairs is not None
        items = unanswered.items.codes(list(unanswered.items))
        np.testing.assert_array_equal(pairs.value, model.table[items, 3])
    same = model.predict(corpus, unknown="nearest")["q"]
    again = model.predict(corpus, unknown="nearest", enrolment=corpus)["q"]
    np.testing.assert_array_equal(same.distribution, again.distribution)
    with pytest.raises(DataError, match=r"^enrolment is for unknown='nearest' \(--unknown nea"):
        model.predict(corpus, enrolment=enrolment)
    other = _corpus([(0, "zoe", 3.0)], Interval(0, 5), ["zoe"])
    with pytest.raises(DataError, match=r"^c: 'q' has another scale than training; answers of n"):
        model.predict(corpus, unknown="nearest", enrolment=other)


def test_ties_go_to_the_one_with_more_answers_then_by_name() -> None:
    scale = SCALES["nominal"]
    table = np.zeros((N_ITEMS, 4), int)
    rows = [(i, name, 0) for name, n in (("b", 2), ("d", 3), ("c", 3), ("a", 1)) for i in range(n)]
    model = Recited(table).fit(_corpus(rows, scale, ["b", "d", "c", "a"]))
    table[5] = [0, 1, 2, 0]
    newcomer = _corpus([(i, "zoe", 0) for i in (5, 6, 7)], scale, ["zoe"])
    pairs = model.predict(newcomer, unknown="nearest")["q"].by_annotator
    assert pairs is not None
    assert pairs.value[0] == 2  # "c" and "d" have three answers each
    restored = ds.methods.framework.learned.Learned.from_config(model.learned_.to_config())
    np.testing.assert_array_equal(restored.n_answers["q"], [2, 3, 3, 1])


def test_an_item_that_was_answered_twice_is_left_out_whole() -> None:
    scale = Interval(0, 10)
    model = _model(scale)
    rows = [(i, "zoe", float(model.table[i, 2])) for i in (1, 2, 3)]
    answers = Annotations.from_arrays(
        np.array([0, 0, 1, 2, 3]), np.zeros(5, int),
        np.array([9.9, 0.1, *(v for _, _, v in rows)]), scale,
        items=Names.range(N_ITEMS), annotators=Names(["zoe"]), repeats="keep",
    )  # fmt: skip
    corpus = Corpus.build("c", answers.items, {"q": answers})
    pairs = model.predict(corpus, unknown="nearest")["q"].by_annotator
    assert pairs is not None and pairs.value[0] == model.table[0, 2]


def test_annotators_of_another_corpus_are_newcomers_even_with_the_same_names() -> None:
    scale = Interval(0, 10)
    model = _model(scale)
    rows = [(i, "p1", float(model.table[i, 4])) for i in range(5)]
    prediction = model.predict(_corpus(rows, scale, ["p1"], "elsewhere"), unknown="nearest")
    assert prediction["q"].by_annotator is not None
    np.testing.assert_array_equal(prediction["q"].by_annotator.value, model.table[:5, 4])
    np.testing.assert_allclose(
        prediction["q"].consensus[:5], model.table[:5, 4]
    )  # votes as the nearest


def test_a_model_of_heads_is_saved_and_predicts_the_same(tmp_path: Path) -> None:
    crowd = feature_crowd("ordinal", n_items=60)
    known, newcomers = np.arange(crowd.n_annotators) > 0, np.arange(crowd.n_annotators) == 0
    train = crowd.select(annotators=known)
    model = AnnotatorHeads(encoder="features", training=Training(epochs=3)).fit(train)
    test = crowd.select(annotators=newcomers)
    one = model.predict(test, unknown="nearest", density="soft")
    assert "agrees best" in " ".join(model.notes_)
    model.save(tmp_path / "m")
    two = ds.load(tmp_path / "m").predict(test, unknown="nearest", density="soft")
    assert one["q"].by_annotator is not None and two["q"].by_annotator is not None
    np.testing.assert_array_equal(one["q"].by_annotator.value, two["q"].by_annotator.value)
    np.testing.assert_array_equal(one["q"].distribution, two["q"].distribution)
