"""Group compatible trainings; run each group as a stack, and the others one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from traceback import clear_frames
from typing import Any

from dissensus.errors import ModelError
from dissensus.training.loop import Trainer
from dissensus.training.settings import current_callbacks
from dissensus.training.stacking.cuda_graph import release_memory
from dissensus.training.stacking.gradients import LayerError
from dissensus.training.stacking.stack import Stack
from dissensus.training.stacking.stacked_examples import StackedExamples

OWN_SETTINGS = (  # settings of training that may differ between the members of a stack
    *("seed", "dropout_seed", "learning_rate", "encoder_learning_rate", "weight_decay", "warm_up"),
    *("clip", "schedule", "plateau", "plateau_factor", "smallest_gain", "patience", "epochs"),
    *("choose_by", "save_every", "averaged", "least_steps"),
)


MOST_MEMBERS = 64  # of a stack; more would hardly be faster, and need more memory


class Unstacked(ModelError):
    """A stack failed as a whole, and why. It contains only a message: the original exception would
    keep everything in memory that the attempt used."""


def stackable(trainer: Trainer) -> bool:
    """Whether a training can be a member of a stack."""
    return not obstacle(trainer)


def obstacle(trainer: Trainer) -> str:
    """Why a training cannot be a member of a stack; empty if it can."""
    if current_callbacks().on_step:
        return "on_step is called after each of its steps"
    if len({len(trainer.due(epoch)) for epoch in range(trainer.training.epochs)}) > 1:
        return "some epochs have more losses than others"
    whole = [loss.name for loss in trainer.losses if loss.weight is None]
    if whole:
        return f"loss {whole[0]!r} is over the whole batch, with its padding"
    if trainer.sparse_tables:  # a stack would step every row of every member
        return "its tables of annotators are so large that only some of their rows are stepped"
    for part in trainer.network.modules():
        if not getattr(part, "stackable", True):
            return f"vmap cannot run {type(part).__name__}"
    return StackedExamples.obstacle(trainer.examples)


def group_key(trainer: Trainer) -> tuple[Any, ...]:
    """What the members of a stack must have in common: all but their own settings and weights."""
    settings = {k: v for k, v in asdict(trainer.training).items() if k not in OWN_SETTINGS}
    shapes = tuple((k, tuple(v.shape), v.dtype) for k, v in trainer.network.state_dict().items())
    learning = tuple(p.requires_grad for p in trainer.network.parameters())
    return trainer.kind, tuple(settings.items()), shapes, learning, repr(trainer.network)


def train_all(trainers: Sequence[Trainer], stack: bool | None = None) -> dict[int, Exception]:
    """Train all, compatible ones as a stack; the errors of those that failed, by number.

    Where a stack fails as a whole, each of its members has the error Unstacked. Build them again,
    and train fewer at a time.

    Args:
        stack: None stacks where it is possible; False trains one after another.
    """
    errors: dict[int, Exception] = {}
    for group in _groups(trainers, stack):
        members = [trainers[number] for number in group]
        failed = _train_stack(members) if len(group) > 1 else _train_one(members[0])
        errors |= {group[member]: error for member, error in failed.items()}
    release_memory()
    return errors


def _train_stack(trainers: list[Trainer]) -> dict[int, Exception]:
    try:
        stack = Stack(trainers)
        stack.train()
    except LayerError as error:
        if not any(trainer.step for trainer in trainers):  # no weights have changed
            for trainer in trainers:
                trainer.order.bit_generator.state = trainer.order_before
                trainer.notes.append(str(error))
            each = enumerate(map(_train_one, trainers))
            return {number: failed[0] for number, failed in each if failed}
        return dict.fromkeys(range(len(trainers)), Unstacked(str(error)))
    except Exception as error:
        reason = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
        return dict.fromkeys(range(len(trainers)), Unstacked(reason))
    return dict(stack.errors)


def _train_one(trainer: Trainer) -> dict[int, Exception]:
    try:
        trainer.train()
    except Exception as error:
        _free_frames(error)
        return {0: error}
    return {}


def _free_frames(error: BaseException | None) -> None:
    """Free what a stored error would keep in memory: batches, gradients, activations."""
    freed: set[int] = set()
    while error is not None and id(error) not in freed:  # an error may be its own cause
        freed.add(id(error))
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _groups(trainers: Sequence[Trainer], stack: bool | None) -> Iterator[list[int]]:
    """Numbers of trainings: those of a stack in one group, all others alone."""
    stacks: dict[tuple[Any, ...], list[int]] = {}
    for number, trainer in enumerate(trainers):
        if stack is False or not stackable(trainer):
            yield [number]
        else:
            stacks.setdefault(group_key(trainer), []).append(number)
    for numbers in stacks.values():
        n = -(-len(numbers) // MOST_MEMBERS)
        edges = [len(numbers) * part // n for part in range(n + 1)]
        yield from (numbers[first:last] for first, last in pairwise(edges))
