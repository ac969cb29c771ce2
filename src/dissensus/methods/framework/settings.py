"""List the settings of a method, change them, or parse them as typed (`training.epochs=10`)."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from dissensus.errors import ModelError, listed, meant
from dissensus.methods.framework.base import Method

EPOCHS, LEAST_STEPS = "training.epochs", "training.least_steps"
SEEDS = ("seed", "init_seed", "training.seed")


def settings_of(method: Method) -> dict[str, Any]:
    """Every setting by name; those of training as "training.NAME".

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> settings_of(AnnotatorMajority())
        {'smoothing': 1.0}
    """
    settings: dict[str, Any] = {}
    for name, value in method.get_params().items():
        if dataclasses.is_dataclass(value):
            inner = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            settings |= {f"{name}.{key}": part for key, part in inner.items()}
        else:
            settings[name] = value
    return settings


def changed(method: Method, settings: Mapping[str, Any]) -> Method:
    """A copy of a method, not fitted, with these settings changed ("training.epochs" or "hidden").

    With another number of epochs, `training.least_steps` is 0, unless it is given too.

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> changed(AnnotatorMajority(), {"smoothing": 2.0})
        AnnotatorMajority(smoothing=2.0)
    """
    known = settings_of(method)
    unknown = [name for name in settings if name not in known]
    if unknown:
        names = listed(known, 40) or "none"
        guess = meant(unknown[0], known)
        raise ModelError(f"{method.name} has no setting {listed(unknown)}{guess}; it has {names}")
    parameters = method.get_params()
    if settings.get(EPOCHS, known.get(EPOCHS)) != known.get(EPOCHS):
        settings = {LEAST_STEPS: 0} | dict(settings)
    for name, value in settings.items():
        outer, _, inner = name.partition(".")
        parameters[outer] = (
            dataclasses.replace(parameters[outer], **{inner: value}) if inner else value
        )
    return type(method)(**parameters)


def seeded(method: Method, seed: int) -> Method:
    """A copy of a method, not fitted, with all its seeds set to this one."""
    return changed(method, {name: seed for name in SEEDS if name in settings_of(method)})


def draws(method: Method) -> bool:
    """Whether the method has a seed, so that fits with different seeds differ."""
    return any(name in settings_of(method) for name in SEEDS)


def configured(cls: type[Method], settings: Iterable[tuple[str, str]]) -> Method:
    """A method with these settings, each a name ("training.epochs" or "hidden") and a text."""
    method = cls()
    settings = list(settings)
    if EPOCHS in dict(settings) and LEAST_STEPS in settings_of(method):
        # exactly these epochs, unless least_steps is given too
        settings = [(LEAST_STEPS, "0"), *settings]
    for name, text in settings:
        outer, _, inner = name.partition(".")
        known = method.get_params()
        if outer not in known:
            names = listed(known, 20) or "none"
            guess = meant(name, settings_of(method))
            raise ModelError(f"{method.name} has no setting {name!r}{guess}; it has {names}")
        if name == "encoder":
            value = encoder_setting(text)
        elif not inner:
            value = _value(name, text, known[outer])
        else:
            fields = _fields(known[outer])
            if inner not in fields:
                names = listed([f"{outer}.{field}" for field in fields], 20) or "none"
                guess = meant(inner, settings_of(method))
                raise ModelError(f"{method.name} has no setting {name!r}{guess}; it has {names}")
            changed = {inner: _value(name, text, fields[inner])}
            value = dataclasses.replace(known[outer], **changed)
        method.set_params(**{outer: value})
    return method


def encoder_setting(text: str) -> str | dict[str, str]:
    """The name of one encoder, or names by role.

    Example:
        >>> encoder_setting("minilm:max_length=64")
        'minilm:max_length=64'
        >>> encoder_setting("speech=whisper-tiny:seconds=10,premise+hypothesis=minilm")
        {'speech': 'whisper-tiny:seconds=10', 'premise+hypothesis': 'minilm'}
    """
    role = r"[^,:=/\\]+="  # other characters before "=" belong to a folder or an option
    if not re.match(role, text):
        return text
    pairs = [part.split("=", 1) for part in re.split(rf",(?={role})", text)]
    by_role = {role.strip(): name.strip() for role, name in pairs}
    empty = [role for role, name in by_role.items() if not name]
    if len(by_role) < len(pairs) or empty:
        what = f"none for {listed(empty)}" if empty else "two for one role"
        raise ModelError(f"encoder must have one name for each role, found {what} in {text!r}")
    return by_role


def _fields(value: Any) -> dict[str, Any]:
    if not dataclasses.is_dataclass(value):
        return {}
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _value(name: str, text: str, default: Any) -> Any:
    """The text as a value of the same type as the default."""
    try:
        if isinstance(default, tuple):
            return tuple(int(part) for part in text.strip("()[] ").split(",") if part.strip())
        if isinstance(default, bool):
            return {"true": True, "false": False, "yes": True, "no": False}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
        if default is None:
            return None if text.lower() == "none" else json.loads(text)
    except (KeyError, ValueError):
        kinds = {tuple: "a list of integers", bool: "true or false", int: "an integer"}
        kind = kinds.get(type(default), "a number")
        example = ",".join(map(str, default)) if isinstance(default, tuple) else default
        raise ModelError(f"{name} must be {kind}, e.g. {example}, found {text!r}") from None
    return text
