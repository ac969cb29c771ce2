"""Describe a corpus whose answers stay on disk: counts, agreement and disputed items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus import agreement
from dissensus.agreement.per_part import answers_per_value
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.corpus import StoredCorpus
from dissensus.description.disputed_items import (
    MEASURES,
    Disputed,
    answers_to,
    disputed_by,
    disputed_order,
)
from dissensus.description.facts import Description, QuestionDescription
from dissensus.description.sizes import reasons_of, spread
from dissensus.description.texts import ratings_of, scale_text
from dissensus.scales import Interval


def describe_stored(
    corpus: StoredCorpus, questions: Sequence[str] | None = None, most: int = 5
) -> Description:
    """Count what is in a corpus that `open_corpus` opened, one block of items after another.

    Annotators are not compared, and disputed items have no text: that needs all answers.

    Args:
        questions: which ones; all if left out.
        most: how many of the most disputed items to show.
    """
    names = list(corpus.questions if questions is None else questions)
    corpus.check_questions(names)
    of_no_question = [left for left in corpus.left_out if left.question not in corpus.questions]
    return Description(
        name=corpus.name,
        items=corpus.n_items,
        annotators=corpus.n_annotators,
        contents={},
        item_attributes=[],
        annotator_attributes=[],
        splits={},
        left_out=[left._asdict() for left in of_no_question] if questions is None else [],
        questions=[_describe_question(corpus, question, most) for question in names],
    )


def _describe_question(corpus: StoredCorpus, question: str, most: int) -> QuestionDescription:
    blocks = corpus[question]
    per_item = blocks.per_item()
    answered = per_item[per_item > 0]
    per_annotator = None if blocks.is_anonymous else blocks.per_annotator()
    active = None if per_annotator is None else per_annotator[per_annotator > 0]
    gold = corpus.gold.get(question)
    return QuestionDescription(
        name=question,
        scale=scale_text(blocks.scale),
        loaded=int(per_item.sum()),
        left_out=reasons_of(corpus.left_out, question),
        items=len(answered),
        items_without_answers=int((per_item == 0).sum()),
        annotators=None if active is None else len(active),
        per_item=spread(answered, mean=True),
        per_annotator=None if active is None else spread(active, mean=False),
        shares=_shares(blocks),
        ratings=_ratings(blocks),
        agreement=agreement.at_a_glance_in_blocks(blocks),
        disputed_by=disputed_by(blocks.scale),
        disputed=_most_disputed(blocks, most),
        by_annotator=[],
        checked=0,
        constant=[],
        fast=[],
        duplicated=[],
        comparable=False,
        crowd=[],
        groups=[],
        gold=0 if gold is None else int((gold.per_item() > 0).sum()),
        repeated=int((per_item - blocks.voters()).sum()),
    )


def _shares(blocks: AnnotationBlocks) -> dict[str, float] | None:
    """The share of answers with each value."""
    if isinstance(blocks.scale, Interval) or not blocks.n_rows:
        return None
    chosen = np.zeros(blocks.scale.n_columns)
    for _, block in blocks:
        chosen += answers_per_value(block)
    shares = chosen / blocks.n_answers
    return dict(zip(getattr(blocks.scale, "values", ()), shares.tolist(), strict=True))


def _ratings(blocks: AnnotationBlocks) -> dict[str, float] | None:
    """Mean, standard deviation and quantiles of ratings, from how often each was given."""
    if not isinstance(blocks.scale, Interval) or not blocks.n_rows:
        return None
    ratings, counts = np.empty(0), np.empty(0)
    for _, block in blocks:
        given = np.r_[ratings, block.answer]
        weight = np.r_[counts, block.weight]
        ratings, which = np.unique(given, return_inverse=True)
        counts = np.bincount(which.reshape(-1), weight).astype(float)
    item = np.zeros(len(ratings), dtype=np.int64)
    count = counts.astype(np.int64)
    return ratings_of(Annotations.from_arrays(item, None, ratings, blocks.scale, count=count))


def _most_disputed(blocks: AnnotationBlocks, most: int) -> list[Disputed]:
    """The items whose answers differ most, as `most_disputed`."""
    measure = MEASURES[disputed_by(blocks.scale)]
    dispute = np.empty(blocks.n_items)
    for part, block in blocks:
        dispute[part] = measure(block)
    order, dispute = disputed_order(dispute, blocks.voters(), most)
    disputed = {}
    numbers = np.searchsorted(blocks.bounds, order, side="right") - 1
    for number in np.unique(numbers).tolist():
        block = blocks.block(number)
        for item in order[numbers == number].tolist():
            answers = answers_to(block, item - blocks.bounds[number])
            disputed[item] = Disputed(blocks.items[item], "", float(dispute[item]), answers)
    return [disputed[item] for item in order.tolist()]
