"""The pretrained encoders that are here, and those that can be had."""

from __future__ import annotations

from typing import Any, NamedTuple

from dissensus.encoders.framework.pretrained import WEIGHTS, weights_file
from dissensus.errors import DissensusError


class Known(NamedTuple):
    """An encoder that was tried: by a name of its own, or its name on the hub of Hugging Face."""

    name: str
    reads: str
    parameters: float  # millions that are used, without the classifier
    width: int
    languages: str
    licence: str


KNOWN = (
    Known("minilm", "text", 22.6, 384, "English", "Apache-2.0"),
    Known("efficientnet-lite0", "image, video", 3.4, 1280, "", "Apache-2.0"),
    Known("whisper-tiny", "audio", 7.6, 384, "English", "MIT"),
    Known("thenlper/gte-small", "text", 33.2, 384, "English", "MIT"),
    Known("sentence-transformers/all-mpnet-base-v2", "text", 109.5, 768, "English", "Apache-2.0"),
    Known("openai/whisper-base", "audio", 20.6, 512, "99 languages", "MIT"),
    Known("facebook/dinov2-small", "image, video", 22.1, 384, "", "Apache-2.0"),
)


def available() -> list[dict[str, Any]]:
    """Each encoder that was tried: what it reads, its size, languages and licence, where it comes
    from, the SHA-256 of its weights where dissensus checks it, and whether it is here.

    Example:
        >>> [known["name"] for known in available() if known["reads"] == "audio"]
        ['whisper-tiny', 'openai/whisper-base']
    """
    return [known._asdict() | _source(known.name) for known in KNOWN]


def _source(name: str) -> dict[str, Any]:
    from huggingface_hub import try_to_load_from_cache

    if name not in WEIGHTS:
        here = isinstance(try_to_load_from_cache(name, "config.json"), str)
        return {"from": "the hub", "sha256": None, "here": here}
    try:
        here = weights_file(name).is_file()
    except DissensusError:
        here = False
    extra, sha256, *_ = WEIGHTS[name]
    return {"from": f"dissensus[{extra}]", "sha256": sha256, "here": here}
