"""Zhang et al. (2025) on panels of annotators and on simulated ones, on a GPU.

    make gpu-kit RUN=qumatl:texts                    26 MiB, a part of the kit: all are too large
    python benchmarks/dinov2.py; make gpu-kit RUN=qumatl:pictures        35 MiB; also for panel
    export PYTHONPATH=src:papers/src:gpu-kit/libs    there; DISSENSUS_DATA is not needed
    python benchmarks/gpu/qumatl.py run OUT --try --jobs texts --at-once 1      on any machine first
    python benchmarks/gpu/qumatl.py run OUT --seconds 540 --jobs texts
    python benchmarks/gpu/qumatl.py run OUT --seconds 540 --jobs pictures       or panel
    cp OUT/qumatl.tar.gz* gpu-kit/qumatl/            to resume on another machine
    python benchmarks/gpu/qumatl.py keep OUT OTHER   archives in folders, into benchmarks/results
    python benchmarks/gpu/qumatl.py show

The same fits as `dissensus papers qumatl`. A job is some models of a condition; several run at the
same time, each in a folder of its own. OUT/qumatl.tar.gz has all folders and is written whenever a
job ends and twice a minute; a run resumes from it, or from one in the kit. `keep`
reports on all of them, and continues the report that is kept (`--alone`: replaces it).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from archive import archived, resumed, unpack
from paper_runs import Script

SCRIPT = Script("qumatl", __doc__)
DATA, WEIGHTS, FRAMES = "data", "dinov2.npz", "frames.npz"
SMALL = ("layers=2", "width=32", "heads=2", "inner=32")  # published queries to try: 20 GB otherwise
GRACE = 40  # seconds after the time limit, for trainings that have begun
BASELINES = "base,d-lema,padl,madl,embedding,heads,queries,prior,annotator-majority"
SMALLER = "heads,queries,queries-mid"
WITH_FLOOR = f"{SMALLER},annotator-majority"
LESS = tuple(f"{name}-{share}" for name in ("hs-brexit", "convabuse") for share in (40, 30, 20))
JOBS = {  # condition and models, in the order in which they begin
    "panel": (
        ("cue-conflict", "published"),
        ("cue-conflict", "queries-mid"),
        ("cue-conflict", "heads,queries,annotator-majority"),
        ("cue-conflict", "alone,unified"),
        ("cue-conflict", "base,d-lema,padl,madl,embedding,prior"),
    ),
    "pictures": (
        ("simulated-image", "published"),
        ("simulated-image", SMALLER),
        ("simulated-sequence", "published"),
        ("simulated-sequence", SMALLER),
        ("cue-texture", ""),
        ("qumatl_looks", ""),
    ),
    "texts": (
        ("simulated-text", "published"),
        ("hs-brexit-published", "published"),
        ("followers", "queries-mid"),
        ("followers", "alone"),
        ("followers", "heads,queries"),
        ("hs-brexit-published", WITH_FLOOR),
        *((name, "queries-mid") for name in LESS),
    ),
    "small-texts": (
        ("convabuse", ""),
        ("hs-brexit", ""),
        ("simulated-text", SMALLER),
        ("ablation", ""),
        *((name, "padl,heads,queries") for name in LESS),
    ),
    "levels": (
        ("speech", "queries-mid"),
        ("paraphrase", "queries-mid"),
        ("speech", BASELINES),
        ("paraphrase", BASELINES),
    ),
}
TEXTS = ("texts", "small-texts", "levels")  # jobs on texts and speech


# ---- what goes to the other machine ----


def pack(folder: Path, data: Path, names: list[str] | None = None) -> None:
    """For pictures, the pictures and DINOv2-S in whole numbers; for texts, the corpora, MiniLM, and
    vectors of speech in half precision."""
    names = names or list(JOBS)
    (folder / DATA).mkdir(parents=True)
    if {"panel", "pictures"} & {*names}:
        shutil.copytree(data / "cue_conflict16", folder / DATA / "cue_conflict16")
        _pack_dinov2(folder)
    wanted = [condition for name in TEXTS for condition, _ in JOBS[name] if name in names]
    if wanted:
        _pack_texts(folder, data, wanted)
    SCRIPT.pack_commit(folder)


def _pack_dinov2(folder: Path) -> None:
    """Matrices as whole numbers from -127 to 127 and a step for each row."""
    from safetensors.numpy import load_file

    source = Path("dinov2-small")
    packed: dict[str, Any] = {}
    for name, weight in load_file(source / "model.safetensors").items():
        rows = weight.reshape(len(weight), -1)
        if rows.shape[1] < 2 or weight.size < 10_000:
            packed[name] = weight
            continue
        step = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-12) / 127
        packed[f"{name}|whole"] = np.rint(rows / step).astype(np.int8).reshape(weight.shape)
        packed[f"{name}|step"] = step.astype(np.float32)
    np.savez_compressed(folder / WEIGHTS, **packed)
    for path in source.glob("*.json"):
        shutil.copy(path, folder / path.name)


def _pack_texts(folder: Path, data: Path, wanted: Sequence[str]) -> None:
    from kit import pack_minilm

    from dissensus_papers.qumatl import PAPER
    from dissensus_papers.qumatl.conditions import CONDITIONS
    from dissensus_papers.qumatl.corpora import SPEECH

    corpora, texts = PAPER.read(data), []
    for name in dict.fromkeys(c.corpus for c in CONDITIONS if c.name in wanted):
        corpus = corpora[name]
        if name == SPEECH:
            corpus = PAPER.sources[name].prepared(corpus)
            values = corpus.contents["speech"].values
            vectors = values.flatten().flatten().to_numpy().astype(np.float16)
            lengths = np.diff(values.offsets.to_numpy())
            content = corpus.content["speech"]
            np.savez_compressed(folder / FRAMES, vectors=vectors, lengths=lengths, content=content)
            corpus = replace(corpus, contents={}, content={})
        for contents in corpus.contents.values():
            if contents.kind == "text":
                texts += contents.values.to_pylist()
        without_answers = name.rpartition("-")[2].isdigit()  # as HS-Brexit-40, unlike its corpus
        if PAPER.sources[name].simulated is None and not without_answers:
            corpus.save(folder / DATA / name)
    pack_minilm(folder / "minilm", texts)


# ---- there ----


def unpacked(kit: Path) -> Path:
    """The folder of corpora, complete; DINOv2-S is in ./dinov2-small then."""
    data = Path(tempfile.mkdtemp())
    for path in (kit / DATA).iterdir():
        (data / path.name).symlink_to(path.resolve())
    if (kit / WEIGHTS).exists() and not Path("dinov2-small").exists():
        _unpack_dinov2(kit)
    if (kit / FRAMES).exists():
        _unpack_speech(kit, data)
    for corpus in ("HS-Brexit", "ConvAbuse"):  # answers are deleted as a condition is run
        for share in (20, 30, 40):
            if (kit / DATA / corpus).exists():
                (data / f"{corpus}-{share}").symlink_to((kit / DATA / corpus).resolve())
    return data


def _unpack_dinov2(kit: Path) -> None:
    from safetensors.numpy import save_file

    packed, weights = np.load(kit / WEIGHTS), {}
    for name in packed.files:
        key, _, kind = name.partition("|")
        if kind == "whole":
            whole = packed[name].astype(np.float32)
            rows = whole.reshape(len(whole), -1) * packed[f"{key}|step"]
            weights[key] = rows.reshape(whole.shape)
        elif not kind:
            weights[key] = packed[name]
    folder = Path("dinov2-small")
    folder.mkdir()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for path in kit.glob("*.json"):
        shutil.copy(path, folder / path.name)


def _unpack_speech(kit: Path, data: Path) -> None:
    from dissensus import Corpus
    from dissensus_papers.qumatl.corpora import SPEECH, sequences

    frames = np.load(kit / FRAMES)
    lengths = frames["lengths"]
    vectors = frames["vectors"].astype(np.float32).reshape(int(lengths.sum()), -1)
    contents = {"speech": sequences(vectors, np.append(0, np.cumsum(lengths)))}
    corpus = Corpus.load(kit / DATA / SPEECH)
    (data / SPEECH).unlink()
    replace(corpus, contents=contents, content={"speech": frames["content"]}).save(data / SPEECH)


def run(given: argparse.Namespace) -> None:
    """All jobs, so many at the same time."""
    began = time.monotonic()
    parts = resumed(given.out / SCRIPT.archive, SCRIPT.kit / SCRIPT.archive)
    parts.mkdir(parents=True, exist_ok=True)
    data = unpacked(SCRIPT.kit)
    jobs = [job for name in given.jobs.split(",") for job in JOBS[name]]
    jobs = [job for job in jobs if not given.conditions or job[0] in given.conditions.split(",")]

    def one(job: tuple[str, str]) -> None:
        condition, models = job
        left = given.seconds - (time.monotonic() - began)
        if left < GRACE:
            return
        name = f"{condition}-{models.split(',')[0]}" if models else condition
        words = [sys.executable, "-m", "dissensus", "papers", "qumatl", str(data)]
        words += ["--conditions", condition, "-o", str(parts / name), "--processes", "1"]
        words += ["--models", models] * bool(models) + ["--time-limit", f"{left:.0f}s"]
        if condition == "qumatl_looks":
            script = Path(__file__).with_name("qumatl_looks.py")
            words = [sys.executable, str(script), "run", str(given.out), "--data", str(data)]
        else:
            words += ["--runs", str(given.runs)] * (given.runs is not None)
        words += ["--items", str(given.items)] * (given.items is not None)
        small = SMALL if given.tried and models.startswith("published") else ()
        for text in [*given.set, *small, *encoder_of_kit(condition)]:
            words += ["--set", text]
        log, status = parts / f"{name}.log", "stopped"
        with log.open("w") as lines, suppress(subprocess.TimeoutExpired):
            done = subprocess.run(words, stdout=lines, stderr=lines, timeout=left + GRACE)
            status = f"exit code {done.returncode}"
        seconds = time.monotonic() - began
        tail = log.read_text()[-600:]
        print(f"== {name}, ended at {seconds:.0f} s, {status}\n{tail}", flush=True)

    with archived(parts, given.out / SCRIPT.archive), ThreadPoolExecutor(given.at_once) as pool:
        list(pool.map(one, jobs))
    print(f"{time.monotonic() - began:.0f} s")


def encoder_of_kit(condition: str) -> list[str]:
    """The setting that lets a condition read its texts, in the roles that it names."""
    folder = SCRIPT.kit / "minilm"
    texts = ("hs-brexit", "convabuse", "paraphrase", "simulated-text", "followers", "ablation")
    if not condition.startswith(texts):
        return []
    roles = SCRIPT.paper.conditions[condition].settings.get("encoder", {})
    return ["encoder=" + (",".join(f"{role}={folder}" for role in roles) or str(folder))]


def gathered(folders: Sequence[Path]) -> list[Path]:
    """All parts in the archives."""
    archives = [path for folder in folders for path in sorted(folder.rglob(SCRIPT.archive))]
    parts = [path for archive in archives for path in sorted(unpack(archive).iterdir())]
    return [path for path in parts if (path / "comparison.json").exists()]


def main() -> None:
    parser = SCRIPT.options(seconds=540, processes=1, runs=None)
    parser.add_argument("--jobs", default=",".join(JOBS), help="some, with commas between")
    parser.add_argument("--at-once", type=int, default=8, help="jobs at the same time")
    SCRIPT.main(parser, run, gathered)


if __name__ == "__main__":
    main()
