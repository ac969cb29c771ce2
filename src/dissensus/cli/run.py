"""dissensus run: from FILE to a report, a model and predictions, in one command."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.cli import console
from dissensus.cli.console import check_folder, reserve
from dissensus.cli.options import Input, reads_corpus, seconds, typed_command

if TYPE_CHECKING:
    from dissensus.corpus import Corpus


@reads_corpus
def run(
    source: Input,
    output: Path,
    budget: str | None = None,
    methods: str | None = None,
    seeds: int | None = None,
    encoder: str | None = None,
    question: list[str] | None = None,
) -> None:
    """Write a report on FILE: agreement, methods compared, and predictions.

    OUT gets report.html (and report.json), consensus.csv, the comparison, the best model, the best
    model that predicts each annotator, and predictions for items without answers. Run the same
    command again to resume.

    Args:
        output (-o): Folder for the report and all results.
        budget: Time for the whole command, e.g. 10m. Fewer items are compared if encoding all or
            training on them takes too long. Run again to resume. The report may take some seconds
            longer.
        methods: Methods to compare, separated by commas (default: by what FILE has).
        seeds (min=1): Number of seeds (default: by the size of FILE).
        encoder: Encoder, as in `dissensus train`.
        question: Question to report on and to learn; repeatable, or 'all' (default: the report is
            on all; of more than three, the one with most answers is learned).

    Examples:
        dissensus run labels.csv -o report/
        dissensus run labels.csv -o report/ --budget 10m
    """
    from dissensus.methods.choice import chosen_questions

    start, time_left = time.monotonic(), seconds(budget)
    check_folder(output, "run")
    reserve(output)
    corpus = source.read()
    if question:
        corpus = corpus.select(questions=chosen_questions(corpus, question)[0])
    chosen = [name.strip() for name in (methods or "").split(",") if name.strip()]
    named = list(corpus.questions) if question else []
    options = {"methods": chosen, "seeds": seeds, "encoder": encoder, "start": start}
    run_and_print(
        corpus, output, budget=time_left, command=typed_command(), questions=named, **options
    )
    if (output / "model").is_dir():  # what to type next, with the columns of a table of new items
        folder, model = (shlex.quote(str(path)) for path in (output, output / "model"))
        serve, columns = f"  dissensus serve {folder}", ", ".join(corpus.contents)
        if any(contents.kind == "features" for contents in corpus.contents.values()):  # in no table
            console.say(f"\nNext, in the browser:\n{serve}")
            return
        items = "texts" if columns == "text" else f"items (a table with the columns {columns})"
        predict = f"  dissensus predict {model} new.csv -o answers.csv"
        console.say(f"\nNext, in the browser and on new {items}:\n{serve}\n{predict}")


def run_and_print(corpus: Corpus, output: Path, **options: Any) -> None:
    """Run as `dissensus.run` does; print the summary of the report, and where it is."""
    from dissensus import workflow

    result = workflow.run(corpus, output, message=console.say, **options)
    for sentence in result.summary:
        print(console.visible(sentence))
    console.say(f"{result.report}: the report; report.json has the same as JSON")
