"""A query for each annotator, which attends to the contents of an item."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.annotator_method import PriorNetwork, annotator_biases
from dissensus.methods.framework.losses import PENALTY, answer_losses, penalised
from dissensus.methods.framework.settings import Choices
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.networks.heads import AnnotatorHeads, Head
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import Dropout
from dissensus.networks.qformer import QFormer, Seen, interpolated
from dissensus.prediction import Attention, Predictions
from dissensus.training import Batch, Examples, Loss, Network, Outputs, Sizes, Training
from dissensus.training.examples import Table, batches
from dissensus.training.fine_tuning import FineTunedNetwork, positions_of_items
from dissensus.training.loop import Trainer

NUMBERS_AT_ONCE = 1 << 26  # of the vectors of a batch, in a prediction
ATTENTION_AT_ONCE = 256  # items
TIMES_OF_QUERIES = 2  # the prior's spread, where contents have several positions
PROJECTION = 256  # numbers of a query that independent classifiers read, and of their hidden layer
HIDDEN_DROPOUT = 0.3  # of that layer
CROWD_SPREAD = 0.1  # of first queries in a crowd: few answers change little of the common query
ClassifierKind = Literal["own", "low-rank", "shared"]


@dataclass(eq=False)
class ReadContents:
    """What queries attend to: the positions of all roles, one role after another."""

    vectors: Tensor  # (n_items, length, width)
    mask: Tensor  # (n_items, length)
    lengths: list[int]  # of each role

    def on_positions(self, weight: Tensor) -> Tensor:
        """The weights of positions, of weights of what is attended to, which may stand for them."""
        return weight


class RoleVectors(nn.Module):
    """The vectors of a role, standardised, in the width that all roles share.

    Each dimension is standardised by the means of contents, which differ less than positions do;
    then a vector x is divided by sqrt(1 + mean of x**2), so that long ones have about equal lengths
    and short ones stay as they are.

    Args:
        several: whether other roles are read too; then a learned vector says which this is.
        method: says whether a learned vector is added to the positions of an item's focus, and to
            how many positions one for their place.
    """

    mean: Tensor
    spread: Tensor

    def __init__(self, width: int, source: int, several: bool, method: AnnotatorQueries) -> None:
        super().__init__()
        self.standardises = not method.independent
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))
        self.layer = nn.Linear(width, source) if width != source else None
        self.role = nn.Parameter(0.02 * torch.randn(source)) if several else None
        marks = method.reads == "content"
        self.mark = nn.Parameter(torch.randn(source) / math.sqrt(source)) if marks else None
        n = method.positions
        self.places = nn.Parameter(0.02 * torch.randn(n, source)) if n else None

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
        if self.places is not None:
            place = torch.arange(vectors.shape[1], device=vectors.device)
            vectors = vectors + self.places[place.clamp(max=len(self.places) - 1)]
        if self.mark is None or focus is None:
            return vectors
        return vectors + focus.unsqueeze(-1) * self.mark


class OwnLayer(nn.Module):
    """A hidden layer of each annotator, over the vectors of all annotators (n_items, n_annotators,
    width)."""

    def __init__(self, n_annotators: int, width: int, size: int, dropout: float) -> None:
        super().__init__()
        limit = 1 / math.sqrt(width)  # as torch draws a linear layer
        self.weight = nn.Parameter(torch.empty(n_annotators, size, width).uniform_(-limit, limit))
        self.bias = nn.Parameter(torch.zeros(n_annotators, size))
        self.dropout = Dropout(dropout)

    def forward(self, vectors: Tensor) -> Tensor:
        products = torch.einsum("naw,asw->nas", vectors, self.weight)
        hidden: Tensor = self.dropout((products + self.bias).relu())
        return hidden


class Classifier(nn.Module):
    """The outputs of one question: a head of all annotators or of each, and with `independent`
    annotators a hidden layer of each before it."""

    def __init__(self, sizes: Sizes, question: str, method: AnnotatorQueries, width: int) -> None:
        super().__init__()
        n_annotators, family = sizes.n_annotators, likelihood(sizes.scales[question])
        start, kind = sizes.start.get(question), method.classifier(sizes.n_trained)
        self.layer: nn.Module = nn.Identity()
        if method.independent:
            self.layer = OwnLayer(n_annotators, width, PROJECTION, HIDDEN_DROPOUT)
            width = PROJECTION
        self.head: Head | AnnotatorHeads
        if kind == "shared":
            self.head = Head(width, family, None if start is None else start[0])
            return
        rank, common = method.rank if kind == "low-rank" else 0, not method.independent
        self.head = AnnotatorHeads(n_annotators, width, family, start, common, rank)

    def forward(self, features: Tensor, rows: QueryRows, embedding: Tensor | None) -> Tensor:
        """Raw outputs of rows, of features (n_items, n_queries, width)."""
        of_rows = rows.of(self.layer(features))
        if isinstance(self.head, Head):
            return self.head(of_rows)
        number = torch.arange(len(of_rows), device=of_rows.device)
        raw: Tensor = self.head(of_rows, number, rows.annotator, embedding)
        return raw


@dataclass(eq=False)
class QueryRows:
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

    def __init__(self, sizes: Sizes, method: AnnotatorQueries) -> None:
        super().__init__()
        self.roles, self.questions = tuple(sizes.widths), tuple(sizes.scales)
        self.most, self.reads = method.most_, method.reads
        self.averages = method.averages
        source, several = max(sizes.widths.values()), len(sizes.widths) > 1
        self.readers: list[RoleVectors] = nn.ModuleList(  # type: ignore[assignment]
            RoleVectors(width, source, several, method) for width in sizes.widths.values()
        )
        n_annotators, width = sizes.n_annotators, method.width
        self.is_crowd = sizes.n_trained > method.panel
        self.n_panel = n_annotators - sizes.n_enrolled  # queries that all attend to
        spread = CROWD_SPREAD if self.is_crowd and not method.independent else 1.0
        first = 0.0 if method.has_prior else spread  # with a prior, all begin as the common query
        self.queries = nn.Parameter(first * torch.randn(n_annotators, width))
        self.add_prior(method)
        self.common = nn.Parameter(torch.randn(width)) if not method.independent else None
        landmarks = torch.randn(method.panel, width)
        self.landmarks = (
            nn.Parameter(landmarks) if self.is_crowd and method.self_attention else None
        )
        self.qformer = QFormer(
            width, source, method.layers, method.heads, method.inner, method.cross_every,
            method.self_attention, method.layer_dropout,
        )  # fmt: skip
        self.vector_dropout = Dropout(method.vector_dropout)
        self.projection = nn.Linear(width, PROJECTION) if method.independent else None
        self.dropout = Dropout(method.dropout)
        if method.classifier(sizes.n_trained) == "low-rank":
            embedding = torch.randn(n_annotators, method.rank) / math.sqrt(method.rank)
            self.embedding = nn.Parameter(embedding)
        self.classifiers: list[Classifier] = nn.ModuleList(  # type: ignore[assignment]
            Classifier(sizes, question, method, PROJECTION if method.independent else width)
            for question in sizes.scales
        )

    def load_pretrained(self, weights: Mapping[str, Tensor]) -> None:
        """Start from the Q-Former of BLIP-2 or InstructBLIP; its queries are interpolated."""
        if not self.qformer.load_blip(weights):
            raise ModelError("pretrained: no weights of a Q-Former")
        tokens = next((v for name, v in weights.items() if name.endswith("query_tokens")), None)
        if tokens is not None:
            with torch.no_grad():
                self.queries.copy_(interpolated(tokens.float().squeeze(0), len(self.queries)))

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
        return Outputs(rows=answers)

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
            queries = F.normalize(self.projection(queries), dim=-1)
        return self.dropout(queries)

    def seen(self, read: ReadContents, rows: QueryRows) -> Seen:
        """What the queries of each item see."""
        queries = self.queries if rows.code is None else self.queries[rows.code]
        if self.common is not None:
            queries = queries + self.common
        n_panel = None if self.is_crowd else self.n_panel
        seen: Seen = self.qformer(queries, read.vectors, read.mask, self.landmarks, n_panel)
        return seen

    def attention(self, batch: Batch) -> dict[str, Tensor]:
        """By role, the weights of each row, (n_rows, length): the mean over the heads of the last
        layer that attends to contents. They sum to 1 over the positions of a role, unless they are
        all 0."""
        read, rows = self.read(batch), self.rows_of(batch)
        weight = self.seen(read, rows).weights[-1].mean(dim=1)  # (n_items, n_queries, length)
        of_rows = torch.split(rows.of(read.on_positions(weight)), read.lengths, dim=1)
        tiny = torch.finfo(weight.dtype).tiny
        return {
            role: part / part.sum(dim=1, keepdim=True).clamp(min=tiny)
            for role, part in zip(self.roles, of_rows, strict=True)
        }

    def read(self, batch: Batch) -> ReadContents:
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
        return ReadContents(joined, mask, lengths)

    def rows_of(self, batch: Batch) -> QueryRows:
        """Where each row's query is: among those of all annotators, or in a crowd, among those of
        the annotators of its item."""
        item, annotator = batch.rows.item, batch.annotators[batch.rows.annotator]
        if not self.is_crowd:
            n_annotators = len(self.queries)
            return QueryRows(item * n_annotators + annotator, annotator, n_annotators)
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
        return QueryRows(place.clamp(max=last - 1), annotator, n_queries, code)


# ---- the method ----


@dataclass(eq=False)
class AnnotatorQueries(TrainedMethod):
    """Predicts the answer of each annotator from what the annotator's query sees of the item.

    Each annotator has a learned query, which attends to the positions of the item's contents
    (tokens, cells of a picture, frames) in a Q-Former; a classifier reads what it has seen. So
    annotators may look at different parts, and `predict(attention=True)` shows where: the mean over
    the heads of the last layer that attends to contents. This is QuMATL by Zhang et al. (2025);
    `published` has its sizes, and the defaults are small ones that a CPU trains. Prefer
    `AnnotatorHeads` if there are few labels, or if contents have one vector each.

    Up to 64 annotators (`panel`), queries attend to one another, all of them for each item, and
    each annotator has a classifier. Beyond that queries attend to as many learned landmarks
    instead, and classifiers are low-rank (a common one, plus a sum of `rank` basis heads, weighted
    by an embedding of the annotator): the cost of an answer does not grow with the crowd. In both
    cases an answer does not depend on the annotators that are predicted with it.

    Args:
        layers: of the Q-Former; `heads`, `width` and `inner` are those of each layer (an `inner` of
            0 leaves out its linear layers).
        cross_every: every so many layers attend to contents, from the first.
        self_attention: whether queries attend to one another. With one layer they do so before
            they have seen the item.
        positions: how many positions of a content have a learned vector for their place, which is
            added to what is attended to; later ones share the last. 0: there are none.
        dropout: before the classifiers.
        vector_dropout: of the dimensions of the vectors that are attended to, the same ones at all
            positions of an item.
        layer_dropout: of the Q-Former.
        independent: whether annotators have nothing in common but the Q-Former, as published.
            Otherwise, a query and a head that all annotators share are added to each one's own,
            vectors are standardised by the mean vectors of the training items, and the loss is the
            mean over answers. Independent annotators have a projection of the query to 256 numbers
            of length 1 and a hidden layer before the head; vectors are as the encoder gives them,
            and the loss is the sum of each annotator's mean over the answers in a batch.
        spread: the standard deviation of a normal prior of the difference between an annotator's
            query and head and the common ones; inf for none. The fewer answers an annotator gave,
            the closer are they to the common ones. It is doubled for queries if contents have
            several positions, to choose between them.
        reads: what is attended to where an item is a part of its content: its "focus", or the whole
            "content", in which the focus is marked.
        pretrained: a file with the weights of a Q-Former of the same sizes, of BLIP-2 or
            InstructBLIP, to start from.

    Reference: Zhang et al. (2025), arXiv 2503.15237 and 2507.17653; Li et al. (2023), arXiv
    2301.12597.
    """

    layers: int = 1
    heads: int = 1
    width: int = 64
    inner: int = 0
    cross_every: int = 2
    self_attention: bool = True
    positions: int = 0
    dropout: float = 0.3
    vector_dropout: float = 0.1
    layer_dropout: float = 0.0
    independent: bool = False
    spread: float = 0.25
    reads: Literal["focus", "content"] = "focus"
    pretrained: str = ""
    training: Training = Training(
        epochs=20, least_steps=1000, learning_rate=3e-3, max_rows_per_item=64
    )
    panel: ClassVar[int] = 64  # annotators that attend to one another, or landmarks
    rank: ClassVar[int] = 8  # basis heads of low-rank classifiers
    averages: ClassVar[bool] = False  # whether all classifiers read the mean of all queries
    name: ClassVar[str] = "annotator-queries"
    ranges: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("dropout", "vector_dropout", "layer_dropout"), "at least 0 and below 1"),
        "positions": "at least 0",
        "spread": "above 0, or inf for no prior",
    }
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    choices: ClassVar[Choices] = {  # one architecture, so that all trials run as one stack
        "training.learning_rate": (1e-4, 3e-4, 1e-3, 3e-3),
        "training.epochs": (5, 10, 20),
        "training.weight_decay": (0.0, 0.01, 0.1),
    }

    @classmethod
    def published(cls, **settings: Any) -> Self:
        """The image model of the paper: its sizes, its losses, its training; others on request."""
        training = Training(
            epochs=200, batch_size=64, learning_rate=1e-4, warm_up=0.2, patience=25,
            smallest_gain=0.001, max_rows_per_item=64,
        )  # fmt: skip
        of_paper: dict[str, Any] = {
            "layers": 12, "heads": 12, "width": 768, "inner": 3072, "vector_dropout": 0.0,
            "layer_dropout": 0.1, "dropout": 0.5, "independent": True, "training": training,
        }  # fmt: skip
        return cls(**of_paper | settings)

    @property
    def pools(self) -> bool:
        return False

    @property
    def has_prior(self) -> bool:
        return not self.independent and math.isfinite(self.spread)

    def classifier(self, n_annotators: int) -> ClassifierKind:
        """Which kind of classifier so many annotators have."""
        return "own" if n_annotators <= self.panel else "low-rank"

    # ---- fit ----

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        if self.independent and corpus.n_annotators > self.panel:
            raise ModelError(
                f"independent=True is for at most {self.panel} annotators, {corpus.name} has "
                f"{corpus.n_annotators}"
            )
        return super().check(corpus, questions)

    def network(self, sizes: Sizes) -> Network:
        return QueryNet(sizes, self)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        family = likelihood(corpus[question].scale)
        spread = self.spread if self.has_prior else math.inf
        return annotator_biases(corpus, question, family, self.name, False, spread)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = answer_losses(sizes)
        if self.independent:
            return tuple(_by_annotator(loss) for loss in losses)
        return tuple(penalised(loss) for loss in losses) if self.has_prior else losses

    def trainer(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> Trainer:
        most = int(np.bincount(self.rows(corpus).item).max())
        self.most_ = min(most, self.training.max_rows_per_item)
        run = super().trainer(corpus, validation, cache)
        if self.pretrained:
            self._query_net.load_pretrained(_weights_of(Path(self.pretrained)))
        return run

    @property
    def _query_net(self) -> QueryNet:
        network = self.network_
        inner = network.inner if isinstance(network, FineTunedNetwork) else network
        assert isinstance(inner, QueryNet)
        return inner

    # ---- predict ----

    def _most_items(self, examples: Examples) -> int:
        stores = examples.stores.values()
        numbers = sum(int(np.diff(s.offsets).max(initial=1)) * s.width for s in stores)
        return min(super()._most_items(examples), max(1, NUMBERS_AT_ONCE // max(1, numbers)))

    @property
    def shows_attention(self) -> bool:
        return True

    def _with_attention(self, predictions: Predictions, corpus: Corpus) -> Predictions:
        first = next(iter(predictions.values()))
        if first.by_annotator is None:
            return predictions
        pairs = first.by_annotator
        codes = self.learned_.annotators.find(pairs.annotators)
        code = np.where(np.r_[self.learned_.any_answered, False][codes], codes, -1)
        attention = tuple(self._attention(corpus, pairs.item, code[pairs.annotator]))
        return predictions.with_questions(
            {q: dataclasses.replace(p, attention=attention) for q, p in predictions.items()}
        )

    def _attention(self, corpus: Corpus, item: np.ndarray, code: np.ndarray) -> Iterator[Attention]:
        """The maps of pairs, one for each role; nan for unknown annotators (code -1)."""
        known = np.flatnonzero(code >= 0)
        known = known[np.argsort(item[known], kind="stable")]  # the order of the table's rows
        table = Table.of_pairs(item[known], code[known])
        examples = self._prediction_examples(corpus, table)
        roles, nothing = self.sizes_.widths, np.zeros(0, np.float32)
        maps: dict[str, list[np.ndarray]] = {role: [nothing] for role in roles}
        places: dict[str, list[np.ndarray]] = {role: [] for role in roles}
        lengths: dict[str, list[np.ndarray]] = {role: [] for role in roles}
        size = min(ATTENTION_AT_ONCE, self._most_items(examples))
        with torch.inference_mode():
            for batch, _ in batches(examples, np.arange(corpus.n_items), size):
                encoded = batch
                if isinstance(self.network_, FineTunedNetwork):
                    encoded = self.network_.encoded(batch)
                weights = self._query_net.attention(encoded) if len(batch.rows.item) else {}
                for role in roles:
                    mask = positions_of_items(encoded.sequence[role], batch.content[role], None)
                    of_item = batch.content[role].clamp(min=0)
                    places[role].append(encoded.sequence[role].places[of_item][mask].cpu().numpy())
                    lengths[role].append(mask.sum(dim=1).cpu().numpy())
                    if weights:
                        of_rows = weights[role][mask[batch.rows.item]]
                        maps[role].append(of_rows.float().cpu().numpy())
        for role in roles:
            ends = np.append(0, np.cumsum(np.concatenate(lengths[role])))
            attention = Attention.empty(role, item, np.concatenate(places[role]), ends)
            n = np.diff(attention.offsets)[known]
            within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
            at = np.repeat(attention.offsets[known], n) + within
            attention.weight[at] = np.concatenate(maps[role])
            yield attention


def _by_annotator(loss: Loss) -> Loss:
    """The sum over annotators of the mean loss of each one's rows in the batch."""

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        assert loss.weight is not None
        weight = loss.weight(batch)  # (n_rows,)
        losses = weight * loss.function(outputs, batch)
        nothing = torch.zeros(len(batch.annotators), dtype=losses.dtype, device=losses.device)
        total = nothing.scatter_add(0, batch.rows.annotator, losses)
        n = nothing.scatter_add(0, batch.rows.annotator, weight.to(losses.dtype))
        return (total / n.clamp(min=1e-12)).sum()

    return dataclasses.replace(loss, over="batch", function=function)


def _weights_of(path: Path) -> dict[str, Tensor]:
    """The weights in a file of safetensors or of torch; no code in it is run."""
    if not path.is_file():
        raise ModelError(f"pretrained: no file {path}")
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    return dict(loaded.get("model", loaded))
