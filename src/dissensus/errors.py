"""Errors for users: each message says where, what was found and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_MESSAGE = 2000  # characters of a message


class DissensusError(ValueError):
    """Base of every error that the input causes, not a bug.

    The command line prints it as one line and ends with exit code 1. A message that would be longer
    than 2,000 characters, such as one that names a column of that length, is cut; line breaks are
    spaces.
    """

    def __str__(self) -> str:
        message = " ".join(super().__str__().splitlines())
        return message if len(message) <= MOST_MESSAGE else f"{message[: MOST_MESSAGE - 3]}..."


class DataError(DissensusError):
    """A file, a table or an argument does not contain what it should."""


class NoAnswersError(DataError):
    """A table has no column of answers that is recognised."""


class ModelError(DissensusError):
    """A model cannot be fitted, saved, loaded or used for predictions in this way."""


class CheckpointError(ModelError):
    """A checkpoint cannot be resumed: it is damaged, or of other data or settings."""


class ProcessLost(ModelError):
    """Another process of the same training ended, so this one cannot continue."""

    code = 3  # exit code of a process that leaves the message to others


class InstallError(DissensusError):
    """A package or a pretrained encoder that is needed is not installed."""


class Unfinished(DissensusError):
    """The time limit was reached before everything was done; the same call resumes."""


MOST_SHOWN = 120  # characters of a value or of another library's reason in a message


def cut(value: object, most: int = MOST_SHOWN) -> str:
    """A text, or the first line of an error, for a message: cut where it is too long.

    Example:
        >>> cut("short"), cut("a long text", most=4), cut(KeyError())
        ('short', 'a lo...', 'KeyError')
    """
    text = str(value) or type(value).__name__
    line = (text.splitlines() or [""])[0]
    return line if len(line) <= most else f"{line[:most]}..."


def listed(values: object, most: int = 8) -> str:
    """Values for a message: the first few, and how many more there are.

    Example:
        >>> listed(["a", "b"]), listed(range(12), most=3)
        ("'a', 'b'", '0, 1, 2 and 9 more')
    """
    every = list(values)  # type: ignore[call-overload]
    shown = ", ".join(repr(value) for value in every[:most])
    return shown if len(every) <= most else f"{shown} and {len(every) - most} more"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question for a message: the known name that is most like this one, if any is.

    Example:
        >>> did_you_mean("dawid-sken", ["majority", "dawid-skene"]), did_you_mean("x", ["majority"])
        (" (did you mean 'dawid-skene'?)", '')
        >>> did_you_mean("epochs", ["hidden", "training.epochs"])
        " (did you mean 'training.epochs'?)"
    """
    plain = {entry.lower().replace("_", "-"): entry for entry in known}
    plain |= {entry.rpartition(".")[2].replace("_", "-"): entry for entry in plain.values()}
    close = get_close_matches(str(name).lower().replace("_", "-"), plain, n=1, cutoff=0.7)
    return f" (did you mean {plain[close[0]]!r}?)" if close else ""


def counted(n: int, noun: str) -> str:
    """A number of things for a message.

    Example:
        >>> counted(1, "item"), counted(1200, "item")
        ('1 item', '1200 items')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"
