"""A query for each annotator, which attends to the contents of an item."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.errors import ModelError, listed
from dissensus.methods.framework.annotator_biases import annotator_biases
from dissensus.methods.framework.losses import penalised
from dissensus.methods.framework.query_method import QueryMethod
from dissensus.methods.framework.query_net import QueryNet
from dissensus.methods.framework.search_space import Choices
from dissensus.methods.framework.trained import ExamplesCache
from dissensus.networks.likelihoods import likelihood
from dissensus.prediction import Attention, Predictions
from dissensus.training import Batch, Examples, Loss, Network, Outputs, Sizes, Training
from dissensus.training.examples import Table, batches
from dissensus.training.fine_tuning import FineTunedNetwork, positions_of_items
from dissensus.training.loop import Trainer

NUMBERS_AT_ONCE = 1 << 26  # of the vectors of a batch, in a prediction
ATTENTION_AT_ONCE = 256  # items


@dataclass(eq=False)
class AnnotatorQueries(QueryMethod):
    """Predicts the answer of each annotator from what the annotator's query sees of the item.

    Each annotator has a learned query, which attends to the positions of the item's contents
    (tokens, cells of a picture, frames); a classifier reads what it has seen. So annotators may
    look at different parts, and `predict(attention=True)` shows where: the mean over the heads of
    the last layer that attends to contents. This is QuMATL by Zhang et al. (2025); `published` has
    its sizes, and the defaults are small ones that a CPU trains. Prefer `AnnotatorHeads` if there
    are few labels, or if contents have one vector each.

    Up to `panel` annotators, queries attend to one another, all of them for each item. Beyond that
    they attend to `panel` learned landmarks instead: the cost of an answer does not grow with the
    crowd. In both cases an answer does not depend on the annotators that are predicted with it.

    Reference: Zhang et al. (2025), arXiv 2503.15237 and 2507.17653; Li et al. (2023), arXiv
    2301.12597.
    """

    training: Training = Training(
        epochs=20, least_steps=1000, learning_rate=3e-3, max_rows_per_item=64
    )
    name: ClassVar[str] = "annotator-queries"
    choices: ClassVar[Choices] = {  # one architecture, so that all trials run as one stack
        "training.learning_rate": (1e-4, 3e-4, 1e-3, 3e-3),
        "training.epochs": (5, 10, 20),
        "training.weight_decay": (0.0, 0.01, 0.1),
    }

    @classmethod
    def published(cls, **settings: Any) -> Self:
        """The image model of the paper: its sizes, its losses, its training; others on request."""
        training = Training(
            epochs=200,
            batch_size=64,
            learning_rate=1e-4,
            warm_up=0.2,
            patience=25,
            smallest_gain=0.001,
            max_rows_per_item=64,
        )
        of_paper: dict[str, Any] = {
            "layers": 12,
            "heads": 12,
            "width": 768,
            "inner": 3072,
            "vector_dropout": 0.0,
            "layer_dropout": 0.1,
            "projection": 256,
            "normalise": True,
            "classifier": "own",
            "common": False,
            "average": "annotator",
            "hidden": (256,),
            "dropout": 0.5,
            "hidden_dropout": 0.3,
            "standardise": False,
            "training": training,
        }
        return cls(**of_paper | settings)

    @classmethod
    def published_video(cls, **settings: Any) -> Self:
        """The video model of the paper: 32 queries summarise the 257 positions of each frame."""
        of_paper: dict[str, Any] = {
            "frame_queries": 32,
            "frame_positions": 257,
            "layer_norms": True,
            "projection_dropout": 0.3,
        }
        model = cls.published(**of_paper | settings)
        if "training" not in settings:
            model.training = dataclasses.replace(model.training, batch_size=32)
        return model

    @property
    def pools(self) -> bool:
        return False

    # ---- fit ----

    def network(self, sizes: Sizes) -> Network:
        if self.frame_queries and len(sizes.widths) > 1:
            raise ModelError(f"frame_queries need one role, found {listed(sizes.widths)}")
        return QueryNet(sizes, self)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        family = likelihood(corpus[question].scale)
        spread = self.spread if self.has_prior else math.inf
        return annotator_biases(corpus, question, family, self.name, self.aggregate, spread)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = super().losses(sizes)
        if self.has_prior:
            return tuple(penalised(loss) for loss in losses)
        if self.average == "answer":
            return losses
        return tuple(_by_annotator(loss) if loss.over == "row" else loss for loss in losses)

    def rows(self, corpus: Corpus) -> Table:
        rows = super().rows(corpus)
        return _with_majority(rows, corpus) if self.learn == "majority" else rows

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
        attention = self._attention(corpus, pairs.item, code[pairs.annotator])
        shown = {q: dataclasses.replace(p, attention=attention) for q, p in predictions.items()}
        densities = predictions.densities.values()
        return Predictions(shown, predictions.method, predictions.corpus, densities)

    def _attention(
        self, corpus: Corpus, item: np.ndarray, code: np.ndarray
    ) -> tuple[Attention, ...]:
        """The maps of pairs, one for each role; nan for annotators without an answer in training
        (code -1)."""
        known = np.flatnonzero(code >= 0)
        known = known[np.argsort(item[known], kind="stable")]  # the order of the table's rows
        table = Table.of_pairs(item[known], code[known])
        examples = self._prediction_examples(corpus, table)
        maps: dict[str, list[np.ndarray]] = {role: [] for role in self.sizes_.widths}
        places: dict[str, list[np.ndarray]] = {role: [] for role in self.sizes_.widths}
        lengths: dict[str, list[np.ndarray]] = {role: [] for role in self.sizes_.widths}
        size = min(ATTENTION_AT_ONCE, self._most_items(examples))
        with torch.inference_mode():
            for batch, _ in batches(examples, np.arange(corpus.n_items), size):
                encoded = batch
                if isinstance(self.network_, FineTunedNetwork):
                    encoded = self.network_.encoded(batch)
                weights = self._query_net.attention(encoded) if len(batch.rows.item) else {}
                for role in self.sizes_.widths:
                    mask = positions_of_items(encoded.sequence[role], batch.content[role], None)
                    of_item = batch.content[role].clamp(min=0)
                    places[role].append(encoded.sequence[role].places[of_item][mask].cpu().numpy())
                    lengths[role].append(mask.sum(dim=1).cpu().numpy())
                    if weights:
                        maps[role].append(
                            weights[role][mask[batch.rows.item]].float().cpu().numpy()
                        )
        return tuple(
            _attention_of(
                role,
                item,
                known,
                np.concatenate(maps[role] or [np.zeros(0, np.float32)]),
                np.concatenate(places[role]),
                np.concatenate(lengths[role]),
            )
            for role in self.sizes_.widths
        )


def _attention_of(
    role: str,
    item: np.ndarray,
    known: np.ndarray,
    weights: np.ndarray,
    places: np.ndarray,
    lengths: np.ndarray,
) -> Attention:
    """The attention of pairs in a role.

    Args:
        item: of each pair.
        known: the pairs that have a map.
        weights: of these pairs, one after another.
        places, lengths: of the positions of items, and how many each has.
    """
    attention = Attention.empty(role, item, places, np.append(0, np.cumsum(lengths)))
    n = np.diff(attention.offsets)[known]
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    attention.weight[np.repeat(attention.offsets[known], n) + within] = weights
    return attention


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


def _with_majority(table: Table, corpus: Corpus) -> Table:
    """The rows with the consensus of their item as the answer; all rows of an item count as one."""
    changed = dataclasses.replace(table, answer={}, weight={})
    for question, answer in table.answer.items():
        labels = corpus[question].consensus()
        target = likelihood(labels.scale).target(labels.answer)
        of_items = np.zeros((corpus.n_items, *target.shape[1:]), target.dtype)
        of_items[labels.item] = target
        n = np.bincount(table.item, table.weight[question] > 0, corpus.n_items)
        share = (table.weight[question] > 0) / np.maximum(n, 1)[table.item]
        changed.answer[question] = of_items[table.item].astype(answer.dtype)
        changed.weight[question] = share.astype(np.float32)
    return changed


def _weights_of(path: Path) -> dict[str, Tensor]:
    """The weights in a file of safetensors or of torch; no code in it is run."""
    if not path.is_file():
        raise ModelError(f"pretrained: no file {path}")
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    return dict(loaded.get("model", loaded))
