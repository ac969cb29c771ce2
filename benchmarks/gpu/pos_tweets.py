"""Part-of-speech tags of tweets with a pretrained encoder: does disagreement help, in which form?

    make gpu-kit RUN=pos_tweets
    python benchmarks/gpu/pos_tweets.py run OUT            settings on dev, then ten seeds on test
    python benchmarks/gpu/pos_tweets.py keep OUT           into benchmarks/results
    python benchmarks/gpu/pos_tweets.py show               the table, from the kept results

MiniLM and how words are spelled, both tuned, learn from gold labels or from the crowd alone. Every
method has the same four settings to choose from, by three seeds on the development part: by its
gold labels where gold is learned, by the crowd's majority there where only the crowd is. Then ten
other seeds are trained and tested once. Seeds of one method train side by side.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np

KIT = Path("gpu-kit/pos_tweets")
RESULTS = Path(__file__).parents[1] / "results" / "pos_tweets.json"
QUESTION = "tag"
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
}
CROWD: dict[str, tuple[str, dict[str, Any]]] = {
    "single": ("single", {}),
    "single, smoothed": ("single", {"label_smoothing": 0.1}),
    "single, agreement above 1/2": ("single", {"min_agreement": 0.5}),
    "single, weighed by agreement": ("single", {"weight_by_agreement": True}),
    "single of dawid-skene": ("single", {"label": "dawid-skene"}),
    "single of mace": ("single", {"label": "mace"}),
    "repeated-label": ("repeated-label", {}),
    "soft-label": ("soft-label", {}),
    "soft-label of softmax-vote": ("soft-label", {"target": "softmax-vote"}),
    "soft-label-mtl, kl": ("soft-label-mtl", {"label": "consensus", "soft_loss": "kl"}),
    "soft-label-mtl, inverse-kl": (
        "soft-label-mtl",
        {"label": "consensus", "soft_loss": "inverse-kl"},
    ),
    "soft-label-mtl, ce": ("soft-label-mtl", {"label": "consensus", "soft_loss": "ce"}),
}
GROUPS = {"gold": GOLD, "crowd": CROWD}


def pack(folder: Path, data: Path) -> None:
    """The tweets, and MiniLM for their words."""
    from kit import pack_minilm  # type: ignore[import-not-found]

    from dissensus import datasets

    corpus = datasets.read(data / "pos_tweets")
    corpus.save(folder / "pos_tweets")
    pack_minilm(folder / "minilm", corpus.contents["text"].values.to_pylist())


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


def corpus_parts() -> dict[str, Any]:
    import dissensus as ds
    from dissensus.papers.soft_labels.conditions import with_automatic

    corpus = with_automatic(ds.read(KIT / "pos_tweets"))
    return {part: corpus.part(part) for part in ("train", "dev", "test")}


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


def share(said: np.ndarray, wanted: np.ndarray) -> float:
    return float((said == wanted)[wanted >= 0].mean())


def job(which: tuple[str, str, Path]) -> str:
    """Choose a method's settings on dev, then train and test it."""
    import torch

    group, name, out = which
    path = out / f"{group}-{name.replace(' ', '_').replace('/', '-')}.json"
    if path.exists():
        return f"{group}: {name} is there"
    torch.set_num_threads(1)
    begin = time.perf_counter()
    parts = corpus_parts()
    trials = [(settings, seed) for settings in GRID for seed in TRIED]
    methods = fitted(parts["train"], [made(group, name, s, seed) for s, seed in trials])
    wanted = {of: label(parts["dev"], of) for of in ("gold", "majority")}
    tried: list[dict[str, Any]] = [{"settings": s, "gold": [], "majority": []} for s in GRID]
    for (settings, _), method in zip(trials, methods, strict=True):
        said, _ = answers(method, parts["dev"])
        for of, found in wanted.items():
            tried[GRID.index(settings)][of].append(share(said, found))
    chosen = {of: max(tried, key=lambda t: float(np.mean(t[of])))["settings"] for of in wanted}
    tested = {}
    for settings in {json.dumps(s): s for s in chosen.values()}.values():
        fits = fitted(parts["train"], [made(group, name, settings, seed) for seed in SEEDS])
        found_all = [answers(method, parts["test"]) for method in fits]
        together = np.mean([mass for _, mass in found_all], axis=0).argmax(axis=1)
        tested[json.dumps(settings)] = {
            "seeds": ["".join(chr(65 + code) for code in said) for said, _ in found_all],
            "together": "".join(chr(65 + code) for code in together),
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
    out.mkdir(parents=True, exist_ok=True)
    jobs = [(group, name, out) for group, names in GROUPS.items() for name in names]
    jobs = [which for which in jobs if only is None or which[0] == only]
    jobs.sort(key=lambda which: list(GROUPS[which[0]]).index(which[1]))  # of both, in turn
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for line in pool.imap_unordered(job, jobs):
            print(line, flush=True)


def keep(out: Path) -> None:
    import os

    from dissensus import datasets
    from dissensus.evaluation import code_commit

    test = datasets.read(Path(os.environ["DISSENSUS_DATA"]) / "pos_tweets").part("test")
    about = {
        "command": "python benchmarks/gpu/pos_tweets.py run OUT",
        "commit": code_commit(),
        "date": datetime.date.today().isoformat(),
        "machine": "NVIDIA H200",
        "seeds": {"tried": list(TRIED), "tested": list(SEEDS)},
        "gold": "".join(chr(65 + code) for code in label(test, "gold")),
        "tweet": np.unique(test.units(), return_inverse=True)[1].reshape(-1).tolist(),
        "rows": [json.loads(path.read_text()) for path in sorted(out.glob("*.json"))],
    }
    RESULTS.write_text(json.dumps(about, indent=1) + "\n")


def show() -> None:
    """Accuracy on the test part, and how sure the difference from `single` is."""
    from dissensus.evaluation import corrected, over_both

    kept = json.loads(RESULTS.read_text())
    gold = np.array([ord(letter) for letter in kept["gold"]])
    groups = np.array(kept["tweet"])
    for group, names in GROUPS.items():
        rows = {row["method"]: row for row in kept["rows"] if row["group"] == group}
        by = "gold" if group == "gold" else "majority"
        right = {name: _right(rows[name], by, gold) for name in names if name in rows}
        print(f"learned from {group}; settings chosen by the development part's {by} labels")
        print(f"  {'':32}{'mean':>7}{'sd':>6}{'all ten':>9}{'by gold':>9}   dev    settings")
        for name, (seeds, together) in right.items():
            row = rows[name]
            other = _right(row, "gold", gold)[0].mean()
            dev = max(float(np.mean(tried[by])) for tried in row["tried"])
            print(
                f"  {name:32}{100 * seeds.mean():7.2f}{100 * seeds.mean(axis=1).std(ddof=1):6.2f}"
                f"{100 * together.mean():9.2f}{100 * other:9.2f}  {100 * dev:6.2f}"
                f"  {json.dumps(row['chosen'][by])}"
            )
        others = [name for name in right if name != "single"]
        found = [over_both(right[name][0], right["single"][0], groups=groups) for name in others]
        for name, difference in zip(others, corrected(found), strict=True):
            print(f"  {name} - single: {difference}")


def _right(row: dict[str, Any], by: str, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each seed's answer is right, (n_seeds, n_items), and that of all of them together."""
    tested = row["tested"][json.dumps(row["chosen"][by])]
    said = np.array([[ord(letter) for letter in letters] for letters in tested["seeds"]])
    together = np.array([ord(letter) for letter in tested["together"]])
    return (said == gold).astype(float), (together == gold).astype(float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("pos_tweets"))
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--only", choices=tuple(GROUPS))
    given = parser.parse_args()
    if given.stage == "run":
        run(given.out, given.processes, given.only)
    elif given.stage == "keep":
        keep(given.out)
    else:
        show()


if __name__ == "__main__":
    main()
