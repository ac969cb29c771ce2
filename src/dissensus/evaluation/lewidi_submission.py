"""Submissions to the LeWiDi shared tasks of 2023 and 2025: read and written.

2025: a TSV file without a header, with a line for each item of the part. A soft submission has
`id <tab> [p, ...]`. On a multi-label question it is `[[p0, p1], ...]`, a pair for each value:
contradiction, entailment, neutral. The levels of CSC begin at 0, which nobody can choose, so that
it has seven probabilities; six are read too. A perspectivist submission has
`id <tab> [answer, ...]`, an answer for each annotator of the item, in the order of the data; on a
multi-label question `[[0, 1, ...], ...]`, such a list for each value.

2023: a TSV file without a header, a line `hard label <tab> p0 <tab> p1` for each item of the part,
in the order of the data.

A corpus that has parts names items "dev-3944", while submissions name them "3944".
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.files.folders import staged
from dissensus.files.plain import plain_bytes
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from dissensus.scales import MultiLabel, Scale, as_numbers


def read_submission(
    path: Path, corpus: Corpus, questions: Sequence[str] | None = None
) -> tuple[Predictions, list[str]] | None:
    """The predictions of a submission, with notes; None if the file is something else."""
    if path.suffix.lower() not in (".tsv", ".txt", ".csv"):
        return None
    try:
        text = plain_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    cells = [line.split("\t") for line in lines]
    named = list(questions or corpus.questions)
    if not cells or len(named) != 1:
        return None
    question = named[0]
    if all(len(row) == 2 and row[1].lstrip().startswith("[") for row in cells):
        prediction, notes, kind = _read_2025(path, cells, corpus, question)
    elif all(len(row) == 3 and as_numbers(row) is not None for row in cells):
        prediction, notes, kind = _read_2023(path, cells, corpus, question)
    else:
        return None
    line = f"{path}: {kind}; {question}: {counted(len(prediction.items), 'item')}"
    predictions = Predictions({question: prediction}, path.stem, corpus.name)
    return predictions, [line, *(f"{path}: {note}" for note in notes)]


def _read_2025(
    path: Path, cells: list[list[str]], corpus: Corpus, question: str
) -> tuple[Prediction, list[str], str]:
    ids = [row[0].strip() for row in cells]
    try:
        listed_values = [ast.literal_eval(row[1].strip()) for row in cells]
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise DataError(f"{path}: a second column is not a list of numbers") from None
    names = _items_of(ids, corpus)
    known = corpus.items.find(names) >= 0
    notes = []
    if not known.all():
        gone = [name for name, here in zip(ids, known, strict=True) if not here]
        notes = [f"{len(gone)} of {len(ids)} items are not in the corpus ({listed(gone, 3)})"]
    kept = [(name, values) for name, values, here in zip(names, listed_values, known, strict=True)
            if here]  # fmt: skip
    if not kept:
        raise DataError(f"{path}: none of its {len(ids)} items is in {corpus.name}")
    if len({name for name, _ in kept}) < len(kept):
        raise DataError(f"{path}: an item has several lines; keep one")
    items = corpus.items.take(corpus.items.codes([name for name, _ in kept]))
    scale = corpus[question].scale
    values = [value for _, value in kept]
    if _begins_at_one(scale) and all(
        len(value) == scale.n_columns + 1 and value[0] == 0 for value in values
    ):
        values = [value[1:] for value in values]
    if _is_soft(values, scale):
        matrix = np.array(values, dtype=float)
        soft = matrix[..., 1] if isinstance(scale, MultiLabel) else matrix
        return Prediction(scale, items, soft, scale.consensus(soft)), notes, "LeWiDi 2025, soft"
    return (
        _perspectivist(path, kept, corpus, question),
        notes,
        "LeWiDi 2025, perspectivist",
    )


def _items_of(ids: Sequence[str], corpus: Corpus) -> list[str]:
    """The items of the corpus that the ids name, in the part with most of them, else the last."""
    prefixes = [*(f"{part}-" for part in reversed(corpus.parts())), ""]
    spelled = [[prefix + name for name in ids] for prefix in prefixes]
    return max(spelled, key=lambda names: int((corpus.items.find(names) >= 0).sum()))


def _id_of(name: str, part: str | None) -> str:
    """The id of an item in a submission."""
    return name if part is None else name.removeprefix(f"{part}-")


def _begins_at_one(scale: Scale) -> bool:
    """Whether a submission has a level 0 before those of the scale, as for CSC."""
    return getattr(scale, "values", None) == tuple("123456")


def _is_soft(values: list[Any], scale: Scale) -> bool:
    """Whether all lists are distributions over the values of the scale."""
    expected = (scale.n_columns, 2) if isinstance(scale, MultiLabel) else (scale.n_columns,)
    if any(len(value) != expected[0] for value in values):
        return False
    try:
        matrix = np.array(values, dtype=float)
    except ValueError:
        return False
    if matrix.shape[1:] != expected or matrix.min(initial=0) < 0:
        return False
    return bool(np.allclose(matrix.sum(axis=-1), 1, atol=0.02))


def _perspectivist(
    path: Path, kept: list[tuple[str, Any]], corpus: Corpus, question: str
) -> Prediction:
    """Answers of the annotators of each item, in the order of the data."""
    answers, scale = corpus[question], corpus[question].scale
    annotator = answers.annotator_codes("a perspectivist submission")
    item, who, value = [], [], []
    rows_of, codes = _rows_by_item(answers), corpus.items.codes([name for name, _ in kept])
    for at, (name, submitted) in enumerate(kept):
        rows = rows_of[codes[at]]
        if isinstance(scale, MultiLabel):  # a list of 0 and 1 for each value
            submitted = [[v for v, chosen in zip(scale.values, each, strict=True) if int(chosen)]
                     for each in zip(*submitted, strict=True)]  # fmt: skip
        if len(submitted) != len(rows):
            raise DataError(
                f"{path}: item {name!r} has {len(submitted)} answers for {len(rows)} annotators"
            )
        item += [at] * len(rows)
        who += annotator[rows].tolist()
        spelled = submitted if isinstance(scale, MultiLabel) else [_spelled(v) for v in submitted]
        value += scale.encode(spelled).tolist()
    place, answer = np.array(item, dtype=np.int64), np.array(value, dtype=scale.dtype)
    one_hot = scale.one_hot(answer).astype(float)
    mean = np.zeros((len(kept), one_hot.shape[1]))
    np.add.at(mean, place, one_hot)
    mean /= np.maximum(np.bincount(place, minlength=len(kept)), 1)[:, None]
    items = corpus.items.take(codes)
    pairs = ByAnnotator(place, np.array(who, dtype=np.int64), corpus.annotators, answer, one_hot)
    return Prediction(scale, items, mean, scale.consensus(mean), pairs)


def _rows_by_item(answers: Annotations) -> list[np.ndarray]:
    """The rows of each item, in the order of the data."""
    order = np.argsort(answers.item, kind="stable")
    ends = np.cumsum(np.bincount(answers.item, minlength=len(answers.items)))
    return np.split(order, ends[:-1])


def _spelled(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _read_2023(
    path: Path, cells: list[list[str]], corpus: Corpus, question: str
) -> tuple[Prediction, list[str], str]:
    scale = corpus[question].scale
    parts = {part: np.flatnonzero(corpus.in_part(part)) for part in corpus.parts()}
    parts["all items"] = np.arange(corpus.n_items)
    fitting = [(part, codes) for part, codes in parts.items() if len(codes) == len(cells)]
    if scale.n_columns != 2 or not fitting:
        sizes = ", ".join(f"{part} {len(codes)}" for part, codes in parts.items())
        raise DataError(
            f"{path}: looks like a LeWiDi 2023 submission of {len(cells)} items, but there are "
            f"{sizes}, and {scale.n_columns} values"
        )
    part, codes = fitting[0]
    soft = np.array([[float(row[1]), float(row[2])] for row in cells])
    soft /= soft.sum(axis=1, keepdims=True)
    hard = np.array([int(float(row[0])) for row in cells]).astype(scale.dtype)
    prediction = Prediction(scale, corpus.items.take(codes), soft, hard)
    return prediction, [f"matched by order with the items of {part}"], "LeWiDi 2023"


def write_submission(
    prediction: Prediction,
    corpus: Corpus,
    question: str,
    path: str | Path,
    task: Literal["2025-soft", "2025-perspectivist", "2023"] = "2025-soft",
) -> None:
    """Write a submission, in the order of the corpus; `read_submission` reads it again.

    Args:
        task: "2025-perspectivist" needs predictions of the annotators of each item; "2023" needs
            all items of a part, which are not named there.

    Example:
        >>> import tempfile
        >>> from dissensus import simulate
        >>> from dissensus.methods import AnnotatorMajority
        >>> corpus = simulate.text(n_items=60)
        >>> prediction = AnnotatorMajority().fit(corpus).predict(corpus)["emotion"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "EMO_test_pe.tsv"
        ...     write_submission(prediction, corpus, "emotion", path, "2025-perspectivist")
        ...     len(path.read_text().splitlines())
        60
    """
    codes = corpus.items.codes(prediction.items)
    order = np.argsort(codes, kind="stable")
    if task == "2025-perspectivist":
        lines = _perspectivist_lines(prediction, corpus, question, order)
    elif task == "2023":
        _check_whole_part(codes, corpus)
        lines = _lines_2023(prediction, order)
    else:
        lines = _soft_lines(prediction, corpus, order)
    with staged(path) as new:
        new.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _soft_lines(prediction: Prediction, corpus: Corpus, order: np.ndarray) -> list[str]:
    ids, lines = _ids(prediction, corpus), []
    for at in order:
        shares = [round(float(share), 10) for share in prediction.distribution[at]]
        submitted: list[Any] = shares
        if isinstance(prediction.scale, MultiLabel):
            submitted = [[round(1 - share, 10), share] for share in shares]
        elif _begins_at_one(prediction.scale):
            submitted = [0.0, *shares]
        lines.append(f"{ids[at]}\t{json.dumps(submitted)}")
    return lines


def _lines_2023(prediction: Prediction, order: np.ndarray) -> list[str]:
    if prediction.scale.n_columns != 2 or isinstance(prediction.scale, MultiLabel):
        raise DataError("a LeWiDi 2023 submission is for questions with two values")
    cells = [
        [int(prediction.consensus[at]), *(round(float(p), 10) for p in prediction.distribution[at])]
        for at in order
    ]
    return ["\t".join(map(str, row)) for row in cells]


def _check_whole_part(codes: np.ndarray, corpus: Corpus) -> None:
    """Refuse predictions for some items of a part: a LeWiDi 2023 submission does not name them."""
    parts = [np.flatnonzero(corpus.in_part(part)) for part in corpus.parts()]
    if not any(
        np.array_equal(np.sort(codes), part) for part in [*parts, np.arange(corpus.n_items)]
    ):
        raise DataError("a LeWiDi 2023 submission needs predictions for all items of a part")


def _ids(prediction: Prediction, corpus: Corpus) -> list[str]:
    part_of = np.full(corpus.n_items, None, dtype=object)
    for part in corpus.parts():
        part_of[corpus.in_part(part)] = part
    codes = corpus.items.codes(prediction.items)
    return [_id_of(name, part_of[c]) for name, c in zip(prediction.items, codes, strict=True)]


def _perspectivist_lines(
    prediction: Prediction, corpus: Corpus, question: str, order: np.ndarray
) -> list[str]:
    pairs, answers = prediction.by_annotator, corpus[question]
    if pairs is None:
        raise DataError("a perspectivist submission needs predicted answers of annotators")
    annotator = answers.annotator_codes("a perspectivist submission")
    value = {
        (prediction.items[item], pairs.annotators[who]): pairs.value[at]
        for at, (item, who) in enumerate(zip(pairs.item, pairs.annotator, strict=True))
    }
    ids, codes, lines = _ids(prediction, corpus), corpus.items.codes(prediction.items), []
    rows_of = _rows_by_item(answers)
    for at in order:
        name, rows = prediction.items[int(at)], rows_of[codes[at]]
        people = [corpus.annotators[who] for who in annotator[rows]]
        missing = [who for who in people if (name, who) not in value]
        if missing:
            raise DataError(f"item {name!r}: no predicted answer of {listed(missing, 3)}")
        given = np.array([value[name, who] for who in people], dtype=prediction.scale.dtype)
        if isinstance(prediction.scale, MultiLabel):
            submitted: Any = prediction.scale.one_hot(given).astype(int).T.tolist()
        else:
            submitted = [_as_number(answer) for answer in prediction.scale.decode(given)]
        lines.append(f"{ids[at]}\t{json.dumps(submitted)}")
    return lines


def _as_number(answer: Any) -> Any:
    numbers = as_numbers([str(answer)])
    if numbers is None:
        return answer
    return int(numbers[0]) if float(numbers[0]).is_integer() else numbers[0]
