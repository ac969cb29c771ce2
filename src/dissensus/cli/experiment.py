"""An experiment file: the arguments and options of a command as TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from dissensus.errors import DataError, did_you_mean, listed


def experiment_words(path: str, parameters: Sequence[Any], typed: Collection[str]) -> list[str]:
    """The words that an experiment file stands for, as if they were typed.

    Args:
        parameters: of the command.
        typed: options that are typed as well, such as "--seeds"; they replace those of the file.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not TOML ({error})") from None
    known = {_name(one): one for one in parameters if one.name not in ("experiment", "help")}
    arguments: list[str] = []
    options: list[str] = []
    for name, value in content.items():
        if name not in known:
            guess = did_you_mean(name, known)
            raise DataError(f"{path}: no option {name!r}{guess}; there are {listed(known, 60)}")
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str | int | float) for one in values):
            raise DataError(f"{path}: {name} must be a text, a number, true or a list of them")
        if known[name].param_type_name == "argument":
            arguments += map(str, values)
        elif f"--{name}" not in typed and value is not False:
            joined = values if known[name].multiple else [",".join(map(str, values))]
            options += [f"--{name}"] if value is True else [f"--{name}={one}" for one in joined]
    return [*options, *arguments]


def _name(parameter: Any) -> str:
    """As it is typed, without dashes; of an argument, such as FILE, in small letters."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).lower()
    return str(max(parameter.opts, key=len)).lstrip("-")
