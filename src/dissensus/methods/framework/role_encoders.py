"""What a method reads of a corpus, and by which encoders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dissensus.corpus import Corpus
from dissensus.encoders import Encoder, Encoding, NeuralEncoder, encoder, encodings, roles_of
from dissensus.encoders.framework.catalogue import BESIDE
from dissensus.errors import ModelError, listed
from dissensus.training import Examples


@dataclass(frozen=True)
class RoleEncoders:
    """Which encoder reads what, as it was in training.

    Example:
        >>> pairs = RoleEncoders("spelling", ("premise+hypothesis",), {"premise": "text",
        ...                                                       "hypothesis": "text"})
        >>> pairs.roles()
        ['premise', 'hypothesis']
    """

    named: str | dict[str, str]  # an encoder's name, or one for each role or roles read together
    keys: tuple[str, ...]  # of what is read: "text", "premise+hypothesis", "text&spelling"
    kinds: Mapping[str, str]  # of content, by role

    def roles(self) -> list[str]:
        """What is read, each role by itself."""
        found = (role for key in self.keys for role in roles_of(key, self.kinds))
        return list(dict.fromkeys(found))

    def encoders(self) -> dict[str, Encoder]:
        """What reads each role, and what stands beside it."""
        found = {}
        for key in self.keys:
            roles = self._together(key)
            name = self._name(roles)
            one = name.split(BESIDE)[0] if key == roles else key.split(BESIDE, 1)[1]
            found[key] = encoder(one, self.kinds[roles_of(key, self.kinds)[0]])
        return found

    def encodings(self, corpus: Corpus, identities: Mapping[str, str]) -> dict[str, Encoding]:
        """What was read in training, of another corpus.

        Args:
            identities: of the encoders in training, by key; another one is refused.
        """
        roles = self.roles()
        if any(role not in corpus.contents for role in roles):
            raise ModelError(
                f"{corpus.name}: the model reads {listed(roles)}, the corpus shows "
                f"{listed(corpus.contents) or 'nothing'}"
            )
        names = {role: self._name(role) for role in map(self._together, self.keys)}
        read = encodings(corpus, names)
        for key, reading in read.items():
            identity = reading.encoder.identity
            if identities.get(key, identity) != identity:
                role = self._together(key)
                raise ModelError(
                    f"encoder {names[role]!r} of {role!r} is not the one of training: it has other "
                    "weights, or reads in another way; bring the former one back, or train again"
                )
        return read

    def _together(self, key: str) -> str:
        """The roles that are read under a key, without what stands beside them."""
        return "+".join(roles_of(key, self.kinds))

    def _name(self, roles: str) -> str:
        """The name of what reads a role, or several roles together."""
        return self.named if isinstance(self.named, str) else self.named[roles]


def encoding_notes(
    named: str | dict[str, str], corpus: Corpus, examples: Examples, read: dict[str, Encoding]
) -> list[str]:
    """What of the corpus is not read as it stands, a line each."""
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
    of_roles = [reading.encoder.missed(reading.contents) for reading in read.values()]
    return notes + [note for note in of_roles if note]


def widths_of(examples: Examples, encoders: dict[str, Encoder]) -> dict[str, int]:
    """How wide the vectors are, by role."""
    widths = {}
    for role, reader in encoders.items():
        if role in examples.pooled:
            widths[role] = int(examples.pooled[role].shape[1])
        elif role in examples.stores:
            widths[role] = examples.stores[role].width
        else:
            assert isinstance(reader, NeuralEncoder)
            widths[role] = reader.network.width
    return widths
