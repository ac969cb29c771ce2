"""The saved state of a training, from which it resumes after it was stopped.

One safetensors file; everything that is not a tensor is JSON in its header. A new file takes the
place of the old one when it is complete. The header has a checksum of all of it.
"""

from __future__ import annotations

import json
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from dissensus.errors import CheckpointError
from dissensus.files.checked_json import parse_json
from dissensus.files.folders import delete_files, staged

FORMAT = "2"
CHECKSUM = "checksum"  # in the header
STATE = "state.safetensors"


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
        if facts.get("format") != FORMAT:
            raise CheckpointError(
                f"{self.path}: saved by another version of dissensus; remove {self.folder} and "
                "train again"
            )
        if written != _checksum(tensors, facts):
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


def delete_checkpoint(folder: Path) -> None:
    """Delete the saved states of a training, and its folder if it is empty then."""
    for path in (folder / STATE, *folder.glob(f"*/{STATE}")):
        with suppress(SafetensorError, OSError), safe_open(path, framework="pt") as file:
            if (file.metadata() or {}).keys() >= {"format", "of", CHECKSUM}:
                path.unlink()
    delete_files(folder)


def _checksum(tensors: dict[str, Tensor], facts: dict[str, str]) -> str:
    """A checksum of tensors and of what else is in the header, as of saved folders."""
    checksum = zlib.crc32(json.dumps(facts, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        kind = f"{name} {tensor.dtype} {list(tensor.shape)}"
        checksum = zlib.crc32(kind.encode(), checksum)
        content = tensor.contiguous().reshape(-1).view(torch.uint8)
        checksum = zlib.crc32(content.numpy().data, checksum)
    return f"{checksum:08x}"
