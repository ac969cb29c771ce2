"""Full reports of Figure Eight."""

from __future__ import annotations

from dissensus.readers import read
from tests.readers.conftest import Write, rows_of

HEADER = "_unit_id,_id,_tainted,_worker_id,_country,sentence,mood,mood_gold\n"


def test_several_answers_in_a_cell(write: Write) -> None:
    lines = (
        '1,10,false,w1,DE,so good,"joy\nfear",joy\n1,11,false,w2,FR,so good,joy,joy\n'
        "2,12,false,w1,DE,oh no,fear,\n2,13,true,w2,FR,oh no,joy,\n"
    )
    corpus = read(write(HEADER + lines))
    assert rows_of(corpus, "mood") == [
        ("1", "w1", ("fear", "joy")), ("1", "w2", ("joy",)), ("2", "w1", ("fear",)),
    ]  # fmt: skip
    assert corpus.text_of(1) == "oh no" and corpus.gold["mood"].answers() == [("joy",)]
    assert any("left out: tainted 1" in note for note in corpus.notes)
    assert any("separated by line breaks" in note for note in corpus.notes)
