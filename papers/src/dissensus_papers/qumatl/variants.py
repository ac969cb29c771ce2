"""Models of the paper that are not settings of annotator-queries: its sizes, its model of clips,
and its ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus import Corpus
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorQueries, QueryNet, ReadContents
from dissensus.networks import Dropout, QFormer, interpolated
from dissensus.training import Batch, Network, Sizes

# ---- clips ----

PROJECTION, DROPOUT = 256, 0.3  # what classifiers read, and of their hidden layers


class NormalisedLayer(nn.Module):
    """A hidden layer of each annotator with layer normalisation, over vectors (n_items,
    n_annotators, width)."""

    def __init__(self, n_annotators: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_annotators, width, width) * (2 / width) ** 0.5)
        self.scale = nn.Parameter(torch.ones(n_annotators, width))
        self.shift = nn.Parameter(torch.zeros(n_annotators, width))
        self.dropout = Dropout(DROPOUT)

    def forward(self, vectors: Tensor) -> Tensor:
        products = torch.einsum("naw,asw->nas", vectors, self.weight)
        normalised = F.layer_norm(products, products.shape[-1:]) * self.scale + self.shift
        hidden: Tensor = self.dropout(normalised.relu())
        return hidden


@dataclass(eq=False)
class FrameRead(ReadContents):
    """Summaries of frames."""

    weights: Tensor  # of the positions of each frame, (n_items, n_frames, n_summaries, n_positions)

    def on_positions(self, weight: Tensor) -> Tensor:
        """A summary passes its weight on to the positions that it attends to."""
        n_frames, n_summaries = self.weights.shape[1:3]
        by_frame = weight.view(*weight.shape[:-1], n_frames, n_summaries)
        passed = torch.einsum("nqtc,ntcp->nqtp", by_frame, self.weights).flatten(-2)
        return passed[..., : sum(self.lengths)]


class FrameSummaries(nn.Module):
    """Queries of a first Q-Former see each frame; what they have seen stands for the frame."""

    def __init__(self, method: VideoQueries, source: int) -> None:
        super().__init__()
        self.n_positions = method.frame_positions
        self.qformer = _qformer(method, source)
        self.queries = nn.Parameter(torch.randn(method.frame_queries, method.width))
        self.places = nn.Parameter(0.02 * torch.randn(method.most_frames, method.width))

    def forward(self, read: ReadContents) -> FrameRead:
        n, length, width = read.vectors.shape
        missing = -length % self.n_positions
        vectors = F.pad(read.vectors, (0, 0, 0, missing)).view(-1, self.n_positions, width)
        mask = F.pad(read.mask, (0, missing)).view(-1, self.n_positions)
        seen: Any = self.qformer(self.queries, vectors, mask)
        n_frames, n_summaries = len(vectors) // n, len(self.queries)
        place = torch.arange(n_frames, device=vectors.device).clamp(max=len(self.places) - 1)
        summaries = seen.queries.view(n, n_frames, n_summaries, -1) + self.places[place][:, None]
        there = mask.any(dim=1).view(n, n_frames, 1).expand(-1, -1, n_summaries)
        weights = seen.weights[-1].mean(dim=1).view(n, n_frames, n_summaries, -1)
        return FrameRead(summaries.flatten(1, 2), there.flatten(1, 2), read.lengths, weights)


class VideoNet(QueryNet):
    """Annotators' queries attend to the summaries of frames, one after another."""

    def __init__(self, sizes: Sizes, method: VideoQueries) -> None:
        super().__init__(sizes, method)
        self.frames = FrameSummaries(method, max(sizes.widths.values()))
        self.qformer = _qformer(method, method.width)
        self.projection = nn.Sequential(  # type: ignore[assignment]
            nn.Linear(method.width, PROJECTION), nn.LayerNorm(PROJECTION), Dropout(DROPOUT)
        )
        for classifier in self.classifiers:
            classifier.layer = NormalisedLayer(sizes.n_annotators, PROJECTION)

    def read(self, batch: Batch) -> ReadContents:
        summaries: FrameRead = self.frames(super().read(batch))
        return summaries

    def load_pretrained(self, weights: Mapping[str, Tensor]) -> None:
        """Start the Q-Former of frames from that of InstructBLIP, and the one of annotators from
        that of Video-LLaMA, with its frame positions; whichever are there."""
        video = {k: v for k, v in weights.items() if k.split(".")[0].startswith("video_")}
        others = {k: v for k, v in weights.items() if k not in video}
        loaded: list[bool] = []
        for qformer, own, queries in (
            (self.frames.qformer, others, self.frames.queries), (self.qformer, video, self.queries),
        ):  # fmt: skip
            loaded.append(qformer.load_blip(own))
            tables = [(queries, "query_tokens")]
            tables += [(self.frames.places, "frame_position_embedding.weight")] * (own is video)
            for table, ending in tables:
                learned = next((v for k, v in own.items() if k.endswith(ending)), None)
                if learned is not None:
                    with torch.no_grad():
                        table.copy_(interpolated(learned.float().flatten(0, -2), len(table)))
        if not any(loaded):
            raise ModelError("pretrained: no weights of a Q-Former")


def _qformer(method: AnnotatorQueries, source: int) -> QFormer:
    sizes = (method.layers, method.heads, method.inner, method.cross_every)
    return QFormer(method.width, source, *sizes, method.self_attention, method.layer_dropout)


@dataclass(eq=False)
class VideoQueries(AnnotatorQueries):
    """The model of clips: queries of a first Q-Former summarise the positions of each frame.

    Args:
        frame_queries: summaries of a frame.
        frame_positions: positions of a frame, as the encoder gives them.
        most_frames: with a learned vector for their place; later ones share the last.
    """

    frame_queries: int = 32
    frame_positions: int = 257
    most_frames: int = 96

    def network(self, sizes: Sizes) -> Network:
        if len(sizes.widths) > 1 or not self.independent:
            raise ModelError("clips need one role, and independent annotators")
        return VideoNet(sizes, self)


# ---- ablations ----


@dataclass(eq=False)
class SharedClassifier(AnnotatorQueries):
    """w/ U-cls: one classifier for all annotators."""

    def classifier(self, n_annotators: int) -> Literal["shared"]:
        return "shared"


@dataclass(eq=False)
class LearnedMajority(SharedClassifier):
    """Pre-mv: the majority label of each item is learned, from the mean of all queries."""

    averages: ClassVar[bool] = True

    @property
    def has_prior(self) -> bool:
        return False

    def rows(self, corpus: Corpus) -> Any:
        """The rows with the label of their item as the answer; all rows of an item count as one."""
        table = super().rows(corpus)
        labelled = replace(table, answer={}, weight={})
        for question, answer in table.answer.items():
            labels = corpus[question].consensus()
            of_items = np.zeros(corpus.n_items, answer.dtype)
            of_items[labels.item] = labels.answer
            given = table.weight[question] > 0
            n = np.bincount(table.item, given, corpus.n_items)
            labelled.answer[question] = of_items[table.item]
            labelled.weight[question] = (given / np.maximum(n, 1)[table.item]).astype(np.float32)
        return labelled


@dataclass(eq=False)
class PredictedMajority(AnnotatorQueries):
    """Post-mv: an item's distribution has the shares of its annotators' predicted answers."""

    @property
    def votes(self) -> bool:
        return True
