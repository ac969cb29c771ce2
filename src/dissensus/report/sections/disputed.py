"""The items about which annotators disagree most, with their votes."""

from __future__ import annotations

from typing import Any

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import Description, QuestionDescription
from dissensus.prediction import Predictions
from dissensus.report.blocks import Bars, Block, Section, Table, Text, brief_names
from dissensus.report.thumbnails import thumbnail
from dissensus.scales import Interval

MOST_VALUES = 12  # in a bar
MOST_PICTURED = 5  # questions whose items are shown as pictures
MOST_NAMED = 12  # annotators of an item who are named


def disputed(
    corpus: Corpus, description: Description, predictions: Predictions | None
) -> Section | None:
    blocks: list[Block] = []
    for number, question in enumerate(description.questions):
        if question.disputed:
            blocks.append(_table(corpus, question, predictions, number < MOST_PICTURED))
        elif question.loaded:
            blocks.append(Text(f"{question.name}: no item has two answers that differ."))
    return Section("disputed", "Disputed items", blocks) if blocks else None


def _table(
    corpus: Corpus,
    question: QuestionDescription,
    predictions: Predictions | None,
    pictured: bool,
) -> Table:
    annotations = corpus[question.name]
    predicted = None if predictions is None else predictions.get(question.name)
    values = tuple(getattr(annotations.scale, "values", ()))
    barred = not isinstance(annotations.scale, Interval) and len(values) <= MOST_VALUES
    kind_of_answers = "ratings" if isinstance(annotations.scale, Interval) else "votes"
    columns = [
        "item",
        "picture",
        "text",
        question.disputed_by,
        kind_of_answers,
        "who answered what",
    ]
    columns += ["predicted"] if predicted is not None and barred else []
    codes = corpus.items.codes([entry.item for entry in question.disputed])
    with_text = any(contents.kind == "text" for contents in corpus.contents.values())
    rows = []
    for entry, code in zip(question.disputed, codes, strict=True):
        counts = zip(brief_names(entry.answers), entry.answers.values(), strict=True)
        votes: Any = ", ".join(f"{name} {number:.3g}" for name, number in counts)
        if barred:
            votes = Bars.of(values, annotations.distribution()[code], entry.dispute)
        text = entry.text if with_text else None
        small = thumbnail(corpus, int(code)) if pictured else None
        row = [entry.item, small, text, entry.dispute, votes, _who(annotations, int(code))]
        if predicted is not None and barred:
            at = int(predicted.items.find([entry.item])[0])
            share = None if at < 0 else predicted.distribution[at]
            row.append(None if share is None else Bars.of(values, share))
        rows.append(row)
    return Table(f"Most disputed, {question.name}", columns, rows)


def _who(annotations: Annotations, item: int) -> str:
    """Each answer with its annotators, the most frequent first."""
    if annotations.annotator is None:
        return ""
    rows = annotations.take(annotations.item == item)
    names = [annotations.annotators[int(code)] for code in rows.annotator_codes("a report")]
    by_answer: dict[str, list[str]] = {}
    for name, answer in list(zip(names, rows.answers(), strict=True))[:MOST_NAMED]:
        words = (" + ".join(answer) or "(none)") if isinstance(answer, tuple) else f"{answer}"
        by_answer.setdefault(words, []).append(name)
    answers = zip(brief_names(by_answer), by_answer.values(), strict=True)
    parts = sorted(answers, key=lambda part: (-len(part[1]), part[0]))
    more = len(names) - MOST_NAMED
    return "; ".join(f"{answer}: {', '.join(brief_names(who))}" for answer, who in parts) + (
        f"; and {more} more" if more > 0 else ""
    )
