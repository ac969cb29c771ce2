"""dissensus evaluate: how good are predictions, held against what people said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
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

    from dissensus.annotations import Annotations
    from dissensus.corpus import Corpus
    from dissensus.metrics import Bounds, Dic
    from dissensus.prediction import Prediction, Predictions
    from dissensus.scales import Scale

BESIDE = 2  # methods with which the bounds still fit beside them in 80 columns


@dataclass(frozen=True)
class Result:
    """One method's scores for one question on one part of a corpus."""

    question: str
    part: str | None  # of the official split, where the corpus has one
    method: str
    items: int  # compared
    answers: int  # compared one by one, with what was predicted for their annotator
    gold: int  # items compared with a label from elsewhere
    scores: dict[str, float]
    bounds: dict[str, Bounds]  # of the soft metrics, on the items compared
    dic: tuple[Dic, Dic] | None  # of the prediction and between halves of the people's answers

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON; what is undefined is null."""
        content = dict(vars(self))
        content["scores"] = _without_nan(self.scores)
        content["bounds"] = {n: _without_nan(b._asdict()) for n, b in self.bounds.items()}
        if self.dic is None:
            del content["dic"]
        else:
            found, noise = self.dic
            between = {"noise floor": noise.value, "noise floor, normalised": noise.normalised}
            counted = {"pairs": found.pairs, "left out": found.left_out}
            content["dic"] = {**counted, **_without_nan(between)}
        return content


def _without_nan(numbers: dict[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in numbers.items()}


@reads_corpus
def evaluate(
    predictions: Annotated[
        Path, typer.Argument(metavar="PREDICTIONS", help="Folder that `dissensus predict` wrote.")
    ],
    reading: Reading,
    against: Annotated[
        list[Path] | None, typer.Option(help="Further predictions to compare with; repeatable.")
    ] = None,
    question: console.Question = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric to show, named as in docs/metrics.md; repeatable."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every metric that applies.")] = False,
    json: console.Json = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Also write the scores to this file, as JSON."),
    ] = None,
) -> None:
    """Score PREDICTIONS against the answers in FILE.

    Every question and every part of the official split has its own table. Items and annotators
    are matched by name; items without answers are ignored. Soft metrics
    are shown with the scores of a perfect and of a constant prediction.
    """
    from dissensus.prediction import Predictions

    reading.spare(output)
    wanted = _wanted(metric or [], every)
    folders = [predictions, *(against or [])]
    loaded = [Predictions.load(folder) for folder in folders]
    read = reading.read()
    for folder, answers in zip(folders, loaded, strict=True):
        _check(folder, answers, read, question or [])
    names = _labels(folders, loaded)
    results = [
        result
        for name, answers in zip(names, loaded, strict=True)
        for result in _results(name, answers, read, question or list(answers), wanted)
    ]
    if not results:
        raise DataError(f"{predictions}: no predicted item has an answer in {read.name}")
    if metric:
        _say_what_does_not_apply(wanted or [], results)
    content = {"corpus": read.name, "results": [result.to_dict() for result in results]}
    if output is not None:
        console.write_json(output, content)
    if json:
        console.print_json(content)
        return
    for shown in _tables(read, results):
        show(*shown)


def _wanted(named: list[str], every: bool) -> list[str] | None:
    """The metrics asked for; None for those that tables show unasked."""
    from dissensus.metrics import METRICS, metric_name

    if named and every:
        raise DataError("--all shows every metric; leave --metric out")
    return list(METRICS) if every else [metric_name(name) for name in named] or None


def _say_what_does_not_apply(wanted: list[str], results: list[Result]) -> None:
    from dissensus.metrics import METRICS

    shown = {name for result in results for name in result.scores}
    reasons = []
    for name in wanted:
        metric = METRICS[name]
        if name not in shown:
            kinds = " and ".join(", ".join(metric.scales).rsplit(", ", 1))
            reasons.append(f"{name} is for {kinds} answers and needs predicted {metric.needs}")
    if len(reasons) == len(wanted):
        raise DataError(f"nothing to show: {'; '.join(reasons)}")
    for reason in reasons:
        console.say(f"left out: {reason}")


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
        _check_scale(folder, question, answers[question].scale, corpus)


def _check_scale(folder: Path, question: str, learned: Scale, corpus: Corpus) -> None:
    """Refuse answers that the model could not have given."""
    try:
        corpus[question].to(learned)
    except DataError as error:
        reason = re.sub(r"^row \d+: ", "", str(error))
        raise DataError(
            f"{folder}: {question!r} was learned on another scale than {corpus.name} answers it "
            f"on ({reason}); {_about_scales(learned, corpus[question].scale)}"
        ) from None


def _about_scales(learned: Scale, found: Scale) -> str:
    """What to do where answers are not on the scale that was learned."""
    import numpy as np

    from dissensus.readers.tables.spellings import variants
    from dissensus.scales import Interval

    if isinstance(learned, Interval):
        ends = [learned.low, learned.high, *_ends(found)]
        both = f"interval:{min(ends):.12g}:{max(ends):.12g}"
        return f"say all values when training, as in --scale {both}"
    known = list(getattr(learned, "values", ()))
    strange = [value for value in getattr(found, "values", ()) if value not in known]
    if not strange:
        return "say all values when training"
    every = known + strange
    groups = variants(every, np.ones(len(every)))
    if {every[code] for group in groups for code in group}.issuperset(strange):
        same = f"--scale {learned.kind}:{','.join(known)} --merge-variants"
        return f"if these are other spellings of the same, say {same}"
    return f"say all values when training, as in --scale {learned.kind}:{','.join(every)}"


def _ends(scale: Scale) -> Sequence[float]:
    """The numbers that a scale holds, the lowest and highest among them; none of words."""
    from dissensus.scales import Interval, as_numbers

    if isinstance(scale, Interval):
        return scale.low, scale.high
    return as_numbers(getattr(scale, "values", ())) or ()


def _labels(folders: list[Path], loaded: list[Predictions]) -> list[str]:
    """The methods' names, with the folder where a name occurs twice."""
    methods = [answers.method for answers in loaded]
    return [
        method if methods.count(method) == 1 else f"{method} ({folder})"
        for method, folder in zip(methods, folders, strict=True)
    ]


def _results(
    method: str,
    answers: Predictions,
    corpus: Corpus,
    questions: list[str],
    wanted: list[str] | None,
) -> Iterator[Result]:
    for question in questions:
        if question in corpus.questions:
            for part, inside in _parts(corpus):
                result = _result(question, part, inside, method, answers[question], corpus, wanted)
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
    wanted: list[str] | None,
) -> Result:
    """The scores on the items `inside` (n_items,) only: answers to others are left out."""
    from dissensus import metrics

    people = corpus[question].take(inside[corpus[question].item])
    gold = corpus.gold.get(question)
    gold = None if gold is None else gold.take(inside[gold.item])
    number_of = metrics.compared(prediction, people)
    scores = metrics.scores(prediction, people, gold, wanted)
    soft = [name for name in scores if name in metrics.METRICS and metrics.METRICS[name].soft]
    return Result(
        question,
        part,
        method,
        number_of.items,
        number_of.pairs,
        0 if gold is None else metrics.compared(prediction, gold).items,
        scores,
        metrics.bounds(soft, people.to(prediction.scale), prediction.items) if soft else {},
        _dic(prediction, people) if {"DIC", "DIC, normalised"} & scores.keys() else None,
    )


def _dic(prediction: Prediction, people: Annotations) -> tuple[Dic, Dic]:
    """DIC with what it rests on, and what noise alone makes on the same answers."""
    from dissensus.metrics import dic_floor, dic_of
    from dissensus.metrics.matching import common_pairs

    answered = people.to(prediction.scale).take(common_pairs(prediction, people)[0])
    return dic_of(prediction, people), dic_floor(answered)


def _tables(corpus: Corpus, results: list[Result]) -> Iterator[list[Any]]:
    """A heading and a table for each question and part, one column per method."""
    blocks: dict[tuple[str, str | None], list[Result]] = {}
    for result in results:
        blocks.setdefault((result.question, result.part), []).append(result)
    for number_before, ((question, part), methods) in enumerate(blocks.items()):
        heading = f"{corpus.name}, {question}" + (f", {part}" if part else "")
        beside = _bounds_beside(methods)
        bounds = ["perfect", "constant"] if beside else []
        names = ["", *(result.method for result in methods), *bounds, "better"]
        table = columns(names, _rows(methods, beside), names[1:-1], whole=[*bounds, "better"])
        yield [*([""] if number_before else []), heading, table]


def _bounds_beside(methods: list[Result]) -> bool:
    """Whether the bounds of soft metrics have columns: few methods, and on the same items."""
    shown = {str([(n, number(b[0]), number(b[1])) for n, b in r.bounds.items()]) for r in methods}
    return len(methods) <= BESIDE and len(shown) == 1 and any(r.bounds for r in methods)


def _rows(methods: list[Result], beside: bool) -> Iterator[list[str]]:
    from dissensus.metrics import METRICS

    empty = ["", ""] if beside else []

    def counts(name: str, of: list[int]) -> list[str]:
        return [name, *map(number, of), *empty, ""]

    yield counts("items compared", [result.items for result in methods])
    if any(result.answers for result in methods):
        yield counts("answers by annotator", [result.answers for result in methods])
    if any(result.gold for result in methods):
        yield counts("gold labels compared", [result.gold for result in methods])
    for name in METRICS:
        yield from _metric_rows(name, methods, beside)
    if any(result.dic for result in methods):
        yield from _dic_rows([result.dic for result in methods], empty)
    for name in METRICS:
        yield from _metric_rows(f"{name} (gold)", methods, beside)


def _metric_rows(name: str, methods: list[Result], beside: bool) -> Iterator[list[str]]:
    """A metric's scores, with its bounds in columns beside or in lines below."""
    from dissensus.metrics import METRICS

    if not any(name in result.scores for result in methods):
        return
    better = "higher" if METRICS[name.removesuffix(" (gold)")].higher_is_better else "lower"
    found = [number(result.scores.get(name, math.nan)) for result in methods]
    bounds = [result.bounds.get(name) for result in methods]
    if beside:
        both = ["", ""] if bounds[0] is None else [number(bound) for bound in bounds[0]]
        yield [name, *found, *both, better]
        return
    yield [name, *found, better]
    for place, guess in enumerate(("perfect", "constant") if any(bounds) else ()):
        each = [number(math.nan if of is None else of[place]) for of in bounds]
        yield [f"  {guess} prediction", *each, ""]


def _dic_rows(every: list[tuple[Dic, Dic] | None], empty: list[str]) -> Iterator[list[str]]:
    """What DIC rests on; what was not predicted by annotator has a dash."""

    def of(name: str, values: list[float | None]) -> list[str]:
        shown = [number(math.nan if value is None else value) for value in values]
        return [name, *shown, *empty, ""]

    yield of("  DIC between halves", [d and d[1].value for d in every])
    yield of("  the same, normalised", [d and d[1].normalised for d in every])
    yield of("  pairs of annotators", [d and d[0].pairs for d in every])
    yield of("  pairs left out", [d and d[0].left_out for d in every])
