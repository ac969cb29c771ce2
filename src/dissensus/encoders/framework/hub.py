"""Models of transformers: loaded by folder or by name on the hub, never running their code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.contents import Kind
from dissensus.errors import InstallError, ModelError

if TYPE_CHECKING:
    from torch import nn


def pretrained(loader: Any, source: str, name: str | None = None, **options: Any) -> Any:
    """What a class of transformers loads by `from_pretrained`; code in the folder is never run.

    Args:
        loader: a class such as `AutoModel`.
        source: a folder, or a name on the hub.
        name: the encoder's name in errors; the source if left out.
    """
    from transformers.utils import logging

    name = source if name is None else name
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # ours tells more
    try:
        return loader.from_pretrained(source, trust_remote_code=False, **options)
    except (OSError, ValueError) as error:
        if "trust_remote_code" in str(error):
            raise InstallError(
                f"encoder {name!r} needs Python code of its own (`auto_map` in its configuration), "
                "which is never run here; choose a model whose architecture is part of transformers"
            ) from None
        reason = str(error).strip().splitlines()[0]
        raise InstallError(
            f"encoder {name!r} cannot be loaded ({reason}); choose an installed one (see "
            "docs/encoders.md), a folder with a transformers model, or a model on a hub that can "
            "be reached"
        ) from None


def kinds(name: str) -> tuple[Kind, ...]:
    """What a model is made to read, by the type that its configuration names."""
    from transformers import (
        FEATURE_EXTRACTOR_MAPPING,
        IMAGE_PROCESSOR_MAPPING,
        TOKENIZER_MAPPING,
        AutoConfig,
    )

    of_model = type(pretrained(AutoConfig, name))
    if of_model in FEATURE_EXTRACTOR_MAPPING:
        return ("audio",)
    if of_model in TOKENIZER_MAPPING and of_model not in IMAGE_PROCESSOR_MAPPING:
        return ("text",)
    return ("image", "video")


def revision(source: str, network: Callable[[], Any]) -> str:
    """What tells one state of a model from another: the hash of its weights, or its commit."""
    weights = Path(source) / "model.safetensors"
    if weights.is_file():
        with weights.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return str(getattr(network().model.config, "_commit_hash", None))


def layers(model: nn.Module) -> list[nn.Module]:
    """The layers of a transformer, the first one first: its longest list of modules."""
    from torch import nn

    lists = [list(part) for part in model.modules() if isinstance(part, nn.ModuleList)]
    if not lists:
        raise ModelError(f"{type(model).__name__} has no list of layers to train a part of")
    return max(lists, key=len)


def without_pooler(model: Any) -> Any:
    """The model without its own pooling, which we do not read, and which must not be trained."""
    from torch import nn

    if isinstance(getattr(model, "pooler", None), nn.Module):
        model.pooler = None
    return model
