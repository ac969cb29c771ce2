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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.exports.responses import Response, check_options, responses_corpus
from dissensus.readers.exports.spans import Span
from dissensus.readers.files import read_utf8
from dissensus.readers.head import Head
from dissensus.readers.json_text import as_object, objects, parsed, value_text, value_texts
from dissensus.readers.layout import Layout

TOOL = "SageMaker Ground Truth"
RESPONSES, MANIFEST = "worker-response", "output.manifest"
_JOB = re.compile(rb'"type"\s*:\s*"groundtruth/')
_WIDGET = re.compile(r"crowd-[a-z-]+|annotatedResult|boundingBox")
Answers = dict[str, list[str]]


def recognise(head: Head) -> bool:
    """A folder with workers' answers, or a manifest whose metadata name Ground Truth."""
    if head.path.is_dir():
        return next(_response_files(head.path), None) is not None
    return head.path.suffix.lower() == ".manifest" and bool(_JOB.search(head.start))


def read(path: Path, options: Layout) -> Corpus:
    """Read every worker's answers, with what the manifest shows."""
    check_options(path, options, TOOL, may=("text",))
    if not path.is_dir():
        raise DataError(
            f"{path}: consolidated labels, without the workers who gave them; name the folder of "
            f"the job, which contains annotations/{RESPONSES}"
        )
    shown, label = _manifest(path, options)
    responses: list[Response] = []
    sets: dict[str, bool] = {}
    for file in sorted(_response_files(path), key=lambda f: (_object_id(f), f.name)):
        for number, answer in enumerate(_answers(file, options), start=1):
            spans: list[Span] = []
            answers: Answers = {}
            for name, content in as_object(
                answer.get("answerContent"), f"{file}, answer {number}", "answers"
            ).items():
                _add(_question(name, label), content, answers, sets, spans)
            item, worker = _object_id(file), value_text(answer.get("workerId"))
            data = shown.get(item, {})
            seconds = value_text(answer.get("timeSpentInSeconds"))
            place = f"{file.parent.name}/{file.name}, answer {number}"
            responses.append(
                Response(place, item, worker, answers, data, seconds=seconds, spans=spans)
            )
    if not sets:
        raise DataError(f"{path}: no labels, entities or boxes in the answers of workers")
    for one in responses:
        for question in one.answers.keys() & sets.keys():
            sets[question] = sets[question] or len(one.answers[question]) > 1
    notes = [] if shown else [f"no {MANIFEST} in the folder, so that nothing is known of the items"]
    return responses_corpus(path, responses, sets, options, TOOL, notes)


def _response_files(path: Path) -> Iterator[Path]:
    return (file for file in path.rglob(f"{RESPONSES}/**/*.json") if file.is_file())


def _object_id(file: Path) -> str:
    return file.parent.name


def _answers(file: Path, options: Layout) -> list[dict[str, Any]]:
    content = parsed(read_utf8(file, options.encoding), file)
    answers = as_object(content, str(file), "answers").get("answers")
    if not isinstance(answers, list):
        raise DataError(f"{file}: no list 'answers'")
    return [as_object(one, f"{file}, answer {n}", "a worker") for n, one in enumerate(answers, 1)]


def _manifest(path: Path, options: Layout) -> tuple[dict[str, dict[str, str]], str | None]:
    """What was shown, by the number of the object; and the name of the label, if there is one."""
    files = [file for file in sorted(path.rglob("*.manifest")) if file.is_file()]
    files.sort(key=lambda file: file.name != MANIFEST)
    if not files:
        return {}, None
    shown, label = {}, None
    text = read_utf8(files[0], options.encoding).decode("utf-8")
    for number, (_, entry) in enumerate(objects(text, files[0])):
        labels = [key for key in entry if f"{key}-metadata" in entry]
        label = label or next(iter(labels), None)
        data = {
            "text" if key == "source" else "image" if key == "source-ref" else key: value
            for key, value in entry.items()
            if isinstance(value, str) and key not in labels
        }
        shown[str(number)] = data
    return shown, label


def _question(name: str, label: str | None) -> str:
    """The name of a question: that of the label, if the task is a widget of Ground Truth."""
    return (label or "label") if _WIDGET.fullmatch(name) else name


def _add(
    question: str, content: Any, answers: Answers, sets: dict[str, bool], spans: list[Span]
) -> None:
    """Add the answer to a question, of whichever type it is."""
    values = content if isinstance(content, dict) else {"label": content}
    if isinstance(values.get("entities"), list):
        marked = [span for one in values["entities"] if (span := _entity(question, one))]
    elif isinstance(values.get("boundingBoxes"), list):
        marked = [span for one in values["boundingBoxes"] if (span := _box(question, one))]
    else:
        is_set = isinstance(values.get("labels"), list)
        if values and all(_is_switch(value) for value in values.values()):
            chosen = [key for key, value in values.items() if value in (True, {"on": True})]
        else:
            chosen = value_texts(values["labels"] if is_set else values.get("label"))
        if chosen or is_set:
            answers[question] = chosen
            sets[question] = sets.get(question, False) or is_set
        return
    spans += marked
    answers[question] = list(dict.fromkeys(span.label for span in marked))
    sets[question] = True


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, dict) and list(value) == ["on"])


def _entity(question: str, one: Any) -> Span | None:
    try:
        start, stop = float(one["startOffset"]), float(one["endOffset"])
        return Span(question, (start,), (stop,), str(one["label"]))
    except (KeyError, TypeError, ValueError):
        return None


def _box(question: str, one: Any) -> Span | None:
    try:
        top, left, height, width = (float(one[k]) for k in ("top", "left", "height", "width"))
        return Span(question, (top, left), (top + height, left + width), str(one["label"]))
    except (KeyError, TypeError, ValueError):
        return None
