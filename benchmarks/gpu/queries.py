"""Annotator queries on simulated crowds, whose tendencies are known: accuracy, and where they look.

    make gpu-kit RUN=queries                                 MiniLM, and pictures as features
    python benchmarks/gpu/queries.py run OUT --seconds 540
    python benchmarks/gpu/queries.py run OUT --parts text,tuned --seeds 5
    cp OUT/queries.json gpu-kit/queries/                     to resume on another machine
    python benchmarks/gpu/queries.py keep OUT                into benchmarks/results
    python benchmarks/gpu/queries.py show

Each part is a simulated corpus with seed 1: 4,000 items to learn from, others to test on. Settings
are chosen on the training items: fitted to four fifths, scored by the cross-entropy (of ratings,
the absolute error) of the answers to the rest. The best ones are fitted to all training items, once
with each seed. Measured are the expected accuracy (of ratings, the expected absolute error) under
the true distribution of each annotator, and whether the part with most attention is the one that
the annotator most probably looks at, over all pairs of test item and annotator.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

KIT = Path("gpu-kit") / "queries"
NAME = "queries.json"
N_TRAIN, N_TEST, N_PICTURES = 4000, 1000, 2500
FIFTH = 5  # the share of the training items that settings are chosen on
PICTURE_WIDTH = 96  # of the features of pictures, after PCA

SMALL: list[dict[str, Any]] = [
    {
        "width": width,
        "dropout": dropout,
        "vector_dropout": vector_dropout,
        "training.learning_rate": rate,
        "training.epochs": epochs,
    }
    for width, dropout, vector_dropout, (rate, epochs) in itertools.product(
        (64, 128), (0.1, 0.3), (0.0, 0.1), ((1e-3, 40), (3e-3, 15))
    )
]
BASE = {"width": 64, "dropout": 0.3, "vector_dropout": 0.1}
FURTHER: list[dict[str, Any]] = [
    BASE | {"training.learning_rate": 3e-3, "training.epochs": 20} | changed
    for changed in (
        {"self_attention": False},
        {"common": False},
        {"classifier": "shared"},
        {"average": "annotator"},
        {"standardise": False},
        {"inner": 256},
        {"layers": 2, "heads": 4, "inner": 256, "cross_every": 1},
        {"layer_dropout": 0.1},
        {"training.averaged": 0.5},
        {"training.weight_decay": 0.5},
        {"training.weight_decay": 0.5, "training.averaged": 0.5, "standardise": False},
        {"width": 32},
    )
]
TUNED: list[dict[str, Any]] = [
    {
        "tune": "all",
        "training.encoder_learning_rate": encoder_rate,
        "training.learning_rate": rate,
        "training.epochs": 8,
    }
    for encoder_rate, rate in itertools.product((5e-5, 1e-4), (1e-3, 3e-3))
]
HEADS: list[dict[str, Any]] = [{}, {"training.epochs": 40}, {"hidden": (256,)}]


class Part(NamedTuple):
    """A corpus, how it is read, and the settings to choose from."""

    preset: str
    method: str = "annotator-queries"
    candidates: list[dict[str, Any]] = SMALL + FURTHER
    encoder: str = "minilm"


PARTS = {
    "text": Part("text"),
    "tuned": Part("text", candidates=TUNED),
    "first-blocks": Part("text", candidates=SMALL, encoder="minilm-2"),
    "sequence": Part("sequence", candidates=SMALL, encoder="features"),
    "image": Part("image", candidates=SMALL, encoder="features"),
    "ratings": Part("ratings", candidates=SMALL),
    "heads": Part("text", "annotator-heads", HEADS),
}


def simulated(preset: str, n_items: int) -> Any:
    from dissensus import simulate

    return getattr(simulate, preset)(n_items, seed=1)


# ---- what goes to the other machine ----


def pack(folder: Path, data: Path) -> None:
    """MiniLM, MiniLM's first two blocks, and the features of pictures."""
    from kit import pack_minilm

    n_items = N_TRAIN + N_TEST
    texts = [
        corpus.text_of(item)
        for corpus in (simulated("text", n_items), simulated("ratings", n_items))
        for item in range(n_items)
    ]
    pack_minilm(folder / "minilm", texts)
    _pack_first_blocks(folder / "minilm", folder / "minilm-2", 2)
    _pack_pictures(folder)


def _pack_first_blocks(source: Path, folder: Path, n_blocks: int) -> None:
    """A text encoder with the first blocks of another one."""
    import shutil

    from safetensors.numpy import load_file, save_file

    shutil.copytree(source, folder)
    weights = load_file(source / "model.safetensors")
    late = {f".layer.{number}." for number in range(n_blocks, 100)}
    kept = {k: v for k, v in weights.items() if not any(part in k for part in late)}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((source / "config.json").read_text())
    config["num_hidden_layers"] = n_blocks
    (folder / "config.json").write_text(json.dumps(config))


def _pack_pictures(folder: Path) -> None:
    """The grid of EfficientNet-Lite0 over each picture, its vectors rotated to fewer numbers by
    the principal axes of some pictures."""
    from dissensus.encoders import encodings

    corpus = simulated("image", N_PICTURES)
    (encoding,) = encodings(corpus, "auto").values()
    store = encoding.store()
    some = np.asarray(store.vectors[:: max(1, len(store.vectors) // 20_000)], np.float32)
    _, _, axes = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)
    rotated = (np.asarray(store.vectors, np.float32) - some.mean(axis=0)) @ axes[:PICTURE_WIDTH].T
    lengths = np.diff(store.offsets)
    assert (lengths == lengths[0]).all(), "pictures of different sizes"
    np.savez_compressed(
        folder / "pictures.npz",
        vectors=rotated.astype(np.float16).reshape(len(lengths), lengths[0], -1),
        places=np.asarray(store.places[: lengths[0]]),
        content=encoding.content,
    )


# ---- a part ----


class Data(NamedTuple):
    """A corpus in its parts; `places` of positions if the encoder does not know them."""

    train: Any
    test: Any
    truths: dict[str, Any]
    first_test: int
    places: np.ndarray | None = None


def read(part: Part, n_train: int, n_test: int) -> Data:
    from dissensus.contents import Contents
    from dissensus.simulate import truth

    places = None
    if part.preset == "image":
        n_train = min(n_train, N_PICTURES * 4 // 5)
        n_test = min(n_test, N_PICTURES - n_train)
    n_items = n_train + n_test
    corpus = simulated(part.preset, N_PICTURES if part.preset == "image" else n_items)
    truths = {question: truth(corpus, question) for question in corpus.questions}
    if part.preset == "image":
        packed = np.load(KIT / "pictures.npz")
        places = packed["places"]
        (role,) = corpus.contents
        features = Contents.distinct("features", list(packed["vectors"].astype(np.float32)))
        contents, codes = features if isinstance(features, tuple) else (features, None)
        content = packed["content"] if codes is None else codes[packed["content"]]
        corpus = replace(corpus, contents={role: contents}, content={role: content})
    items = np.arange(n_items)
    train, test = corpus.select(items=items[:n_train]), corpus.select(items=items[n_train:])
    return Data(train, test, truths, n_train, places)


def fitted(part: Part, settings: dict[str, Any], corpus: Any, seeds: range) -> list[Any]:
    from dissensus.methods import Job, fit_many, method
    from dissensus.methods.framework.settings import changed, seeded

    folder = KIT / part.encoder
    encoder = str(folder) if folder.is_dir() else part.encoder
    model = changed(method(part.method)(), {"encoder": encoder} | settings)
    return fit_many([Job(seeded(model, seed), corpus) for seed in seeds])


def chosen_by(part: Part, settings: dict[str, Any], data: Data) -> float:
    """The cross-entropy, or absolute error, of answers to the last fifth of the training items."""
    from dissensus.metrics import scores
    from dissensus.scales import Interval

    n = data.train.n_items - data.train.n_items // FIFTH
    items = np.arange(data.train.n_items)
    first, rest = (data.train.select(items=part) for part in (items[:n], items[n:]))
    (model,) = fitted(part, settings, first, range(1))
    predictions = model.predict(rest, same_annotators=True)
    rated = any(isinstance(data.train[question].scale, Interval) for question in predictions)
    metric = "annotator error" if rated else "annotator cross-entropy"
    found = [
        scores(predictions[question], rest[question], metrics=[metric]) for question in predictions
    ]
    return float(np.mean([value for by_name in found for value in by_name.values()]))


def measured(model: Any, data: Data) -> dict[str, Any]:
    """The scores of a fitted model on the test items, by question."""
    shows = model.shows_attention
    began = time.perf_counter()
    predictions = model.predict(
        data.test, annotators="all", same_annotators=True, **{"attention": True} if shows else {}
    )
    outcome: dict[str, Any] = {"seconds to predict": round(time.perf_counter() - began, 2)}
    for question, truth in data.truths.items():
        pairs = predictions[question].by_annotator
        names = data.train.annotators
        annotator = names.codes([pairs.annotators[a] for a in range(len(pairs.annotators))])
        item, annotator = pairs.item + data.first_test, annotator[pairs.annotator]
        own, blind = truth.best(item, annotator)
        scores = {"best": own, "best without the annotator": blind}
        if truth.measure == "accuracy":
            p = truth.distribution(item, annotator)
            scores["accuracy"] = p[np.arange(len(p)), pairs.value].mean()
            logs = np.log(np.maximum(pairs.distribution, 1e-12))
            scores["cross-entropy"] = -(p * logs).sum(axis=1).mean()
            scores["lowest cross-entropy"] = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1).mean()
        else:
            rating = np.linspace(-1, 1, 201)
            distance = np.abs(rating - pairs.value[:, None])
            scores["error"] = (truth.density(item, annotator) * distance).sum(axis=1).mean()
        if shows:
            scores |= _looked(
                predictions[question].attention[0], pairs, item, annotator, truth, data
            )
        outcome[question] = {name: round(float(value), 4) for name, value in scores.items()}
    return outcome


def _looked(
    attention: Any, pairs: Any, item: np.ndarray, annotator: np.ndarray, truth: Any, data: Data
) -> dict[str, float]:
    from dissensus.metrics import attention_by_part, part_hits

    if data.places is not None:
        n_items = len(attention.place_offsets) - 1
        attention = replace(attention, places=np.tile(data.places, (n_items, 1, 1)))
    rows = slice(data.first_test, data.first_test + data.test.n_items)
    by_part = attention_by_part(attention, pairs.item, truth.start[rows], truth.stop[rows])
    hits = part_hits(by_part, truth.focus(item, annotator))
    several = hits.chance < 1  # an item with one part tells nothing
    return {"part": np.nanmean(hits.hit[several]), "by chance": np.nanmean(hits.chance[several])}


# ---- all parts ----


def tasks(names: list[str]) -> Iterator[tuple[str, int | None]]:
    """The candidates of each part, then its final fits (None)."""
    for name in names:
        yield from ((name, number) for number in range(len(PARTS[name].candidates)))
        yield name, None


def run(given: argparse.Namespace) -> None:
    began = time.monotonic()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / NAME
    source = next((p for p in (path, KIT / NAME) if p.exists()), None)
    outcomes: dict[str, Any] = json.loads(source.read_text()) if source else {}
    data: dict[str, Data] = {}
    names = [n for n in given.parts.split(",") if n != "image" or (KIT / "pictures.npz").exists()]
    for name, number in tasks(names):
        part, key = PARTS[name], f"{name}: {'final' if number is None else number}"
        if key in outcomes:
            continue
        if time.monotonic() - began > given.seconds:
            print("no time left; run again to resume", flush=True)
            break
        candidates = part.candidates[: given.candidates]
        if number is not None and number >= len(candidates):
            continue
        if name not in data:
            data[name] = read(part, given.items, given.test_items)
        start = time.monotonic()
        if number is not None:
            settings = candidates[number] | _quick(given)
            score = chosen_by(part, settings, data[name])
            outcome: dict[str, Any] = {"settings": settings, "score": round(score, 4)}
        else:
            tried = [outcomes[f"{name}: {n}"] for n in range(len(candidates))]
            best = min(tried, key=lambda one: one["score"])
            models = fitted(part, best["settings"], data[name].train, range(given.seeds))
            seconds = round(time.monotonic() - start, 1)
            by_seed = [measured(model, data[name]) for model in models]
            outcome = {"settings": best["settings"], "seconds to fit": seconds, "seeds": by_seed}
            outcome |= {"items": data[name].train.n_items, "test items": data[name].test.n_items}
        outcome["seconds"] = round(time.monotonic() - start, 1)
        outcomes[key] = outcome
        path.write_text(json.dumps(outcomes, indent=1))
        print(key, json.dumps(outcome), flush=True)


def _quick(given: argparse.Namespace) -> dict[str, Any]:
    return {"training.epochs": given.epochs} if given.epochs else {}


def keep(folder: Path) -> None:
    """The results of a run, into benchmarks/results."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from keeping import keep as write

    write("queries", "gpu/queries.py run OUT", {"rows": json.loads((folder / NAME).read_text())})


def show() -> None:
    """The final fits, means over seeds."""
    kept = Path(__file__).parents[1] / "results" / NAME
    for key, outcome in json.loads(kept.read_text())["rows"].items():
        if key.endswith("final"):
            questions = [q for q in outcome["seeds"][0] if q != "seconds to predict"]
            for question in questions:
                rows = [seed[question] for seed in outcome["seeds"]]
                means = {name: np.mean([row[name] for row in rows]) for name in rows[0]}
                words = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
                print(f"{key.removesuffix(': final')}, {question} ({len(rows)} seeds): {words}")
                print(f"    {outcome['settings']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("out"))
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seconds", type=float, default=540, help="no task begins after them")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--items", type=int, default=N_TRAIN)
    parser.add_argument("--test-items", type=int, default=N_TEST)
    parser.add_argument("--candidates", type=int, default=100, help="of each part, at most")
    parser.add_argument("--epochs", type=int, default=0, help="of every fit, to try the script")
    given = parser.parse_args()
    if given.command == "run":
        run(given)
    elif given.command == "keep":
        keep(given.out)
    else:
        show()


if __name__ == "__main__":
    main()
