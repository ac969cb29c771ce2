"""All trainings of the paper, in several processes, each kept as it ends; what is there stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dissensus.corpus import Corpus
from dissensus.evaluation import code_commit
from dissensus.evaluation.execution.folder import locked_folder
from dissensus.evaluation.fit import Key
from dissensus.papers.framework.outcomes import load_outcomes
from dissensus.papers.framework.runs import InTurn, check_numbers, deadline, run_fits
from dissensus.papers.soft_labels.conditions import CONDITIONS, SEEDS, Condition, with_automatic
from dissensus.papers.soft_labels.items import Items
from dissensus.papers.soft_labels.outcome import Outcome
from dissensus.papers.soft_labels.printed import MODELS


def run(
    corpora: Mapping[str, Corpus],
    conditions: Sequence[Condition],
    out: str | Path,
    *,
    glove: str | Path | None = None,
    runs: int | None = None,
    processes: int | None = None,
    time_limit: float | None = None,
    settings: Sequence[tuple[str, str]] = (),
    stack: bool = True,
    command: str = "",
    commit: str = "",
) -> None:
    """Train what is missing in the folder `out`: four models, `runs` seeds, these conditions.

    Every model with one seed in one condition is kept the moment it is done; the same call goes on
    where it was stopped, however that was, also with more conditions and more runs.

    Args:
        corpora: "pos_tweets" and "stemming", as `datasets.read` gives them.
        glove: a file of word vectors for POS tags (`make glove`).
        runs: seeds 1000, 2000, ... of the paper; all ten if left out.
        processes: at work at once, on a GPU too; left out, as many as there are processors.
        time_limit: seconds to end within: nothing is begun that would take longer, as far as can
            be told from what ended before. If something is missing then, Unfinished says so.
        settings: of the methods, name and value as typed, for trying things out.
        stack: whether folds of stems train side by side on a GPU.
        command, commit: to be kept with the outcomes.
    """
    from dissensus.papers.soft_labels.fits import Opened, Task
    from dissensus.papers.soft_labels.networks import methods, told

    until = deadline(time_limit)
    runs = len(SEEDS) if runs is None else runs
    _check(runs, processes, glove)
    ready = {name: with_automatic(corpus) for name, corpus in corpora.items()}
    task = Task({c.name: methods(c, glove, settings) for c in conditions}, stack)
    keys = [
        Key(model, seed, condition.name)
        for condition in conditions
        for seed in SEEDS[:runs]
        for model in MODELS
    ]
    with locked_folder(out) as place:
        place.begin({"paper": "soft-labels"}, command, commit or code_commit())
        for condition in conditions:
            known = {model: told(method) for model, method in task.methods[condition.name].items()}
            Items.of(ready[condition.corpus], condition, known, glove).keep(place.folder)
        run_fits(
            place,
            InTurn(place.missing(keys), len(keys)),
            task,
            Opened(ready),
            ready,
            processes=processes,
            until=until,
            kind=lambda key: key.fold,
            done=outcomes,
        )


def _check(runs: int, processes: int | None, glove: str | Path | None) -> None:
    """Refuse what cannot go well, before a folder says that it was begun with."""
    from dissensus.encoders.words import WordsEncoder

    check_numbers(runs, len(SEEDS), processes)
    if glove is not None:
        _ = WordsEncoder(str(glove)).table


def outcomes(folder: str | Path) -> list[Outcome]:
    """Everything that is done in a folder, in the order of the paper's tables."""
    loaded = load_outcomes(folder, Outcome.load, CONDITIONS, MODELS)
    order = list(MODELS)
    return sorted(loaded, key=lambda o: (o.condition, o.seed, order.index(o.model)))
