"""Annotator queries on simulated crowds, whose tendencies are known: accuracy, and where they look.

    make gpu-kit RUN=queries                                 MiniLM, and pictures as features
    python benchmarks/gpu/queries.py run OUT --seconds 540
    python benchmarks/gpu/queries.py run OUT --parts "text,text again" --seeds 5
    cp OUT/queries.json gpu-kit/queries/                     to resume on another machine
    python benchmarks/gpu/queries.py keep OUT OTHER          into benchmarks/results
    python benchmarks/gpu/queries.py show

Each part is a simulated corpus with seed 1: 4,000 items to learn from, others to test on. Settings
are chosen on the training items: fitted to four fifths, scored by the cross-entropy (of ratings,
the absolute error) of the answers to the rest. The best ones are fitted to all training items, once
with each seed, and in the parts "again" to other texts, simulated with seed 2. Measured are the
expected accuracy (of ratings, the expected absolute error) under the true distribution of each
annotator, and whether the part with most attention is the one that the annotator most probably
looks at, over all pairs of test item and annotator.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

KIT = Path("gpu-kit") / "queries"
NAME = "queries.json"
KEPT = Path(__file__).parents[1] / "results" / NAME
N_TRAIN, N_TEST, N_PICTURES = 4000, 1000, 2500
FIFTH = 5  # the share of the training items that settings are chosen on
PICTURE_WIDTH = 96  # of the features of pictures, after PCA

ARCHITECTURES: list[dict[str, Any]] = [
    {"width": width, "dropout": dropout, "vector_dropout": vector_dropout}
    for width, dropout, vector_dropout in (
        (64, 0.3, 0.1), (64, 0.5, 0.1), (64, 0.3, 0.3), (32, 0.3, 0.1), (128, 0.3, 0.1),
    )
]  # fmt: skip
TRAININGS: list[dict[str, Any]] = [
    {
        "training.learning_rate": rate,
        "training.epochs": epochs,
        "training.weight_decay": decay,
        "training.averaged": averaged,
    }
    for (rate, epochs), decay, averaged in itertools.product(
        ((1e-3, 30), (3e-3, 15), (3e-3, 25)), (0.01, 0.3), (0.0, 0.5)
    )
]
SMALL = [architecture | training for architecture in ARCHITECTURES for training in TRAININGS]
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
CONFIRMED = 2  # the seed of other texts


class Part(NamedTuple):
    """A corpus, how it is read, and the settings to choose from.

    With `again`, settings are those of another part, and the corpus is simulated anew.
    """

    preset: str
    method: str = "annotator-queries"
    candidates: list[dict[str, Any]] = SMALL
    encoder: str = "minilm"
    again: str = ""

    @property
    def seed(self) -> int:
        return CONFIRMED if self.again else 1


PARTS = {
    "text": Part("text"),
    "text again": Part("text", candidates=[], again="text"),
    "tuned": Part("text", candidates=TUNED),
    "first-blocks": Part("text", encoder="minilm-2"),
    "first-blocks again": Part("text", candidates=[], encoder="minilm-2", again="first-blocks"),
    "sequence": Part("sequence", encoder="features"),
    "image": Part("image", encoder="features"),
    "ratings": Part("ratings"),
    "heads": Part("text", "annotator-heads", HEADS),
}


def simulated(preset: str, n_items: int, seed: int = 1) -> Any:
    from dissensus import simulate

    return getattr(simulate, preset)(n_items, seed=seed)


# ---- what goes to the other machine ----


def pack(folder: Path, data: Path) -> None:
    """MiniLM, MiniLM's first two blocks, and the features of pictures."""
    from kit import pack_minilm

    n_items = N_TRAIN + N_TEST
    texts = [
        corpus.text_of(item)
        for corpus in (
            simulated("text", n_items),
            simulated("text", n_items, CONFIRMED),
            simulated("ratings", n_items),
        )
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
    corpus = simulated(part.preset, N_PICTURES if part.preset == "image" else n_items, part.seed)
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


def fitted(part: Part, settings: list[dict[str, Any]], corpus: Any, seeds: range) -> list[Any]:
    """The method with each of the settings and each seed; one architecture is one stack."""
    from dissensus.methods import Job, fit_many, method
    from dissensus.methods.framework.settings import changed, seeded

    folder = KIT / part.encoder
    common: dict[str, Any] = {"encoder": str(folder) if folder.is_dir() else part.encoder}
    if part.method == "annotator-queries":
        common["spread"] = math.inf  # as measured: without a prior
    models = [changed(method(part.method)(), common | one) for one in settings]
    return fit_many([Job(seeded(model, seed), corpus) for model in models for seed in seeds])


def scores_of(part: Part, settings: list[dict[str, Any]], data: Data) -> list[float]:
    """The cross-entropy, or absolute error, of answers to the last fifth of the training items,
    with each of the settings."""
    from dissensus.scales import Interval

    n = data.train.n_items - data.train.n_items // FIFTH
    items = np.arange(data.train.n_items)
    first, rest = (data.train.select(items=part) for part in (items[:n], items[n:]))
    rated = any(isinstance(answers.scale, Interval) for answers in rest.questions.values())
    metric = "annotator error" if rated else "annotator cross-entropy"
    return [_score(model, rest, metric) for model in fitted(part, settings, first, range(1))]


def _score(model: Any, corpus: Any, metric: str) -> float:
    from dissensus.metrics import scores

    predictions = model.predict(corpus, same_annotators=True)
    by_question = [scores(predictions[q], corpus[q], metrics=[metric])[metric] for q in predictions]
    return float(np.mean(by_question))


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


def run(given: argparse.Namespace) -> None:
    began = time.monotonic()
    given.out[0].mkdir(parents=True, exist_ok=True)
    path = given.out[0] / NAME
    source = next((p for p in (path, KIT / NAME) if p.exists()), None)
    outcomes: dict[str, Any] = json.loads(source.read_text()) if source else {}
    for name in given.parts.split(","):
        if name == "image" and not (KIT / "pictures.npz").exists():
            continue
        for key, outcome in outcomes_of(name, outcomes, given):
            outcomes[key] = outcome
            path.write_text(json.dumps(outcomes, indent=1))
            print(key, json.dumps(outcome), flush=True)
            if time.monotonic() - began > given.seconds:
                print("no time left; run again to resume", flush=True)
                return


def outcomes_of(
    name: str, outcomes: dict[str, Any], given: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is missing of a part: its candidates by architecture, then its final fits."""
    part, final = PARTS[name], f"{name}: final"
    if final in outcomes:
        return
    data = read(part, given.items, given.test_items)
    candidates = [
        {k: v for k, v in one.items() if not (given.epochs and k == "training.epochs")}
        | ({"training.epochs": given.epochs} if given.epochs else {})
        for one in part.candidates[: given.candidates]
    ]
    for _, group in itertools.groupby(enumerate(candidates), lambda one: _architecture(one[1])):
        missing = {f"{name}: {n}": one for n, one in group if f"{name}: {n}" not in outcomes}
        start = time.monotonic()
        scores = scores_of(part, list(missing.values()), data) if missing else []
        seconds = round((time.monotonic() - start) / max(len(missing), 1), 1)
        for (key, settings), score in zip(missing.items(), scores, strict=True):
            yield key, {"settings": settings, "score": round(score, 4), "seconds": seconds}
    best = _best(part.again or name, outcomes)
    start = time.monotonic()
    models = fitted(part, [best], data.train, range(given.seeds))
    seconds = round(time.monotonic() - start, 1)
    by_seed = [measured(model, data) for model in models]
    n_items = {"items": data.train.n_items, "test items": data.test.n_items}
    yield final, {"settings": best, "seconds to fit": seconds, "seeds": by_seed} | n_items


def _architecture(settings: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in settings.items() if not k.startswith("training.")}


def _best(name: str, outcomes: dict[str, Any]) -> dict[str, Any]:
    """The settings of a part with the best score."""
    tried = [o for key, o in outcomes.items() if key.startswith(f"{name}: ") and "score" in o]
    best: dict[str, Any] = min(tried, key=lambda one: one["score"])["settings"]
    return best


def keep(folders: list[Path]) -> None:
    """The results of runs, into benchmarks/results; parts that no run has stay as they are."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from keeping import keep as write

    runs = [json.loads((folder / NAME).read_text()) for folder in folders]
    rows = {key: outcome for run in runs for key, outcome in run.items()}
    new = {key.partition(":")[0] for key in rows}
    kept = json.loads(KEPT.read_text())["rows"] if KEPT.exists() else {}
    others = {key: outcome for key, outcome in kept.items() if key.partition(":")[0] not in new}
    write("queries", "gpu/queries.py run OUT", {"rows": others | rows})


def show() -> None:
    """The final fits, means over seeds."""
    for key, outcome in json.loads(KEPT.read_text())["rows"].items():
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
    parser.add_argument("out", type=Path, nargs="*", default=[Path("out")])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seconds", type=float, default=540, help="none is begun after them")
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
