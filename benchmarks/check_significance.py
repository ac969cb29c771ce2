"""Do the tests of significance hold their level, and what do they find? Simulated comparisons.

Two methods answer items of shared difficulty, each with a bent of its own for every item, every
seed a little better or worse, and noise. Of 500 comparisons without a difference a test at 5 %
should call about 25 different, at 1 % 5 (the level; the second is what Holm's correction leans on);
of 500 with one, as many as it can (the power). The question is that of new seeds and new items, but
for the design "fits at hand", where seeds have no effect and there is one.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.evaluation import (
    Difference,
    corrected,
    over_both,
    over_items,
    over_seeds,
    published,
    statistic_over_both,
    statistic_over_items,
)
from dissensus.evaluation.resampling import draws, macro_f1
from dissensus.evaluation.significance.paired_tests import PairedScores, percentiles, two_sided
from keeping import keep

COMPARISONS = 500
RESAMPLES = 999
SEED = 0


def hierarchical(
    first: np.ndarray,
    second: np.ndarray,
    *,
    nested: bool = False,
    groups: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The plain bootstrap of seeds and items; intervals are percentiles.

    Args:
        first: scores, (n_runs, n_items).
        nested: resample items separately for each run, which is right only if runs were tested on
            different items; otherwise all runs share the resampled items.

    Reference: Davison and Hinkley (1997), section 3.8; Owen (2007), doi:10.1214/07-AOAS122.
    """
    pairs = PairedScores.of("seeds and items, bootstrap", first, second, groups, 0.95)
    if pairs.settled:
        return pairs.begun
    sums, sizes, n_runs = pairs.sums, pairs.sizes, pairs.begun.n_runs
    if nested:
        alone = [sums[:, [run]] for run in range(n_runs)]
        drawn = [_means(one, sizes, resamples, seed, 1 + run) for run, one in enumerate(alone)]
        of_runs = np.concatenate(drawn, axis=1)  # (resamples, n_runs)
    else:
        of_runs = _means(sums, sizes, resamples, seed, 0)
    chosen = np.concatenate(list(draws(n_runs, resamples, seed, key=-1)))
    values = (of_runs * chosen).sum(axis=1) / n_runs
    return pairs.begun.answered(*percentiles(values, 0.95), two_sided(values))


def _means(sums: np.ndarray, sizes: np.ndarray, resamples: int, seed: int, key: int) -> np.ndarray:
    """The mean of each column in each resample of groups, (resamples, n_columns)."""
    columns = np.column_stack([sums, sizes])
    drawn = np.concatenate([w @ columns for w in draws(len(sizes), resamples, seed, key=key)])
    return drawn[:, :-1] / drawn[:, -1:]


@dataclass(frozen=True)
class Design:
    """What two methods are compared on."""

    name: str
    n_seeds: int
    n_items: int
    better: float  # the first method's lead in logits, where there is one
    seed_spread: float = 0.15  # standard deviations, in logits, as all below
    group_size: int = 1
    group_spread: float = 0.0
    item_spread: float = 1.5  # of the difficulty that methods share
    bent_spread: float = 0.6  # of a method's own bent for an item
    noise: float = 0.7  # of one seed on one item

    @property
    def groups(self) -> np.ndarray:
        return np.arange(self.n_items) // self.group_size


DESIGNS = (
    Design("fits at hand: 1 seed, 500 items", 1, 500, 0.35, seed_spread=0),
    Design("3 seeds, 200 items", 3, 200, 0.6),
    Design("5 seeds, 500 items", 5, 500, 0.35),
    Design("5 seeds, 2000 items", 5, 2000, 0.3),
    Design("10 seeds, 100 items", 10, 100, 0.5),
    Design("5 seeds, 100 groups of 5 items", 5, 500, 0.5, group_size=5, group_spread=0.8),
)


@dataclass(frozen=True, eq=False)
class Simulated:
    """A comparison: labels, what each method said, and whether it was right."""

    people: np.ndarray  # (n_items,) 0 or 1
    said: list[np.ndarray]  # (n_seeds, n_items) each
    groups: np.ndarray

    @property
    def right(self) -> list[np.ndarray]:
        return [(said == self.people).astype(float) for said in self.said]


def simulate(design: Design, leads: Sequence[float], generator: np.random.Generator) -> Simulated:
    """Methods with these leads on the same items."""
    n, groups = design.n_items, design.groups
    hard = generator.normal(1, design.item_spread, n)
    people = (generator.random(n) < 0.3).astype(np.int64)
    said = []
    for lead in leads:
        bent = generator.normal(0, design.bent_spread, n)
        bent += design.group_spread * generator.normal(size=groups.max() + 1)[groups]
        of_seed = generator.normal(0, design.seed_spread, (design.n_seeds, 1))
        noise = generator.normal(0, design.noise, (design.n_seeds, n))
        right = hard + bent + of_seed + noise + lead > 0
        said.append(np.where(right, people, 1 - people))
    return Simulated(people, said, groups)


Test = Callable[[Simulated, int], Difference]


def _accuracies(test: Callable[..., Difference], **options: object) -> Test:
    def run(made: Simulated, seed: int) -> Difference:
        first, second = made.right
        drawing = {} if test is over_both else {"resamples": RESAMPLES, "seed": seed}
        return test(first, second, **drawing, **options)

    return run


def _grouped(made: Simulated, seed: int) -> Difference:
    first, second = made.right
    return over_both(first, second, groups=made.groups)


def _grouped_items(made: Simulated, seed: int) -> Difference:
    first, second = made.right
    return over_items(first, second, groups=made.groups, resamples=RESAMPLES, seed=seed)


def _seeds(made: Simulated, seed: int) -> Difference:
    return over_seeds(made.right[0].mean(axis=1), made.right[1].mean(axis=1))


def _f1(test: Callable[..., Difference]) -> Test:
    def run(made: Simulated, seed: int) -> Difference:
        first, second = (macro_f1(made.people, said) for said in made.said)
        return test(first, second, groups=made.groups, resamples=RESAMPLES, seed=seed)

    return run


TESTS: dict[str, Test] = {
    "over_items": _accuracies(over_items),
    "over_items, groups": _grouped_items,
    "over_seeds": _seeds,
    "over_both": _accuracies(over_both),
    "over_both, groups": _grouped,
    "hierarchical": _accuracies(hierarchical),
    "hierarchical, nested": _accuracies(hierarchical, nested=True),
    "published (one-sided)": _accuracies(published),
    "statistic_over_items, macro-F1": _f1(statistic_over_items),
    "statistic_over_both, macro-F1": _f1(statistic_over_both),
}
NEEDS_SEEDS = ("over_seeds", "over_both", "hierarchical", "statistic_over_both")


def tests_for(design: Design) -> dict[str, Test]:
    """The tests that say something about a design."""
    return {
        name: test
        for name, test in TESTS.items()
        if (design.n_seeds > 1 or not name.startswith(NEEDS_SEEDS))
        and (design.group_size > 1 or not name.endswith("groups"))
    }


def checked(design: Design, comparisons: int) -> list[dict[str, object]]:
    """Shares of comparisons that each test calls different at 5 %, and intervals that hold 0."""
    tests = tests_for(design)
    found: dict[str, dict[str, list[float]]] = {t: {"null": [], "real": []} for t in tests}
    held: dict[str, list[bool]] = {test: [] for test in tests}
    seconds = dict.fromkeys(tests, 0.0)
    for kind, better in (("null", 0.0), ("real", design.better)):
        generator = np.random.default_rng([SEED, DESIGNS.index(design), kind == "real"])
        for number in range(comparisons):
            made = simulate(design, (better, 0.0), generator)
            for name, test in tests.items():
                begin = time.perf_counter()
                answer = test(made, number)
                seconds[name] += time.perf_counter() - begin
                found[name][kind].append(answer.p)
                if kind == "null" and not np.isnan(answer.low):
                    held[name].append(answer.low <= 0 <= answer.high)
    return [
        {
            "design": vars(design),
            "test": name,
            "level": float(np.mean(np.array(found[name]["null"]) < 0.05)),
            "level at 1 %": float(np.mean(np.array(found[name]["null"]) < 0.01)),
            "power": float(np.mean(np.array(found[name]["real"]) < 0.05)),
            "coverage": float(np.mean(held[name])) if held[name] else None,
            "milliseconds": round(seconds[name] / comparisons / 2 * 1000, 1),
        }
        for name in tests
    ]


def families(comparisons: int, n_methods: int = 6) -> dict[str, float]:
    """How often a family of methods without a difference has a finding, with and without Holm."""
    design = DESIGNS[2]
    generator = np.random.default_rng([SEED, 99])
    plain = holm = 0
    for _ in range(comparisons):
        reference, *others = simulate(design, [0.0] * n_methods, generator).right
        made = [over_both(other, reference) for other in others]
        plain += any(answer.p < 0.05 for answer in made)
        holm += any(answer.adjusted < 0.05 for answer in corrected(made))
    n = n_methods - 1
    return {"comparisons": n, "plain": plain / comparisons, "Holm": holm / comparisons}


def main() -> None:
    comparisons = int(sys.argv[1]) if len(sys.argv) > 1 else COMPARISONS
    error = np.sqrt(0.05 * 0.95 / comparisons)
    print(f"{comparisons} comparisons each; a level of 0.05 is found within ± {2 * error:.3f}")
    rows = []
    for design in DESIGNS:
        print(f"\n{design.name:34} level  at 1 %  power  covers  ms")
        for row in checked(design, comparisons):
            rows.append(row)
            covers = "     -" if row["coverage"] is None else f"{row['coverage']:6.3f}"
            print(
                f"  {row['test']:32} {row['level']:.3f}   {row['level at 1 %']:.3f}  "
                f"{row['power']:.3f}  {covers}  {row['milliseconds']:5.1f}",
                flush=True,
            )
    family = families(comparisons)
    print(
        f"\n{family['comparisons']} comparisons without a difference at once: one or more found "
        f"in {family['plain']:.3f}, after Holm's correction in {family['Holm']:.3f}"
    )
    if comparisons != COMPARISONS:
        print("not kept: another number of comparisons")
        return
    content = {
        "seeds": [SEED],
        "comparisons": comparisons,
        "resamples": RESAMPLES,
        "rows": rows,
        "family": family,
    }
    keep("significance", "check_significance.py", content)


if __name__ == "__main__":
    main()
