"""The methods of a comparison, from the options of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dissensus.methods.framework.base import Method
    from dissensus.methods.framework.search_space import Choices


class Typed(NamedTuple):
    """A setting from the command line: of one method, or of every method that has it."""

    method: str | None
    name: str
    value: str

    @classmethod
    def read(cls, text: str, methods: Sequence[str]) -> Typed:
        """Read `name=value` or `method:name=value`."""
        name, equals, value = text.partition("=")
        if not equals:
            raise DataError(f"--set must be name=value or method:name=value, found {text!r}")
        method, colon, inner = name.partition(":")
        if not colon:
            return cls(None, name.strip(), value.strip())
        if method.strip() not in methods:
            raise DataError(
                f"--set {text}: {method.strip()!r} is not among the methods; there are "
                f"{listed(methods, 40)}"
            )
        return cls(method.strip(), inner.strip(), value.strip())


def contenders(
    names: Sequence[str], encoder: str | None, settings: Sequence[str]
) -> tuple[dict[str, Method], dict[str, Choices]]:
    """The methods with their settings, and the choices to tune: those of settings not given."""
    from dissensus.methods import method as method_class
    from dissensus.methods.framework.settings import configured, settings_of

    typed = [Typed.read(text, names) for text in settings]
    if encoder is not None:
        typed.append(Typed(None, "encoder", encoder))
    made: dict[str, Method] = {}
    choices: dict[str, Choices] = {}
    used: set[Typed] = set()
    for name in names:
        cls = method_class(name)
        known = settings_of(cls())
        own = [t for t in typed if t.method == name or (t.method is None and t.name in known)]
        used.update(own)
        made[name] = configured(cls, [(t.name, t.value) for t in own])
        given = {t.name for t in own}
        choices[name] = {key: values for key, values in cls.choices.items() if key not in given}
    idle = [t for t in typed if t not in used and t.name != "encoder"]
    if idle:
        raise DataError(f"--set {idle[0].name}: none of {listed(names, 40)} has this setting")
    return made, choices
