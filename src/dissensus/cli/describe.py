"""dissensus describe: who, what, how much do they agree, which items are disputed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.console import Json, Question, print_json
from dissensus.cli.source import Source, reads_corpus
from dissensus.cli.tables import columns, facts, number, show

if TYPE_CHECKING:
    from dissensus.description import Description, QuestionDescription

MOST_VALUES = 20
Most = Annotated[
    int, typer.Option(min=0, help="Number of disputed items and suspicious annotators to show.")
]


@reads_corpus
def describe(
    source: Source,
    question: Question = None,
    most: Most = 5,
    json: Json = False,
) -> None:
    """Describe FILE: answers, agreement, disputed items, suspicious annotators.

    Answers that were left out are counted by reason; with those that were loaded, they add up to
    what FILE contains.
    """
    from dissensus.description import describe as described

    read = source.read()
    description = described(read, question or None, most)
    if json:
        print_json(description.to_dict())
        return
    show(description.name, facts(_overview(description)))
    for asked in description.questions:
        show(*_question(asked, most))


def _overview(description: Description) -> list[tuple[str, str]]:
    rows = [
        ("items", number(description.items)),
        ("annotators", number(description.annotators)),
    ]
    for role, held in description.contents.items():
        rows.append((f"content {role}", f"{number(held['number'])} different, {held['kind']}"))
    for what, names in (
        ("item attributes", description.item_attributes),
        ("annotator attributes", description.annotator_attributes),
    ):
        if names:
            rows.append((what, ", ".join(names)))
    for scheme, parts in description.splits.items():
        sizes = ", ".join(f"{part} {number(size)}" for part, size in parts.items())
        rows.append((f"split {scheme}", sizes))
    rows.append(("questions", ", ".join(asked.name for asked in description.questions)))
    for left in description.left_out:
        rows.append(
            (f"left out: {left['question']}", f"{number(left['answers'])}: {left['reason']}")
        )
    return rows


def _question(asked: QuestionDescription, most: int) -> list[Any]:
    parts: list[Any] = ["", f"question {asked.name}", facts(_counts(asked))]
    if asked.shares is not None:
        parts += ["", columns(["value", "share"], _shares(asked.shares), ["share"])]
    if asked.disputed:
        parts += ["", f"most disputed ({asked.disputed_by})", _disputed(asked)]
    suspicious = _suspicious(asked, most)
    if suspicious:
        parts += ["", "suspicious annotators", facts(suspicious)]
    return parts


def _shares(shares: dict[str, float]) -> list[tuple[str, str]]:
    """How often values were given; of many the most frequent ones."""
    told = list(shares.items())
    if len(told) > MOST_VALUES + 1:
        told = sorted(told, key=lambda pair: -pair[1])
        rest = told[MOST_VALUES:]
        told = [*told[:MOST_VALUES], (f"({len(rest)} others, each at most)", rest[0][1])]
    return [(value, f"{100 * share:.1f} %") for value, share in told]


def _counts(asked: QuestionDescription) -> list[tuple[str, str]]:
    left = sum(asked.left_out.values())
    rows = [("scale", asked.scale), ("answers loaded", number(asked.loaded))]
    rows += [(f"left out: {reason}", number(n)) for reason, n in asked.left_out.items()]
    if not left:
        rows.append(("answers left out", "0"))
    rows += [
        ("loaded and left out", number(asked.loaded + left)),
        ("items with answers", number(asked.items)),
        ("items without answers", number(asked.items_without_answers)),
        ("answers per item", _spread(asked.per_item)),
    ]
    if asked.annotators is None:
        rows.append(("annotators", "anonymous"))
    else:
        rows.append(("annotators", number(asked.annotators)))
        rows.append(("answers per annotator", _spread(asked.per_annotator or {})))
    if asked.gold:
        rows.append(("items with a gold label", number(asked.gold)))
    if asked.ratings is not None:
        mean, sd, *quantiles = (number(value, 2) for value in asked.ratings.values())
        rows.append(("ratings", f"mean {mean}, sd {sd}"))
        rows.append(("lowest, quartiles, highest", ", ".join(quantiles)))
    return rows + [(name, number(value)) for name, value in asked.agreement.items()]


def _spread(sizes: dict[str, float]) -> str:
    """min 5, median 12, max 144."""
    whole = {name: int(s) if name == "median" and s == s // 1 else s for name, s in sizes.items()}
    return ", ".join(f"{name} {number(size, 2)}" for name, size in whole.items()) or "-"


def _disputed(asked: QuestionDescription) -> Any:
    rows = []
    for found in asked.disputed:
        answers = ", ".join(f"{value}: {number(n, 2)}" for value, n in found.answers.items())
        rows.append((found.item, number(found.dispute, 2), answers, found.text))
    return columns(["item", asked.disputed_by, "answers", "shown"], rows, [asked.disputed_by])


def _suspicious(asked: QuestionDescription, most: int) -> list[tuple[str, str]]:
    constant = [
        (
            f"constant: {who.annotator}",
            f"{who.value} in all {who.answers} answers (by chance {who.chance:.1g})",
        )
        for who in asked.constant
    ]
    fast = [
        (
            f"fast: {who.annotator}",
            f"median {who.seconds:.3g} s, usual {who.usual:.3g} s, {number(who.answers)} answers",
        )
        for who in asked.fast
    ]
    duplicated = [
        (
            f"duplicated: {len(group.annotators)} annotators",
            f"the same {number(group.answers)} answers: {', '.join(group.annotators[:8])}"
            + (", ..." if len(group.annotators) > 8 else ""),
        )
        for group in asked.duplicated
    ]
    return (
        _first(constant, "constant", most)
        + _first(fast, "fast", most)
        + _first(duplicated, "duplicated", most)
    )


def _first(rows: list[tuple[str, str]], what: str, most: int) -> list[tuple[str, str]]:
    """The first rows, and how many more there are."""
    more = len(rows) - most
    return rows[:most] + ([(f"{what}: more", number(more))] if more > 0 else [])
