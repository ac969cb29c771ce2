"""dissensus compare: which method is better on FILE, and how certain that is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.method_options import configured_methods
from dissensus.cli.outputs import check_folder
from dissensus.cli.parts import SkipBad, readable
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError, Unfinished

if TYPE_CHECKING:
    from dissensus.evaluation import EvaluationProtocol, Results

UNFINISHED = 3  # exit code if the time limit was reached
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@reads_corpus
def compare(
    source: Source | None = None,
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
            "except slow ones: bayesian, grid-density)."
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
    density: Annotated[
        list[str] | None,
        typer.Option(
            help="Also score the joint density of the one or two questions, predicted in this way: "
            "soft, plain or fixed, with settings such as soft:bins=8, @all for all annotators; "
            "repeatable."
        ),
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
        raise DataError(f"--as: no format {style!r}; there are {', '.join(FORMATS)}")
    if plot is not None and plot.suffix.lower() != ".svg":
        raise DataError(f"{plot}: intervals are plotted as SVG; name a file that ends in .svg")
    if show is not None:
        if source is not None or output is not None:
            raise DataError("--show reads results only; leave FILE and -o out")
        _print(evaluation.Results.load(show), question, metric, reference, style, plot)
        return
    if source is None or output is None:
        raise DataError("name FILE and a folder with -o, or --show a folder of results")
    check_folder(output, "compare")
    corpus = source.read()
    corpus = corpus.select(questions=question) if question else corpus
    names = evaluation.default_methods(corpus) if methods is None else _split(methods)
    configured, choices = configured_methods(names, encoder, set_ or [])
    for method in configured.values() if skip_bad else ():
        corpus = readable(method, corpus)
    chosen = evaluation.choose_protocol(
        corpus, protocol, folds=folds, times=times, by=by, scheme=scheme, test=test
    )
    console.say(chosen.description)
    options = {"--methods": ",".join(names), **_protocol_options(chosen)}
    options |= {"--seeds": seeds, "--trials": trials, "--question": question, "--metric": metric}
    options |= {"--density": density}
    options |= {"--set": set_, "--by": by, "--encoder": encoder, "--skip-bad": skip_bad}
    try:
        results = evaluation.compare(
            corpus,
            configured,
            folds=chosen,
            out=output,
            seeds=seeds,
            metrics=metric,
            densities=density or (),
            trials=trials,
            choices=choices,
            by=by,
            processes=processes,
            cluster=cluster,
            budget=seconds(budget),
            command=_command(source, options | {"-o": output}),
        )
    except Unfinished as unfinished:
        console.fail(f"{output}: {unfinished}", UNFINISHED)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{output} has the fits done so far; run the same command again to resume"
        ) from None
    _print(results, None, metric, reference, style, plot)


def _protocol_options(protocol: EvaluationProtocol) -> dict[str, Any]:
    """The options that give this protocol again."""
    facts = protocol.facts
    if facts["kind"] == "official":
        part = facts["test"] if len(protocol.folds) == 1 else None
        return {"--protocol": "official", "--scheme": facts["scheme"], "--test": part}
    times = facts["times"] if facts["kind"] == "repeated" else None
    return {"--protocol": facts["kind"], "--folds": facts["folds"], "--times": times}


def _command(source: Source, options: dict[str, Any]) -> str:
    """The command line that gives the same results; options without a value are left out."""
    words = ["dissensus", "compare", *source.arguments()]
    for option, values in options.items():
        for value in values if isinstance(values, list) else [values]:
            if value is True:
                words.append(option)
            elif value is not False and value not in (None, ""):
                words += [option, str(value)]
    return shlex.join(words)


def _split(text: str) -> list[str]:
    """Names separated by commas, each once."""
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
        raise DataError(f"{option} must be a time such as 90s, 10m or 1h30m, found {text!r}")
    return sum(float(n) * UNITS[unit or "s"] for n, unit in parts)


def _print(
    results: Results,
    questions: list[str] | None,
    metrics: list[str] | None,
    reference: str | None,
    style: str,
    plot: Path | None,
) -> None:
    from dissensus import evaluation
    from dissensus.metrics import divided_names

    of_answers, of_densities = divided_names(metrics or None)
    named = None if of_answers is None else [*of_answers, *of_densities]
    against = reference or evaluation.default_reference(results.about.methods)
    tables = evaluation.tables(results, questions or None, named, against)
    if style == "text":
        text = "\n".join(evaluation.to_text(table, width=console.width()) for table in tables)
        print(console.visible(text), end="")
    else:
        print("\n".join(evaluation.FORMATS[style](table) for table in tables), end="")
    for path in [] if plot is None else evaluation.save_intervals(tables, plot):
        console.say(f"{path}: plot saved")
