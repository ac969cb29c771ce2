"""Which trainings can be made side by side, and making all of several, one way or the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from traceback import clear_frames
from typing import Any

from dissensus.errors import ModelError
from dissensus.training.loop import Trainer
from dissensus.training.stacking.cuda_graph import give_back
from dissensus.training.stacking.gradients import LayerError
from dissensus.training.stacking.stack import Stack
from dissensus.training.stacking.stacked_examples import Resident

SEVERAL = (  # settings of training that each member may have its own of
    *("seed", "dropout_seed", "learning_rate", "encoder_learning_rate", "weight_decay", "warm_up"),
    *("clip", "schedule", "plateau", "patience", "epochs", "choose_by", "save_every", "averaged"),
)


class Unstacked(ModelError):
    """Several trainings could not be made at once, and why, in words alone: an exception would
    keep all that the attempt held in memory."""


def stackable(run: Trainer) -> bool:
    """Whether a training can be one of several side by side."""
    return not obstacle(run)


def obstacle(run: Trainer) -> str:
    """Why a training cannot be one of several side by side; empty if it can."""
    if run.training.losses != "summed":
        return "its losses are interleaved, with a step each"
    if not all(loss.due(0) and loss.due(1) for loss in run.losses):
        return "its losses are minimised one after another"
    whole = [loss.name for loss in run.losses if loss.weight is None]
    if whole:
        return f"loss {whole[0]!r} is over the whole batch, padding and all"
    if run.tables.tables:  # a stack would step every row of every member
        return "its tables of annotators are so large that it steps some of their rows only"
    for part in run.network.modules():
        if not getattr(part, "stackable", True):
            return f"vmap cannot run {type(part).__name__}"
    return Resident.obstacle(run.examples)


def alike(run: Trainer) -> tuple[Any, ...]:
    """What trainings must share to be stacked: all but what each member may have its own of."""
    settings = {k: v for k, v in vars(run.training).items() if k not in SEVERAL}
    shapes = tuple((k, tuple(v.shape), v.dtype) for k, v in run.network.state_dict().items())
    learning = tuple(p.requires_grad for p in run.network.parameters())
    return run.kind, tuple(settings.items()), shapes, learning, repr(run.network)


def train_all(runs: Sequence[Trainer], stack: bool | None = None) -> dict[int, Exception]:
    """Train all, those that are alike side by side; the errors of those that failed.

    Where a stack fails as a whole, each of its members has the error Unstacked: it has to be begun
    anew, among fewer.

    Args:
        stack: None stacks where it is possible; False trains one after another.
    """
    errors: dict[int, Exception] = {}
    for group in _groups(runs, stack):
        members = [runs[number] for number in group]
        found = _side_by_side(members) if len(group) > 1 else _by_itself(members[0])
        errors |= {group[member]: error for member, error in found.items()}
    give_back()
    return errors


def _side_by_side(runs: list[Trainer]) -> dict[int, Exception]:
    """Train all at once; the errors of those that failed."""
    try:
        stack = Stack(runs)
        stack.train()
    except LayerError as error:
        if not any(run.step for run in runs):
            return _one_after_another(runs, str(error))
        return dict.fromkeys(range(len(runs)), Unstacked(str(error)))
    except Exception as error:
        told = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
        return dict.fromkeys(range(len(runs)), Unstacked(told))
    return dict(stack.errors)


def _one_after_another(runs: list[Trainer], note: str) -> dict[int, Exception]:
    """Train each by itself; the first step of a stack failed, and nothing is trained yet."""
    errors: dict[int, Exception] = {}
    for number, run in enumerate(runs):
        run.order.bit_generator.state = run.order_before
        run.notes.append(note)
        if failed := _by_itself(run):
            errors[number] = failed[0]
    return errors


def _by_itself(run: Trainer) -> dict[int, Exception]:
    try:
        run.train()
    except Exception as error:
        _let_go(error)
        return {0: error}
    return {}


def _let_go(error: BaseException | None) -> None:
    """Free what an error that is kept would keep in memory: batches, gradients, activations."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _groups(runs: Sequence[Trainer], stack: bool | None) -> Iterator[list[int]]:
    """Numbers of runs that can be stacked, together; all others alone."""
    together: dict[tuple[Any, ...], list[int]] = {}
    for number, run in enumerate(runs):
        if stack is False or not stackable(run):
            yield [number]
        else:
            together.setdefault(alike(run), []).append(number)
    yield from together.values()
