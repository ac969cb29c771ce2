"""A step of the part-of-speech network of Fornaciari et al. (2021), as published and as ours.

    python benchmarks/bench_tagger.py
    python benchmarks/bench_tagger.py --epochs FILE     whole epochs, on a GPU where there is one;
                                                        results/tagger_gpu.json is such a file

Made-up tweets of the size of theirs, 13,000 tokens in file order, in batches of 1,024; the network
with both tasks and all three attention blocks. "published": a plain torch loop over tokens, each
with its sentence padded to 100 words and its own 50 characters; "trimmed": the same, sentences
padded to the longest of the batch; "trimmed, characters too": these as well, which is another
network, since it reads fewer of the zeros behind a word. One thread; processor seconds of a step,
median of alternated runs, which each make the first step of an epoch. Of epochs, seconds by the
clock, the first epoch of each left out. On a GPU a step takes as long as the host needs to ask for
it, in all forms alike; there seeds are trained side by side, in processes (gpu/soft_labels.py).
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.aggregation import SoftmaxVote
from dissensus.contents import Contents
from dissensus.corpus import Focus
from dissensus.methods import SoftLabelMtl
from dissensus.training import Training
from dissensus_papers.encoders.tagger import TaggerEncoder
from keeping import keep, kept

N_TOKENS, N_TWEETS, N_WORDS, N_TAGS, BATCH = 13000, 910, 4000, 12, 1024
Device = Literal["cpu", "cuda"]
MORE: dict[Device, int] = {"cpu": 5, "cuda": 21}  # epochs of ours; the first is left out
TRAINING = Training(
    epochs=1,
    batch_size=BATCH,
    shuffle=False,
    optimiser="adam",
    schedule="constant",
    warm_up=0,
    weight_decay=0,
    clip=math.inf,
    device="cpu",
)


def tweets(seed: int = 0) -> Corpus:
    """Words by Zipf's law, in tweets of 14 words and at most 32, tagged by five people each."""
    generator = np.random.default_rng(seed)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = ["".join(generator.choice(letters, 1 + generator.poisson(3.5))) for _ in range(N_WORDS)]
    often = 1 / np.arange(1, N_WORDS + 1)
    lengths = generator.binomial(32, N_TOKENS / N_TWEETS / 32, N_TWEETS).clip(1)
    texts, start, stop, tweet = [], [], [], []
    for number, length in enumerate(lengths):
        chosen = [words[w] for w in generator.choice(N_WORDS, length, p=often / often.sum())]
        texts.append(" ".join(chosen))
        ends = np.cumsum([len(word) + 1 for word in chosen]) - 1
        stop += ends.tolist()
        start += (ends - [len(word) for word in chosen]).tolist()
        tweet += [number] * length
    item = np.repeat(np.arange(len(tweet)), 5)
    asked = Annotations.from_arrays(
        item,
        np.tile(np.arange(5), len(tweet)),
        generator.integers(0, N_TAGS, len(item)),
        Nominal(tuple(map(str, range(N_TAGS)))),
        items=Names.range(len(tweet)),
    )
    held, code = Contents.distinct("text", texts)
    focus = Focus("text", np.array(start, float)[:, None], np.array(stop, float)[:, None])
    shown = {"text": (held, code[np.array(tweet)])}
    items = Names.range(len(tweet))
    return Corpus.build("tweets", items, {"tag": asked}, contents=shown, focus=focus)


class Published(nn.Module):
    """The network in plain torch: a sentence and its target word for every token."""

    def __init__(self, n_words: int, width: int) -> None:
        super().__init__()
        self.words, self.characters = nn.Embedding(n_words, width), nn.Embedding(512, 64)
        self.of_words = nn.LSTM(width, 256, bidirectional=True, batch_first=True)
        self.of_characters = nn.LSTM(64, 256, bidirectional=True, batch_first=True)
        self.shared, self.hard, self.soft = (self._block() for _ in range(3))
        self.dropout = nn.Dropout(0.1)
        self.outputs = nn.ModuleList(
            nn.Sequential(nn.Linear(1024, 512), nn.Linear(512, N_TAGS)) for _ in range(2)
        )

    def _block(self) -> nn.Module:
        layer = nn.TransformerEncoderLayer(1024, 2, 2048, 0.1, norm_first=True, batch_first=True)
        return nn.TransformerEncoder(layer, 2, nn.LayerNorm(1024), enable_nested_tensor=False)

    def forward(self, words: Tensor, at: Tensor, characters: Tensor) -> tuple[Tensor, Tensor]:
        in_words = self.of_words(self.words(words))[0][torch.arange(len(at)), at]
        spelled = self.of_characters(self.characters(characters))[0][:, -1]
        joined = torch.cat([in_words, spelled], dim=1).unsqueeze(1)  # a sequence of one position
        shared = self.dropout(self.shared(joined))
        branches = zip((self.hard, self.soft), self.outputs, strict=True)
        hard, soft = (output(branch(shared))[:, 0] for branch, output in branches)
        return hard, soft


def published(
    corpus: Corpus,
    tagger: TaggerEncoder,
    sentence: int | None,
    word: int | None,
    device: Device = "cpu",
) -> Callable[[], object]:
    """An epoch of the plain loop, about to begin; padding to the longest of a batch where it is
    None."""
    prepared = tagger.prepare(corpus.contents["text"])
    labels = torch.from_numpy(corpus["tag"].consensus().answer.astype(np.int64)).to(device)
    votes = torch.from_numpy(SoftmaxVote().fit(corpus["tag"]).distribution_).float().to(device)
    assert corpus.focus is not None
    inputs = []
    for first in range(0, corpus.n_items, BATCH):
        rows = slice(first, first + BATCH)
        units = prepared.inputs(corpus.content["text"][rows])
        start = torch.from_numpy(corpus.focus.start[rows].astype(np.float32))
        at = (units.places[:, :, 0, 0] == start).int().argmax(dim=1)
        every = units.units[torch.arange(len(at)), at, 1:]
        words = units.units[..., 0]
        words = words if sentence is None else F.pad(words, (0, sentence - words.shape[1]))
        characters = every[:, : word or int((every > 0).sum(dim=1).max())]
        inputs.append((words.to(device), at.to(device), characters.to(device)))
    table = tagger.network.blocks[0]
    assert isinstance(table, nn.Embedding)
    network = Published(table.num_embeddings, table.embedding_dim).train().to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)

    def epoch() -> None:
        wanted = zip(torch.split(labels, BATCH), torch.split(votes, BATCH), strict=True)
        for batch, (label, vote) in zip(inputs, wanted, strict=True):
            optimiser.zero_grad()
            hard, soft = network(*batch)
            bits = F.kl_div(soft.log_softmax(dim=1), vote, reduction="batchmean") / math.log(2)
            (F.cross_entropy(hard, label) + bits).backward()  # type: ignore[no-untyped-call]
            optimiser.step()

    return epoch


def ours(
    corpus: Corpus, tagger: TaggerEncoder, epochs: int = 1, device: Device = "cpu"
) -> Callable[[], object]:
    """Our epochs, about to begin."""
    name = f"tagger:{tagger.name}"
    training = replace(TRAINING, epochs=epochs, device=device)
    settings = {"encoder": name, "tune": "all", "branch": "attention", "dropout": 0.1}
    method = SoftLabelMtl(**settings, training=training)  # type: ignore[arg-type]
    method.begin_fit(corpus, None, None)
    return method.trainer(corpus, None).train


FORMS: dict[str, tuple[int | None, int | None]] = {  # words and characters that are padded to
    "published": (100, 50),
    "trimmed": (None, 50),
    "trimmed, characters too": (None, None),
}


@contextmanager
def written(corpus: Corpus) -> Iterator[TaggerEncoder]:
    """The network's encoder, with made-up vectors for the words of a corpus."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        texts = corpus.contents["text"].values.to_pylist()
        words = sorted({word for text in texts for word in text.split()})
        rows = np.random.default_rng(0).normal(size=(len(words), 100)).round(4)
        lines = (f"{w} {' '.join(map(str, row))}\n" for w, row in zip(words, rows, strict=True))
        path.write_text("".join(lines))
        yield TaggerEncoder(str(path))


def steps(runs: int) -> dict[str, list[float]]:
    """Processor seconds of each form's first step, alternated."""
    corpus = tweets()
    first = corpus.select(items=np.arange(corpus.n_items) < BATCH)
    times: dict[str, list[float]] = {name: [] for name in ("ours", *FORMS)}
    with written(corpus) as tagger:
        for _ in range(runs):
            for name, found in times.items():
                step = (
                    published(first, tagger, *FORMS[name]) if name in FORMS else ours(first, tagger)
                )
                begin = time.process_time()
                step()
                found.append(time.process_time() - begin)
    return times


def epochs(runs: int, n_tokens: int, device: Device) -> dict[str, list[float]]:
    """Seconds of each form's epochs, the first ones left out, alternated."""
    corpus = tweets()
    corpus = corpus.select(items=np.arange(corpus.n_items) < n_tokens)
    times: dict[str, list[float]] = {name: [] for name in ("ours", *FORMS)}
    with written(corpus) as tagger:
        for _ in range(runs):
            for name, found in times.items():
                if name in FORMS:
                    epoch = published(corpus, tagger, *FORMS[name], device=device)
                    epoch()
                    found.append(timed(epoch, device))
                else:
                    n = MORE[device]
                    one, more = (timed(ours(corpus, tagger, e, device), device) for e in (1, n))
                    found.append((more - one) / (n - 1))
    return times


def timed(work: Callable[[], object], device: Device) -> float:
    def synchronised() -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    begin = synchronised()
    work()
    return synchronised() - begin


def shown(times: dict[str, list[float]], of: str) -> str:
    mine = float(np.median(times["ours"]))
    lines = [f"{'':26} {of:>15} {'of ours':>9}"]
    for name, found in times.items():
        lines.append(f"{name:26} {np.median(found):15.3f} {np.median(found) / mine:9.2f}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--epochs", type=Path, help="whole epochs instead, into this file")
    parser.add_argument("--tokens", type=int, default=N_TOKENS, help="of an epoch")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if given.epochs:
        from dissensus.evaluation import code_commit

        device: Device = "cuda" if torch.cuda.is_available() else "cpu"
        times = epochs(given.runs, given.tokens, device)
        print(shown(times, "seconds an epoch"))
        about = {
            "command": "python benchmarks/bench_tagger.py --epochs FILE",
            "commit": code_commit(),
            "date": datetime.date.today().isoformat(),
            "machine": torch.cuda.get_device_name() if device == "cuda" else platform.machine(),
            "seeds": [0],
            "seconds_an_epoch": times,
        }
        given.epochs.write_text(json.dumps(about, indent=1) + "\n")
        return
    times = steps(given.runs)
    print(shown(times, "seconds a step"), flush=True)
    content = {
        "threads": 1,
        "seeds": [0],
        "batches_per_epoch": math.ceil(N_TOKENS / BATCH),
        "seconds_a_step": times,
    }
    keep("tagger", "bench_tagger.py", content)
    of_gpu = kept("tagger_gpu")
    print(f"kept from {of_gpu['date']}, {of_gpu['machine']}:")
    print(shown(of_gpu["seconds_an_epoch"], "seconds an epoch"))


if __name__ == "__main__":
    main()
