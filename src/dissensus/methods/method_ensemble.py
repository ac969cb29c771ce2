"""The mean of what several methods predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from dissensus.corpus import Corpus
from dissensus.encoders import Encoding
from dissensus.errors import ModelError
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.settings import changed, seeded
from dissensus.methods.registry import build

T = TypeVar("T")


@dataclass(eq=False)
class MethodEnsemble(Method):
    """The mean of what several methods predict, each with its default settings.

    Methods that differ err on different items. The default members are models of a truth and
    models of each annotator: prefer it where there is a truth, and one of the members where a
    single small model is needed.

    Args:
        members: names of methods, joined by "+".
        read: an item's distribution is the mean of those of the members, each over all annotators
            or of its "truth"; or the mean of its "annotators". It may be changed after the fit.
        encoder: what turns contents into vectors, as for all methods.
        init_seed: the seed of all members.

    Example:
        >>> from dissensus.testing import example_corpus
        >>> ensemble = MethodEnsemble("logistic+annotator-logistic").fit(example_corpus("nominal"))
        >>> [member.name for member in ensemble.members_]
        ['logistic', 'annotator-logistic']
    """

    members: str = "annot-mix+annotator-heads+joint-em+annotator-logistic+geo-f"
    read: Literal["truth", "annotators"] = "truth"
    encoder: str | dict[str, str] = "auto"
    init_seed: int = 0
    name: ClassVar[str] = "method-ensemble"
    individual: ClassVar[bool] = True
    scales: ClassVar[tuple[str, ...]] = ("nominal", "ordinal")
    instead: ClassVar[str] = "annotator-heads"
    members_: list[Method] = field(init=False, repr=False)

    @property
    def predicts_truth(self) -> bool:
        return self.read == "truth"

    def built_members(self) -> list[Method]:
        """The members, not fitted."""
        names = [name.strip() for name in self.members.split("+")]
        if self.name in names or len(set(names)) < len(names):
            raise ModelError(
                f"members must be different methods, none of them {self.name}; found "
                f"{self.members!r}"
            )
        methods = (seeded(build(name), self.init_seed) for name in names)
        return [changed(one, {"encoder": self.encoder}) for one in methods]

    def check_question(self, corpus: Corpus, question: str) -> None:
        super().check_question(corpus, question)
        for member in self.built_members():
            member.check_question(corpus, question)

    def encodings(self, corpus: Corpus) -> dict[str, Encoding]:
        return getattr(self, "members_", self.built_members())[0].encodings(corpus)

    def _roles(self) -> list[str]:
        return self.members_[0]._roles()

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        self.members_, questions = self.built_members(), tuple(self.learned_.questions)
        for member in self.members_:
            own = self._checkpoint and self._checkpoint / f"member-{member.name}"
            member.fit(corpus, questions, validation, checkpoint=own)
            self.notes_ += [note for note in member.notes_ if note not in self.notes_]

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        every = []
        for member in self.members_:
            of_member = member.predict(corpus, annotators=[], consensus="all")
            every.append({q: Answers(p.distribution, p.consensus) for q, p in of_member.items()})
        return self._mean(every)

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        every = []
        for member in self.members_:
            if member.individual:
                every.append(member.predict_pairs(corpus, item, annotator))
            else:
                of_items = member.predict_items(corpus)
                every.append({q: answers.take(item) for q, answers in of_items.items()})
        return self._mean(every)

    def _mean(self, every: list[dict[str, Answers]]) -> dict[str, Answers]:
        means = {}
        for question, scale in self.learned_.questions.items():
            of_members = [answers[question] for answers in every]
            mass = np.mean([answers.distribution for answers in of_members], axis=0)
            means[question] = Answers(mass, scale.consensus(mass).astype(scale.dtype))
        return means

    def _named(self, of_member: Callable[[Method], dict[str, T]]) -> dict[str, T]:
        """What each member has by name, with the number of the member before the name."""
        return {
            f"{number}.{name}": value
            for number, member in enumerate(self.members_)
            for name, value in of_member(member).items()
        }

    def annotator_rows(self) -> dict[str, bool]:
        return self._named(lambda member: member.annotator_rows())

    def newcomer_facts(self, newcomers: Corpus) -> dict[str, np.ndarray]:
        return self._named(lambda member: member.newcomer_facts(newcomers))

    def row_loss(
        self, corpus: Corpus, code: int, items: np.ndarray
    ) -> Callable[[dict[str, Tensor]], Tensor]:
        learning = {
            number: member.row_loss(corpus, code, items)
            for number, member in enumerate(self.members_)
            if member.annotator_rows()
        }

        def loss(rows: dict[str, Tensor]) -> Tensor:
            return torch.stack([of(_own(rows, n)).double() for n, of in learning.items()]).sum()

        return loss

    def set_rows(self, code: int, rows: Mapping[str, Any]) -> None:
        for number, member in enumerate(self.members_):
            member.set_rows(code, _own(rows, number))

    def weights(self) -> dict[str, np.ndarray]:
        return self._named(lambda member: member.weights())

    def config(self) -> dict[str, Any]:
        return super().config() | {"members": [member.config() for member in self.members_]}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.members_ = self.built_members()
        for number, (member, own) in enumerate(zip(self.members_, config["members"], strict=True)):
            member.learned_ = self.learned_
            member.restore(_own(weights, number), own)


def _own(named: Mapping[str, T], number: int) -> dict[str, T]:
    """What belongs to the member of this number, by the names that it has there."""
    begins = f"{number}."
    return {n.removeprefix(begins): value for n, value in named.items() if n.startswith(begins)}
