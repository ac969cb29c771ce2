"""A step of the part-of-speech network of Fornaciari et al. (2021), as published and as ours.

    python benchmarks/bench_tagger.py

Made-up tweets of the size of theirs, 13,000 tokens in file order, in batches of 1,024; the network
with both tasks and all three attention blocks. "published": a plain torch loop over tokens, each
with its sentence padded to 100 words and its own 50 characters; "trimmed": the same, sentences
padded to the longest of the batch; "trimmed, characters too": these as well, which is another
network, since it reads fewer of the zeros behind a word. One thread; processor seconds of a step,
median of alternated runs, which each make the first step of an epoch.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.aggregation import SoftmaxVote
from dissensus.contents import Contents
from dissensus.corpus import Focus
from dissensus.encoders.tagger import TaggerEncoder
from dissensus.methods import SoftLabelMtl
from dissensus.training import Training
from keeping import keep

N_TOKENS, N_TWEETS, N_WORDS, N_TAGS, BATCH = 13000, 910, 4000, 12, 1024
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
    corpus: Corpus, tagger: TaggerEncoder, sentence: int | None, word: int | None
) -> float:
    """Processor seconds of a step; padding to the longest of the batch where it is None."""
    units = tagger.prepare(corpus.contents["text"]).inputs(corpus.content["text"][:BATCH])
    assert corpus.focus is not None
    start = torch.from_numpy(corpus.focus.start[:BATCH].astype(np.float32))
    at = (units.places[:, :, 0, 0] == start).int().argmax(dim=1)
    every = units.units[torch.arange(BATCH), at, 1:]
    words = units.units[..., 0]
    words = words if sentence is None else F.pad(words, (0, sentence - words.shape[1]))
    characters = every[:, : word or int((every > 0).sum(dim=1).max())]
    labels = torch.from_numpy(corpus["tag"].consensus().answer[:BATCH].astype(np.int64))
    votes = torch.from_numpy(SoftmaxVote().fit(corpus["tag"]).distribution_[:BATCH]).float()
    table = tagger.network.blocks[0]
    assert isinstance(table, nn.Embedding)
    network = Published(table.num_embeddings, table.embedding_dim).train()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    begin = time.process_time()
    hard, soft = network(words, at, characters)
    bits = F.kl_div(soft.log_softmax(dim=1), votes, reduction="batchmean") / math.log(2)
    (F.cross_entropy(hard, labels) + bits).backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return time.process_time() - begin


def ours(corpus: Corpus, tagger: TaggerEncoder) -> float:
    """Processor seconds of a step."""
    batch = corpus.select(items=np.arange(corpus.n_items) < BATCH)
    name = f"tagger:{tagger.name}"
    settings = {"encoder": name, "tune": "all", "branch": "attention", "dropout": 0.1}
    method = SoftLabelMtl(**settings, training=TRAINING)  # type: ignore[arg-type]
    method._begin(batch, None, None)
    run = method._run(batch, None)
    begin = time.process_time()
    run.train()
    return time.process_time() - begin


def measured(runs: int) -> dict[str, list[float]]:
    """Seconds of each form's steps."""
    corpus = tweets()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        texts = corpus.contents["text"].values.to_pylist()
        words = sorted({word for text in texts for word in text.split()})
        rows = np.random.default_rng(0).normal(size=(len(words), 100)).round(4)
        lines = (f"{w} {' '.join(map(str, row))}\n" for w, row in zip(words, rows, strict=True))
        path.write_text("".join(lines))
        tagger = TaggerEncoder(str(path))
        forms: dict[str, Callable[[], float]] = {
            "ours": lambda: ours(corpus, tagger),
            "published": lambda: published(corpus, tagger, 100, 50),
            "trimmed": lambda: published(corpus, tagger, None, 50),
            "trimmed, characters too": lambda: published(corpus, tagger, None, None),
        }
        times: dict[str, list[float]] = {name: [] for name in forms}
        for _ in range(runs):
            for name, step in forms.items():
                times[name].append(step())
    return times


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    times = measured(given.runs)
    mine = float(np.median(times["ours"]))
    print(f"{'':26} {'seconds a step':>15} {'of ours':>9}")
    for name, found in times.items():
        print(f"{name:26} {np.median(found):15.2f} {np.median(found) / mine:9.2f}", flush=True)
    content = {
        "threads": 1,
        "seeds": [0],
        "batches_per_epoch": math.ceil(N_TOKENS / BATCH),
        "seconds_a_step": times,
    }
    keep("tagger", "bench_tagger.py", content)


if __name__ == "__main__":
    main()
