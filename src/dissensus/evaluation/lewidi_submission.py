"""Submissions to the LeWiDi shared tasks of 2023 and 2025: read and written.

2025: a TSV file without a header. A soft submission has a line `id <tab> [p, ...]` for each item;
on a multi-label question `[[p0, p1], ...]`, a pair for each value. A perspectivist one has
`id <tab> [answer, ...]`, an answer for each annotator of the item, in the order of the data.

2023: a TSV file without a header, a line `hard label <tab> p0 <tab> p1` for each item, in the order
of the data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from dissensus.scales import MultiLabel, Scale, as_numbers


def read_submission(
    path: Path, corpus: Corpus, questions: Sequence[str] | None = None
) -> tuple[Predictions, list[str]] | None:
    """The predictions of a submission, with notes; None if the file is something else."""
    if path.suffix.lower() not in (".tsv", ".txt", ".csv"):
        return None
    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
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
        listed_values = [json.loads(row[1]) for row in cells]
    except ValueError:
        raise DataError(f"{path}: a second column is not a list of numbers") from None
    known = np.isin(ids, list(corpus.items))
    notes = []
    if not known.all():
        gone = [name for name, here in zip(ids, known, strict=True) if not here]
        notes = [f"{len(gone)} of {len(ids)} items are not in the corpus ({listed(gone, 3)})"]
    kept = [(name, values) for name, values, here in zip(ids, listed_values, known, strict=True)
            if here]  # fmt: skip
    if not kept:
        raise DataError(f"{path}: none of its {len(ids)} items is in {corpus.name}")
    items = corpus.items.take(corpus.items.codes([name for name, _ in kept]))
    scale = corpus[question].scale
    values = [value for _, value in kept]
    if _is_soft(values, scale):
        matrix = np.array(values, dtype=float)
        soft = matrix[..., 1] if isinstance(scale, MultiLabel) else matrix
        return Prediction(scale, items, soft, scale.consensus(soft)), notes, "LeWiDi 2025, soft"
    return (
        _perspectivist(path, kept, corpus, question),
        notes,
        "LeWiDi 2025, perspectivist",
    )


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
    rows_of = {name: np.flatnonzero(answers.item == code)
               for name, code in zip((n for n, _ in kept),
                                     corpus.items.codes([n for n, _ in kept]),
                                     strict=True)}  # fmt: skip
    for at, (name, submitted) in enumerate(kept):
        rows = rows_of[name]
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
    codes, answer = np.array(item, dtype=np.int64), np.array(value, dtype=scale.dtype)
    one_hot = scale.one_hot(answer).astype(float)
    mean = np.zeros((len(kept), one_hot.shape[1]))
    np.add.at(mean, codes, one_hot)
    mean /= np.maximum(np.bincount(codes, minlength=len(kept)), 1)[:, None]
    items = corpus.items.take(corpus.items.codes([name for name, _ in kept]))
    pairs = ByAnnotator(codes, np.array(who, dtype=np.int64), corpus.annotators, answer, one_hot)
    return Prediction(scale, items, mean, scale.consensus(mean), pairs)


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
    """Write a submission; `read_submission` reads it again.

    Args:
        task: "2025-perspectivist" needs predictions of the annotators of each item.
    """
    lines = []
    scale, multi = prediction.scale, isinstance(prediction.scale, MultiLabel)
    if task == "2025-perspectivist":
        lines = _perspectivist_lines(prediction, corpus, question)
    for at, name in enumerate(prediction.items if task != "2025-perspectivist" else ()):
        shares = [round(float(share), 10) for share in prediction.distribution[at]]
        if task == "2023":
            if scale.n_columns != 2 or multi:
                raise DataError("a LeWiDi 2023 submission is for questions with two values")
            lines.append("\t".join(map(str, [int(prediction.consensus[at]), *shares])))
        else:
            listed_shares = [[round(1 - share, 10), share] for share in shares] if multi else shares
            lines.append(f"{name}\t{json.dumps(listed_shares)}")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _perspectivist_lines(prediction: Prediction, corpus: Corpus, question: str) -> list[str]:
    pairs, answers = prediction.by_annotator, corpus[question]
    if pairs is None:
        raise DataError("a perspectivist submission needs predicted answers of annotators")
    annotator = answers.annotator_codes("a perspectivist submission")
    value = {
        (prediction.items[item], pairs.annotators[who]): pairs.value[at]
        for at, (item, who) in enumerate(zip(pairs.item, pairs.annotator, strict=True))
    }
    lines = []
    for name, code in zip(prediction.items, corpus.items.codes(prediction.items), strict=True):
        rows = np.flatnonzero(answers.item == code)
        people = [corpus.annotators[who] for who in annotator[rows]]
        missing = [who for who in people if (name, who) not in value]
        if missing:
            raise DataError(f"item {name!r}: no predicted answer of {listed(missing, 3)}")
        codes = np.array([value[name, who] for who in people], dtype=prediction.scale.dtype)
        if isinstance(prediction.scale, MultiLabel):
            submitted: Any = prediction.scale.one_hot(codes).astype(int).T.tolist()
        else:
            submitted = [_as_number(answer) for answer in prediction.scale.decode(codes)]
        lines.append(f"{name}\t{json.dumps(submitted)}")
    return lines


def _as_number(answer: Any) -> Any:
    numbers = as_numbers([str(answer)])
    if numbers is None:
        return answer
    return int(numbers[0]) if float(numbers[0]).is_integer() else numbers[0]
