"""The items about which annotators disagree most, with their votes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.description import Description, QuestionDescription
from dissensus.description.describe import most_disputed
from dissensus.description.disputed_table import answers_of_items, changed_consensus, who_text
from dissensus.description.marks import without_marked
from dissensus.description.suspicious_annotators import some_names
from dissensus.drawing import draw
from dissensus.drawing.contents import spans_of
from dissensus.prediction import Prediction, Predictions
from dissensus.report.blocks import Bars, Block, Figure, Section, Table, Text, brief_names
from dissensus.report.figures import labelled, thumbnail
from dissensus.scales import Interval

MOST_VALUES = 12  # in a bar
MOST_PICTURED = 5  # questions whose items are shown as pictures
MOST_DISCUSSED = 8  # items on the first page
MOST_CHANGED = 20  # items with another consensus


def disputed(
    corpus: Corpus, description: Description, predictions: Predictions | None
) -> Section | None:
    blocks: list[Block] = []
    for number, question in enumerate(description.questions):
        if question.disputed:
            blocks.append(_table(corpus, question, predictions, number < MOST_PICTURED))
            blocks += _changed(corpus, question)
        elif question.loaded:
            blocks.append(Text(f"{question.name}: no item has two answers that differ."))
    return Section("disputed", "Disputed items", blocks) if blocks else None


def to_discuss(section: Section | None) -> Table | None:
    """The first rows of the first table of disputed items."""
    tables = [block for block in section.blocks if isinstance(block, Table)] if section else []
    if not tables:
        return None
    title = tables[0].title.replace("Most disputed", "Items to discuss first", 1)
    return replace(tables[0], title=title, rows=tables[0].rows[:MOST_DISCUSSED])


def _table(
    corpus: Corpus, question: QuestionDescription, predictions: Predictions | None, pictured: bool
) -> Table:
    """If annotators are marked, the order and the votes are those of the others."""
    every = corpus[question.name]
    rest, listed = every, question.disputed
    if question.disputed_without:
        listed = question.disputed_without
        rest = without_marked(every, question.marked)
    predicted = None if predictions is None else predictions.get(question.name)
    is_ratings = isinstance(every.scale, Interval)
    barred = not is_ratings and len(getattr(every.scale, "values", ())) <= MOST_VALUES
    shares = rest.distribution() if barred else None
    with_text = any(contents.kind == "text" for contents in corpus.contents.values())
    codes = corpus.items.codes([entry.item for entry in listed])
    by_item = answers_of_items(rest, codes)
    rows = []
    for entry, code, answers in zip(listed, codes, by_item, strict=True):
        counts = zip(brief_names(entry.answers), entry.answers.values(), strict=True)
        votes: Any = ", ".join(f"{name} {number:.3g}" for name, number in counts)
        if shares is not None:
            votes = Bars.of(every.scale, shares[code], entry.dispute)
        text = entry.text if with_text and entry.text != entry.item else None
        small = thumbnail(corpus, int(code)) if pictured else None
        who = who_text(answers) if every.annotator is not None else ""
        row = [entry.item, small, text, votes, who, entry.dispute]
        if predicted is not None and barred:
            at = int(predicted.items.find([entry.item])[0])
            share = None if at < 0 else predicted.distribution[at]
            row.append(None if share is None else Bars.of(every.scale, share))
        rows.append(row)
    columns = ["item", "picture", "text", "ratings" if is_ratings else "votes"]
    columns += ["who answered what", question.disputed_by]
    columns += ["predicted"] if predicted is not None and barred else []
    without = f", {_without(question)}" if rest is not every else ""
    return Table(f"Most disputed, {question.name}{without}", columns, rows)


def _without(question: QuestionDescription) -> str:
    return f"without {some_names(list(question.marked))}"


def _changed(corpus: Corpus, question: QuestionDescription) -> list[Table]:
    """The items with another consensus without marked annotators; means of ratings all change."""
    every = corpus[question.name]
    if not question.marked or isinstance(every.scale, Interval):
        return []
    codes, *answers = changed_consensus(every, without_marked(every, question.marked))
    rows = [
        [corpus.items[code], corpus.text_of(code), *both]
        for code, *both in list(zip(codes.tolist(), *answers, strict=True))[:MOST_CHANGED]
    ]
    title = f"Another consensus {_without(question)}, {question.name}"
    columns = ("item", "text", "of all", _without(question))
    return [Table(title, columns, rows, total=len(codes))] if rows else []


MOST_ITEMS = 3  # of each question
MOST_BYTES = 200_000  # of a drawing
MOST_FIGURES = 6  # of the section
CANDIDATES = 50  # disputed items among which those with marks are shown
MOST_PLACES = 5  # of an annotator and item, in the table


def looks(corpus: Corpus, tested: Corpus | None, predictions: Predictions | None) -> Section | None:
    """The section; None without attention and without rationales.

    Args:
        tested: the items that were predicted.
    """
    blocks: list[Block] = []
    for question in corpus.questions:
        prediction = None if predictions is None else predictions.get(question)
        if prediction is not None and prediction.attention and tested is not None:
            blocks += _looks_at(tested, question, predictions)
        elif corpus.rationales is not None:
            blocks += _looks_at(corpus, question)
    if not blocks:
        return None
    blocks = blocks[:MOST_FIGURES]
    words = "Disputed items, with the parts of them that counted for each annotator."
    return Section("looks", "Who looked where", [Text(words), *blocks])


def _looks_at(corpus: Corpus, question: str, predictions: Predictions | None = None) -> list[Block]:
    """Disputed items with what was marked in them or, with predictions, the attention to them."""
    blocks: list[Block] = []
    for item in (one.item for one in most_disputed(corpus, corpus[question], CANDIDATES)):
        if predictions is None:
            spans = spans_of(corpus, int(corpus.items.codes([item])[0]), [question])
            known = len(spans.item) > 0
        else:
            known = predictions[question].items.find([item])[0] >= 0
        if not known or len(blocks) >= MOST_ITEMS:
            continue
        svg = draw(corpus, item, question, predictions)
        if len(svg) > MOST_BYTES:
            continue
        if predictions is None:
            title = f"Marked in item {item}, {question}"
            alt = (
                f"Item {item}, {question}: what each annotator marked as the reason for the answer."
            )
            columns: tuple[str, ...] = ("annotator", "role", "from", "to", "kind")
            ends = ([_ends(end) for end in of.tolist()] for of in (spans.start, spans.stop))
            names = ["" if c < 0 else corpus.annotators[c] for c in spans.annotator.tolist()]
            parts = (names, spans.role.to_pylist(), *ends, spans.kind.to_pylist())
            rows = [list(row) for row in zip(*parts, strict=True)]
        else:
            title = f"Attention to item {item}, {question}"
            alt = (
                f"Item {item}, {question}: the answers, the predicted distribution, and what each "
                f"annotator attends to according to {predictions.method}: the more colour, the "
                "more attention. The item was not trained on."
            )
            columns = ("annotator", "role", "from", "to", "part", "attention")
            rows = list(_places(corpus, item, predictions[question]))
        blocks.append(Figure(title, alt, labelled(svg, alt), columns, rows))
    return blocks


def _ends(value: Any) -> Any:
    """A place in a content: a number, or several as text."""
    if isinstance(value, list):
        known = [part for part in value if part == part]
        return known[0] if len(known) == 1 else ", ".join(f"{part:g}" for part in known)
    return value


def _places(tested: Corpus, item: str, prediction: Prediction) -> Iterable[list[Any]]:
    """The parts of an item that each annotator attends to most."""
    pairs = prediction.by_annotator
    assert pairs is not None
    code = int(prediction.items.codes([item])[0])
    place = int(tested.items.codes([item])[0])
    for attention in prediction.attention:
        role = attention.role.split("&")[0]
        contents = tested.contents.get(role)
        is_text = contents is not None and contents.kind == "text"
        text = contents[tested.content[role][place]] if is_text and contents is not None else ""
        ends = attention.places_of(code)
        for row in np.flatnonzero(pairs.item == code):
            weight = attention.of_pair(int(row))
            for at in np.argsort(-weight, kind="stable")[:MOST_PLACES]:
                begin, end = ends[at, 0].tolist()
                if end > begin and weight[at] == weight[at]:
                    part = text[int(begin) : int(end)] if is_text else ""
                    name = pairs.annotators[int(pairs.annotator[row])]
                    yield [name, role, begin, end, part, float(weight[at])]
