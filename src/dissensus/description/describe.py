"""Describe a corpus: counts, agreement, disputed items, suspicious annotators.

Answers are in memory, or stay on disk and are counted one block of items after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dissensus import agreement
from dissensus.agreement import AnnotatorGroups, chosen_attributes, group_annotators
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.corpus import Corpus, StoredCorpus
from dissensus.description.disputed_items import (
    MEASURES,
    Disputed,
    answers_to,
    disputed_by,
    disputed_order,
    most_disputed,
)
from dissensus.description.facts import Description, GroupDescription, QuestionDescription
from dissensus.description.suspicious_annotators import compare_annotators
from dissensus.description.texts import ratings_of, scale_text, shares_of
from dissensus.scales import Interval

MISSING = "(missing)"


def describe(
    corpus: Corpus,
    questions: Sequence[str] | None = None,
    most: int = 5,
    by: Sequence[str] = (),
) -> Description:
    """Count what is in a corpus; list disputed items and suspicious annotators.

    Args:
        questions: which ones; all if left out.
        most: how many of the most disputed items to show.
        by: attributes of annotators; the answers of each group are described too. "all": every
            attribute that has groups.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"rude": Annotations.from_rows(rows)})
        >>> rude = describe(corpus).questions[0]
        >>> rude.loaded, rude.per_item, [item.item for item in rude.disputed]
        (3, {'min': 1, 'mean': 1.5, 'max': 2}, ['t1'])
    """
    groups = (
        [group_annotators(corpus, name) for name in chosen_attributes(corpus, by)] if by else []
    )

    def details(question: str) -> dict[str, Any]:
        answers = corpus[question]
        facts: dict[str, Any] = {
            "ratings": ratings_of(answers),
            "agreement": agreement.at_a_glance(answers),
            "disputed": most_disputed(corpus, answers, most),
            "with_oneself": agreement.with_oneself(answers),
        }
        if answers.annotator is None:
            return facts
        findings = compare_annotators(answers)
        suspicious = {row.annotator for row in findings.by_annotator if row.suspicious}
        described = [row for by in groups for row in _describe_groups(answers, by, suspicious)]
        return facts | vars(findings) | {"groups": described}

    return _described(
        corpus,
        questions,
        details,
        contents={
            role: {"kind": of.kind, "number": len(of)} for role, of in corpus.contents.items()
        },
        item_attributes=list(corpus.item_attributes),
        annotator_attributes=list(corpus.annotator_attributes),
        splits={scheme: _parts(corpus, scheme) for scheme in corpus.splits},
    )


def describe_stored(
    corpus: StoredCorpus, questions: Sequence[str] | None = None, most: int = 5
) -> Description:
    """Count what is in a corpus that `open_corpus` opened, one block of items after another.

    Annotators are not compared, and disputed items have no text: that needs all answers.

    Args:
        questions: which ones; all if left out.
        most: how many of the most disputed items to show.
    """

    def details(question: str) -> dict[str, Any]:
        blocks = corpus[question]
        return {
            "ratings": _ratings(blocks),
            "agreement": agreement.at_a_glance_in_blocks(blocks),
            "disputed": _most_disputed(blocks, most),
        }

    return _described(corpus, questions, details)


def _described(
    corpus: Corpus | StoredCorpus,
    questions: Sequence[str] | None,
    details: Callable[[str], dict[str, Any]],
    **about: Any,
) -> Description:
    """Counts of all questions, with what `details` adds to each."""
    names = list(corpus.questions if questions is None else questions)
    corpus.check_questions(names)
    of_no_question = [left for left in corpus.left_out if left.question not in corpus.questions]
    return Description(
        name=corpus.name,
        items=corpus.n_items,
        annotators=corpus.n_annotators,
        left_out=[left._asdict() for left in of_no_question] if questions is None else [],
        questions=[
            QuestionDescription(**_counts(corpus, question), **details(question))
            for question in names
        ],
        **about,
    )


def _counts(corpus: Corpus | StoredCorpus, question: str) -> dict[str, Any]:
    """What is counted of the answers to a question, wherever they are."""
    answers: Annotations | AnnotationBlocks = corpus[question]
    gold = corpus.gold.get(question)
    per_item = answers.per_item()
    answered = per_item[per_item > 0]
    if isinstance(answers, Annotations):
        is_anonymous = answers.annotator is None
    else:
        is_anonymous = answers.is_anonymous
    active = None
    if not is_anonymous:
        active = answers.per_annotator()
        active = active[active > 0]
    left_out: dict[str, int] = {}
    for left in corpus.left_out:
        if left.question == question:
            left_out[left.reason] = left_out.get(left.reason, 0) + left.answers
    return {
        "name": question,
        "scale": scale_text(answers.scale),
        "loaded": answers.n_answers,
        "left_out": left_out,
        "items": len(answered),
        "items_without_answers": int((per_item == 0).sum()),
        "annotators": None if active is None else len(active),
        "per_item": _spread(answered, mean=True),
        "per_annotator": None if active is None else _spread(active, mean=False),
        "shares": shares_of(answers),
        "disputed_by": disputed_by(answers.scale),
        "gold": 0 if gold is None else int((gold.per_item() > 0).sum()),
        "repeated": int((per_item - answers.voters()).sum()),
    }


def _spread(sizes: np.ndarray, mean: bool) -> dict[str, float]:
    """Minimum, mean or median, and maximum; empty without sizes."""
    if not sizes.size:
        return {}
    middle = {"mean": float(sizes.mean())} if mean else {"median": float(np.median(sizes))}
    return {"min": int(sizes.min()), **middle, "max": int(sizes.max())}


def _parts(corpus: Corpus, scheme: str) -> dict[str, int]:
    sizes = {part: int(corpus.in_part(part, scheme).sum()) for part in corpus.parts(scheme)}
    nowhere = corpus.n_items - sum(sizes.values())
    return sizes | ({"in no part": nowhere} if nowhere else {})


def _describe_groups(
    annotations: Annotations, groups: AnnotatorGroups, suspicious: set[str]
) -> list[GroupDescription]:
    """A row for each group with answers; the last, if any, is of those without the attribute."""
    annotator = annotations.annotator_codes("a description by group")
    odd = np.isin(
        np.arange(annotations.n_annotators), annotations.annotators.find(list(suspicious))
    )
    rows = []
    for code in (*range(len(groups.names)), -1):
        inside = groups.code == code
        own = annotations.take(inside[annotator])
        if not own.n_rows:
            continue
        rows.append(
            GroupDescription(
                attribute=groups.attribute,
                group=groups.names[code] if code >= 0 else MISSING,
                annotators=int((own.per_annotator() > 0).sum()),
                answers=own.n_answers,
                items=int((own.per_item() > 0).sum()),
                alpha=agreement.krippendorff_alpha(own),
                shares=shares_of(own),
                ratings=ratings_of(own),
                suspicious=int((odd & inside).sum()),
            )
        )
    return rows


# ---- on disk ----


def _ratings(blocks: AnnotationBlocks) -> dict[str, float] | None:
    """Mean, standard deviation and quantiles of ratings, from how often each was given."""
    if not isinstance(blocks.scale, Interval) or not blocks.n_rows:
        return None
    ratings, counts = np.empty(0), np.empty(0)
    for _, block in blocks:
        all_ratings = np.r_[ratings, block.answer]
        weight = np.r_[counts, block.weight]
        ratings, which = np.unique(all_ratings, return_inverse=True)
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
