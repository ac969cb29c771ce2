"""The models of a paper: methods with settings, under the names that its tables have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dissensus.methods.framework.base import Method

Typed = Sequence[tuple[str, str]]  # names and values of settings, as users type them


@dataclass(frozen=True)
class Model:
    """A row of a paper's tables.

    Args:
        title: in tables.
        method: its name in `METHODS`.
        settings: where they are not the method's defaults.
    """

    title: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def built(self, shared: Mapping[str, Any], typed: Typed = ()) -> Method:
        """The method, not fitted.

        Args:
            shared: settings of all models; those that the method does not have are left out.
            typed: the same, as typed; they replace all others.
        """
        from dissensus.methods import method
        from dissensus.methods.framework.settings import changed

        default = method(self.method)()
        return with_typed(changed(default, known(default, shared) | dict(self.settings)), typed)


def known(method: Method, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that a method has."""
    from dissensus.methods.framework.settings import settings_of

    names = settings_of(method)
    return {name: value for name, value in settings.items() if name in names}


def with_typed(method: Method, typed: Typed) -> Method:
    """A method with those of the typed settings that it has."""
    from dissensus.methods.framework.settings import changed, configured, settings_of

    names = settings_of(method)
    usable = [(name, text) for name, text in typed if name in names]
    values = settings_of(configured(type(method), usable))
    return changed(method, {name: values[name] for name, _ in usable})
