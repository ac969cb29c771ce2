"""Do members of a seed ensemble look at different parts where annotators do? Trained on a GPU.

    make gpu-kit RUN=seedbert_hypothesis
    python benchmarks/gpu/seedbert_hypothesis.py run OUT --seconds 130
    python benchmarks/gpu/seedbert_hypothesis.py keep OUT        into the kept report on SeedBERT

Five ensembles of five members for each corpus and condition, those of one condition side by side;
conditions run in several processes, the most important first. Each is kept as it ends, in OUT's
archive of its corpus; what is not begun in time is left out, and a later run into the same OUT
resumes with it.
"""

from __future__ import annotations

import argparse
import os
import tarfile
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

KIT = Path("gpu-kit/seedbert_hypothesis")
RESULTS = Path(__file__).parents[1] / "results" / "seedbert.json"
CORPORA = ("toxic_spans", "text")
ORDER = (
    *("seeds", "deep", "order", "pool-seeds", "pool-deep", "paper-rate"),
    *("frozen-seeds", "frozen-deep", "pool-order", "frozen-order"),
)
FEW = {"n_train": 32, "n_test": 12, "seeds": (0, 1), "n_members": 2, "epochs": 1}  # of a trial


def pack(folder: Path, data: Path) -> None:
    """The posts that are learned and tested, and MiniLM for the words of both corpora."""
    from attention_study import text_parts, toxic_parts
    from kit import pack_minilm

    from dissensus import datasets

    toxic, simulated = toxic_parts(datasets.read(data / "toxic_spans")), text_parts()
    texts: list[str] = []
    for parts in (toxic, simulated):
        for corpus in (parts.train, parts.test):
            texts += corpus.contents["text"].values.to_pylist()
    toxic.train.save(folder / "toxic_spans" / "train")
    toxic.test.save(folder / "toxic_spans" / "test")
    pack_minilm(folder / "minilm", texts)


def parts_of(corpus: str) -> Any:
    from attention_study import StudyParts, text_parts

    from dissensus import Corpus

    if corpus == "text":
        return text_parts()
    train, test = (Corpus.load(KIT / corpus / part) for part in ("train", "test"))
    return StudyParts(train, test, "toxic", towards=1)


def train(corpus: str, condition: str, few: bool, device: str, path: Path) -> None:
    """Train the ensembles of one corpus and condition, and write where they look."""
    from attention_study import CONDITIONS, train_and_observe

    parts, given = parts_of(corpus), dict[str, Any]()
    training: dict[str, Any] = {"batch_size": 64, "device": device}
    if device == "cuda" and CONDITIONS[condition].tune == "all":
        training |= {"precision": "bf16", "compile": True}
    if few:
        parts = parts.first(FEW["n_train"], FEW["n_test"])
        given = {"seeds": FEW["seeds"], "n_members": FEW["n_members"]}
        training["epochs"] = FEW["epochs"]
    attention = train_and_observe(
        CONDITIONS[condition], parts, encoder=str(KIT / "minilm"), training=training, **given
    )
    attention.save(path)


def run(out: Path, given: argparse.Namespace) -> None:
    """Train what is missing, in several processes; nothing is begun after the time limit."""
    from pieces import Piece, carry_out

    done = Path(tempfile.mkdtemp())
    os.environ.setdefault("DISSENSUS_CACHE", str(done / "cache"))
    unpack(out, done)
    pieces = [
        Piece(
            done / f"{corpus}.{condition}.npz", train, (corpus, condition, given.few, given.device)
        )
        for condition in (given.conditions.split(",") if given.conditions else ORDER)
        for corpus in given.corpora.split(",")
    ]
    carry_out(pieces, given.processes, given.seconds, ended=lambda: pack_done(done, out))
    pack_done(done, out)
    missing = [piece.path.stem for piece in pieces if not piece.path.exists()]
    print(f"missing: {', '.join(missing) or 'nothing'}", flush=True)


def pack_done(done: Path, out: Path) -> None:
    """One archive for each corpus: few files, none too large to travel."""
    out.mkdir(parents=True, exist_ok=True)
    for corpus in CORPORA:
        new = out / f"{corpus}.new"
        with tarfile.open(new, "w") as tar:
            for path in sorted(done.glob(f"{corpus}.*.npz")):
                tar.add(path, path.name)
        new.replace(out / f"{corpus}.tar")


def unpack(out: Path, folder: Path) -> None:
    for corpus in CORPORA:
        if (out / f"{corpus}.tar").exists():
            with tarfile.open(out / f"{corpus}.tar") as tar:
                tar.extractall(folder, filter="data")


def keep(out: Path) -> None:
    """Judge what was trained, as a part of the kept report on SeedBERT."""
    from attention_study import looks
    from merged_reports import to_json

    from dissensus_papers import paper

    folder = Path(tempfile.mkdtemp())
    unpack(out, folder)
    seedbert = paper("seedbert")
    report = seedbert.report(RESULTS) | {"looks": looks(folder)}
    RESULTS.write_text(to_json(report), encoding="utf-8")
    print(seedbert.shown(report), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage", choices=("run", "keep"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("seedbert_hypothesis"))
    parser.add_argument("--conditions", help="with commas between; all if left out")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--seconds", type=float, default=130)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--few", action="store_true", help="a handful of items, for trying out")
    given = parser.parse_args()
    if given.stage != "run":
        return keep(given.out)
    from sharing import shared_gpu

    with shared_gpu() if given.device == "cuda" else nullcontext():
        run(given.out, given)


if __name__ == "__main__":
    main()
