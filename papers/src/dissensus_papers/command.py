"""dissensus papers: a paper's tables next to our figures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from dissensus.cli import UNFINISHED, console, seconds
from dissensus.errors import DataError, Unfinished
from dissensus_papers import paper as paper_named


def papers(
    paper: str,
    data: Path | None = None,
    output: Path | None = None,
    conditions: str | None = None,
    models: str | None = None,
    runs: int | None = None,
    items: int | None = None,
    set_: list[str] | None = None,
    processes: int | None = None,
    time_limit: str | None = None,
    show: list[Path] | None = None,
    glove: Path | None = None,
    json: bool = False,
) -> None:
    """Reproduce the experiments of PAPER and compare with its published tables.

    Each fit is saved in OUT when it ends; run the same command again to resume, also with more
    conditions or runs. `dissensus papers PAPER --show OUT` prints the tables so far.

    Args:
        paper (PAPER): Which paper: soft-labels or seedbert or individual or qumatl.
        data (DATA): Folder with the corpora, each in a folder of its name.
        output (-o): Folder for fits and results; a stopped run resumes in it.
        conditions: Conditions to run, separated by commas (default: those of the paper's tables).
        models: Only these models, separated by commas: several commands can share a condition. Not
            for soft-labels and seedbert.
        runs: Number of runs (default: as many as in the paper).
        items (min=1): Use only this many items of each corpus, to try a paper out.
        set_: Change a setting, name=value, to try something out; repeatable.
        processes: Number of processes (default: one for each processor).
        time_limit: Time after which no new fit begins, e.g. 90s, 10m or 2h.
        show: Show the results of a folder or file; nothing is trained. Repeatable: folders in which
            the same paper was run in parts.
        glove: Word vectors for part-of-speech tags; `make glove` writes them. Only for soft-labels.

    Examples:
        dissensus papers seedbert DATA -o runs/
        dissensus papers seedbert --show runs/
    """
    from dissensus_papers.framework.declared import some_items, with_models

    chosen: Any = paper_named(paper)
    if glove is not None and "glove" not in chosen.options:
        raise DataError(f"--glove is not an option of {paper}")
    if show:
        if data is not None or output is not None:
            raise DataError("--show trains nothing; leave DATA and -o out")
    elif data is None or output is None:
        raise DataError("name DATA and an output folder with -o, or a folder to --show")
    else:
        typed = {"--conditions": conditions, "--models": models, "--glove": glove, "--runs": runs,
                 "--items": items}  # fmt: skip
        words = ["dissensus", "papers", paper, str(data)]
        for option, value in typed.items():
            words += [option, str(value)] if value is not None else []
        words += [word for text in set_ or [] for word in ("--set", text)]
        limit, settings = seconds(time_limit, "--time-limit"), []
        for text in set_ or []:
            name, equals, value = text.partition("=")
            if not equals:
                raise DataError(f"--set must be name=value, found {text!r}")
            settings.append((name.strip(), value.strip()))
        corpora = chosen.read(data)
        if items is not None:
            corpora = {name: some_items(corpus, items) for name, corpus in corpora.items()}
        named = chosen.named(conditions, tuple(corpora))
        if models is not None:
            named = with_models(named, [name.strip() for name in models.split(",")])
        if items is None and runs is None:
            console.say(
                f"{paper}: {', '.join(condition.name for condition in named)}; on a CPU this takes "
                "hours. To try it out, add --items 60 --runs 1 --set training.epochs=1."
            )
        try:
            chosen.run(
                corpora, named, output, runs=runs, processes=processes, time_limit=limit,
                settings=settings, command=shlex.join([*words, "-o", str(output)]),
                **({} if glove is None else {"glove": glove}),
            )  # fmt: skip
        except Unfinished as unfinished:
            console.fail(f"{output}: {unfinished}", UNFINISHED)
        except KeyboardInterrupt:
            resume = f"{output} holds what is done; run the same command again to resume"
            raise KeyboardInterrupt(resume) from None
    report = chosen.report(*(show or [output or Path()]))
    if json:
        console.print_json(report)
    else:
        print(chosen.shown(report, width=console.width()), end="")
