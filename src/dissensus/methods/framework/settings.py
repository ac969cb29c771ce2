"""List the settings of a method, change them, or parse them as typed (`training.epochs=10`); the
values that are tried when settings are chosen on training data."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

from dissensus.errors import ModelError, cut, did_you_mean, listed
from dissensus.training.settings import Training


@functools.cache
def literals(cls: type) -> dict[str, tuple[Any, ...]]:
    """The settings of a class that have few possible values, and these."""
    try:
        hints = get_type_hints(cls)
    except NameError:  # types of a class outside of dissensus that are imported for checks only
        return {}
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


class Configurable(Protocol):
    """What has settings: a method."""

    @property
    def name(self) -> str: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


M = TypeVar("M", bound=Configurable)

EPOCHS, LEAST_STEPS = "training.epochs", "training.least_steps"
SEEDS = ("seed", "init_seed", "training.seed")


def settings_of(method: Configurable) -> dict[str, Any]:
    """Every setting by name; those of training as "training.NAME".

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> settings_of(AnnotatorMajority())
        {'smoothing': 1.0}
    """
    settings: dict[str, Any] = {}
    for name, value in method.get_params(deep=False).items():
        if is_dataclass(value):
            settings |= {f"{name}.{f.name}": getattr(value, f.name) for f in fields(value)}
        else:
            settings[name] = value
    return settings


def completed(name: str, value: Any, default: Any) -> Any:
    """A setting that is a dataclass of settings, such as `training`, completed by the method's own
    default. With a number of epochs, `least_steps` is 0, unless it is given too.

    Args:
        name: of method and setting, for messages.
        value: of the same class as the default, or a dict of some of its settings.
    """
    cls = type(default)
    if isinstance(value, Mapping):
        _check_known(name, value, [field.name for field in fields(cls)])
        try:
            value = cls(**value)
        except TypeError as error:
            found = f"found {cut(repr(dict(value)))} ({cut(error)})"
            raise ModelError(f"{name}: each setting must have its own type, {found}") from None
    if not isinstance(value, cls):
        raise ModelError(
            f"{name} must be a {cls.__name__} or a dict of its settings, e.g. "
            f"{{{fields(cls)[0].name!r}: {getattr(default, fields(cls)[0].name)!r}}}, "
            f"found {cut(repr(value))}"
        )
    if not isinstance(value, Training):
        return value
    return value.over(replace(default, least_steps=0) if "epochs" in value.given else default)


def changed(method: M, settings: Mapping[str, Any]) -> M:
    """A copy of a method, not fitted, with these settings changed ("training.epochs" or "hidden").

    With another number of epochs, `training.least_steps` is 0, unless it is given too.

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> changed(AnnotatorMajority(), {"smoothing": 2.0})
        AnnotatorMajority(smoothing=2.0)
    """
    parameters = method.get_params(deep=False)
    within = {name: value for name, value in settings.items() if name not in parameters}
    _check_known(method.name, within, settings_of(method))
    copy = type(method)(**parameters | {k: v for k, v in settings.items() if k in parameters})
    known = settings_of(copy)
    if within.get(EPOCHS, known.get(EPOCHS)) != known.get(EPOCHS):
        within = {LEAST_STEPS: 0} | within
    for name, value in within.items():
        group, _, inner = name.partition(".")
        setattr(copy, group, asdict(getattr(copy, group)) | {inner: value})
    return copy


def _check_known(where: str, names: Iterable[Any], known: Collection[str]) -> None:
    """Refuse settings that do not exist: list those of the same group, such as `training`."""
    unknown = [name for name in names if name not in known]
    if unknown:
        group = str(unknown[0]).rpartition(".")[0]
        same = [name for name in known if name.rpartition(".")[0] == group and group]
        has = listed(same or dict.fromkeys(name.partition(".")[0] for name in known), 40) or "none"
        guess = did_you_mean(unknown[0], known)
        raise ModelError(f"{where} has no setting {listed(unknown)}{guess}; it has {has}")


RANGES: dict[str, Callable[[float], bool]] = {  # of numbers, by the words of a message
    "1 or more": lambda value: value >= 1,
    "2 or more": lambda value: value >= 2,
    "at least 0": lambda value: value >= 0,
    "above 0": lambda value: value > 0,
    "above 0, or inf for no prior": lambda value: value > 0,
    "from 0 to 1": lambda value: 0 <= value <= 1,
    "at least 0 and below 1": lambda value: 0 <= value < 1,
    "above 0 and below 1": lambda value: 0 < value < 1,
}


def check_ranges(method: Configurable) -> None:
    """Refuse a number, or a tuple with one, that is not in the range of its setting."""
    for base in type(method).__mro__:
        for name, words in vars(base).get("ranges", {}).items():
            value = getattr(method, name)
            numbers = value if isinstance(value, tuple) else (value,)
            if not all(RANGES[words](number) for number in numbers):
                shown = value if isinstance(value, tuple) else f"{value:g}"
                raise ModelError(f"{name} must be {words}, found {shown}")


def seeded(method: M, seed: int) -> M:
    """A copy of a method, not fitted, with all its seeds set to this one."""
    return changed(method, {name: seed for name in SEEDS if name in settings_of(method)})


def draws(method: Configurable) -> bool:
    """Whether the method has a seed, so that fits with different seeds differ."""
    return any(name in settings_of(method) for name in SEEDS)


def configured(method: M | type[M], settings: Iterable[tuple[str, str]]) -> M:
    """A copy of a method, not fitted, with these settings changed, each a name ("training.epochs"
    or "hidden") and a text; of a class, with the other settings at their defaults."""
    method = method() if isinstance(method, type) else method
    known = settings_of(method)
    typed = dict(settings)
    _check_known(method.name, typed, known)
    values = {
        name: encoder_setting(text) if name == "encoder" else _value(name, text, known[name])
        for name, text in typed.items()
    }
    if EPOCHS in values:
        values = {LEAST_STEPS: 0} | values  # exactly these epochs, unless it is given too
    return changed(method, values)


def common_settings(
    method: M, seed: int, encoder: str | None, settings: Iterable[tuple[str, str]] = ()
) -> M:
    """As `configured`, with a seed and an encoder too, if the method has any (floors do not)."""
    common = {"init_seed": str(seed), "training.seed": str(seed), "encoder": encoder}
    known = method.get_params(deep=False)
    typed = [(k, v) for k, v in common.items() if v is not None and k.split(".")[0] in known]
    return configured(method, [*typed, *settings])


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


Choices = Mapping[str, tuple[Any, ...]]  # setting, such as "training.epochs" -> values

STEPS = (300, 1000, 3000)  # of training on features, at least

TRAINING_CHOICES: Choices = {
    "training.learning_rate": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    "training.epochs": (5, 10, 20, 40),
    "training.weight_decay": (0.0, 0.01, 0.1),
    "dropout": (0.0, 0.2, 0.5),
}
PROBE_CHOICES: Choices = {**TRAINING_CHOICES, "hidden": ((), (64,), (256,))}
TRUNK_CHOICES: Choices = {**TRAINING_CHOICES, "hidden": ((32,), (64,), (256,))}


def choices_of_features(choices: Choices) -> Choices:
    """The choices where all contents are features: the number of steps instead of epochs."""
    return {
        "training.least_steps" if name == "training.epochs" else name: (
            STEPS if name == "training.epochs" else values
        )
        for name, values in choices.items()
    }
