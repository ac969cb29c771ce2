"""Label Studio's tasks, with the consensus as a prediction that people can accept or correct."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_columns
from dissensus.scales import Interval, answer_text
from dissensus.writers.table_files import losses

TAGS = {"text": "Text", "image": "Image", "speech": "Audio", "video": "Video"}  # kind -> tag


def write_tasks(corpus: Corpus, path: Path) -> list[str]:
    """Write a task for each item, with the consensus as a prediction and the votes as data.

    The score of a prediction is the share of answers that are equal to it, mean over questions.

    Answers are not written as annotations: Label Studio takes only those of its own users.
    """
    columns = {name: column.to_pylist() for name, column in item_columns(corpus).items()}
    shown = next((corpus.columns.get(role, role) for role in corpus.contents), "")
    data = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    results: list[list[dict[str, Any]]] = [[] for _ in data]
    scores: list[list[float]] = [[] for _ in data]
    for question, answers in corpus.questions.items():
        for item, votes in _votes(answers).items():
            data[item][f"votes_{question}"] = votes
        for item, values, score in _consensus(answers):
            results[item].append({"from_name": question, "to_name": "content", **values})
            scores[item] += [] if score is None else [score]
    tasks = []
    for of_item, result, score_of in zip(data, results, scores, strict=True):
        prediction: dict[str, Any] = {"model_version": "dissensus", "result": result}
        if score_of:
            prediction["score"] = round(sum(score_of) / len(score_of), 4)
        tasks.append({"data": of_item, "predictions": [prediction] if result else []})
    path.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    notes = losses(corpus, stored_fields=(), more=["answers of each annotator, except as text"])
    return [*notes, f"labelling configuration: {_configuration(corpus, shown)}"]


def _consensus(answers: Annotations) -> list[tuple[int, dict[str, Any], float | None]]:
    """The item, the consensus, and the share of answers that are equal to it; None of ratings."""
    consensus = answers.consensus()
    if isinstance(answers.scale, Interval):
        numbers = zip(consensus.item.tolist(), consensus.answer.tolist(), strict=True)
        return [(i, {"type": "number", "value": {"number": n}}, None) for i, n in numbers]
    votes = answers.votes if answers.repeated is not None else answers.weight
    agreed = np.full(answers.n_items, -1, dtype=consensus.answer.dtype)
    agreed[consensus.item] = consensus.answer
    equal = np.bincount(answers.item, votes * (answers.answer == agreed[answers.item]))
    score = equal / np.maximum(answers.voters()[: len(equal)], 1)
    rows: list[tuple[int, dict[str, Any], float | None]] = []
    for item, answer in zip(consensus.item.tolist(), consensus.answers(), strict=True):
        chosen = list(answer) if isinstance(answer, tuple) else [str(answer)]
        value = {"type": "choices", "value": {"choices": chosen}}
        rows.append((item, value, float(score[item])))
    return rows


def _votes(answers: Annotations) -> dict[int, str]:
    """Who answered what, by item."""
    codes = [] if answers.annotator is None else answers.annotator.tolist()
    who = [f"{answers.annotators[code]}: " for code in codes] or [""] * answers.n_rows
    votes: dict[int, list[str]] = {}
    for row, (item, answer) in enumerate(
        zip(answers.item.tolist(), answers.answers(), strict=True)
    ):
        count = f" ({answers.weight[row]:g})" if answers.weight[row] != 1 else ""
        votes.setdefault(item, []).append(f"{who[row]}{answer_text(answer)}{count}")
    return {item: "; ".join(parts) for item, parts in votes.items()}


def _configuration(corpus: Corpus, shown: str) -> str:
    """The configuration that the project needs, to show contents and predictions."""
    kinds = [contents.kind for contents in corpus.contents.values()]
    tag = TAGS.get(kinds[0], "Text") if kinds else "Text"
    parts = [f'<{tag} name="content" value="${shown or "item"}"/>']
    for question, answers in corpus.questions.items():
        name = f'name={quoteattr(question)} toName="content"'
        if isinstance(answers.scale, Interval):
            parts.append(f"<Number {name}/>")
            continue
        choices = "".join(
            f"<Choice value={quoteattr(v)}/>" for v in getattr(answers.scale, "values", ())
        )
        several = ' choice="multiple"' if answers.scale.kind == "multi-label" else ""
        parts.append(f"<Choices {name}{several}>{choices}</Choices>")
    return f"<View>{''.join(parts)}</View>"
