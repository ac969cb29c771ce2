"""How long agreement takes, beside scikit-learn and krippendorff on the same answers."""

import statistics
import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score

from dissensus import Annotations, Nominal, agreement
from dissensus.names import Names
from keeping import keep

SEED = 0
RUNS = 5
N_VALUES = 8
PAIRS = 1000  # of annotators that scikit-learn is timed on; it takes as long for each


def crowd(n_items: int, n_annotators: int, per_item: int) -> Annotations:
    """Everyone is right six times in ten, and guesses otherwise; rows in random order."""
    generator = np.random.default_rng(SEED)
    item = np.repeat(np.arange(n_items), per_item)
    # distinct people for an item: a random first one, and steps that do not come around
    step = n_annotators // per_item
    first = generator.integers(0, n_annotators, n_items)
    jump = np.arange(per_item) * step + generator.integers(0, step, (n_items, per_item))
    annotator = ((first[:, None] + jump) % n_annotators).ravel()
    truth = generator.integers(0, N_VALUES, n_items)[item]
    guess = generator.integers(0, N_VALUES, len(item))
    answer = np.where(generator.random(len(item)) < 0.6, truth, guess)
    order = generator.permutation(len(item))
    return Annotations.from_arrays(
        item[order],
        annotator[order],
        answer[order],
        Nominal(tuple("abcdefgh")),
        items=Names.range(n_items),
        annotators=Names.range(n_annotators),
    )


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def alternated(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """The median of runs of both in turn, after one of ours to load what was compiled."""
    ours()
    times = [(seconds(ours), seconds(theirs)) for _ in range(RUNS)]
    return statistics.median(t[0] for t in times), statistics.median(t[1] for t in times)


def peak(work: Callable[[], Any]) -> float:
    """MiB that numpy and Python take at most, beyond what is there before."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 2**20


def all_pairs(name: str, annotations: Annotations) -> dict[str, Any]:
    """kappa_matrix beside cohen_kappa_score of every pair, from a wide table made beforehand."""
    wide = np.full((annotations.n_annotators, annotations.n_items), -1, dtype=np.int8)
    wide[annotations.annotator_codes(""), annotations.item] = annotations.answer
    every = list(combinations(range(annotations.n_annotators), 2))
    chosen = [every[i] for i in np.linspace(0, len(every) - 1, PAIRS).astype(int)]
    found = agreement.kappa_matrix(annotations)

    def one(k: int, m: int) -> float:
        common = (wide[k] >= 0) & (wide[m] >= 0)
        a, b = wide[k, common], wide[m, common]
        return float(cohen_kappa_score(a, b)) if len(np.union1d(a, b)) > 1 else float("nan")

    expected = [one(k, m) for k, m in chosen]
    np.testing.assert_allclose([found[pair] for pair in chosen], expected, atol=1e-12)

    def mine() -> np.ndarray:
        return agreement.kappa_matrix(annotations)

    ours, theirs = alternated(mine, lambda: [one(*pair) for pair in chosen])
    theirs *= len(every) / PAIRS
    return result(name, annotations, ours, peak(mine), "scikit-learn", theirs)


def alpha(annotations: Annotations) -> dict[str, Any]:
    """krippendorff_alpha from rows, beside krippendorff.alpha from counts made beforehand."""
    counts = annotations.counts().astype(int)

    def mine() -> float:
        return agreement.krippendorff_alpha(annotations)

    def peer() -> float:
        return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))

    assert abs(mine() - peer()) < 1e-9
    ours, theirs = alternated(mine, peer)
    memory = peak(mine), peak(peer)
    name = "Krippendorff's alpha"
    return result(name, annotations, ours, memory[0], "krippendorff", theirs, memory[1])


def result(
    name: str,
    annotations: Annotations,
    ours: float,
    mebibytes: float,
    peer: str = "",
    theirs: float | None = None,
    peer_mebibytes: float | None = None,
) -> dict[str, Any]:
    return {
        "measure": name,
        "items": annotations.n_items,
        "annotators": annotations.n_annotators,
        "answers": annotations.n_answers,
        "seconds": ours,
        "mebibytes": mebibytes,
        "peer": peer,
        "peer_seconds": theirs,
        "peer_mebibytes": peer_mebibytes,
        "ratio": None if theirs is None else theirs / ours,
    }


def intervals(annotations: Annotations) -> list[dict[str, Any]]:
    """The interval of each measure."""
    found = []
    for name in ("krippendorff-alpha", "fleiss-kappa", "gwet-ac1", "cohen-kappa"):

        def work(name: str = name) -> Any:
            return agreement.interval(name, annotations)

        work()  # load what is compiled, and what is imported
        found.append(result(f"interval of {name}", annotations, seconds(work), peak(work)))
    return found


def cells(found: dict[str, Any]) -> list[str]:
    """A line of the table; what was not measured stays empty."""
    forms = {"answers": ",", "seconds": ".4f", "mebibytes": ",.0f", "peer": "",
             "peer_seconds": ".3f", "peer_mebibytes": ",.0f", "ratio": ",.1f"}  # fmt: skip
    return ["" if found[key] is None else format(found[key], form) for key, form in forms.items()]


def main() -> None:
    sparse, dense = crowd(10_000, 200, 5), crowd(2_000, 200, 200)
    results = [
        all_pairs("kappa of all pairs, sparse", sparse),
        all_pairs("kappa of all pairs, dense", dense),
        alpha(crowd(200_000, 2_000, 5)),
        *intervals(crowd(20_000, 200, 5)),
    ]
    heads = ("answers", "seconds", "MiB", "peer", "seconds", "MiB", "ratio")
    print(f"{'':32}" + "".join(f"{head:>13}" for head in heads))
    for found in results:
        print(f"{found['measure']:32}" + "".join(f"{cell:>13}" for cell in cells(found)))
    content = {
        "seed": SEED,
        "runs": RUNS,
        "values": N_VALUES,
        "timed": f"median of {RUNS} alternated runs; scikit-learn on {PAIRS} pairs, scaled to all; "
        "intervals once, after a first call",
        "results": results,
    }
    keep("agreement", "bench_agreement.py", content)


if __name__ == "__main__":
    main()
