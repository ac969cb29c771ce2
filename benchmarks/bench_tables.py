"""How often the columns of a long table are recognised by structure alone, in tables made by rule.

Columns have meaningless names, but for the annotator's, and a random order. A table is right if the
item, the annotator, every answer, every content and every attribute are what they were made as;
refused if reading it ends with an error; otherwise wrong. Where several columns divide the rows in
the same way, such as an id and a text, or a name and an age that nobody shares, each of them may
name the item or the annotator. A column that is the same in every row may be anything.
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError
from dissensus.readers import read
from keeping import keep

N_TABLES = 1000
FIRST = 20_000  # seeds below were looked at while the rules were written
SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo zu xa ye qui jo wha".split()
TOPICS = "news sports music food travel science school health garden weather".split()
COUNTRIES = "US DE FR IN BR JP NG KE MX IT".split()


@dataclass
class Table:
    """A table and the role that each of its columns was made for."""

    columns: dict[str, list[Any]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def add(self, role: str, cells: Any, generator: np.random.Generator) -> None:
        name = "rater" if role == "annotator" else ""
        while not name or name in self.columns:
            name = "".join(generator.choice(SYLLABLES, generator.integers(2, 4)))
        self.columns[name] = list(cells)
        self.roles[name] = role


def make_table(seed: int) -> Table:
    """A table by rule: sizes, ids, attributes, answers, labels, times and mistakes are drawn."""
    draw = np.random.default_rng(seed)
    n_items = int(np.exp(draw.uniform(np.log(30), np.log(600))))
    n_annotators = int(np.exp(draw.uniform(np.log(3), np.log(120))))
    per_item = int(draw.integers(2, 11))
    item, annotator = _assigned(n_items, n_annotators, per_item, draw)
    table = Table(facts={"crossed": len(item) == n_items * n_annotators})
    ids = _ids(n_items, draw)
    has_text = draw.random() < 0.75
    if not has_text or draw.random() < 0.8:
        table.add("item", [ids[i] for i in item], draw)
    else:
        table.facts["no id"] = True
    if has_text:
        texts = [_sentence(draw) for _ in range(n_items)]
        if draw.random() < 0.2 and not table.facts.get("no id"):
            texts[1] = texts[0]  # two items with one text
        table.add("content", [texts[i] for i in item], draw)
    for values in _attributes(n_items, draw, [TOPICS, COUNTRIES]):
        table.add("item attribute", [values[i] for i in item], draw)
    names = _ids(n_annotators, draw, of_annotators=True)
    table.add("annotator", [names[a] for a in annotator], draw)
    people = [["male", "female", "non-binary"], COUNTRIES, ["school", "college", "university"]]
    for values in _attributes(n_annotators, draw, people):
        table.add("annotator attribute", [values[a] for a in annotator], draw)
    _add_answers(table, item, annotator, draw)
    _add_assignments(table, item, annotator, draw)
    _add_mistakes(table, draw)
    return _shuffled(table, draw)


def _assigned(
    n_items: int, n_annotators: int, per_item: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Who answered what: everybody everything, or some, of whom a few are much busier."""
    if n_annotators <= 12 and draw.random() < 0.4 or per_item >= n_annotators:
        pairs = np.indices((n_items, min(n_annotators, 12))).reshape(2, -1)
        return pairs[0], pairs[1]
    busy = draw.pareto(1.5, n_annotators) + 0.3
    varied = draw.random() < 0.5
    item, annotator = [], []
    for one in range(n_items):
        n = int(draw.integers(1, per_item + 1)) if varied else per_item
        chosen = draw.choice(n_annotators, n, replace=False, p=busy / busy.sum())
        item += [one] * n
        annotator += chosen.tolist()
    return np.array(item), np.array(annotator)


def _ids(n: int, draw: np.random.Generator, of_annotators: bool = False) -> list[str]:
    style = draw.integers(0, 5)
    if style == 0:
        return [str(i) for i in range(n)]
    if style == 1:
        return [str(i) for i in draw.choice(10**6, n, replace=False)]
    if style == 2:
        return ["".join(draw.choice(list("0123456789abcdef"), 12)) for _ in range(n)]
    if style == 3:
        prefix = "".join(draw.choice(SYLLABLES, 1))
        return [f"{prefix}_{i:04d}" for i in range(n)]
    if of_annotators:
        return ["A" + "".join(draw.choice(list("0123456789ABCDEFGHIJKLMN"), 12)) for _ in range(n)]
    return [f"{draw.choice(TOPICS)}/{i}.jpg" for i in range(n)]


def _sentence(draw: np.random.Generator) -> str:
    words = (
        "".join(draw.choice(SYLLABLES, draw.integers(1, 4))) for _ in range(draw.integers(5, 25))
    )
    return " ".join(words)


def _attributes(n: int, draw: np.random.Generator, words: list[list[str]]) -> list[list[str]]:
    """0 to 4 attributes: words or numbers."""
    attributes: list[list[str]] = []
    for kind in draw.permutation(len(words) + 2)[: draw.integers(0, 5)]:
        if kind < len(words):
            attributes.append(list(draw.choice(words[kind], n)))
        elif kind == len(words):
            attributes.append([str(int(x)) for x in draw.integers(18, 80, n)])
        else:
            attributes.append([f"{x:.2f}" for x in draw.random(n)])
    return attributes


def _add_answers(
    table: Table, item: np.ndarray, annotator: np.ndarray, draw: np.random.Generator
) -> None:
    """One to four answers on scales of all kinds, and labels of the items beside them."""
    for _ in range(draw.choice([1, 1, 1, 2, 2, 3, 4])):
        strength, bias = draw.uniform(0.3, 2.5), draw.uniform(0.0, 0.8)
        truth, lean = draw.normal(size=item.max() + 1), draw.normal(size=annotator.max() + 1)
        seen = strength * truth[item] + bias * lean[annotator] + draw.normal(size=len(item))
        spread = seen.std()
        kind = draw.choice(["binary", "words", "likert", "slider", "share"])
        gold_seen = strength * truth
        if kind in ("slider", "share"):
            top = 100 if kind == "slider" else 1
            scaled = np.clip(0.5 + 0.2 * seen / spread, 0, 1) * top
            cells = [f"{x:.0f}" if top == 100 else f"{x:.2f}" for x in scaled]
            labels = None
            mean = np.bincount(item, scaled) / np.maximum(np.bincount(item), 1)
            if draw.random() < 0.2:
                table.add("item attribute", [f"{mean[i]:.2f}" for i in item], draw)
        else:
            n = {"binary": 2, "likert": int(draw.choice([5, 7]))}.get(
                kind, int(draw.integers(3, 7))
            )
            cuts = np.quantile(seen, np.arange(1, n) / n)
            values = [str(v) for v in range(1, n + 1)] if kind == "likert" else None
            values = values or (["0", "1"] if kind == "binary" and draw.random() < 0.5 else None)
            values = values or ["".join(draw.choice(SYLLABLES, 2)) + str(v) for v in range(n)]
            codes = np.searchsorted(cuts, seen)
            cells = [values[c] for c in codes]
            labels = [values[c] for c in np.searchsorted(cuts, gold_seen)]
            _add_labels(table, labels, codes, values, item, draw)
        if draw.random() < 0.2:
            cells = ["" if draw.random() < 0.1 else cell for cell in cells]
        table.add("answer", cells, draw)


def _add_labels(
    table: Table,
    labels: list[str],
    codes: np.ndarray,
    values: list[str],
    item: np.ndarray,
    draw: np.random.Generator,
) -> None:
    """Gold labels (some blank), the majority, and a model's predictions."""
    if draw.random() < 0.35:
        blank = draw.random() < 0.3
        gold = ["" if blank and draw.random() < 0.5 else label for label in labels]
        table.add("item attribute", [gold[i] for i in item], draw)
    if draw.random() < 0.2:
        counts = np.zeros((item.max() + 1, len(values)))
        np.add.at(counts, (item, codes), 1)
        table.add("item attribute", [values[c] for c in counts.argmax(axis=1)[item]], draw)
    if draw.random() < 0.2:
        answers = [label if draw.random() < 0.75 else str(draw.choice(values)) for label in labels]
        table.add("item attribute", [answers[i] for i in item], draw)


def _add_assignments(
    table: Table, item: np.ndarray, annotator: np.ndarray, draw: np.random.Generator
) -> None:
    """When, how long, in which order, and what was remarked."""
    n = len(item)
    if draw.random() < 0.3:
        day, clock = draw.integers(1, 29, n), draw.integers(0, 86400, n)
        cells = [
            f"2024-03-{d:02d} {c // 3600:02d}:{c // 60 % 60:02d}"
            for d, c in zip(day, clock, strict=True)
        ]
        table.add("extra", cells, draw)
    if draw.random() < 0.3:
        table.add("extra", [f"{x:.1f}" for x in draw.lognormal(3, 1, n)], draw)
    if draw.random() < 0.3:
        table.add("extra", [f"r{x}" for x in draw.choice(10**7, n, replace=False)], draw)
    if draw.random() < 0.2:
        order = draw.permutation(n)
        seen: Counter[int] = Counter()
        position = np.zeros(n, dtype=int)
        for row in order:
            seen[int(annotator[row])] += 1
            position[row] = seen[int(annotator[row])]
        table.add("extra", [str(p) for p in position], draw)
    if draw.random() < 0.25:
        share = draw.choice([0.1, 1.0])
        table.add("extra", [_sentence(draw) if draw.random() < share else "" for _ in item], draw)


def _add_mistakes(table: Table, draw: np.random.Generator) -> None:
    """A blank column, a constant one, a few wrong attributes, a few answers given twice."""
    n = len(next(iter(table.columns.values())))
    if draw.random() < 0.15:
        table.add("anything", [""] * n, draw)
    if draw.random() < 0.15:
        table.add("anything", ["v2"] * n, draw)
    for name, role in table.roles.items():
        if role.endswith("attribute") and draw.random() < 0.1:
            cells = table.columns[name]
            for row in draw.choice(n, max(1, n // 500), replace=False):
                cells[row] = cells[int(draw.integers(n))]
    if draw.random() < 0.15:
        again = draw.choice(n, max(1, n // 300), replace=False)
        for cells in table.columns.values():
            cells.extend([cells[row] for row in again])


def _shuffled(table: Table, draw: np.random.Generator) -> Table:
    names = [str(name) for name in draw.permutation(list(table.columns))]
    order = draw.permutation(len(table.columns[names[0]]))
    columns = {name: [table.columns[name][row] for row in order] for name in names}
    return Table(columns, table.roles, table.facts)


# ---- what becomes of it ----


def outcome(table: Table) -> tuple[str, str]:
    """ "right", "refused" or "wrong", and what the reader said or took for something else."""
    of = {role: [n for n, r in table.roles.items() if r == role] for role in table.roles.values()}
    try:
        corpus = read(pa.table(table.columns), repeats="last")
    except DataError as error:
        return "refused", str(error)
    wrong = []
    items = of.get("item") or of["content"]
    same = {name: _same_rows(table, name) for name in (items[0], of["annotator"][0])}
    if not any(set(corpus.items) == set(table.columns[name]) for name in same[items[0]]):
        wrong.append(f"items of {corpus.n_items}, not {len(set(table.columns[items[0]]))}")
    annotators = [
        n for n in same[of["annotator"][0]] if set(corpus.annotators) == set(table.columns[n])
    ]
    if not annotators:
        wrong.append(f"annotators: {corpus.n_annotators}")
    constant = {name for name, cells in table.columns.items() if len(set(cells)) == 1}
    allowed = {*of.get("anything", []), *constant, *same[items[0]], *same[of["annotator"][0]]}
    _compare(wrong, "answers", set(corpus.questions), set(of["answer"]), set())
    for name in of.get("content", []):
        texts = {text for part in corpus.contents.values() for text in part.values.to_pylist()}
        if texts != set(table.columns[name]):
            wrong.append(f"content {name}")
    extra = set(next(iter(corpus.questions.values())).extra)
    for what, names in (
        ("item attribute", set(corpus.item_attributes)),
        ("annotator attribute", set(corpus.annotator_attributes)),
        ("extra", extra),
    ):
        _compare(wrong, what, names, set(of.get(what, [])), allowed)
    return ("wrong", "; ".join(wrong)) if wrong else ("right", "")


def _same_rows(table: Table, name: str) -> list[str]:
    """The columns that divide the rows as this one does: each of them may name an item."""
    pairs = {
        other: set(zip(table.columns[name], cells, strict=True))
        for other, cells in table.columns.items()
    }
    n = len(set(table.columns[name]))
    return [o for o, both in pairs.items() if len(both) == n == len(set(table.columns[o]))]


def _compare(
    wrong: list[str], what: str, read_names: set[str], true_names: set[str], allowed: set[str]
) -> None:
    read_names, true_names = read_names - allowed, true_names - allowed
    if read_names != true_names:
        extra, absent = sorted(read_names - true_names), sorted(true_names - read_names)
        wrong.append(f"{what}: {extra} too many, {absent} not")


def main() -> None:
    """Print and keep the share of tables that are read rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=N_TABLES)
    parser.add_argument("--show", action="store_true", help="print what is not right")
    parser.add_argument("--first", type=int, default=FIRST, help="seed of the first table")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    wrong: list[int] = []
    in_reader = 0.0
    for seed in range(options.first, options.first + options.tables):
        table = make_table(seed)
        start = time.perf_counter()
        result, why = outcome(table)
        in_reader += time.perf_counter() - start
        outcomes[result] += 1
        wrong += [seed] if result == "wrong" else []
        if options.show and result != "right":
            print(f"{seed} {result}: {why[:300]}  {table.facts}", flush=True)
    shares = {name: outcomes[name] / options.tables for name in ("right", "refused", "wrong")}
    print({name: round(share, 4) for name, share in shares.items()}, f"{in_reader:.0f} s")
    if options.tables == N_TABLES:
        content = {"tables": options.tables, "seeds": [options.first, options.first + N_TABLES - 1]}
        keep(
            "tables",
            f"bench_tables.py --first {options.first}",
            content | {"long": shares, "wrong": wrong, "seconds": in_reader},
        )


if __name__ == "__main__":
    main()
