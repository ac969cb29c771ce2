"""The text of an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dissensus.errors import DataError


def error_text(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """What is said, in one line, of a call that is refused."""
    with pytest.raises(DataError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
