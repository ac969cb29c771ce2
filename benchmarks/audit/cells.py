"""What a case of the audit is made of."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cell:
    """A kind of crowd, and what is measured about each one."""

    setting: str  # how crowds are simulated
    quantity: str  # of which the mean over crowds is reported
    bar: str  # what it should be, as text
    value: Callable[[np.random.Generator], float]  # simulates one crowd; nan: not counted
