"""What is encoded within a time: everything, shorter texts, a part of the items, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus import Corpus, simulate
from dissensus.contents import Contents
from dissensus.encoders import encodings
from dissensus.report import encoding_time as module
from dissensus.report.encoding_time import (
    SHORTER,
    EncodingPlan,
    encoded_items,
    encoding_plan,
    encoding_time,
    part_of,
)
from dissensus.time_limit import TimeIsUp
from tests.tiny import tiny_bert


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.text(n_items=400, seed=0)


def _takes(monkeypatch: pytest.MonkeyPatch, seconds: float, shorter: float) -> None:
    """Let encoding all items take some seconds, and fewer with shorter texts."""
    monkeypatch.setattr(
        module, "encoding_time", lambda _, encoder: shorter if encoder == SHORTER else seconds
    )


def test_everything_if_there_is_time(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    _takes(monkeypatch, 20, 5)
    assert encoding_plan(corpus, None, 41, 60) == EncodingPlan(400, None)


def test_a_part_of_the_items_if_these_are_many(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    _takes(monkeypatch, 20, 5)
    plan = encoding_plan(corpus, None, 24.6, 60)
    assert (plan.n_items, plan.encoder) == (240, None)
    assert plan.reason == (
        "encoding the texts of all 400 items would take about 20 s; methods are compared on 240 of "
        "them, drawn at random (for all, give --budget 2m or more)"
    )
    assert encoding_plan(corpus, "mine", 3, 60).n_items == 30  # the encoder is not replaced


def test_shorter_texts_before_too_few_items(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    _takes(monkeypatch, 200, 20)
    plan = encoding_plan(corpus, None, 41, 60)
    assert (plan.n_items, plan.encoder) == (400, SHORTER)
    assert "so that only their first 64 tokens are read (for all" in plan.reason
    both = encoding_plan(corpus, None, 20.2, 60)
    assert (both.n_items, both.encoder) == (200, SHORTER) and "on 200 of them" in both.reason


def test_nothing_if_the_fewest_items_take_too_long(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    _takes(monkeypatch, 4000, 3900)
    plan = encoding_plan(corpus, None, 20, 60)
    assert plan.n_items == 0 and "30 of them take 5 min; for all, give --budget" in plan.reason


def test_contents_in_the_cache_take_no_time(corpus: Corpus, tmp_path: Path) -> None:
    encoder = str(tiny_bert(tmp_path / "bert"))
    few = part_of(corpus, 20)
    assert few.n_items == 20 and list(few.items) == list(part_of(corpus, 20).items)
    assert encoding_time(few, encoder) > 0
    assert encoding_time(few, encoder) > 0  # taking the time leaves nothing in the cache
    for encoding in encodings(few, encoder).values():
        encoding.store()
    assert encoding_time(few, encoder) == 0
    assert encoding_plan(few, encoder, 2.0, 60).n_items == 20


def test_nothing_if_loading_the_encoder_takes_too_long(corpus: Corpus, tmp_path: Path) -> None:
    plan = encoding_plan(corpus, tiny_bert(tmp_path / "bert"), 0.0, 60)
    assert plan.n_items == 0 and plan.seconds == 0.0
    assert plan.reason == (
        "encoding the first contents took longer than 0 s (give a longer --budget)"
    )


def test_what_is_encoded_at_the_deadline_is_a_part_of_the_part(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = tiny_bert(tmp_path / "bert")
    plan = EncodingPlan(200, encoder, "because", seconds=60.0)
    assert encoded_items(corpus, plan, 0.0) == 0

    def stops(codes: Corpus, n_items: int) -> Corpus:
        if n_items == 200:
            raise TimeIsUp
        return part_of(codes, n_items)

    with monkeypatch.context() as patch:
        patch.setattr(module, "part_of", stops)
        assert encoded_items(corpus, plan, 60.0) == 100
    assert encoding_time(part_of(corpus, 100), encoder) == 0
    assert encoding_time(part_of(corpus, 200), encoder) > 0
    assert encoded_items(corpus, plan, 60.0) == 200


def test_files_that_cannot_be_read_are_not_timed(tmp_path: Path) -> None:
    crowd = simulate.image(n_items=40, seed=0)
    paths = [str(tmp_path / f"{item}.png") for item in range(40)]
    for path in paths[:20]:
        Path(path).write_bytes(b"no picture")
    pictures = {"image": Contents.distinct("image", paths)}
    broken = Corpus.build("c", crowd.items, dict(crowd.questions), contents=pictures)
    assert encoding_time(broken, None) == 0
