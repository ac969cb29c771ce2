"""MiniLM goes on learning to fill in words, in tweets that nobody tagged, before it learns tags.

The texts that `pack` puts into the kit are tweets and posts without a word of the test part. Some
words of each are hidden, others every time, and a head that is thrown away afterwards guesses them
(Devlin et al. 2019; on texts like those of a task: Gururangan et al. 2020). Stage `adapt` of
pos_tweets.py makes an encoder for each entry of ADAPTED; which one is read is chosen on the
development part, like every other setting (pos_teachers.py).
"""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pos_methods import KIT
from torch import Tensor, nn

TEXTS = KIT / "adapt.txt.gz"
ADAPTED = tuple(
    {"masked_epochs": epochs, "masked_rate": rate}
    for epochs, rate in itertools.product((20, 5), (1e-4, 4e-4))  # the long ones begin first
)
LONGER = tuple(
    {"masked_epochs": epochs, "masked_rate": rate, "masked_batch": 16384}
    for epochs, rate in itertools.product((120, 60), (2e-4, 4e-4))
)
MORE_SOURCES = ("MD-Agreement_dev.json", "HS-Brexit_dev.json")  # of lewidi2023, tweets too
LONGEST = 48  # tokens of a text; what is behind them is left out
HELD_OUT = 0.02  # of the texts
CHOSEN, HIDDEN, REPLACED = 0.15, 0.8, 0.1  # of all tokens; of those that are chosen
PIECES = 128  # that are read of a text
BATCH = 4096  # pieces, about, where settings say nothing else
HEAD_RATE = 1e-3  # of the head, which begins from chance


# ---- texts ----


def texts(data: Path, corpus: Any) -> list[str]:
    """Tweets and posts, tokens between blanks, none of which stands in the test part or among the
    tweets of two experts, of which many do.

    Args:
        corpus: pos_tweets; of its texts those of the training and the development part are taken.
    """
    from tweet_tokens import SOURCES, tokens, unlabelled

    from dissensus import datasets

    experts = datasets.load(data / "pos_tweets", "plank2014")
    unseen = {text.lower() for part in (experts, corpus.part("test")) for text in _texts(part)}
    every = 10**6
    found = unlabelled(data / "lewidi2023", every, 0, (*SOURCES, *MORE_SOURCES), LONGEST)
    found += [tokens(text)[:LONGEST] for text in _texts(datasets.load(data / "toxic_spans"))]
    joined = [" ".join(words) for words in found if len(words) > 1]
    joined += _texts(corpus.part("train")) + _texts(corpus.part("dev"))
    return [text for text in dict.fromkeys(joined) if text.lower() not in unseen]


def _texts(corpus: Any) -> list[str]:
    content = np.unique(corpus.content["text"])
    return [corpus.contents["text"][int(number)] for number in content]


def write(path: Path, given: list[str]) -> None:
    """A text per line; those that begin alike stand together, and take less."""
    path.write_bytes(gzip.compress("\n".join(sorted(given)).encode(), mtime=0))


def read(small: int = 0) -> list[str]:
    """The texts of the kit, in an order of chance; a trial in miniature takes a few."""
    found = gzip.decompress(TEXTS.read_bytes()).decode().split("\n")
    order = np.random.default_rng(0).permutation(len(found))
    return [found[number] for number in (order[: 4 * small] if small else order)]


# ---- hiding words ----


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Numbers of pieces: those that stand for nothing in a text are never hidden."""

    size: int
    mask: int
    padding: int
    special: tuple[int, ...]  # mask and padding too

    @classmethod
    def of(cls, tokenizer: Any) -> Vocabulary:
        special = tuple(sorted(tokenizer.all_special_ids))
        return cls(len(tokenizer), tokenizer.mask_token_id, tokenizer.pad_token_id, special)

    def hidden(self, pieces: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Texts with some pieces chosen by chance, most of them hidden and some replaced, and which
        are to be guessed; both (n_texts, n_pieces)."""
        special = torch.tensor(self.special, device=pieces.device)

        def chance() -> Tensor:
            return torch.rand(pieces.shape, generator=generator, device=pieces.device)

        chosen = (chance() < CHOSEN) & ~torch.isin(pieces, special)
        what = chance()
        ordinary = torch.arange(self.size, device=pieces.device)
        ordinary = ordinary[~torch.isin(ordinary, special)]
        other = ordinary[(chance() * len(ordinary)).long()]
        shown = torch.where(chosen & (what < HIDDEN), self.mask, pieces)
        return torch.where(chosen & (what >= 1 - REPLACED), other, shown), chosen


def batches(
    lengths: np.ndarray, generator: np.random.Generator, size: int = BATCH
) -> list[np.ndarray]:
    """Texts of like length together, about `size` pieces at a time, in an order of chance."""
    order = np.lexsort((generator.random(len(lengths)), lengths))
    number = np.cumsum(lengths[order]) // size
    cut = np.split(order, np.flatnonzero(np.diff(number)) + 1)
    return [cut[place] for place in generator.permutation(len(cut))]


# ---- learning ----


class Guesser(nn.Module):
    """An encoder, and a head that guesses pieces by the encoder's own vectors of them."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        config = encoder.config
        width = config.hidden_size
        self.encoder = encoder
        self.head = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width, config.layer_norm_eps)
        )
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, shown: Tensor, present: Tensor, wanted: Tensor) -> Tensor:
        """Logits of the pieces that are wanted, (n_wanted, n_vocabulary)."""
        vectors = self.encoder(shown, attention_mask=present).last_hidden_state[wanted]
        pieces: Tensor = self.encoder.get_input_embeddings().weight
        return nn.functional.linear(self.head(vectors), pieces, self.bias)


@dataclass(eq=False)
class Texts:
    """Texts as numbers of pieces, where the network is."""

    pieces: Tensor  # (n_texts, longest), padded
    lengths: np.ndarray  # (n_texts,)
    vocabulary: Vocabulary

    @classmethod
    def of(cls, given: list[str], tokenizer: Any, device: torch.device) -> Texts:
        found = tokenizer(
            given, truncation=True, max_length=PIECES, padding=True, return_tensors="np"
        )
        pieces = torch.tensor(found["input_ids"], device=device)
        return cls(pieces, found["attention_mask"].sum(axis=1), Vocabulary.of(tokenizer))

    def loss(self, network: Guesser, rows: np.ndarray, generator: torch.Generator) -> Tensor:
        """Cross-entropy of pieces that are hidden in these texts."""
        here = torch.from_numpy(rows).to(self.pieces.device)
        pieces = self.pieces[here, : int(self.lengths[rows].max())]
        shown, wanted = self.vocabulary.hidden(pieces, generator)
        with torch.autocast("cuda", torch.bfloat16, enabled=pieces.is_cuda):
            logits = network(shown, pieces != self.vocabulary.padding, wanted)
        return nn.functional.cross_entropy(logits.float(), pieces[wanted])

    @torch.no_grad()
    def held_out_loss(self, network: Guesser) -> float:
        """The mean over batches, the same pieces hidden every time."""
        network.eval()
        generator = torch.Generator(self.pieces.device).manual_seed(1)
        every = batches(self.lengths, np.random.default_rng(1))
        found = [float(self.loss(network, rows, generator)) for rows in every]
        network.train()
        return float(np.mean(found))


def learn(network: Guesser, learned: Texts, epochs: int, rate: float, size: int = BATCH) -> int:
    """Train; the rate rises for a sixteenth of all steps, and falls then. The number of steps."""
    device = learned.pieces.device
    torch.manual_seed(0)  # of dropout
    order, generator = np.random.default_rng(0), torch.Generator(device).manual_seed(0)
    steps = [rows for _ in range(epochs) for rows in batches(learned.lengths, order, size)]
    head = [*network.head.parameters(), network.bias]
    groups = [
        {"params": network.encoder.parameters(), "lr": rate},
        {"params": head, "lr": HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=device.type == "cuda")
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warmed_up(len(steps)))
    network.train()
    for rows in steps:
        optimizer.zero_grad()
        learned.loss(network, rows, generator).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return len(steps)


def warmed_up(n_steps: int) -> Callable[[int], float]:
    rising = max(1, n_steps // 16)
    return lambda step: min((step + 1) / rising, (n_steps - step) / max(1, n_steps - rising))


def save(encoder: Any, folder: Path, source: Path) -> None:
    """The encoder in half precision, and how `source` cuts texts, as transformers reads them."""
    encoder.half().save_pretrained(folder)
    for path in (*source.glob("tokenizer*"), *source.glob("special_tokens*")):
        shutil.copy(path, folder / path.name)


def adapt(settings: dict[str, Any], small: int, folder: Path) -> None:
    """An encoder that learned the texts of the kit; its loss on held-out ones, before and after."""
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    torch.set_num_threads(1)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    begin = time.perf_counter()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    source, every = KIT / "minilm", read(small)
    n_held = max(8, round(HELD_OUT * len(every)))
    tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    held, learned = (Texts.of(some, tokenizer, device) for some in (every[:n_held], every[n_held:]))
    torch.manual_seed(0)  # of the head's first weights
    encoder = AutoModel.from_pretrained(source, trust_remote_code=False)
    network = Guesser(encoder.float()).to(device)
    losses = [held.held_out_loss(network)]
    epochs, size = settings["masked_epochs"], settings.get("masked_batch", BATCH)
    steps = learn(network, learned, 1 if small else epochs, settings["masked_rate"], size)
    losses.append(held.held_out_loss(network))
    save(network.encoder, folder, source)
    about = settings | {"texts": len(every) - n_held, "steps": steps, "held_out_loss": losses}
    about["seconds"] = round(time.perf_counter() - begin, 1)
    (folder / "adapted.json").write_text(json.dumps(about))
    print(f"held-out loss {losses[0]:.3f}, then {losses[1]:.3f}: {about}", flush=True)
