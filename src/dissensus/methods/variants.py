"""The same method with other settings: another seed, or values that are tried."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from dissensus.errors import ModelError, listed
from dissensus.methods.base import Method

SEEDS = ("seed", "init_seed", "training.seed")


def settings_of(method: Method) -> dict[str, Any]:
    """Every setting by name, those of training dotted.

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> settings_of(AnnotatorMajority())
        {'smoothing': 1.0}
    """
    found: dict[str, Any] = {}
    for name, value in method.get_params().items():
        if dataclasses.is_dataclass(value):
            inner = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            found |= {f"{name}.{key}": part for key, part in inner.items()}
        else:
            found[name] = value
    return found


def changed(method: Method, settings: Mapping[str, Any]) -> Method:
    """A method that is not fitted, with these settings, dotted or not, and the others as they are.

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> changed(AnnotatorMajority(), {"smoothing": 2.0})
        AnnotatorMajority(smoothing=2.0)
    """
    known = settings_of(method)
    strange = [name for name in settings if name not in known]
    if strange:
        there = listed(known, 40) or "none"
        raise ModelError(f"{method.name} has no setting {listed(strange)}; it has {there}")
    made = method.get_params()
    for name, value in settings.items():
        outer, _, inner = name.partition(".")
        made[outer] = dataclasses.replace(made[outer], **{inner: value}) if inner else value
    return type(method)(**made)


def seeded(method: Method, seed: int) -> Method:
    """A method that is not fitted, all of whose seeds are this one."""
    return changed(method, {name: seed for name in SEEDS if name in settings_of(method)})


def draws(method: Method) -> bool:
    """Whether anything in it is random, so that another seed is another fit."""
    return any(name in settings_of(method) for name in SEEDS)
