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
    f"  {'':34}{'accuracy (seeds)':21}{'together':>8}{'by gold':>8}{'dev':>8}"
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


@dataclass(frozen=True)
class Limits:
    """How far all networks with a pretrained encoder come together, in percent, and how much of the
    test part is tagged otherwise than the training part."""

    n_networks: int
    vote: float  # accuracy where each network has one
    never: float  # tokens that no network is right about
    otherwise: float  # tokens of the test part with a tag that their word never has in training
    otherwise_dev: float  # the same of the development part
    right_otherwise: float  # accuracy of the vote on such tokens


def limits(kept: dict[str, Any], group: str) -> Limits:
    gold = _codes(kept["gold"])
    by = "gold" if group == "gold" else "majority"
    rows = [row for row in kept["rows"] if row["group"] == group and "tested" in row]
    said = np.array([_codes(of) for row in rows for of in _tested(row, by)["seeds"]])
    values = np.unique(np.concatenate([gold, said.ravel()]))
    vote = values[np.stack([(said == value).sum(axis=0) for value in values]).argmax(axis=0)]
    otherwise = kept["tagged_otherwise"]
    return Limits(
        len(said),
        100 * float((vote == gold).mean()),
        100 * float((said != gold).all(axis=0).mean()),
        100 * len(otherwise["test"]) / len(gold),
        100 * len(otherwise["dev"]) / kept["dev_tokens"],
        100 * float((vote == gold)[otherwise["test"]].mean()),
    )


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
    tested = _tested(row, by)
    said = np.array([_codes(letters) == gold for letters in tested["seeds"]], float)
    return said, (_codes(tested["together"]) == gold).astype(float)


def _tested(row: dict[str, Any], by: str) -> dict[str, Any]:
    """What a row's networks said with the settings that were chosen by gold or by the majority."""
    found: dict[str, Any] = row["tested"][json.dumps(row["chosen"][by])]
    return found


def _codes(letters: str) -> np.ndarray:
    return np.frombuffer(letters.encode("ascii"), np.uint8)


def shown(kept: dict[str, Any]) -> str:
    """Every table that there are rows for."""
    texts, closing = [], []
    for network, words in NETWORKS.items():
        for group in GROUPS:
            made = lines(kept, group, network)
            if made:
                rows = [f"{words}, learned from {group}", HEADING, *map(_shown, made)]
                texts.append("\n".join(rows))
                closing += [] if network else [limited(kept, group)]
    return "\n\n".join([*texts, *closing])


def limited(kept: dict[str, Any], group: str) -> str:
    """The limits of what learns from a group's labels, in words."""
    found = limits(kept, group)
    return (
        f"All {found.n_networks} networks of MiniLM that learn from {group}, each with a vote: "
        f"{found.vote:.2f}. None of them is right about {found.never:.1f} % of the tokens. "
        f"{found.otherwise:.1f} % of the tokens ({found.otherwise_dev:.1f} % of the development "
        "part's) have a gold tag that their word never has in the training part, where it stands "
        f"three times or more: the vote is right about {found.right_otherwise:.1f} % of them."
    )


def _shown(line: Line) -> str:
    def figure(value: float | None) -> str:
        return f"{value:8.2f}" if value is not None else f"{'':8}"

    seeds = line.seeds
    spread = f"{seeds.mean():.2f} +- {seeds.std(ddof=1):.2f} ({len(seeds)})"
    figures = "".join(map(figure, (line.together, line.by_gold, line.dev)))
    settings = json.dumps(line.settings) if line.settings else ""
    row = f"  {line.method:34}{spread:21}{figures}  {line.over_single or ''!s:44}{settings}"
    return row.rstrip()
