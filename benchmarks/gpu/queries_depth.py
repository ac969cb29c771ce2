"""When queries in several layers learn simulated texts, and what a pretrained start gives.

    python benchmarks/gpu/queries_depth.py run OUT       on a CPU, an hour
    make gpu-kit RUN=queries_depth                       MiniLM, for a machine without a network
    python benchmarks/gpu/queries_depth.py run OUT --items 4000 --test-items 1000 --seeds 3
    python benchmarks/gpu/queries_depth.py run OUT --parts published --items 4000 --seeds 2
    python benchmarks/gpu/queries_depth.py keep OUT      into benchmarks/results
    python benchmarks/gpu/queries_depth.py show

Depth: the texts of queries.py, read by queries in one layer, by those in two as the paper qumatl
has them, and by the latter with one change each. Start: two layers learn fewer texts of these
annotators, from random first weights, and from a Q-Former that has learned other texts by other
annotators. Published: twelve layers, for more or fewer epochs, at three rates. Scores are those of
queries.py, by seed. Settings are not chosen: they stand here.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from queries import CONFIRMED, PARTS, fitted, measured, read, simulated

from dissensus.tables import Table
from dissensus_papers.qumatl.models import EPOCHS, MID_SIZED, RATE

NAME, COMMIT = "queries_depth", "commit.txt"
N_TRAIN, N_TEST, N_PACKED = 1000, 500, 5000
KIT = Path("gpu-kit") / NAME
MINILM = (KIT / "minilm").resolve()
TEXTS = PARTS["text"]._replace(encoder=str(MINILM) if MINILM.is_dir() else "minilm")
Settings = dict[str, Any]
ONE: Settings = {RATE: 1e-3, "width": 64}
DEPTH: Mapping[str, Settings] = {
    "one layer, one head, 64 wide": ONE,
    "one layer, four heads, linear layers, 128 wide": MID_SIZED | {"layers": 1},
    "two layers": MID_SIZED,
    "a prior of .25": MID_SIZED | {"spread": 0.25},
    "a rate of 3e-3": MID_SIZED | {RATE: 3e-3},
    "a rate of 3e-3 and a prior": MID_SIZED | {RATE: 3e-3, "spread": 0.25},
    "a warm-up of .05": MID_SIZED | {"training.warm_up": 0.05},
    "without self-attention": MID_SIZED | {"self_attention": False},
}
FEW = (250, 500, 1000)  # texts to learn from
START = {"one layer": ONE, "two layers": MID_SIZED}
PRETRAINED = "two layers, pretrained"
STEPS = {"15 epochs": 15, "60 epochs": 60}
RATES = (1e-4, 3e-4)


class Sizes(NamedTuple):
    train: int
    test: int
    seeds: int


def pack(folder: Path, data: Path) -> None:
    from kit import pack_minilm

    from dissensus.evaluation import code_commit

    both = [simulated(TEXTS.preset, N_PACKED, seed) for seed in (TEXTS.seed, CONFIRMED)]
    pack_minilm(folder / "minilm", [c.text_of(item) for c in both for item in range(c.n_items)])
    (folder / COMMIT).write_text(code_commit(), encoding="utf-8")


# ---- the layout in which Q-Formers are saved ----

_NAMES = (  # of this package, and of BLIP-2 in transformers
    (r"^norm\.", "layernorm."),
    (r"^layers\.", "encoder.layer."),
    (r"\.self_attention\.(query|key|value)\.", r".attention.attention.\1."),
    (r"\.cross_attention\.(query|key|value)\.", r".crossattention.attention.\1."),
    (r"\.self_attention\.output\.", ".attention.output.dense."),
    (r"\.cross_attention\.output\.", ".crossattention.output.dense."),
    (r"\.self_attention\.norm\.", ".attention.output.LayerNorm."),
    (r"\.cross_attention\.norm\.", ".crossattention.output.LayerNorm."),
    (r"(\d)\.inner\.", r"\1.intermediate_query.dense."),
    (r"(\d)\.outer\.", r"\1.output_query.dense."),
    (r"(\d)\.norm\.", r"\1.output_query.LayerNorm."),
)


def save_qformer(model: Any, path: Path) -> None:
    """The Q-Former of a fitted model, as a file to start others from; queries are not in it."""
    from safetensors.torch import save_file

    weights = {}
    for name, values in model.network_.qformer.state_dict().items():
        for pattern, theirs in _NAMES:
            name = re.sub(pattern, theirs, name)
        weights[f"qformer.{name}"] = values.detach().cpu().contiguous()
    save_file(weights, path)


# ---- parts ----


def of_depth(sizes: Sizes, out: Path) -> Iterator[tuple[str, str, Any]]:
    data = read(TEXTS, sizes.train, sizes.test)
    for title, settings in DEPTH.items():
        models = fitted(TEXTS, [settings], data.train, range(sizes.seeds))
        yield "depth", title, [measured(model, data)["emotion"] for model in models]


def of_start(sizes: Sizes, out: Path) -> Iterator[tuple[str, str, Any]]:
    others = simulated(TEXTS.preset, sizes.train, CONFIRMED)  # other texts by other annotators
    (learned,) = fitted(TEXTS, [MID_SIZED], others, range(1))
    save_qformer(learned, out / "qformer.safetensors")
    start = START | {PRETRAINED: MID_SIZED | {"pretrained": str(out / "qformer.safetensors")}}
    data = read(TEXTS, sizes.train, sizes.test)
    for title, settings in start.items():
        of_n = {}
        for n in FEW:
            some = data.train.select(items=np.arange(min(n, sizes.train)))
            models = fitted(TEXTS, [settings], some, range(sizes.seeds))
            of_n[str(n)] = [measured(model, data)["emotion"] for model in models]
        yield "start", title, of_n


def of_published(sizes: Sizes, out: Path) -> Iterator[tuple[str, str, Any]]:
    from dissensus.methods import AnnotatorQueries, Job, fit_many
    from dissensus.methods.framework.settings import changed, seeded

    data = read(TEXTS, sizes.train, sizes.test)
    few = {"training.batch_size": 64, "training.precision": "bf16"}
    model = changed(AnnotatorQueries.published(encoder=TEXTS.encoder), few)
    for (title, epochs), rate in product(STEPS.items(), RATES):
        some = changed(model, {EPOCHS: epochs, RATE: rate})
        jobs = [Job(seeded(some, seed), data.train) for seed in range(sizes.seeds)]
        seeds = [measured(fitted, data)["emotion"] for fitted in fit_many(jobs)]
        yield "published", f"{title}, a rate of {rate:.0e}", seeds


OF_PART = {"depth": of_depth, "start": of_start, "published": of_published}


def run(given: argparse.Namespace) -> None:
    from dissensus.evaluation import code_commit, here

    given.out.mkdir(parents=True, exist_ok=True)
    sizes, began = Sizes(given.items, given.test_items, given.seeds), time.monotonic()
    commit = (KIT / COMMIT).read_text().strip() if (KIT / COMMIT).exists() else code_commit()
    parts = given.parts.split(",")
    rows: dict[str, Any] = {part: {} for part in parts}
    for part, title, outcome in chain(*(OF_PART[part](sizes, given.out) for part in parts)):
        rows[part][title] = outcome
        seconds = round(time.monotonic() - began)
        about = {"commit": commit, "seconds": seconds, **sizes._asdict(), **here()}
        path = given.out / f"{NAME}-{parts[0]}.json"
        path.write_text(json.dumps(about | {"rows": rows}, indent=1))
        print(f"{seconds} s: {part}, {title}", flush=True)
    show(rows)


# ---- tables ----


def depth_rows(kept: Mapping[str, Any], part: str = "depth") -> list[list[str]]:
    """A row for each change: the accuracy, its best, and how often the own part is looked at."""
    rows = []
    for title, seeds in kept.get(part, {}).items():
        looks = f"{100 * _mean(seeds, 'part'):.1f} %"
        rows.append([title, _accuracy(seeds), f"{_mean(seeds, 'best'):.3f}", looks])
    return rows


def start_rows(kept: Mapping[str, Any]) -> list[list[str]]:
    """A row for each start, with a column for each number of texts."""
    return [
        [title, *(_accuracy(of_n[str(n)]) for n in FEW if str(n) in of_n)]
        for title, of_n in kept.get("start", {}).items()
    ]


def _accuracy(seeds: list[dict[str, float]]) -> str:
    spread = np.std([row["accuracy"] for row in seeds], ddof=1) if len(seeds) > 1 else 0.0
    return f"{_mean(seeds, 'accuracy'):.3f}" + f" +- {spread:.3f}" * (len(seeds) > 1)


def _mean(seeds: list[dict[str, float]], name: str) -> float:
    return float(np.mean([row[name] for row in seeds]))


def tables(rows: Mapping[str, Any]) -> Iterator[Table]:
    names = ["", "accuracy", "best possible", "own part has most attention"]
    yield Table(names, depth_rows(rows), "Depth", "lrrr")
    yield Table(names, depth_rows(rows, "published"), "As published, random first weights", "lrrr")
    yield Table(["texts", *map(str, FEW)], start_rows(rows), "Start", "lrrr")


def show(rows: Mapping[str, Any]) -> None:
    for one in tables(rows):
        print(one.to_text())


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from keeping import keep, kept

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=("run", "keep", "show"))
    parser.add_argument("out", type=Path, nargs="?", default=Path("out"))
    parser.add_argument("--parts", default="depth,start", help="also published: needs a GPU")
    parser.add_argument("--items", type=int, default=N_TRAIN, help="to learn from")
    parser.add_argument("--test-items", type=int, default=N_TEST)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    if given.stage == "run":
        return run(given)
    if given.stage == "keep":
        runs = [json.loads(path.read_text()) for path in sorted(given.out.glob(f"{NAME}-*.json"))]
        rows = {part: runs[n]["rows"][part] for n in range(len(runs)) for part in runs[n]["rows"]}
        keep(NAME, f"gpu/{NAME}.py run OUT", runs[0] | {"rows": rows})
    show(kept(NAME)["rows"])


if __name__ == "__main__":
    main()
