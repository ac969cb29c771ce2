"""A labelling job of SageMaker Ground Truth: the answers of each worker.

    annotations/worker-response/iteration-1/0/2023-01-01_00:00:10.json:
        {"answers": [{"workerId": "w1", "answerContent": {"crowd-classifier": {"label": "joy"}}}]}
    manifests/output/output.manifest:
        {"source": "so good!", "mood": 0, "mood-metadata": {"class-name": "joy", ...}}

The folder of an object is its line in the manifest, from 0, which has what was shown. Labels, sets
of labels, radio buttons, check boxes, entities and boxes are read; the last two are rationales. A
manifest alone has consolidated labels without workers, and is refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.exports.folders import sagemaker_files
from dissensus.readers.exports.responses import Response, Span, entries, responses_corpus
from dissensus.readers.files import read_utf8
from dissensus.readers.json_text import (
    as_object,
    object_in,
    parsed,
    texts_in,
    value_text,
    value_texts,
)
from dissensus.readers.layout import Layout

MANIFEST = "output.manifest"
SOURCES = {"source": "text", "source-ref": "image"}  # of a manifest -> role
_WIDGET = re.compile(r"crowd-[a-z-]+|annotatedResult|boundingBox")


def read(path: Path, options: Layout) -> Corpus:
    """Read every worker's answers, with what the manifest shows."""
    if not path.is_dir():
        raise DataError(
            f"{path}: consolidated labels, without the workers who gave them; name the folder of "
            "the job, which contains annotations/worker-response"
        )
    shown, label = _manifest(path, options)
    responses: list[Response] = []
    sets: set[str] = set()
    for file in sagemaker_files(path):
        content = parsed(read_utf8(file, options.encoding), file)
        answers = as_object(content, str(file), "answers").get("answers")
        if not isinstance(answers, list):
            raise DataError(f"{file}: no list 'answers'")
        for number, written in enumerate(answers, start=1):
            where, item = f"{file}, answer {number}", file.parent.name
            answer = as_object(written, where, "a worker")
            worker, place = (
                value_text(answer.get("workerId")),
                f"{item}/{file.name}, answer {number}",
            )
            one = Response(place, item, worker, {}, shown.get(item, {}))
            one.seconds = value_text(answer.get("timeSpentInSeconds"))
            for name, content in as_object(answer.get("answerContent"), where, "answers").items():
                question = (label or "label") if _WIDGET.fullmatch(name) else name
                if _add(one, question, content):
                    sets.add(question)
            responses.append(one)
    if not any(one.answers for one in responses):
        raise DataError(f"{path}: no labels, entities or boxes in the answers of workers")
    notes = [] if shown else [f"no {MANIFEST} in the folder, so that nothing is known of the items"]
    return responses_corpus(path, responses, options, "SageMaker Ground Truth", notes, sets=sets)


def _manifest(path: Path, options: Layout) -> tuple[dict[str, dict[str, str]], str | None]:
    """What was shown, by the number of the object; and the name of the label, if there is one."""
    files = [file for file in sorted(path.rglob("*.manifest")) if file.is_file()]
    files.sort(key=lambda file: file.name != MANIFEST)
    shown, label = {}, None
    for file in files[:1]:
        for number, (_, entry) in enumerate(entries(file, options.encoding)):
            labels = [key for key in entry if f"{key}-metadata" in entry]
            label = label or next(iter(labels), None)
            texts = texts_in(entry, skip=labels)
            shown[str(number)] = {SOURCES.get(key, key): text for key, text in texts.items()}
    return shown, label


def _add(one: Response, question: str, content: Any) -> bool:
    """Add the answer to a question, of whichever type it is; returns whether it is a set."""
    values = content if isinstance(content, dict) else {"label": content}
    lists = (values.get(key) for key in ("entities", "boundingBoxes"))
    marked = next((marks for marks in lists if isinstance(marks, list)), None)
    if marked is not None:
        one.answers[question] = []
        for span in filter(None, (_span(question, written) for written in marked)):
            one.mark(span)
        return True
    is_set = isinstance(values.get("labels"), list)
    if values and all(isinstance(v, bool) or list(object_in(v)) == ["on"] for v in values.values()):
        chosen = [key for key, value in values.items() if value in (True, {"on": True})]
    else:
        chosen = value_texts(values["labels"] if is_set else values.get("label"))
    if chosen or is_set:
        one.answers[question] = chosen
    return is_set


def _span(question: str, written: Any) -> Span | None:
    """An entity or a box; None if it has no place or no label."""
    try:
        label = str(written["label"])
        if "startOffset" in written:
            return Span.between(question, written["startOffset"], written["endOffset"], label)
        top, left, height, width = (float(written[k]) for k in ("top", "left", "height", "width"))
        return Span(question, (top, left), (top + height, left + width), label)
    except (KeyError, TypeError, ValueError):
        return None
