"""A training step compared with a bare torch loop of the same arithmetic.

    python benchmarks/bench_training.py            both networks
    python benchmarks/bench_training.py --quick    only the small one

A 384-256-6 network at batch 32 over frozen features, and MiniLM fine-tuned at 32 x 64 tokens;
one thread, median of alternated runs. The bare loop gets its tensors ready-made: it shuffles,
indexes, standardises, drops out, clips, steps AdamW (fused) along a cosine, and nothing else.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.encoders import TextEncoder
from dissensus.methods import Single
from dissensus.training import Training
from keeping import keep, kept

VALUES = tuple("abcdef")


def corpus_of(contents: tuple[Contents, np.ndarray], role: str, label: np.ndarray) -> Corpus:
    items = Names.range(len(label))
    asked = Annotations.from_arrays(
        np.arange(len(label)), np.zeros(len(label), np.int64), label, Nominal(VALUES), items=items
    )
    return Corpus.build("bench", items, {"q": asked}, contents={role: contents})


def bare_loop(
    network: nn.Module, batch_of: Callable[[Tensor], Tensor], label: Tensor, training: Training
) -> float:
    """Seconds of all steps."""
    optimiser = training.optimise(training.groups(list(network.parameters()), {}))
    n_steps = training.epochs * math.ceil(len(label) / training.batch_size)
    order = np.random.default_rng(training.seed)
    step, total = 0, torch.zeros(())
    begin = time.perf_counter()
    for _ in range(training.epochs):
        shuffled = torch.from_numpy(order.permutation(len(label)))
        for chosen in torch.split(shuffled, training.batch_size):
            done = step / n_steps
            for group in optimiser.param_groups:
                group["lr"] = training.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
            optimiser.zero_grad()
            loss = F.cross_entropy(network(batch_of(chosen)), label[chosen])
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), training.clip)
            optimiser.step()
            total += loss.detach()
            step += 1
    return time.perf_counter() - begin


def ours(method: Single, corpus: Corpus) -> float:
    """Seconds of all steps, as the method's own log has it."""
    return method.fit(corpus).log_.seconds[-1]


def small(epochs: int) -> tuple[Callable[[], float], Callable[[], float], int]:
    """384-256-6 at batch 32."""
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(3200, 384)).astype(np.float32)
    label = generator.integers(0, 6, 3200)
    corpus = corpus_of(Contents.distinct("features", vectors), "x", label)
    training = Training(epochs=epochs, warm_up=0, device="cpu")
    method = Single(encoder="features", hidden=(256,), dropout=0.5, training=training)
    features, target = torch.from_numpy(vectors), torch.from_numpy(label)
    mean, spread = features.mean(dim=0), features.std(dim=0)

    def bare() -> float:
        network = nn.Sequential(
            nn.Dropout(0.5), nn.Linear(384, 256), nn.ReLU(), nn.Dropout(0.5), nn.Linear(256, 6)
        )
        return bare_loop(network, lambda at: (features[at] - mean) / spread, target, training)

    return lambda: ours(method, corpus), bare, epochs * 100


class _Pooled(nn.Module):
    """MiniLM, the mean of its tokens, a linear layer."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.encoder = TextEncoder().trainable()
        self.head = nn.Linear(384, 6)
        self.length = length

    def forward(self, units: Tensor) -> Tensor:
        lengths = torch.full((len(units),), self.length)
        pooled: Tensor = self.encoder(units, lengths).mean(dim=1)
        return F.linear(F.dropout(pooled, 0.5), self.head.weight, self.head.bias)


def minilm(steps: int) -> tuple[Callable[[], float], Callable[[], float], int]:
    """MiniLM fine-tuned, 32 texts of 64 tokens a step."""
    generator = np.random.default_rng(0)
    words = ["day", "sun", "tree", "river", "stone", "house", "road", "bird", "hand", "book"]
    texts = [" ".join(generator.choice(words, 62)) for _ in range(32 * steps)]
    label = generator.integers(0, 6, len(texts))
    contents, codes = Contents.distinct("text", texts)
    corpus = corpus_of((contents, codes), "text", label)
    units = TextEncoder().prepare(contents).inputs(codes).units
    assert units.shape[1] == 64
    training = Training(epochs=1, warm_up=0, device="cpu", learning_rate=5e-5)
    method = Single(tune="all", dropout=0.5, training=training)
    target = torch.from_numpy(label)

    def bare() -> float:
        network = _Pooled(64).train()
        return bare_loop(network, lambda at: units[at], target, training)

    return lambda: ours(method, corpus), bare, steps


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    cases = {"384-256-6, batch 32": small(10)}
    if not given.quick:
        cases["MiniLM fine-tuned, 32 x 64 tokens"] = minilm(6)
    rows = []
    print(f"{'':36} {'ours ms':>9} {'bare ms':>9} {'ratio':>7}")
    for name, (one, other, n_steps) in cases.items():
        one(), other()
        times = [(one() / n_steps * 1000, other() / n_steps * 1000) for _ in range(given.runs)]
        mine, bare = (float(np.median(side)) for side in zip(*times, strict=True))
        print(f"{name:36} {mine:9.3f} {bare:9.3f} {mine / bare:7.2f}", flush=True)
        rows.append({"what": name, "ours_ms": mine, "bare_ms": bare, "runs": times})
    rows += [row for row in kept("training")["rows"] if row["what"] not in cases]
    keep("training", "bench_training.py", {"threads": 1, "seeds": [0], "rows": rows})


if __name__ == "__main__":
    main()
