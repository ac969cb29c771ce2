"""How often each aggregator finds the gold label, beside crowd-kit's on the same answers.

    python benchmarks/bench_aggregation_accuracy.py
    python benchmarks/bench_aggregation_accuracy.py --only pos_tweets    the others are kept

Needs the real corpora (DISSENSUS_DATA). A line compares equal conditions: as many iterations, the
same rule for ties, for MACE the same ten random starts. "as they come" stands where packages are
called with their defaults instead: crowd-kit's GLAD stops early, our MACE keeps the best of ten
starts. Two faults of crowd-kit 1.4.2 are got round: Wawa and zero-based skill ask scikit-learn
whether they are fitted, which crashes; MACE mixes up annotators and values unless they are numbered
by first appearance, as they are here.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd

from dissensus import Annotations, datasets
from dissensus.aggregation import (
    Aggregator,
    DawidSkene,
    Glad,
    Mace,
    Majority,
    OneCoin,
    Wawa,
    ZeroBasedSkill,
)
from keeping import keep, kept

SEEDS = range(10)
CORPORA = [
    ("bluebirds_ducks", "bluebirds"),
    ("bluebirds_ducks", "ducks"),
    ("snow2008", "rte"),
    ("snow2008", "temp"),
    ("snow2008", "wsd"),
    ("labelme_crowds", None),
    ("pos_tweets", None),
]
SMALL = 20_000  # answers up to which crowd-kit's GLAD is waited for
FEW = 3  # iterations of GLAD where there are more answers


class Task(NamedTuple):
    """The answers to one question, names numbered by first appearance, and what is true."""

    asked: Annotations
    frame: pd.DataFrame
    known: np.ndarray  # (n_items,) codes, -1 without gold

    def right(self, distribution: np.ndarray) -> np.ndarray:
        """For each gold item how much of it is found: 1, 0, or a share where values tie."""
        there = (self.known >= 0) & (self.asked.per_item() > 0)
        mass = distribution[there]
        best = mass >= mass.max(axis=1, keepdims=True) * (1 - 1e-9)
        return best[np.arange(len(mass)), self.known[there]] / best.sum(axis=1)

    def first(self, distribution: np.ndarray) -> np.ndarray:
        """As `right`, where the first of the values that tie is taken."""
        label = self.asked.scale.consensus(distribution)
        return self.right(np.eye(distribution.shape[1])[label])


def task(folder: Path, name: str | None) -> tuple[str, str, Task]:
    corpus = datasets.load(folder, name)
    question = next(q for q in corpus.questions if q in corpus.gold)
    asked, gold = corpus[question], corpus.gold[question].to(corpus[question].scale)
    known = np.full(asked.n_items, -1)
    known[gold.item] = gold.answer
    who, (answer, values) = (
        pd.factorize(asked.annotator_codes("voting"))[0],
        pd.factorize(asked.answer),
    )
    number = np.argsort(np.r_[values, np.setdiff1d(range(asked.scale.n_columns), values)])
    known[known >= 0] = number[known[known >= 0]]
    made = Annotations.from_arrays(asked.item, who, answer, asked.scale, items=asked.items)
    frame = pd.DataFrame({"task": made.item, "worker": who, "label": answer})
    return corpus.name, question, Task(made, frame, known)


def ours(model: Aggregator, given: Task) -> np.ndarray:
    return model.fit(given.asked).distribution_


def theirs(model: Any, given: Task) -> np.ndarray:
    """What crowd-kit finds, as our table (n_items, n_values)."""
    found = model.fit_predict_proba(given.frame)
    table = np.zeros((given.asked.n_items, given.asked.scale.n_columns))
    table[np.ix_(found.index, found.columns)] = found.to_numpy()
    return table


class CrowdKitsStart:
    """A generator as crowd-kit's MACE has it: everything is drawn anew from one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def uniform(self, low: float, high: float, size: tuple[int, int]) -> np.ndarray:
        return np.random.RandomState(self.seed).uniform(low, high, size)


def plain(given: Task) -> Iterator[dict[str, Any]]:
    """What draws nothing at random."""
    from crowdkit import aggregation as peer

    fitted = "crowdkit.aggregation.classification.{}.check_is_fitted"
    votes = ours(Majority(), given), theirs(peer.MajorityVote(), given)
    yield row("majority", "ties: the first", given, *votes)
    yield row("majority", "ties: shared", given, *votes, shared=True)
    with mock.patch(fitted.format("wawa")), mock.patch(fitted.format("zero_based_skill")):
        both = ours(Wawa(), given), theirs(peer.Wawa(), given)
        yield row("wawa", "", given, *both)
        both = ours(ZeroBasedSkill(), given), theirs(peer.ZeroBasedSkill(), given)
        yield row("zero-based-skill", "100 steps", given, *both)
    both = ours(OneCoin(20, 0), given), theirs(peer.OneCoinDawidSkene(20, -np.inf), given)
    yield row("one-coin", "20 iterations", given, *both)
    both = ours(DawidSkene(20, 0), given), theirs(peer.DawidSkene(20, -np.inf), given)
    yield row("dawid-skene", "20 iterations", given, *both)


def mace(given: Task) -> Iterator[dict[str, Any]]:
    """Ten seeds; crowd-kit makes 51 expectations in 50 iterations."""
    from crowdkit.aggregation import MACE

    found = [theirs(_Mace(MACE(n_restarts=1, random_state=seed)), given) for seed in SEEDS]
    same = []
    for seed in SEEDS:
        with mock.patch("numpy.random.default_rng", lambda _, seed=seed: CrowdKitsStart(seed)):
            same.append(ours(Mace(iterations=51, restarts=1), given))
    yield row("mace", "the same ten starts", given, same, found)
    best = [ours(Mace(seed=seed), given) for seed in SEEDS]
    yield row("mace", "as they come", given, best, found)


class _Mace(NamedTuple):
    model: Any

    def fit_predict_proba(self, frame: pd.DataFrame) -> pd.DataFrame:
        return self.model.fit(frame).probas_


def glad(given: Task) -> Iterator[dict[str, Any]]:
    small = given.asked.n_rows <= SMALL
    iterations = 20 if small else FEW
    yield glad_row(f"{iterations} iterations", given, Glad(iterations, 0), iterations, -np.inf)
    if small:
        yield glad_row("as they come", given, Glad(), 100, 1e-5)


def glad_row(
    conditions: str, given: Task, model: Glad, iterations: int, tolerance: float
) -> dict[str, Any]:
    from crowdkit.aggregation import GLAD

    peer = GLAD(n_iter=iterations, tol=tolerance, silent=True)
    made = row("glad", conditions, given, ours(model, given), theirs(peer, given))
    ease = peer.betas_.reindex(range(given.asked.n_items), fill_value=1.0).to_numpy()
    made["objective"] = {
        "ours": objective(given.asked, model.ability_, model.log_ease_),
        "crowd-kit": objective(given.asked, peer.alphas_.sort_index().to_numpy(), ease),
    }
    made["iterations"] = {"ours": model.n_iterations_, "crowd-kit": len(peer.loss_history_)}
    return made


def objective(asked: Annotations, ability: np.ndarray, log_ease: np.ndarray) -> float:
    """The log-posterior that GLAD maximises, by our formula for both."""
    n_values = asked.scale.n_columns
    x = ability[asked.annotator_codes("GLAD")] * np.exp(log_ease[asked.item])
    right, wrong = -np.logaddexp(0, -x), -np.logaddexp(0, x) - np.log(n_values - 1)
    weight = np.full((asked.n_items, n_values), -np.log(n_values))
    for value in range(n_values):
        each = np.where(asked.answer == value, right, wrong)
        weight[:, value] += np.bincount(asked.item, each, asked.n_items)
    likelihood = np.logaddexp.reduce(weight, axis=1)[asked.per_item() > 0].sum()
    return float(likelihood - 0.5 * ((ability - 1) ** 2).sum() - 0.5 * ((log_ease - 1) ** 2).sum())


def row(
    method: str,
    conditions: str,
    given: Task,
    mine: np.ndarray | list[np.ndarray],
    peers: np.ndarray | list[np.ndarray],
    shared: bool = False,
) -> dict[str, Any]:
    """Both sides and the verdict; a list of distributions is one for each seed."""
    find = given.right if shared else given.first
    tables = [found if isinstance(found, list) else [found] for found in (mine, peers)]
    right = [np.stack([find(each) for each in found]) for found in tables]
    there = given.asked.per_item() > 0
    apart = [np.abs(a - b)[there].max() for a, b in zip(*tables, strict=True)]
    return {
        "method": method,
        "conditions": conditions,
        "ours": right[0].mean(axis=1).tolist(),
        "crowd-kit": right[1].mean(axis=1).tolist(),
        "largest difference of a probability": float(max(apart)),
        **verdict(*right),
    }


def verdict(mine: np.ndarray, peers: np.ndarray) -> dict[str, Any]:
    """What the difference is, from how much of each item was found, (n_seeds, n_items).

    Better or equal; within one standard error of the seeds, where there are several; or worse.
    """
    gap = mine.mean(axis=1) - peers.mean(axis=1)
    error = float(np.sqrt((mine.mean(axis=1).var() + peers.mean(axis=1).var()) / len(gap)))
    items = mine.mean(axis=0) - peers.mean(axis=0)
    difference = float(items.mean())
    if abs(difference) < 1e-12:
        said = "equal"
    elif difference > 0:
        said = "better"
    else:
        said = "within one standard error" if -difference <= error else "worse"
    return {
        "verdict": said,
        "items": float(items.sum()),  # how many more are found
        "error of items": float(items.std() * np.sqrt(len(items))),
        "error of seeds": error * len(items),
    }


def shown(made: dict[str, Any]) -> str:
    line = f"{made['corpus']:15} {made['method']:17} {made['conditions']:20}"
    line += "".join(f"{np.mean(made[who]):9.4f}" for who in ("ours", "crowd-kit"))
    line += f"   {made['verdict']}"
    if made["verdict"] != "equal":
        line += f": {made['items']:+.1f} items; one standard error is"
        line += f" {made['error of items']:.1f} over items, {made['error of seeds']:.1f} over seeds"
    if "objective" in made:
        both = made["objective"]
        line += f"; objective {both['ours']:.3f} and {both['crowd-kit']:.3f}"
    return line


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one folder of corpora; the others' lines are kept")
    only = parser.parse_args(arguments or []).only
    named = os.environ.get("DISSENSUS_DATA")
    if not named:
        print("DISSENSUS_DATA is not set: the real corpora are not here")
        return
    warnings.simplefilter("ignore")
    parts: tuple[Callable[[Task], Iterator[dict[str, Any]]], ...] = (plain, mace, glad)
    for folder, name in CORPORA:
        if only not in (None, folder):
            continue
        corpus, question, given = task(Path(named) / folder, name)
        about = {"corpus": corpus, "question": question, "n_gold": int((given.known >= 0).sum())}
        rows = []
        for part in parts:
            for made in part(given):
                rows.append(about | made)
                print(shown(rows[-1]), flush=True)
            keep_corpus(rows)


def keep_corpus(rows: list[dict[str, Any]]) -> None:
    """Write the lines of a corpus in place of those it had."""
    new, before = rows[0]["corpus"], kept("aggregation_accuracy")["rows"]
    others = [made for made in before if made["corpus"] != new]
    content = {"seeds": list(SEEDS), "rows": others + rows}
    keep("aggregation_accuracy", "bench_aggregation_accuracy.py", content)


if __name__ == "__main__":
    main(sys.argv[1:])
