"""dissensus compare: which method is better on FILE, and how sure is that."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.contenders import contenders, dealt
from dissensus.cli.parts import SkipBad, readable
from dissensus.cli.reading import Reading, reads_corpus
from dissensus.errors import DataError, Unfinished

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.evaluation import Fold, Results, Table
    from dissensus.methods.framework.base import Method

UNFINISHED = 3  # the exit code where a budget was too small
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@reads_corpus
def compare(
    reading: Reading | None = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Folder for fits and results; a stopped comparison resumes in it.",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods to compare, separated by commas (default: all that can learn from FILE, "
            "except slow ones: bayesian)."
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            help="official, k-fold or repeated (default: official if FILE has an official split, "
            "else k-fold)."
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Number of folds, for k-fold and repeated.")] = 5,
    times: Annotated[int, typer.Option(help="Number of repetitions, for repeated.")] = 2,
    by: Annotated[
        str | None,
        typer.Option(help="Group items into folds by content, item or an item attribute."),
    ] = None,
    scheme: Annotated[str, typer.Option(help="Name of the split to use as the official one.")] = (
        "official"
    ),
    test: Annotated[
        str | None,
        typer.Option(help="Part of the official split to test on (default: test, else dev)."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds to fit each method with.")] = 3,
    trials: Annotated[
        int,
        typer.Option(
            help="Number of settings to try for each fit, within its training part; 0 uses the "
            "defaults."
        ),
    ] = 0,
    question: console.Question = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric to compute, named as in docs/metrics.md; repeatable."),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Encoder of the contents, as in `dissensus train`.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Setting of all methods, name=value, or of one, method:name=value; repeatable.",
        ),
    ] = None,
    skip_bad: SkipBad = False,
    processes: Annotated[
        int | None,
        typer.Option(
            help="Number of processes (default: one for each processor; one or two on a GPU)."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler whose workers run the fits."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Time after which no new fit begins, e.g. 90s, 10m or 2h.")
    ] = None,
    show: Annotated[
        Path | None, typer.Option(help="Show the results in this folder; nothing is run.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Method to compare all others with.")
    ] = None,
    style: Annotated[
        str, typer.Option("--as", help="Format of the tables: text, markdown, latex or csv.")
    ] = "text",
    plot: Annotated[
        Path | None, typer.Option(help="Also plot the intervals to this SVG file.")
    ] = None,
) -> None:
    """Compare methods on FILE over folds and seeds, with intervals and tests.

    Each fit is saved in OUT when it ends; run the same command again to resume. Settings given
    with --set are not tuned. `dissensus compare --show OUT` shows the results again.
    """
    from dissensus import evaluation
    from dissensus.evaluation import FORMATS

    if style not in FORMATS:
        raise DataError(f"--as: no style {style!r}; there are {', '.join(FORMATS)}")
    if plot is not None and plot.suffix.lower() != ".svg":
        raise DataError(f"{plot}: intervals are drawn as SVG; name a file that ends in .svg")
    if show is not None:
        if reading is not None or output is not None:
            raise DataError("--show shows what was found; leave FILE and -o out")
        results = _kept(show)
    elif reading is None or output is None:
        raise DataError("name FILE and a folder with -o, or --show a folder of results")
    else:
        corpus = _asked(reading, question)
        names = evaluation.default_methods(corpus) if methods is None else _split(methods)
        made, choices = contenders(names, encoder, set_ or [])
        for method in made.values() if skip_bad else ():
            corpus = readable(method, corpus)
        parts, known, line = dealt(corpus, protocol, folds, times, by, scheme, test)
        console.say(line)
        options = {"--methods": ",".join(names), "--protocol": known["kind"]}
        options |= _protocol_options(known, len(parts))
        options |= {"--seeds": seeds, "--trials": trials, "--question": question}
        options |= {"--metric": metric, "--set": set_, "--by": by, "--encoder": encoder}
        command = _command(reading, options | {"--skip-bad": skip_bad, "-o": output})
        given: dict[str, Any] = {"seeds": seeds, "trials": trials, "choices": choices, "by": by}
        given |= {"metrics": metric, "protocol": known, "notes": (line,), "command": command}
        where = {"processes": processes, "cluster": cluster, "budget": seconds(budget)}
        results = _run(corpus, made, parts, output, given | where)
    _print(results, question, metric, reference, style, plot)


def _protocol_options(known: dict[str, Any], n_parts: int) -> dict[str, Any]:
    """What a protocol depends on, as it is typed."""
    if known["kind"] == "official":
        return {"--scheme": known["scheme"], "--test": known["test"] if n_parts == 1 else None}
    times = known["times"] if known["kind"] == "repeated" else None
    return {"--folds": known["folds"], "--times": times}


def _command(reading: Reading, options: dict[str, Any]) -> str:
    """The line that finds the same again; options that are not given are left out."""
    words = ["dissensus", "compare", *reading.words()]
    for option, given in options.items():
        for value in given if isinstance(given, list) else [given]:
            if value is True:
                words.append(option)
            elif value is not False and value not in (None, ""):
                words += [option, str(value)]
    return shlex.join(words)


def _run(
    corpus: Corpus,
    methods: dict[str, Method],
    folds: list[Fold],
    output: Path,
    given: dict[str, Any],
) -> Results:
    from dissensus import evaluation

    try:
        return evaluation.compare(corpus, methods, folds=folds, out=output, **given)
    except Unfinished as over:
        console.fail(f"{output}: {over}", UNFINISHED)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{output} holds what is done, the same command goes on") from None


def _asked(reading: Reading, questions: list[str] | None) -> Corpus:
    corpus = reading.read()
    return corpus.select(questions=questions) if questions else corpus


def _split(text: str) -> list[str]:
    """Names with commas between, each once."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise DataError("--methods: no method is named")
    return list(dict.fromkeys(names))


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
        raise DataError(f"{option} is a time such as 90s, 10m or 1h30m, found {text!r}")
    return sum(float(n) * UNITS[unit or "s"] for n, unit in parts)


# ---- showing ----


def _kept(folder: Path) -> Results:
    """The results of a folder; of a comparison that is not finished, how to go on."""
    from dissensus.evaluation import Results
    from dissensus.folders import read_json

    if not (folder / "results.json").exists() and (folder / "comparison.json").exists():
        command = read_json(folder, "comparison")["command"]
        raise DataError(f"{folder}: the comparison is not finished; go on with: {command}")
    return Results.load(folder)


def _print(
    results: Results,
    questions: list[str] | None,
    metrics: list[str] | None,
    reference: str | None,
    style: str,
    plot: Path | None,
) -> None:
    from dissensus.evaluation import FORMATS, tables, to_text
    from dissensus.metrics import metric_name

    named = [metric_name(name) for name in metrics] if metrics else None
    against = reference or _reference(results.about.methods)
    made = tables(results, questions or None, named, against)
    if style == "text":
        text = "\n".join(to_text(shown, width=console.width()) for shown in made)
        print(console.visible(text), end="")
    else:
        print("\n".join(FORMATS[style](shown) for shown in made), end="")
    if plot is not None:
        _draw(made, plot)


def _reference(methods: tuple[str, ...]) -> str | None:
    """What methods are compared with unasked: `single`, else the first that is no floor."""
    from dissensus.evaluation.report.tables import FLOORS

    if len(methods) < 2:
        return None
    return next((m for m in ("single", *methods) if m in methods and m not in FLOORS), methods[0])


def _draw(made: list[Table], plot: Path) -> None:
    """A picture for each question; of several, its name stands in the file's."""
    from dissensus.evaluation import intervals

    for shown in made:
        alone = len(made) == 1
        path = plot if alone else plot.with_name(f"{plot.stem}-{shown.question}{plot.suffix}")
        try:
            path.write_text(intervals(shown), encoding="utf-8")
        except OSError as error:
            raise DataError(f"{path}: cannot be written ({error.strerror})") from None
        console.say(f"{path}: drawn")
