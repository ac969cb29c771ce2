"""The tables of pos_tweets.py from the kept results: accuracy, spread, difference from `single`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from pos_methods import GROUPS

from dissensus.evaluation import Difference, corrected, over_both

NETWORKS = {"": "MiniLM and spelling", "tagger": "the paper's network"}
HEADING = (
    f"  {'':30}{'accuracy (seeds)':21}{'together':>8}{'by gold':>8}{'dev':>8}"
    f"  {'less single':44}settings"
)


@dataclass(frozen=True, eq=False)
class Line:
    """A row as figures, in percent; differences in points."""

    group: str
    method: str
    seeds: np.ndarray  # (n_seeds,)
    together: float | None  # of all seeds as an ensemble
    by_gold: float | None  # where development gold chooses the settings
    dev: float | None  # of the chosen settings
    settings: dict[str, Any]
    base: str  # the method that taught it, if any
    over_single: Difference | None


def lines(kept: dict[str, Any], group: str, network: str = "") -> list[Line]:
    """The rows of a table, those of pos_tweets.py in its order first."""
    rows = {
        row["method"]: row
        for row in kept["rows"]
        if row["group"] == group and row.get("network", "") == network
    }
    order = [name for name in GROUPS[group] if name in rows]
    order += [name for name in rows if name not in order]
    gold, tweets = _codes(kept["gold"]), np.array(kept["tweet"])
    by = "gold" if group == "gold" else "majority"
    right = {name: _right(rows[name], by, gold) for name in order}
    others = [name for name in order if name != "single"]
    differences = [_difference(right[name][0], right["single"][0], tweets) for name in others]
    over = dict(zip(others, corrected(differences), strict=True))
    made = []
    for name in order:
        row, (seeds, together) = rows[name], right[name]
        plain = "tried" not in row
        made.append(
            Line(
                group,
                name,
                100 * seeds.mean(axis=1),
                None if together is None else float(100 * together.mean()),
                None if plain else float(100 * _right(row, "gold", gold)[0].mean()),
                None if plain else 100 * max(float(np.mean(t[by])) for t in row["tried"]),
                {} if plain else row["chosen"][by],
                row.get("base", ""),
                over.get(name),
            )
        )
    return made


def missing(kept: dict[str, Any], group: str, network: str = "") -> list[str]:
    """The rows of a table that are not trained yet."""
    from pos_teachers import ROWS

    wanted = list(GROUPS[group])
    wanted += [row.name for row in ROWS if row.group == group and not network]
    there = [
        row["method"]
        for row in kept["rows"]
        if (row["group"], row.get("network", "")) == (group, network)
    ]
    return [name for name in wanted if name not in there]


def _difference(first: np.ndarray, second: np.ndarray, tweets: np.ndarray) -> Difference:
    """Of as many seeds as both have."""
    n = min(len(first), len(second))
    return over_both(100 * first[:n], 100 * second[:n], groups=tweets)


def _right(row: dict[str, Any], by: str, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Whether each seed's answer is right, (n_seeds, n_items), and that of all of them together."""
    if "seeds" in row:
        return np.array([_codes(said) == gold for said in row["seeds"]], float), None
    tested = row["tested"][json.dumps(row["chosen"][by])]
    said = np.array([_codes(letters) == gold for letters in tested["seeds"]], float)
    return said, (_codes(tested["together"]) == gold).astype(float)


def _codes(letters: str) -> np.ndarray:
    return np.frombuffer(letters.encode("ascii"), np.uint8)


def shown(kept: dict[str, Any]) -> str:
    """Every table that there are rows for."""
    texts = []
    for network, words in NETWORKS.items():
        for group in GROUPS:
            made = lines(kept, group, network)
            if made:
                rows = [f"{words}, learned from {group}", HEADING, *map(_shown, made)]
                texts.append("\n".join(rows))
    return "\n\n".join(texts)


def _shown(line: Line) -> str:
    def figure(value: float | None) -> str:
        return f"{value:8.2f}" if value is not None else f"{'':8}"

    seeds = line.seeds
    spread = f"{seeds.mean():.2f} +- {seeds.std(ddof=1):.2f} ({len(seeds)})"
    figures = "".join(map(figure, (line.together, line.by_gold, line.dev)))
    settings = json.dumps(line.settings) if line.settings else ""
    row = f"  {line.method:30}{spread:21}{figures}  {line.over_single or ''!s:44}{settings}"
    return row.rstrip()
