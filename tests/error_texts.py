"""The text of an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dissensus.errors import DataError


def error_text(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """What is said, in one line, of a call that is refused."""
    message = refusal(DataError, call, *arguments, **options)
    assert "\n" not in message
    return message


def refusal(
    error: type[Exception], call: Callable[..., object], *arguments: Any, **options: Any
) -> str:
    """What is said of a call that ends in an error of this type."""
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)
