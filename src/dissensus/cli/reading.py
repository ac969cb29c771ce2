"""The options that read FILE, written once for every command that reads one."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.console import say
from dissensus.errors import DataError, NoAnswersError

if TYPE_CHECKING:
    from dissensus.corpus import Corpus

READING_OPTIONS = "Options for reading FILE"
_FILE = typer.Argument(
    metavar="FILE",
    help="A table, an export of an annotation platform, a corpus folder written by dissensus, or "
    "the folder of a supported public corpus.",
)
File = Annotated[Path, _FILE]
OptionalFile = Annotated[Path | None, _FILE]


def _option(*names: str, help: str) -> Any:
    """An option that the help lists apart, after those of the command itself."""
    return typer.Option(*names, help=help, rich_help_panel=READING_OPTIONS)


CorpusName = Annotated[
    str | None, _option("--corpus", help="Corpus to read, if the folder contains several.")
]
Format = Annotated[
    str | None, _option(help="Format of FILE if it is not recognised, e.g. csv, long or wide.")
]
Item = Annotated[str | None, _option(help="Column that identifies the item.")]
Annotator = Annotated[str | None, _option(help="Column that identifies the annotator.")]
AnnotatorColumns = Annotated[
    str | None,
    _option(help="Columns with one annotator's answers each, separated by commas."),
]
Answer = Annotated[
    list[str] | None, _option(help="Column of answers; repeatable, one for each question.")
]
Text = Annotated[
    list[str] | None, _option(help="Column with the text that annotators saw; repeatable.")
]
QuestionColumn = Annotated[
    str | None, _option(help="Column that names the question, if rows belong to several.")
]
ScaleText = Annotated[
    str | None,
    _option(
        help="Scale of the answers, e.g. nominal, nominal:no,yes, ordinal:low,mid,high or "
        "interval:0:10."
    ),
]
Repeats = Annotated[
    str | None,
    _option(
        help="What to do if an annotator answered an item twice: error, keep, first, last or mean."
    ),
]
Encoding = Annotated[str | None, _option(help="Character encoding of FILE if it is not UTF-8.")]
MergeVariants = Annotated[
    bool, _option("--merge-variants", help="Treat 'Yes', 'yes ' and 'yes' as the same answer.")
]


@dataclass(frozen=True)
class Reading:
    """FILE and what the user said about it."""

    file: File
    corpus: CorpusName = None
    format: Format = None
    item: Item = None
    annotator: Annotator = None
    annotator_columns: AnnotatorColumns = None
    answer: Answer = None
    text: Text = None
    question_column: QuestionColumn = None
    scale: ScaleText = None
    repeats: Repeats = None
    encoding: Encoding = None
    merge_variants: MergeVariants = False

    def words(self) -> list[str]:
        """What the user typed of it, as words of a command line."""
        words = [str(self.file)]
        for given in fields(self)[1:]:
            value, option = getattr(self, given.name), f"--{given.name.replace('_', '-')}"
            if value is True:
                words.append(option)
            elif value:
                for part in value if isinstance(value, list) else [value]:
                    words += [option, str(part)]
        return words

    def spare(self, *outputs: Path | None) -> None:
        """Refuse to write over FILE, or two results into one file."""
        named = [output for output in outputs if output is not None]
        for output in named:
            if output.exists() and self.file.exists() and output.samefile(self.file):
                raise DataError(f"{output}: is what is read; write to another place")
        if len({output.resolve() for output in named}) < len(named):
            raise DataError(f"{named[0]}: named for two results; write each to its own file")

    def read(self, unanswered: bool = False) -> Corpus:
        """Read FILE, and say on stderr, in a line each, what was recognised.

        Args:
            unanswered: whether a table without answers is read too, as items alone.
        """
        from dissensus import datasets
        from dissensus.names import split_names

        said = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "file"}
        said["question"] = said.pop("question_column")
        columns = said.pop("annotator_columns")
        said["annotators"] = columns and split_names(columns)
        said = {name: value for name, value in said.items() if value}
        try:
            corpus = datasets.read(self.file, **said)
        except NoAnswersError:
            if not unanswered:
                raise
            corpus = datasets.read(self.file, **said | {"answer": ()})
        for note in corpus.notes:
            say(note)
        return corpus


def reads_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command FILE and its options in the place of its parameter `reading`.

    Where that may be None, FILE may be left out.
    """
    hints = typing.get_type_hints(command, include_extras=True)
    of_reading = typing.get_type_hints(Reading, include_extras=True)
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name == "reading":
            optional = parameter.default is None
            for given in inspect.signature(Reading).parameters.values():
                made = given.replace(annotation=of_reading[given.name])
                if given.name == "file" and optional:
                    made = made.replace(annotation=OptionalFile, default=None)
                parameters.append(made)
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))

    @functools.wraps(command)
    def run(**given: typing.Any) -> None:
        of_file = {field.name: given.pop(field.name) for field in fields(Reading)}
        reading = None if of_file["file"] is None else Reading(**of_file)
        command(reading=reading, **given)

    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    run.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in keyword}
    return run
