"""dissensus describe: counts, agreement, disputed items, suspicious annotators."""

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
    from dissensus.description import describe as describe_corpus

    corpus = source.read()
    description = describe_corpus(corpus, question or None, most)
    if json:
        print_json(description.to_dict())
        return
    show(description.name, facts(_overview(description)))
    for described in description.questions:
        show(*_question(described, most))


def _overview(description: Description) -> list[tuple[str, str]]:
    rows = [
        ("items", number(description.items)),
        ("annotators", number(description.annotators)),
    ]
    for role, contents in description.contents.items():
        rows.append(
            (f"content {role}", f"{number(contents['number'])} different, {contents['kind']}")
        )
    for what, names in (
        ("item attributes", description.item_attributes),
        ("annotator attributes", description.annotator_attributes),
    ):
        if names:
            rows.append((what, ", ".join(names)))
    for scheme, parts in description.splits.items():
        sizes = ", ".join(f"{part} {number(size)}" for part, size in parts.items())
        rows.append((f"split {scheme}", sizes))
    rows.append(("questions", ", ".join(described.name for described in description.questions)))
    for left in description.left_out:
        rows.append(
            (f"left out: {left['question']}", f"{number(left['answers'])}: {left['reason']}")
        )
    return rows


def _question(described: QuestionDescription, most: int) -> list[Any]:
    parts: list[Any] = ["", f"question {described.name}", facts(_counts(described))]
    if described.shares is not None:
        parts += ["", columns(["value", "share"], _shares(described.shares), ["share"])]
    if described.disputed:
        parts += ["", f"most disputed ({described.disputed_by})", _disputed(described)]
    suspicious = _suspicious(described, most)
    if suspicious:
        parts += ["", "suspicious annotators", facts(suspicious)]
    return parts


def _shares(shares: dict[str, float]) -> list[tuple[str, str]]:
    """The share of each value; only the most frequent ones if there are many."""
    shown = list(shares.items())
    if len(shown) > MOST_VALUES + 1:
        shown = sorted(shown, key=lambda pair: -pair[1])
        rest = shown[MOST_VALUES:]
        shown = [*shown[:MOST_VALUES], (f"({len(rest)} others, each at most)", rest[0][1])]
    return [(value, f"{100 * share:.1f} %") for value, share in shown]


def _counts(described: QuestionDescription) -> list[tuple[str, str]]:
    left = sum(described.left_out.values())
    rows = [("scale", described.scale), ("answers loaded", number(described.loaded))]
    rows += [(f"left out: {reason}", number(n)) for reason, n in described.left_out.items()]
    if not left:
        rows.append(("answers left out", "0"))
    rows += [
        ("loaded and left out", number(described.loaded + left)),
        ("items with answers", number(described.items)),
        ("items without answers", number(described.items_without_answers)),
        ("answers per item", _spread(described.per_item)),
    ]
    if described.annotators is None:
        rows.append(("annotators", "anonymous"))
    else:
        rows.append(("annotators", number(described.annotators)))
        rows.append(("answers per annotator", _spread(described.per_annotator or {})))
    if described.gold:
        rows.append(("items with a gold label", number(described.gold)))
    if described.ratings is not None:
        mean, sd, *quantiles = (number(value, 2) for value in described.ratings.values())
        rows.append(("ratings", f"mean {mean}, sd {sd}"))
        rows.append(("lowest, quartiles, highest", ", ".join(quantiles)))
    return rows + [(name, number(value)) for name, value in described.agreement.items()]


def _spread(sizes: dict[str, float]) -> str:
    """min 5, median 12, max 144."""
    whole = {name: int(s) if name == "median" and s == s // 1 else s for name, s in sizes.items()}
    return ", ".join(f"{name} {number(size, 2)}" for name, size in whole.items()) or "-"


def _disputed(described: QuestionDescription) -> Any:
    rows = []
    for item in described.disputed:
        answers = ", ".join(f"{value}: {number(n, 2)}" for value, n in item.answers.items())
        rows.append((item.item, number(item.dispute, 2), answers, item.text))
    return columns(
        ["item", described.disputed_by, "answers", "shown"], rows, [described.disputed_by]
    )


def _suspicious(described: QuestionDescription, most: int) -> list[tuple[str, str]]:
    constant = [
        (
            f"constant: {entry.annotator}",
            f"{entry.value} in all {entry.answers} answers (by chance {entry.chance:.1g})",
        )
        for entry in described.constant
    ]
    fast = [
        (
            f"fast: {entry.annotator}",
            f"median {entry.seconds:.3g} s, usual {entry.usual:.3g} s, "
            f"{number(entry.answers)} answers",
        )
        for entry in described.fast
    ]
    duplicated = [
        (
            f"duplicated: {len(group.annotators)} annotators",
            f"the same {number(group.answers)} answers: {', '.join(group.annotators[:8])}"
            + (", ..." if len(group.annotators) > 8 else ""),
        )
        for group in described.duplicated
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
