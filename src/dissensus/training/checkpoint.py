"""The saved state of a training, from which it resumes after it was stopped.

One safetensors file; everything that is not a tensor is JSON in its header. A new file takes the
place of the old one when it is complete. The header has a checksum of all of it.
"""

from __future__ import annotations

import json
import time
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from dissensus.errors import CheckpointError, cut
from dissensus.files.checked_json import parse_json
from dissensus.files.staging import staged
from dissensus.training.average import Average
from dissensus.training.batch import Network
from dissensus.training.examples import Examples
from dissensus.training.log import Log
from dissensus.training.processes import Processes
from dissensus.training.settings import Schedule
from dissensus.training.sparse_tables.tables import Tables

FORMAT = "2"  # 1 has no checksum
FORMATS = ("1", FORMAT)  # that are read
CHECKSUM = "checksum"  # in the header
STATE = "state.safetensors"
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)


@dataclass
class Checkpoint:
    """A folder with the last saved state of one training.

    Args:
        folder: created when the state is first saved.
        of: identifies the data and the settings; the state of another training is refused.
        every: seconds between two saves.
    """

    folder: Path
    of: str
    every: float = 30.0
    _saved: float = field(default_factory=time.monotonic)

    @property
    def path(self) -> Path:
        return self.folder / STATE

    @property
    def due(self) -> bool:
        return time.monotonic() - self._saved >= self.every

    def save(self, tensors: dict[str, Tensor], state: dict[str, Any]) -> None:
        """Replace the saved state, whole or not at all."""
        apart = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
        facts = {"format": FORMAT, "of": self.of, "state": json.dumps(state)}
        facts[CHECKSUM] = _checksum(apart, facts)
        with staged(self.path) as new:
            new.write_bytes(save(apart, metadata=facts))
        self._saved = time.monotonic()

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The saved state; None if there is none."""
        if not self.path.is_file():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                facts = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise CheckpointError(
                f"{self.path}: cannot be read ({error}); remove {self.folder} and train again"
            ) from None
        written = facts.pop(CHECKSUM, None)
        if facts.get("format") not in FORMATS:
            raise CheckpointError(
                f"{self.path}: saved by another version of dissensus; remove {self.folder} and "
                "train again"
            )
        needed = written is not None or facts["format"] != "1"
        if needed and written != _checksum(tensors, facts):
            raise CheckpointError(
                f"{self.path}: damaged (its checksum does not match); remove {self.folder} and "
                "train again"
            )
        if facts.get("of") != self.of:
            raise CheckpointError(
                f"{self.folder}: the checkpoint of a training with other data or settings; use the "
                "same ones to resume, or remove it and train again"
            )
        return tensors, parse_json(facts.get("state", ""), self.path)


def _checksum(tensors: dict[str, Tensor], facts: dict[str, str]) -> str:
    """A checksum of tensors and of what else is in the header, as of saved folders."""
    checksum = zlib.crc32(json.dumps(facts, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        kind = f"{name} {tensor.dtype} {list(tensor.shape)}"
        checksum = zlib.crc32(kind.encode(), checksum)
        content = tensor.contiguous().reshape(-1).view(torch.uint8)
        checksum = zlib.crc32(content.numpy().data, checksum)
    return f"{checksum:08x}"


class Resumable:
    """The part of a `training.loop.Trainer` that saves its state and restores it."""

    network: Network
    examples: Examples
    log: Log
    best: dict[str, Tensor]
    epoch: int
    batches_done: int
    step: int
    processes: Processes
    # set when a Trainer is built
    tables: Tables
    average: Average
    schedule: Schedule
    order: np.random.Generator
    order_before: Any
    loss_sum: Tensor
    started: float

    @property
    def optimiser(self) -> Any:
        raise NotImplementedError

    def save(self, checkpoint: Checkpoint) -> None:
        """Save everything that the rest of the training depends on."""
        tensors = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"best.{k}": v for k, v in self.best.items()}
        for number, moments in self.optimiser.state_dict()["state"].items():
            for name, value in moments.items():
                if value is not None:
                    tensors[f"optimiser.{number}.{name}"] = value
        tensors |= {f"tables.{k}": v for k, v in self.tables.state().items()}
        tensors |= {f"average.{k}": v for k, v in self.average.state().items()}
        tensors["sum"] = self.loss_sum
        tensors["random.cpu"] = torch.get_rng_state()
        if self.examples.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self.examples.device)
        schedule = self.schedule
        facts = {
            "epoch": self.epoch,
            "done": self.batches_done,
            "step": self.step,
            "order": self.order_before,
            "schedule": [schedule.best, schedule.waited, schedule.lowered],
            "log": asdict(self.log),
            "seconds": time.monotonic() - self.started,
        }
        checkpoint.save(tensors, facts)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Resume from the saved state, if there is one."""
        try:
            saved = checkpoint.read()
            if saved is not None:
                self._restore(*saved, checkpoint.folder)
        except CheckpointError:
            raise
        except _DAMAGE as error:
            raise CheckpointError(
                f"{checkpoint.folder}: a damaged checkpoint ({cut(error)}); remove it and train "
                "again"
            ) from None
        if self.processes.any(self.step != self.processes.from_first(lambda: self.step)):
            raise CheckpointError(
                f"{checkpoint.folder}: not every process of this training reads the same "
                "checkpoint there; use a folder that all of them can read, or remove it and train "
                "again"
            )

    def _restore(self, tensors: dict[str, Tensor], facts: dict[str, Any], folder: Path) -> None:
        if bool(_under("tables.", tensors)) != bool(self.tables.tables):
            raise CheckpointError(
                f"{folder}: saved on another device, or by another version of dissensus, which "
                "steps large tables of annotators in another way; resume there, or remove it and "
                "train again"
            )
        self.network.load_state_dict(_under("network.", tensors))
        self.best = {k: v.to(self.examples.device) for k, v in _under("best.", tensors).items()}
        self._restore_optimiser(_under("optimiser.", tensors))
        self.tables.restore(_under("tables.", tensors))
        self.average.restore(_under("average.", tensors))
        self.loss_sum.copy_(tensors["sum"])
        self.epoch, self.batches_done, self.step = facts["epoch"], facts["done"], facts["step"]
        self.order.bit_generator.state = self.order_before = facts["order"]
        self.schedule.best, self.schedule.waited, self.schedule.lowered = facts["schedule"]
        self.log = Log(**facts["log"])
        self.started = time.monotonic() - facts["seconds"]
        torch.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], self.examples.device)

    def _restore_optimiser(self, tensors: dict[str, Tensor]) -> None:
        state: dict[int, dict[str, Tensor]] = {}
        for path, value in tensors.items():
            number, name = path.split(".", 1)
            state.setdefault(int(number), {})[name] = value
        now = self.optimiser.state_dict()
        self.optimiser.load_state_dict({"state": state, "param_groups": now["param_groups"]})


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
