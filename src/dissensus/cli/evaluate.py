"""dissensus evaluate: how good are predictions, held against what people said."""

from __future__ import annotations

import json as json_text
import math
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.reading import Reading, reads_corpus
from dissensus.cli.tables import columns, number, show
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    import numpy as np

    from dissensus.corpus import Corpus
    from dissensus.prediction import Prediction, Predictions


@dataclass(frozen=True)
class Result:
    """One method's scores for one question on one part of a corpus."""

    question: str
    part: str | None  # of the official split, where the corpus has one
    method: str
    items: int  # compared
    answers: int  # compared one by one, with what was predicted for their annotator
    gold: int  # items compared with a label from elsewhere
    floor: float | None  # the cross-entropy of a perfect prediction
    scores: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON; what is undefined is null."""
        scores = {n: None if math.isnan(s) else s for n, s in self.scores.items()}
        floor = None if self.floor is None or math.isnan(self.floor) else self.floor
        return {**vars(self), "floor": floor, "scores": scores}


@reads_corpus
def evaluate(
    predictions: Annotated[Path, typer.Argument(help="Folder that `dissensus predict` wrote.")],
    reading: Reading,
    against: Annotated[
        list[Path] | None, typer.Option(help="Further predictions to show beside; repeatable.")
    ] = None,
    question: console.Question = None,
    json: console.Json = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also write the scores here, as JSON.")
    ] = None,
) -> None:
    """Score PREDICTIONS against the answers in FILE, for each question and part of the split.

    Items and annotators are matched by name; items that nobody answered do not count.
    """
    from dissensus.prediction import Predictions

    folders = [predictions, *(against or [])]
    loaded = [Predictions.load(folder) for folder in folders]
    read = reading.read()
    for folder, answers in zip(folders, loaded, strict=True):
        _check(folder, answers, read, question or [])
    names = _labels(folders, loaded)
    results = [
        result
        for name, answers in zip(names, loaded, strict=True)
        for result in _results(name, answers, read, question or list(answers))
    ]
    if not results:
        raise DataError(f"{predictions}: no predicted item has an answer in {read.name}")
    content = {"corpus": read.name, "results": [result.to_dict() for result in results]}
    if output is not None:
        _write(output, content)
    if json:
        console.print_json(content)
        return
    for shown in _tables(read, results):
        show(*shown)


def _check(folder: Path, answers: Predictions, corpus: Corpus, questions: list[str]) -> None:
    """Refuse predictions that are not about this corpus; say what is left out."""
    corpus.check_questions(questions)
    common = [question for question in answers if question in corpus.questions]
    if not common:
        raise DataError(
            f"{folder}: predicts {listed(answers)}; {corpus.name} asks {listed(corpus.questions)}"
        )
    for question in questions:
        answers[question]  # an error that lists what there is
    for question in answers:
        if question not in common:
            console.say(f"{folder}: {question!r} is no question of {corpus.name}; left out")
    for question in common:
        items = answers[question].items
        strange = [items[code] for code in (corpus.items.find(items) < 0).nonzero()[0]]
        if strange:
            raise DataError(
                f"{folder}: {len(strange)} of {len(items)} predicted items are not in "
                f"{corpus.name}: {listed(strange, 3)}; evaluate on what was predicted"
            )


def _labels(folders: list[Path], loaded: list[Predictions]) -> list[str]:
    """The methods' names, with the folder where a name occurs twice."""
    methods = [answers.method for answers in loaded]
    return [
        method if methods.count(method) == 1 else f"{method} ({folder})"
        for method, folder in zip(methods, folders, strict=True)
    ]


def _results(
    method: str, answers: Predictions, corpus: Corpus, questions: list[str]
) -> Iterator[Result]:
    for question in questions:
        if question in corpus.questions:
            for part, inside in _parts(corpus):
                result = _result(question, part, inside, method, answers[question], corpus)
                if result.items or result.gold:
                    yield result


def _parts(corpus: Corpus) -> list[tuple[str | None, np.ndarray]]:
    """The parts of the official split and what is in none; without a split, the whole."""
    import numpy as np

    parts: list[tuple[str | None, np.ndarray]] = [
        (part, corpus.in_part(part)) for part in corpus.parts()
    ]
    rest = np.ones(corpus.n_items, dtype=bool)
    for _, inside in parts:
        rest &= ~inside
    return [*parts, ("in no part" if parts else None, rest)]


def _result(
    question: str,
    part: str | None,
    inside: np.ndarray,
    method: str,
    prediction: Prediction,
    corpus: Corpus,
) -> Result:
    """The scores on the items `inside` (n_items,) only: answers to others are left out."""
    from dissensus import metrics

    people = corpus[question].take(inside[corpus[question].item])
    gold = corpus.gold.get(question)
    gold = None if gold is None else gold.take(inside[gold.item])
    number_of = metrics.compared(prediction, people)
    soft = prediction.scale.kind in metrics.METRICS["cross-entropy"].scales
    return Result(
        question,
        part,
        method,
        number_of.items,
        number_of.pairs,
        0 if gold is None else metrics.compared(prediction, gold).items,
        metrics.floor(people.to(prediction.scale), prediction.items) if soft else None,
        metrics.scores(prediction, people, gold),
    )


def _tables(corpus: Corpus, results: list[Result]) -> Iterator[list[Any]]:
    """A heading and a table for each question and part, one column per method."""
    blocks: dict[tuple[str, str | None], list[Result]] = {}
    for result in results:
        blocks.setdefault((result.question, result.part), []).append(result)
    for number_before, ((question, part), methods) in enumerate(blocks.items()):
        heading = f"{corpus.name}, {question}" + (f", {part}" if part else "")
        names = ["", *(result.method for result in methods), "better"]
        table = columns(names, _rows(methods), names[1:-1], whole=["", "better"])
        yield [*([""] if number_before else []), heading, table]


def _rows(methods: list[Result]) -> Iterator[list[str]]:
    from dissensus.metrics import METRICS

    yield ["items compared", *(number(result.items) for result in methods), ""]
    if any(result.answers for result in methods):
        yield ["answers by annotator", *(number(result.answers) for result in methods), ""]
    if any(result.gold for result in methods):
        yield ["gold labels compared", *(number(result.gold) for result in methods), ""]
    for name in [*METRICS, *(f"{name} (gold)" for name in METRICS)]:
        if not any(name in result.scores for result in methods):
            continue
        better = "higher" if METRICS[name.removesuffix(" (gold)")].higher_is_better else "lower"
        yield [name, *(number(result.scores.get(name, math.nan)) for result in methods), better]
        if name == "cross-entropy":
            floors = (math.nan if r.floor is None else r.floor for r in methods)
            yield ["  perfect prediction", *(number(floor) for floor in floors), ""]


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write JSON, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json_text.dump(content, file, ensure_ascii=False, indent=1)
                file.write("\n")
            os.chmod(temporary, 0o644)  # mkstemp makes files that nobody else may read
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from None
