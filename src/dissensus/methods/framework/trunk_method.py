"""TrunkMethod: what methods with hidden layers over standardised vectors share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dissensus.methods.framework.search_space import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks.heads import Trunk
from dissensus.training import Sizes


@dataclass(eq=False)
class TrunkMethod(TrainedMethod):
    """A method whose network begins with a `Trunk`.

    Args:
        hidden: widths of the hidden layers that all questions share.
        dropout: of the vectors and the hidden layers.
        hidden_dropout: of the hidden layers, if it differs.
        standardise: whether vectors are standardised by the mean and the standard deviation of the
            training items.
    """

    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.5
    hidden_dropout: float | None = None
    standardise: bool = True
    choices: ClassVar[Choices] = TRUNK_CHOICES

    def trunk(self, sizes: Sizes, hidden: tuple[int, ...] | None = None) -> Trunk:
        """The trunk for the vectors of all roles; `hidden` instead of that of the settings."""
        return Trunk(
            list(sizes.widths),
            sum(sizes.widths.values()),
            self.hidden if hidden is None else hidden,
            self.dropout,
            self.hidden_dropout,
            self.standardise,
        )

    @property
    def further_dropout(self) -> float:
        """The dropout of hidden layers."""
        return self.dropout if self.hidden_dropout is None else self.hidden_dropout
