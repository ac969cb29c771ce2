"""Stemming pairs beyond the paper: is this the stem of the word? Judged one pair at a time.

    python benchmarks/stemming_pairs.py GLOVE    runs what is missing (needs DISSENSUS_DATA)
    python benchmarks/stemming_pairs.py --show   prints the kept results

GLOVE is glove/all.txt of `python benchmarks/glove.py --all`: every word of GloVe. Accuracy against
gold, pooled over all pairs, twice: in the paper's ten folds, which cut through words, and in ten
folds of whole words. A fold is tested, the next one chooses settings, eight are learned from. No
row but the one that says so sees a word's other pairs, how many there are, or `freq`.
"""

from __future__ import annotations

import argparse
import base64
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from dissensus import read
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.evaluation import Difference, over_both, over_items
from dissensus.evaluation.protocols import Fold, k_fold, official
from dissensus.methods import Job, fit_many, method
from dissensus.training import Training
from keeping import keep, kept
from word_forms import Vocabulary, pair_features, vector

NAME = "stemming_pairs"  # of the results
QUESTION = "is the stem"
SEEDS = tuple(range(10))
RESAMPLES = 2000
PROTOCOLS = ("fold10", "by word")
PAPER = {"STL": (73.59, 71.34), "MTL, inverse KL": (77.09, 77.47)}  # trained on gold, on silver
BASELINE = "nine string features, boosting"
ENSEMBLE = ("all, boosting", "all, single")
LEAVES, TREES, RATE = (8, 31), 150, 0.1  # of boosting; the next fold chooses leaves and trees
DROPOUT, HIDDEN = 0.3, (128,)  # of networks; the next fold chooses the epoch
TRAINING = Training(epochs=12, batch_size=256, learning_rate=3e-3, least_steps=0)
VOTES = 0.3  # what votes count where gold counts for the rest

Answer = Callable[["Data", Fold], np.ndarray]  # probabilities of yes, (n_seeds, n_test)


class Data(NamedTuple):
    """The corpus, and its pairs as numbers, (n_items, ...)."""

    corpus: Corpus
    gold: np.ndarray
    share: np.ndarray  # of the votes that said yes
    word: np.ndarray  # codes
    plain: np.ndarray  # nine string features
    strings: np.ndarray  # all features without word vectors
    forms: np.ndarray  # all of it


class Row(NamedTuple):
    """A line of the table."""

    name: str
    learns: str
    answer: Answer


# ---- data ----


def loaded(folder: Path, glove: Path) -> Data:
    corpus = read(folder)
    votes = corpus[QUESTION].counts()  # (n_items, 2)
    word = np.unique(corpus.item_attributes["word"].to_numpy(False), return_inverse=True)[1]
    strings, names = columns(corpus, None)
    vocabulary = Vocabulary.read(glove)
    forms, _ = columns(corpus, vocabulary)
    vectors = [vector(pair_features(*pair, vocabulary)) for pair in pairs(corpus)]
    contents, codes = Contents.distinct("features", np.array(vectors, dtype=np.float32))
    return Data(
        replace(corpus, contents={"pair": contents}, content={"pair": codes}),
        np.asarray(corpus.gold[QUESTION].answer),
        votes[:, 1] / votes.sum(axis=1),
        word,
        strings[:, [names.index(name) for name in PLAIN]],
        strings,
        forms,
    )


PLAIN = (
    "letters of the word",
    "letters of the form",
    "common letters",
    "common share",
    "letters cut off",
    "the same",
    "the form is in capitals",  # DELETED
    "the form has a blank",
    "edits",
)


def columns(corpus: Corpus, vocabulary: Vocabulary | None) -> tuple[np.ndarray, list[str]]:
    """The features of each pair, pieces of text as codes in order of the alphabet: trees need no
    more."""
    rows = [pair_features(word, stem, vocabulary) for word, stem in pairs(corpus)]
    found = [np.array([row[name] for row in rows]) for name in rows[0]]
    coded = [np.unique(c, return_inverse=True)[1] if c.dtype.kind == "U" else c for c in found]
    return np.stack(coded, axis=1).astype(float), list(rows[0])


def pairs(corpus: Corpus) -> list[tuple[str, str]]:
    """The word and the stem of each item."""
    texts = [corpus.contents[role].values.to_pylist() for role in ("word", "stem")]
    codes = [corpus.content[role] for role in ("word", "stem")]
    words, stems = ([text[c] for c in code] for text, code in zip(texts, codes, strict=True))
    return list(zip(words, stems, strict=True))


def folds(corpus: Corpus, protocol: str) -> list[Fold]:
    """Each with the next one to choose settings by."""
    if protocol == "fold10":
        return official(corpus, "fold10")
    made = k_fold(corpus, 10, seed=0, by="word")
    tests = [fold.test for fold in made]
    following = [*tests[1:], tests[0]]
    return [
        replace(fold, train=np.setdiff1d(fold.train, after), validation=after)
        for fold, after in zip(made, following, strict=True)
    ]


# ---- what answers ----


def log_loss(yes: np.ndarray, target: np.ndarray) -> float:
    yes = yes.clip(1e-6, 1 - 1e-6)
    return float(-(target * np.log(yes) + (1 - target) * np.log(1 - yes)).mean())


def boosted(features: np.ndarray, target: np.ndarray, fold: Fold) -> np.ndarray:
    """Gradient boosting on shares of yes; leaves and trees by the next fold's log loss."""
    trials = []
    for leaves in LEAVES:
        model = grown(features, target, fold, max_leaf_nodes=leaves)
        stages = zip(
            model.staged_predict_proba(features[fold.validation]),
            model.staged_predict_proba(features[fold.test]),
            strict=True,
        )
        for chosen, tested in stages:
            trials.append((log_loss(chosen[:, 1], target[fold.validation]), tested[:, 1]))
    return min(trials, key=lambda trial: trial[0])[1][None]


def grown(features: np.ndarray, target: np.ndarray, fold: Fold, **settings: Any) -> Any:
    """Each pair once as yes and once as no, as heavy as its target says."""
    settings = {"max_iter": TREES, "learning_rate": RATE, "random_state": 0} | settings
    known, yes = features[fold.train], target[fold.train]
    weight = np.r_[yes, 1 - yes]
    used = weight > 0
    label = np.repeat([1, 0], len(yes))
    model = HistGradientBoostingClassifier(early_stopping=False, **settings)
    return model.fit(np.r_[known, known][used], label[used], sample_weight=weight[used])


def baseline(data: Data, fold: Fold) -> np.ndarray:
    model = grown(data.plain, data.gold, fold, max_iter=100, learning_rate=0.05)
    yes: np.ndarray = model.predict_proba(data.plain[fold.test])[None, :, 1]
    return yes


def network(name: str, **settings: Any) -> Answer:
    """One of our methods over the features, ten seeds; the epoch by the next fold's loss."""

    def answer(data: Data, fold: Fold) -> np.ndarray:
        train, test, validation = fold.parts(data.corpus)
        common: dict[str, Any] = {
            "encoder": "features",
            "hidden": HIDDEN,
            "dropout": DROPOUT,
        } | settings
        trainings = {seed: replace(TRAINING, seed=seed) for seed in SEEDS}
        chosen: Any = method(name)
        made = [chosen(**common, init_seed=s, training=t) for s, t in trainings.items()]
        fit_many([Job(one, train, QUESTION, validation) for one in made])
        return np.stack([one.predict(test)[QUESTION].distribution[:, 1] for one in made])

    return answer


ROWS = (
    Row(BASELINE, "gold", baseline),
    Row("nine, chosen settings", "gold", lambda d, fold: boosted(d.plain, d.gold, fold)),
    Row("strings, boosting", "gold", lambda d, fold: boosted(d.strings, d.gold, fold)),
    Row("all, boosting", "gold", lambda d, fold: boosted(d.forms, d.gold, fold)),
    Row(
        "all, boosting, votes too",
        "gold, votes",
        lambda d, fold: boosted(d.forms, (1 - VOTES) * d.gold + VOTES * d.share, fold),
    ),
    Row("all, boosting on votes", "votes", lambda d, fold: boosted(d.forms, d.share, fold)),
    Row("all, single", "gold", network("single", label="gold")),
    Row("all, soft-label", "votes", network("soft-label")),
    Row(
        "all, soft-label-mtl",
        "gold, votes",
        network("soft-label-mtl", label="gold", soft_loss="inverse-kl"),
    ),
)


# ---- running, keeping ----


def run(row: Row, protocol: str, data: Data) -> dict[str, Any]:
    began, used = time.perf_counter(), time.process_time()
    yes: np.ndarray | None = None
    for fold in folds(data.corpus, protocol):
        found = row.answer(data, fold)
        yes = np.zeros((len(found), data.corpus.n_items)) if yes is None else yes
        yes[:, fold.test] = found
    assert yes is not None
    return {
        "row": row.name,
        "protocol": protocol,
        "learns": row.learns,
        "accuracy": [round(float(a), 5) for a in ((yes > 0.5) == data.gold).mean(axis=1)],
        "answers": [packed(np.packbits(seed > 0.5)) for seed in yes],
        "mean": packed(np.round(yes.mean(axis=0) * 255).astype(np.uint8)),  # 0 to 255
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(time.process_time() - used, 1),
    }


def packed(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode()


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), np.uint8)


def complete(folder: Path, glove: Path, only: str | None) -> None:
    data = loaded(folder, glove)
    for row in ROWS:
        if only not in (None, row.name):
            continue
        for protocol in PROTOCOLS:
            if find(kept(NAME), row.name, protocol) is None:
                keep_row(run(row, protocol, data), data)
                print(row.name, protocol, kept(NAME)["rows"][-1]["accuracy"], flush=True)


def keep_row(row: dict[str, Any], data: Data) -> None:
    """Beside what is kept by now: other rows may run at the same time."""
    content = {
        "seeds": list(SEEDS),
        "settings": SETTINGS,
        "n_items": data.corpus.n_items,
        "gold": packed(np.packbits(data.gold == 1)),
        "word": packed(data.word.astype(np.uint16)),
        "rows": [*kept(NAME)["rows"], row],
    }
    keep(NAME, "stemming_pairs.py GLOVE", content)


SETTINGS = {
    "boosting": {"max_leaf_nodes": LEAVES, "trees": f"1 to {TREES}", "learning_rate": RATE},
    "baseline": {"max_leaf_nodes": 31, "trees": 100, "learning_rate": 0.05},
    "networks": {"dropout": DROPOUT, "hidden": HIDDEN, "training": TRAINING.__dict__},
    "chosen by": "log loss on the next fold (votes, where only votes are learned), in each fold",
    "votes too": VOTES,
}


# ---- showing ----


def find(results: dict[str, Any], row: str, protocol: str) -> dict[str, Any] | None:
    wanted = (row, protocol)
    return next((r for r in results["rows"] if (r["row"], r["protocol"]) == wanted), None)


def gold(results: dict[str, Any]) -> np.ndarray:
    return np.unpackbits(unpacked(results["gold"]), count=results["n_items"])


def words(results: dict[str, Any]) -> np.ndarray:
    """A code per pair."""
    return unpacked(results["word"]).view(np.uint16).astype(np.int64)


def right(results: dict[str, Any], row: dict[str, Any]) -> np.ndarray:
    """Whether each seed is right on each pair, (n_seeds, n_items)."""
    truth = gold(results)
    answers = [np.unpackbits(unpacked(a), count=len(truth)) for a in row["answers"]]
    return np.stack(answers) == truth


def ensemble(results: dict[str, Any], protocol: str) -> np.ndarray | None:
    """Probabilities of boosting and of ten networks, each half."""
    parts = [find(results, name, protocol) for name in ENSEMBLE]
    means = [unpacked(part["mean"]) / 255 for part in parts if part]
    return np.mean(means, axis=0) if len(means) == len(parts) else None


def best_of_each_word(results: dict[str, Any], yes: np.ndarray) -> np.ndarray:
    """Yes to the most probable pair of each word alone, the first of equals."""
    word = words(results)
    order = np.lexsort((-yes, word))
    first = order[np.r_[True, np.diff(word[order]) > 0]]
    return np.isin(np.arange(len(yes)), first)


def against(results: dict[str, Any], scores: np.ndarray, protocol: str) -> Difference:
    """The lead over the baseline, words drawn anew with all their pairs."""
    other = find(results, BASELINE, protocol)
    assert other is not None
    base = np.broadcast_to(right(results, other), scores.shape)
    return over_items(scores, base, groups=words(results), resamples=RESAMPLES)


def figures(results: dict[str, Any], scores: np.ndarray | None, protocol: str) -> str:
    if scores is None:
        return f"{'-':>40}"
    by_seed = 100 * scores.mean(axis=1)
    spread = f" ± {by_seed.std(ddof=1):.2f}" if len(by_seed) > 1 else ""
    found = against(results, scores, protocol)
    lead = f"{100 * found.effect:+.2f} [{100 * found.low:+.2f}, {100 * found.high:+.2f}]"
    sure = "" if not found.effect else f" p {found.p:.4f}"
    return f"{by_seed.mean():.2f}{spread}  {lead if found.effect else ''}{sure}".rjust(40)


def line(results: dict[str, Any], name: str, learns: str) -> str:
    shown = []
    for protocol in PROTOCOLS:
        row = find(results, name, protocol)
        shown.append(figures(results, right(results, row) if row else None, protocol))
    return f"{name:32}{learns:12}" + "".join(shown)


def show(results: dict[str, Any]) -> None:
    truth = gold(results)
    print(
        f"accuracy, {len(truth)} pairs of {words(results).max() + 1} words; lead over the baseline"
    )
    print(f"{'':44}{'fold10, cuts through words':>40}{'ten folds of whole words':>40}")
    print(f"{'majority class':44}" + f"{100 * truth.mean():.2f}".rjust(40) * 2)
    for name, (of_gold, of_silver) in PAPER.items():
        print(f"{'paper, ' + name:32}{'gold':12}{of_gold:40}")
        print(f"{'paper, ' + name:32}{'silver':12}{of_silver:40}")
    for row in ROWS:
        print(line(results, row.name, row.learns))
    members = [ensemble(results, protocol) for protocol in PROTOCOLS]
    mixed = [None if m is None else ((m > 0.5) == truth)[None] for m in members]
    listed = [
        None if m is None else (best_of_each_word(results, m) == truth)[None] for m in members
    ]
    for name, scores in (("ensemble of both", mixed), ("NOT PAIRWISE: one of each word", listed)):
        both = zip(scores, PROTOCOLS, strict=True)
        print(f"{name:32}{'gold':12}" + "".join(figures(results, s, p) for s, p in both))
    print("the last row sees a word's other pairs, of which exactly one is right: apart from all")
    for protocol in PROTOCOLS:
        print(f"soft-label-mtl - single, {protocol}: {of_soft_labels(results, protocol)}")


def of_soft_labels(results: dict[str, Any], protocol: str) -> Difference | str:
    """What the second task, on votes, adds to gold labels."""
    rows = [find(results, name, protocol) for name in ("all, soft-label-mtl", "all, single")]
    if not all(rows):
        return "-"
    both = [right(results, row) for row in rows if row]
    return over_both(*both, groups=words(results))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("glove", nargs="?", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--only", choices=[row.name for row in ROWS])
    given = parser.parse_args()
    if not given.show:
        data = os.environ.get("DISSENSUS_DATA")
        if not data or given.glove is None:
            sys.exit("name a file of GloVe vectors, and the corpora's folder in DISSENSUS_DATA")
        complete(Path(data) / "stemming", given.glove, given.only)
    show(kept(NAME))


if __name__ == "__main__":
    main()
