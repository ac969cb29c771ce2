"""ELAN's tiers: of several annotators in one file, or a file for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from dissensus.agreement import span_agreement
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
