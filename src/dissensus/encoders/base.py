"""What every encoder promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from dissensus.contents import Contents, Kind
from dissensus.encoders.store import Store


class Encoder(ABC):
    """Turns contents into sequences of vectors. A frozen one is run once and cached on disk."""

    kinds: ClassVar[tuple[Kind, ...]]  # what it can read
    cached: ClassVar[bool] = True

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything its output depends on but the content: name, revision, length limit."""

    @abstractmethod
    def encode(self, contents: Contents) -> Store:
        """One sequence per content, in order."""
