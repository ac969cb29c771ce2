"""The options of a command: its parameters, explained under "Args" in its docstring.

    Args:
        predictions (PREDICTIONS): an argument; capital letters are its name in the help.
        output (-o): an option, --output, with a short form; others (--top) are further names.
        seed (min=0): settings of `typer.Option`.
        all_: the option --all, which Python's `all` does not shadow.

"Examples" are shown at the end of the help.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import re
import shlex
import sys
import typing
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from dissensus.cli.console import say
from dissensus.cli.experiment import experiment_words
from dissensus.errors import DataError, NoAnswersError, counted

if TYPE_CHECKING:
    from dissensus.corpus import Corpus

Command = Callable[..., Any]
COMMON = {  # options of several commands, as in `Documentation`
    "question": ("", "Question to use; repeatable (default: all)."),
    "json": ("", "Print the result as JSON."),
    "groups": (
        "",
        "Compare groups of annotators by this attribute, e.g. gender; repeatable; all: by every "
        "attribute that has groups.",
    ),
    "overwrite": ("", "Replace the file, or the folder if dissensus wrote all that is in it."),
    "skip_bad": ("", "Leave out items whose contents cannot be read, and report them."),
    "epochs": ("min=1", "Number of epochs: --set training.epochs."),
    "learning_rate": ("", "Learning rate: --set training.learning_rate."),
    "fine_tune": ("", "Also train the weights of the encoder: --set tune=all."),
}
OUTPUT = "Output"
OUTPUT_OPTIONS = (
    *("output", "table", "annotator_table", "json", "as_", "compact", "plot", "show", "most"),
    *("overwrite", "intervals", "interval", "all_", "help"),
)  # the names of parameters that say what is printed or written, and where
WRITTEN = ("output", "out", "table", "annotator_table")  # parameters that name what is written
BARE = {"--interval": ("items", "raters")}  # values that may be left out, then the first is meant
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}  # of times
_TYPED: ContextVar[str] = ContextVar("typed command", default="")


# ---- the docstring ----


class Documentation(NamedTuple):
    """The docstring of a command in parts."""

    text: str
    options: dict[str, tuple[str, str]]  # name -> what stands in brackets, and the help
    examples: str


def documentation(command: Command) -> Documentation:
    """The parts of a docstring.

    Example:
        >>> def count(most=5):
        ...     '''Count.
        ...
        ...     Args:
        ...         most (min=1): Number of
        ...             items.
        ...     '''
        >>> documentation(count).options
        {'most': ('min=1', 'Number of items.')}
    """
    text, *sections = re.split(r"\n\n(?=Args:\n|Examples:\n)", inspect.getdoc(command) or "")
    parts = {name: body for name, _, body in (part.partition(":\n") for part in sections)}
    entries = re.findall(
        r"^    (\w+)(?: \((.+?)\))?: (.+?)(?=\n    \w|\Z)", parts.get("Args", ""), re.M | re.S
    )
    own = {name: (given, " ".join(words.split())) for name, given, words in entries}
    return Documentation(text, own, inspect.cleandoc(parts.get("Examples", "")))


def documented(command: Command, **settings: Any) -> list[inspect.Parameter]:
    """The parameters, each with the option that the docstring explains and these settings of it."""
    hints = typing.get_type_hints(command, include_extras=True)
    options = COMMON | documentation(command).options
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        hint = hints[name]
        if typing.get_origin(hint) is not Annotated:
            hint = Annotated[hint, _option(name, hint, *options[name], **settings)]
        parameters.append(parameter.replace(annotation=hint))
    return parameters


def with_options(command: Command) -> Command:
    """The command as typer takes it: each parameter with its option, the docstring without them."""

    @functools.wraps(command)
    def run(*arguments: Any, **values: Any) -> Any:
        return command(*arguments, **values)

    run.__doc__ = documentation(command).text
    return _with_parameters(run, documented(command))


def _with_parameters(command: Command, parameters: list[inspect.Parameter]) -> Command:
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _option(name: str, hint: Any, given: str, words: str, **more: Any) -> Any:
    parts = [part.strip() for part in given.split(",") if part]
    if given.isupper():
        return typer.Argument(metavar=given, help=words)
    names = [part for part in parts if part.startswith("-")]
    if names or hint is bool or name.endswith("_"):
        own = f"--{name.rstrip('_').replace('_', '-')}"
        names = sorted([own, *names], key=lambda one: (one.startswith("--"), one != own))
    settings = dict(part.split("=") for part in parts if "=" in part)
    numbers = {key: int(settings.pop(key)) for key in ("min", "max") if key in settings}
    option: Any = typer.Option
    return option(*names, help=words, **numbers, **settings, **more)


# ---- the command line ----


class HelpedCommand(TyperCommand):
    """A command that refuses repeated options, of which click would keep the last value, unless
    their help says "repeatable". Its help has groups: what it does, what it writes, how FILE is
    read; then the examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        typed, args = args, self._with_experiment(args)
        words = args[: args.index("--")] if "--" in args else args
        complete = []  # with the values that were left out
        for word, after in zip(words, [*args[1:], ""], strict=False):
            left_out = word in BARE and after not in BARE[word]
            complete.append(f"{word}={BARE[word][0]}" if left_out else word)
        args = complete + args[len(words) :]
        _, _, parameters = self.make_parser(ctx).parse_args(args=list(args))
        options = [one for one in parameters if one.param_type_name == "option"]
        single = [one for one in options if not (one.multiple or getattr(one, "is_flag", False))]
        for option in single:
            if single.count(option) > 1:
                raise DataError(
                    f"{max(option.opts, key=len)} is given more than once; leave all but one out"
                )
        _TYPED.set(shlex.join(["dissensus", str(ctx.info_name), *typed]))
        return super().parse_args(ctx, args)

    def _with_experiment(self, args: list[str]) -> list[str]:
        """The words that were typed, after those of the file of --experiment."""
        pairs = [word.partition("=") for word in args]
        at = next((at for at, (word, *_) in enumerate(pairs) if word == "--experiment"), None)
        if at is None or not any(one.name == "experiment" for one in self.params):
            return args
        path = pairs[at][2] if pairs[at][1] else " ".join(args[at + 1 : at + 2])
        names = {word for word, *_ in pairs} | ({"--output"} if "-o" in args else set())
        return [*experiment_words(path, self.params, names), *args] if path else args

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], OUTPUT: []}
        for parameter in self.get_params(ctx):
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                panel = "Arguments"
            elif panel == "Options" and parameter.name in OUTPUT_OPTIONS:
                panel = OUTPUT
            spelled, meaning = parameter.get_help_record(ctx) or ("", "")
            spelled = re.sub(
                r"<list\[(\w+)\]>|<(\w+) range>",
                lambda kind: f"<{(kind[1] or kind[2]).lower()}>",  # of one value
                spelled,
            )
            sections.setdefault(panel, []).append((spelled, meaning))
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Examples"):
            for line in str(self.epilog or "").splitlines():
                formatter.write(f"  {line}\n")


def typed_command() -> str:
    """The command line as the user typed it."""
    return _TYPED.get()


def seconds(text: str | None, option: str = "--budget") -> float | None:
    """A time in seconds.

    Example:
        >>> seconds("90"), seconds("10m"), seconds("1h30m")
        (90.0, 600.0, 5400.0)
    """
    if text is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip())
    spelled = re.fullmatch(r"(\d+(\.\d+)?\s*[smhd]?\s*)+", text.strip())
    if not spelled:
        raise DataError(f"{option} must be a time such as 90s, 10m or 1h30m, found {text!r}")
    return sum(float(n) * UNITS[unit or "s"] for n, unit in parts)


# ---- FILE and the options to read it, of all commands that read a corpus ----

SOURCE_OPTIONS = "Options for reading FILE"
_FILE = typer.Argument(
    metavar="FILE",
    help="A table, an export of an annotation platform, a corpus folder written by dissensus, or "
    "the folder of a supported public corpus.",
)
File = Annotated[Path, _FILE]
OptionalFile = Annotated[Path | None, _FILE]


def is_comparison(folder: Path) -> bool:
    """Whether `dissensus compare` wrote this folder."""
    return any((folder / name).exists() for name in ("results.json", "comparison.json"))


TO_CHOOSE = "; to choose: dissensus describe "  # in the note on several columns of answers
EXPLAINING = ("describe", "convert", "layout")  # commands that say how columns were recognised
_explains = ContextVar("explains", default=True)


@dataclass(frozen=True)
class Input:
    """FILE, and the options that say how to read it.

    Args:
        corpus: Corpus to read, if the folder contains several.
        format: Format of FILE if it is not recognised, e.g. csv, long or wide.
        item: Column that identifies the item; repeatable, if several do together.
        annotator: Column that identifies the annotator.
        annotator_columns: Columns with one annotator's answers each, separated by commas.
        answer: Column of answers; repeatable, one for each question.
        text: Column with the text that annotators saw; repeatable.
        question_column: Column that names the question, if rows belong to several.
        scale: Scale of the answers, e.g. nominal, nominal:no,yes, ordinal:low,mid,high or
            interval:0:10; with several questions, one each: label=ordinal:ok,toxic.
        repeats: What to do if an annotator answered an item twice: error, keep, first, last, mean
            or set (of values).
        encoding: Character encoding of FILE if it is not UTF-8.
        merge_variants: Treat 'Yes', 'yes ' and 'yes' as the same answer.
        missing: Word that means that an answer is missing, e.g. - or N/A; repeatable.
        items: Table of items to join: contents, attributes, split.
        gold: Column of gold labels, or a file of them to join by item.
        features: Columns of features, e.g. 'x*', or a file to join: a table, or an array (.npy) in
            the order of --items.
        annotator_attributes: Table with a row for each annotator to join, e.g. their gender and
            age.
        answer_cells: What a cell of --answer contains: lists, keys (of annotators), counts, records
            or digits (default: values).
        header: Rows of column names: 0, 1 or 2.
        layout: File that says how to read FILE, as dissensus layout prints it (default:
            FILE.dissensus.toml, if there is one).
        max_unpacked: Size that a compressed FILE may unpack to, e.g. 8GB (default: 2GB).
        media_root: Folder that pictures, sounds and videos may be in, besides that of FILE;
            repeatable.
        without: Annotators to leave out, separated by commas; suspicious stands for those at
            chance, contrary, constant or copying.
        remember: Keep these options next to FILE, in FILE.dissensus.toml; later commands use them.
    """

    file: File
    corpus: str | None = None
    format: str | None = None
    item: list[str] | None = None
    annotator: str | None = None
    annotator_columns: str | None = None
    answer: list[str] | None = None
    text: list[str] | None = None
    question_column: str | None = None
    scale: list[str] | None = None
    repeats: str | None = None
    encoding: str | None = None
    merge_variants: bool = False
    missing: list[str] | None = None
    items: Path | None = None
    gold: str | None = None
    features: str | None = None
    annotator_attributes: Path | None = None
    answer_cells: str | None = None
    header: int | None = None
    layout: Path | None = None
    max_unpacked: str | None = None
    media_root: list[Path] | None = None
    without: str | None = None
    remember: bool = False

    def arguments(self) -> list[str]:
        """FILE and the options as the user typed them."""
        return [str(self.file), *itertools.chain.from_iterable(self._words())]

    def _words(self) -> list[list[str]]:
        """The words of each option that the user typed."""
        words = []
        for field in fields(self)[1:]:
            value, option = getattr(self, field.name), f"--{field.name.replace('_', '-')}"
            if value not in (None, False):
                values = value if isinstance(value, list) else [value]
                words += [[option] if one is True else [option, str(one)] for one in values]
        return words

    def each(self) -> list[Input]:
        """FILE once for each corpus in it, if it is a folder of several and none is chosen."""
        from dissensus.datasets import corpora_in

        corpora = [] if self.corpus else corpora_in(self.file)
        return [replace(self, file=file, corpus=corpus) for file, corpus in corpora] or [self]

    def read(self, unanswered: bool = False, say: Callable[[str], None] = say) -> Corpus:
        """Read FILE and print its notes, such as what was recognised.

        Args:
            unanswered: whether a table without answers is read too, as items only.
            say: prints a note; to stderr if left out.
        """
        from dissensus import datasets
        from dissensus.readers import layout

        _load_pyarrow()
        typed, options = self._typed(), self.options()
        with layout.typed(str(self.file), self._words()):
            try:
                corpus = datasets.read(self.file, **options)
            except NoAnswersError as error:
                if not unanswered:
                    options |= _chosen(self.file, error, options)
                more = {"answer": ()} if unanswered else {}
                corpus = datasets.read(self.file, **options | more)
        if not typed and not self.remember and self.settings_file.is_file():
            n_answers = sum(one.n_answers for one in corpus.questions.values())
            sizes = f"{counted(corpus.n_annotators, 'annotator')} on "
            say(
                f"{corpus.name}: {counted(n_answers, 'answer')} to {', '.join(corpus.questions)} "
                f"by {sizes}{counted(corpus.n_items, 'item')}; read as in {self.settings_file.name}"
            )
        else:
            for note in corpus.notes if _explains.get() or typed else self._short_notes(corpus):
                if _explains.get() or "\n" not in note:
                    say(note)
        if self.remember:
            say(self._keep(options))
        if self.without is not None:
            from dissensus.description import leave_out
            from dissensus.names import split_names

            corpus = leave_out(corpus, split_names(self.without))
            say(corpus.notes[-1])
        return corpus

    def options(self) -> dict[str, Any]:
        """The options that the user typed, as arguments of `read`."""
        from dissensus.names import split_names

        names = {"question_column": "question", "annotator_columns": "annotators"}
        names["answer_cells"] = "cells"
        options = {names.get(name, name): value for name, value in self._typed().items()}
        if "annotators" in options:
            options["annotators"] = split_names(options["annotators"])
        if "scale" in options:
            options["scale"] = scales_of(options["scale"])
        if self.remember and self.layout is None:
            options["layout"] = {}  # what is kept now is not read
        return options

    def _short_notes(self, corpus: Corpus) -> list[str]:
        """The notes, with a short first line instead of one on each column of a table."""
        recognised, *others = corpus.notes or ("",)
        others = [note for note in others if TO_CHOOSE not in note]
        n_items = counted(corpus.n_items, "item")
        if not corpus.questions or not recognised.endswith(f" on {n_items}"):
            return list(corpus.notes)
        questions = [f"{name} ({one.scale.kind})" for name, one in corpus.questions.items()]
        n_answers = sum(one.n_answers for one in corpus.questions.values())
        by = f" by {counted(corpus.n_annotators, 'annotator')}" if corpus.n_annotators else ""
        line = f"{self.file.name}: {', '.join(questions)}; {counted(n_answers, 'answer')}{by} on"
        return [min(f"{line} {n_items}", recognised, key=len), *others]

    @property
    def settings_file(self) -> Path:
        """Where --remember keeps the options for FILE."""
        from dissensus.readers.layout import file_beside

        return file_beside(self.file)

    def _typed(self) -> dict[str, Any]:
        """The options for reading that the user typed."""
        values = {field.name: getattr(self, field.name) for field in fields(self)[1:-2]}
        return {name: value for name, value in values.items() if value not in (None, False)}

    def _keep(self, options: dict[str, Any]) -> str:
        """Write the layout that is typed, or in --layout, next to FILE; returns a note."""
        from dissensus.readers.layout import Layout, keep_layout, layout_of

        layout = layout_of(options.pop("layout"))
        options.pop("max_unpacked", None)
        options.pop("media_root", None)
        paths = {
            name: str(Path(value).resolve())
            for name, value in options.items()
            if isinstance(value, Path) or (name in ("gold", "features") and Path(value).is_file())
        }
        keep_layout(self.file, Layout(**{**layout.stated(), **options, **paths}))
        return f"{self.settings_file}: remembers how to read {self.file.name}"


class _NoPandas:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ImportError(name)


def _load_pyarrow() -> None:
    """Load pyarrow without pandas, which it imports in 0.3 s to make its first array, if there is
    one. It asks for pandas again where a frame is converted."""
    import pyarrow as pa

    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
        try:
            pa.array([])
        finally:
            sys.meta_path.remove(_NoPandas)


def _chosen(path: Path, error: NoAnswersError, options: dict[str, Any]) -> dict[str, Any]:
    """Show the ways to read an unclear table, what each reads, and the command that takes it; a
    person at a terminal is asked for one, else nothing is read."""
    from dissensus import datasets
    from dissensus.cli.layout_page import in_words
    from dissensus.readers.layout import UnclearError

    if not (isinstance(error, UnclearError) and error.ways):
        raise error
    say(error.about)
    ways = []
    for when, way in error.ways.items():
        stated = options | way.stated()
        try:
            words = in_words(datasets.read(path, **stated))
        except DataError as refused:
            words = [getattr(refused, "about", "")] if isinstance(refused, UnclearError) else []
        if words:
            ways.append(stated)
            command = way.command(str(path))
            for line in (f"{len(ways)}: {when}", *(f"   {one}" for one in (*words, command))):
                say(line)
    if not ways:
        raise error
    numbers = [str(number) for number in range(1, len(ways) + 1)]
    if sys.stdin.isatty():
        typed = typer.prompt(f"Read it as {', '.join(numbers)}; else Enter", "", err=True)
        if typed in numbers:
            return ways[int(typed) - 1]
    raise DataError(f"{path}: not read; type the command above that is right")


def scales_of(texts: list[str]) -> str | dict[str, str] | None:
    """The scale of all questions, or one by question, as `--scale` gives them.

    Example:
        >>> scales_of(["label=ordinal:ok,toxic", "rating=interval:1:5"])
        {'label': 'ordinal:ok,toxic', 'rating': 'interval:1:5'}
        >>> scales_of(["nominal:a=b,c"])
        'nominal:a=b,c'
    """
    named = [text.split("=", 1) for text in texts if "=" in text.split(":", 1)[0]]
    if not named:
        if len(texts) > 1:
            raise DataError(
                f"--scale is given {len(texts)} times; name the question of each, as in "
                f"--scale QUESTION={texts[0]}"
            )
        return texts[0] if texts else None
    if len(named) < len(texts):
        raise DataError("--scale: name the question of each scale, as in --scale label=nominal")
    return {question.strip(): scale for question, scale in named}


def check_outputs(arguments: Mapping[str, Any]) -> None:
    """Refuse to write over anything that a command reads, or two results into one file."""
    outputs = [arguments[name] for name in WRITTEN if arguments.get(name) is not None]
    others = (value for name, value in arguments.items() if name not in WRITTEN)
    inputs = itertools.chain.from_iterable(v if isinstance(v, list) else [v] for v in others)
    paths = [value for value in inputs if isinstance(value, str | Path) and os.path.exists(value)]
    for output, path in itertools.product(outputs, paths):
        if os.path.exists(output) and os.path.samefile(output, path):
            raise DataError(f"{output}: is the input; choose another path for the output")
    if len({os.path.realpath(output) for output in outputs}) < len(outputs):
        raise DataError(f"{outputs[0]}: given for two outputs; write each to its own file")


def reads_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `source` of a command by FILE and its options.

    If `source` may be None, FILE may be left out. It may be annotated as an option.
    """
    hints = typing.get_type_hints(command, include_extras=True)
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name == "source":
            file, *options = documented(Input, rich_help_panel=SOURCE_OPTIONS)
            if hasattr(hints["source"], "__metadata__"):  # an option instead of an argument
                option = Annotated[Path | None, *hints["source"].__metadata__]
                file = file.replace(annotation=option, default=None)
            elif parameter.default is None:
                file = file.replace(annotation=OptionalFile, default=None)
            parameters += [file, *options]
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))

    @functools.wraps(command)
    def run(**arguments: typing.Any) -> None:
        check_outputs(arguments)
        of_source = {field.name: arguments.pop(field.name) for field in fields(Input)}
        source = None if of_source["file"] is None else Input(**of_source)
        _explains.set(command.__name__ in EXPLAINING)
        command(source=source, **arguments)

    keyword = inspect.Parameter.KEYWORD_ONLY
    return _with_parameters(run, [one.replace(kind=keyword) for one in parameters])
