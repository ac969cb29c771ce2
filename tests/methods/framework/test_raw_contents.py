"""A model asked about texts, pictures and recordings that are in no corpus, or in another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus, Names, Nominal, Predictions
from dissensus.contents import Contents, Kind
from dissensus.errors import ModelError
from dissensus.methods.annotator_heads import AnnotatorHeads
from dissensus.training import Training
from tests.error_texts import error_text, refusal
from tests.media import picture, recording
from tests.tiny import tiny_bert, tiny_vit

N = 6
QUICK = Training(epochs=3, batch_size=3, device="cpu")
PEOPLE = ("ann", "bob", "cy")


def contents_of(kind: str) -> list[Any]:
    if kind == "text":
        return [" ".join(["so", "good", "bad"][k % 3] for _ in range(k + 1)) for k in range(N)]
    if kind == "image":
        return [picture(seed, side=16) for seed in range(N)]
    return [recording(seed, seconds=0.2) for seed in range(N)]


def corpus_of(kind: Kind, contents: list[Any], people: tuple[str, ...], name: str) -> Corpus:
    """Everyone answers every item."""
    n = len(contents)
    answers = Annotations.from_arrays(
        np.repeat(np.arange(n), len(people)),
        np.tile(np.arange(len(people)), n),
        np.random.default_rng(1).integers(0, 2, size=n * len(people)),
        Nominal(("no", "yes")),
        items=Names.range(n),
        annotators=Names(people),
    )
    shown = {"shown": Contents.distinct(kind, contents)}
    return Corpus.build(name, Names.range(n), {"q": answers}, contents=shown)


class Asked:
    """A fitted model and what it was shown."""

    def __init__(self, kind: Kind, encoder: str) -> None:
        self.kind: Kind = kind
        self.shown = contents_of(kind)
        self.corpus = corpus_of(kind, self.shown, PEOPLE, "mine")
        self.model = AnnotatorHeads(encoder=encoder, training=QUICK).fit(self.corpus)


@pytest.fixture(scope="module", params=["text", "image", "audio"])
def requested(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    folder = tmp_path_factory.mktemp("models")
    encoders = {"text": tiny_bert, "image": tiny_vit}
    built = encoders.get(request.param)
    return Asked(request.param, built(folder / "tiny") if built else "whisper-tiny")


def distribution(predictions: Predictions) -> np.ndarray:
    return predictions["q"].distribution


# ---- raw contents ----


def test_a_list_is_answered_by_everyone(requested: Asked) -> None:
    raw = requested.model.predict(requested.shown)
    whole = requested.model.predict(requested.corpus, annotators="all", consensus="all")
    np.testing.assert_allclose(distribution(raw), distribution(whole), atol=1e-6)
    people = raw["q"].by_annotator
    assert people is not None and len(people) == N * len(PEOPLE)
    assert tuple(people.annotators) == PEOPLE
    by_role = requested.model.predict({"shown": requested.shown[::-1]})
    np.testing.assert_allclose(distribution(by_role)[::-1], distribution(raw), atol=1e-6)


def test_files_are_named_by_their_paths(requested: Asked, tmp_path: Path) -> None:
    if requested.kind == "text":
        pytest.skip("a text is no file")
    paths = [tmp_path / f"{k}.bin" for k in range(N)]
    for path, data in zip(paths, requested.shown, strict=True):
        path.write_bytes(data)
    expected = distribution(requested.model.predict(requested.shown))
    for named in (paths, [str(path) for path in paths]):
        np.testing.assert_allclose(
            distribution(requested.model.predict(named)), expected, atol=1e-6
        )
    gone = tmp_path / "gone.bin"
    message = f"{gone}: No such file or directory; is the media folder there?"
    assert error_text(requested.model.predict, [gone]) == message
    assert error_text(requested.model.predict, [requested.shown[0], str(paths[0]), 3]).startswith(
        "'shown' must be paths, or bytes of files, or None without content ("
    )


def test_roles_and_lengths_that_do_not_fit(requested: Asked) -> None:
    assert error_text(requested.model.predict, {"seen": requested.shown}) == (
        "pass one list for each role, all of the same length; the model has the roles 'shown'"
    )
    elsewhere = Corpus.build("theirs", Names.range(1), {})
    expected = "theirs: the model reads 'shown', the corpus has no contents"
    assert refusal(ModelError, requested.model.predict, elsewhere) == expected


# ---- tables ----


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_has_a_column_for_each_role(library: str) -> None:
    """Not its column names are read, but what stands under those of the roles."""
    texts = contents_of("text")
    corpus = corpus_of("text", texts, PEOPLE, "crowd")
    model = AnnotatorHeads(encoder="characters", training=QUICK).fit(corpus)
    package = pytest.importorskip(library)
    frame = package.table if library == "pyarrow" else package.DataFrame
    prediction = model.predict(frame({"id": list(range(N)), "shown": texts}))["q"]
    assert np.array_equal(prediction.distribution, model.predict(texts)["q"].distribution)
    assert error_text(model.predict, frame({"id": [1], "text": ["so good"]})) == (
        "the model reads 'shown', but the table has no column 'shown'; it has 'id', 'text'"
    )
    assert error_text(model.fit, frame({"id": [1], "text": ["so good"]})) == (
        f"annotator-heads learns from a Corpus, found a {frame({'id': [1]}).__class__.__name__}; "
        "dissensus.read(table) makes a corpus of a file or a table"
    )
