"""How long MiniLM takes to encode, beside sentence-transformers, and again from the cache."""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dissensus.contents import Contents
from dissensus.encoders import TextEncoder, encode
from dissensus.encoders.framework.pretrained import minilm_folder
from dissensus.simulate import PRESETS
from keeping import keep

SEED = 0
RUNS = 3
N_TEXTS = 1000  # beside sentence-transformers
N_CACHED = 2000  # a second time, from the cache
THREADS = 1
PEER_BATCHES = 32, 22  # texts: its default, and about as many tokens as ours has in a batch


def texts(number: int) -> Contents:
    contents = PRESETS["text"](n_items=2 * number, seed=SEED).contents["text"]
    return contents.take(np.arange(number))


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def beside_sentence_transformers(n_texts: int, runs: int) -> list[dict[str, Any]]:
    """The mean vector of each text: medians of alternated runs; both check that they agree."""
    from sentence_transformers import SentenceTransformer

    contents = texts(n_texts)
    strings = contents.values.to_pylist()
    ours, theirs = TextEncoder("minilm"), SentenceTransformer(str(minilm_folder()), device="cpu")
    theirs.max_seq_length = ours.max_length
    lengths = np.diff(ours.prepare(contents).offsets)

    def mine() -> np.ndarray:
        return ours.encode(contents).pooled()

    def peer(batch: int) -> np.ndarray:
        return theirs.encode(strings, batch_size=batch, show_progress_bar=False)

    few = contents.take(np.arange(32))
    pooled = ours.encode(few).pooled()
    unit = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)  # as its last module does
    np.testing.assert_allclose(unit, theirs.encode(few.values.to_pylist()), atol=1e-3)
    taken = [
        [seconds(mine), *(seconds(lambda batch=batch: peer(batch)) for batch in PEER_BATCHES)]  # type: ignore[misc]
        for _ in range(runs)
    ]
    medians = [statistics.median(times) for times in zip(*taken, strict=True)]
    return [
        {
            "what": f"encoding, beside sentence-transformers in batches of {batch}",
            "texts": n_texts,
            "tokens": int(lengths.sum()),
            "seconds": medians[0],
            "peer_seconds": of_peer,
            "ratio": of_peer / medians[0],  # above 1: ours is faster
        }
        for batch, of_peer in zip(PEER_BATCHES, medians[1:], strict=True)
    ]


def from_the_cache(n_texts: int, runs: int) -> list[dict[str, Any]]:
    """Encoding into an empty cache, then again by encoders made anew; in the same order, and in
    another one, where vectors are put together from several places."""
    contents = texts(n_texts)
    shuffled = contents.take(np.random.default_rng(SEED).permutation(n_texts))

    def again(asked: Contents) -> float:
        encoder = TextEncoder("minilm")  # the hash of its weights is computed anew
        return seconds(lambda: encode(encoder, asked).pooled())

    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISSENSUS_CACHE"] = folder
        first = again(contents)
        second = statistics.median(again(contents) for _ in range(runs))
        other = statistics.median(again(shuffled) for _ in range(runs))
    return [
        {"what": what, "texts": n_texts, "seconds": t, "peer_seconds": first, "ratio": first / t}
        for what, t in (("from the cache", second), ("from the cache, shuffled", other))
    ]


def main(n_texts: int = N_TEXTS, n_cached: int = N_CACHED, runs: int = RUNS) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    results = beside_sentence_transformers(n_texts, runs) + from_the_cache(n_cached, runs)
    torch.set_num_threads(threads)
    print(f"{'':58}  texts  seconds     beside    ratio")
    for found in results:
        print(
            f"{found['what']:58}  {found['texts']:5}  {found['seconds']:7.3f}  "
            f"{found['peer_seconds']:9.3f}  {found['ratio']:7.2f}"
        )
    content = {
        "torch": torch.__version__,
        "threads": THREADS,
        "seed": SEED,
        "runs": runs,
        "timed": f"median of {runs} alternated runs; the cache beside encoding once",
        "results": results,
    }
    if (n_texts, n_cached, runs) == (N_TEXTS, N_CACHED, RUNS):  # a trial leaves no results
        keep("encoding", "bench_encoding.py", content)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=N_TEXTS)
    parser.add_argument("--cached", type=int, default=N_CACHED)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    main(given.texts, given.cached, given.runs)
