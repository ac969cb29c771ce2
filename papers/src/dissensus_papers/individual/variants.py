"""Variants of methods that only this paper compares: networks as published, and searches for a
better way to form densities.

Predicted ratings are means, and differ less than ratings do. The published temperature is the same
for all corpora; a variant learns it, or chooses settings of the density on held-out items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dissensus import Corpus
from dissensus.densities import Grid, RatingKde, cross_entropy, jsd, rating_densities, tvd
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorHeads, AnnotatorOneHot, GridDensity, held_out_items
from dissensus.networks import Dropout, Likelihood, NormalLikelihood, likelihood
from dissensus.scales import Interval, Scale
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Trainer

COMMON = ", of all annotators"  # is added to the name of an output of the common head alone
TEMPERATURE = "temperature"  # the output of items that replaces the temperature of the density
TEMPERATURE_RATE = 10.0  # how much faster than other weights its logarithm learns
SMALLEST_VARIANCE = 0.01  # of the ratings of an item, on [-1, 1]; equal ratings have none


def as_published(network: Network) -> Network:
    """A network that takes vectors as they are, with dropout of the vectors only."""
    trunk: Any = network.get_submodule("vectors" if hasattr(network, "vectors") else "trunk")
    trunk.standardises = False
    _, *further = (part for part in network.modules() if isinstance(part, Dropout))
    for dropout in further:
        dropout.p = 0.0
    return network


@dataclass(eq=False)
class PublishedOneHot(AnnotatorOneHot):
    """`AnnotatorOneHot` with the network of the released code."""

    def network(self, sizes: Sizes) -> Network:
        return as_published(super().network(sizes))


@dataclass(eq=False)
class PublishedGrid(GridDensity):
    """`GridDensity` with the network of the released code."""

    def network(self, sizes: Sizes) -> Network:
        return as_published(super().network(sizes))


@dataclass(eq=False)
class VariantHeads(AnnotatorHeads):
    """`AnnotatorHeads` with further settings.

    Args:
        published: whether the network is that of the released code.
        rank: 0, or how many basis heads there are: each annotator's own head is a sum of them.
        pretrain: the share of the epochs in which all annotators have the same head, the common
            one; after it, each annotator's head begins as a copy of it.
        components: how many normal densities an annotator's rating is a mixture of.
        item_spread: whether the spread of an annotator's ratings depends on the item too.
        moments: the weight of a further loss: the KL divergence of a normal distribution with the
            mean and the variance of an item's predicted ratings from that of its given ratings.
        learn_temperature: whether the temperature of `kde` is learned with the density, from that
            of the settings.
        readout: how predicted ratings become the density of predictions, if not as `kde` says:
            settings that differ from it, as a text such as "fixed:bandwidth=0.2".
        calibrate: settings of the density of predictions that are chosen after training, joined by
            commas: on the validation corpus, or on a tenth of the items, which is held out.
        calibrate_by: how they are chosen: by the lowest "cross-entropy", "tvd" or "jsd" of the
            predicted density to that of the ratings.
    """

    published: bool = False
    rank: int = 0  # type: ignore[misc]
    pretrain: float = 0.0
    components: int = 1
    item_spread: bool = False
    moments: float = 0.0
    learn_temperature: bool = False
    readout: str = ""
    calibrate: str = ""
    calibrate_by: str = "cross-entropy"
    calibrated_: RatingKde | None = field(init=False, repr=False, default=None)

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        wrong = [name for name in self._chosen if name not in LIMITS]
        if wrong:
            raise ModelError(f"calibrate must name some of {', '.join(LIMITS)}, not {wrong[0]!r}")
        return super().check(corpus, questions)

    # ---- network and losses ----

    def family(self, scale: Scale) -> Likelihood:
        return likelihood(scale, self.components, self.item_spread)

    def network(self, sizes: Sizes) -> Network:
        network = super().network(sizes)
        if self.published:
            as_published(network)
        if self.pretrain:
            network = _WithCommonHead(network)
        return _WithTemperature(network) if self.learn_temperature else network

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = super().losses(sizes)
        if self.moments:
            losses = (*losses, moments_loss(sizes, self.moments))
        if not self.pretrain:
            return losses
        plain = AnnotatorHeads(loss=self.loss, common=False).losses(sizes)
        first = (_of_common_head(loss, self.pretrain) for loss in plain)
        return (*first, *(replace(loss, during=(self.pretrain, 1.0)) for loss in losses))

    # ---- the density of predictions ----

    @property
    def _chosen(self) -> tuple[str, ...]:
        return tuple(filter(None, (name.strip() for name in self.calibrate.split(","))))

    @property
    def kde_(self) -> RatingKde | None:
        if self.calibrated_ is not None:
            return self.calibrated_
        kde, network = self.kde, getattr(self, "network_", None)
        if isinstance(network, _WithTemperature):
            kde = replace(kde, temperature=kde.temperature * network.factor)
        if self.readout:
            return RatingKde.from_text(self.readout, kde)
        return kde if self._chosen or self.objective != "answers" else None

    def trainer(self, corpus: Corpus, validation: Corpus | None, cache: Any = None) -> Trainer:
        self.calibrated_ = None
        run = super().trainer(corpus, validation, cache)
        if not self._chosen or validation is not None:
            return run
        return replace(run, learned=np.setdiff1d(run.learned, self._held_out(corpus)))

    def end_fit(self, runs: list[Trainer], corpus: Corpus, validation: Corpus | None) -> None:
        super().end_fit(runs, corpus, validation)
        if self._chosen:
            if validation is None:
                validation = corpus.select(items=self._held_out(corpus))
            self.calibrated_ = calibrated(self, validation, self._chosen, self.calibrate_by)

    def _held_out(self, corpus: Corpus) -> np.ndarray:
        return held_out_items(corpus, 0.1, self.training.seed)


class _Wrapped(Network):
    """A network with further outputs."""

    def __init__(self, inner: Network) -> None:
        super().__init__()
        self.inner = inner

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.inner.prepare(pooled)

    def tables(self) -> list[nn.Parameter]:
        return self.inner.tables()


class _WithTemperature(_Wrapped):
    """Learns the factor of the temperature of a density: 1 at first."""

    def __init__(self, inner: Network) -> None:
        super().__init__(inner)
        self.change = nn.Parameter(torch.zeros(()))

    @property
    def factor(self) -> float:
        return float((TEMPERATURE_RATE * self.change).detach().exp())

    def forward(self, batch: Batch) -> Outputs:
        outputs = self.inner.forward(batch)
        change = (TEMPERATURE_RATE * self.change).expand(len(batch.items))
        return Outputs(outputs.rows, outputs.items | {TEMPERATURE: change})


class _WithCommonHead(_Wrapped):
    """In training, also the answers of the common heads alone."""

    def forward(self, batch: Batch) -> Outputs:
        outputs = self.inner.forward(batch)
        if not self.training:
            return outputs
        inner: Any = self.inner
        features = inner.trunk(batch.pooled)  # with the same dropout as before
        common = {}
        for number, question in enumerate(inner.questions):
            layers = getattr(inner, f"layers_{number}", nn.Identity())
            of_items = inner.get_submodule(f"heads_{number}").common(layers(features))
            common[f"{question}{COMMON}"] = of_items[batch.rows.item]
        return Outputs(outputs.rows | common, outputs.items)


def _of_common_head(loss: Loss, until: float) -> Loss:
    """A loss of the answers, as the common head alone predicts them."""

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        named = {name.removesuffix(COMMON): raw for name, raw in outputs.rows.items()
                 if name.endswith(COMMON)}  # fmt: skip
        return loss.function(Outputs(rows=named), batch)

    return replace(loss, name=f"{loss.name}{COMMON}", function=function, during=(0.0, until))


def moments_loss(sizes: Sizes, weight: float) -> Loss:
    """How far the mean and the variance of an item's predicted ratings are from those of its
    ratings, summed over the questions: the KL divergence of two normal distributions.

    The predicted variance is the mean of the variances of the annotators, and the variance of their
    means. Items with fewer than two ratings of each question do not count.
    """

    def members(batch: Batch, question: str) -> Tensor:
        """Which rows count for an item, (n_items, n_rows)."""
        places = torch.arange(len(batch.items), device=batch.rows.item.device)
        return ((batch.rows.item == places[:, None]) & (batch.rows.weight[question] > 0)).float()

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        total = torch.zeros(len(batch.items), device=batch.items.device)
        for question, scale in sizes.scales.items():
            assert isinstance(scale, Interval)
            raw, family = outputs.rows[question], NormalLikelihood(scale)
            own = members(batch, question).to(raw.dtype)
            share = own / own.sum(dim=1, keepdim=True).clamp(min=1)
            given, given_variance = _moments(share, batch.rows.answer[question].to(raw.dtype))
            predicted, between = _moments(share, family.mean(raw))
            variance = share @ family.variance(raw) + between
            total = total + _normal_kl(predicted, variance, given, given_variance)
        return weight * total

    def counts(batch: Batch) -> Tensor:
        several = [members(batch, question).sum(dim=1) >= 2 for question in sizes.scales]
        return torch.stack(several).all(dim=0) * batch.share

    return Loss("moments", "item", loss, weight=counts)


def _moments(share: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of the values of rows for each item; `share` is (n_items, n_rows)."""
    mean = share @ values
    return mean, (share * (values - mean[:, None]) ** 2).sum(dim=1)


def _normal_kl(mean: Tensor, variance: Tensor, of_mean: Tensor, of_variance: Tensor) -> Tensor:
    """The KL divergence of a normal distribution from another one."""
    other = of_variance.clamp(min=SMALLEST_VARIANCE)
    ratio = variance.clamp(min=SMALLEST_VARIANCE) / other
    return 0.5 * (ratio + (mean - of_mean) ** 2 / other - 1 - ratio.log())


# ---- settings of a density that are chosen on held-out items ----

DISTANCES: dict[str, Callable[[Any, Any, Grid], Any]] = {
    "cross-entropy": cross_entropy,
    "tvd": tvd,
    "jsd": jsd,
}
LIMITS = {  # of each setting that can be chosen
    "temperature": (1.0, 1000.0),
    "bandwidth": (0.01, 2.0),
    "factor": (0.05, 20.0),
    "stretch": (0.05, 20.0),
    "noise": (0.05, 10.0),
    "shared": (0.0, 0.95),
    "correlation": (0.0, 0.95),
}
ADDED = ("shared", "correlation")  # steps are added to these; they multiply the others
FIRST_STEP, LAST_STEP = 1.0, 0.125  # of the search, as powers of 2; half as large if added
MOST_ITEMS = 256  # that are used, so that it takes seconds


def calibrated(
    method: VariantHeads, corpus: Corpus, names: Sequence[str], by: str
) -> RatingKde | None:
    """The density of predictions with the lowest mean distance to the densities of the ratings of
    a corpus; as it was if no item has two ratings.

    From the settings of the method, each is increased or reduced as long as the distance falls;
    then the steps become smaller.
    """
    kde, questions = method.kde_, tuple(method.learned_.questions)
    assert kde is not None
    given = rating_densities(corpus, questions, kde.bins)
    some = np.sort(np.random.default_rng(0).permutation(len(given.items))[:MOST_ITEMS])
    if not len(some):
        return None
    part, target = corpus.select(items=corpus.items.codes(given.items)[some]), given.mass[some]
    grid = Grid(given.shape)

    def distance(candidate: RatingKde) -> float:
        predictions = method.predict(part, unknown="drop", same_annotators=True, density=candidate)
        return float(DISTANCES[by](target, predictions.densities[questions].mass, grid).mean())

    notes = method.notes_
    first = lowest = distance(kde)
    best, step = kde, FIRST_STEP
    while step >= LAST_STEP:
        moved = False
        for name in names:
            for direction in (step, -step):
                candidate = _moved(best, name, direction)
                if candidate != best and (score := distance(candidate)) < lowest:
                    best, lowest, moved = candidate, score, True
                    break
        step = step if moved else step / 2
    values = ", ".join(f"{name} {getattr(best, name):.3g}" for name in names)
    figures = f"({by} {lowest:.3f}, before {first:.3f})"
    method.notes_ = [*notes, f"density calibrated on {len(some)} items: {values} {figures}"]
    return best


def _moved(kde: RatingKde, name: str, step: float) -> RatingKde:
    value: float = getattr(kde, name)
    low, high = LIMITS[name]
    if name in ADDED:
        value += step / 2
    else:
        value = abs(step) / 2 if value == 0 else value * 2**step  # noise begins at 0
    changed: dict[str, Any] = {name: round(min(max(value, low), high), 6)}
    return replace(kde, **changed)
