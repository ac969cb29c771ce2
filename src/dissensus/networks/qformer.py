"""A Q-Former: learned queries that attend to one another and to the vectors of a content.

Li et al. (2023), BLIP-2, arXiv 2301.12597, without its part for text. `QFormer.load_blip` reads
weights of Blip2QFormerModel and InstructBlipQFormerModel of transformers, and those of LAVIS.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.errors import ModelError, listed
from dissensus.networks.noise import Dropout

EPSILON = 1e-12  # of layer normalisation, as in BERT
EIGHT = 8  # numbers in half precision that a GPU reads at once
_RENAMED = (  # applied one after another
    (r"^.*?(?=encoder\.layer\.|embeddings\.|layernorm\.)", ""),
    (r"^(embeddings\.)?(layernorm|LayerNorm)\.", "norm."),
    (r"^encoder\.layer\.", "layers."),
    (r"\.crossattention\.", ".cross_attention."),
    (r"\.attention\.(?=(attention|self|output)\.)", ".self_attention."),
    (r"\.(attention|self)\.(?=(query|key|value)\.)", "."),
    (r"\.intermediate_query\.dense\.", ".inner."),
    (r"\.output_query\.dense\.", ".outer."),
    (r"\.output_query\.LayerNorm\.", ".norm."),
    (r"attention\.output\.dense\.", "attention.output."),
    (r"attention\.output\.LayerNorm\.", "attention.norm."),
)
_TEXT = re.compile(r"\.\d+\.(intermediate|output)\.")  # the linear layers for text
_FIRST_NORM = ("layernorm.weight", "layernorm.bias")


class _Attention(nn.Module):
    """Attention with several heads; the result is added to the queries and normalised."""

    def __init__(self, width: int, source: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(source, width)
        self.value, self.output = nn.Linear(source, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.weight_dropout, self.output_dropout = Dropout(dropout), Dropout(dropout)

    def forward(
        self, queries: Tensor, vectors: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The new queries, (..., n_queries, width), and the weights, (..., heads, n_queries,
        length). Queries that have no position to attend to get zeros.

        Args:
            vectors: what is attended to, (..., length, source).
            mask: its positions that count, booleans (..., length).
        """
        query = self._by_head(self.query(queries))  # (..., heads, n_queries, head width)
        folds = self._folds(queries, vectors)
        weight = self._scores(query, vectors, folds) / math.sqrt(query.shape[-1])
        if mask is not None:
            there = mask[..., None, None, :]
            lowest = torch.finfo(weight.dtype).min
            weight = weight.masked_fill(~there, lowest).softmax(dim=-1) * there
        else:
            weight = weight.softmax(dim=-1)
        seen = self._seen(self.weight_dropout(weight), vectors, folds)
        seen = seen.transpose(-2, -3).flatten(-2)  # (..., n_queries, width)
        added = self.output_dropout(self.output(seen))
        return self.norm(queries + added), weight

    def _by_head(self, vectors: Tensor) -> Tensor:
        return _split(vectors, -1, self.heads).transpose(-2, -3)

    def _folds(self, queries: Tensor, vectors: Tensor) -> bool:
        """Whether it takes fewer products to multiply each query by the weights of keys, and what
        it sees by those of values, than to compute the key and value of each position."""
        (n_queries, width), (length, source) = queries.shape[-2:], vectors.shape[-2:]
        folded = n_queries * (source * width + self.heads * length * source)
        return folded < length * source * width + n_queries * length * width

    def _scores(self, query: Tensor, vectors: Tensor, folds: bool) -> Tensor:
        """Products of queries and keys, (..., heads, n_queries, length).

        The bias of keys is the same for all positions, so that it has no effect.
        """
        if not folds:
            key = F.linear(vectors, self.key.weight)
            return query @ self._by_head(key).transpose(-1, -2)
        weights = _split(self.key.weight, 0, self.heads)  # (heads, head width, source)
        # an einsum, because a product of matrices would copy the weights for each item
        folded = torch.einsum("...hqd,hds->...hqs", query, weights)
        products = folded.flatten(-3, -2) @ vectors.transpose(-1, -2)
        return _split(products, -2, self.heads)

    def _seen(self, weight: Tensor, vectors: Tensor, folds: bool) -> Tensor:
        """Values weighted by attention, (..., heads, n_queries, head width)."""
        bias = _split(self.value.bias, 0, self.heads).unsqueeze(1)  # (heads, 1, head width)
        total = weight.sum(dim=-1, keepdim=True) * bias
        if not folds:
            value = F.linear(vectors, self.value.weight)
            return weight @ self._by_head(value) + total
        means = _split(weight.flatten(-3, -2) @ vectors, -2, self.heads)
        weights = _split(self.value.weight, 0, self.heads)
        return torch.einsum("...hqs,hds->...hqd", means, weights) + total


class _Layer(nn.Module):
    """Attention among queries, attention to a content, two linear layers; each if there is one."""

    def __init__(self, settings: QFormer, cross: bool) -> None:
        super().__init__()
        width, dropout = settings.width, settings.dropout
        heads = settings.heads
        self.self_attention = (
            _Attention(width, width, heads, dropout) if settings.self_attention else None
        )
        self.cross_attention = _Attention(width, settings.source, heads, dropout) if cross else None
        self.has_inner = settings.inner > 0
        if self.has_inner:
            self.inner = nn.Linear(width, settings.inner)
            self.outer = nn.Linear(settings.inner, width)
            self.norm = nn.LayerNorm(width, eps=EPSILON)
            self.output_dropout = Dropout(dropout)

    def fed_forward(self, queries: Tensor) -> Tensor:
        if not self.has_inner:
            return queries
        added = self.output_dropout(self.outer(F.gelu(self.inner(queries))))
        fed: Tensor = self.norm(queries + added)
        return fed


@dataclass(eq=False)
class Seen:
    """What queries have seen of each content."""

    queries: Tensor  # (n, n_queries, width)
    weights: list[Tensor] = field(default_factory=list)  # (n, heads, n_queries, length), by layer


class QFormer(nn.Module):
    """Queries through layers of attention and linear layers, normalised after each, as in BERT.

    Args:
        width: of the queries.
        source: the width of the vectors that are attended to.
        layers: how many.
        heads: of each attention.
        inner: the width between the two linear layers of each layer; 0: there are none.
        cross_every: attention to the vectors is in every `cross_every`-th layer, from the first.
        self_attention: whether queries attend to one another.
        dropout: of attention weights and of what each part adds.
    """

    def __init__(
        self,
        width: int = 768,
        source: int = 1408,
        layers: int = 12,
        heads: int = 12,
        inner: int = 3072,
        cross_every: int = 2,
        self_attention: bool = True,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if min(width, layers, heads, cross_every) < 1 or inner < 0 or width % heads:
            raise ModelError(
                "a Q-Former needs at least one layer and one head, and a width that is a multiple "
                f"of the heads; found {layers} layers, {heads} heads, width {width}, inner "
                f"{inner}, cross_every {cross_every}"
            )
        self.width, self.source, self.heads, self.inner = width, source, heads, inner
        self.self_attention, self.dropout = self_attention, dropout
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.first_dropout = Dropout(dropout)
        self.layers: list[_Layer] = nn.ModuleList(  # type: ignore[assignment]
            _Layer(self, cross=number % cross_every == 0) for number in range(layers)
        )
        for part in self.modules():
            if isinstance(part, nn.Linear):  # torch's weights; at 768, their spread is BERT's .02
                nn.init.zeros_(part.bias)

    def forward(
        self,
        queries: Tensor,
        vectors: Tensor,
        mask: Tensor,
        landmarks: Tensor | None = None,
        n_panel: int | None = None,
    ) -> Seen:
        """The queries after all layers, and the weights of each cross-attention.

        Args:
            queries: (n_queries, width), or of each content, (n, n_queries, width).
            vectors: of the contents, (n, length, source).
            mask: the positions that count, booleans (n, length).
            landmarks: (n_landmarks, width). With them, queries attend to landmarks instead of one
                another, and so do landmarks. So a query does not depend on the other queries.
            n_panel: how many of the queries, from the first, all attend to; all if left out.
        """
        n, n_self = len(vectors), sum(layer.self_attention is not None for layer in self.layers)
        length = vectors.shape[1]
        vectors, mask = _aligned(vectors, mask)
        queries = self.norm(queries)
        fixed = None if landmarks is None else self.norm(landmarks)  # nothing is added to them yet
        n_landmarks = 0  # before the queries
        draws = self.training and self.dropout > 0  # otherwise alike until they meet a content
        if draws:
            queries = _expanded(queries, n)
        if fixed is not None and (draws or n_self > 1):
            queries = torch.cat([_expanded(fixed, n), _expanded(queries, n)], dim=-2)
            n_landmarks = len(fixed)
            fixed = None
        queries = self.first_dropout(queries)
        weights = []
        for layer in self.layers:
            if layer.self_attention is not None:
                panel = queries[..., :n_panel, :] if fixed is None else fixed
                if n_landmarks:
                    panel = queries[:, :n_landmarks]
                n_self -= 1
                if not n_self:  # nothing attends to landmarks any more
                    queries, n_landmarks = queries[..., n_landmarks:, :], 0
                queries, _ = layer.self_attention(queries, panel)
            if layer.cross_attention is not None:
                queries, weight = layer.cross_attention(_expanded(queries, n), vectors, mask)
                weights.append(weight[..., n_landmarks:, :length])
            queries = layer.fed_forward(queries)
        return Seen(queries[:, n_landmarks:], weights)

    def load_blip(self, weights: Mapping[str, Tensor]) -> bool:
        """Load the weights of a Q-Former of BLIP-2 or InstructBLIP; False if there are none."""
        renamed = _blip_weights(weights)
        if not renamed:
            return False
        own = self.state_dict()
        wrong = [name for name in own | renamed if (name in renamed) != (name in own)]
        wrong += [
            f"{name} has {_by(renamed[name])} numbers, not {_by(own[name])}"
            for name in own.keys() & renamed.keys()
            if renamed[name].shape != own[name].shape
        ]
        if wrong:
            raise ModelError(
                "pretrained: not the weights of a Q-Former with these layers "
                f"({listed(sorted(wrong), 3)}); choose the encoder and sizes it was trained with"
            )
        self.load_state_dict(renamed)
        return True


def _blip_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of the Q-Former of BLIP-2 or InstructBLIP under the names of `QFormer`.

    Those of its part for text, and of whatever else is there, are left out.
    """
    renamed = {}
    for name, values in weights.items():
        if "encoder.layer." not in name and not name.lower().endswith(_FIRST_NORM):
            continue
        if "vision" in name or "visual" in name or _TEXT.search(name):
            continue
        for pattern, instead in _RENAMED:
            name = re.sub(pattern, instead, name)
        renamed[name] = values
    return renamed


def _by(values: Tensor) -> str:
    return " x ".join(map(str, values.shape))


def interpolated(queries: Tensor, n: int) -> Tensor:
    """Another number of queries, (n, width), by linear interpolation along the first axis."""
    resized: Tensor = F.interpolate(queries.T.unsqueeze(0), n, mode="linear").squeeze(0).T
    return resized


def _aligned(vectors: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """On a GPU in half precision, with further positions that do not count, up to a multiple of
    eight: products of other lengths are several times slower."""
    missing = -vectors.shape[1] % EIGHT
    if not missing or vectors.device.type != "cuda" or vectors.dtype.itemsize > 2:
        return vectors, mask
    return F.pad(vectors, (0, 0, 0, missing)), F.pad(mask, (0, missing))


def _expanded(queries: Tensor, n: int) -> Tensor:
    return queries if queries.dim() == 3 else queries.expand(n, *queries.shape)


def _split(values: Tensor, axis: int, n: int) -> Tensor:
    """An axis as two, of which the first has n entries."""
    split: Tensor = values.unflatten(axis, (n, -1))  # type: ignore[no-untyped-call]
    return split
