"""The methods and folds of a comparison, from the options of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dissensus.corpus import Corpus
    from dissensus.evaluation import Fold
    from dissensus.methods.framework.base import Method
    from dissensus.methods.framework.search_space import Choices

PROTOCOLS = ("official", "k-fold", "repeated")
TESTED = ("test", "dev", "validation")  # the first that has answers


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


def dealt(
    corpus: Corpus,
    protocol: str | None,
    folds: int,
    times: int,
    by: str | None,
    scheme: str,
    test: str | None,
) -> tuple[list[Fold], dict[str, Any], str]:
    """The folds, a description of the protocol, and a message.

    By default the official split if it has a part to test on, else k folds, stratified by the
    first question.
    """
    from dissensus import evaluation

    if protocol not in (None, *PROTOCOLS):
        raise DataError(f"--protocol: no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    part = test or _answered(corpus, scheme)
    if protocol is None:
        protocol = "official" if part is not None else "k-fold"
    if protocol == "official":
        made = evaluation.official(corpus, scheme, part, by)
        known: dict[str, Any] = {"kind": protocol, "scheme": scheme, "test": part or "each part"}
        return made, known | _only(by=by), _official_line(made)
    first = next(iter(corpus.questions))
    times = times if protocol == "repeated" else 1
    made = evaluation.repeated(corpus, folds, times, 0, by, first)
    known = {"kind": protocol, "folds": folds, "times": times, "seed": 0, "stratify": first}
    again = f", repeated {times} times" if times > 1 else ""
    return made, known | _only(by=by), f"{folds} folds of {corpus.n_items} items{again}"


def _answered(corpus: Corpus, scheme: str) -> str | None:
    """The part of a split to test on: one that has answers."""
    parts = corpus.parts(scheme)
    if "train" not in parts:
        return None
    for part in TESTED:
        if part in parts and any(a.n_rows for a in corpus.part(part, scheme).questions.values()):
            return part
    return None


def _official_line(folds: Sequence[Fold]) -> str:
    if len(folds) > 1:
        return f"{len(folds)} predefined folds"
    fold = folds[0]
    held = "" if fold.validation is None else f"; {len(fold.validation)} for choosing the epoch"
    return f"{fold.name}: training on {len(fold.train)} items, testing on {len(fold.test)}{held}"


def _only(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
