"""SeedBERT: an ensemble of networks that differ in their first weights, as a crowd."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import ModelError, listed
from dissensus.methods.framework.labels import LabelMethod, tempered
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.members import (
    TEMPERED_VOTES,
    MemberAnswers,
    ReadOut,
    joint_answers,
    member_seed,
)
from dissensus.methods.framework.settings import PROBE_CHOICES, Choices
from dissensus.methods.framework.shared_net import redraw_last_layer
from dissensus.methods.framework.stacked_fits import worth_stacking
from dissensus.methods.framework.trained import ExamplesCache
from dissensus.methods.single import Single
from dissensus.scales import Interval
from dissensus.training import Loss, Network, Sizes, Training
from dissensus.training.checkpoint import Checkpoint
from dissensus.training.loop import Trainer
from dissensus.training.processes import current_processes
from dissensus.training.stacking.groups import Unstacked, train_all

VARIABLE = ("last-layer", "init", "order", "dropout", "bag")
EVERYTHING = ("init", "order", "dropout")
ITEMS_TO_COMPARE = 256  # training items on which the members' answers are compared


@dataclass(eq=False)
class SeedEnsemble(LabelMethod):
    """Learns one label per item with several networks that start from different last layers.

    SeedBERT: the members see the same items in the same order with the same dropout, and start
    from the same weights except in the last layer. Where they disagree, annotators may too. An
    item's consensus is the majority vote of the members, and among tied values the one with the
    highest mean probability (ordinal: their median; interval: their mean; multi-label: the values
    that more than half choose, and those that exactly half choose if their mean probability is
    above one half). `Prediction.members` contains the answer of each member. Only labels are used;
    prefer `SoftLabel` if the answers of annotators are known.

    With a frozen encoder, a linear layer over mean vectors has a single optimum that every member
    would reach. Members then pool by attention, each starting from its own query. `notes_` says how
    often members disagree.

    Args:
        n_members: how many networks; the paper, whose items have five annotators, does not say.
        vary: what differs between members, joined by "+": "last-layer", "init" (all first
            weights that are not pretrained), "order" of items, "dropout", "bag" (each learns from
            items drawn with replacement); or "everything": init, order and dropout, a deep
            ensemble.
        read: the distribution is the "mean" of the members' probabilities, or the share of their
            "votes", as in the paper. Five votes cannot express a share below one fifth, so the mean
            is closer to the answers; the votes are always in `Prediction.members`.
        hidden: widths of hidden layers before the last layer.
        pool: "mean" over positions, "attention", or "auto": attention if the encoder is frozen.
        init_seed: of the first weights, and of the first member's last layer. The seeds of other
            members are derived from it, so ensembles with different init_seeds have no member in
            common. Order and dropout come from training.seed; if they vary, likewise.

    Reference: Sampath, Lin & Morency (2022), SeedBERT: Recovering Annotator Rating Distributions
    from an Aggregated Label, arXiv 2211.13196.
    """

    n_members: int = 5
    vary: str = "last-layer"
    read: ReadOut = "mean"
    hidden: tuple[int, ...] = ()
    pool: Literal["auto", "mean", "attention"] = "auto"
    dropout: float = 0.5
    training: Training = Training(epochs=10, least_steps=1000)
    name: ClassVar[str] = "seed-ensemble"
    ranges: ClassVar[dict[str, str]] = {
        "n_members": "1 or more",
    }
    choices: ClassVar[Choices] = PROBE_CHOICES
    members_: list[Single] = field(init=False, repr=False)

    @property
    def pools(self) -> bool:
        return self.pool == "mean" or (self.pool == "auto" and self.tune != "nothing")

    @property
    def n_networks(self) -> int:
        return self.n_members

    @property
    def varied(self) -> tuple[str, ...]:
        """What differs between members, one by one."""
        return EVERYTHING if self.vary == "everything" else tuple(self.vary.split("+"))

    # ---- a member ----

    def _member(self, number: int) -> Single:
        own = self.get_params(deep=False)
        shared = {f.name: own[f.name] for f in fields(Single) if f.name in own}
        vary = {"pool": "mean" if self.pools else "attention", "temperature": False}
        seed = member_seed(self.init_seed, number * ("init" in self.varied))
        member = Single(**shared | vary | {"init_seed": seed})
        if hasattr(self, "learned_"):
            member.learned_ = self.learned_
        return member

    def _member_run(
        self, number: int, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache
    ) -> Trainer:
        """The training of a member, ready to start: that of `Single`, except for what varies."""
        member, varied = self.members_[number], self.varied
        run = member.trainer(corpus, validation, cache)
        if number and "last-layer" in varied:
            redraw_last_layer(member.network_, member_seed(self.init_seed, number))
        training = replace(
            self.training,
            seed=member_seed(self.training.seed, number * ("order" in varied)),
            dropout_seed=member_seed(self.training.noise_seed, number * ("dropout" in varied)),
        )
        if self.temperature:
            run = self.without_held_out(run, corpus, validation)
        learned = run.learned
        if "bag" in varied:
            learned = bag(learned, self.training.seed, number)
        return replace(run, training=training, learned=learned)

    def network(self, sizes: Sizes) -> Network:
        return self._member(0).network(sizes)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return self._member(0).losses(sizes)

    # ---- fit ----

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        processes = current_processes()
        processes.check(self.training.where())
        runs = self.trainers(corpus, validation)
        checkpoint = self.training_checkpoint(corpus, validation)
        if processes.n > 1 or not worth_stacking(self):
            _one_by_one(runs, checkpoint)
        elif errors := train_all(runs):
            error = next(iter(errors.values()))
            if not isinstance(error, Unstacked):
                raise error
            runs = self.trainers(corpus, validation)
            _one_by_one(runs, checkpoint)
        self.end_fit(runs, corpus, validation)

    def trainers(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> list[Trainer]:
        shared: ExamplesCache = {} if cache is None else cache
        self._encoded, self._identities, self.temperature_ = None, {}, {}
        numbers = range(self.n_members)
        self.members_ = [self._member(number) for number in numbers]
        runs = [self._member_run(number, corpus, validation, shared) for number in numbers]
        self.sizes_ = self.members_[0].sizes_
        self.notes_ = list(dict.fromkeys(self.notes_ + self.members_[0].notes_))
        return runs

    def end_fit(self, runs: list[Trainer], corpus: Corpus, validation: Corpus | None) -> None:
        for member, run in zip(self.members_, runs, strict=True):
            member.end_fit([run], corpus, validation)
        self.log_ = runs[0].log  # of the first member
        self.notes_ += runs[0].notes
        if self.temperature:
            self.choose_temperatures(corpus, validation)
        some = np.unique(runs[0].learned)[:ITEMS_TO_COMPARE]
        notes = list(self.notes_)
        answers = self.predict_items(corpus.select(items=some))
        self.notes_ = notes + self._disagreements(answers, "training items")
        self._encoded = None

    # ---- predict ----

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        by_member = []
        for member in self.members_:
            member._encoded, member.notes_ = self._encoded, []  # the corpus is encoded once for all
            member.network_.to(self.training.where())
            by_member.append(member.predict_items(corpus))
            self._encoded = member._encoded
            self.notes_ += [note for note in member.notes_ if note not in self.notes_]
        questions = self.learned_.questions
        answers = {q: self.combined(q, [one[q] for one in by_member]) for q in questions}
        self.notes_ += self._disagreements(answers, "items")
        return answers

    def combined(self, question: str, by_member: list[Answers]) -> Answers:
        """The majority vote of all members, with the distribution that `read` chooses."""
        scale = self.learned_.questions[question]
        masses = np.stack([answers.distribution for answers in by_member])
        members = np.stack([answers.value for answers in by_member])  # (n_members, n)
        voted = joint_answers(scale, masses, members, "votes")
        if self.read == "votes":
            return voted
        mean = masses.mean(axis=0)
        if question in self.temperature_:
            mean = tempered(scale, mean, self.temperature_[question])
        return replace(voted, distribution=mean)

    def _disagreements(self, by_question: dict[str, Answers], what: str) -> list[str]:
        notes = []
        for question, answers in by_question.items():
            assert isinstance(answers, MemberAnswers)
            members = answers.members
            n_members, n_items = members.shape
            if isinstance(self.learned_.questions[question], Interval):
                spread = members.std(axis=0).mean()
                differ = f"differ by {spread:.3g} (standard deviation) in the ratings"
            else:
                differ = f"disagree on {100 * (members != members[0]).any(axis=0).mean():.1f} %"
            notes.append(f"{question!r}: the {n_members} members {differ} of {n_items} {what}")
        return notes

    # ---- save, load and check ----

    def weights(self) -> dict[str, np.ndarray]:
        """The weights of all members, (n_members, ...) each."""
        of_members = [member.weights() for member in self.members_]
        return {name: np.stack([weights[name] for weights in of_members]) for name in of_members[0]}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.temperature_, self._identities = config["temperature"], config["encoders"]
        for stacked in weights.values():
            if len(stacked) != self.n_members:
                raise ModelError(
                    f"n_members is {self.n_members}, but its weights are of {len(stacked)}"
                )
        self.members_ = [self._member(number) for number in range(self.n_members)]
        for number, member in enumerate(self.members_):
            own = {name: np.asarray(stacked[number]) for name, stacked in weights.items()}
            member.restore(own, config | {"temperature": {}})
        self.sizes_ = self.members_[0].sizes_

    def check_question(self, corpus: Corpus, question: str) -> None:
        unknown = [part for part in self.varied if part not in VARIABLE]
        if unknown:
            raise ModelError(
                f"vary must be 'everything' or some of {listed(VARIABLE)}, joined by '+'; found "
                f"{listed(unknown)}"
            )
        if self.temperature and self.read == "votes":
            raise ModelError(TEMPERED_VOTES)
        self._member(0).check_question(corpus, question)


def bag(learned: np.ndarray, seed: int, member: int) -> np.ndarray:
    """As many items as `learned` has, drawn with replacement for a member."""
    drawn = np.random.default_rng([seed, member]).integers(len(learned), size=len(learned))
    return learned[np.sort(drawn)]


def _one_by_one(runs: list[Trainer], checkpoint: Checkpoint | None) -> None:
    """Train one after another; each saves its state to its own folder, also at its end."""
    for number, run in enumerate(runs):
        own = None
        if checkpoint is not None:
            own = replace(checkpoint, folder=checkpoint.folder / f"member-{number}")
        run.train(own)
        if own is not None and own.due and run.processes.is_first:
            run.save(own)
