"""The methods of a comparison with their settings, from the options of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dissensus.errors import DataError, did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dissensus.methods.framework.base import Method
    from dissensus.methods.framework.settings import Choices


def typed_settings(
    epochs: int | None, learning_rate: float | None, fine_tune: bool, set_: Sequence[str] | None
) -> list[str]:
    """The settings of these options, name=value each, followed by those of --set."""
    typed = {
        "training.epochs": epochs,
        "training.learning_rate": learning_rate,
        "tune": "all" if fine_tune else None,
    }
    return [*(f"{k}={v}" for k, v in typed.items() if v is not None), *(set_ or ())]


class SettingOption(NamedTuple):
    """A setting from the command line: of one method, or of every method that has it."""

    method: str | None
    name: str
    value: str

    @classmethod
    def read(cls, text: str, methods: Sequence[str]) -> SettingOption:
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


def configured_methods(
    names: Sequence[str], encoder: str | None, settings: Sequence[str]
) -> tuple[dict[str, Method], dict[str, Choices]]:
    """Methods with their settings, and the choices to tune: those of settings not set here."""
    from dissensus.methods import build, configured, settings_of

    options = [SettingOption.read(text, names) for text in settings]
    if encoder is not None:
        options.append(SettingOption(None, "encoder", encoder))
    methods: dict[str, Method] = {}
    choices: dict[str, Choices] = {}
    used: set[SettingOption] = set()
    for name in names:
        default = build(name)
        known = settings_of(default)
        own = [o for o in options if o.method == name or (o.method is None and o.name in known)]
        used.update(own)
        methods[name] = configured(default, [(option.name, option.value) for option in own])
        fixed = {option.name for option in own}
        choices[name] = {key: values for key, values in default.choices.items() if key not in fixed}
    unused = [o for o in options if o not in used and o.name != "encoder"]
    if unused:
        every = [key for method in methods.values() for key in settings_of(method)]
        guess = did_you_mean(unused[0].name, every)
        raise DataError(
            f"--set {unused[0].name}: none of {listed(names, 40)} has this setting{guess}"
        )
    return methods, choices
