"""Groups of annotators, as tables: agreement within and between them, and scores by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dissensus.cli.console import columns, number, say_wrapped, show, show_each

if TYPE_CHECKING:
    from dissensus.agreement import GroupComparison
    from dissensus.evaluation import GroupEvaluation, GroupScores

MOST_PAIRS = 10
MOST_TEXT = 60
MOST_INTERVALS = 2  # groups whose intervals fit next to one another


def show_comparisons(corpus: str, results: Sequence[GroupComparison]) -> None:
    """A table for each question and attribute, tests, a conclusion, and divided items."""
    for place, result in enumerate(results):
        heading = f"{corpus}, {result.question} ({result.scale}) by {result.attribute}"
        show(*([""] if place else []), heading, _agreement(result))
        for line in (*result.notes, _tests(result, len(results)), result.conclusion):
            say_wrapped(line)
        if result.dividing:
            print()
            chance = "" if result.corrected < 0.05 else ", which may be chance or carelessness"
            show(f"items that divide them most{chance}", _items(result))


def _agreement(result: GroupComparison) -> Any:
    rows = [
        [f"within {group.group}", number(group.annotators), number(group.answers), *_alpha(group)]
        for group in result.groups
    ]
    pairs = sorted(result.pairs, key=lambda pair: (pair.alpha != pair.alpha, pair.alpha))
    rows += [
        [f"between {pair.first} and {pair.second}", "", "", *_alpha(pair)]
        for pair in pairs[:MOST_PAIRS]
    ]
    if len(pairs) > MOST_PAIRS:
        rows.append([f"... {len(pairs) - MOST_PAIRS} more pairs of groups", "", "", "", ""])
    if len(result.groups) > 2:
        rows.append(["within all groups", "", "", *_ends(result, "within")])
        rows.append(["between all groups", "", "", *_ends(result, "between")])
    names = ["agreement", "annotators", "answers", "alpha", "95 % interval"]
    return columns(names, rows, names[1:], whole=names[1:])


def _alpha(row: Any) -> list[str]:
    return [number(row.alpha, 2), _interval(row.low, row.high)]


def _ends(result: GroupComparison, what: str) -> list[str]:
    value, low, high = (getattr(result, f"{what}{end}") for end in ("", "_low", "_high"))
    return [number(value, 2), _interval(low, high)]


def _interval(low: float, high: float) -> str:
    return "-" if low != low else f"[{low:z.2f}, {high:z.2f}]"


def _tests(result: GroupComparison, tests: int) -> str:
    from dissensus.agreement.groups import p_text

    value, ends = _ends(result, "difference")
    known = {
        "about some items": (result.p_value, result.corrected),
        "in level": (result.level_p, result.level_corrected),
        "in reliability": (result.reliability_p, result.reliability_corrected),
    }
    p_values = [
        f"{name} {p_text(p)} (corrected {p_text(corrected)})"
        for name, (p, corrected) in known.items()
    ]
    line = f"within minus between groups: {value} {ends}; p of differences "
    line += f"{', '.join(p_values)} ({number(result.permutations)} permutations of annotators, "
    return line + f"{3 * tests} tests)"


def _items(result: GroupComparison) -> Any:
    from dissensus.description import one_line

    rows = []
    for item in result.dividing:
        groups = []
        for group, counts_of in item.answers.items():
            sizes = (number(n) if isinstance(n, int) else f"{n:.3g}" for n in counts_of.values())
            counts = (f"{value} {n}" for value, n in zip(counts_of, sizes, strict=True))
            groups.append(f"{group}: {', '.join(counts)}")
        shown = one_line(item.text, MOST_TEXT)
        rows.append([item.item, number(item.division, 2), "; ".join(groups), shown])
    return columns(["item", "division", "answers", "shown"], rows, ["division"])


def show_group_scores(evaluation: GroupEvaluation) -> None:
    """A table for each attribute, question, part and method: metrics by group, the worst named."""
    blocks = []
    for (attribute, *names), results in evaluation.blocks().items():
        heading = ", ".join(text for text in (evaluation.corpus, *names) if text)
        blocks.append((f"{heading}, by {attribute}", _scores(results)))
    show_each(blocks)
    for note in evaluation.notes:
        say_wrapped(note)


def _scores(results: list[GroupScores]) -> Any:
    from dissensus.evaluation import worst_group

    rows = [
        ["annotators", *(number(result.annotators) for result in results), ""],
        ["answers", *(number(result.answers) for result in results), ""],
    ]
    metrics = dict.fromkeys(name for result in results for name in result.scores.scores)
    for metric in metrics:
        worst = worst_group(results, metric)
        cells = []
        for scores in (result.scores for result in results):
            low, high = scores.intervals.get(metric, (float("nan"), float("nan")))
            shown = len(results) <= MOST_INTERVALS and low == low
            ends = f" [{low:.3f}, {high:.3f}]" if shown else ""
            cells.append(number(scores.scores.get(metric, float("nan"))) + ends)
        rows.append([metric, *cells, "" if worst is None else worst.group])
    groups = [result.group for result in results]
    names = ["", *groups, "worst"]
    return columns(names, rows, groups, whole=[""])
