"""What every preset promises: frozen, known through and through, hard without the annotator."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.simulate import PRESETS, image, sequence, text, truth
from dissensus.simulate.truth import Truth
from tests.error_texts import error_text

SMALL = {"n_items": 40, "n_annotators": 6, "labels_per_item": 3, "seed": 1}
BEST = {  # with and without knowing the annotator, of the default sizes
    ("text", "emotion"): (0.828, 0.514),
    ("image", "shape"): (0.828, 0.509),
    ("sequence", "emotion"): (0.828, 0.520),
    ("ratings", "valence"): (0.0687, 0.2114),
    ("ratings", "activation"): (0.0692, 0.2153),
}
FROZEN = {  # of the default sizes, and of others
    "text": (
        "d52d7a48a2e6a684960ae9a67400ecc1725e505dd765db21fe6aa415db245976",
        "b03573844157eac7e5bc2e2fb35f4adab411394bc08eae1d51675215b2a0b747",
    ),
    "image": (
        "622e35701696a4359406594bb7ce013da1ba4165b1d6cc30e0c5afee3e0f269b",
        "1780948efaa9575998ec155264e8b44699ef1e94a35b42fb4060b74cb40e7c05",
    ),
    "sequence": (
        "298b2d93bf2727c77fe18a3a6a577221e913aa94a8aa68285a0376100ee468e1",
        "d28950f2f56b617ffd3b659e58e1ba40eb09a81d23e50c19dc615808ca4f8918",
    ),
    "ratings": (
        "83927d902531289803d00a6add853d77dbaa7d09f9219a210e69b1e2fd9da4ec",
        "b80f9aebc7010b6e3fd6bfe2c0a465b4bc6411c46259d5338367b3578e4ea108",
    ),
}


@pytest.fixture(params=list(PRESETS.values()), ids=list(PRESETS))
def preset(request: pytest.FixtureRequest) -> Callable[..., Corpus]:
    built: Callable[..., Corpus] = request.param
    return built


def every_pair(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    annotators, items = np.arange(corpus.n_annotators), np.arange(corpus.n_items)
    return items.repeat(len(annotators)), np.tile(annotators, len(items))


def looked_at(known: Truth, corpus: Corpus) -> np.ndarray:
    """The part that each rationale is, (n_rationales,)."""
    spans = corpus.rationales
    assert spans is not None
    start, stop = (
        ends.reshape(*known.parts.aspect.shape, -1)[spans.item]
        for ends in (known.start, known.stop)
    )
    here = (start == spans.start[:, None]).all(axis=2) & (stop == spans.stop[:, None]).all(axis=2)
    assert (here.sum(axis=1) == 1).all()
    return here.argmax(axis=1)


def blind_auroc(known: Truth, item: np.ndarray, looked: np.ndarray) -> float:
    """How well the crowd's mean focus finds the part looked at: per item, then over items.

    Items with a single part leave nothing to find.
    """
    several = known.parts.there.sum(axis=1)[item] > 1
    item, looked = item[several], looked[several]
    score, rows = known.blind_focus()[item], np.arange(len(item))
    others = known.parts.there[item]
    others[rows, looked] = False
    own = score[rows, looked][:, None]
    wins = ((own > score) + 0.5 * (own == score)) * others
    auroc = wins.sum(axis=1) / others.sum(axis=1)
    n_looks = np.bincount(item)
    return float((np.bincount(item, auroc)[n_looks > 0] / n_looks[n_looks > 0]).mean())


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 over strings, pixels and integers; features are whole steps, ratings hundredths."""
    spans, (role,) = corpus.rationales, corpus.contents
    assert spans is not None
    contents, digest = corpus.contents[role], hashlib.sha256()
    for item in range(corpus.n_items):
        shown: Any = contents[corpus.content[role][item]]
        if contents.kind == "image":
            with Image.open(io.BytesIO(contents.bytes_of(corpus.content[role][item]))) as picture:
                shown = picture.convert("RGB").tobytes()
        if contents.kind == "features":
            shown = np.rint(np.array(shown) * 64).astype("<i8").tobytes()
        digest.update(shown.encode() if isinstance(shown, str) else shown)
    columns = [spans.item, spans.annotator, spans.start, spans.stop]
    for answers in corpus.questions.values():
        columns += [answers.item, answers.annotator_codes("test"), answers.answer * 100]
        digest.update(repr(answers.scale.to_dict().get("values")).encode())
    digest.update("\n".join([*corpus.items, *corpus.annotators]).encode())
    for column in columns:
        digest.update(np.rint(column).astype("<i8").tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("name", PRESETS)
def test_the_preset_is_frozen(name: str) -> None:
    sizes = {"n_items": 77, "n_annotators": 13, "labels_per_item": 6, "seed": 9}
    other = PRESETS[name](**sizes, **({} if name == "ratings" else {"n_values": 8}))
    assert (fingerprint(PRESETS[name]()), fingerprint(other)) == FROZEN[name]


def test_the_file_of_a_picture_is_frozen() -> None:
    file = image().contents["image"].bytes_of(0)  # not compressed, so zlib has no say
    wanted = "ccef82b34840501f0da60a6780c0aee6fbcd41c3105f4a8140cd1697cd563716"
    assert hashlib.sha256(file).hexdigest() == wanted


def test_the_truth_comes_back_from_the_folder(
    preset: Callable[..., Corpus], tmp_path: Path
) -> None:
    corpus = preset(**SMALL)
    assert (corpus.n_items, corpus.n_annotators) == (40, 6)
    assert all(len(contents) == 40 for contents in corpus.contents.values())
    corpus.save(tmp_path / "corpus")
    again = Corpus.load(tmp_path / "corpus")
    assert again.equals(corpus)
    for question, answers in again.questions.items():
        known = truth(again, question)
        stored = answers.extra["distribution"].flatten().to_numpy().reshape(120, -1)
        result = known.distribution(answers.item, answers.annotator)
        np.testing.assert_allclose(result, stored, atol=1e-6)
        np.testing.assert_allclose(result.sum(axis=1), 1)


def test_the_blind_means_are_means_over_all_pairs(preset: Callable[..., Corpus]) -> None:
    corpus = preset(**SMALL)
    for question in corpus.questions:
        known, pairs = truth(corpus, question), every_pair(corpus)
        for own, blind in (
            (known.distribution(*pairs), known.blind_distribution()),
            (known.focus(*pairs), known.blind_focus()),
        ):
            np.testing.assert_allclose(blind, own.reshape(40, 6, -1).mean(axis=1), atol=1e-12)


def test_a_selection_knows_what_the_whole_knew(preset: Callable[..., Corpus]) -> None:
    corpus = preset(**SMALL)
    items, annotators = np.array([17, 3, 30]), np.array([5, 0])
    chosen = corpus.select(items=items, annotators=annotators)
    pairs = np.array([0, 1, 2, 2]), np.array([1, 0, 1, 0])
    whole = items[pairs[0]], annotators[pairs[1]]
    for question in corpus.questions:
        part, known = truth(chosen, question), truth(corpus, question)
        np.testing.assert_allclose(part.distribution(*pairs), known.distribution(*whole))
        width = part.parts.aspect.shape[1]
        np.testing.assert_allclose(part.focus(*pairs), known.focus(*whole)[:, :width])


@pytest.mark.parametrize("name", PRESETS)
def test_knowing_the_annotator_helps(name: str) -> None:
    corpus = PRESETS[name]()
    for question, answers in corpus.questions.items():
        known = truth(corpus, question)
        pairs = every_pair(corpus) if name == "text" else (answers.item, answers.annotator)
        assert known.best(*pairs) == pytest.approx(BEST[name, question], abs=0.001)


def test_rationales_lie_on_parts_and_follow_the_focus(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=1000)
    known, spans = truth(corpus), corpus.rationales
    assert spans is not None and spans.kind.unique().to_pylist() == ["focus"]
    assert spans.role.unique().to_pylist() == list(corpus.contents)
    assert spans.question.unique().to_pylist() == list(corpus.questions)
    for column in ("item", "annotator"):
        answered = [getattr(answers, column) for answers in corpus.questions.values()]
        assert np.array_equal(getattr(spans, column), np.concatenate(answered))
    focus, looked = known.focus(spans.item, spans.annotator), looked_at(known, corpus)
    likely = focus.max(axis=1).mean()
    assert (focus.argmax(axis=1) == looked).mean() == pytest.approx(likely, abs=0.015)
    assert blind_auroc(known, spans.item, looked) <= 0.65


@pytest.mark.parametrize("n_annotators", [4, 6, 10, 13, 50])
def test_looking_where_the_crowd_looks_says_little_about_one(
    preset: Callable[..., Corpus], n_annotators: int
) -> None:
    corpus = preset(n_items=500, n_annotators=n_annotators, labels_per_item=4)
    known, (item, annotator) = truth(corpus), every_pair(corpus)
    preferred = known.focus(item, annotator).argmax(axis=1)
    assert blind_auroc(known, item, preferred) <= 0.65


def test_answers_follow_their_distributions(preset: Callable[..., Corpus]) -> None:
    corpus = preset(n_items=5_000, n_annotators=5, seed=2)
    for answers in corpus.questions.values():
        stored = answers.extra["distribution"].flatten().to_numpy().reshape(answers.n_rows, -1)
        hit = answers.scale.one_hot(answers.answer)
        for annotator in range(5):
            rows = answers.annotator == annotator
            error = np.sqrt((stored[rows] * (1 - stored[rows])).sum(axis=0)) + 1e-9
            assert np.abs((hit[rows] - stored[rows]).sum(axis=0) / error).max() < 4.5


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 200, 150), (5, 2, 1)])
def test_odd_sizes_work(preset: Callable[..., Corpus], sizes: tuple[int, int, int]) -> None:
    corpus = preset(*sizes)
    for question, answers in corpus.questions.items():
        best, blind = truth(corpus, question).best(answers.item, answers.annotator)
        assert np.isfinite([best, blind]).all()


@pytest.mark.parametrize("make", [text, image, sequence])
@pytest.mark.parametrize("n_values", [2, 8])
def test_two_to_eight_values(make: Callable[..., Corpus], n_values: int) -> None:
    corpus = make(n_items=300, n_values=n_values)
    (answers,) = corpus.questions.values()
    assert len(answers.scale.to_dict()["values"]) == n_values
    assert set(np.unique(answers.answer)) == set(range(n_values))
    best, blind = truth(corpus).best(*every_pair(corpus))
    assert best > blind + 0.15
    assert error_text(make, n_values=1) == "simulate: n_values must be at least 2, found 1"
    with pytest.raises(DataError, match="^simulate: n_values must be at most 8, found 9$"):
        make(n_values=9)
