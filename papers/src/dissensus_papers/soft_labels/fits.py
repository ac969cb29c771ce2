"""One model with one seed, trained on every fold of a condition as the paper trained it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from dissensus.evaluation import Key
from dissensus.methods import TrainedMethod, seeded
from dissensus.training import (
    Examples,
    Trainer,
    Validation,
    batch_indices,
    mean_loss,
    stackable,
    train_all,
)
from dissensus_papers.framework.fitted import Fits, FitTask, Opened
from dissensus_papers.framework.reports import macro_f1
from dissensus_papers.soft_labels.outcomes import Outcome
from dissensus_papers.soft_labels.protocol import CONDITIONS, SoftLabelsCondition, folds, labels


@dataclass(frozen=True, eq=False)
class Task(FitTask):
    """Everything that the results of trainings depend on, except the corpora.

    Args:
        methods: condition -> model -> the method, without a seed.
        stack: whether folds are stacked on a GPU, where they can be.
    """

    methods: Mapping[str, Mapping[str, TrainedMethod]]
    stack: bool = True
    outcome: ClassVar[type[Any]] = Outcome

    def fit(self, opened: Opened, job: Fits) -> list[Outcome]:
        return [
            _trained(self.methods[key.fold][key.method], key, opened, self.stack) for key in job
        ]


_Shared = tuple[list[Any], dict[Any, Any]]  # train, test, dev of each fold; and their examples


def _trained(method: TrainedMethod, key: Key, opened: Opened, stack: bool) -> Outcome:
    """Train every fold: in order if Adam keeps its moments, else stacked where that is faster."""
    condition = CONDITIONS[key.fold]
    corpus = opened.corpora[condition.corpus]

    def dealt() -> _Shared:
        return [fold.parts(corpus) for fold in folds(corpus, condition)], {}

    shared: _Shared = opened.once(condition.name, dealt)

    def begun(number: int) -> _Training:
        return _Training.begun(method, key.seed, condition, shared, number)

    first = begun(0)
    stack = stack and not condition.carried and first.run.examples.device.type == "cuda"
    if stack and stackable(first.run):
        together = [first, *map(begun, range(1, len(shared[0])))]
        for error in train_all([one.run for one in together]).values():
            raise error
        return _outcome(key, [one.ended() for one in together])
    trainings: list[Any] = []
    state: dict[str, Any] = {}
    for number in range(len(shared[0])):
        one = begun(number) if number else first
        if state:  # the same first weights, but the moments that Adam had after the last fold
            one.run.optimiser.load_state_dict(state)
        one.run.train()
        state = one.run.optimiser.state_dict() if condition.carried else {}
        trainings.append(one.ended())
    return _outcome(key, trainings)


def _outcome(key: Key, trainings: Sequence[tuple[Any, ...]]) -> Outcome:
    predicted, *others = zip(*trainings, strict=True)
    return Outcome(*key, np.concatenate(predicted).astype(np.int8), *map(list, others))


@dataclass(eq=False)
class _Training:
    """A training about to begin, watched at the end of each epoch."""

    method: TrainedMethod
    question: str
    run: Trainer
    test: Examples
    development: Examples  # the development part
    wanted: np.ndarray  # (n_held,) what an epoch is chosen by, -1 nothing
    last: list[float] = field(default_factory=list)  # losses of the main task after all epochs

    @classmethod
    def begun(
        cls, method: TrainedMethod, seed: int, condition: SoftLabelsCondition, shared: _Shared,
        number: int,
    ) -> _Training:  # fmt: skip
        parts, laid_out = shared
        train, test, development = parts[number]
        own = seeded(method, seed)
        assert isinstance(own, TrainedMethod)
        own.begin_fit(train, condition.question, None)
        run = own.trainer(train, None, laid_out)
        tested, judged = (
            own.shared_examples(part, own.encodings(part), laid_out) for part in (test, development)
        )
        wanted = labels(development, condition.question, condition.chosen_by)
        one = cls(own, condition.question, run, tested, judged, wanted)
        run.validation = Validation("macro-F1", one.figure, True)
        run.log.chosen_by = "macro-F1"
        return one

    def figure(self) -> float:
        """Macro-F1 on the development part; after the last epoch also the main task's losses.

        Where patience may end a training, every epoch may be the last.
        """
        if self.run.training.patience or self.run.epoch == self.run.training.epochs:
            self.last = self._main_losses()
        answers, known = self._answers(self.development), self.wanted >= 0
        return macro_f1(self.wanted[known], answers[known])

    def _answers(self, examples: Examples) -> np.ndarray:
        """The answers of the main task to these items, as codes."""
        network = self.run.network
        network.eval()
        answers = []
        with torch.inference_mode():
            every = np.arange(examples.n_items)
            for cut in batch_indices(examples, every, self.run.training, None):
                outputs = network(examples.batch(*cut)).items[self.question]
                answers.append(self.method.answers(self.question, outputs).value)
        return np.concatenate(answers)

    def _main_losses(self) -> list[float]:
        """The main task's loss on the training and on the development part, without dropout."""
        main = tuple(loss for loss in self.run.losses if loss.name == self.question)
        both = self.run.examples, self.development
        return [mean_loss(self.run.network, main, part, self.run.training) for part in both]

    def ended(self) -> tuple[Any, ...]:
        """The fields of an outcome, with the weights of the chosen epoch."""
        log = self.run.log
        f1, loss = ([round(each, 6) for each in column] for column in (log.validation, log.train))
        chosen = self._main_losses()
        return self._answers(self.test), log.best_epoch, f1, loss, chosen, self.last
