"""What methods with a network share: encoding, the loop, and reading outputs as answers."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.encoders import Encoder, encoders_of
from dissensus.errors import ModelError, listed
from dissensus.methods.base import Answers, Method
from dissensus.networks.likelihoods import likelihood
from dissensus.scales import Interval
from dissensus.training import Examples, Loss, Network, Sizes, Training, fit
from dissensus.training.examples import Table
from dissensus.training.loop import Log, batches

ITEMS_AT_ONCE = 1024


@dataclass(eq=False)
class TrainedMethod(Method):
    """A method is its settings, a network, losses and targets; everything else stands here.

    Args:
        encoder: what turns contents into vectors, by name, or a name for each role.
        training: how the network is trained.
        init_seed: of the network's first weights.
    """

    encoder: str | dict[str, str] = "minilm"
    training: Training = Training()
    init_seed: int = 0

    network_: Network = dataclasses.field(init=False, repr=False)
    sizes_: Sizes = dataclasses.field(init=False, repr=False)
    log_: Log = dataclasses.field(init=False, repr=False)
    _held: tuple[Corpus, Examples] | None = dataclasses.field(init=False, repr=False, default=None)
    needs_rows: ClassVar[bool] = False  # whether the losses look at annotators' own answers

    # ---- what a method writes ----

    @abstractmethod
    def network(self, sizes: Sizes) -> Network:
        """The network, in plain torch."""

    @abstractmethod
    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        """What is minimised."""

    @abstractmethod
    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        """Per item, made once before the loop, (n_items, ...) each."""

    @abstractmethod
    def learns(self, corpus: Corpus) -> np.ndarray:
        """The items (codes) that there is something to learn from."""

    @abstractmethod
    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases that the heads start from."""

    # ---- what the base asks for ----

    def _fit(self, corpus: Corpus, validation: Corpus | None) -> None:
        questions = self.learned_.questions
        self._held = None
        readers = encoders_of(corpus, self.encoder)
        examples = self._examples(corpus, readers)
        self._note(corpus, examples)
        self.sizes_ = Sizes(
            questions,
            len(self.learned_.annotators),
            {role: int(vectors.shape[1]) for role, vectors in examples.pooled.items()},
            {question: self.start(corpus, question) for question in questions},
        )
        learned = self.learns(corpus)
        self.network_ = self._made().to(examples.device)
        items = torch.from_numpy(learned).to(examples.device)
        self.network_.prepare({r: v[examples.entry[r][items]] for r, v in examples.pooled.items()})
        self.log_ = fit(
            self.network_,
            self.losses(self.sizes_),
            examples,
            self.training,
            None if validation is None else self._examples(validation, readers),
            learned=learned,
        )
        self.network_.eval()

    def _examples(self, corpus: Corpus, readers: dict[str, Encoder]) -> Examples:
        if self.needs_rows:
            table = Table.of_corpus(corpus, tuple(self.learned_.questions))
        else:
            table = Table.of_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
        device = self.training.where()
        return Examples.of_corpus(corpus, readers, table, self.targets(corpus), device=device)

    def _made(self) -> Network:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.init_seed)
            return self.network(self.sizes_)

    def _of_items(self, corpus: Corpus) -> dict[str, Answers]:
        table = Table.of_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
        found: dict[str, list[Tensor]] = {question: [] for question in self.learned_.questions}
        examples = self._asked(corpus, table)
        with torch.inference_mode():
            for batch, _ in batches(examples, np.arange(corpus.n_items), ITEMS_AT_ONCE):
                for question, raw in self.network_(batch).items.items():
                    found[question].append(raw)
        return {q: self._read(q, torch.cat(parts)) for q, parts in found.items()}

    def _of_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        table = Table.of_pairs(item, annotator)
        order = np.argsort(item, kind="stable")
        found: dict[str, list[Tensor]] = {question: [] for question in self.learned_.questions}
        examples = self._asked(corpus, table)
        per_item = max(1, int(np.bincount(item).max()))
        with torch.inference_mode():
            for batch, _ in batches(examples, np.unique(item), max(1, (1 << 15) // per_item)):
                for question, raw in self.network_(batch).rows.items():
                    found[question].append(raw)
        back = np.argsort(order, kind="stable")
        return {q: self._read(q, torch.cat(parts)).take(back) for q, parts in found.items()}

    def _asked(self, corpus: Corpus, table: Table) -> Examples:
        """Examples to predict on; the last corpus's vectors are kept for the next question."""
        held = self._held
        if held is None or held[0] is not corpus:
            readers = encoders_of(corpus, self._encoder_for(corpus))
            device = self.training.where()
            self.network_.to(device)
            held = corpus, Examples.of_corpus(corpus, readers, table, device=device)
            self._held = held
            self._check_widths(corpus, held[1])
            self._note(corpus, held[1])
        return dataclasses.replace(held[1], table=table)

    def _note(self, corpus: Corpus, examples: Examples) -> None:
        unread = [role for role in corpus.contents if role not in examples.pooled]
        if unread:
            self.notes_.append(f"{self.encoder!r} does not read {listed(unread)}")
        if examples.unfocused:
            self.notes_.append(
                f"{examples.unfocused} items have a focus that overlaps nothing the encoder "
                "reads; their whole content is taken"
            )

    def _encoder_for(self, corpus: Corpus) -> dict[str, str]:
        missing = [role for role in self.sizes_.widths if role not in corpus.contents]
        if missing:
            raise ModelError(
                f"{corpus.name}: the model reads {listed(self.sizes_.widths)}, the corpus shows "
                f"{listed(corpus.contents) or 'nothing'}"
            )
        name = self.encoder
        return {r: name if isinstance(name, str) else name[r] for r in self.sizes_.widths}

    def _check_widths(self, corpus: Corpus, examples: Examples) -> None:
        for role, width in self.sizes_.widths.items():
            found = int(examples.pooled[role].shape[1])
            if found != width:
                raise ModelError(
                    f"{corpus.name}: vectors of {role!r} are {found} wide, in training they were "
                    f"{width}"
                )

    def _read(self, question: str, raw: Tensor) -> Answers:
        scale = self.learned_.questions[question]
        reading = likelihood(scale)
        value = reading.value(raw).cpu().numpy()
        if isinstance(scale, Interval):
            value = scale.from_unit(value).clip(scale.low, scale.high)
        distribution = reading.distribution(raw.double()).cpu().numpy()
        return Answers(distribution, value.astype(scale.dtype))

    # ---- saving ----

    def _weights(self) -> dict[str, np.ndarray]:
        return {name: value.cpu().numpy() for name, value in self.network_.state_dict().items()}

    def _restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        people = len(self.learned_.annotators)
        self.sizes_ = Sizes(self.learned_.questions, people, config["widths"])
        self.network_ = self._made().eval()
        self.network_.load_state_dict({name: torch.from_numpy(v) for name, v in weights.items()})

    def _config(self) -> dict[str, Any]:
        return super()._config() | {"widths": self.sizes_.widths}

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        read = super()._settings(settings)
        return read | {"training": Training(**settings["training"])}
