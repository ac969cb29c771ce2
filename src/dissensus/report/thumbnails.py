"""Small pictures of items, for tables."""

from __future__ import annotations

import io

from dissensus.corpus import Corpus
from dissensus.drawing.shapes import data_address
from dissensus.errors import DissensusError
from dissensus.report.blocks import Thumbnail

SIDE = 72  # pixels at most
QUALITY = 80  # of a JPEG


def thumbnail(corpus: Corpus, item: int) -> Thumbnail | None:
    """The first picture of an item; None if it has none that can be read."""
    from PIL import Image

    from dissensus.encoders.framework.media import picture

    for role, contents in corpus.contents.items():
        code = int(corpus.content[role][item])
        if contents.kind != "image" or code < 0:
            continue
        try:
            small = picture(contents, code, at_least=SIDE).image
        except DissensusError:
            return None
        small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
        file = io.BytesIO()
        small.save(file, "JPEG", quality=QUALITY)
        return Thumbnail(data_address("jpeg", file.getvalue()), f"item {corpus.items[item]}")
    return None
