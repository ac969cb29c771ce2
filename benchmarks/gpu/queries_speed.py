"""How fast annotator queries of the published sizes are, on features that are already encoded.

    python benchmarks/gpu/queries_speed.py OUT           about a minute on a GPU
    python benchmarks/gpu/queries_speed.py OUT --tiny    to try the script on a CPU
    python benchmarks/gpu/queries_speed.py --show        what was kept last

Ten annotators, 257 random vectors 1,408 wide for each item, as EVA-CLIP gives them, in bf16. Items
per second, of the answers of all annotators:

- together: one pass with a query for each annotator;
- one at a time: the same answers, with a pass of the same model for each annotator;
- alone: a pass for each annotator with this query only, as ten models of one annotator would;
- alone, as usual: the same, with keys and values of all positions computed in every pass, as
  transformers does.

Also a step of training, the share of the chip's peak (products counted by torch, 989 TFLOP/s of an
H200 in bf16), and memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from dissensus.methods import AnnotatorQueries
from dissensus.methods.annotator_queries import QueryNet, QueryRows, ReadContents
from dissensus.networks import qformer
from dissensus.networks.noise import draw_by_key, drawing
from dissensus.scales import Nominal
from dissensus.tables import Table
from dissensus.training import Sizes

sys.path.insert(0, str(Path(__file__).parents[1]))
from keeping import kept  # noqa: E402

PEAK = 989e12  # products and sums a second, bf16, of an H200
N_ANNOTATORS, N_VALUES, RUNS = 10, 6, 5
COUNTED = 64  # items whose products are counted, which needs memory for gradients


def network_of(device: torch.device, tiny: bool) -> tuple[QueryNet, int, int]:
    """The network, and the length and width of sequences."""
    length, width = (9, 16) if tiny else (257, 1408)
    small: dict[str, Any] = {"layers": 2, "heads": 2, "width": 16, "inner": 8}
    model = AnnotatorQueries.published(**small if tiny else {})
    values = Nominal(tuple(f"v{number}" for number in range(N_VALUES)))
    torch.manual_seed(0)
    network = QueryNet(Sizes({"q": values}, N_ANNOTATORS, {"image": width}), model)
    return draw_by_key(network).to(device, torch.bfloat16).eval(), length, width


def together(network: QueryNet, vectors: Tensor, annotators: range) -> Tensor:
    """The answers of these annotators to all items, (n_items * n_annotators, n_values)."""
    n, device = len(vectors), vectors.device
    mask = torch.ones(vectors.shape[:2], dtype=torch.bool, device=device)
    codes = torch.arange(annotators.start, annotators.stop, device=device)
    place = (torch.arange(n, device=device)[:, None] * N_ANNOTATORS + codes).flatten()
    rows = QueryRows(place, codes.repeat(n), N_ANNOTATORS)
    features = network.features(
        network.seen(ReadContents(vectors, mask, [mask.shape[1]]), rows).queries
    )
    return network.classifiers[0](features, rows, None)


def one_at_a_time(network: QueryNet, vectors: Tensor) -> None:
    for annotator in range(N_ANNOTATORS):
        together(network, vectors, range(annotator, annotator + 1))


def alone(network: QueryNet, vectors: Tensor) -> None:
    mask = torch.ones(vectors.shape[:2], dtype=torch.bool, device=vectors.device)
    for annotator in range(N_ANNOTATORS):
        seen = network.qformer(network.queries[annotator : annotator + 1], vectors, mask).queries
        features = network.features(seen).expand(-1, N_ANNOTATORS, -1)
        place = torch.arange(len(vectors), device=vectors.device) * N_ANNOTATORS + annotator
        rows = QueryRows(place, torch.full_like(place, annotator), N_ANNOTATORS)
        network.classifiers[0](features, rows, None)


def as_usual(network: QueryNet, vectors: Tensor) -> None:
    with patch.object(qformer._Attention, "_folds", lambda *_: False):
        alone(network, vectors)


def train(network: QueryNet, vectors: Tensor) -> None:
    network.train()
    with drawing(1):
        logits = together(network, vectors, range(N_ANNOTATORS))
    torch.nn.functional.cross_entropy(
        logits.float(), torch.zeros_like(logits[:, 0]).long()
    ).backward()  # type: ignore[no-untyped-call]
    network.zero_grad()
    network.eval()


def seconds_of(run: Callable[[], Any], device: torch.device) -> float:
    """The median time of a run."""
    taken = []
    for _ in range(RUNS + 2):
        _wait(device)
        begin = time.perf_counter()
        run()
        _wait(device)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken[2:])


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def products(run: Callable[[], Any]) -> int:
    """Floating point operations of the matrix products of a run."""
    with torch.enable_grad(), FlopCounterMode(display=False) as counter:  # it needs gradients
        run()
    return int(counter.get_total_flops())


def show() -> None:
    """Print items a second, and the share of the chip's peak, as they were kept."""
    content = kept("queries_speed")
    kinds: dict[str, dict[int, str]] = {row["kind"]: {} for row in content["rows"]}
    for row in content["rows"]:
        kinds[row["kind"]][row["items"]] = (
            f"{row['items a second']:,.0f} ({row['share of peak']:.0%})"
        )
    sizes = list(dict.fromkeys(row["items"] for row in content["rows"]))
    print(f"Items a second (share of the peak), {content['machine']}")
    lines = [[kind, *(cells.get(size, "") for size in sizes)] for kind, cells in kinds.items()]
    print(Table(["", *(f"batches of {size:,}" for size in sizes)], lines).to_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.show:
        return show()
    if given.out is None:
        parser.error("name a folder, or --show")
    given.out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network, length, width = network_of(device, given.tiny)
    kinds: dict[str, Callable[[QueryNet, Tensor], Any]] = {
        "together": lambda model, given: together(model, given, range(N_ANNOTATORS)),
        "one at a time": one_at_a_time,
        "alone": alone,
        "alone, as usual": as_usual,
        "a step of training": train,
    }
    rows: list[dict[str, Any]] = []
    for n_items in (4, 8) if given.tiny else (1, 64, 512, 2048):
        vectors = torch.randn(n_items, length, width, device=device, dtype=torch.bfloat16)
        for name, kind in kinds.items():
            with torch.set_grad_enabled(name.endswith("training")):
                seconds = seconds_of(lambda: kind(network, vectors), device)  # noqa: B023
                few = vectors[:COUNTED]
                flops = products(lambda: kind(network, few)) * n_items / len(few)  # noqa: B023
            row = {"items": n_items, "kind": name, "items a second": round(n_items / seconds, 1)}
            row |= {"TFLOP/s": round(flops / seconds / 1e12, 1)}
            row |= {"share of peak": round(flops / seconds / PEAK, 3)}
            rows.append(row)
            print(json.dumps(row), flush=True)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    about = {"device": str(device), "parameters": parameters, "annotators": N_ANNOTATORS}
    if device.type == "cuda":
        about |= {"name": torch.cuda.get_device_name()}
        about |= {"GiB": round(torch.cuda.max_memory_allocated() / (1 << 30), 2)}
    (given.out / "queries_speed.json").write_text(json.dumps(about | {"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
