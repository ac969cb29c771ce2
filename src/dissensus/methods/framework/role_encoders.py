"""RoleEncoders: the encoder of each role that a fitted method reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dissensus.corpus import Corpus
from dissensus.encoders import Encoder, Encoding, NeuralEncoder, encodings, roles_of
from dissensus.encoders import encoder as encoder_of
from dissensus.encoders.framework.catalogue import AND
from dissensus.errors import ModelError, listed
from dissensus.training import Examples


@dataclass(frozen=True)
class RoleEncoders:
    """The encoders of a fitted method, by role.

    Example:
        >>> pairs = RoleEncoders("spelling", ("premise+hypothesis",), {"premise": "text",
        ...                                                             "hypothesis": "text"})
        >>> pairs.roles()
        ['premise', 'hypothesis']
    """

    named: str | dict[str, str]  # the setting `encoder`: a name, or a name by role
    keys: tuple[str, ...]  # such as "text", "premise+hypothesis" or "text&spelling"
    kinds: Mapping[str, str]  # of contents, by role

    def roles(self) -> list[str]:
        """All roles that are read, each once."""
        return list(dict.fromkeys(r for key in self.keys for r in roles_of(key, self.kinds)))

    def check(self) -> None:
        """Refuse keys whose role or encoder is missing, as in a damaged model folder."""
        for key in self.keys:
            roles = roles_of(key, self.kinds)
            unknown = [role for role in roles if role not in self.kinds]
            if unknown:
                raise ModelError(f"no role {listed(unknown)}; there are {listed(self.kinds)}")
            if isinstance(self.named, dict) and self._joined_roles(key) not in self.named:
                raise ModelError(f"'encoder' has none for {self._joined_roles(key)!r}")

    def encoders(self) -> dict[str, Encoder]:
        """The encoder of each key."""
        encoders = {}
        for key in self.keys:
            roles = self._joined_roles(key)
            name = self._name(roles)
            one = name.split(AND)[0] if key == roles else key.split(AND, 1)[1]
            encoders[key] = encoder_of(one, self.kinds[roles_of(key, self.kinds)[0]])
        return encoders

    def encodings(self, corpus: Corpus, identities: Mapping[str, str]) -> dict[str, Encoding]:
        """The encodings of another corpus, as in training.

        Args:
            identities: of the encoders in training, by key; an encoder that differs is refused.
        """
        roles = self.roles()
        if any(role not in corpus.contents for role in roles):
            raise ModelError(
                f"{corpus.name}: the model reads {listed(roles)}, the corpus has "
                f"{listed(corpus.contents) or 'no contents'}"
            )
        names = {role: self._name(role) for role in map(self._joined_roles, self.keys)}
        by_key = encodings(corpus, names)
        for key, encoding in by_key.items():
            identity = encoding.encoder.identity
            if identities.get(key, identity) != identity:
                role = self._joined_roles(key)
                raise ModelError(
                    f"encoder {names[role]!r} of {role!r} is not the one of training: its weights "
                    "or options differ; restore the former one, or train again"
                )
        return by_key

    def _joined_roles(self, key: str) -> str:
        """The roles of a key, joined by "+"."""
        return "+".join(roles_of(key, self.kinds))

    def _name(self, roles: str) -> str:
        """The name of the encoder of a role, or of several roles that are read together."""
        return self.named if isinstance(self.named, str) else self.named[roles]


def encoding_notes(
    named: str | dict[str, str], corpus: Corpus, examples: Examples, by_key: dict[str, Encoding]
) -> list[str]:
    """Notes on what the encoders do not read of the corpus."""
    roles = {role for key in examples.roles for role in roles_of(key, corpus.contents)}
    unread = [role for role in corpus.contents if role not in roles]
    notes = [f"{named!r} does not read {listed(unread)}"] if unread else []
    if examples.unfocused:
        notes.append(
            f"{examples.unfocused} items have a focus that overlaps nothing the encoder "
            "reads; their whole content is taken"
        )
    if examples.n_cut:
        longer = (
            "1 content is longer than the encoder reads; its end is"
            if examples.n_cut == 1
            else f"{examples.n_cut} contents are longer than the encoder reads; their ends are"
        )
        notes.append(f"{longer} not seen")
    unknown = [encoding.encoder.unknown_note(encoding.contents) for encoding in by_key.values()]
    return notes + [note for note in unknown if note]


def widths_of(examples: Examples, encoders: dict[str, Encoder]) -> dict[str, int]:
    """The width of the vectors, by role."""
    widths = {}
    for role, encoder in encoders.items():
        if role in examples.pooled:
            widths[role] = int(examples.pooled[role].shape[1])
        elif role in examples.stores:
            widths[role] = examples.stores[role].width
        else:
            assert isinstance(encoder, NeuralEncoder)
            widths[role] = encoder.network.width
    return widths
