"""Tables 2, 3 and 6 and Figures 3 to 7 of QuMATL: each annotator, where each looks, the costs.

    python benchmarks/gpu/qumatl_looks.py run OUT --data DATA      needs ./dinov2-small
    python benchmarks/gpu/qumatl_looks.py keep OUT                 into benchmarks/results
    python benchmarks/gpu/qumatl_looks.py show

Models are fitted with one of the settings that `dissensus papers qumatl` tries, with three seeds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus import Corpus
from dissensus.metrics import attention_by_part, part_hits
from dissensus.simulate import truth
from dissensus.tables import Table
from dissensus_papers.framework.declared import some_items
from dissensus_papers.framework.text import table, written
from dissensus_papers.qumatl import PAPER
from dissensus_papers.qumatl.corpora import PICTURES, SIDE, TOKENS, WHOLE, last_fifth
from dissensus_papers.qumatl.models import HEADS, MODELS, OF_TOKENS, ONE_LAYER, QUERIES, RATE

NAME, SEEDS = "qumatl_looks", (0, 1, 2)
Measured = Mapping[str, Any]
Typed = Sequence[tuple[str, str]]  # settings, to try the script
FITTED: Mapping[str, Mapping[str, Any]] = {  # the setting that is best most often
    HEADS: {RATE: 3e-3},
    ONE_LAYER: {RATE: 1e-3},
    QUERIES: {RATE: 5e-4, "spread": 0.25},
}
SIMULATED = {RATE: 1e-3}  # of queries: with a prior, several layers learn nothing there


def _predictions(
    name: str, train: Corpus, test: Corpus, seed: int, typed: Typed, fitted: Mapping[str, Any]
) -> Any:
    """What a model with these settings predicts of the test pictures, with attention where it has
    some."""
    from dissensus.methods import seeded

    reads = name in OF_TOKENS
    own = {"encoder": {TOKENS if reads else WHOLE: "features"}, **fitted}
    model = replace(MODELS[name], settings={**MODELS[name].settings, **own})
    method = seeded(model.built({}, typed), seed).fit(train)
    more: dict[str, Any] = {"attention": True, "annotators": "all"} if reads else {}
    ((_, prediction),) = method.predict(test, same_annotators=True, **more).items()
    return prediction


# ---- Tables 2 and 3, Figures 4 and 7 ----


def measure_annotators(corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """The accuracy of each annotator's prediction on the test part, and how alike the maps of two
    annotators are, within and between panels (cosine, less the mean map)."""
    tested = corpus.in_part("test", "source")
    train, test = corpus.select(items=~tested), corpus.select(items=tested)
    panel = corpus.annotator_attributes["panel"].to_pylist()
    names = list(corpus.annotators)
    accuracy, alike = {}, {}
    for name, fitted in FITTED.items():
        prediction = _predictions(name, train, test, seed, typed, fitted)
        accuracy[name] = _of_annotators(prediction, test, names)
        if name in OF_TOKENS:
            alike[name] = _alike(prediction, names, panel)
    return {"panel": dict(zip(names, panel, strict=True)), "accuracy": accuracy, "alike": alike}


def _of_annotators(prediction: Any, test: Corpus, names: Sequence[str]) -> dict[str, float]:
    pairs, (answers,) = prediction.by_annotator, test.questions.values()
    predicted = np.full((test.n_items, len(names)), -1)
    code = {name: at for at, name in enumerate(names)}
    own = np.array([code[name] for name in pairs.annotators])
    predicted[pairs.item, own[pairs.annotator]] = pairs.value
    annotator = answers.annotator_codes("accuracy of annotators")
    right = predicted[answers.item, annotator] == answers.answer
    n = np.bincount(annotator, minlength=len(names))
    shares = np.bincount(annotator, right, len(names)) / np.maximum(n, 1)
    return {name: float(share) for name, share, k in zip(names, shares, n, strict=True) if k}


def _alike(prediction: Any, names: Sequence[str], panel: Sequence[str]) -> dict[str, float]:
    pairs, attention = prediction.by_annotator, prediction.attention[0]
    maps = np.zeros((pairs.item.max() + 1, len(names), SIDE**2))
    code = {name: at for at, name in enumerate(names)}
    own = np.array([code[name] for name in pairs.annotators])
    cells = attention.weight.reshape(len(pairs.item), -1)[:, 1:]  # without the class token
    maps[pairs.item, own[pairs.annotator]] = cells / cells.sum(axis=1, keepdims=True)
    maps -= maps.mean(axis=1, keepdims=True)  # of all annotators, (n_items, n_annotators, n_cells)
    maps /= np.maximum(np.linalg.norm(maps, axis=2, keepdims=True), 1e-12)
    cosine = np.einsum("nac,nbc->ab", maps, maps) / len(maps)
    groups = sorted(set(panel))
    means = {}
    for first in groups:
        for second in groups[groups.index(first) :]:
            rows, columns = (np.array(panel) == group for group in (first, second))
            block = cosine[np.ix_(rows, columns)]
            others = ~np.eye(len(names), dtype=bool)[np.ix_(rows, columns)]
            means[f"{first}, {second}"] = float(block[others].mean())
    return means


def annotator_tables(measured: Sequence[Measured]) -> Sequence[Table | str]:
    accuracy = _means([one["accuracy"] for one in measured])
    panel: Mapping[str, str] = measured[0]["panel"]
    names = ["", "panel", *(MODELS[name].title for name in accuracy)]
    rows = [
        [each, panel[each], *(f"{of_model[each]:.3f}" for of_model in accuracy.values())]
        for each in panel
    ]
    for group in sorted(set(panel.values())):
        own = [each for each in panel if panel[each] == group]
        means = (np.mean([of_model[each] for each in own]) for of_model in accuracy.values())
        rows.append([f"all of {group}", group, *(f"{mean:.3f}" for mean in means)])
    alike = _means([one["alike"] for one in measured])
    pairs = next(iter(alike.values()))
    rows_alike = [
        [pair, *(f"{of_model[pair]:+.3f}" for of_model in alike.values())] for pair in pairs
    ]
    n = f"{len(measured)} seeds"
    return [
        table(f"Accuracy of each annotator, pictures of the test part, {n}", names, rows),
        table(
            f"How alike two annotators look at a picture, {n}",
            ["panels", *(MODELS[name].title for name in alike)], rows_alike,
            "The mean cosine of their maps, each less the mean map of all annotators.",
        ),
    ]  # fmt: skip


def _means(entries: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    """The means over seeds, model by model."""
    return {
        model: {key: float(np.mean([one[model][key] for one in entries])) for key in of_model}
        for model, of_model in entries[0].items()
    }


# ---- Figures 3 and 6, where the truth is known ----


def measure_looks(corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """How often the object with most attention is the one that the annotator most probably looks
    at, on simulated pictures."""
    (fold,) = last_fifth(corpus)
    train, test, _ = fold.parts(corpus)
    known, side = truth(test), 48  # pixels
    cell = np.indices((SIDE, SIDE)).reshape(2, -1).T
    places = np.zeros((1 + SIDE**2, 2, 2))
    places[1:] = np.stack([cell, cell + 1], axis=2) * side / SIDE
    shares = {}
    for name in (ONE_LAYER, QUERIES):
        prediction = _predictions(name, train, test, seed, typed, SIMULATED)
        pairs, attention = prediction.by_annotator, prediction.attention[0]
        attention = replace(attention, places=np.tile(places, (test.n_items, 1, 1)))
        own = np.array(test.annotators.codes(list(pairs.annotators)))[pairs.annotator]
        by_part = attention_by_part(attention, pairs.item, known.start, known.stop)
        hits = part_hits(by_part, known.focus(pairs.item, own))
        several = hits.chance < 1
        shares[name] = {
            "own object has most attention": float(np.nanmean(hits.hit[several])),
            "by chance": float(np.nanmean(hits.chance[several])),
            "on objects": float(np.nanmean(np.nansum(by_part, axis=1))),
        }
    return {"shares": shares}


def looks_tables(measured: Sequence[Measured]) -> Sequence[Table | str]:
    means = _means([one["shares"] for one in measured])
    names = list(next(iter(means.values())))
    rows = [[MODELS[m].title, *(f"{own[name]:.3f}" for name in names)] for m, own in means.items()]
    heading = f"Where annotators look, simulated pictures, {len(measured)} seeds"
    return [table(heading, ["", *names], rows)]


# ---- Table 6 ----

N_ANNOTATORS, N_CLASSES, N_PICTURES = 10, 6, 32  # of STREET; pictures at a time
IN_PAPER = {"D-LEMA": "214.18 M, 5.64 s", "Base": "", "Queries, as published": "106.02 M, 4.28 s"}


def measure_costs(corpus: Corpus, seed: int, typed: Typed) -> Measured:
    """Parameters, and seconds to answer for ten annotators of `N_PICTURES` pictures: the encoder is
    not counted with queries, whose vectors are 257 x 1,408; ResNet-34 is, with the others."""
    import torch
    from torch import nn
    from transformers import ResNetConfig, ResNetModel

    from dissensus.networks.qformer import QFormer

    sizes = ResNetConfig(depths=[3, 4, 6, 3], hidden_sizes=[64, 128, 256, 512], layer_type="basic")

    class Branch(nn.Module):
        def __init__(self, n_heads: int) -> None:
            super().__init__()
            self.trunk: Any = ResNetModel(sizes)  # type: ignore[no-untyped-call]
            self.hidden = nn.ModuleList(nn.Linear(512, 256) for _ in range(n_heads))
            self.heads = nn.ModuleList(nn.Linear(256, N_CLASSES) for _ in range(n_heads))

        def forward(self, pictures: Any) -> Any:
            pooled = self.trunk(pictures).pooler_output.flatten(1)
            layers = zip(self.hidden, self.heads, strict=True)
            return [head(hidden(pooled).relu()) for hidden, head in layers]

    class Queries(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.queries = nn.Parameter(torch.randn(N_ANNOTATORS, 768))
            self.qformer, self.projection = QFormer(), nn.Linear(768, 256)
            self.hidden = nn.ModuleList(nn.Linear(256, 256) for _ in range(N_ANNOTATORS))
            self.heads = nn.ModuleList(nn.Linear(256, N_CLASSES) for _ in range(N_ANNOTATORS))

        def forward(self, vectors: Any) -> Any:
            there = torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
            seen = self.projection(self.qformer(self.queries, vectors, there).queries)
            layers = enumerate(zip(self.hidden, self.heads, strict=True))
            return [head(hidden(seen[:, at]).relu()) for at, (hidden, head) in layers]

    class Each(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.branches = nn.ModuleList(Branch(1) for _ in range(N_ANNOTATORS))

        def forward(self, pictures: Any) -> Any:
            return [branch(pictures) for branch in self.branches]

    device = "cuda" if torch.cuda.is_available() else "cpu"
    pictures = torch.randn(N_PICTURES, 3, 224, 224, device=device)
    vectors = torch.randn(N_PICTURES, 257, 1408, device=device)
    costs = {}
    for name, network, content in (
        ("D-LEMA", Each(), pictures),
        ("Base", Branch(N_ANNOTATORS), pictures),
        ("Queries, as published", Queries(), vectors),
    ):
        network = network.to(device).eval()
        with torch.inference_mode():
            for _ in range(3):  # the first ones prepare
                began = time.perf_counter()
                answers = network(content)
                while isinstance(answers, list):
                    answers = answers[-1]
                answers.sum().item()  # waits for a GPU
        costs[name] = {
            "parameters": sum(p.numel() for p in network.parameters()),
            "seconds": time.perf_counter() - began,
        }
    return {"costs": costs}


def cost_tables(measured: Sequence[Measured]) -> Sequence[Table | str]:
    means = _means([one["costs"] for one in measured])
    rows = [
        [
            name,
            IN_PAPER[name],
            f"{own['parameters'] / 1e6:.2f} M",
            f"{1000 * own['seconds']:.1f} ms",
        ]
        for name, own in means.items()
    ]
    heading = f"Table 6: ten annotators, {N_PICTURES} pictures; D-LEMA and Base with ResNet-34"
    return [
        table(
            heading, ["", "paper", "parameters", "time"], rows,
            "Of queries the encoder of pictures, ViT-g/14 with a billion weights, is not counted, "
            "as in the paper.",
        )
    ]  # fmt: skip


# ---- all of them ----

PARTS: Mapping[str, tuple[str, Any, Any]] = {  # corpus, what measures, what shows
    "annotators": (PICTURES, measure_annotators, annotator_tables),
    "looks": ("simulated-image", measure_looks, looks_tables),
    "efficiency": ("simulated-sequence", measure_costs, cost_tables),
}


def run(given: argparse.Namespace) -> None:
    from dissensus.evaluation import here

    given.out.mkdir(parents=True, exist_ok=True)
    corpora, typed = PAPER.read(given.data), [text.split("=") for text in given.set]
    rows: dict[str, list[Any]] = {}
    for name, (corpus, measured, _) in PARTS.items():
        content = corpora[corpus] if not given.items else some_items(corpora[corpus], given.items)
        prepared = PAPER.sources[corpus].prepared(content) if name != "efficiency" else content
        for seed in SEEDS if name != "efficiency" else SEEDS[:1]:
            rows.setdefault(name, []).append(measured(prepared, seed, typed))
            (given.out / f"{NAME}.json").write_text(json.dumps(here() | {"rows": rows}))
    show(rows)


def show(rows: Mapping[str, Sequence[Measured]]) -> None:
    parts = [part for name, entries in rows.items() for part in PARTS[name][2](entries)]
    print(written(parts), end="")


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from keeping import keep, kept

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("out"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--items", type=int, help="only so many of each corpus, for trying out")
    parser.add_argument("--set", action="append", default=[], help="a setting, for trying out")
    given = parser.parse_args()
    if given.stage == "run":
        return run(given)
    if given.stage == "keep":
        rows = json.loads((given.out / f"{NAME}.json").read_text())
        keep(NAME, f"gpu/{NAME}.py run OUT --data DATA", rows)
    show(kept(NAME)["rows"])


if __name__ == "__main__":
    main()
