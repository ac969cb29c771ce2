"""dissensus aggregate: one answer, and a distribution, for each item."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli import console
from dissensus.cli.reading import Reading, reads_corpus
from dissensus.cli.table_files import answer_text, write_tables
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus.aggregation import Aggregator
    from dissensus.annotations import Annotations
    from dissensus.corpus import Corpus


@reads_corpus
def aggregate(
    reading: Reading,
    method: Annotated[
        str,
        typer.Option(
            help="Aggregation method, e.g. majority, soft-vote, dawid-skene, mace, glad or mean."
        ),
    ] = "majority",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Table to write, .csv or .parquet (default: CSV on stdout)."
        ),
    ] = None,
    question: console.Question = None,
    use_gold: Annotated[
        bool,
        typer.Option("--use-gold", help="Use gold labels to estimate each annotator's errors."),
    ] = False,
    people: Annotated[
        Path | None,
        typer.Option(help="Also write the estimates for each annotator to this table."),
    ] = None,
    json: console.Json = False,
) -> None:
    """Aggregate the answers in FILE to one answer and a distribution per item.

    Columns share.VALUE hold the share of an item's answers that are VALUE. Columns
    probability.VALUE hold the probability that VALUE is the true answer, under a model of the
    annotators such as dawid-skene.
    """
    from dissensus.aggregation import AGGREGATORS

    if method not in AGGREGATORS:
        raise DataError(f"no aggregator {method!r}; there are {listed(AGGREGATORS, 40)}")
    reading.spare(output, people)
    corpus = reading.read()
    asked = question or list(corpus.questions)
    corpus.check_questions(asked)
    fitted = {name: _fitted(method, corpus, name, use_gold) for name in asked}
    rows = [_rows(corpus[name], found, name) for name, found in fitted.items()]
    if json:
        console.print_json([record for table in rows for record in _records(table)])
    if output is not None or not json:
        write_tables(rows, output)
    if people is not None:
        write_tables([_people(corpus, found, name) for name, found in fitted.items()], people)
    for name, found in fitted.items():
        console.say(
            f"{name}: {method} of {found.consensus_.n_rows} items{_accuracy(corpus, name, found)}"
        )


def _fitted(method: str, corpus: Corpus, question: str, use_gold: bool) -> Aggregator:
    from dissensus.aggregation import AGGREGATORS
    from dissensus.aggregation.em import HiddenTruth

    aggregator = AGGREGATORS[method]()
    if not use_gold:
        return aggregator.fit(corpus[question])
    if not isinstance(aggregator, HiddenTruth):
        raise DataError(f"{method} cannot learn from gold labels")
    if question not in corpus.gold:
        raise DataError(f"{corpus.name}: no gold label for {question!r}")
    _check_gold(corpus, question)
    return aggregator.fit(corpus[question], gold=corpus.gold[question])


def _check_gold(corpus: Corpus, question: str) -> None:
    """Refuse gold labels that nobody answered: no annotator can be known by them."""
    scale, known = corpus[question].scale, corpus.gold[question].scale
    values = getattr(scale, "values", ())
    strange = [value for value in getattr(known, "values", ()) if value not in values]
    if strange:
        every = ",".join(map(str, [*values, *strange]))
        raise DataError(
            f"{corpus.name}: nobody answered {question!r} with the gold label {listed(strange)}; "
            f"say all values, as in --scale {scale.kind}:{every}"
        )


def _accuracy(corpus: Corpus, question: str, found: Aggregator) -> str:
    """How many consensus labels equal the gold label, where there is one."""
    if question not in corpus.gold or corpus[question].scale.kind == "interval":
        return ""
    gold, consensus = corpus.gold[question], found.consensus_
    said = dict(zip(consensus.item.tolist(), consensus.answers(), strict=True))
    known = zip(gold.item.tolist(), gold.answers(), strict=True)
    right = [said[item] == label for item, label in known if item in said]
    return f"; {sum(right) / len(right):.4f} of {len(right)} gold labels" if right else ""


def _rows(annotations: Annotations, found: Aggregator, question: str) -> dict[str, Any]:
    """A column each: question, item, answer, and the share or probability of every value."""
    item, scale = found.consensus_.item, annotations.scale
    columns: dict[str, Any] = {
        "question": [question] * len(item),
        "item": [annotations.items[i] for i in item],
        "answer": [answer_text(answer) for answer in found.consensus_.answers()],
        "answers": annotations.per_item()[item].tolist(),
    }
    names = getattr(scale, "values", None) or [f"bin-{k}" for k in range(scale.n_columns)]
    for column, name in enumerate(names):
        columns[f"{found.gives}.{name}"] = found.distribution_[item, column].tolist()
    return columns


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """The same row by row, each with the columns' names."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _people(corpus: Corpus, found: Aggregator, question: str) -> dict[str, Any]:
    """What was learned of each annotator: every array of theirs that has one number."""
    asked = corpus[question]
    columns: dict[str, Any] = {
        "question": [question] * asked.n_annotators,
        "annotator": list(asked.annotators),
        "answers": asked.per_annotator().tolist(),
    }
    for name in ("accuracy_", "skill_", "competence_", "ability_", "bias_", "spread_"):
        if hasattr(found, name):
            columns[name.rstrip("_")] = getattr(found, name).tolist()
    if hasattr(found, "confusion_"):
        diagonal = found.confusion_.diagonal(axis1=1, axis2=2)
        for value, right in zip(asked.scale.values, diagonal.T, strict=True):  # type: ignore[attr-defined]
            columns[f"right.{value}"] = right.tolist()
    if len(columns) == 3:
        raise DataError(f"{found.name} learns nothing of annotators; leave --people out")
    return columns
