"""ELAN's tiers: of several annotators in one file, or a file for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.agreement import span_agreement
from dissensus.errors import DataError
from dissensus.readers import read


def document(*tiers: str) -> str:
    slots = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="ts{ms}" TIME_VALUE="{ms}"/>' for ms in (500, 1500, 2500)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT><HEADER>'
        '<MEDIA_DESCRIPTOR MEDIA_URL="file:///x/talk.mp4" RELATIVE_MEDIA_URL="./talk.mp4"/>'
        f'</HEADER><TIME_ORDER>{slots}<TIME_SLOT TIME_SLOT_ID="none"/></TIME_ORDER>'
        f"{''.join(tiers)}</ANNOTATION_DOCUMENT>"
    )


def tier(name: str, annotator: str, *annotations: str) -> str:
    inner = "".join(f"<ANNOTATION>{one}</ANNOTATION>" for one in annotations)
    return f'<TIER TIER_ID="{name}" ANNOTATOR="{annotator}">{inner}</TIER>'


def interval(name: str, start: str, stop: str, value: str) -> str:
    return (
        f'<ALIGNABLE_ANNOTATION ANNOTATION_ID="{name}" TIME_SLOT_REF1="{start}" '
        f'TIME_SLOT_REF2="{stop}"><ANNOTATION_VALUE>{value}</ANNOTATION_VALUE>'
        "</ALIGNABLE_ANNOTATION>"
    )


def reference(name: str, target: str, value: str) -> str:
    return (
        f'<REF_ANNOTATION ANNOTATION_ID="{name}" ANNOTATION_REF="{target}">'
        f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></REF_ANNOTATION>"
    )


def test_tiers_of_several_annotators(tmp_path: Path) -> None:
    path = tmp_path / "talk.eaf"
    path.write_text(
        document(
            tier("gesture_ann", "ann", interval("a1", "ts500", "ts1500", "point")),
            tier(
                "gesture_bob",
                "bob",
                interval("a2", "ts500", "ts2500", "point"),
                interval("a4", "ts500", "none", "wave"),
            ),
            tier("hand_bob", "bob", reference("a3", "a2", "left")),
        )
    )
    corpus = read(path)
    assert list(corpus.items) == ["talk"] and list(corpus.questions) == ["gesture", "hand"]
    assert corpus["gesture"].answers() == [("point",)] * 2
    spans = corpus.rationales
    assert spans is not None
    assert spans.stop[:, 0].tolist() == [1.5, 2.5, 2.5] and spans.role[0].as_py() == "audio"
    notes = " ".join(corpus.notes)
    assert "not read: 1 annotation without a time" in notes
    assert "'video' names no file that exists; it is not read" in notes
    values = {r.measure: r.value for r in span_agreement(corpus, "gesture")[0].measures}
    assert values["character-f1"] == pytest.approx(2 / 3) and values["overlap-f1"] == 1


def test_a_file_for_each_annotator(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        (tmp_path / "study" / name).mkdir(parents=True)
        text = document(tier("gaze", "", interval("a1", "ts500", "ts1500", name)))
        (tmp_path / "study" / name / "talk.eaf").write_text(text)
    corpus = read(tmp_path / "study")
    assert list(corpus.annotators) == ["ann", "bob"] and corpus.n_items == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            document(tier("t", "ann", reference("a1", "a2", "x"), reference("a2", "a1", "y"))),
            "annotations refer to one another in a circle: 'a2', 'a1'",
        ),
        (
            document(tier("t", "ann", reference("a1", "a9", "x"))),
            "annotation 'a1' refers to 'a9', which is not there",
        ),
        (
            '<!DOCTYPE x [<!ENTITY a "b">]><ANNOTATION_DOCUMENT/>',
            "declares entities, which an ELAN file does not need; remove them",
        ),
        (document(tier("t", "ann")), "no tier with values that repeat"),
        (
            document().replace('TIME_VALUE="500"', 'TIME_VALUE="soon"'),
            "TIME_VALUE must be a number, found 'soon'",
        ),
        (
            document().replace("UTF-8", "UTF-z8"),
            "damaged XML (unknown encoding: UTF-z8); is the file cut off?",
        ),
        ("<ANNOTATION_DOCUMENT>", "damaged XML (no element found: line 1, column 21); is the"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "talk.eaf"
    path.write_text(text)
    with pytest.raises(DataError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: {message}")
