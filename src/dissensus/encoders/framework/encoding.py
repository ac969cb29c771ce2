"""Encodings: the contents of a corpus, each role with its encoder, as vectors."""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents, Kind
from dissensus.corpus import Corpus
from dissensus.encoders.framework.cache import cached_store, content_keys, is_cached
from dissensus.encoders.framework.catalogue import AND, encoder, kinds_of
from dissensus.encoders.framework.store import NOUNS, Store, Unreadable, usable
from dissensus.errors import DataError, ModelError, listed
from dissensus.progress import progress
from dissensus.within import cached_within

if TYPE_CHECKING:
    from dissensus.encoders.framework.base import Encoder

MOST = 1 << 28  # bytes of mean vectors that are kept per encoder


@dataclass(frozen=True, eq=False)
class Encoding:
    """An encoder with the distinct contents that it encodes, and the content of each item."""

    encoder: Encoder
    contents: Contents
    content: np.ndarray  # (n_items,) codes, -1 absent

    def store(self) -> Store:
        """The vectors of the contents."""
        return encode(self.encoder, self.contents)


def encode(frozen: Encoder, contents: Contents) -> Store:
    """The vectors of contents, from the feature cache if they were encoded before."""
    if not len(contents):
        raise ModelError("all contents are blank; there is nothing to encode")
    with usable(frozen):
        return cached_store(frozen, contents) if frozen.cached else frozen.encode(contents)


def encodings(corpus: Corpus, name: str | Mapping[str, str]) -> dict[str, Encoding]:
    """The encodings of the roles of a corpus, by key: a role, or several roles or encoders joined.

    Args:
        name: one encoder for all roles it can read ("auto": each role's default), or a name for
            each role. "premise+hypothesis" are texts that are read together. In a corpus with
            several kinds of contents, a model by folder or hub name reads the kind that its
            configuration names. "minilm&spelling" are two encoders of one role; the key of the
            second is then "text&spelling".
    """
    if isinstance(name, Mapping):
        return {
            key: _encoding(corpus, role, one)
            for role, of_role in name.items()
            for key, one in _keys_and_names(role, of_role)
        }
    kind_of_role = {role: contents.kind for role, contents in corpus.contents.items()}
    kinds = set(kind_of_role.values())
    for one in name.split(AND):
        kinds &= kinds_of(one, set(kind_of_role.values()))
    of_roles = {role: name for role, kind in kind_of_role.items() if kind in kinds}
    by_role = encodings(corpus, of_roles)
    if not by_role:
        if not kind_of_role:
            raise ModelError(
                f"{corpus.name}: the corpus has no contents for encoder {name!r} to read; name the "
                "column of the texts (text=, --text), or choose a method that ignores contents "
                "(prior, annotator-majority)"
            )
        roles = ", ".join(f"{role!r} ({kind})" for role, kind in kind_of_role.items())
        raise ModelError(f"{corpus.name}: encoder {name!r} does not read {roles}")
    return by_role


def _keys_and_names(role: str, name: str) -> list[tuple[str, str]]:
    """The key and the name of each encoder of a role."""
    first, *others = name.split(AND)
    if "" in (first, *others) or len({first, *others}) <= len(others):
        raise ModelError(
            f"encoder {name!r}: the names on both sides of {AND!r} must be of encoders, each once"
        )
    return [(role, first), *((f"{role}{AND}{one}", one) for one in others)]


def roles_of(key: str, known: Container[str]) -> list[str]:
    """The roles of a key.

    Example:
        >>> roles_of("premise+hypothesis&spelling", {"premise", "hypothesis"})
        ['premise', 'hypothesis']
    """
    plain = key if key in known else key.split(AND)[0]
    return [plain] if plain in known else plain.split("+")


def _encoding(corpus: Corpus, roles: str, name: str) -> Encoding:
    parts = roles.split("+") if roles not in corpus.contents else [roles]
    unknown = [role for role in parts if role not in corpus.contents]
    if unknown:
        raise ModelError(
            f"{corpus.name}: no role {listed(unknown)}; there are {listed(corpus.contents)}"
        )
    if len(parts) == 1:
        contents = corpus.contents[roles]
        return Encoding(encoder(name, contents.kind), contents, corpus.content[roles])
    return Encoding(encoder(name, "text"), *_joined_texts(corpus, parts))


def _joined_texts(corpus: Corpus, roles: list[str]) -> tuple[Contents, np.ndarray]:
    """Distinct tuples of texts, and the code of each item's; an absent text is empty."""
    other = [role for role in roles if corpus.contents[role].kind != "text"]
    if other:
        raise ModelError(
            f"{corpus.name}: only texts can be read together, {listed(other)} is not one"
        )
    codes = np.stack([corpus.content[role] for role in roles], axis=1)
    distinct, content = np.unique(codes, axis=0, return_inverse=True)
    texts = [["", *corpus.contents[role].values.to_pylist()] for role in roles]
    tuples = [[of_role[c + 1] for of_role, c in zip(texts, row, strict=True)] for row in distinct]
    return Contents("text", pa.array(tuples, pa.list_(pa.string()))), content.reshape(-1)


# ---- mean vectors, kept in memory while several fits use the same ones ----


class Means(NamedTuple):
    """The mean vector of each content, and which are longer than the encoder reads."""

    vectors: np.ndarray  # (n_contents, width) float32
    cut: np.ndarray  # (n_contents,) booleans

    def take(self, codes: np.ndarray) -> Means:
        return Means(self.vectors[codes], self.cut[codes])

    def joined(self, other: Means) -> Means:
        """These, followed by the other ones."""
        return Means(*(np.concatenate(both) for both in zip(self, other, strict=True)))


_Kept = dict[str, tuple[np.ndarray, Means]]  # identity -> sorted keys of contents, and their means
_KEPT: ContextVar[_Kept | None] = ContextVar("pooled", default=None)


def pooling_once() -> AbstractContextManager[None]:
    """Within the block, the mean vector of a content is computed once for all fits."""
    return cached_within(_KEPT)


def mean_vectors(encoder: Encoder, contents: Contents) -> Means:
    """The vector of each content: the mean over its positions."""
    kept = _KEPT.get()
    if kept is None or not encoder.cached or not len(contents):
        return _computed(encoder, contents)
    keys = content_keys(contents)
    if encoder.identity not in kept:
        known, means = _sorted(keys, _computed(encoder, contents))
    else:
        known, means = kept[encoder.identity]
        missing = np.flatnonzero(~np.isin(keys, known))
        if len(missing):
            try:
                new = _computed(encoder, contents.take(missing))
            except Unreadable as error:
                raise error.among(contents, missing) from None
            known, means = _sorted(np.concatenate([known, keys[missing]]), means.joined(new))
    if means.vectors.nbytes <= MOST:
        kept[encoder.identity] = known, means
    return means.take(np.searchsorted(known, keys))


def _computed(encoder: Encoder, contents: Contents) -> Means:
    store = encode(encoder, contents)
    cut = np.zeros(len(store), bool) if store.cut is None else np.asarray(store.cut)
    return Means(store.pooled(), cut)


def _sorted(keys: np.ndarray, means: Means) -> tuple[np.ndarray, Means]:
    known, at = np.unique(keys, return_index=True)
    return known, means.take(at)


# ---- contents that cannot be read ----


def without_unreadable(
    corpus: Corpus, encodings: Mapping[str, Encoding]
) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus without the items whose contents an encoder cannot read, and a line on what was
    left out for each kind of content.

    Contents in the feature cache were read before, and are not checked again.
    """
    affected: dict[Kind, np.ndarray] = {}  # (n_items,) booleans each
    first: dict[Kind, str] = {}
    for encoding in encodings.values():
        reasons = _reasons(encoding)
        kind, items = encoding.contents.kind, np.isin(encoding.content, list(reasons))
        if items.any():
            affected[kind] = affected.get(kind, False) | items
            item = int(items.argmax())
            code = int(encoding.content[item])
            value = encoding.contents[code]
            name = value if isinstance(value, str) else f"that of item {corpus.items[item]!r}"
            first.setdefault(kind, f"{name} ({reasons[code].removeprefix(f'{name}: ')})")
    if not affected:
        return corpus, ()
    lines = []
    for kind, items in affected.items():
        n, noun = int(items.sum()), NOUNS[kind]
        what = f"{n} items left out: their {noun}s cannot be read; the first"
        if n == 1:
            what = f"1 item left out: its {noun} cannot be read"
        lines.append(f"{what}: {first[kind]}")
    left_out = np.logical_or.reduce(list(affected.values()))
    if left_out.all():
        raise DataError(f"{corpus.name}: nothing is left; {'; '.join(lines)}")
    return corpus.select(items=~left_out), tuple(lines)


def _reasons(encoding: Encoding) -> dict[int, str]:
    """Which contents cannot be read, and why."""
    contents, encoder = encoding.contents, encoding.encoder
    codes = np.arange(len(contents))
    if encoder.cached:
        try:
            codes = np.flatnonzero(~is_cached(encoder, contents))
        except DataError:  # a file that does not exist has no key
            pass
    reasons = unreadable(encoder, contents.take(codes)) if len(codes) else {}
    return {int(codes[code]): reason for code, reason in reasons.items()}


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
    try:
        encoder.check(contents)
    except Unreadable as error:
        return error.reason
    except DataError as error:
        return str(error)
    return None
