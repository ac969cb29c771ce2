"""brat's folders: a folder for each annotator, a text and a file of spans for each document."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.readers import read

TEXTS = {"d1": "Bob saw New York.", "d2": "Eve slept."}
ANN = {"d1": "T1\tPerson 0 3\tBob\nT2\tPlace 8 16\tNew York\nR1\tIn Arg1:T1 Arg2:T2\n", "d2": ""}
BOB = {"d1": "T1\tPlace 8 11;12 16\tNew York\n#1\tAnnotatorNotes T1\thm\n", "d2": ANN["d2"]}


def study(folder: Path, texts_once: bool = False) -> Path:
    for name, files in {"ann": ANN, "bob": BOB}.items():
        (folder / name).mkdir(parents=True)
        for document, lines in files.items():
            (folder / name / f"{document}.ann").write_text(lines)
            place = folder if texts_once else folder / name
            (place / f"{document}.txt").write_text(TEXTS[document])
    return folder


@pytest.mark.parametrize("texts_once", [False, True])
def test_a_folder_for_each_annotator(tmp_path: Path, texts_once: bool) -> None:
    corpus = read(study(tmp_path / "study", texts_once))
    assert list(corpus.items) == ["d1", "d2"] and list(corpus.annotators) == ["ann", "bob"]
    assert corpus["span"].answers() == [("Person", "Place"), (), ("Place",), ()]
    spans = corpus.rationales
    assert spans is not None
    marked = [
        (int(spans.annotator[n]), spans.kind[n].as_py(), *spans.start[n], *spans.stop[n])
        for n in range(len(spans))
    ]
    assert marked == [
        (0, "Person", 0, 3), (0, "Place", 8, 16), (1, "Place", 8, 11), (1, "Place", 12, 16),
    ]  # fmt: skip
    assert corpus.text_of(1) == "Eve slept."
    assert "study: not read: relations 1, notes 1" in corpus.notes
