"""What methods with a network share: encoding, the loop, and reading outputs as answers."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.encoders import EncoderNetwork, Encoding, NeuralEncoder, encodings
from dissensus.encoders.framework.digest import data_digest
from dissensus.errors import DataError, ModelError, listed
from dissensus.methods.framework.answers import Answers
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.labels import items_of
from dissensus.methods.framework.role_encoders import RoleEncoders, encoding_notes, widths_of
from dissensus.metrics import METRICS, metric_name, scores
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import keyed
from dissensus.scales import Interval
from dissensus.training import Batch, Examples, Loss, Network, Sizes, Training
from dissensus.training.batches import batches
from dissensus.training.checkpoint import Checkpoint
from dissensus.training.examples import Table
from dissensus.training.fine_tuning import FineTunedNetwork, pooled_by_item
from dissensus.training.log import Log
from dissensus.training.loop import Trainer
from dissensus.training.processes import current_processes
from dissensus.training.settings import LARGEST_SEED
from dissensus.training.validation import Validation, mean_loss

ExamplesCache = dict[tuple[int, str], Examples]  # by corpus and by how it is read

ITEMS_AT_ONCE = 1024
ROWS_AT_ONCE = 1 << 15
TUNED_AT_ONCE = 64  # contents that are encoded, where an encoder runs too, on a CPU
ON_GPU = 4  # times as many
ITEMS_TO_SEE = 1024  # to standardise what an encoder makes that learns too


@dataclass(eq=False)
class TrainedMethod(Method):
    """A method is its settings, a network, losses and targets; everything else stands here.

    Args:
        encoder: what turns contents into vectors: a name ("auto": the default for each kind of
            content), or a name for each role; "premise+hypothesis" are texts read together, and
            "minilm:max_length=64" has options.
        tune: what of the encoder learns too: "nothing", "all", or how many of its last blocks.
        training: how the network is trained.
        init_seed: of the network's first weights.
    """

    encoder: str | dict[str, str] = "auto"
    tune: str | int = "nothing"
    training: Training = Training()
    init_seed: int = 0

    network_: Network = dataclasses.field(init=False, repr=False)
    sizes_: Sizes = dataclasses.field(init=False, repr=False)
    log_: Log = dataclasses.field(init=False, repr=False)
    _held: tuple[Corpus, Examples, list[str]] | None = dataclasses.field(
        init=False, repr=False, default=None
    )
    _identities: dict[str, str] = dataclasses.field(init=False, repr=False, default_factory=dict)
    needs_rows: ClassVar[bool] = False  # whether the losses look at annotators' own answers

    @property
    def pools(self) -> bool:
        """Whether the network takes one vector per item and role, the mean over its positions."""
        return True

    @property
    def n_networks(self) -> int:
        """How many networks a fit trains."""
        return 1

    # ---- what a method writes ----

    @abstractmethod
    def network(self, sizes: Sizes) -> Network:
        """The network, in plain torch."""

    @abstractmethod
    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        """What is minimised."""

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        """Arrays that losses over items compare with, (n_items, ...) each; none if left out."""
        return {}

    def learns(self, corpus: Corpus) -> np.ndarray:
        """The items (codes) that there is something to learn from: those with an answer."""
        return items_of(corpus[question] for question in self.learned_.questions)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases that the heads start from: the base rates of the answers."""
        answers = corpus[question]
        return likelihood(answers.scale).start(answers.answer, answers.weight)

    def output(self, question: str) -> str:
        """The output of the network that the answer for items is read from."""
        return question

    # ---- what the base asks for ----

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        current_processes().check(self.training.where())
        runs = self.trainers(corpus, validation)
        runs[0].train(self._kept_state(corpus, validation))
        self.end_fit(runs, corpus, validation)

    def trainers(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> list[Trainer]:
        """The trainings that make up a fit, about to begin; see `_run`."""
        return [self.trainer(corpus, validation, cache)]

    def end_fit(self, runs: list[Trainer], corpus: Corpus, validation: Corpus | None) -> None:
        """Take over what the trainings came to."""
        self.log_ = runs[0].log
        self.notes_ += runs[0].notes
        self.network_.eval()
        weights = self.network_.state_dict().values()
        if not torch.stack([held.isfinite().all() for held in weights]).all():
            rate = self.training.learning_rate  # the loss is that of before the last step
            raise ModelError(
                "training diverged: weights are no finite numbers after the last step; "
                f"lower the learning rate ({rate:g})"
            )

    def trainer(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> Trainer:
        """A network and everything that it learns from, about to be trained.

        Args:
            cache: what other methods have laid out of the same corpora, to be shared.
        """
        questions = self.learned_.questions
        self._held, self._identities = None, {}
        read = encodings(corpus, self.encoder)
        examples = self.shared_examples(corpus, read, cache)
        self.sizes_ = Sizes(
            questions,
            len(self.learned_.annotators),
            widths_of(examples, {role: reading.encoder for role, reading in read.items()}),
            {question: self.start(corpus, question) for question in questions},
        )
        learned = self.learns(corpus)
        self.notes_ += encoding_notes(self.encoder, corpus, examples, read)
        if len(learned) < corpus.n_items:
            self.notes_.append(
                f"{corpus.n_items - len(learned)} of {corpus.n_items} items have no answer or "
                "label to learn from"
            )
        self.network_ = self._made().to(examples.device)
        if not isinstance(self.network_, FineTunedNetwork) or self.network_.learned_before:
            self.network_.prepare(self._shown(examples, learned))
        judge = None if validation is None else self._judge(validation)
        if judge is None and (self.training.patience or self.training.choose_by != "loss"):
            self.notes_.append("without a validation corpus all epochs are made, and the last kept")
        losses = self.losses(self.sizes_)
        own = ("training", "init_seed")  # of each of several trainings of one kind
        settings = {k: v for k, v in self.get_params().items() if k not in own}
        kind = repr((self.name, questions, settings))
        return Trainer(self.network_, losses, examples, self.training, judge, learned, kind)

    def _judge(self, validation: Corpus) -> Validation:
        """How an epoch is judged: by the loss on the validation corpus, or by a metric."""
        if not any(validation[question].n_rows for question in self.learned_.questions):
            raise DataError(
                f"{validation.name}: nobody whom training knows answered anything in the "
                "validation part; there is nothing to choose an epoch by"
            )
        if self.training.choose_by == "loss":
            examples = self._examples(validation, self._read_as(validation))
            losses = tuple(loss for loss in self.losses(self.sizes_) if loss.due(1))
            return Validation(
                "loss", lambda: mean_loss(self.network_, losses, examples, self.training), False
            )
        name = metric_name(self.training.choose_by)
        with current_processes().first_alone():
            found = self._figures(validation, name)
        if not found:
            raise ModelError(
                f"training.choose_by: {name!r} does not apply to {listed(self.learned_.questions)}"
            )
        return Validation(
            name,
            lambda: float(np.mean(self._figures(validation, name))),
            METRICS[name].higher_is_better,
        )

    def _figures(self, corpus: Corpus, metric: str) -> list[float]:
        """A metric of each question it applies to."""
        self.network_.eval()
        notes = self.notes_
        said = self.predict(corpus, unknown="drop", same_annotators=True)
        self.notes_ = notes
        found = {q: scores(said[q], corpus[q], metrics=[metric]) for q in self.learned_.questions}
        return [figure for by_name in found.values() for figure in by_name.values()]

    def _kept_state(self, corpus: Corpus, validation: Corpus | None) -> Checkpoint | None:
        """Where the training's state is kept, and what tells it from any other training."""
        if self._checkpoint is None:
            return None
        config = self.config()
        config["settings"]["training"].pop("save_every")
        digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
        for held in (corpus, validation):
            digest.update(b"none" if held is None else data_digest(held).encode())
        return Checkpoint(self._checkpoint, digest.hexdigest(), self.training.save_every)

    def _write_more(self, folder: Path) -> None:
        if hasattr(self, "log_"):
            self.log_.write(folder / "log.csv")

    def shared_examples(
        self, corpus: Corpus, read: dict[str, Encoding], cache: ExamplesCache | None
    ) -> Examples:
        """The examples of a corpus, from those of another method of the kind if it has them."""
        if cache is None:
            return self._examples(corpus, read)
        how = repr(
            (type(self), self.encoder, self.tune, self.pools, self.learned_.questions)
            + (self.training.device,)
        )
        if (id(corpus), how) not in cache:
            cache[id(corpus), how] = self._examples(corpus, read)
        found = cache[id(corpus), how]
        targets = {name: torch.from_numpy(held) for name, held in self.targets(corpus).items()}
        alike = found.targets.keys() == targets.keys()
        if alike and all(torch.equal(found.targets[n].cpu(), held) for n, held in targets.items()):
            return found
        moved = {name: held.to(found.device) for name, held in targets.items()}
        return dataclasses.replace(found, targets=moved)

    def _examples(self, corpus: Corpus, read: dict[str, Encoding]) -> Examples:
        if self.needs_rows:
            table = Table.of_corpus(corpus, tuple(self.learned_.questions))
        else:
            table = Table.of_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
        targets = self.targets(corpus)
        with current_processes().first_alone():
            return self._build_examples(corpus, read, table, targets)

    def _build_examples(
        self,
        corpus: Corpus,
        read: dict[str, Encoding],
        table: Table,
        targets: dict[str, np.ndarray] | None = None,
    ) -> Examples:
        tuned, device = self.tune != "nothing", self.training.where()
        return Examples.of_corpus(
            corpus, read, table, targets, pool=self.pools, tuned=tuned, device=device
        )

    def _shown(self, examples: Examples, learned: np.ndarray) -> dict[str, Tensor]:
        """The pooled vectors of training, as the network first sees them; a sample of those that
        an encoder makes which is yet to learn, and of those that the network pools itself."""
        network = self.network_
        if not isinstance(network, FineTunedNetwork) and self.pools:
            items = torch.from_numpy(learned).to(examples.device)
            return {r: v[examples.entry[r][items]] for r, v in examples.pooled.items()}
        some = np.sort(np.random.default_rng(0).permutation(learned)[:ITEMS_TO_SEE])
        if examples.seen is None or not np.array_equal(examples.seen[0], some):
            network.eval()
            with torch.no_grad():
                cut = batches(examples, some, self._at_once())
                means = [self._means(batch) for batch, _ in cut]
            joined = {role: torch.cat([batch[role] for batch in means]) for role in means[0]}
            examples.seen = some, joined
        return examples.seen[1]

    def _at_once(self) -> int:
        """How many contents an encoder that learns reads at once, outside of training."""
        return TUNED_AT_ONCE * (ON_GPU if self.training.on_gpu else 1)

    def _means(self, batch: Batch) -> dict[str, Tensor]:
        """The mean vector of each item of a batch, whoever pools them."""
        if isinstance(self.network_, FineTunedNetwork):
            batch = self.network_.encoded(batch)
        means = {
            role: pooled_by_item(held, batch.content[role], batch.focus.get(role))
            for role, held in batch.sequence.items()
        }
        return {role: (batch.pooled | means)[role] for role in self.sizes_.widths}

    def _first_seed(self) -> int:
        if not -LARGEST_SEED <= self.init_seed < LARGEST_SEED:
            raise ModelError(f"init_seed is a whole number below 2**63, found {self.init_seed}")
        return self.init_seed

    def _made(self) -> Network:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self._first_seed())  # made on the CPU
            network = self.network(self.sizes_)
            if self.tune == "nothing":
                return keyed(network)
            return keyed(FineTunedNetwork(network, self._trained_encoders(), self.pools))

    def _trained_encoders(self) -> dict[str, EncoderNetwork]:
        """The network that reads each role and learns; roles of one encoder share it."""
        every = self._readers.encoders().items()
        encoders = {role: reader for role, reader in every if isinstance(reader, NeuralEncoder)}
        if not encoders:
            raise ModelError(f"nothing to tune: {self.encoder!r} has no network")
        trained = {}
        for reader in dict.fromkeys(encoders.values()):
            if reader.network.pretrained:  # copied where it learns, which is faster on a GPU
                reader.network.to(self.training.where())
            trained[reader] = reader.trainable(self._blocks())
            trained[reader].initialise()
        return {role: trained[reader] for role, reader in encoders.items()}

    def _blocks(self) -> int | None:
        """How many of the encoder's last blocks learn; all of it if None."""
        if self.tune == "all":
            return None
        try:
            return int(self.tune)
        except ValueError:
            raise ModelError(
                f"tune is 'nothing', 'all' or a number of blocks, not {self.tune!r}"
            ) from None

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        table = Table.of_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
        found: dict[str, list[Tensor]] = {question: [] for question in self.learned_.questions}
        examples = self._asked(corpus, table)
        with torch.inference_mode():
            size = min(ITEMS_AT_ONCE, self._most_items(examples))
            for batch, _ in batches(examples, np.arange(corpus.n_items), size):
                outputs = self.network_(batch).items
                for question, parts in found.items():
                    parts.append(outputs[self.output(question)])
        return {q: self._read(q, torch.cat(parts)) for q, parts in found.items()}

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        table = Table.of_pairs(item, annotator)
        order = np.argsort(item, kind="stable")
        found: dict[str, list[Tensor]] = {question: [] for question in self.learned_.questions}
        examples = self._asked(corpus, table)
        per_item = max(1, int(np.bincount(item).max()))
        with torch.inference_mode():
            size = min(max(1, ROWS_AT_ONCE // per_item), self._most_items(examples))
            for batch, _ in batches(examples, np.unique(item), size):
                for question, raw in self.network_(batch).rows.items():
                    found[question].append(raw)
        back = np.argsort(order, kind="stable")
        return {q: self._read(q, torch.cat(parts)).take(back) for q, parts in found.items()}

    def _most_items(self, examples: Examples) -> int:
        """How many items are predicted at once, at most; words that share a text, more of them."""
        if not isinstance(self.network_, FineTunedNetwork):
            return ROWS_AT_ONCE
        n_contents = [len(np.unique(examples.content[role])) for role in examples.prepared]
        return self._at_once() * max(1, examples.n_items // max([1, *n_contents]))

    def _asked(self, corpus: Corpus, table: Table) -> Examples:
        """Examples to predict on; the last corpus's vectors are kept for the next question."""
        held = self._held
        if held is None or held[0] is not corpus:
            self.network_.to(self.training.where())
            read = self._read_as(corpus)
            examples = self._build_examples(corpus, read, table)
            self._check_widths(corpus, examples)
            notes = encoding_notes(self.encoder, corpus, examples, read)
            held = self._held = corpus, examples, notes
        self.notes_ += [note for note in held[2] if note not in self.notes_]
        return dataclasses.replace(held[1], table=table)

    def share_encodings(self, other: TrainedMethod) -> None:
        """Take over what a method of the same settings has read to predict, to answer it too."""
        self._held = other._held

    def encodings(self, corpus: Corpus) -> dict[str, Encoding]:
        return self._read_as(corpus) if hasattr(self, "sizes_") else encodings(corpus, self.encoder)

    @property
    def _readers(self) -> RoleEncoders:
        return RoleEncoders(self.encoder, tuple(self.sizes_.widths), self.learned_.roles)

    def _roles(self) -> list[str]:
        return self._readers.roles()

    def _read_as(self, corpus: Corpus) -> dict[str, Encoding]:
        return self._readers.encodings(corpus, self._identities)

    def _check_widths(self, corpus: Corpus, examples: Examples) -> None:
        found = widths_of(examples, self._readers.encoders())
        for role, width in self.sizes_.widths.items():
            if found[role] != width:
                raise ModelError(
                    f"{corpus.name}: vectors of {role!r} are {found[role]} wide, in training they "
                    f"were {width}"
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

    def weights(self) -> dict[str, np.ndarray]:
        return {name: value.cpu().numpy() for name, value in self.network_.state_dict().items()}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        people = len(self.learned_.annotators)
        self.sizes_ = Sizes(self.learned_.questions, people, config["widths"])
        self._identities = config["encoders"]
        self.network_ = self._made().eval()
        self.network_.load_state_dict({name: torch.from_numpy(v) for name, v in weights.items()})

    def config(self) -> dict[str, Any]:
        encoders = {role: reader.identity for role, reader in self._readers.encoders().items()}
        return super().config() | {"widths": self.sizes_.widths, "encoders": encoders}

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        read = super()._settings(settings)
        return read | {"training": Training(**settings["training"])}
