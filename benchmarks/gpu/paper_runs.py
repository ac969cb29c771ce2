"""What the scripts that run papers on a GPU machine share: options, resuming, archives, reports."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from archive import archived, resumed, unpack
from sharing import shared_gpu

from dissensus.errors import Unfinished
from dissensus_papers import paper
from dissensus_papers.framework.comparison import ComparisonPaper
from dissensus_papers.framework.paper import Paper

BEGAN = time.monotonic()
COMMIT = "commit.txt"  # in a kit: no clone is on the machine


@dataclass(frozen=True)
class Script:
    """A script of this folder with the stages `run OUT`, `keep ARCHIVE` and `show`.

    Args:
        name: of the script, its kit, its archive, its report, and the module of the paper.
        text: the docstring of the script.
        tries: conditions that `--try` runs, and settings beyond one epoch.
    """

    name: str
    text: str
    tries: tuple[str | None, Sequence[str]] = (None, ())

    @property
    def kit(self) -> Path:
        return Path("gpu-kit") / self.name

    @property
    def archive(self) -> str:
        return f"{self.name}.tar.gz"

    @property
    def results(self) -> Path:
        return Path(__file__).parents[1] / "results" / f"{self.name}.json"

    @property
    def paper(self) -> Paper:
        return paper(self.name.replace("_", "-"))

    def options(self, seconds: float, processes: int, runs: int | None) -> argparse.ArgumentParser:
        """The options that all scripts have, with these defaults."""
        parser = argparse.ArgumentParser(
            description=self.text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("stage", choices=("run", "keep", "show"))
        parser.add_argument("out", type=Path, nargs="*", default=[Path(self.name)])
        parser.add_argument("--conditions", help="with commas between; all if left out")
        parser.add_argument("--runs", type=int, default=runs)
        parser.add_argument("--seconds", type=float, default=seconds)
        parser.add_argument("--processes", type=int, default=processes)
        parser.add_argument("--device", default="cuda", help="cuda, or here: as torch finds it")
        parser.add_argument("--set", action="append", default=[], help="a setting, for trying out")
        parser.add_argument("--items", type=int, help="only so many of each corpus, for trying out")
        parser.add_argument(
            "--try",
            dest="tried",
            action="store_true",
            help="every kind of fit once, on 40 items of each corpus, for an epoch, on any machine",
        )
        parser.add_argument(
            "--alone", action="store_true", help="keep: without the report that is kept already"
        )
        return parser

    def main(
        self,
        parser: argparse.ArgumentParser,
        run: Callable[[argparse.Namespace], None],
        gathered: Callable[[list[Path]], Sequence[Path]] = lambda kept: [unpack(*kept)],
    ) -> None:
        """Do what was typed.

        Args:
            gathered: from what is to be kept to folders of outcomes; if left out, it is one
                archive.
        """
        given = parser.parse_args()
        if given.tried:
            conditions, settings = self.tries
            given.conditions = given.conditions or conditions
            given.items, given.runs, given.processes, given.device = given.items or 40, 1, 1, "here"
            given.seconds = max(given.seconds, 3600)
            given.set = ["training.epochs=1", *settings, *given.set]
        if given.stage == "show":
            print(self.paper.shown(self.paper.report(self.results)), end="")
        elif given.stage == "keep":
            report = self.paper.report(*gathered(given.out))
            report["command"] = f"python benchmarks/gpu/{self.name}.py run OUT"
            keep_reported(self.paper, report, self.results, given.alone)
        else:
            (given.out,) = given.out
            with shared_gpu() if given.device == "cuda" else nullcontext():
                run(given)

    def pack_commit(self, folder: Path) -> None:
        from dissensus.evaluation import code_commit

        (folder / COMMIT).write_text(code_commit(), encoding="utf-8")

    def corpora(self, needed: Collection[str] | None = None, items: int | None = None) -> Any:
        """The corpora of the kit by name.

        Args:
            needed: their names; all if left out.
            items: only so many of each, spread over the corpus.
        """
        from dissensus import Corpus
        from dissensus_papers.framework.declared import some_items

        paths = sorted((self.kit / "corpora").iterdir())
        corpora = {p.name: Corpus.load(p) for p in paths if needed is None or p.name in needed}
        if items:
            corpora = {name: some_items(corpus, items) for name, corpus in corpora.items()}
        print(f"{time.monotonic() - BEGAN:.0f} s to read", flush=True)
        return corpora

    def run(self, given: argparse.Namespace, kit: Path | None = None, **more: Any) -> None:
        """Train what is missing, as the options say.

        Args:
            kit: where the archive of the kit is, if elsewhere.
            more: arguments of the paper's `run` that do not follow from the options.
        """
        usual = {
            "runs": given.runs,
            "processes": given.processes,
            "time_limit": given.seconds - (time.monotonic() - BEGAN),
            "settings": typed_settings(given),
            "command": f"python benchmarks/gpu/{self.name}.py run OUT",
            "commit": (self.kit / COMMIT).read_text(encoding="utf-8").strip(),
        }
        run(self.paper, given.out, kit or self.kit, self.archive, **usual | more)


def typed_settings(given: argparse.Namespace) -> list[tuple[str, str]]:
    """What was typed as --set NAME=VALUE."""
    return [(name, value) for name, _, value in (text.partition("=") for text in given.set)]


def run(paper: Paper, out: Path, kit: Path, archive: str, **given: Any) -> None:
    """Train what is missing. OUT's archive is written twice a minute and at the end.

    Args:
        archive: its name; earlier outcomes are in the archive of OUT, or else in that of the kit.
        given: arguments of the paper's `run` other than the folder.
    """
    done = resumed(out / archive, kit / archive)
    with archived(done, out / archive):
        try:
            paper.run(out=done, **given)
        except Unfinished as unfinished:
            print(unfinished, flush=True)
        finally:
            count(paper, done)
    print(f"{time.monotonic() - BEGAN:.0f} s")


def keep_reported(paper: Paper, report: Any, results: Path, alone: bool = False) -> None:
    """Write a report into benchmarks/results.

    If a report is there already, it is continued: conditions of the new one are added or replace
    those of the same name.

    Args:
        alone: replace the report that is there.
    """
    from merged_reports import joined, merged, origins, to_json

    if results.exists() and not alone and isinstance(paper, ComparisonPaper):
        kept = paper.report(results)
        print("\n".join([*origins(kept, report), ""]))
        report = merged(paper, kept, report)
    elif results.exists() and not alone:
        report = joined(paper, paper.report(results), report)
    results.write_text(to_json(report), encoding="utf-8")
    print(paper.shown(paper.report(results)), end="")


# ---- counts ----


class _Done(NamedTuple):
    condition: str
    model: str
    seconds: float


def count(paper: Paper, done: Path) -> None:
    """Print how many outcomes of each condition and model there are, and how long they took."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for outcome in getattr(paper, "outcomes", _comparison_fits)(done) if done.exists() else ():
        seconds.setdefault((outcome.condition, outcome.model), []).append(outcome.seconds)
    for (condition, model), took in seconds.items():
        print(f"{condition:24} {model:22} {len(took):3}   {sum(took) / len(took):7.1f} s each")


def _comparison_fits(done: Path) -> list[_Done]:
    """The fits of a paper whose conditions are comparisons; the first that failed are printed."""
    files = sorted(done.glob("conditions/*/fits/[!.]*/fit.json"))
    fits = [(path.parents[2].name, json.loads(path.read_text())) for path in files]
    for fit in [fit for _, fit in fits if fit["status"] != "ok"][:5]:
        print(f"{fit['method']}, seed {fit['seed']}, {fit['fold']}: {fit['reason']}")
    return [_Done(name, fit["method"], fit["seconds"]) for name, fit in fits]
