"""dissensus describe: counts, agreement, disputed items, suspicious annotators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli import console
from dissensus.cli.console import columns, emit, facts, number, show, with_rest
from dissensus.cli.options import Input, reads_corpus
from dissensus.errors import DataError, DissensusError

if TYPE_CHECKING:
    from dissensus.description import (
        AnnotatorDescription,
        Description,
        Disputed,
        QuestionDescription,
    )

MOST_VALUES = 20
MOST_ITEMS = 5
WIDE = 78  # columns of a terminal that has room for two intervals
NARROW = 64  # that has no room for the most frequent answer
MOST_ANNOTATORS = 20


@reads_corpus
def describe(
    source: Input,
    question: list[str] | None = None,
    most: int | None = None,
    json: bool = False,
    output: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Describe FILE: answers, agreement, disputed items, annotators and who is suspicious.

    The first lines say how FILE was read. Answers that were left out are counted by reason; with
    those that were loaded, they add up to what FILE contains. Annotators are suspicious if they are
    at chance, contrary, constant, fast, duplicated or different from the rest, and if chance does
    not explain it. Higher or lower ratings than the rest are a tendency, not a suspicion.

    Args:
        most (--top, min=0): Number of disputed items and of annotators to show (default: 5 items,
            20 annotators).
        output (-o): Also write the result to this file: everything as .json, the table of
            annotators as .csv, .tsv, .parquet or .xlsx.

    Examples:
        dissensus describe labels.csv
        dissensus describe labels.csv --answer label --answer rating --most 10
    """
    from dissensus.description import describe as describe_corpus

    console.check_result(output, overwrite)
    sources = source.each()
    if output is not None and len(sources) > 1:
        raise DataError(f"{source.file}: contains several corpora; choose one with --corpus")
    items = MOST_ITEMS if most is None else most
    notes: list[str] = []  # how FILE was read, which is the beginning of the result
    try:
        corpora = (one.read(say=console.say if json else notes.append) for one in sources)
        described = [describe_corpus(one, question or None, items) for one in corpora]
    except DissensusError:
        for note in notes:
            console.say(note)
        raise
    most, table = MOST_ANNOTATORS if most is None else most, described[0].annotator_table

    def content() -> Any:
        return [one.to_dict() for one in described] if described[1:] else described[0].to_dict()

    emit(content, lambda: [table()], lambda: _show(described, most, notes), output, json)


def _show(descriptions: list[Description], most: int, notes: list[str]) -> None:
    from dissensus.description.advice import actions, group_sentences

    for note in notes:
        console.show_line(note)
    for place, description in enumerate(descriptions):
        show(*([""] if place else []), description.name, facts(_overview(description)))
        for described in description.questions:
            show(*_question(described))
            _show_annotators(described, most)
            if described.groups:
                without = f", without {', '.join(described.marked)}" if described.marked else ""
                show("", f"groups of annotators{without}")
            for line in group_sentences(described.groups):
                console.say_wrapped(line, indent="  ")
        if steps := actions(description):
            show("", "what to do now")
        for step in steps:
            console.say_wrapped(step, indent="  ")


def _overview(description: Description) -> list[tuple[str, str]]:
    rows = [("items", number(description.items)), ("annotators", number(description.annotators))]
    for role, contents in description.contents.items():
        rows.append(
            (f"content {role}", f"{number(contents['number'])} different, {contents['kind']}")
        )
    items, annotators = description.item_attributes, description.annotator_attributes
    for of, names in (("item", items), ("annotator", annotators)):
        rows += [(f"{of} attributes", ", ".join(names))] if names else []
    for scheme, parts in description.splits.items():
        sizes = ", ".join(f"{part} {number(size)}" for part, size in parts.items())
        rows.append((f"split {scheme}", sizes))
    rows.append(("questions", ", ".join(described.name for described in description.questions)))
    return rows + [
        (f"left out: {left['question']}", f"{number(left['answers'])}: {left['reason']}")
        for left in description.left_out
    ]


def _question(described: QuestionDescription) -> list[Any]:
    parts: list[Any] = ["", f"question {described.name}", facts(_counts(described))]
    if described.shares is not None:
        parts += ["", columns(["value", "share"], _shares(described.shares), ["share"])]
    if described.disputed:
        heading = f"most disputed ({described.disputed_by})"
        parts += ["", heading, _disputed(described, described.disputed)]
    if described.disputed_without:
        heading = f"most disputed without {', '.join(described.marked)}"
        parts += ["", heading, _disputed(described, described.disputed_without)]
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
    from dissensus.description.suspicious_annotators import some_names

    def spread(sizes: dict[str, float]) -> str:
        whole = {n: int(s) if n == "median" and s == s // 1 else s for n, s in sizes.items()}
        return ", ".join(f"{name} {number(size, 2)}" for name, size in whole.items()) or "-"

    left = sum(described.left_out.values())
    rows = [("scale", described.scale), ("answers loaded", number(described.loaded))]
    rows += [(f"left out: {reason}", number(n)) for reason, n in described.left_out.items()]
    rows += [("loaded and left out", number(described.loaded + left))] if left else []
    rows += [
        ("items with answers", number(described.items)),
        ("items without answers", number(described.items_without_answers)),
        ("answers per item", spread(described.per_item)),
    ]
    if described.annotators is None:
        rows.append(("annotators", "anonymous"))
    else:
        rows.append(("annotators", number(described.annotators)))
        rows.append(("answers per annotator", spread(described.per_annotator or {})))
    if described.repeated:
        same, n = described.with_oneself, number(described.repeated)
        how = f"equal in {100 * same:.0f} % of pairs"
        if described.ratings:
            how = f"{number(same, 2)} apart on average"
        rows.append(("repeated answers", n if math.isnan(same) else f"{n}, {how}"))
    if described.gold:
        rows.append(("items with a gold label", number(described.gold)))
    if described.ratings is not None:
        mean, sd, *quantiles = (number(value, 2) for value in described.ratings.values())
        rows.append(("ratings", f"mean {mean}, sd {sd}"))
        rows.append(("lowest, quartiles, highest", ", ".join(quantiles)))
    for name, value in described.agreement.items():
        shown = number(value)
        if described.marked:
            without = number(described.agreement_without[name])
            shown += f"; {without} without {some_names(list(described.marked))}"
        rows.append((name, shown))
    return rows


def _disputed(described: QuestionDescription, disputed: list[Disputed]) -> Any:
    rows, by = [], described.disputed_by
    for item in disputed:
        answers = ", ".join(f"{value}: {number(n, 2)}" for value, n in item.answers.items())
        rows.append((item.item, number(item.dispute, 2), answers, item.text))
    n = 3 if all(item.text in (None, item.item) for item in disputed) else 4
    return columns(["item", by, "answers", "shown"][:n], [row[:n] for row in rows], [by])


def _show_annotators(described: QuestionDescription, most: int) -> None:
    from dissensus.description.copied_answers import named_annotator

    if not described.by_annotator:
        return
    show("", "annotators, compared with the rest", _annotators(described.by_annotator, most))
    print()
    suspicious, few = described.suspicious, len(described.by_annotator) - described.checked
    unchecked = f"{number(few)} with fewer than 10 answers not checked" if few else ""
    for sentence in described.crowd:
        console.say_wrapped(sentence)
    if suspicious:
        of = f"{number(len(suspicious))} of {number(described.checked)}"
        show(f"suspicious annotators: {of} checked")
        _show_lines([[line] for line in described.suspicions], most)
        if unchecked:
            print(unchecked)
    else:
        of = "; ".join(filter(None, (f"{number(described.checked)} checked", unchecked)))
        print(f"{described.nobody_named} ({of})")
    if described.tendencies:
        n = len(described.tendencies)
        show("", f"tendencies, no suspicion: {number(n)} annotator{'s' * (n != 1)}")
        lines = [
            [f"{named_annotator(row.annotator)}: {text}" for text in row.tendencies]
            for row in described.tendencies
        ]
        _show_lines(lines, most)


def _show_lines(lines: list[list[str]], most: int) -> None:
    for line in itertools.chain(*lines[:most]):
        console.say_wrapped(line, indent="  ")
    if len(lines) > most:
        print(f"... {number(len(lines) - most)} more: use --top, --json or -o FILE.csv")


def _annotators(rows: list[AnnotatorDescription], most: int) -> Any:
    """Suspicious annotators first; columns that nobody has are left out."""
    from rich.console import Console

    def with_interval(row: AnnotatorDescription, what: str) -> str:
        value, low, high = (getattr(row, f"{what}{end}") for end in ("", "_low", "_high"))
        return number(value, 2) + ("" if low != low else f" [{low:.2f}, {high:.2f}]")

    def there(what: str) -> bool:
        return any(getattr(row, what) == getattr(row, what) for row in rows)  # not nan

    longest = max(len(row.annotator) for row in rows[:most]) if most else 0
    room = Console().width - max(0, longest - len("annotator"))
    ratings = not there("agreement")
    compared = "correlation" if ratings and there("correlation") else "agreement"
    cells: dict[str, Callable[[AnnotatorDescription], str]] = {
        "annotator": lambda row: row.annotator,
        "answers": lambda row: number(row.answers),
        compared: lambda row: (
            with_interval(row, compared) if room >= WIDE else number(getattr(row, compared), 2)
        ),
        "kappa": lambda row: with_interval(row, "kappa"),
    }
    if room >= NARROW and not ratings:
        cells["mostly"] = lambda row: f"{row.most_frequent} {100 * row.share:.0f} %"
    if ratings and there("leniency"):
        cells["bias"] = lambda row: number(row.leniency, 2)
    if there("seconds"):
        cells["time"] = lambda row: "-" if row.seconds != row.seconds else f"{row.seconds:.3g} s"
    lines = [[cell(row) for cell in cells.values()] for row in rows[:most]]
    numbers = [name for name in cells if name not in ("annotator", "mostly")]
    shown = with_rest(lines, len(rows), len(cells))
    return columns(list(cells), shown, numbers, whole=["answers", "mostly"])
