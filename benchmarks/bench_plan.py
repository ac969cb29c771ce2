"""Do the intervals of `plan` hold, and does asking where it says save answers?

Reliability: items of crowds whose distributions are known, 300 of them with 3 or 5 answers each;
how often the interval of stable and repeated labels holds the truth of many items, with up to 20
answers each; and how far alpha is from its mean in 95 % of tables, against `alpha_within`.

Replay: of each item two random answers are known; each round reveals as many more as a quarter of
the items, chosen by each strategy among those that were really given (or drawn beforehand, in
simulated crowds). Where annotators answered only some items, a plan says which item, and a random
one of its annotators answers; "whom" is measured where all answered all. Errors: total variation
distance of the expected distribution to that of all answers (or the true one), and wrong majorities
and labels of Dawid and Skene's model, against gold labels, the truth, or the majority of all
answers. "saved" is the share of the further answers of a random choice that the strategy does not
need for the error that it has after the last round, by means over seeds; negative if it needs more.

    DISSENSUS_DATA=data python benchmarks/bench_plan.py [reliability|replay] [--corpora NAME,...]
    python benchmarks/bench_plan.py --show

ActiveLab (Goh & Mueller 2023, arXiv:2301.11856) needs cleanlab: pip install cleanlab.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import dissensus as ds
from dissensus import Annotations, Corpus, Nominal, Ordinal
from dissensus.agreement import krippendorff_alpha
from dissensus.names import Names
from dissensus.planning import next_answers, plan
from dissensus.planning.item_model import ItemModel, labels_of
from keeping import keep, kept

SEED = 20261119
CHECKED = (1, 3, 5, 10, 20)  # answers per item
ROUNDS, START = 8, 2
CROWDS = ("beta", "clear", "dirichlet", "pairs", "ordinal")


# ---- crowds with a known truth ----


def distributions(kind: str, n: int, draw: np.random.Generator) -> np.ndarray:
    """Of the answers to n items, (n, n_values)."""
    if kind in ("beta", "clear"):
        second = draw.beta(0.4, 0.8, n)
        if kind == "clear":
            second = np.abs((draw.random(n) < 0.5) - np.where(draw.random(n) < 0.85, 0.97, 0.6))
        return np.stack([1 - second, second], axis=1)
    if kind == "dirichlet":
        return draw.dirichlet([0.3, 1, 0.5, 0.2], n)
    if kind == "pairs":
        both = draw.permuted(np.tile(np.arange(6), (n, 1)), axis=1)[:, :2]
        share, rows = np.full((n, 6), 0.01), np.arange(n)
        split = draw.beta(2, 1, n)
        share[rows, both[:, 0]] += split
        share[rows, both[:, 1]] += 1 - split
        return share / share.sum(axis=1, keepdims=True)
    from scipy.stats import norm

    place, spread = draw.normal(2, 1.2, (n, 1)), np.exp(draw.normal(-0.5, 0.5, (n, 1)))
    below = norm.cdf((np.arange(4) + 0.5 - place) / spread)
    return np.diff(np.hstack([np.zeros((n, 1)), below, np.ones((n, 1))]), axis=1)


def answers_of(share: np.ndarray, ordered: bool, r: int, draw: np.random.Generator) -> Annotations:
    """r answers to each item."""
    item = np.repeat(np.arange(len(share)), r)
    answer = drawn(share[item], draw)
    scale = (Ordinal if ordered else Nominal)(tuple(map(str, range(share.shape[1]))))
    return Annotations.from_arrays(item, None, answer, scale, items=Names.range(len(share)))


def drawn(share: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    return (
        (draw.random((len(share), 1)) > share.cumsum(axis=1)[:, :-1]).sum(axis=1).astype(np.int32)
    )


# ---- are the intervals right? ----


def truths(share: np.ndarray, ordered: bool, draw: np.random.Generator) -> dict[int, Any]:
    """Stable and repeated labels of items with these distributions, by answers per item."""
    label, known = labels_of(share, ordered), {}
    for r in CHECKED:
        two = [labels_of(draw.multinomial(r, share), ordered) for _ in range(40)]
        stable = np.mean([(one * label).sum(axis=1).mean() for one in two])
        again = [(a * b).sum(axis=1).mean() for a, b in zip(two[::2], two[1::2], strict=True)]
        known[r] = {"stable": float(stable), "repeated": float(np.mean(again))}
    return known


def reliability(tables: int) -> Iterator[dict[str, Any]]:
    for kind in CROWDS:
        draw, ordered = np.random.default_rng(SEED), kind == "ordinal"
        every = distributions(kind, 20000, draw)
        known = truths(every, ordered, draw)
        for r in (3, 5):
            plans: list[Any] = []
            alphas: dict[int, list[float]] = {3: [], 10: []}
            for seed in range(tables):
                share = every[draw.choice(len(every), 300, replace=False)]
                plans.append(plan(answers_of(share, ordered, r, draw), seed=seed).rows)
                for answers, values in alphas.items():
                    values.append(krippendorff_alpha(answers_of(share, ordered, answers, draw)))
            row = {"crowd": kind, "items": 300, "answers": r, "tables": tables}
            for what in ("stable", "repeated"):
                for answers in CHECKED:
                    each = np.array([
                        getattr(one, what) for rows in plans for one in rows
                        if one.answers == answers
                    ])  # fmt: skip
                    truth = known[answers][what]
                    holds = (each[:, 1] <= truth) & (truth <= each[:, 2])
                    row[f"{what} {answers}"] = {
                        "truth": truth,
                        "mean": float(each[:, 0].mean()),
                        "holds": float(holds.mean()),
                        "half width": float((each[:, 2] - each[:, 1]).mean() / 2),
                    }
            for answers, values in alphas.items():
                said = [
                    one.alpha_within for rows in plans for one in rows if one.answers == answers
                ]
                off = np.abs(np.array(values) - np.mean(values))
                row[f"alpha {answers}"] = {
                    "said": float(np.mean(said)),
                    "true": float(1.96 * np.std(values)),
                    "holds": float((off <= np.array(said)).mean()),
                }
            print_reliability(row)
            yield row


def print_reliability(row: dict[str, Any]) -> None:
    line = f"{row['crowd']:10}{row['answers']} answers "
    for what in ("stable", "repeated"):
        cells = [row[f"{what} {answers}"] for answers in CHECKED]
        line += f" {what} " + ", ".join(
            f"{answers}: {c['truth']:.2f} {c['mean']:.2f} +-{c['half width']:.2f} {c['holds']:.2f}"
            for answers, c in zip(CHECKED, cells, strict=True)
        )
    for answers in (3, 10):
        cell = row[f"alpha {answers}"]
        line += f"; alpha {answers}: said {cell['said']:.3f} true {cell['true']:.3f}"
        line += f" {cell['holds']:.2f}"
    print(line, flush=True)


# ---- are answers saved? ----


@dataclass
class Pool:
    """All answers to a question, and what is to be found with fewer of them."""

    name: str
    answers: Annotations  # what can be revealed
    distribution: np.ndarray  # (n_items, n_values)
    label: np.ndarray  # (n_items,) right values, -1 unknown
    crossed: bool  # whether every annotator answered (almost) every item
    texts: Any = None  # or features, (n_items, n)


def simulated(kind: str, seed: int) -> Pool:
    """400 items, 40 annotators who have all answered: of different skill, or alike."""
    draw = np.random.default_rng([SEED, seed])
    n, people, values = 400, 40, 4
    item, who = np.divmod(np.arange(n * people), people)
    if kind == "simulated views":
        share = distributions("dirichlet", n, draw)
        answer, label = drawn(share[item], draw), share.argmax(axis=1)
    else:
        label = draw.integers(0, values, n)
        skill = draw.choice([0.35, 0.6, 0.9], people)
        hard = np.where(draw.random(n) < 0.3, 0.5, 1.0)
        right = 1 / values + (skill[who] - 1 / values).clip(0) * hard[item]
        wrong = (label[item] + draw.integers(1, values, len(item))) % values
        answer = np.where(draw.random(len(item)) < right, label[item], wrong).astype(np.int32)
        share = np.zeros((n, values))
        np.add.at(share, (item, answer), 1 / people)
    scale = Nominal(tuple("abcd"))
    answers = Annotations.from_arrays(
        item, who, answer, scale, items=Names.range(n), annotators=Names.range(people)
    )
    return Pool(kind, answers, share, label, True)


def real(name: str, seed: int) -> Pool:
    """A public corpus; at most 600 of its items that have five answers or more."""
    folder, _, part = name.partition("/")
    data = Path(os.environ["DISSENSUS_DATA"])
    corpus = ds.read(data / folder, corpus=part or None)
    question = next(iter(corpus.questions))
    draw = np.random.default_rng([SEED, seed])
    several = np.flatnonzero(corpus[question].voters() >= 5)
    corpus = corpus.select(items=np.sort(draw.permutation(several)[:600]))
    answers = corpus[question]
    right = np.full(corpus.n_items, -1)
    if not isinstance(answers.scale, ds.Interval):
        label = corpus.gold.get(question, answers.majority("drop")).to(answers.scale)
        right[label.item] = label.answer
    used = np.flatnonzero(answers.per_annotator())
    answers = answers.select_annotators(used, answers.annotators.take(used))
    texts = [corpus.text_of(code) for code in range(corpus.n_items)] if corpus.contents else None
    crossed = answers.n_rows > 0.9 * answers.n_items * answers.n_annotators
    share = answers.distribution()
    return Pool(name, answers, share, right, crossed, texts)


def corpus_of(pool: Pool, known: np.ndarray) -> Corpus:
    answers = pool.answers.take(known)
    return Corpus.build(pool.name, answers.items, {"q": answers}, annotators=answers.annotators)


def in_order(pool: Pool, known: np.ndarray, items: np.ndarray, n: int, draw: Any) -> np.ndarray:
    """A hidden answer to each of these items in turn, by a random annotator, n in all."""
    hidden: dict[int, list[int]] = {}
    for row in draw.permutation(np.flatnonzero(~known)):
        hidden.setdefault(int(pool.answers.item[row]), []).append(row)
    taken = [hidden[item].pop() for item in items.tolist() if hidden.get(item)][:n]
    return np.array(taken, dtype=int)


def chosen_at_random(pool: Pool, known: np.ndarray, n: int, draw: Any) -> np.ndarray:
    items = np.tile(np.arange(pool.answers.n_items), 3)
    return in_order(pool, known, draw.permutation(items), n, draw)


def chosen_by_plan(
    pool: Pool, known: np.ndarray, n: int, about: Any, whom: bool, draw: Any
) -> np.ndarray:
    asked = next_answers(corpus_of(pool, known), "q", n if whom else 3 * n, about=about)
    item = pool.answers.items.codes(asked["item"].combine_chunks(), "item")
    if not whom:
        return in_order(pool, known, item, n, draw)
    who = pool.answers.annotators.codes(asked["annotator"].combine_chunks(), "annotator")
    place = {
        pair: row
        for row, pair in enumerate(
            zip(pool.answers.item.tolist(), pool.answers.annotator_codes("").tolist(), strict=True)
        )
    }
    pairs = zip(item.tolist(), who.tolist(), strict=True)
    return np.array([place[pair] for pair in pairs if pair in place], dtype=int)


def chosen_by_entropy(pool: Pool, known: np.ndarray, n: int, draw: Any) -> np.ndarray:
    share = pool.answers.take(known).distribution()
    entropy = -(share * np.log(np.maximum(share, 1e-12))).sum(axis=1)
    order = np.lexsort((draw.random(len(entropy)), -entropy))
    return in_order(pool, known, np.tile(order, 3), n, draw)


def chosen_by_activelab(pool: Pool, known: np.ndarray, n: int, draw: Any) -> np.ndarray:
    part = pool.answers.take(known)
    table = by_annotator(part)
    used = table[:, np.isfinite(table).any(axis=0)]
    scores, _ = multiannotator().get_active_learning_scores(used, predicted(pool, part))
    order = np.lexsort((draw.random(len(scores)), scores))
    return in_order(pool, known, np.tile(order, 3), n, draw)


def multiannotator() -> Any:
    """The module of cleanlab."""
    return import_module("cleanlab.multiannotator")


def by_annotator(answers: Annotations) -> np.ndarray:
    """Answers as cleanlab takes them, (n_items, n_annotators), nan where there is none."""
    table = np.full((answers.n_items, answers.n_annotators), np.nan)
    table[answers.item, answers.annotator] = answers.answer
    return table


def predicted(pool: Pool, part: Annotations) -> np.ndarray:
    """What a cross-validated logistic regression on words says; without texts the usual shares."""
    k = part.scale.n_columns
    usual = np.bincount(part.answer, minlength=k) + 1.0
    if pool.texts is None:
        return np.tile(usual / usual.sum(), (part.n_items, 1))
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    label = part.majority("random").answer
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(pool.texts)
    found = np.full((part.n_items, k), 1e-3)
    values = np.unique(label)
    model = LogisticRegression(C=3.0, max_iter=300)
    found[:, values] += cross_val_predict(model, words, label, cv=5, method="predict_proba")
    return found / found.sum(axis=1, keepdims=True)


def strategies(pool: Pool) -> dict[str, Any]:
    every = {
        "random": chosen_at_random,
        "entropy": chosen_by_entropy,
        "ActiveLab": chosen_by_activelab,
        "plan distribution": lambda p, k, n, d: chosen_by_plan(p, k, n, "distribution", False, d),
        "plan consensus": lambda p, k, n, d: chosen_by_plan(p, k, n, "consensus", False, d),
    }
    if pool.crossed:
        every["plan consensus, whom"] = lambda p, k, n, d: chosen_by_plan(
            p, k, n, "consensus", True, d
        )
    return every


def errors(pool: Pool, known: np.ndarray) -> tuple[float, float, float]:
    """Of the expected distribution, of majorities, and of labels by Dawid and Skene's model."""
    part = pool.answers.take(known)
    far = 0.5 * np.abs(ItemModel.fit(part).expected() - pool.distribution).sum(axis=1).mean()
    share = part.distribution()
    tied = share >= share.max(axis=1, keepdims=True) - 1e-9
    has = pool.label >= 0
    rows = np.arange(len(share))
    right = (tied / tied.sum(axis=1, keepdims=True))[rows, pool.label][has].mean()
    model = ds.aggregation.DawidSkene().fit(part)
    wrong = (model.prediction_.consensus != pool.label)[has].mean()
    return float(far), float(1 - right), float(wrong)


def replay(pool: Pool, seed: int) -> dict[str, list[tuple[float, ...]]]:
    """The errors of each strategy after each round; of the random one after four times as many."""
    curves: dict[str, list[tuple[float, ...]]] = {}
    step = pool.answers.n_items // 4
    draw = np.random.default_rng([SEED, seed, 1])
    first = np.zeros(pool.answers.n_rows, dtype=bool)
    first[in_order(pool, first, np.tile(np.arange(pool.answers.n_items), START), 10**9, draw)] = (
        True
    )
    for name, choose in strategies(pool).items():
        known, curves[name] = first.copy(), [(0.0, *errors(pool, first))]
        for _ in range(ROUNDS * (4 if name == "random" else 1)):
            draw = np.random.default_rng([SEED, seed, int(known.sum())])
            new = choose(pool, known, step, draw)
            known[new] = True  # none once all are known
            curves[name].append((float(known.sum() - first.sum()), *errors(pool, known)))
    return curves


def saved(curve: np.ndarray, random: np.ndarray) -> float:
    """The share of the further answers of a random choice that a strategy does not need.

    -10 at least; at most 0.75, as a random choice was continued to four times as many answers.

    Args:
        curve: answers and error after each round, means over seeds, (n_rounds, 2).
    """
    n, reached = curve[-1]
    best = np.minimum.accumulate(random[:, 1])
    needed = float(np.interp(-reached, -best, random[:, 0]))
    return max(1 - n / max(needed, 1e-9), -10.0)


ERRORS = ("distribution", "majority", "dawid-skene")
CORPORA = (
    *("simulated views", "simulated skill", "bluebirds_ducks/bluebirds", "snow2008/rte"),
    *("lewidi2023/HS-Brexit", "lewidi2023/MD-Agreement", "snow2008/temp"),
)


def replays(names: list[str], seeds: int) -> Iterator[dict[str, Any]]:
    for name in names:
        made = simulated if name.startswith("simulated") else real
        every = [replay(made(name, seed), seed) for seed in range(seeds)]
        for strategy in every[0]:
            row = {"corpus": name, "strategy": strategy, "seeds": seeds}
            curves = np.mean([one[strategy] for one in every], axis=0)
            random = np.mean([one["random"] for one in every], axis=0)
            last = min(ROUNDS, len(curves) - 1)
            row["answers"] = float(curves[last, 0])
            for at, error in enumerate(ERRORS, 1):
                row[error] = float(curves[last, at])
                row[f"sd, {error}"] = float(np.std([one[strategy][last][at] for one in every]))
                row[f"saved, {error}"] = saved(curves[: last + 1, [0, at]], random[:, [0, at]])
            print_replay(row)
            yield row


def print_replay(row: dict[str, Any]) -> None:
    line = f"{row['corpus']:26}{row['strategy']:24}"
    for error in ERRORS:
        mean, spread = row[error], row[f"sd, {error}"]
        line += (
            f"  {error} {mean:.3f} (sd {spread:.3f}) saved {100 * row[f'saved, {error}']:+4.0f} %"
        )
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", choices=("reliability", "replay"))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--try", dest="only_try", action="store_true", help="keep nothing")
    options = parser.parse_args()
    found = {name: kept("plan").get(name, []) for name in ("reliability", "replay")}
    if options.show:
        for row in found["reliability"]:
            print_reliability(row)
        for row in found["replay"]:
            print_replay(row)
        return
    warnings.simplefilter("ignore")
    if options.part in (None, "reliability"):
        found["reliability"] = list(reliability(options.tables))
    if options.part in (None, "replay"):
        names = options.corpora.split(",")
        before = [row for row in found["replay"] if row["corpus"] not in names]
        found["replay"] = before + list(replays(names, options.seeds))
    if not options.only_try:
        keep("plan", "bench_plan.py", {"seed": SEED, **found})


if __name__ == "__main__":
    main()
