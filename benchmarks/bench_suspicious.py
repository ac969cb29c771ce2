"""Which planted annotators `describe` names, at how many answers, and how many honest ones."""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus import Annotations, Interval, MultiLabel, Nominal, Ordinal
from dissensus.description.suspicious_annotators import compare_annotators
from dissensus.names import Names
from keeping import keep, kept

SEED = 1  # the rule was tuned on the crowds of seed 0, before it was frozen
PLANTED = ("random", "contrary", "constant", "copying", "careless")
COMPARED = ("contrary", "at chance", "different", "constant")
NAMED = {"copying": ("duplicated",)}
CROWDS = (5, 10, 50, 500)
ANSWERS = (20, 50, 100, 200, 500)
LEVELS = Ordinal(("1", "2", "3", "4", "5"))
SCALES = {
    "nominal": Nominal(("a", "b", "c")),
    "rare value": Nominal(("no", "yes")),
    "ordinal": LEVELS,
    "interval": Interval(0, 10),
    "multi-label": MultiLabel(tuple("abcd")),
}


def truths(kind: str, n: int, generator: np.random.Generator) -> np.ndarray:
    """The answer of an attentive annotator without opinions, (n_items,)."""
    if kind == "nominal":
        return generator.choice(3, n, p=(0.5, 0.3, 0.2))
    if kind == "rare value":
        return (generator.random(n) < 0.1).astype(int)
    if kind == "ordinal":
        return generator.choice(5, n, p=(0.1, 0.2, 0.3, 0.25, 0.15))
    if kind == "interval":
        return generator.uniform(1, 9, n)
    return generator.integers(0, 16, n)


def honest(kind: str, truth: np.ndarray, slip: np.ndarray, generator: Any) -> np.ndarray:
    """Answers to these items; `slip` says how often each differs, 0 to 1."""
    n = len(truth)
    if kind == "interval":
        return (truth + generator.normal(0, 1 + 3 * slip, n)).clip(0, 10).round(1)
    if kind == "ordinal":
        return np.rint(truth + generator.normal(0, 0.3 + 2 * slip, n)).clip(0, 4).astype(int)
    if kind == "multi-label":
        flips = generator.random((n, 4)) < slip[:, None] / 2
        return truth ^ (flips * (1 << np.arange(4))).sum(axis=1)
    return np.where(generator.random(n) < slip, other(kind, truth, generator), truth)


def other(kind: str, truth: np.ndarray, generator: Any) -> np.ndarray:
    """Another value, at random."""
    n_values = 3 if kind == "nominal" else 2
    return (truth + generator.integers(1, n_values, len(truth))) % n_values


def planted(as_: str, kind: str, truth: np.ndarray, slip: np.ndarray, generator: Any) -> np.ndarray:
    """Answers of a planted annotator to these items."""
    n = len(truth)
    if as_ == "constant":
        return np.full(n, {"interval": 5.0, "ordinal": 2}.get(kind, 0))
    if as_ == "random":
        return truths(kind, n, generator)  # the usual shares of values, but of other items
    if as_ == "contrary":
        ends = {"interval": 10.0, "ordinal": 4, "multi-label": 15}
        return ends[kind] - truth if kind in ends else other(kind, truth, generator)
    awake = honest(kind, truth, slip, generator)
    return np.where(generator.random(n) < 0.5, awake, truths(kind, n, generator))


def crowd(
    kind: str, n_annotators: int, n_answers: int, bad: str | None, seed: Sequence[int]
) -> tuple[Annotations, list[str]]:
    """A crowd of which one in ten, at least one, is planted; their names.

    Every item has five answers. Honest annotators slip at rates of their own, 0.1 to 0.4; an item
    may be hard, and then everybody slips three times as often.
    """
    generator = np.random.default_rng(seed)
    per_item = min(5, n_annotators)
    n_items = n_annotators * n_answers // per_item
    order = generator.permuted(np.tile(np.arange(n_annotators), (n_answers, 1)), axis=1).ravel()
    annotator = order[: n_items * per_item]
    item = np.repeat(np.arange(n_items), per_item)
    twice = np.array([len(set(row)) < per_item for row in annotator.reshape(-1, per_item)])[item]
    truth = truths(kind, n_items, generator)
    hard = np.where(generator.random(n_items) < 0.2, 3.0, 1.0)
    skill = generator.uniform(0.1, 0.4, n_annotators)
    if kind == "rare value":
        skill = skill / 4
    slip = np.minimum(skill[annotator] * hard[item], 0.8)
    answer = honest(kind, truth[item], slip, generator)
    names = [f"a{code}" for code in range(n_annotators)]
    chosen = range(max(1, n_annotators // 10)) if bad else range(0)
    for code in chosen:
        rows = np.flatnonzero(annotator == code)
        if bad == "copying":
            copied = np.flatnonzero(annotator == n_annotators - 1 - code)
            where = item[copied]  # the same items, and the answers of the other
            item[rows[: len(copied)]], answer[rows[: len(copied)]] = where, answer[copied]
            twice[rows] = False
        else:
            answer[rows] = planted(bad or "", kind, truth[item[rows]], slip[rows], generator)
    kept = ~twice
    annotations = Annotations.from_arrays(
        item[kept],
        annotator[kept],
        answer[kept],
        SCALES[kind],
        items=Names.range(n_items),
        annotators=Names(names),
        repeats="first",
    )
    return annotations, [names[code] for code in chosen]


def measured(
    kind: str, n_annotators: int, n_answers: int, bad: str | None, crowds: int, first: int = SEED
) -> dict[str, Any]:
    """How many planted annotators are named, and how many honest ones in a crowd."""
    wanted = NAMED.get(bad or "", COMPARED)
    hits, planted_ones, wrong = 0, 0, 0
    wrong_kinds: dict[str, int] = {}
    for number in range(crowds):
        seed = (first, number, n_annotators, n_answers, len(bad or ""), list(SCALES).index(kind))
        annotations, names = crowd(kind, n_annotators, n_answers, bad, seed)
        findings = compare_annotators(annotations)
        by_name = {row.annotator: row for row in findings.by_annotator}
        hits += sum(bool(set(by_name[name].suspicious) & set(wanted)) for name in names)
        planted_ones += len(names)
        copied = {f"a{n_annotators - 1 - int(name[1:])}" for name in names if bad == "copying"}
        for row in findings.by_annotator:
            kinds = set(row.suspicious) - ({"duplicated"} if row.annotator in copied else set())
            if row.annotator not in names and kinds:
                wrong += 1
                for odd in kinds:
                    wrong_kinds[odd] = wrong_kinds.get(odd, 0) + 1
    return {
        "scale": kind,
        "annotators": n_annotators,
        "answers": n_answers,
        "planted": bad or "nobody",
        "crowds": crowds,
        "named": hits / planted_ones if planted_ones else None,
        "honest_named_per_crowd": wrong / crowds,
        "wrong_kinds": wrong_kinds,
    }


def table(results: list[dict[str, Any]]) -> str:
    """From how many answers on nine of ten planted annotators are named; honest ones named."""
    lines = [f"scales: {' / '.join(SCALES)}"]
    for bad in PLANTED:
        cells = []
        for size in CROWDS:
            rows = [row for row in results if (row["planted"], row["annotators"]) == (bad, size)]
            cells.append(" / ".join(_enough([row for row in rows if row["scale"] == kind])
                                    for kind in SCALES))  # fmt: skip
        lines.append(f"| {bad} | {' | '.join(cells)} |")
    for bads in ((*PLANTED, "nobody"), ("nobody",)):
        rows = [row for row in results if row["planted"] in bads]
        crowds = sum(row["crowds"] for row in rows)
        wrong = sum(row["honest_named_per_crowd"] * row["crowds"] for row in rows)
        lines.append(f"honest annotators named per crowd: {wrong / crowds:.3f} ({crowds:,} crowds)")
    return "\n".join(lines)


def _enough(rows: list[dict[str, Any]]) -> str:
    """The smallest number of answers from which on nine of ten are named."""
    rows = sorted(rows, key=lambda row: row["answers"])
    few = [row["answers"] for row in rows if row["named"] < 0.9]
    enough = [row["answers"] for row in rows if row["answers"] > max(few, default=0)]
    return str(enough[0]) if enough else f"> {rows[-1]['answers']}" if rows else "-"


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--crowds", type=int, default=10, help="crowds of each kind; a tenth if large"
    )
    parser.add_argument("--scale", choices=SCALES, action="append")
    parser.add_argument("--size", type=int, action="append", help="annotators of a crowd")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--show", action="store_true", help="do not keep the results")
    parser.add_argument("--table", action="store_true", help="print the kept results, run nothing")
    options = parser.parse_args(arguments)
    if options.table:
        print(table(kept("suspicious")["results"]))
        return
    results: list[dict[str, Any]] = []
    for kind in options.scale or SCALES:
        for n_annotators in options.size or CROWDS:
            large = n_annotators > 100
            crowds = max(2, options.crowds // 10) if large else options.crowds
            for bad in (*PLANTED, None):
                cells = []
                for n_answers in ANSWERS[:-1] if large else ANSWERS:
                    result = measured(kind, n_annotators, n_answers, bad, crowds, options.seed)
                    results.append(result)
                    named = "   -" if result["named"] is None else f"{result['named']:4.2f}"
                    cells.append(f"{named} ({result['honest_named_per_crowd']:.2f})")
                print(f"{kind:12}{n_annotators:4} {bad or 'nobody':9}", *cells, flush=True)
        if not options.show:
            keep("suspicious", "bench_suspicious.py", {"seed": options.seed, "results": results})


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
