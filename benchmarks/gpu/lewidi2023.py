"""LeWiDi 2023: a fine-tuned MiniLM beside a frozen one, both learning the soft label.

    make gpu-kit RUN=lewidi2023
    python benchmarks/gpu/lewidi2023.py choose OUT      settings, by cross-validation on train
    python benchmarks/gpu/lewidi2023.py judge OUT       five seeds, on the development part
    python benchmarks/gpu/lewidi2023.py keep OUT        into benchmarks/results
    python benchmarks/gpu/lewidi2023.py show            the table, from the kept results

The first two write what they found into OUT, every setting that was tried among it.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("HS-Brexit", "ConvAbuse", "MD-Agreement")
KIT = Path("gpu-kit/lewidi2023")
RESULTS = Path(__file__).parents[1] / "results" / "lewidi2023.json"
NOTES = [
    "The development parts were judged twice: first with settings from the first of the two grids "
    "(fine-tuned .290, .233, .516; frozen .307, .234, .577), then with those from both.",
    "HS-Brexit's was also scored ten times with default settings while methods were written.",
]
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


def keep(out: Path) -> None:
    """Every setting tried with its score, and every judged fit with that of each item."""
    tried: dict[str, dict[str, Any]] = {}
    for job in _lines(out / "choose.jsonl"):
        key = json.dumps([job["corpus"], job["settings"]], sort_keys=True)
        row = tried.setdefault(
            key, {"corpus": job["corpus"], "settings": job["settings"], "folds": []}
        )
        row["folds"].append(round(job.get("cross_entropy", float("nan")), 5))
    judged = [
        {name: job[name] for name in ("corpus", "settings", "seed", "seconds")}
        | {"items": [round(score, 4) for score in job["items"]]}
        for job in _lines(out / "judge.jsonl")
    ]
    about = {
        "command": "python benchmarks/gpu/lewidi2023.py judge OUT",
        "date": datetime.date.today().isoformat(),
        "machine": "one H200, 14 processes",
        "seeds": list(SEEDS),
        "notes": NOTES,
    }
    content = about | {"tried": list(tried.values()), "judged": judged}
    RESULTS.write_text(json.dumps(content) + "\n")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def show() -> None:
    """Cross-entropy of the chosen settings, and how sure the difference is."""
    from dissensus.evaluation import corrected, over_both, over_items

    kept = json.loads(RESULTS.read_text())
    rows = {}
    for name in NAMES:
        for how, wanted in HOW.items():
            found = [row for row in kept["tried"] if row["corpus"] == name and wanted(row)]
            if not found:
                continue
            chosen = min(found, key=lambda row: float(np.mean(row["folds"])))
            fits = [
                fit
                for fit in kept["judged"]
                if fit["corpus"] == name and fit["settings"] == chosen["settings"]
            ]
            rows[name, how] = np.array([fit["items"] for fit in fits]), chosen, len(found)
    print(f"{'':14}{'':26}{'trials':>7}{'folds':>8}{'dev':>8}{'sd':>7}  settings")
    for (name, how), (items, chosen, n) in rows.items():
        means = items.mean(axis=1) if len(items) else np.array([float("nan")])
        print(
            f"{name:14}{how:26}{n:7}{np.mean(chosen['folds']):8.4f}{means.mean():8.4f}"
            f"{means.std(ddof=1) if len(means) > 1 else 0:7.4f}  {json.dumps(chosen['settings'])}"
        )
    pairs = [(name, "fine-tuned", how) for name, how in rows if how != "fine-tuned"]
    pairs = [pair for pair in pairs if len(rows[pair[0], pair[2]][0])]
    for test in (over_items, over_both):
        found_all = [test(rows[name, one][0], rows[name, other][0]) for name, one, other in pairs]
        for (name, one, other), difference in zip(pairs, corrected(found_all), strict=True):
            print(f"{name}: {one} - {other}: {difference} (over {difference.test})")
    for note in kept["notes"]:
        print(note)


def _together(row: dict[str, Any]) -> bool:
    return "together" in row["settings"]


def _tuned(row: dict[str, Any]) -> bool:
    return bool(row["settings"]["tune"] != "nothing")


HOW: dict[str, Callable[[dict[str, Any]], bool]] = {
    "fine-tuned": _tuned,
    "frozen": lambda row: not _tuned(row),
    "frozen, read together": lambda row: not _tuned(row) and _together(row),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("choose", "judge", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("lewidi2023"))
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--corpora", default=",".join(NAMES))
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    if given.stage in ("keep", "show"):
        return keep(given.out) if given.stage == "keep" else show()
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
