"""Describe a corpus: counts, agreement, disputed items, suspicious annotators."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus import agreement
from dissensus.agreement import AnnotatorGroups
from dissensus.corpus import Corpus
from dissensus.description.answers_by_group import describe_groups, groups_of
from dissensus.description.disputed_items import disputed_by, most_disputed
from dissensus.description.facts import Description, QuestionDescription
from dissensus.description.sizes import reasons_of, spread
from dissensus.description.suspicious_annotators import compare_annotators
from dissensus.description.texts import ratings_of, scale_text, shares_of


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
    names = list(corpus.questions if questions is None else questions)
    corpus.check_questions(names)
    groups = groups_of(corpus, by)
    of_no_question = [left for left in corpus.left_out if left.question not in corpus.questions]
    return Description(
        name=corpus.name,
        items=corpus.n_items,
        annotators=corpus.n_annotators,
        contents={
            role: {"kind": of.kind, "number": len(of)} for role, of in corpus.contents.items()
        },
        item_attributes=list(corpus.item_attributes),
        annotator_attributes=list(corpus.annotator_attributes),
        splits={scheme: _parts(corpus, scheme) for scheme in corpus.splits},
        left_out=[left._asdict() for left in of_no_question] if questions is None else [],
        questions=[_describe_question(corpus, question, most, groups) for question in names],
    )


def _parts(corpus: Corpus, scheme: str) -> dict[str, int]:
    sizes = {part: int(corpus.in_part(part, scheme).sum()) for part in corpus.parts(scheme)}
    nowhere = corpus.n_items - sum(sizes.values())
    return sizes | ({"in no part": nowhere} if nowhere else {})


def _describe_question(
    corpus: Corpus, question: str, most: int, groups: list[AnnotatorGroups]
) -> QuestionDescription:
    annotations = corpus[question]
    per_item = annotations.per_item()
    answered = per_item[per_item > 0]
    findings = None if annotations.annotator is None else compare_annotators(annotations)
    per_annotator = None if findings is None else annotations.per_annotator()
    suspicious = {row.annotator for row in findings.rows if row.suspicious} if findings else set()
    gold = corpus.gold.get(question)
    return QuestionDescription(
        name=question,
        scale=scale_text(annotations.scale),
        loaded=annotations.n_answers,
        left_out=reasons_of(corpus.left_out, question),
        items=len(answered),
        items_without_answers=int((per_item == 0).sum()),
        annotators=None if findings is None else len(findings.rows),
        per_item=spread(answered, mean=True),
        per_annotator=None
        if per_annotator is None
        else spread(per_annotator[per_annotator > 0], mean=False),
        shares=shares_of(annotations),
        ratings=ratings_of(annotations),
        agreement=agreement.at_a_glance(annotations),
        disputed_by=disputed_by(annotations.scale),
        disputed=most_disputed(corpus, annotations, most),
        by_annotator=[] if findings is None else findings.rows,
        checked=0 if findings is None else findings.checked,
        constant=[] if findings is None else findings.constant,
        fast=[] if findings is None else findings.fast,
        duplicated=[] if findings is None else findings.duplicated,
        comparable=findings is not None and findings.comparable,
        crowd=[] if findings is None else findings.crowd,
        groups=[]
        if findings is None
        else [row for by in groups for row in describe_groups(annotations, by, suspicious)],
        gold=0 if gold is None else int((gold.per_item() > 0).sum()),
        repeated=int((per_item - annotations.voters()).sum()),
        with_oneself=agreement.with_oneself(annotations),
    )
