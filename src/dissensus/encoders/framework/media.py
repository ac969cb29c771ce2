"""Contents that cannot be read: the error that names one, and a search for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dissensus.contents import Contents, Kind
from dissensus.errors import DataError
from dissensus.progress import progress

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

NOUNS: dict[Kind, str] = {
    "text": "text",
    "image": "picture",
    "audio": "recording",
    "video": "video",
    "features": "feature array",
}


class Unreadable(DataError):
    """A content that cannot be read: a damaged file, or something else than its kind.

    Args:
        code: of the content; the error names a content by its path, or by this number if it is
            bytes.
        reason: what is wrong with it.
    """

    def __init__(self, contents: Contents, code: int, reason: str) -> None:
        self.code, self.reason = int(code), reason
        value = contents[self.code]
        name = value if isinstance(value, str) else f"{NOUNS[contents.kind]} {self.code}"
        super().__init__(f"{name} cannot be read: {reason}; leave it out with --skip-bad")

    def among(self, contents: Contents, codes: np.ndarray) -> Unreadable:
        """The same error for the contents that these codes were taken from."""
        return Unreadable(contents, int(codes[self.code]), self.reason)


def unreadable(encoder: Encoder, contents: Contents) -> dict[int, str]:
    """The codes of contents that an encoder cannot read, and why.

    Contents are read in pieces; those of a piece that fails are read again one by one.
    """
    reasons: dict[int, str] = {}
    with progress(f"checking {contents.kind}", len(contents)) as advance:
        for first in range(0, len(contents), encoder.piece):
            codes = np.arange(first, min(first + encoder.piece, len(contents)))
            if _reason(encoder, contents.take(codes)) is not None:
                for code in codes:
                    reason = _reason(encoder, contents.take(codes[codes == code]))
                    if reason is not None:
                        reasons[int(code)] = reason
            advance(len(codes))
    return reasons


def _reason(encoder: Encoder, contents: Contents) -> str | None:
    """Why these contents cannot be read; None if they can."""
    from dissensus.encoders.framework.base import NeuralEncoder

    try:
        if isinstance(encoder, NeuralEncoder):
            encoder.prepare(contents)
        else:
            encoder.encode(contents)
    except Unreadable as error:
        return error.reason
    except DataError as error:
        return str(error)
    return None
