"""dissensus layout: how FILE is read, in words and as TOML to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dissensus.cli.source import Source, reads_corpus
from dissensus.errors import counted

if TYPE_CHECKING:
    from dissensus.corpus import Corpus

MOST_VALUES = 8  # of a question that are named


@reads_corpus
def layout(source: Source) -> None:
    """Print how FILE is read: what is in it, its first answers, and the layout as TOML.

    Change the TOML and keep it as FILE.dissensus.toml: every command reads FILE so from then on.
    --remember keeps what is typed.

    Examples:
        dissensus layout scores.csv
        dissensus layout s.csv --annotator 'Id{k}' --answer 'Score{k}' --remember
    """
    from dissensus.readers import recognise
    from dissensus.readers.layout import Layout, file_beside, layouts_taken

    with layouts_taken() as taken:
        corpus = source.read()
    found = taken[-1] if taken else Layout(format=recognise(source.file))
    print("\n".join(_in_words(corpus)))
    print(f"\n# {file_beside(source.file).name}\n{found.to_toml()}")


def _in_words(corpus: Corpus) -> list[str]:
    """What was read, and three answers to each question."""
    people = counted(corpus.n_annotators, "annotator") if corpus.n_annotators else "no annotators"
    lines = [f"{counted(corpus.n_items, 'item')}, {people}"]
    for question, answers in corpus.questions.items():
        values = [str(value) for value in getattr(answers.scale, "values", ())]
        more = f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
        named = f": {', '.join(values[:MOST_VALUES])}{more}" if values else ""
        each = answers.n_answers / max(len(set(answers.item.tolist())), 1)
        lines.append(
            f"{question} ({answers.scale.kind}{named}); {counted(answers.n_answers, 'answer')}, "
            f"{each:.3g} for each item"
        )
        for row, value in enumerate(answers.answers()[:3]):
            who = "" if answers.annotator is None else corpus.annotators[answers.annotator[row]]
            item = corpus.items[answers.item[row]]
            lines.append(f"  {item}{' by ' if who else ''}{who}: {value}")
    return lines
