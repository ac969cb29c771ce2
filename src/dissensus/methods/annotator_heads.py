"""One head per annotator over a shared trunk."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.annotator_biases import annotator_biases
from dissensus.methods.framework.annotator_method import AnnotatorMethod
from dissensus.methods.framework.annotator_prior import (
    PriorNetwork,
    check_spread,
    with_spread,
)
from dissensus.methods.framework.density_loss import TEMPERATURE, LearnedTemperature
from dissensus.methods.framework.losses import PENALTY, penalised
from dissensus.methods.framework.rating_losses import check_ratings, moments_loss, rating_losses
from dissensus.networks import heads
from dissensus.networks.heads import hidden_layers
from dissensus.networks.likelihoods import Likelihood, likelihood
from dissensus.scales import Interval, Scale
from dissensus.training import Batch, Loss, Network, Outputs, Sizes

COMMON = ", of all annotators"  # is added to the name of an output of the common head alone


class _HeadsNet(PriorNetwork):
    def __init__(self, sizes: Sizes, method: AnnotatorHeads) -> None:
        super().__init__()
        self.temperature = LearnedTemperature() if method.learn_temperature else None
        self.trunk = method.trunk(sizes)
        self.questions = tuple(sizes.scales)
        self.pretrains = method.pretrain > 0
        if method.rank:
            embedding = torch.randn(sizes.n_annotators, method.rank) / math.sqrt(method.rank)
            self.embedding = nn.Parameter(embedding)
        self.add_prior(method)
        own = method.question_hidden
        width = [self.trunk.width, *own][-1]
        for number, (question, scale) in enumerate(sizes.scales.items()):
            question_heads = heads.AnnotatorHeads(
                sizes.n_annotators,
                width,
                method.family(scale),
                sizes.start.get(question),
                method.common,
                method.rank,
            )
            if own:
                layers = hidden_layers(self.trunk.width, own, method.further_dropout)
                self.add_module(f"layers_{number}", layers)
            self.add_module(f"heads_{number}", question_heads)

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.trunk.standardise(pooled)

    def tables(self) -> list[nn.Parameter]:
        all_heads = [part for part in self.children() if isinstance(part, heads.AnnotatorHeads)]
        embeddings = [self.embedding] if hasattr(self, "embedding") else []
        return [*(table for part in all_heads for table in part.tables()), *embeddings]

    def forward(self, batch: Batch) -> Outputs:
        features = self.trunk(batch.pooled)  # (n_items, width)
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        embedding = self._embedding(annotator)
        rows = {}
        for number, question in enumerate(self.questions):
            own, item = self._own(number, features), batch.rows.item
            of_question = self.get_submodule(f"heads_{number}")
            assert isinstance(of_question, heads.AnnotatorHeads)
            rows[question] = of_question(own, item, annotator, embedding)
            if self.precision and self.training:
                own_embedding = self._embedding(batch.annotators)
                squares = of_question.squares(batch.annotators, own_embedding)
                rows[f"{question}{PENALTY}"] = self.row_penalty(number, squares, batch)
            if self.pretrains and self.training and of_question.common is not None:
                rows[f"{question}{COMMON}"] = of_question.common(own)[item]
        if self.temperature is None:
            return Outputs(rows=rows)
        return Outputs(rows=rows, items={TEMPERATURE: self.temperature(len(batch.items))})

    def _embedding(self, annotators: Tensor) -> Tensor | None:
        """The weights of the basis heads of these annotators, if heads are low-rank."""
        return self.embedding[annotators] if hasattr(self, "embedding") else None

    def _own(self, number: int, features: Tensor) -> Tensor:
        """The features of items after the layers of a question, if it has its own."""
        layers = getattr(self, f"layers_{number}", None)
        return features if layers is None else layers(features)


@dataclass(eq=False)
class AnnotatorHeads(AnnotatorMethod):
    """Predicts the answer of each annotator; an item's distribution is their mean.

    The multi-task model of Davani et al. (2022) and Tavernor et al. (2024) is `common=False`. With
    `common`, each annotator's head is added to a head that all annotators share, which helps
    annotators with few answers. Prefer `Single` if there is one label per item.

    Args:
        common: whether a head that all annotators share is added to each annotator's own.
        spread: the standard deviation, in logits, of a normal prior of the difference between an
            annotator's head and the common one; inf for none. The fewer answers an annotator gave,
            the closer is the head to the common one. It has an effect with `common` and with the
            likelihood as loss.
        rank: 0, or how many basis heads there are: each annotator's own head is a sum of them,
            weighted by an embedding of the annotator that all questions share. With many annotators
            of few answers, they share strength.
        pretrain: the share of the epochs in which all annotators have the same head, the common
            one; after it, each annotator's head begins as a copy of it.
        components: how many normal densities an annotator's rating on an interval scale is a
            mixture of. With 2, an annotator may rate an item high or low, but not in between.
        item_spread: whether the spread of an annotator's ratings on an interval scale depends on
            the item too.
        moments: the weight of a further loss: the KL divergence of a normal distribution with the
            mean and the variance of an item's predicted ratings from that of its given ratings;
            0.1, for example.

    Reference: Davani, Diaz & Prabhakaran (2022), doi 10.1162/tacl_a_00449; Tavernor, El-Tawil &
    Mower Provost (2024), arXiv 2408.11956.
    """

    common: bool = True
    spread: float = 0.5
    rank: int = 0
    pretrain: float = 0.0
    components: int = 1
    item_spread: bool = False
    moments: float = 0.0
    name: ClassVar[str] = "annotator-heads"

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        check_spread(self.spread)
        if self.rank < 0 or not 0 <= self.pretrain < 1:
            raise ModelError(
                f"rank must be at least 0, and pretrain at least 0 and below 1; found {self.rank} "
                f"and {self.pretrain:g}"
            )
        if (self.rank or self.pretrain) and not self.common:
            raise ModelError("rank and pretrain need a head that annotators share: common=True")
        if self.components < 1 or self.moments < 0:
            raise ModelError(
                f"components must be at least 1, and moments at least 0; found {self.components} "
                f"and {self.moments:g}"
            )
        if self.components > 1 and self.loss != "likelihood":
            raise ModelError("a mixture is learned by its likelihood: set loss=likelihood")
        names = super().check(corpus, questions)
        for question in names:
            scale = corpus[question].scale
            if self.moments:
                check_ratings(self.name, "moments", question, scale)
            if (self.components > 1 or self.item_spread) and not isinstance(scale, Interval):
                raise ModelError(
                    f"components and item_spread need interval answers, but {question!r} is "
                    f"{scale.kind}; leave them out, or declare the scale when reading"
                )
        return names

    def family(self, scale: Scale) -> Likelihood:
        """The likelihood of the answers of an annotator."""
        return likelihood(scale, self.components, self.item_spread)

    @property
    def has_prior(self) -> bool:
        return self.common and self.loss == "likelihood" and math.isfinite(self.spread)

    def network(self, sizes: Sizes) -> Network:
        return _HeadsNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = super().losses(sizes)
        if self.has_prior:
            losses = tuple(penalised(loss) for loss in losses)
        if self.moments:
            losses = (*losses, moments_loss(sizes, self.moments, self._left_out(sizes)))
        if not self.pretrain:
            return losses
        first = (_of_common_head(loss, self.pretrain) for loss in rating_losses(sizes, self.loss))
        return (*first, *(replace(loss, during=(self.pretrain, 1.0)) for loss in losses))

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases to start from: one row for all annotators together, then one for each."""
        family = self.family(corpus[question].scale)
        spread = self.spread if self.has_prior else math.inf
        return annotator_biases(corpus, question, family, self.name, self.aggregate, spread)

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return super()._settings(with_spread(settings))


def _of_common_head(loss: Loss, until: float) -> Loss:
    """A loss of the answers, as the common head alone predicts them."""

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        named = {name.removesuffix(COMMON): raw for name, raw in outputs.rows.items()
                 if name.endswith(COMMON)}  # fmt: skip
        return loss.function(Outputs(rows=named), batch)

    return replace(loss, name=f"{loss.name}{COMMON}", function=function, during=(0.0, until))
