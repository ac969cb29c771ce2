"""What learns the tags of tweets, in runs of pos_tweets.py and of those that go on from them."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

KIT = Path("gpu-kit/pos_tweets")
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
    from dissensus_papers.soft_labels.protocol import with_automatic

    corpus = with_automatic(ds.read(KIT / "pos_tweets"))
    train = learned(corpus, name).part("train")
    return {"train": train} | {part: corpus.part(part) for part in ("dev", "test")}


def fitted(train: Any, methods: list[Any]) -> list[Any]:
    from dissensus.methods.framework.stacked_fits import Job, fit_many

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
