"""What to do about what was found: whom to talk to, what to report, which items to discuss."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dissensus.agreement import GroupComparison
from dissensus.agreement.groups import LEAST, NO_DIFFERENCE
from dissensus.description.describe import Description, QuestionDescription
from dissensus.description.marks import marks_text
from dissensus.description.suspicious_annotators import CHANCE, LEVEL, some_names
from dissensus.errors import counted

MOST = 3  # actions
LOW = 0.667  # of Krippendorff's alpha: below it not even tentative conclusions, in his words
MOST_ALONE = 3  # attributes of which the least possible p is shown
MANY_ALONE = 0.2  # share of the items: so many with one answer are worth a word


def actions(description: Description) -> list[str]:
    """At most three things to do, the most urgent first.

    Example:
        >>> from dissensus import describe, simulate
        >>> first, *_ = actions(describe(simulate.text(n_items=40, seed=0)))
        >>> first.split(":")[0]
        'Discuss or ask again'
    """
    every: list[str] = []
    for rule in (_doubt, _people, _groups, _undecided, _guidelines, _alone):
        texts = {one.name: text for one in description.questions if (text := rule(one))}
        for question, text in list(texts.items())[:1]:
            others = f"; likewise {some_names(list(texts)[1:])}" if len(texts) > 1 else ""
            several = f" ({question}{others})" if len(description.questions) > 1 else ""
            every.append(f"{text[:1].upper()}{text[1:]}{several}.")
    return every[:MOST]


def group_sentences(groups: Sequence[GroupComparison]) -> list[str]:
    """A sentence for each attribute that divides annotators, and one for all others."""
    same = [group for group in groups if group.conclusion == NO_DIFFERENCE]
    texts = [f"{one.attribute}: {one.conclusion}" for one in groups if one not in same]
    if len(same) > MOST_ALONE:
        names, why = undivided(same)
        return [*texts, f"{some_names(names, 5)}: {NO_DIFFERENCE}{why}"]
    for group in same:
        limit = "".join(f"; {note}" for note in group.notes if LEAST in note)
        texts.append(f"{group.attribute}: {NO_DIFFERENCE}{limit}")
    return texts


def undivided(groups: Sequence[GroupComparison]) -> tuple[list[str], str]:
    """The attributes that were tested, and why a difference could not be shown, if it could not."""
    tested = [group for group in groups if not math.isnan(group.corrected)]
    names = list(dict.fromkeys(group.attribute for group in tested))
    least = {group.attribute: group.least_p for group in tested if group.least_p <= LEVEL}
    few, why = [name for name in names if name not in least], ""
    if few:
        by = f" by {some_names(few, 5)}" if least else ""
        why = f"; with so few annotators, none{by} could be"
    if least and min(least.values()) * len(tested) > LEVEL:
        why += (
            f"; {len(tested)} comparisons are too many for so few annotators: choose one "
            "beforehand (`dissensus agreement FILE --groups NAME`)"
        )
    return names, why


def _doubt(question: QuestionDescription) -> str:
    doubtful = question.crowd and not question.comparable and question.by_annotator
    return question.crowd[0][:-1] if doubtful else ""


def _nobody_agrees(question: QuestionDescription) -> bool:
    return _doubt(question)[:20] == CHANCE[:20]


def _people(question: QuestionDescription) -> str:
    marks = question.marked
    others = {who.annotator: ", ".join(who.suspicious) for who in question.suspicious
              if who.annotator not in marks and who.suspicious != ("duplicated",)}  # fmt: skip
    also = [f"look at the answers of {marks_text(others)}"] if others else []
    if tired := some_names([name for name in question.tired if name not in others]):
        also.append(f"ask {tired} why the later answers agree less with the others' than earlier")
    if not marks:
        return ", and ".join(also)
    value, without = (
        of.get("krippendorff-alpha", math.nan)
        for of in (question.agreement, question.agreement_without)
    )
    who = f"the annotator{'s' * (len(marks) > 1)} {marks_text(marks)}"
    text = f"talk to {who}, and look at what they answered"
    if math.isnan(value) or math.isnan(without):
        text += "; `--without suspicious` leaves them out"
    else:
        text += f". Until then report both: alpha {value:.2f}, and {without:.2f} without them "
        text += "(`--without suspicious`)"
    return f"{text}. Also {', and '.join(also)}" if also else text


def _groups(question: QuestionDescription) -> str:
    attribute = next((group.attribute for group in question.groups if group.clear), "")
    return attribute and (
        f"keep the views of groups apart: {attribute} divides annotators about some items, and a "
        "consensus shows the larger group's view. `dissensus agreement FILE --groups "
        f"{attribute}` has these items, a method such as annotator-heads predicts each annotator"
    )


def _undecided(question: QuestionDescription) -> str:
    n = question.undecided
    if not n or _nobody_agrees(question):
        return ""
    without = " (without those named)" if question.marked else ""
    return (
        f"discuss or ask again: {counted(n, 'item')} on which no value has more than half of the "
        f"answers{without}. `dissensus disputed FILE -o items.xlsx` is the list"
    )


def _guidelines(question: QuestionDescription) -> str:
    measures = question.agreement_without or question.agreement
    value = measures.get("krippendorff-alpha", math.nan)
    divided = any(group.clear for group in question.groups)
    if not round(value, 3) < LOW or divided or _nobody_agrees(question):
        return ""
    return (
        "if people should give the same answers, go through the most disputed items together "
        f"before you collect more: alpha {value:.3f} is below {LOW}, the least that Krippendorff "
        "recommends. If views may differ, keep the answers of each annotator"
    )


def _alone(question: QuestionDescription) -> str:
    if question.alone <= MANY_ALONE * question.items:
        return ""
    return (
        f"ask a second person about the {counted(question.alone, 'item')} of {question.items:,} "
        "with one answer: agreement says nothing about them"
    )
