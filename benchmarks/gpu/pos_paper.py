"""The network of Fornaciari et al. (2021) with every method of pos_tweets.py: stage `paper` there.

STL and MTL, ten seeds each, are trained by soft_labels.py. The others are trained here as the paper
trained its own: ten epochs, and the one with the best macro-F1 on the development part's gold is
kept.
"""

from __future__ import annotations

import functools
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
from pieces import Piece, carry_out
from pos_methods import AGGREGATED, GROUPS, KIT, learned, row_path

CONDITION = {"gold": "pos-test", "crowd": "pos-test-silver"}
MODELS = {  # the rows that are kept with the paper's tables
    "single": "stl",
    "soft-label-mtl, kl": "kl",
    "soft-label-mtl, inverse-kl": "inverse-kl",
    "soft-label-mtl, ce": "ce",
}
NETWORK = "tagger"


@functools.cache
def opened(name: str, small: int) -> Any:
    """The corpus as a method learns it, laid out once for all its fits of a process."""
    import torch

    import dissensus as ds
    from dissensus_papers.framework.fitted import Opened
    from dissensus_papers.soft_labels.protocol import with_automatic

    torch.set_num_threads(1)
    corpus = with_automatic(ds.read(KIT / "pos_tweets"))
    if small:
        first = [np.flatnonzero(corpus.in_part(part))[: 20 * small] for part in corpus.parts()]
        corpus = corpus.select(items=np.concatenate(first))
    return Opened({"pos_tweets": learned(corpus, name)})


def made(group: str, name: str, small: int) -> Any:
    """A method with the paper's network and training."""
    from dataclasses import replace

    from dissensus.methods import method
    from dissensus_papers.soft_labels.protocol import TRAINING

    cls, own = GROUPS[group][name]
    found: Any = method(cls)
    return found(
        encoder=f"tagger:{KIT / 'glove-of-corpus.txt'}",
        tune="all",
        branch="attention",
        dropout=0.1,
        training=replace(TRAINING, epochs=2) if small else TRAINING,
        **own,
    )


def fit(group: str, name: str, seed: int, small: int, path: Path) -> None:
    """Train one method with one seed, and keep what it says of the test part."""
    from dissensus.evaluation.fit import Key
    from dissensus_papers.soft_labels.fits import Task

    condition = CONDITION[group]
    task = Task({condition: {name: made(group, name, small)}}, stack=False)
    opened_ = opened(name if name in AGGREGATED else "", small)
    (outcome,) = task.done(opened_, (Key(name, seed, condition),))
    if outcome.reason:
        raise RuntimeError(outcome.reason)
    path.write_text(json.dumps({"said": letters(outcome.predicted), "seconds": outcome.seconds}))


def letters(codes: np.ndarray) -> str:
    """Answers as a text: code 0 is "A"."""
    return "".join(chr(ord("A") + code) for code in codes.tolist())


def assemble(group: str, name: str, files: list[Path], path: Path) -> None:
    """A row of the table, of the seeds that are there."""
    held = [json.loads(file.read_text()) for file in files]
    row = {"group": group, "method": name, "network": NETWORK}
    path.write_text(json.dumps(row | {"seeds": [fit["said"] for fit in held]}))


def run(out: Path, processes: int, seconds: float, seeds: int = 5, small: int = 0) -> None:
    from dissensus_papers.soft_labels.protocol import SEEDS

    rows: list[Piece] = []
    fits: list[Piece] = []
    for group, names in GROUPS.items():
        for name in [name for name in names if name not in MODELS]:
            plain = row_path(out / "paper", group, name)
            files = [plain.with_name(f"{plain.stem}-{seed}.json") for seed in SEEDS[:seeds]]
            for seed, file in zip(SEEDS, files, strict=False):
                fits.append(Piece(file, fit, (group, name, seed, small)))
            path = row_path(out, f"paper-{group}", name)
            rows.append(Piece(path, assemble, (group, name, files), tuple(files)))
    fits.sort(key=lambda piece: SEEDS.index(piece.arguments[2]))  # a seed of everything first
    left = carry_out([*rows, *fits], processes, seconds)
    print(f"{len(fits) + len(rows) - left} of {len(fits) + len(rows)} pieces are done")


def from_archive(path: Path) -> list[dict[str, Any]]:
    """The rows of STL and MTL, from an archive that soft_labels.py wrote."""
    said: dict[tuple[str, str], dict[int, str]] = {}
    with tarfile.open(path) as archive:
        for entry in archive.getmembers():
            model, _, rest = Path(entry.name).parent.name.partition("@")
            seed, _, condition = rest.partition("@")
            if condition in CONDITION.values() and entry.name.endswith("answers.npz"):
                file = archive.extractfile(entry)
                assert file is not None
                predicted = np.load(io.BytesIO(file.read()))["predicted"]
                said.setdefault((condition, model), {})[int(seed)] = letters(predicted)
    return [
        {
            "group": group,
            "method": name,
            "network": NETWORK,
            "seeds": [of_seed for _, of_seed in sorted(said[condition, model].items())],
        }
        for group, condition in CONDITION.items()
        for name, model in MODELS.items()
    ]
