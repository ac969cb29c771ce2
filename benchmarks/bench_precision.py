"""MiniLM in bfloat16 and int8 on a CPU: texts per second, how near vectors are, and what they
predict."""

import statistics
import time
import warnings
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dissensus.encoders import TextEncoder
from dissensus.simulate import PRESETS
from keeping import keep

SEED, RUNS, N_TEXTS, THREADS = 0, 2, 400, 1
KINDS = ("float32", "bfloat16", "int8", "int8, by channel")


def encoder(kind: str) -> TextEncoder:
    """MiniLM with weights of this kind; in int8 its linear layers, with scales by batch."""
    changed = TextEncoder("minilm")
    if kind == "bfloat16":
        changed.network.model.bfloat16()
    elif kind != "float32":
        by_channel = torch.ao.quantization.per_channel_dynamic_qconfig
        layers = {torch.nn.Linear: by_channel} if "channel" in kind else {torch.nn.Linear}
        quantize: Any = torch.ao.quantization.quantize_dynamic
        changed.network.model = quantize(changed.network.model, layers)
    return changed


def main() -> None:
    warnings.simplefilter("ignore")  # quantisation in torch is moving to another package
    torch.set_num_threads(THREADS)
    corpus = PRESETS["text"](n_items=N_TEXTS, seed=SEED)
    (answers,) = corpus.questions.values()
    label = answers.consensus(ties="first")
    contents = corpus.contents["text"].take(corpus.content["text"][label.item])
    encoders = {kind: encoder(kind) for kind in KINDS}
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    vectors = {}
    for _ in range(RUNS):
        for kind, of_kind in encoders.items():
            begin = time.perf_counter()
            vectors[kind] = of_kind.encode(contents).pooled().astype(float)
            times[kind].append(time.perf_counter() - begin)
    rows = []
    for kind, own in vectors.items():
        products = (own * vectors["float32"]).sum(axis=1) / np.linalg.norm(own, axis=1)
        cosine = products / np.linalg.norm(vectors["float32"], axis=1)
        probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
        rows.append(
            {
                "weights": kind,
                "texts_per_second": round(len(own) / statistics.median(times[kind]), 1),
                "mean_cosine": round(float(cosine.mean()), 4),
                "least_cosine": round(float(cosine.min()), 4),
                "probe_accuracy": round(cross_val_score(probe, own, label.answer, cv=5).mean(), 4),
            }
        )
        print(*rows[-1].values(), sep="\t")
    about = {"torch": torch.__version__, "threads": THREADS, "texts": N_TEXTS, "runs": RUNS}
    keep("precision", "bench_precision.py", about | {"seed": SEED, "rows": rows})


if __name__ == "__main__":
    main()
