"""dissensus aggregate: one answer, and a distribution, for each item."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli import console
from dissensus.cli.every_aggregator import show_every_aggregator
from dissensus.cli.model_options import ModelOptions
from dissensus.cli.outputs import check_table, check_tables, emit_answers, reserve, write_tables
from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import DataError
from dissensus.prediction.answer_files import consensus_table

if TYPE_CHECKING:
    import numpy as np

    from dissensus.aggregation import Aggregator
    from dissensus.corpus import Corpus, StoredCorpus


@reads_corpus
def aggregate(
    source: Source,
    method: str | None = None,
    output: Path | None = None,
    question: list[str] | None = None,
    use_gold: bool = False,
    annotator_table: Path | None = None,
    skills: Path | None = None,
    start: Path | None = None,
    warm_start: Path | None = None,
    save_model: Path | None = None,
    history: bool = False,
    from_disk: bool = False,
    cluster: str | None = None,
    json: bool = False,
) -> None:
    """Aggregate the answers in FILE to one answer and a distribution per item.

    The table has the columns of FILE that describe items, the answer, its confidence, and the
    number of answers. Columns share.VALUE hold the share of an item's answers that are VALUE;
    columns probability.VALUE the probability that VALUE is the true answer, under a model of the
    annotators such as dawid-skene, for which it is calibrated. Confidence is that of the answer;
    ratings have the standard deviation sd instead.

    Args:
        method: Aggregation method, e.g. majority, soft-vote, dawid-skene, mace, glad or mean
            (default: mean of interval answers, otherwise majority); all compares every one, against
            gold labels if there are some; bradley-terry ranks what annotators compared; rover and
            closest-text are for free texts.
        output (-o): Table to write (.csv, .tsv, .parquet, .json or .jsonl), one for each question
            if there are several, or a folder for them (default: CSV on stdout).
        use_gold: Use gold labels to estimate each annotator's errors.
        annotator_table: Also write the estimates for each annotator to this table.
        skills: Table with the columns annotator and skill, for weighted-vote.
        start: Table of first confusion matrices for dawid-skene, with the columns annotator, true,
            answer and probability.
        warm_start: Folder of --save-model: add what was learned of annotators earlier.
        save_model: Folder to save what dawid-skene, one-coin, mace or glad learned.
        history: Print the log-likelihood after each iteration.
        cluster: Address of a Dask scheduler whose workers count the answers to some items each
            (dawid-skene, one-coin and mace).

    Examples:
        dissensus aggregate labels.csv -o consensus.csv
        dissensus aggregate labels.csv --method dawid-skene -o consensus.csv
    """
    from dissensus import aggregation

    options = ModelOptions(skills, start, warm_start, save_model, history)
    whole = method == "all" or method in (*aggregation.RANKERS, *aggregation.TEXT_METHODS)
    if method == "all" and (use_gold or annotator_table is not None):
        raise DataError("--method all has neither --use-gold nor --annotator-table; leave it out")
    if whole:
        options.check_none(str(method))
    if method is not None and method != "all":
        aggregation.check_method(method)
    check_tables(output)
    check_table(annotator_table)
    source.check_outputs(output, annotator_table)
    if whole and (from_disk or cluster is not None):
        option = "--from-disk" if from_disk else "--cluster"
        raise DataError(f"--method {method} has no {option}; leave it out")
    reserve(output)
    corpus: Any = source.open() if from_disk else source.read()
    names = question or list(corpus.questions)
    if method in aggregation.TEXT_METHODS:
        if use_gold or annotator_table is not None:
            raise DataError(f"{method} has neither --use-gold nor --annotator-table; leave it out")
        corpus.check_questions(names)
        texts = {q: aggregation.aggregate_texts(corpus[q], method, _vectors) for q in names}
        emit_answers(texts, output, json)
        for name, table in texts.items():
            console.say(f"{name}: {method} of {table.num_rows} items")
        return
    if method in aggregation.RANKERS:
        if use_gold:
            raise DataError(f"{method} cannot learn from gold labels; leave out --use-gold")
        if annotator_table is not None:
            raise DataError(
                f"{method} learns nothing about annotators; leave --annotator-table out"
            )
        _rank(corpus, method, names, output, json)
        return
    corpus.check_questions(names)
    for name in names:
        aggregation.check_shares(corpus[name].n_items, corpus[name].scale, name)
    if method == "all":
        show_every_aggregator(corpus, question, output, json)
        return
    fitted = aggregation.aggregate(
        corpus,
        method,
        question or None,
        use_gold,
        cluster=cluster,
        **options.arguments(corpus, method or "majority", question),
    )
    options.report(fitted)
    tables = {q: consensus_table(corpus, q, one.prediction_) for q, one in fitted.items()}
    emit_answers(tables, output, json)
    if annotator_table is not None:
        try:
            estimates = [aggregation.annotator_table(corpus[q], f, q) for q, f in fitted.items()]
        except DataError as error:
            raise DataError(f"{error}; leave --annotator-table out") from None
        write_tables(estimates, annotator_table)
    for name, aggregator in fitted.items():
        gold = aggregation.gold_accuracy(corpus, name, aggregator)
        accuracy = "" if gold is None else f"; accuracy {gold[0]:.4f} on {gold[1]} gold labels"
        of = method or aggregation.usual_method(corpus, name)
        console.say(f"{name}: {of} of {aggregator.consensus_.n_rows} items{accuracy}")
        _say_uneven(corpus, name, aggregator)


def _vectors(texts: Sequence[str]) -> np.ndarray:
    """The mean vectors of MiniLM, a row for each text."""
    from dissensus.contents import Contents
    from dissensus.encoders import encoder, mean_vectors

    contents, codes = Contents.distinct("text", list(texts))
    return mean_vectors(encoder("minilm", "text"), contents).vectors[codes]


def _rank(
    corpus: Corpus, method: str, questions: list[str], output: Path | None, json: bool
) -> None:
    """A score and a rank for each thing that annotators compared."""
    from dissensus import aggregation

    corpus.check_questions(questions)
    pairs = {name: aggregation.comparisons(corpus, name) for name in questions}
    fitted = {name: aggregation.RANKERS[method]().fit(each) for name, each in pairs.items()}
    ranked = {name: aggregation.ranking_table(pairs[name], fitted[name]) for name in questions}
    emit_answers(ranked, output, json)
    for name, each in pairs.items():
        n, things = int(each.weight.sum()), each.n_things
        console.say(f"{name}: {method} of {things} things from {n:,} comparisons")


def _say_uneven(corpus: Corpus | StoredCorpus, question: str, aggregator: Aggregator) -> None:
    """Say if one-coin's assumption fails."""
    from dissensus.aggregation import OneCoin, errs_by_value
    from dissensus.annotations import Annotations

    answers, each = corpus[question], getattr(aggregator, "by_value_", None)
    if not isinstance(aggregator, OneCoin) or each or not isinstance(answers, Annotations):
        return
    if errs_by_value(answers, aggregator):
        console.say(
            f"{question}: annotators are right about some values more often than about others, "
            "which one-coin does not allow for; use --method dawid-skene"
        )
