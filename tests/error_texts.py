"""The text of an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dissensus.errors import DataError


def error_text(call: Callable[[], object], error: type[Exception] = DataError) -> str:
    """What is said of a call that is refused."""
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)
