"""Messages are one line of at most 2,000 characters."""

from __future__ import annotations

from dissensus.errors import DataError


def test_a_message_is_one_line() -> None:
    assert str(DataError("item 'a\nb\x1ec': blank")) == "item 'a b c': blank"


def test_a_long_message_is_cut() -> None:
    assert str(DataError("no column 'mood'")) == "no column 'mood'"
    message = str(DataError(f"no column {'a' * 5000}"))
    assert len(message) == 2000 and message.endswith("aaa...")
