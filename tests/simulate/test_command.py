"""`dissensus simulate` as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.cli.simulate import simulate
from dissensus.corpus import Corpus
from dissensus.simulate import text
from tests.error_texts import error_text


def test_the_command_writes_the_corpus_and_says_what_can_be_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate(tmp_path / "crowd", items=60, annotators=4, labels=3, values=5, seed=2)
    printed = capsys.readouterr().out
    assert printed == (
        f"{tmp_path / 'crowd'}: 60 items, 4 annotators, 180 answers; best possible accuracy "
        "0.8316, without knowing the annotator 0.5432\n"
    )
    wanted = text(n_items=60, n_annotators=4, labels_per_item=3, n_values=5, seed=2)
    assert Corpus.load(tmp_path / "crowd").equals(wanted)


def test_every_question_of_ratings_has_its_best_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate(tmp_path / "crowd", preset="ratings", items=60, annotators=4, labels=3)
    assert capsys.readouterr().out == (
        f"{tmp_path / 'crowd'}: 60 items, 4 annotators, 360 answers; valence: best possible mean "
        "absolute error 0.0564, without knowing the annotator 0.1580; activation: best "
        "possible mean absolute error 0.0587, without knowing the annotator 0.1852\n"
    )


def test_ratings_have_no_number_of_values(tmp_path: Path) -> None:
    assert error_text(simulate, tmp_path / "crowd", preset="ratings", values=5) == (
        "ratings are numbers, not one of several values; leave --values out"
    )
    assert not (tmp_path / "crowd").exists()
