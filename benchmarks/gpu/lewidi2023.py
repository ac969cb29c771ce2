"""LeWiDi 2023: a fine-tuned MiniLM beside a frozen one, both learning the soft label.

    make gpu-kit RUN=lewidi2023
    python benchmarks/gpu/lewidi2023.py choose OUT      settings, by cross-validation on train
    python benchmarks/gpu/lewidi2023.py judge OUT       five seeds, the development part, once

Both write what they found into OUT (JSON), every setting that was tried among it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("HS-Brexit", "ConvAbuse", "MD-Agreement")
KIT = Path("gpu-kit/lewidi2023")
QUESTIONS = {"HS-Brexit": "hate", "ConvAbuse": "abusive", "MD-Agreement": "offensive"}
TURNS = "prev_agent+prev_user+agent+user"
FOLDS = 4
SEEDS = range(5)


def pack(folder: Path, data: Path) -> None:
    """The training and development parts, and MiniLM for their words."""
    from kit import pack_minilm  # type: ignore[import-not-found]

    from dissensus import datasets

    texts: list[str] = []
    for name in NAMES:
        corpus = datasets.read(data / "lewidi2023", corpus=name)
        corpus.save(folder / name)
        for held in corpus.contents.values():
            texts += held.values.to_pylist()
    pack_minilm(folder / "minilm", texts)


def grid(name: str) -> list[dict[str, Any]]:
    """What is tried: the same number of trials frozen and fine-tuned.

    The second grid was added because the best of the first lay at its edge.
    """
    tuned = [
        {"tune": "all", "encoder_learning_rate": rate, "epochs": epochs, "dropout": dropout}
        for rate, epochs, dropout in [
            *itertools.product((3e-5, 1e-4), (3, 6), (0.1, 0.5)),
            *itertools.product((3e-5, 1e-4, 2e-4), (2, 3), (0.5, 0.7)),
        ]
    ]
    frozen = [
        {"tune": "nothing", "learning_rate": rate, "epochs": epochs, "dropout": dropout}
        for rate, epochs, dropout in [
            *itertools.product((1e-3, 3e-3), (10, 30), (0.1, 0.5)),
            *itertools.product((3e-4, 1e-3, 3e-3), (20, 30), (0.5, 0.7)),
        ]
    ]
    every = tuned + frozen
    if name == "ConvAbuse":  # its turns apart, or read together
        every += [settings | {"together": TURNS} for settings in tuned[:8] + frozen[:8]]
    return list({json.dumps(settings): settings for settings in every}.values())


def configured(name: str, settings: dict[str, Any], seed: int) -> Any:
    from dissensus.methods import SoftLabel
    from dissensus.training import Training

    inner = {k: v for k, v in settings.items() if k not in ("tune", "dropout", "together")}
    encoder: str | dict[str, str] = str(KIT / "minilm")
    if settings.get("together"):
        encoder = {settings["together"]: str(KIT / "minilm")}
    return SoftLabel(
        encoder=encoder,
        tune=settings["tune"],
        dropout=settings["dropout"],
        training=Training(seed=seed, **inner),
        init_seed=seed,
    )


def parts(name: str, fold: int | None) -> tuple[Any, Any]:
    """What is learned and what is judged: a fold of the training part, or the development part."""
    import dissensus as ds

    corpus = ds.read(KIT / name)
    train = corpus.part("train")
    if fold is None:
        return train, corpus.part("dev")
    units = train.units()
    part = (np.random.default_rng(0).permutation(units.max() + 1) % FOLDS)[units]
    return train.select(items=part != fold), train.select(items=part == fold)


def by_item(said: Any, asked: Any) -> np.ndarray:
    """The cross-entropy of each item, nan without answers."""
    people = asked.distribution()
    return -(people * np.log(said.distribution.clip(1e-12))).sum(axis=1)


def fitted(job: dict[str, Any]) -> dict[str, Any]:
    """Fit once; the cross-entropy of every item that was held out."""
    import torch

    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    begin = time.perf_counter()
    train, held = parts(job["corpus"], job["fold"])
    question = QUESTIONS[job["corpus"]]
    method = configured(job["corpus"], job["settings"], job["seed"])
    said = method.fit(train, question).predict(held)[question]
    items = by_item(said, held[question])
    found = {"cross_entropy": float(np.nanmean(items)), "log": method.log_.train}
    if job["fold"] is None:
        found["items"] = [round(float(score), 6) for score in items]
    return job | found | {"seconds": round(time.perf_counter() - begin, 2)}


def tried(job: dict[str, Any]) -> dict[str, Any]:
    try:
        return fitted(job)
    except Exception as error:  # one fit that fails must not take the others with it
        return job | {"failed": repr(error)}


def run(jobs: list[dict[str, Any]], out: Path, processes: int) -> list[dict[str, Any]]:
    """All jobs, each kept as it ends; what was done before is not done again."""
    out.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    keys = {_key(job) for job in done}
    left = [job for job in jobs if _key(job) not in keys]
    with multiprocessing.get_context("spawn").Pool(processes) as pool, out.open("a") as file:
        for number, found in enumerate(pool.imap_unordered(tried, left), 1):
            done.append(found)
            file.write(json.dumps(found) + "\n")
            file.flush()
            if number % 10 == 0:
                print(f"{number}/{len(left)}", flush=True)
    return done


def _key(job: dict[str, Any]) -> str:
    return json.dumps([job["corpus"], job["settings"], job["seed"], job["fold"]], sort_keys=True)


def best(done: list[dict[str, Any]], name: str, tune: bool) -> dict[str, Any]:
    """The settings with the lowest mean cross-entropy over the folds."""
    table: dict[str, list[float]] = {}
    for job in done:
        if job["corpus"] == name and (job["settings"]["tune"] != "nothing") == tune:
            score = job.get("cross_entropy", float("inf"))
            table.setdefault(json.dumps(job["settings"], sort_keys=True), []).append(score)
    ranked = sorted(table.items(), key=lambda entry: float(np.mean(entry[1])))
    for settings, scores in ranked[:3]:
        print(f"{name:13} {np.mean(scores):.4f} {settings}", flush=True)
    chosen: dict[str, Any] = json.loads(ranked[0][0])
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("choose", "judge"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--corpora", default=",".join(NAMES))
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    names = given.corpora.split(",")
    jobs = [
        {"corpus": name, "settings": settings, "seed": 0, "fold": fold}
        for name in names
        for settings in grid(name)
        for fold in range(FOLDS)
    ][: given.limit]
    begin = time.perf_counter()
    done = run(jobs, given.out / "choose.jsonl", given.processes)
    print(f"{len(done)} fits, {time.perf_counter() - begin:.0f} s", flush=True)
    chosen = {(name, tune): best(done, name, tune) for name in names for tune in (True, False)}
    if given.stage == "choose":
        return
    jobs = [
        {"corpus": name, "settings": settings, "seed": seed, "fold": None}
        for (name, _), settings in chosen.items()
        for seed in SEEDS
    ]
    final = run(jobs, given.out / "judge.jsonl", given.processes)
    for (name, tune), settings in chosen.items():
        scores = [
            job["cross_entropy"]
            for job in final
            if job["corpus"] == name and job["settings"] == settings
        ]
        how = "fine-tuned" if tune else "frozen"
        print(f"{name:13} {how:10} {np.mean(scores):.4f} +- {np.std(scores, ddof=1):.4f}")


if __name__ == "__main__":
    main()
