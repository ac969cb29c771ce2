"""dissensus prompt: ask a language model for annotators' answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dissensus.cli.console import attribute_names, check_table, say
from dissensus.cli.options import Input, reads_corpus
from dissensus.cli.parts import prediction_part, training_part
from dissensus.errors import DataError, counted, listed


@reads_corpus
def prompt(
    source: Input,
    output: Path,
    question: list[str] | None = None,
    annotators: str = "all",
    shots: int = 10,
    attributes: list[str] | None = None,
    ask: Path | None = None,
    hold_out: float = 0.2,
    model: Path | None = None,
    replies: Path | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> None:
    """Ask a language model for annotators' answers, with their own as examples.

    Each prompt, a line of JSON with an id and messages, asks for the answer of an annotator to an
    item: of the official test part, or of those that are held out. These are never examples. Send
    the prompts to any service or program; --replies turns what comes back into answers, which
    `dissensus evaluate` scores.

    Args:
        output (-o): File of prompts to write (.jsonl); with --model or --replies, of answers.
        annotators: Annotators to ask for: all, or names separated by commas.
        shots (min=0): Examples of the annotator's own answers in each prompt.
        attributes: Attribute of annotators to tell, e.g. gender; repeatable.
        ask: Table of other items to ask about, of all these annotators, read like FILE.
        hold_out: Share of the items to ask about, if there is no official split.
        model: Folder of a causal language model of transformers, which answers the prompts.
        replies: Replies to the prompts (.jsonl, .csv): the id of the prompt, and a text.
        seed (min=0): Random seed of the examples, and of the items that are held out.

    Examples:
        dissensus prompt labels.csv -o prompts.jsonl --shots 10
        dissensus prompt labels.csv --replies replies.jsonl -o answers.jsonl
    """
    import pyarrow as pa

    from dissensus.evaluation.outside_predictions import read_columns
    from dissensus.names import split_names
    from dissensus.prediction.answer_files import write_tables
    from dissensus.prompts import answered_locally, answers_of, prompts

    check_table(output, overwrite)
    corpus = source.read()
    if replies is not None:
        columns = read_columns(replies)
        records = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        rows, unread = answers_of(records, corpus)
        if unread:
            n = counted(len(unread), "prompt")
            say(f"{n} left out, whose reply has no answer or several: {listed(unread, 3)}")
    else:
        split = None if "train" in corpus.parts() else hold_out
        if ask is not None:
            known, unanswered = corpus, replace(source, file=ask).read(unanswered=True)
        else:
            known, note, line = training_part(corpus, None, split, seed)
            unanswered, _ = prediction_part(corpus, None, corpus.name, note, output)
            say(line.replace("training on", "examples from"))
        names = None if annotators == "all" else split_names(annotators)
        facts, rows = attribute_names(attributes), []
        for name in question or corpus.questions:
            own = list(prompts(known, unanswered, name, names, shots, facts, seed))
            n_items = len({one["item"] for one in own})
            say(f"{name}: {counted(len(own), 'prompt')} on {counted(n_items, 'item')}")
            scale = corpus[name].scale
            rows += own if model is None else answered_locally(own, model, scale)
        if model is None and output.suffix.lower() != ".jsonl":
            raise DataError(f"{output}: prompts are lines of JSON; name a .jsonl file")
    if not rows:
        raise DataError(f"{replies or corpus.name}: nothing to write; see the lines above")
    write_tables([pa.Table.from_pylist(rows)], output)
    what = "prompt" if model is None and replies is None else "answer"
    say(f"{output}: {counted(len(rows), what)}")
