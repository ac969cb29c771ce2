"""One network for all annotators, which adds an embedding of the annotator to the features."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.annotator_method import PriorNetwork
from dissensus.methods.framework.attributes import (
    AttributeCoding,
    known_by_attributes,
    no_attributes,
)
from dissensus.methods.framework.losses import PENALTY, answer_losses, penalised
from dissensus.methods.framework.pairs import StandIns
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks.heads import Head, Trunk, hidden_layers
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import Dropout, positions_in_batch, uniforms
from dissensus.training import Batch, Loss, Network, Outputs, Sizes

Embeddings = Literal["annotator", "annotations", "both"]


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
        self.own: nn.Parameter | None = None
        if method.embeddings != "annotations":
            first = min(1 / math.sqrt(width), method.spread)
            self.own = nn.Parameter(first * torch.randn(n, width))
        self.add_prior(method)
        n_columns = method.coding_.width
        self.register_buffer("attributes", torch.zeros(n, n_columns))
        if n_columns:
            self.of_attributes = nn.Parameter(torch.randn(n_columns, width) / math.sqrt(width))
            self.attributes.copy_(torch.from_numpy(method.columns_))
        self.unseen = _Unseen(method.unseen if n_columns else 0.0)
        self.gates = nn.ModuleList([_Gate(width) for _ in range(2)] if method.gated else [])
        self.norm = nn.LayerNorm(width)
        for number, (question, scale) in enumerate(sizes.scales.items()):
            head = Head([width, *hidden][-1], likelihood(scale), sizes.start.get(question))
            self.add_module(f"head_{number}", head)
            if method.embeddings != "annotator":
                table = torch.randn(scale.n_columns, width) / math.sqrt(width)
                self.register_parameter(f"values_{number}", nn.Parameter(table))
                counts = method.counts_.get(question, np.zeros((n, scale.n_columns)))
                self.register_buffer(f"counts_{number}", torch.as_tensor(counts).float())

    attributes: Tensor

    def forward(self, batch: Batch) -> Outputs:
        features = self.first(self.vectors(batch.pooled))[batch.rows.item]  # (n_rows, width)
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        with positions_in_batch(batch.places.get("rows")):
            embedding = self._embedding(annotator)
            inputs = features
            if embedding is not None:
                inputs = features + self._gated(0, features, embedding)
            rows = {}
            for number, question in enumerate(self.questions):
                own = inputs
                if hasattr(self, f"values_{number}"):
                    annotations = self._annotations(number, question, annotator, batch)
                    own = inputs + self._gated(1, features, annotations)
                own = self.layers(self.norm(own))
                rows[question] = self.get_submodule(f"head_{number}")(own)
                if self.precision and self.training and self.own is not None:
                    squares = self.own[batch.annotators].square().sum(dim=-1) / len(self.questions)
                    rows[f"{question}{PENALTY}"] = self.row_penalty(number, squares, batch)
        return Outputs(rows=rows)

    def _gated(self, number: int, features: Tensor, embedding: Tensor) -> Tensor:
        if not len(self.gates):
            return embedding
        weighted: Tensor = self.gates[number](features, embedding)
        return weighted

    def _embedding(self, annotator: Tensor) -> Tensor | None:
        """The embedding of each row's annotator, of its own and of its attributes."""
        own = None if self.own is None else self.unseen(self._rows_of(self.own, annotator))
        if not hasattr(self, "of_attributes"):
            return own
        columns = self.attributes
        if self.newcomers is not None:
            columns = torch.cat([columns, self.newcomers.to(columns)])
        by_attributes = columns[annotator] @ self.of_attributes
        return by_attributes if own is None else own + by_attributes

    def _rows_of(self, table: Tensor, annotator: Tensor) -> Tensor:
        """The row of each annotator; zeros of those after training."""
        n_new = 0 if self.newcomers is None else len(self.newcomers)
        return (F.pad(table, (0, 0, 0, n_new)) if n_new else table)[annotator]

    def _annotations(self, number: int, question: str, annotator: Tensor, batch: Batch) -> Tensor:
        """The mean embedding of the annotator's answers to other items of the training."""
        table, counts = (getattr(self, f"{name}_{number}") for name in ("values", "counts"))
        of_row = self._rows_of(counts, annotator)
        if self.training:
            answer, weight = batch.rows.answer[question], batch.rows.weight[question]
            this = F.one_hot(answer, counts.shape[-1]) * (weight > 0).unsqueeze(-1)
            of_row = (of_row - this).clamp(min=0)
        return of_row / of_row.sum(dim=-1, keepdim=True).clamp(min=1) @ table


@dataclass(eq=False)
class AnnotatorEmbedding(TrainedMethod):
    """Predicts each annotator's answer from the item's features plus an embedding of the annotator.

    The embedding is weighted by how it goes with the item (Deng et al. 2023). It can be one of the
    annotator, learned with the rest; or the mean embedding of the answers that the annotator gave
    to other items. With `attributes`, what is known about annotators, such as their age, is part of
    the embedding: an annotator who is not in the training corpus is predicted by attributes alone
    (`predict(unknown="attributes")`). Prefer `AnnotatorHeads` if all annotators gave many answers.

    The sum is normalised; further layers follow, so that what an annotator changes may depend on
    the item.

    Args:
        hidden: widths of the hidden layers; embeddings are added before the activation of the first
            one, or to the vectors if there is none.
        dropout: of the vectors and the hidden layers.
        embeddings: those of the "annotator", of their "annotations" (nominal and ordinal answers
            only), or "both".
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
    embeddings: Embeddings = "annotator"
    gated: bool = True
    attributes: str = ""
    unseen: float = 0.1
    spread: float = 0.5
    coding_: AttributeCoding = field(init=False, repr=False, default=AttributeCoding({}, {}))
    columns_: np.ndarray = field(init=False, repr=False, default_factory=lambda: np.zeros((0, 0)))
    counts_: dict[str, np.ndarray] = field(init=False, repr=False, default_factory=dict)
    name: ClassVar[str] = "annotator-embedding"
    ranges: ClassVar[dict[str, str]] = {
        "unseen": "at least 0 and below 1",
        "spread": "above 0, or inf for no prior",
    }
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    choices: ClassVar[Choices] = {
        **TRUNK_CHOICES,
        "gated": (True, False),
    }

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        names = super().check(corpus, questions)
        for question in names:
            kind = corpus[question].scale.kind
            if self.embeddings != "annotator" and kind not in ("nominal", "ordinal"):
                raise ModelError(
                    f"{self.name}: embeddings={self.embeddings} needs nominal or ordinal answers, "
                    f"but {question!r} is {kind}; set embeddings=annotator"
                )
        AttributeCoding.of_corpus(corpus, self.attributes)
        return names

    def prepare_fit(self, corpus: Corpus, validation: Corpus | None) -> None:
        self.coding_ = AttributeCoding.of_corpus(corpus, self.attributes)
        self.columns_ = self.coding_.encode(corpus)
        self.counts_ = self._counts(corpus)

    def _counts(self, corpus: Corpus) -> dict[str, np.ndarray]:
        """How often each annotator gave each answer, (n_annotators, n_columns), if it is used."""
        counts = {}
        for question in self.learned_.questions if self.embeddings != "annotator" else ():
            rows = corpus[question]
            counts[question] = np.zeros((corpus.n_annotators, rows.scale.n_columns))
            np.add.at(counts[question], (rows.annotator_codes(self.name), rows.answer), 1)
        return counts

    @property
    def has_prior(self) -> bool:
        return self.embeddings != "annotations" and math.isfinite(self.spread)

    def network(self, sizes: Sizes) -> Network:
        return _EmbeddingNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = answer_losses(sizes)
        return tuple(penalised(loss) for loss in losses) if self.has_prior else tuple(losses)

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

    def set_sizes(self, config: dict[str, Any]) -> None:
        self.coding_ = AttributeCoding.from_config(config["attributes"])
        self.columns_ = np.zeros((self.n_annotators, self.coding_.width), np.float32)
        super().set_sizes(config)

    def newcomer_facts(self, newcomers: Corpus) -> dict[str, np.ndarray]:
        counts = self._counts(newcomers).values()
        facts = {f"counts_{number}": each for number, each in enumerate(counts)}
        prefix, _ = self._inner_network()
        facts["attributes"] = self.coding_.encode(newcomers)
        return {prefix + name: rows for name, rows in facts.items()}
