"""TrainedMethod: a method with a network, from the corpus through training to answers."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.encoders import (
    Encoder,
    EncoderNetwork,
    Encoding,
    NeuralEncoder,
    UntrainedEncoder,
    encodings,
    roles_of,
)
from dissensus.encoders import encoder as encoder_of
from dissensus.encoders.framework.catalogue import AND
from dissensus.encoders.framework.digest import data_digest
from dissensus.errors import DataError, ModelError, listed
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers, has_answers, items_of
from dissensus.methods.framework.network_size import check_network_size
from dissensus.methods.framework.settings import changed
from dissensus.metrics import GOLD, METRICS, gold_scores, metric_name, scores
from dissensus.names import Names
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.low_rank import add_low_rank
from dissensus.networks.noise import draw_by_key
from dissensus.scales import Interval, MultiLabel
from dissensus.training import Examples, Loss, Network, Outputs, Sizes, Training
from dissensus.training.checkpoint import Checkpoint
from dissensus.training.examples import Table, batches, plan_epoch
from dissensus.training.fine_tuning import FineTunedNetwork, pooled_by_item
from dissensus.training.loop import Trainer
from dissensus.training.processes import current_processes
from dissensus.training.settings import LARGEST_SEED
from dissensus.training.validation import Log, Validation, mean_loss


@dataclass(frozen=True)
class RoleEncoders:
    """The encoders of a fitted method, by role.

    Example:
        >>> pairs = RoleEncoders("spelling", ("premise+hypothesis",), {"premise": "text",
        ...                                                             "hypothesis": "text"})
        >>> pairs.roles()
        ['premise', 'hypothesis']
    """

    named: str | dict[str, str]  # the setting `encoder`: a name, or a name by role
    keys: tuple[str, ...]  # such as "text", "premise+hypothesis" or "text&spelling"
    kinds: Mapping[str, str]  # of contents, by role

    def roles(self) -> list[str]:
        """All roles that are read, each once."""
        return list(dict.fromkeys(r for key in self.keys for r in roles_of(key, self.kinds)))

    def check(self) -> None:
        """Refuse keys whose role or encoder is missing, as in a damaged model folder."""
        for key in self.keys:
            roles = roles_of(key, self.kinds)
            unknown = [role for role in roles if role not in self.kinds]
            if unknown:
                raise ModelError(f"no role {listed(unknown)}; there are {listed(self.kinds)}")
            if isinstance(self.named, dict) and self._joined_roles(key) not in self.named:
                raise ModelError(f"'encoder' has none for {self._joined_roles(key)!r}")

    def encoders(self) -> dict[str, Encoder]:
        """The encoder of each key."""
        encoders = {}
        for key in self.keys:
            roles = self._joined_roles(key)
            name = self._name(roles)
            one = name.split(AND)[0] if key == roles else key.split(AND, 1)[1]
            encoders[key] = encoder_of(one, self.kinds[roles_of(key, self.kinds)[0]])
        return encoders

    def encodings(self, corpus: Corpus, identities: Mapping[str, str]) -> dict[str, Encoding]:
        """The encodings of another corpus, as in training.

        Args:
            identities: of the encoders in training, by key; an encoder that differs is refused.
        """
        roles = self.roles()
        if any(role not in corpus.contents for role in roles):
            raise ModelError(
                f"{corpus.name}: the model reads {listed(roles)}, the corpus has "
                f"{listed(corpus.contents) or 'no contents'}"
            )
        names = {role: self._name(role) for role in map(self._joined_roles, self.keys)}
        by_key = encodings(corpus, names)
        for key, encoding in by_key.items():
            identity = encoding.encoder.identity
            if identities.get(key, identity) != identity:
                role = self._joined_roles(key)
                raise ModelError(
                    f"encoder {names[role]!r} of {role!r} is not the one of training: its weights "
                    "or options differ; restore the former one, or train again"
                )
        return by_key

    def _joined_roles(self, key: str) -> str:
        return "+".join(roles_of(key, self.kinds))

    def _name(self, roles: str) -> str:
        """The name of the encoder of a role, or of several roles that are read together."""
        return self.named if isinstance(self.named, str) else self.named[roles]


def encoding_notes(
    named: str | dict[str, str], corpus: Corpus, examples: Examples, by_key: dict[str, Encoding]
) -> list[str]:
    """Notes on what the encoders do not read of the corpus."""
    roles = {role for key in examples.roles for role in roles_of(key, corpus.contents)}
    unread = [role for role in corpus.contents if role not in roles]
    notes = [f"{named!r} does not read {listed(unread)}"] if unread else []
    if examples.unfocused:
        notes.append(
            f"{examples.unfocused} items have a focus that overlaps nothing the encoder "
            "reads; their whole content is taken"
        )
    if examples.n_cut == 1:
        notes.append("1 content is longer than the encoder reads; its end is not seen")
    elif examples.n_cut:
        longer = f"{examples.n_cut} contents are longer than the encoder reads"
        notes.append(f"{longer}; their ends are not seen")
    unknown = [encoding.encoder.unknown_note(encoding.contents) for encoding in by_key.values()]
    return notes + [note for note in unknown if note]


def widths_of(examples: Examples, encoders: dict[str, Encoder]) -> dict[str, int]:
    """The width of the vectors, by role."""
    widths = {}
    for role, encoder in encoders.items():
        if role in examples.pooled:
            widths[role] = int(examples.pooled[role].shape[1])
        elif role in examples.stores:
            widths[role] = examples.stores[role].width
        else:
            assert isinstance(encoder, NeuralEncoder)
            widths[role] = encoder.network.width
    return widths


ExamplesCache = dict[tuple[int, str], Examples]  # by id of the corpus and what they depend on

ITEMS_AT_ONCE = 1024  # per batch of a prediction
ROWS_AT_ONCE = 1 << 15
TUNED_AT_ONCE = 64  # contents per batch of a fine-tuned encoder, on a CPU
RANK = 8  # of matrices that tune=lora adds
ON_GPU = 4  # times as many on a GPU
ITEMS_TO_SEE = 1024  # to standardise the vectors of an encoder that is fine-tuned


@dataclass(eq=False)
class TrainedMethod(Method):
    """A method with a network. A subclass gives settings, a network and losses.

    Args:
        encoder: what turns contents into vectors: a name ("auto": the default for each kind of
            content), or a name for each role; "premise+hypothesis" are texts read together, and
            "minilm:max_length=64" has options.
        tune: what of the encoder is fine-tuned: "nothing", "all", the number of last blocks, or
            "lora": matrices of rank 8 (of 16: "lora:16") that are added to its linear layers.
        training: how the network is trained; settings that it does not contain are those of the
            method's default.
        init_seed: the seed of the network's first weights.
    """

    encoder: str | dict[str, str] = "auto"
    tune: str | int = "nothing"
    training: Training = Training(epochs=20, least_steps=1000)
    init_seed: int = 0

    network_: Network = dataclasses.field(init=False, repr=False)
    sizes_: Sizes = dataclasses.field(init=False, repr=False)
    log_: Log = dataclasses.field(init=False, repr=False)
    _encoded: tuple[Corpus, Examples, list[str]] | None = dataclasses.field(
        init=False, repr=False, default=None
    )
    _identities: dict[str, str] = dataclasses.field(init=False, repr=False, default_factory=dict)
    most_: int = dataclasses.field(init=False, repr=False, default=1)  # annotators of an item,
    # where the network or a loss depends on them
    needs_rows: ClassVar[bool] = False  # whether the losses use the answers of annotators

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if isinstance(own := vars(cls).get("training"), Training):
            bases = (base.training for base in cls.__mro__[1:] if issubclass(base, TrainedMethod))
            cls.training = own.over(next(bases))

    @property
    def pools(self) -> bool:
        """Whether the network takes one vector per item and role, the mean over its positions."""
        return True

    @property
    def n_networks(self) -> int:
        """How many networks a fit trains."""
        return 1

    @property
    def n_annotators(self) -> int:
        """How many annotators the network has."""
        return len(self.learned_.annotators)

    # ---- what a method overrides ----

    @abstractmethod
    def network(self, sizes: Sizes) -> Network:
        """The network, in plain torch."""

    @abstractmethod
    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        """What is minimised."""

    def prepare_fit(self, corpus: Corpus, validation: Corpus | None) -> None:  # noqa: B027
        """Keep what network and losses need to know of the corpus, before they are built."""

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        """Arrays that losses over items compare with, (n_items, ...) each; none if left out."""
        return {}

    def rows(self, corpus: Corpus) -> Table:
        """The rows that losses use: the answers of annotators, if the method `needs_rows`."""
        if not self.needs_rows:
            return Table.of_nothing()
        return Table.of_corpus(corpus, tuple(self.learned_.questions))

    def learns(self, corpus: Corpus) -> np.ndarray:
        """The items (codes) to learn from: those with an answer."""
        return items_of(corpus[question] for question in self.learned_.questions)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases that the heads start from: the base rates of the answers."""
        answers = corpus[question]
        return likelihood(answers.scale).start(answers.answer, answers.weight)

    def output(self, question: str) -> str:
        """The name of the network's output that predicts items."""
        return question

    # ---- fit ----

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        current_processes().check(self.training.where())
        runs = self.trainers(corpus, validation)
        runs[0].train(self.training_checkpoint(corpus, validation))
        self.end_fit(runs, corpus, validation)

    def trainers(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> list[Trainer]:
        """The trainings of a fit, ready to start; see `trainer`."""
        return [self.trainer(corpus, validation, cache)]

    def end_fit(self, runs: list[Trainer], corpus: Corpus, validation: Corpus | None) -> None:
        """Keep the results of the trainings."""
        self.log_ = runs[0].log
        self.notes_ += runs[0].notes
        self.network_.eval()
        weights = self.network_.state_dict().values()
        if not torch.stack([values.isfinite().all() for values in weights]).all():
            rate = self.training.learning_rate  # the loss is that of before the last step
            raise ModelError(
                "training diverged: weights are not finite after the last step; "
                f"lower the learning rate ({rate:g})"
            )

    def trainer(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> Trainer:
        """A network with everything that it learns from, ready to start.

        Args:
            cache: examples of the same corpora that other methods have built.
        """
        questions = self.learned_.questions
        self._encoded, self._identities = None, {}
        self.prepare_fit(corpus, validation)
        by_role = encodings(corpus, self.encoder)
        examples = self.shared_examples(corpus, by_role, cache)
        self.sizes_ = Sizes(
            questions,
            self.n_annotators,
            widths_of(examples, {role: encoding.encoder for role, encoding in by_role.items()}),
            {question: self.start(corpus, question) for question in questions},
        )
        learned = self.learns(corpus)
        self.notes_ += encoding_notes(self.encoder, corpus, examples, by_role)
        if len(learned) < corpus.n_items:
            self.notes_.append(
                f"{corpus.n_items - len(learned)} of {corpus.n_items} items have no answer or "
                "label to learn from"
            )
        self.network_ = self.build_network().to(examples.device)
        tuned = self.network_.networks if isinstance(self.network_, FineTunedNetwork) else []
        if all(network.pretrained for network in tuned):  # others' vectors will be different ones
            self.network_.prepare(self._vectors_to_prepare(examples, learned))
        judge = None if validation is None else self.validation_of(validation)
        if validation is None and (self.training.patience or self.training.choose_by != "loss"):
            self.notes_.append(
                "without a validation corpus, all epochs are trained and the last one is kept"
            )
        losses = self.losses(self.sizes_)
        training = self.training
        if all(encoding.contents.kind == "features" for encoding in by_role.values()):
            n_batches = len(plan_epoch(examples, learned, training, None))
            epochs = training.epochs_of_features(n_batches)
            training = dataclasses.replace(training, epochs=epochs)
        own = ("training", "init_seed")  # may differ between the trainings of a stack
        settings = {k: v for k, v in self.get_params(deep=False).items() if k not in own}
        kind = repr((type(self), questions, settings, self.most_))
        return Trainer(self.network_, losses, examples, training, judge, learned, kind)

    def validation_corpus(self, validation: Corpus | None) -> Corpus | None:
        """The validation corpus; None, with a note, if it has gold labels but no answers and the
        epoch is not chosen on gold labels."""
        if validation is None:
            return None
        aligned, questions = self.align(validation), self.learned_.questions
        learns_gold = getattr(self, "label", "") == "gold"  # so that the loss needs no answers
        if self._chooses_on_gold or learns_gold or has_answers(aligned, questions):
            return aligned
        if not any(question in aligned.gold for question in questions):
            raise DataError(
                f"{validation.name}: the validation part has no answer of an annotator who "
                "answered in training; there is nothing to choose an epoch by"
            )
        note = (
            "the validation part has gold labels but no answers, so that it is not used: all "
            "epochs are trained and the last one is kept; choose the epoch on gold labels with "
            "training.choose_by='accuracy (gold)' (train: --set, compare: --scoring)"
        )
        self.notes_ += [] if note in self.notes_ else [note]
        return None

    @property
    def _chooses_on_gold(self) -> bool:
        by = self.training.choose_by
        return by != "loss" and metric_name(by).endswith(GOLD)

    def validation_of(self, validation: Corpus) -> Validation:
        """How an epoch is scored: by the loss on the validation corpus, or by a metric."""
        if self._chooses_on_gold and not any(q in validation.gold for q in self.learned_.questions):
            raise DataError(
                f"{validation.name}: the validation part has no gold labels; choose the epoch by "
                "a metric of answers, or by the loss"
            )
        if self.training.choose_by == "loss":
            examples = self._examples(validation, self._training_encodings(validation))
            losses = tuple(loss for loss in self.losses(self.sizes_) if loss.due(1))
            score = partial(mean_loss, self.network_, losses, examples, self.training)
            return Validation("loss", score, False, losses, examples)
        name = metric_name(self.training.choose_by)
        with current_processes().first_alone():
            applicable = self._scores(validation, name)
        if not applicable:
            raise ModelError(
                f"training.choose_by: {name!r} does not apply to {listed(self.learned_.questions)}"
            )
        higher = METRICS[name.removesuffix(GOLD)].higher_is_better
        return Validation(name, lambda: float(np.mean(self._scores(validation, name))), higher)

    def _scores(self, corpus: Corpus, metric: str) -> list[float]:
        self.network_.eval()
        notes = self.notes_
        whose: Literal["own", "all"] = "all" if metric.endswith(GOLD) else "own"
        predictions = self.predict(corpus, unknown="drop", same_annotators=True, consensus=whose)
        self.notes_ = notes
        if whose == "all":
            known = [q for q in predictions if q in corpus.gold]
            by_question = [gold_scores(predictions[q], corpus.gold[q], [metric]) for q in known]
        else:
            by_question = [scores(predictions[q], corpus[q], metrics=[metric]) for q in predictions]
        return [score for by_metric in by_question for score in by_metric.values()]

    def training_checkpoint(self, corpus: Corpus, validation: Corpus | None) -> Checkpoint | None:
        """The checkpoint, with a digest that tells this training from any other."""
        if self._checkpoint is None:
            return None
        config = self.config()
        config["settings"]["training"].pop("save_every")
        digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
        for part in (corpus, validation):
            digest.update(b"none" if part is None else data_digest(part).encode())
        return Checkpoint(self._checkpoint, digest.hexdigest(), self.training.save_every)

    def write_to(self, folder: Path) -> None:
        super().write_to(folder)
        if hasattr(self, "log_"):
            self.log_.write(folder / "log.csv")

    def shared_examples(
        self, corpus: Corpus, by_role: dict[str, Encoding], cache: ExamplesCache | None
    ) -> Examples:
        """The examples of a corpus; from the cache if a method of the same kind built them."""
        if cache is None:
            return self._examples(corpus, by_role)
        settings = self.encoder, self.tune, self.pools, self.training.device, self.n_annotators
        key = id(corpus), repr((type(self), self.learned_.questions, settings))
        if key not in cache:
            cache[key] = self._examples(corpus, by_role)
        examples = cache[key]
        targets = {name: torch.from_numpy(values) for name, values in self.targets(corpus).items()}
        same_names = examples.targets.keys() == targets.keys()
        if same_names and all(torch.equal(examples.targets[n].cpu(), targets[n]) for n in targets):
            return examples
        moved = {name: values.to(examples.device) for name, values in targets.items()}
        return dataclasses.replace(examples, targets=moved)

    def _examples(self, corpus: Corpus, by_role: dict[str, Encoding]) -> Examples:
        table, targets = self.rows(corpus), self.targets(corpus)
        with current_processes().first_alone():
            return self._build_examples(corpus, by_role, table, targets)

    def _build_examples(self, corpus: Corpus, by_role: dict[str, Encoding], *of: Any) -> Examples:
        tuned, device = self.tune != "nothing", self.training.where()
        return Examples.of_corpus(corpus, by_role, *of, pool=self.pools, tuned=tuned, device=device)

    def _vectors_to_prepare(self, examples: Examples, learned: np.ndarray) -> dict[str, Tensor]:
        """The pooled vectors that the network may standardise by; only a sample of the items if
        the encoder is fine-tuned or the network pools itself."""
        network = self.network_
        if not isinstance(network, FineTunedNetwork) and self.pools:
            items = torch.from_numpy(learned).to(examples.device)
            return {r: v[examples.entry[r][items]] for r, v in examples.pooled.items()}
        some = np.sort(np.random.default_rng(0).permutation(learned)[:ITEMS_TO_SEE])
        if examples.seen is None or not np.array_equal(examples.seen[0], some):
            network.eval()
            means: dict[str, list[Tensor]] = {role: [] for role in self.sizes_.widths}
            with torch.no_grad():
                for batch, _ in batches(examples, some, self._at_once()):
                    if isinstance(network, FineTunedNetwork):
                        batch = network.encoded(batch)
                    pooled = dict(batch.pooled)
                    for role, vectors in batch.sequence.items():
                        focus = batch.focus.get(role)
                        pooled[role] = pooled_by_item(vectors, batch.content[role], focus)
                    for role, of_role in means.items():
                        of_role.append(pooled[role])
            examples.seen = some, {role: torch.cat(of_role) for role, of_role in means.items()}
        return examples.seen[1]

    def _at_once(self) -> int:
        """Contents per batch of a fine-tuned encoder, outside of training."""
        return TUNED_AT_ONCE * (ON_GPU if self.training.on_gpu else 1)

    def build_network(self) -> Network:
        if not -LARGEST_SEED <= self.init_seed < LARGEST_SEED:
            raise ModelError(f"init_seed must be an integer below 2**63, found {self.init_seed}")
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self.init_seed)  # built on the CPU
            network = self.network(self.sizes_)
            if self.tune == "nothing":
                return draw_by_key(network)
            return draw_by_key(FineTunedNetwork(network, self._trained_encoders(), self.pools))

    def _trained_encoders(self) -> dict[str, EncoderNetwork]:
        """The network to fine-tune for each role; roles with the same encoder share it."""
        every = self._role_encoders.encoders().items()
        encoders = {role: one for role, one in every if isinstance(one, NeuralEncoder)}
        if not encoders:
            raise ModelError(f"nothing to tune: {self.encoder!r} has no network")
        lora = re.fullmatch(r"lora(?::([1-9]\d*))?", str(self.tune))
        try:
            n_blocks = 1 if lora else None if self.tune == "all" else int(self.tune)  # the last
        except ValueError:
            raise ModelError(
                "tune must be 'nothing', 'all', a number of blocks, 'lora' or 'lora:RANK', not "
                f"{self.tune!r}"
            ) from None
        trained = {}
        for encoder in dict.fromkeys(encoders.values()):
            if encoder.network.pretrained:  # copying is faster where it will be trained
                encoder.network.to(self.training.where())
            trained[encoder] = encoder.trainable(n_blocks)
            trained[encoder].initialise()
            if lora:
                add_low_rank(trained[encoder], trained[encoder].blocks, int(lora[1] or RANK))
        return {role: trained[encoder] for role, encoder in encoders.items()}

    # ---- predict ----

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        examples = self._prediction_examples(corpus, Table.of_nothing())
        return self._answers_of(examples, np.arange(corpus.n_items), ITEMS_AT_ONCE, of_rows=False)

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        examples = self._prediction_examples(corpus, Table.of_pairs(item, annotator))
        at_once = max(1, ROWS_AT_ONCE // max(1, int(np.bincount(item).max())))
        answers = self._answers_of(examples, np.unique(item), at_once, of_rows=True)
        back = np.argsort(np.argsort(item, kind="stable"), kind="stable")
        return {question: of_rows.take(back) for question, of_rows in answers.items()}

    def _answers_of(
        self, examples: Examples, items: np.ndarray, at_once: int, of_rows: bool
    ) -> dict[str, Answers]:
        parts: dict[str, list[Tensor]] = {question: [] for question in self.learned_.questions}
        with torch.inference_mode():
            for batch, _ in batches(examples, items, min(at_once, self._most_items(examples))):
                outputs = self.network_(batch)
                for question, part in parts.items():
                    name = question if of_rows else self.output(question)
                    part.append((outputs.rows if of_rows else outputs.items)[name])
        return {q: self.answers(q, torch.cat(part)) for q, part in parts.items()}

    def _most_items(self, examples: Examples) -> int:
        """Items per batch of a prediction, at most; more if they share contents."""
        if not isinstance(self.network_, FineTunedNetwork):
            return ROWS_AT_ONCE
        n_contents = [len(np.unique(examples.content[role])) for role in examples.prepared]
        return self._at_once() * max(1, examples.n_items // max([1, *n_contents]))

    def _prediction_examples(self, corpus: Corpus, table: Table) -> Examples:
        """Examples to predict; those of the last corpus are kept for the next call."""
        if self._encoded is None or self._encoded[0] is not corpus:
            self.network_.to(self.training.where())
            by_role = self._training_encodings(corpus)
            examples = self._build_examples(corpus, by_role, table)
            widths = widths_of(examples, self._role_encoders.encoders())
            for role, width in self.sizes_.widths.items():
                if widths[role] != width:
                    raise ModelError(
                        f"{corpus.name}: vectors of {role!r} are {widths[role]} wide, in training "
                        f"they were {width}"
                    )
            notes = encoding_notes(self.encoder, corpus, examples, by_role)
            self._encoded = corpus, examples, notes
        _, examples, notes = self._encoded
        self.notes_ += [note for note in notes if note not in self.notes_]
        return dataclasses.replace(examples, table=table)

    def share_encodings(self, other: TrainedMethod) -> None:
        """Use the encoded corpus of another fit with the same settings for the next prediction."""
        self._encoded = other._encoded

    def encodings(self, corpus: Corpus) -> dict[str, Encoding]:
        if not hasattr(self, "sizes_"):
            return encodings(corpus, self.encoder)
        return self._training_encodings(corpus)

    @property
    def _role_encoders(self) -> RoleEncoders:
        return RoleEncoders(self.encoder, tuple(self.sizes_.widths), self.learned_.roles)

    def _roles(self) -> list[str]:
        return self._role_encoders.roles()

    def _training_encodings(self, corpus: Corpus) -> dict[str, Encoding]:
        return self._role_encoders.encodings(corpus, self._identities)

    def answers(self, question: str, raw: Tensor) -> Answers:
        """The network's outputs for a question as answers on its scale."""
        scale = self.learned_.questions[question]
        family = likelihood(scale)
        if isinstance(scale, MultiLabel):
            value = scale.pack((raw > 0).cpu().numpy())
        else:
            value = family.value(raw).cpu().numpy()
        if isinstance(scale, Interval):
            value = scale.from_unit(value).clip(scale.low, scale.high)
        distribution = family.distribution(raw.double()).cpu().numpy()
        return Answers(distribution, value.astype(scale.dtype))

    # ---- annotators come and go ----

    def annotator_rows(self) -> dict[str, bool]:
        """Those whose shapes change with the number of annotators."""
        names = Names.range(len(self.learned_.annotators) + 1)
        n_answers = {q: np.append(n, 1) for q, n in self.learned_.n_answers.items()}
        larger = changed(self, {})
        larger.learned_ = dataclasses.replace(
            self.learned_,
            annotators=names,
            n_answers=n_answers,
            enrolled=self.learned_.enrolled | {"": []},
        )
        larger.set_sizes(self.config())
        shapes = {name: v.shape for name, v in larger.network(larger.sizes_).state_dict().items()}
        prefix, inner = self._inner_network()
        learned = dict(inner.named_parameters())
        return {
            prefix + name: name in learned
            for name, value in inner.state_dict().items()
            if shapes.get(name, value.shape) != value.shape
        }

    def _inner_network(self) -> tuple[str, Network]:
        """The network without encoders, and what the names of its weights begin with."""
        if isinstance(self.network_, FineTunedNetwork):
            return "inner.", self.network_.inner
        return "", self.network_

    def row_loss(
        self, corpus: Corpus, code: int, items: np.ndarray
    ) -> Callable[[dict[str, Tensor]], Tensor]:
        table = Table.of_corpus(corpus, tuple(self.learned_.questions))
        kept = np.isin(table.item, items)
        answer, weight = ({q: v[kept] for q, v in x.items()} for x in (table.answer, table.weight))
        table = Table(table.item[kept], np.full(kept.sum(), code), answer, weight)
        examples = self._prediction_examples(corpus, table)
        batch, _ = next(batches(examples, items, len(items)))
        if isinstance(self.network_, FineTunedNetwork):
            with torch.no_grad():
                batch = self.network_.encoded(batch)
        prefix, network = self._inner_network()
        frozen = {name: value.detach() for name, value in network.state_dict().items()}

        def loss(rows: dict[str, Tensor]) -> Tensor:
            weights = dict(frozen)
            for name, row in rows.items():
                table = frozen[name := name.removeprefix(prefix)]
                row = row.to(table)[None]
                weights[name] = torch.cat([table[:code], row, table[code + 1 :]])
            outputs: Outputs = torch.func.functional_call(network, weights, (batch,))
            total = torch.zeros(())
            for question, scale in self.learned_.questions.items():
                answer = batch.rows.answer[question]
                each = likelihood(scale).loss(outputs.rows[question], answer)
                total = total + (each * batch.rows.weight[question]).sum().cpu()
            return total

        return loss

    def set_rows(self, code: int, rows: Mapping[str, Any]) -> None:
        for name, row in rows.items():
            self.network_.state_dict()[name][code] = torch.as_tensor(row)

    # ---- save and load ----

    def weights(self) -> dict[str, np.ndarray]:
        return {name: value.cpu().numpy() for name, value in self.network_.state_dict().items()}

    def set_sizes(self, config: dict[str, Any]) -> None:
        """Set what the network is built from; `learned_` is already set."""
        since = len(self.learned_.enrolled), self.learned_.n_forgotten
        widths = config["widths"]
        self.sizes_ = Sizes(self.learned_.questions, self.n_annotators, widths, {}, *since)
        self._identities = config["encoders"]

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.set_sizes(config)
        self._role_encoders.check()
        n_weights = sum(array.size for array in weights.values())
        check_network_size(lambda: self.network(self.sizes_), n_weights)
        if self.tune != "nothing":
            for encoder in self._role_encoders.encoders().values():
                if isinstance(encoder, UntrainedEncoder):
                    check_network_size(encoder.build, n_weights)
        self.network_ = self.build_network().eval()
        self.network_.load_state_dict({name: torch.from_numpy(v) for name, v in weights.items()})

    def config(self) -> dict[str, Any]:
        encoders = self._role_encoders.encoders()
        identities = {role: encoder.identity for role, encoder in encoders.items()}
        return super().config() | {"widths": self.sizes_.widths, "encoders": identities}

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return super()._settings(settings) | {"training": Training(**settings["training"])}
