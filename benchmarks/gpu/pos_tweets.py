"""Part-of-speech tags of tweets with a pretrained encoder: does disagreement help, in which form?

    make gpu-kit RUN=pos_tweets
    python benchmarks/gpu/pos_tweets.py run OUT            settings on dev, then ten seeds on test
    python benchmarks/gpu/pos_tweets.py keep OUT           into benchmarks/results
    make gpu-kit RUN=pos_tweets                            again, with what was chosen
    python benchmarks/gpu/pos_tweets.py teach OUT --seconds 300 --processes 6
    python benchmarks/gpu/pos_tweets.py paper OUT --seconds 200 --processes 14
    python benchmarks/gpu/pos_tweets.py keep OUT           what is there beside what is kept
    python benchmarks/gpu/pos_tweets.py show               the table, from the kept results

MiniLM and how words are spelled, both tuned, learn from gold labels or from the crowd alone. Every
method has the same four settings to choose from, by three seeds on the development part: by its
gold labels where gold is learned, by the crowd's majority there where only the crowd is. Then ten
other seeds are trained and tested once. Seeds of one method train side by side. `teach` goes on
from the best of them (pos_teachers.py), `paper` trains the network of the paper (pos_paper.py).
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import multiprocessing
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

KIT = Path("gpu-kit/pos_tweets")
RESULTS = Path(__file__).parents[1] / "results" / "pos_tweets.json"
QUESTION = "tag"
UNLABELLED = 5000  # tweets
TRIED = range(100, 103)
SEEDS = range(10)
GRID = [
    {"encoder_learning_rate": rate, "epochs": epochs}
    for rate, epochs in itertools.product((2e-4, 4e-4), (8, 15))
]
GOLD: dict[str, tuple[str, dict[str, Any]]] = {
    "single": ("single", {"label": "gold"}),
    "single, smoothed": ("single", {"label": "gold", "label_smoothing": 0.1}),
    "single, agreement above 1/2": ("single", {"label": "gold", "min_agreement": 0.5}),
    "single, weighed by agreement": ("single", {"label": "gold", "weight_by_agreement": True}),
    "soft-label-mtl, kl": ("soft-label-mtl", {"label": "gold", "soft_loss": "kl"}),
    "soft-label-mtl, inverse-kl": ("soft-label-mtl", {"label": "gold", "soft_loss": "inverse-kl"}),
    "soft-label-mtl, ce": ("soft-label-mtl", {"label": "gold", "soft_loss": "ce"}),
    "single, cost-sensitive": ("single", {"label": "gold", "cost_sensitive": True}),
}
CROWD: dict[str, tuple[str, dict[str, Any]]] = {
    "single": ("single", {}),
    "single, smoothed": ("single", {"label_smoothing": 0.1}),
    "single, agreement above 1/2": ("single", {"min_agreement": 0.5}),
    "single, weighed by agreement": ("single", {"weight_by_agreement": True}),
    "single of dawid-skene": ("single", {}),
    "single of mace": ("single", {}),
    "repeated-label": ("repeated-label", {}),
    "soft-label": ("soft-label", {}),
    "soft-label of softmax-vote": ("soft-label", {"target": "softmax-vote"}),
    "soft-label-mtl, kl": ("soft-label-mtl", {"label": "consensus", "soft_loss": "kl"}),
    "soft-label-mtl, inverse-kl": (
        "soft-label-mtl",
        {"label": "consensus", "soft_loss": "inverse-kl"},
    ),
    "soft-label-mtl, ce": ("soft-label-mtl", {"label": "consensus", "soft_loss": "ce"}),
    "single, cost-sensitive": ("single", {"cost_sensitive": True}),
}
GROUPS = {"gold": GOLD, "crowd": CROWD}
AGGREGATED = {"single of dawid-skene": "dawid-skene", "single of mace": "mace"}
CHOICES = KIT / "choices.json"  # of the rows that are kept
LABELS = KIT / "labels.json"  # of the aggregators, whose kernels are compiled by numba


def pack(folder: Path, data: Path) -> None:
    """The tweets, those that nobody tagged beside them, MiniLM and word vectors for the words of
    both, and the settings that were chosen."""
    from kit import pack_minilm
    from tweet_tokens import beside, unlabelled

    from dissensus import datasets

    corpus = datasets.read(data / "pos_tweets")
    corpus.save(folder / "pos_tweets")
    more = beside(corpus, unlabelled(data / "lewidi2023", UNLABELLED))
    more.save(folder / "tweets")
    texts = more.contents["text"].values.to_pylist()
    pack_minilm(folder / "minilm", texts)
    pack_vectors(folder / "glove.txt.gz", texts)
    shutil.copy("glove/pos_tweets.txt", folder / "glove-of-corpus.txt")
    (folder / LABELS.name).write_text(json.dumps(aggregated(corpus)))
    if RESULTS.exists():
        rows = json.loads(RESULTS.read_text())["rows"]
        chosen = [
            {k: row[k] for k in ("group", "method", "tried", "chosen")}
            for row in rows
            if "tried" in row
        ]
        (folder / CHOICES.name).write_text(json.dumps(chosen))


def aggregated(corpus: Any) -> dict[str, list[int]]:
    """The label that each aggregator gives to each item of the training part.

    Automatic tokens have the label that they have; as 177 answers each they would make everybody
    look good at nouns.
    """
    from dissensus.methods.labels import item_labels
    from dissensus.papers.soft_labels.conditions import with_automatic

    train = corpus.part("train")
    made = {}
    for name in AGGREGATED.values():
        found = label(with_automatic(train), "majority")
        answered = item_labels(train, QUESTION, name, "first", 0)
        found[answered.item] = answered.answer
        made[name] = found.tolist()
    return made


def learned(corpus: Any, name: str) -> Any:
    """The corpus as a method learns it: an aggregator's labels take the place of answers."""
    from dissensus import Annotations
    from dissensus.names import Names

    if name not in AGGREGATED:
        return corpus
    items = np.flatnonzero(corpus.in_part("train"))  # the first ones of the corpus
    codes = json.loads(LABELS.read_text())[AGGREGATED[name]][: len(items)]
    asked = Annotations.from_arrays(
        items, None, np.array(codes, np.int32), corpus[QUESTION].scale, items=corpus.items
    )
    return replace(corpus, annotators=Names.range(0), questions={QUESTION: asked})


def pack_vectors(path: Path, texts: list[str]) -> None:
    """GloVe's vectors of the words of texts, two digits behind the point."""
    import gzip
    import importlib
    import sys

    sys.path.insert(0, str(Path(__file__).parents[1]))
    glove: Any = importlib.import_module("glove")

    with tempfile.TemporaryDirectory() as folder:
        vectors, width = glove.vectors_in(glove.packed(Path(folder)))
    words = [word for word in glove.words_of(texts) if word in vectors]
    lines = (f"{w} {' '.join(f'{x:.2f}' for x in vectors[w][:width])}\n" for w in words)
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def made(group: str, name: str, settings: dict[str, Any], seed: int) -> Any:
    from dissensus.methods import method
    from dissensus.training import Training

    cls, own = GROUPS[group][name]
    training = Training(
        batch_size=512,
        batch_by="content",
        schedule="linear",
        layer_decay=0.85,
        precision="bf16",
        seed=seed,
        **settings,
    )
    found: Any = method(cls)
    return found(
        encoder=f"{KIT / 'minilm'}&spelling",
        tune="all",
        dropout=0.1,
        training=training,
        init_seed=seed,
        **own,
    )


def corpus_parts(name: str) -> dict[str, Any]:
    """The training part as a method learns it, and the others."""
    import dissensus as ds
    from dissensus.papers.soft_labels.conditions import with_automatic

    corpus = with_automatic(ds.read(KIT / "pos_tweets"))
    train = learned(corpus, name).part("train")
    return {"train": train} | {part: corpus.part(part) for part in ("dev", "test")}


def fitted(train: Any, methods: list[Any]) -> list[Any]:
    from dissensus.methods.many import Job, fit_many

    return fit_many([Job(method, train, QUESTION) for method in methods])


def answers(method: Any, part: Any) -> tuple[np.ndarray, np.ndarray]:
    said = method.predict(part)[QUESTION]
    return np.asarray(said.consensus), np.asarray(said.distribution)


def label(part: Any, of: str) -> np.ndarray:
    """The code of each item's label, -1 without one."""
    held = part.gold[QUESTION] if of == "gold" else part[QUESTION].consensus("first", 0)
    found = np.full(part.n_items, -1)
    found[held.item] = held.answer
    return found


def letters(codes: np.ndarray) -> str:
    return "".join(chr(65 + code) for code in codes)


def row_path(out: Path, group: str, name: str) -> Path:
    """Where a row of the table is written."""
    return out / f"{group}-{name.replace(' ', '_').replace('/', '-')}.json"


def share(said: np.ndarray, wanted: np.ndarray) -> float:
    return float((said == wanted)[wanted >= 0].mean())


def job(which: tuple[str, str, Path]) -> str:
    """Choose a method's settings on dev, then train and test it."""
    import torch

    group, name, out = which
    path = row_path(out, group, name)
    if path.exists():
        return f"{group}: {name} is there"
    torch.set_num_threads(1)
    begin = time.perf_counter()
    parts = corpus_parts(name)
    trials = [(settings, seed) for settings in GRID for seed in TRIED]
    methods = fitted(parts["train"], [made(group, name, s, seed) for s, seed in trials])
    wanted = {of: label(parts["dev"], of) for of in ("gold", "majority")}
    tried: list[dict[str, Any]] = [{"settings": s, "gold": [], "majority": []} for s in GRID]
    for (settings, _), method in zip(trials, methods, strict=True):
        said, _ = answers(method, parts["dev"])
        for of, found in wanted.items():
            tried[GRID.index(settings)][of].append(share(said, found))
    bys = ("gold",) if group == "gold" else ("gold", "majority")
    chosen = {of: max(tried, key=lambda t: float(np.mean(t[of])))["settings"] for of in bys}
    tested = {}
    for settings in {json.dumps(s): s for s in chosen.values()}.values():
        fits = fitted(parts["train"], [made(group, name, settings, seed) for seed in SEEDS])
        found_all = [answers(method, parts["test"]) for method in fits]
        together = np.mean([mass for _, mass in found_all], axis=0).argmax(axis=1)
        tested[json.dumps(settings)] = {
            "seeds": [letters(said) for said, _ in found_all],
            "together": letters(together),
        }
    result = {
        "group": group,
        "method": name,
        "tried": tried,
        "chosen": chosen,
        "tested": tested,
        "seconds": round(time.perf_counter() - begin, 1),
    }
    path.write_text(json.dumps(result))
    return f"{group}: {name} took {result['seconds']} s"


def run(out: Path, processes: int, only: str | None) -> None:
    """What is neither kept nor in OUT; a method that fails leaves the others alone."""
    out.mkdir(parents=True, exist_ok=True)
    kept = json.loads(CHOICES.read_text()) if CHOICES.exists() else []
    there = {(row["group"], row["method"]) for row in kept}
    jobs = [(group, name, out) for group, names in GROUPS.items() for name in names]
    jobs = [which for which in jobs if which[0] == (only or which[0]) and which[:2] not in there]
    jobs.sort(key=lambda which: list(GROUPS[which[0]]).index(which[1]))  # of both, in turn
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for line in pool.imap_unordered(attempted, jobs):
            print(line, flush=True)


def attempted(which: tuple[str, str, Path]) -> str:
    try:
        return job(which)
    except Exception as error:
        return f"{which[0]}: {which[1]} failed: {type(error).__name__}: {error}"


def keep(out: Path) -> None:
    """Put what is in OUT beside what is kept; a row takes the place of an older one."""
    import os

    from pos_paper import kept as of_the_paper

    from dissensus import datasets
    from dissensus.evaluation import code_commit

    test = datasets.read(Path(os.environ["DISSENSUS_DATA"]) / "pos_tweets").part("test")
    before = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    new = [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))]
    rows = {row_key(row): row for row in [*of_the_paper(), *before, *new]}
    about = {
        "command": "python benchmarks/gpu/pos_tweets.py run OUT",
        "commit": code_commit(),
        "date": datetime.date.today().isoformat(),
        "machine": "NVIDIA H200",
        "seeds": {"tried": list(TRIED), "tested": list(SEEDS)},
        "gold": letters(label(test, "gold")),
        "tweet": np.unique(test.units(), return_inverse=True)[1].reshape(-1).tolist(),
        "rows": [rows[key] for key in sorted(rows)],
    }
    RESULTS.write_text(json.dumps(about, indent=1) + "\n")


def row_key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row.get("network", ""), row["group"], row["method"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "teach", "paper", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("pos_tweets"))
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=300, help="teach, paper: begin no more")
    parser.add_argument("--seeds", type=int, default=5, help="of the paper's network")
    parser.add_argument(
        "--small", type=int, default=0, help="about so many tweets of each part, for a trial"
    )
    parser.add_argument("--only", choices=tuple(GROUPS))
    given = parser.parse_args()
    if given.stage == "run":
        run(given.out, given.processes, given.only)
    elif given.stage == "teach":
        import pos_teachers

        pos_teachers.run(given.out, given.processes, given.seconds, given.small)
    elif given.stage == "paper":
        import pos_paper

        pos_paper.run(given.out, given.processes, given.seconds, given.seeds, given.small)
    elif given.stage == "keep":
        keep(given.out)
    else:
        import pos_table

        print(pos_table.shown(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
