"""The network of annotator-queries: a query for each annotator attends to the item's contents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.errors import ModelError, listed
from dissensus.methods.framework.annotator_prior import PriorNetwork
from dissensus.methods.framework.density_loss import TEMPERATURE, LearnedTemperature
from dissensus.methods.framework.losses import PENALTY
from dissensus.methods.framework.query_method import QueryMethod
from dissensus.networks.heads import AnnotatorHeads, Head, hidden_layers
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import Dropout
from dissensus.networks.qformer import QFormer, Seen, blip_weights, interpolated
from dissensus.training import Batch, Outputs, Sizes
from dissensus.training.fine_tuning import positions_of_items

TIMES_OF_QUERIES = 2  # the prior's spread, where contents have several positions
CROWD_SPREAD = 0.1  # of first queries in a crowd: few answers change little of the common query


@dataclass(eq=False)
class Read:
    """What queries attend to: the positions of all roles, one role after another."""

    vectors: Tensor  # (n_items, length, width)
    mask: Tensor  # (n_items, length)
    lengths: list[int]  # of each role
    frames: Tensor | None = None  # (n_items, n_frames, n_summaries, positions of a frame)

    def on_positions(self, weight: Tensor) -> Tensor:
        """Weights of the positions, of weights (..., length) of what stands for them: a summary
        passes its weight on to the positions that it attends to."""
        if self.frames is None:
            return weight
        n_frames, n_summaries = self.frames.shape[1:3]
        by_frame = weight.view(*weight.shape[:-1], n_frames, n_summaries)
        passed = torch.einsum("nqtc,ntcp->nqtp", by_frame, self.frames).flatten(-2)
        return passed[..., : sum(self.lengths)]


class RoleVectors(nn.Module):
    """The vectors of a role, standardised, in the width that all roles share.

    Each dimension is standardised by the means of contents, which differ less than positions do;
    then a vector x is divided by sqrt(1 + mean of x**2), so that long ones have about equal lengths
    and short ones stay as they are.

    Args:
        several: whether other roles are read too; then a learned vector says which this is.
        marks: whether a learned vector is added to the positions of an item's focus.
    """

    mean: Tensor
    spread: Tensor

    def __init__(
        self, width: int, source: int, several: bool, marks: bool, standardises: bool
    ) -> None:
        super().__init__()
        self.standardises = standardises
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))
        self.layer = nn.Linear(width, source) if width != source else None
        self.role = nn.Parameter(0.02 * torch.randn(source)) if several else None
        self.mark = nn.Parameter(torch.randn(source) / math.sqrt(source)) if marks else None

    def standardise(self, pooled: Tensor) -> None:
        """Standardise vectors from now on, by the mean and the standard deviation of these."""
        if self.standardises:
            spread = pooled.std(dim=0, correction=0)
            self.mean.copy_(pooled.mean(dim=0))
            self.spread.copy_(torch.where(spread > 1e-6, spread, torch.ones_like(spread)))

    def forward(self, vectors: Tensor, focus: Tensor | None) -> Tensor:
        """Vectors (n_items, length, source) of vectors (n_items, length, width).

        Args:
            focus: the positions to mark, booleans (n_items, length).
        """
        vectors = vectors.to(self.mean.dtype)
        if self.standardises:
            vectors = (vectors - self.mean) / self.spread
            vectors = vectors * (1 + vectors.square().mean(dim=-1, keepdim=True)).rsqrt()
        vectors = vectors if self.layer is None else self.layer(vectors)
        vectors = vectors if self.role is None else vectors + self.role
        if self.mark is None or focus is None:
            return vectors
        return vectors + focus.unsqueeze(-1) * self.mark


class FrameSummaries(nn.Module):
    """Queries of a first Q-Former see each frame; what they have seen stands for the frame."""

    def __init__(self, method: QueryMethod, source: int) -> None:
        super().__init__()
        self.n_positions = method.frame_positions
        self.qformer = _qformer(method, source)
        self.queries = nn.Parameter(torch.randn(method.frame_queries, method.width))
        self.places = nn.Parameter(0.02 * torch.randn(method.most_frames, method.width))

    def forward(self, read: Read) -> Read:
        n, length, width = read.vectors.shape
        missing = -length % self.n_positions
        vectors = F.pad(read.vectors, (0, 0, 0, missing)).view(-1, self.n_positions, width)
        mask = F.pad(read.mask, (0, missing)).view(-1, self.n_positions)
        seen: Seen = self.qformer(self.queries, vectors, mask)
        n_frames = len(vectors) // n
        place = torch.arange(n_frames, device=vectors.device).clamp(max=len(self.places) - 1)
        summaries = seen.queries.view(n, n_frames, len(self.queries), -1)
        placed = summaries + self.places[place][:, None]
        there = mask.any(dim=1).view(n, n_frames, 1).expand(-1, -1, len(self.queries))
        weights = seen.weights[-1].mean(dim=1).view(n, n_frames, len(self.queries), -1)
        return Read(placed.flatten(1, 2), there.flatten(1, 2), read.lengths, weights)


class OwnLayers(nn.Module):
    """Hidden layers of each annotator, over the vectors of all annotators (n_items, n_annotators,
    width)."""

    def __init__(
        self,
        n_annotators: int,
        width: int,
        hidden: tuple[int, ...],
        dropout: float,
        norms: bool = False,
    ) -> None:
        super().__init__()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        self.scales, self.shifts = nn.ParameterList(), nn.ParameterList()
        self.dropouts = nn.ModuleList(Dropout(dropout) for _ in hidden)
        for before, size in zip([width, *hidden], hidden, strict=False):
            limit = 1 / math.sqrt(before)  # as torch draws a linear layer
            weight = torch.empty(n_annotators, size, before).uniform_(-limit, limit)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(n_annotators, size)))
            if norms:
                self.scales.append(nn.Parameter(torch.ones(n_annotators, size)))
                self.shifts.append(nn.Parameter(torch.zeros(n_annotators, size)))

    def forward(self, vectors: Tensor) -> Tensor:
        for number, dropout in enumerate(self.dropouts):
            products = torch.einsum("naw,asw->nas", vectors, self.weights[number])
            vectors = products + self.biases[number]
            if self.scales:
                vectors = F.layer_norm(vectors, vectors.shape[-1:])
                vectors = vectors * self.scales[number] + self.shifts[number]
            vectors = dropout(vectors.relu())
        return vectors


class Classifier(nn.Module):
    """The outputs of one question: hidden layers, and a head of all annotators or of each."""

    def __init__(self, sizes: Sizes, question: str, method: QueryMethod, width: int) -> None:
        super().__init__()
        n_annotators, family = sizes.n_annotators, likelihood(sizes.scales[question])
        hidden = (*method.hidden, *method.question_hidden)
        start, further = sizes.start.get(question), method.further_dropout
        kind = method.classifier_of(n_annotators)
        self.layers: nn.Module = hidden_layers(width, hidden, further)
        if hidden and kind == "own":
            self.layers = OwnLayers(n_annotators, width, hidden, further, method.layer_norms)
        last = [width, *hidden][-1]
        self.head: Head | AnnotatorHeads
        if kind == "shared":
            self.head = Head(last, family, None if start is None else start[0])
            return
        rank = method.rank if kind == "low-rank" else 0
        common = method.common or kind == "low-rank"
        self.head = AnnotatorHeads(n_annotators, last, family, start, common, rank)

    def forward(self, features: Tensor, rows: Rows, embedding: Tensor | None) -> Tensor:
        """Raw outputs of rows, of features (n_items, n_queries, width)."""
        of_rows = rows.of(self.layers(features))
        if isinstance(self.head, Head):
            return self.head(of_rows)
        number = torch.arange(len(of_rows), device=of_rows.device)
        raw: Tensor = self.head(of_rows, number, rows.annotator, embedding)
        return raw


@dataclass(eq=False)
class Rows:
    """Where each row's query is among those of all items, (n_rows,) each."""

    place: Tensor  # the item's number times `n_queries`, and that of the query
    annotator: Tensor  # codes
    n_queries: int  # of each item
    code: Tensor | None = None  # (n_items, n_queries) the annotator of each query, of a crowd

    def of(self, queries: Tensor) -> Tensor:
        """The row of each of the queries (n_items, n_queries, width)."""
        return queries.flatten(0, 1)[self.place]


class QueryNet(PriorNetwork):
    """One query per annotator, a Q-Former, a projection and classifiers."""

    def __init__(self, sizes: Sizes, method: QueryMethod) -> None:
        super().__init__()
        self.roles, self.questions = tuple(sizes.widths), tuple(sizes.scales)
        self.temperature = LearnedTemperature() if method.learn_temperature else None
        self.most, self.reads = method.most_, method.reads
        self.averages = method.learn == "majority"
        source, several = max(sizes.widths.values()), len(sizes.widths) > 1
        self.readers: list[RoleVectors] = nn.ModuleList(  # type: ignore[assignment]
            RoleVectors(width, source, several, method.reads == "content", method.standardise)
            for width in sizes.widths.values()
        )
        n_annotators, width = sizes.n_annotators, method.width
        self.is_crowd = n_annotators > method.panel
        spread = CROWD_SPREAD if self.is_crowd and method.common else 1.0
        first = 0.0 if method.has_prior else spread  # with a prior, all begin as the common query
        self.queries = nn.Parameter(first * torch.randn(n_annotators, width))
        self.add_prior(method)
        self.common = nn.Parameter(torch.randn(width)) if method.common else None
        landmarks = torch.randn(method.panel, width)
        self.landmarks = (
            nn.Parameter(landmarks) if self.is_crowd and method.self_attention else None
        )
        self.frames = FrameSummaries(method, source) if method.frame_queries else None
        self.qformer = _qformer(method, width if method.frame_queries else source)
        self.vector_dropout = Dropout(method.vector_dropout)
        self.projection = _projection(method) if method.projection else None
        self.normalises, self.dropout = method.normalise, Dropout(method.dropout)
        if method.classifier_of(n_annotators) == "low-rank":
            embedding = torch.randn(n_annotators, method.rank) / math.sqrt(method.rank)
            self.embedding = nn.Parameter(embedding)
        self.classifiers: list[Classifier] = nn.ModuleList(  # type: ignore[assignment]
            Classifier(sizes, question, method, method.projection or width)
            for question in sizes.scales
        )

    def load_pretrained(self, weights: Mapping[str, Tensor]) -> None:
        """Start from the Q-Former of BLIP-2 or InstructBLIP; its queries are interpolated."""
        renamed = blip_weights(weights)
        qformer, queries = self.qformer, self.queries
        if self.frames is not None:
            qformer, queries = self.frames.qformer, self.frames.queries
        wrong = qformer.load_state_dict(renamed, strict=False) if renamed else None
        if wrong is None or wrong.missing_keys or wrong.unexpected_keys:
            names = [*wrong.missing_keys, *wrong.unexpected_keys] if wrong else []
            raise ModelError(
                "pretrained: not the weights of a Q-Former with these layers"
                + (f" ({listed(names, 3)})" if names else "")
            )
        tokens = next((v for name, v in weights.items() if name.endswith("query_tokens")), None)
        if tokens is not None:
            with torch.no_grad():
                queries.copy_(interpolated(tokens.float().squeeze(0), len(queries)))

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        for role, reader in zip(self.roles, self.readers, strict=True):
            reader.standardise(pooled[role])

    def tables(self) -> list[nn.Parameter]:
        if not self.is_crowd:
            return []  # every annotator of a panel is read, whoever answers
        own = [c.head.tables() for c in self.classifiers if isinstance(c.head, AnnotatorHeads)]
        embeddings = [self.embedding] if hasattr(self, "embedding") else []
        return [self.queries, *embeddings, *(table for tables in own for table in tables)]

    def forward(self, batch: Batch) -> Outputs:
        rows, read = self.rows_of(batch), self.read(batch)
        features = self.features(self.seen(read, rows).queries)
        embedding = self._embedding(rows.annotator)
        answers = {
            question: classifier(features, rows, embedding)
            for question, classifier in zip(self.questions, self.classifiers, strict=True)
        }
        if self.precision and self.training:
            for number, question in enumerate(self.questions):
                squares = self._squares(number, batch.annotators, read.mask.shape[1])
                answers[f"{question}{PENALTY}"] = self.row_penalty(number, squares, batch)
        if self.temperature is None:
            return Outputs(rows=answers)
        return Outputs(rows=answers, items={TEMPERATURE: self.temperature(len(batch.items))})

    def _embedding(self, annotators: Tensor) -> Tensor | None:
        """The weights of the basis heads of these annotators, if heads are low-rank."""
        return self.embedding[annotators] if hasattr(self, "embedding") else None

    def _squares(self, number: int, annotators: Tensor, n_positions: int) -> Tensor:
        """The squared deviations of these annotators from what all share, (n_annotators,): of
        their heads for a question, and a share of those of their queries, which all questions
        have in common. Queries that choose between positions may deviate more than those that
        only shift the answers."""
        squares = self.queries[annotators].square().sum(dim=-1) / len(self.questions)
        if n_positions > 1:
            squares = squares / TIMES_OF_QUERIES**2
        head = self.classifiers[number].head
        if not isinstance(head, AnnotatorHeads):
            return squares
        return squares + head.squares(annotators, self._embedding(annotators))

    def features(self, queries: Tensor) -> Tensor:
        """What classifiers read, (n_items, n_queries, width)."""
        if self.averages:
            queries = queries.mean(dim=1, keepdim=True).expand_as(queries)
        if self.projection is not None:
            queries = self.projection(queries)
        return self.dropout(F.normalize(queries, dim=-1) if self.normalises else queries)

    def seen(self, read: Read, rows: Rows) -> Seen:
        """What the queries of each item see."""
        queries = self.queries if rows.code is None else self.queries[rows.code]
        if self.common is not None:
            queries = queries + self.common
        seen: Seen = self.qformer(queries, read.vectors, read.mask, self.landmarks)
        return seen

    def attention(self, batch: Batch) -> dict[str, Tensor]:
        """By role, the weights of each row, (n_rows, length): the mean over the heads of the last
        layer that attends to contents. They sum to 1 over the positions of a role, unless they are
        all 0."""
        read, rows = self.read(batch), self.rows_of(batch)
        weight = self.seen(read, rows).weights[-1].mean(dim=1)  # (n_items, n_queries, length)
        weight = read.on_positions(weight)
        of_rows = torch.split(rows.of(weight), read.lengths, dim=1)
        tiny = torch.finfo(weight.dtype).tiny
        return {
            role: part / part.sum(dim=1, keepdim=True).clamp(min=tiny)
            for role, part in zip(self.roles, of_rows, strict=True)
        }

    def read(self, batch: Batch) -> Read:
        """The vectors of all roles, one after another."""
        vectors, masks = [], []
        for role, reader in zip(self.roles, self.readers, strict=True):
            sequence, content = batch.sequence[role], batch.content[role]
            focus = batch.focus.get(role)
            chosen = positions_of_items(sequence, content, focus)
            mask = chosen
            if self.reads == "content" and focus is not None:
                mask = positions_of_items(sequence, content, None)
            own = sequence.vectors[content.clamp(min=0)]
            vectors.append(reader(own, None if focus is None else chosen))
            masks.append(mask)
        lengths = [mask.shape[1] for mask in masks]
        joined, mask = vectors[0], masks[0]
        if len(masks) > 1:
            joined, mask = torch.cat(vectors, dim=1), torch.cat(masks, dim=1)
        if self.training and self.vector_dropout.p:
            joined = joined * self.vector_dropout(torch.ones_like(joined[:, 0])).unsqueeze(1)
        read = Read(joined, mask, lengths)
        return read if self.frames is None else self.frames(read)

    def rows_of(self, batch: Batch) -> Rows:
        """Where each row's query is: among those of all annotators, or in a crowd, among those of
        the annotators of its item."""
        item, annotator = batch.rows.item, batch.annotators[batch.rows.annotator]
        if not self.is_crowd:
            n_annotators = len(self.queries)
            return Rows(item * n_annotators + annotator, annotator, n_annotators)
        number = torch.arange(len(item), device=item.device)
        before = torch.cat([torch.full_like(item[:1], -1), item[:-1]])
        first = torch.where(item != before, number, 0).cummax(dim=0).values
        nth = number - first  # among the rows of an item, which are next to one another
        if self.training:
            n_queries = self.most
            answered = torch.stack(list(batch.rows.weight.values())).sum(dim=0) > 0
            nth = torch.where(answered, nth, n_queries)  # in a stack, the rest is padding
        else:
            n_queries = int(nth.max()) + 1
        last = len(batch.items) * n_queries  # for what is left out
        place = torch.where(nth < n_queries, item * n_queries + nth, last)
        code = torch.zeros(last + 1, dtype=annotator.dtype, device=item.device)
        code = code.scatter(0, place, annotator)[:-1].view(-1, n_queries)
        return Rows(place.clamp(max=last - 1), annotator, n_queries, code)


def _qformer(method: QueryMethod, source: int) -> QFormer:
    return QFormer(
        method.width,
        source,
        method.layers,
        method.heads,
        method.inner,
        method.cross_every,
        method.self_attention,
        method.layer_dropout,
    )


def _projection(method: QueryMethod) -> nn.Module:
    linear = nn.Linear(method.width, method.projection)
    if not method.layer_norms and not method.projection_dropout:
        return linear
    norm = nn.LayerNorm(method.projection) if method.layer_norms else nn.Identity()
    return nn.Sequential(linear, norm, Dropout(method.projection_dropout))
