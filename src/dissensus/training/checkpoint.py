"""The full state of a training on disk, so that it can go on after it was killed.

One file, written beside and then moved into place: safetensors, with everything that is no
tensor as JSON in its header.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dissensus.errors import CheckpointError

FORMAT = "1"
STATE = "state.safetensors"


@dataclass
class Checkpoint:
    """A folder that holds the last state of one training.

    Args:
        folder: made when the first state is kept.
        of: says what is trained, and how; a state of another training is refused.
        every: seconds between two states.
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
        """Keep a state; it replaces the last one whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        apart = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
        facts = {"format": FORMAT, "of": self.of, "state": json.dumps(state)}
        save_file(apart, new, metadata=facts)
        os.replace(new, self.path)
        self._saved = time.monotonic()

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The last state; None if there is none."""
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
        if facts.get("format") != FORMAT:
            raise CheckpointError(
                f"{self.path}: a state of another version of dissensus; remove {self.folder} and "
                "train again"
            )
        if facts.get("of") != self.of:
            raise CheckpointError(
                f"{self.folder}: belongs to a training with other data or settings; give the same "
                "ones to go on, or remove it and train again"
            )
        return tensors, json.loads(facts["state"])
