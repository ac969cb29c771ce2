"""One network for all annotators, which adds an embedding of the annotator to the features."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.annotator_method import (
    PriorNetwork,
    check_spread,
    with_spread,
)
from dissensus.methods.framework.attributes import (
    AttributeCoding,
    known_by_attributes,
    no_attributes,
)
from dissensus.methods.framework.losses import PENALTY, answer_losses, penalised
from dissensus.methods.framework.pairs import StandIns
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.networks.heads import Head, Trunk, hidden_layers
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import Dropout, positions_in_batch, uniforms
from dissensus.training import Batch, Loss, Network, Outputs, Sizes
from dissensus.training.loop import Trainer


class _Gate(nn.Module):
    """How much of an embedding is added to an item's features: a product of both."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_item = nn.Linear(width, width, bias=False)
        self.of_embedding = nn.Linear(width, width, bias=False)

    def forward(self, features: Tensor, embedding: Tensor) -> Tensor:
        """The weighted embedding of each row, (n_rows, width)."""
        product = self.of_item(features) * self.of_embedding(embedding)
        return product.sum(dim=-1, keepdim=True) * embedding


class _Unseen(nn.Module):
    """In training, a share of the rows has no embedding of its own, as annotators never seen."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share, self.number = share, 0

    def forward(self, own: Tensor) -> Tensor:
        if not self.training or not self.share:
            return own
        kept = uniforms((len(own), 1), self.number, own) >= self.share
        return own * kept.to(own.dtype)


class _EmbeddingNet(PriorNetwork):
    newcomers: Tensor | None = None  # attributes of annotators after those of training

    def __init__(self, sizes: Sizes, method: AnnotatorEmbedding) -> None:
        super().__init__()
        self.vectors = Trunk.over(sizes.widths, (), method.dropout)
        width, n, hidden = self.vectors.width, sizes.n_annotators, method.hidden
        self.first, self.layers = nn.Sequential(), nn.Sequential()
        if hidden:
            self.first.append(nn.Linear(width, hidden[0]))
            further = hidden_layers(hidden[0], hidden[1:], method.dropout)
            self.layers = nn.Sequential(nn.ReLU(), Dropout(method.dropout), *further)
            width = hidden[0]
        self.questions = tuple(sizes.scales)
        first = min(1 / math.sqrt(width), method.spread)
        self.own = nn.Parameter(first * torch.randn(n, width))
        self.add_prior(method)
        n_columns = method.coding_.width
        self.register_buffer("attributes", torch.zeros(n, n_columns))
        if n_columns:
            self.of_attributes = nn.Parameter(torch.randn(n_columns, width) / math.sqrt(width))
            self.attributes.copy_(torch.from_numpy(method.columns_))
        self.unseen = _Unseen(method.unseen if n_columns else 0.0)
        # the second gate is not used: it was of answers' embeddings, and is in saved models
        self.gates = nn.ModuleList([_Gate(width) for _ in range(2)] if method.gated else [])
        self.norm = nn.LayerNorm(width)
        for number, (question, scale) in enumerate(sizes.scales.items()):
            head = Head([width, *hidden][-1], likelihood(scale), sizes.start.get(question))
            self.add_module(f"head_{number}", head)

    attributes: Tensor

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.vectors.standardise(pooled)

    def forward(self, batch: Batch) -> Outputs:
        features = self.first(self.vectors(batch.pooled))[batch.rows.item]  # (n_rows, width)
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        rows = {}
        with positions_in_batch(batch.places.get("rows")):
            embedding = self._embedding(annotator)
            if len(self.gates):
                embedding = self.gates[0](features, embedding)
            inputs = features + embedding
            for number, question in enumerate(self.questions):
                own = self.layers(self.norm(inputs))
                rows[question] = self.get_submodule(f"head_{number}")(own)
                if self.precision and self.training:
                    squares = self.own[batch.annotators].square().sum(dim=-1) / len(self.questions)
                    rows[f"{question}{PENALTY}"] = self.row_penalty(number, squares, batch)
        return Outputs(rows=rows)

    def _embedding(self, annotator: Tensor) -> Tensor:
        """The embedding of each row's annotator, of its own and of its attributes."""
        n_new = 0 if self.newcomers is None else len(self.newcomers)
        table = F.pad(self.own, (0, 0, 0, n_new)) if n_new else self.own
        own: Tensor = self.unseen(table[annotator])
        if not hasattr(self, "of_attributes"):
            return own
        columns = self.attributes
        if self.newcomers is not None:
            columns = torch.cat([columns, self.newcomers.to(columns)])
        return own + columns[annotator] @ self.of_attributes


@dataclass(eq=False)
class AnnotatorEmbedding(TrainedMethod):
    """Predicts each annotator's answer from the item's features plus an embedding of the annotator.

    The embedding is weighted by how it goes with the item (Deng et al. 2023). With `attributes`,
    what is known about annotators, such as their age, is part of it: an annotator who is not in the
    training corpus is predicted by attributes alone (`predict(unknown="attributes")`). Prefer
    `AnnotatorHeads` if all annotators gave many answers.

    The sum is normalised; further layers follow, so that what an annotator changes may depend on
    the item.

    Args:
        hidden: widths of the hidden layers; embeddings are added before the activation of the first
            one, or to the vectors if there is none.
        dropout: of the vectors and the hidden layers.
        gated: whether embeddings are weighted by their product with the features.
        attributes: names of annotator attributes, joined by commas; "all", or "" for none.
        unseen: with attributes, the share of answers that is learned from attributes alone.
        spread: the standard deviation of a normal prior of each component of an annotator's own
            embedding; inf for none. The fewer answers an annotator gave, the shorter is the
            embedding, and the closer are predictions to those of all annotators together.

    Reference: Deng et al. (2023), You Are What You Annotate, Findings of EMNLP, arXiv 2305.14663.
    """

    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.5
    gated: bool = True
    attributes: str = ""
    unseen: float = 0.1
    spread: float = 0.5
    coding_: AttributeCoding = field(init=False, repr=False, default=AttributeCoding({}, {}))
    columns_: np.ndarray = field(init=False, repr=False, default_factory=lambda: np.zeros((0, 0)))
    name: ClassVar[str] = "annotator-embedding"
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    choices: ClassVar[Choices] = {
        **TRUNK_CHOICES,
        "gated": (True, False),
    }
    retired: ClassVar[dict[str, Any]] = TrainedMethod.retired | {
        "embeddings": "annotator", "shrink": 0.0, "contrast": 0.0,
    }  # fmt: skip

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        check_spread(self.spread)
        if not 0 <= self.unseen < 1:
            raise ModelError(f"unseen must be at least 0 and below 1, found {self.unseen:g}")
        names = super().check(corpus, questions)
        AttributeCoding.of_corpus(corpus, self.attributes)
        return names

    def trainer(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> Trainer:
        self.coding_ = AttributeCoding.of_corpus(corpus, self.attributes)
        self.columns_ = self.coding_.encode(corpus)
        run = super().trainer(corpus, validation, cache)
        run.kind = repr((run.kind, self.coding_.width))  # a stack has networks of one shape
        return run

    @property
    def has_prior(self) -> bool:
        return math.isfinite(self.spread)

    def network(self, sizes: Sizes) -> Network:
        return _EmbeddingNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = answer_losses(sizes)
        return tuple(penalised(loss) for loss in losses) if self.has_prior else losses

    # ---- predict, save and load ----

    def stand_ins_by_attributes(self, corpus: Corpus) -> StandIns:
        if not self.coding_.width:
            raise no_attributes(self.name)
        columns = self.coding_.encode(corpus)
        for part in self.network_.modules():
            if isinstance(part, _EmbeddingNet):
                part.newcomers = torch.from_numpy(columns)
        return known_by_attributes(len(self.learned_.annotators), (columns != 0).any(axis=1))

    def config(self) -> dict[str, Any]:
        return super().config() | {"attributes": self.coding_.to_config()}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.coding_ = AttributeCoding.from_config(config["attributes"])
        self.columns_ = np.zeros((self.n_annotators, self.coding_.width), np.float32)
        super().restore(weights, config)

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return super()._settings(with_spread(settings))
