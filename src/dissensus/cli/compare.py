"""dissensus compare: which method is better on FILE, and how certain that is."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.cli import console
from dissensus.cli.console import UNFINISHED, check_folder
from dissensus.cli.method_options import configured_methods, typed_settings
from dissensus.cli.options import Input, reads_corpus, seconds, typed_command
from dissensus.cli.parts import readable
from dissensus.errors import DataError, ModelError, Unfinished, did_you_mean, listed

if TYPE_CHECKING:
    from dissensus.evaluation import Results


@reads_corpus
def compare(
    source: Input | None = None,
    output: Path | None = None,
    methods: str | None = None,
    protocol: str | None = None,
    folds: int = 5,
    times: int = 2,
    by: str | None = None,
    scheme: str = "official",
    test: str | None = None,
    seeds: int = 3,
    trials: int = 0,
    scoring: str | None = None,
    consensus: str | None = None,
    with_: list[Path] | None = None,
    question: list[str] | None = None,
    metric: list[str] | None = None,
    density: list[str] | None = None,
    encoder: str | None = None,
    epochs: int | None = None,
    learning_rate: float | None = None,
    fine_tune: bool = False,
    set_: list[str] | None = None,
    skip_bad: bool = False,
    processes: int | None = None,
    budget: str | None = None,
    show: Path | None = None,
    reference: str | None = None,
    as_: str = "text",
    compact: bool = False,
    experiment: Path | None = None,
) -> None:
    """Compare methods on FILE over folds and seeds, with intervals and tests.

    Each fit is saved in OUT when it ends; run the same command again to resume. Settings given
    with --set or an option are not tuned. `dissensus compare --show OUT` shows the results again.

    Args:
        output (-o): Folder for fits and results; a stopped comparison resumes in it.
        methods: Methods to compare, separated by commas (default: all that can learn from FILE,
            except bayesian, annotator-embedding, d-lema, grid-density, base-heads, padl,
            crowd-layer, conal, union-net, annotator-confusions, geo-f, geo-w, joint-em, madl,
            annot-mix, method-ensemble).
        protocol: official, k-fold or repeated (default: official if FILE has an official split,
            else k-fold).
        folds: Number of folds, for k-fold and repeated.
        times: Number of repetitions, for repeated.
        by: Group items into folds by content, item or an item attribute.
        scheme: Name of the split to use as the official one.
        test: Part of the official split to test on (default: test, else dev).
        seeds: Number of seeds to fit each method with.
        trials: Number of settings to try for each fit, within its training part (on the validation
            part if --scoring is against gold labels); 0 uses the defaults.
        scoring: Metric to choose settings (--trials) and epochs (on a validation part) by, e.g.
            'accuracy (gold)' (default: the main metric; the loss for epochs).
        consensus: Whose answers make up the prediction for an item: own (its annotators) or all
            (default: all for gold labels, else own).
        with_: Also compare the predictions of another system, such as an LLM: a table (.csv, .tsv,
            .jsonl, .parquet) or folder, as in `dissensus evaluate`; repeatable.
        metric: Metric to compute, named as in docs/metrics.md, e.g. accuracy, or 'accuracy (gold)'
            against gold labels; repeatable.
        density: Also score the joint density of the one or two questions, predicted in this way:
            soft or plain, with settings such as soft:bins=8, @all for all annotators;
            repeatable.
        encoder: Encoder of the contents, as in `dissensus train`.
        set_: Setting of all methods, name=value, or of one, method:name=value; repeatable.
        processes: Number of processes (default: one for each processor, one for short fits, one or
            two on a GPU).
        budget: Time for the fits, e.g. 90s, 10m or 2h. Then none begins, and those of other
            processes stop; run again to resume.
        show: Show the results in this folder; nothing is run.
        question: Question to learn, or to show; repeatable, or 'all' (default: all, or of more than
            three the one with most answers).
        reference: Method to compare all others with.
        as_: Format of the tables: text, markdown, latex or csv.
        compact: Show means only, without intervals and differences.
        experiment: File of TOML with FILE and options by name, such as file = "labels.csv" and
            seeds = 5; options that are typed replace them.

    Examples:
        dissensus compare labels.csv -o comparison/ --methods soft-label,annotator-heads
        dissensus compare labels.csv -o comparison/ --with llm.csv
    """
    from dissensus import evaluation
    from dissensus.evaluation import FORMATS
    from dissensus.methods.choice import chosen_questions

    if as_ not in FORMATS:
        guess = did_you_mean(as_, FORMATS)
        raise DataError(f"--as: no format {as_!r}{guess}; there are {', '.join(FORMATS)}")
    if show is not None:
        if source is not None or output is not None or with_:
            raise DataError("--show reads results only; leave FILE, -o and --with out")
        results = evaluation.Results.load(show, unfinished=True)
        _print(results, question, metric, reference, as_, compact)
        return
    if source is None or output is None:
        raise DataError("name FILE and a folder with -o, or --show a folder of results")
    check_folder(output, "compare")
    corpus = source.read()
    questions, line = chosen_questions(corpus, question or ())
    if line:
        console.say(line)
    corpus = corpus.select(questions=questions)
    names = evaluation.default_methods(corpus)
    if methods is not None:
        names = list(dict.fromkeys(name.strip() for name in methods.split(",") if name.strip()))
        if not names:
            raise DataError("--methods: no method is named")
    configured, choices = configured_methods(
        names, encoder, typed_settings(epochs, learning_rate, fine_tune, set_)
    )
    for method in configured.values() if skip_bad else ():
        corpus = readable(method, corpus)
    chosen = evaluation.choose_protocol(
        corpus, protocol, folds=folds, times=times, by=by, scheme=scheme, test=test
    )
    official = protocol is None and chosen.facts["kind"] == "official"
    other = "; use --protocol k-fold for cross-validation" * official
    console.say(chosen.description + other)
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
            budget=seconds(budget),
            scoring=scoring,
            consensus=console.consensus(consensus),
            predictions=with_ or (),
            command=typed_command(),
        )
    except Unfinished as unfinished:
        if any((output / "fits").glob("*/fit.json")):
            done = evaluation.Results.load(output, unfinished=True)
            _print(done, None, metric, reference, as_, compact)
        console.fail(f"{output}: {unfinished}", UNFINISHED)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{output} has the fits done so far; run the same command again to resume"
        ) from None
    _print(results, None, metric, reference, as_, compact)


def _check_some_fitted(results: Results) -> None:
    """Stop with the reasons if every fit failed."""
    if any(fit.status == "ok" for fit in results.fits):
        return
    methods_of: dict[str, list[str]] = {}
    for fit in results.fits:
        methods_of.setdefault(fit.reason, []).append(fit.method)
    reasons = [f"{why} ({listed(dict.fromkeys(of), 40)})" for why, of in methods_of.items()]
    raise ModelError(f"all {len(results.fits)} fits failed: {'; '.join(reasons[:3])}")


def _print(
    results: Results,
    questions: list[str] | None,
    metrics: list[str] | None,
    reference: str | None,
    style: str,
    compact: bool,
) -> None:
    from dissensus import evaluation
    from dissensus.metrics import divided_names

    _check_some_fitted(results)
    of_answers, of_densities = divided_names(metrics or None)
    named = None if of_answers is None else [*of_answers, *of_densities]
    fitted = [m for m in results.about.methods if results.counts(m)["ok"]]
    against = reference or evaluation.default_reference(fitted)
    tables = evaluation.tables(results, questions or None, named, against)
    width, fold = shutil.get_terminal_size().columns, sys.stdout.isatty()  # 80 in a pipe
    text = evaluation.format_tables(tables, style, compact=compact, width=width, fold=fold)
    print(console.visible(text), end="")
