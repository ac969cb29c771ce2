"""What is compared within a budget: which items, and when the comparison of a part is replaced."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from dissensus import Corpus, simulate
from dissensus.contents import Contents
from dissensus.encoders import encodings
from dissensus.encoders.framework.base import NeuralEncoder
from dissensus.encoders.framework.cache import is_cached
from dissensus.within import check_deadline
from dissensus.workflow import budget as module
from dissensus.workflow.budget import Budget, encoded_items, part_within
from dissensus.workflow.items import part_of
from tests.tiny import tiny_bert


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulate.text(n_items=400, seed=0)


def _budget(seconds: float) -> Budget:
    return Budget(seconds, time.monotonic())


def _encodes(monkeypatch: pytest.MonkeyPatch, n_items: int) -> None:
    """Let so many items be encoded in time."""
    monkeypatch.setattr(
        module, "encoded_items", lambda corpus, encoder, end, most: min(n_items, most)
    )


# ---- the time ----


def test_the_reserve_is_a_part_of_the_budget() -> None:
    assert Budget(10, 100.0).end_of_comparison == 106  # 40 % of a short one are kept
    assert Budget(110, 0.0).end_of_comparison == 88  # 20 % of a long one
    assert Budget(110, 0.0).end == 106  # 4 s for the report
    assert Budget(math.inf, 0.0).end_of_comparison == math.inf


# ---- which items ----


def test_everything_if_there_is_time(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _encodes(monkeypatch, 400)
    part = part_within(_budget(600), corpus, tmp_path, None)
    assert part.compared == 400 and not part.reason and not any(tmp_path.iterdir())


def test_a_part_that_is_encoded_in_time_is_said(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _encodes(monkeypatch, 240)
    assert part_within(_budget(600), corpus, tmp_path, None).reason == (
        "no more than 240 items were encoded in time; methods are compared on 240 of 400 items, "
        "drawn at random (for more, give a longer budget)"
    )
    _encodes(monkeypatch, 20)
    nothing = part_within(Budget(0, time.monotonic()), corpus, tmp_path, None)
    assert nothing.compared == 0 and nothing.reason == (
        "encoding the first 30 items took longer than 0 s (for more, give a longer budget)"
    )


def test_fewer_items_if_the_fastest_method_takes_too_long_on_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = simulate.text(n_items=4000, seed=0)
    _encodes(monkeypatch, 4000)
    part = part_within(_budget(20), many, tmp_path, None)  # 12 s, of which a third
    assert part.compared == 1100  # of 6 fits of 10 epochs, at 60 us for an item: 14.4 s for all
    assert part.reason == (
        "training single on all items would take about 14 s; methods are compared on 1,100 of "
        "4,000 items, drawn at random (for more, give a longer budget)"
    )
    assert part_within(_budget(20), many, tmp_path, None, seeds=3).compared < 600
    assert part_within(_budget(20), many, tmp_path, None, ("prior",)).compared == 4000


# ---- encoding until a time ----


def test_items_are_encoded_in_the_order_in_which_they_are_drawn(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """8 items are encoded at 10 s; half of what is left then is over at 25 s, when 24 are."""
    encoder, n_times, encode = str(tiny_bert(tmp_path / "bert")), [0], NeuralEncoder.encode
    now = [0.0]

    def timed(self: NeuralEncoder, contents: Contents) -> object:
        store = encode(self, contents)
        n_times[0] += 1
        now[0] += 10
        return store

    monkeypatch.setattr(NeuralEncoder, "encode", timed)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    assert encoded_items(corpus, encoder, 0.0, 400) == 0
    assert encoded_items(corpus, encoder, 40.0, 400) == 20 and n_times == [3]
    check_deadline()  # of no block any more
    (encoding,) = encodings(part_of(corpus, 20), encoder).values()
    assert is_cached(encoding.encoder, encoding.contents).all()
    assert encoded_items(corpus, encoder, 0.0, 20) == 20 and n_times == [3]  # in the cache
    assert encoded_items(corpus, encoder, math.inf, 400) == 400
    assert list(part_of(corpus, 20).items) == list(part_of(corpus, 20).items)


def test_files_that_cannot_be_read_are_left_out_later(tmp_path: Path) -> None:
    crowd = simulate.image(n_items=40, seed=0)
    paths = [str(tmp_path / f"{item}.png") for item in range(40)]
    for path in paths[:20]:
        Path(path).write_bytes(b"no picture")
    pictures = {"image": Contents.distinct("image", paths)}
    broken = Corpus.build("c", crowd.items, dict(crowd.questions), contents=pictures)
    assert encoded_items(broken, None, math.inf, 40) == 40


# ---- when a comparison is replaced ----


def test_the_same_budget_resumes_the_same_part_and_another_one_replaces_it(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _encodes(monkeypatch, 100)
    part = part_within(_budget(100), corpus, tmp_path, "mine")
    assert part.compared == 100
    fit = tmp_path / "comparison" / "fits" / "one"
    fit.mkdir(parents=True)
    _encodes(monkeypatch, 400)  # in the cache
    assert part_within(_budget(100), corpus, tmp_path, "mine") == part and fit.exists()
    assert part_within(_budget(math.inf), corpus, tmp_path, "mine").compared == 400
    assert not fit.exists() and not (tmp_path / "part.json").exists()


def test_a_comparison_of_floors_alone_is_replaced_when_there_is_more_time(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _encodes(monkeypatch, 0)
    assert part_within(_budget(60), corpus, tmp_path, "mine").compared == 0
    fit = tmp_path / "comparison" / "fits" / "one"
    fit.mkdir(parents=True)
    assert part_within(_budget(60), corpus, tmp_path, "mine").compared == 0 and fit.exists()
    _encodes(monkeypatch, 400)
    assert part_within(_budget(60), corpus, tmp_path, "mine").compared == 400
    assert not fit.exists()


@pytest.mark.parametrize("damaged", [False, True])
def test_a_comparison_of_all_items_or_of_another_corpus_is_never_replaced(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    _encodes(monkeypatch, 100)
    if damaged:
        (tmp_path / "part.json").write_text("{}", encoding="utf-8")
    fit = tmp_path / "comparison" / "fits" / "one"
    fit.mkdir(parents=True)
    assert part_within(_budget(20), corpus, tmp_path, "mine").compared == 400 and fit.exists()
