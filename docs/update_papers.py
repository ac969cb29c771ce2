"""Write the figures in papers.md and papers/*.md anew from the kept reports."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dissensus.evaluation import Difference, p_text
from dissensus.tables import Table, escaped_markdown
from dissensus_papers import PAPERS, paper
from dissensus_papers.framework.claims import COLUMNS, READ
from dissensus_papers.framework.text import spread
from dissensus_papers.qumatl.models import MODELS as QUERY_MODELS

PAGES = (Path(__file__).parent / "papers.md", *sorted(Path(__file__).parent.glob("papers/*.md")))
RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
BLOCK = re.compile(r"(<!-- ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
Rows = Sequence[Sequence[Any]]
BEYOND = "Beyond the paper: "
VERDICT = r": (?=(found|the opposite|no gain that matters|cannot decide|not tested) in \d)"
QUERY_METRICS = {  # and their digits
    "annotator accuracy, weighted": 3,
    "annotator macro-F1": 3,
    "annotator cross-entropy": 3,
    "DIC": 2,
}
QUERY_CONDITIONS = (  # a table each
    ("cue-conflict", "speech", "hs-brexit", "convabuse", "paraphrase"),
    ("hs-brexit-published", "simulated-image", "simulated-text", "simulated-sequence", "followers"),
    ("ablation", "tuned", "cue-texture", "gaze"),
    *(tuple(f"{name}-{share}" for share in (20, 30, 40)) for name in ("hs-brexit", "convabuse")),
)


def _parts(name: str) -> tuple[dict[str, Any], list[Table | str]]:
    """The report on a paper that is kept, and its parts."""
    chosen = paper(name)
    report = chosen.report(RESULTS / f"{name.replace('-', '_')}.json")
    return report, chosen.parts(report)


def _claims(name: str) -> str:
    """The claims of a paper, a row each; their tests, folded; those that nothing was run for."""
    report, parts = _parts(name)
    lines, own = ["| claim | decided by | estimates | verdict |", "|---|---|---|---|"], 0
    for part in parts:
        if isinstance(part, Table) and part.columns == COLUMNS:
            groups = _groups(part.rows)
            own = sum(not head.startswith(BEYOND) for head, _ in groups)
            lines += [_claim_row(*group) for group in groups[:own]]
            summary = (
                f"All tests of these {own} claims, and of {len(groups) - own} beyond the paper"
            )
            lines += ["", f'<details markdown="1"><summary>{summary}</summary>', ""]
            lines += [Table(part.columns, part.rows, align=part.align).to_markdown()]
            lines += ["", "</details>", ""]
        elif isinstance(part, str) and part.startswith("Not run yet"):
            head, *claims = part.splitlines()
            lines += [f"Not run yet (`{head.removeprefix('Not run yet: ')}`):", ""]
            lines += [*(f"- {escaped_markdown(claim.strip())}" for claim in claims), ""]
    made = f"`{report['command']}`, {report['date'][:10]}. {_effort(report)}"
    return "\n".join([*lines, made, ""])


def _outcome() -> str:
    """How many claims of each paper were found, and in how many of their tests."""
    kinds = ("in every test", "in some", "in none", "judged in words")
    lines = [f"| paper | claims | found {' | '.join(kinds)} |", f"|---|--:|{'--:|' * len(kinds)}"]
    for name in PAPERS:
        counts = dict.fromkeys(kinds, 0)
        for part in _parts(name)[1]:
            if isinstance(part, Table) and part.columns == COLUMNS:
                for head, tests in _groups(part.rows):
                    if not head.startswith(BEYOND):
                        counts[_found(tests)] += 1
        cells = [f"[`{name}`](#{name})", str(sum(counts.values())), *map(str, counts.values())]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _found(tests: Rows) -> str:
    found = [test[-1].startswith("found") for test in tests]
    if not found:
        return "judged in words"
    return "in every test" if all(found) else "in some" if any(found) else "in none"


def _groups(rows: Rows) -> list[tuple[str, list[Sequence[Any]]]]:
    """Each claim with its tests; those of the paper before those beyond it."""
    groups: list[tuple[str, list[Sequence[Any]]]] = []
    for row in rows:
        if row[0].startswith("  "):
            groups[-1][1].append(row)
        else:
            groups.append((str(row[0]), []))
    return sorted(groups, key=lambda group: group[0].startswith(BEYOND))


def _claim_row(head: str, tests: Rows) -> str:
    """A claim with its summary: what decides, from which to which estimate, and the verdict."""
    scores = ", ".join(dict.fromkeys(test[1] for test in tests))
    if len(tests) == 1:
        claim, estimate, verdict = head, tests[0][2], tests[0][-1]
    elif tests:
        claim, _, verdict = re.split(VERDICT, head, maxsplit=1)
        effects = sorted((test[2].split(" ")[0] for test in tests if test[2]), key=float)
        estimate = f"{effects[0]} to {effects[-1]} ({len(effects)} tests)"
        verdict = verdict.partition(";")[0]
    else:
        (claim, _, verdict), estimate = head.partition(": "), ""
    cells = [claim, scores, estimate, verdict]
    return f"| {' | '.join(escaped_markdown(cell) for cell in cells)} |"


def _effort(report: dict[str, Any]) -> str:
    """How many fits a report is on, and the hours that those took whose time is kept."""
    n, seconds, unknown = 0, 0.0, 0
    for block in report["conditions"].values():
        if "n_folds" in block:
            n += len(block["models"]) * len(block["seeds"]) * block["n_folds"]
            seconds += block.get("seconds", 0)
            unknown += "seconds" not in block
            continue
        for of_model in block["models"].values():
            n += len(of_model.get("repeats", of_model["fits"]))
            fits = of_model["fits"]
            own = of_model.get("seconds") or [fit["seconds"] for fit in fits]
            seconds += sum(own) if isinstance(own, list) else own * len(of_model["repeats"])
    if unknown == len(report["conditions"]):
        return f"{n:,} fits; their time is not kept."
    less = f", without {unknown} conditions whose time is not kept" * (unknown > 0)
    return f"{n:,} fits, {seconds / 3600:.1f} hours added up (several run at once){less}."


def _tables(name: str, *titles: str, without: str = "") -> str:
    """Those tables of a paper whose titles begin like this, less blocks with these words."""
    _, parts = _parts(name)
    tables = [p for p in parts if isinstance(p, Table) and p.title.startswith(titles)]
    if without:
        shown = [row for t in tables for h, own in _groups(t.rows) if without not in h
                 for row in ((h, *[""] * (len(t.columns) - 1)), *own)]  # fmt: skip
        tables = [replace(table, rows=shown) for table in tables]
    return "\n".join(f"{table.to_markdown()}\n" for table in tables)


def _tweets(kept: dict[str, Any]) -> str:
    """Every method with a pretrained encoder and with the paper's network, and what is missing."""
    table: Any = _script("pos_table")
    plain, papers = table.NETWORKS.values()
    lines = [
        f"| learned from | method | {plain} | together | by gold | less `single`, points "
        f"| {papers} | less `single`, points |",
        "|---|---|--:|--:|--:|---|--:|---|",
    ]
    absent = []
    for group, names in table.GROUPS.items():
        ours, of_paper = (
            {line.method: line for line in table.lines(kept, group, network)}
            for network in table.NETWORKS
        )
        before = group
        for name in dict.fromkeys([*names, *ours]):
            line, other = ours.get(name), of_paper.get(name)
            if line or other:
                cells = [before, _called(name, line), *_tagged(line), *_tagged(other)[::3]]
                lines.append(f"| {' | '.join(cells)} |")
                before = ""
        for network, words in table.NETWORKS.items():
            found = "; ".join(table.missing(kept, group, network))
            if found:
                absent.append(f"Not trained yet: {words}, learned from {group}: {found}.")
    made = f"`{kept['command']}`, {kept['date']}, {kept['machine']}."
    return "\n".join([*lines, "", made, *(f"\n{words}" for words in absent), ""])


def _script(name: str) -> Any:
    """A module of benchmarks/gpu."""
    sys.path.append(str(RESULTS.parent / "gpu"))
    return importlib.import_module(name)


def _called(name: str, line: Any) -> str:
    """A row's name; that of the method which is its base, too."""
    return name.replace("base", f"base ({line.base})", 1) if line and line.base else name


def _tagged(line: Any) -> list[str]:
    """Accuracy of seeds, of all of them together, by gold's choice, and less that of `single`."""
    if line is None:
        return [""] * 4
    few = f" ({len(line.seeds)} seeds)" if len(line.seeds) < 10 else ""
    mean = f"{line.seeds.mean():.2f}{spread(line.seeds)}{few}".replace("+-", "±")
    by_gold = None if line.group == "gold" else line.by_gold
    figures = [f"{value:.2f}" if value is not None else "" for value in (line.together, by_gold)]
    return [mean, *figures, _apart(line.over_single) if line.over_single else ""]


def _apart(found: Difference) -> str:
    ends = f"[{found.low:+.2f}, {found.high:+.2f}]"
    return f"{found.effect:+.2f} {ends}, p {p_text(found.adjusted)}"


def _queries() -> str:
    """The scores of annotators by model and condition."""
    conditions, lines = _parts("qumatl")[0]["conditions"], []
    for names in QUERY_CONDITIONS:
        of_table = {name: conditions[name] for name in names if name in conditions}
        lines += [*_query_table(of_table), ""] if of_table else []
    return "\n".join(lines)


def _query_table(conditions: dict[str, Any]) -> list[str]:
    """Scores of annotators by model and condition, and what is the best possible."""
    headings = [
        f"{name}: {held['n_items']:,} items, {held['n_folds']} fold{'s' * (held['n_folds'] > 1)}, "
        f"{len(held['seeds'])} seed{'s' * (len(held['seeds']) > 1)}"
        for name, held in conditions.items()
    ]
    lines = [f"| | {' | '.join(headings)} |", f"|---|{'---|' * len(conditions)}"]
    for model in QUERY_MODELS:
        of_models = [
            next(iter(held["models"].get(model, {"": {}}).values())) for held in conditions.values()
        ]
        if any(of_models):
            cells = [_scores(figures) for figures in of_models]
            lines.append(f"| {' | '.join([QUERY_MODELS[model].title, *cells])} |")
    floors: list[dict[str, Any]] = [
        next(iter(held["floors"].values()), {}) for held in conditions.values()
    ]
    for floor, title in (("best possible", "Best possible"), ("noise floor", "DIC of noise alone")):
        if any(floor in of_condition for of_condition in floors):
            cells = [_scores(of_condition.get(floor, {})) for of_condition in floors]
            lines.append(f"| {' | '.join([title, *cells])} |")
    return lines


def _simulated(kept: dict[str, Any]) -> str:
    """Queries on simulated crowds: what they predict, and where they look; means over seeds."""
    lines = [
        "| | training items | seeds | score of annotators | best possible | without the annotator "
        "| own part has most attention | by chance |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for key, outcome in kept["rows"].items():
        if not key.endswith(": final"):
            continue
        seeds = outcome["seeds"]
        for question in (name for name in seeds[0] if name != "seconds to predict"):
            rows = [seed[question] for seed in seeds]
            means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
            measure = "accuracy" if "accuracy" in means else "error"
            scores = [means[measure], means["best"], means["best without the annotator"]]
            looks = [f"{100 * means[m]:.1f} %" if m in means else "" for m in ("part", "by chance")]
            title = f"{key.removesuffix(': final')}, {question} ({measure})"
            cells = [title, f"{outcome['items']:,}", str(len(rows)), *map(_short, scores), *looks]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _depth(kept: dict[str, Any]) -> str:
    """Queries of several depths on simulated texts, and from which weights they start."""
    depth: Any = _script("queries_depth")
    rows = kept["rows"]
    return "\n".join(f"{table.to_markdown()}\n" for table in depth.tables(rows))


def _short(figure: float) -> str:
    return f"{figure:.3f}".removeprefix("0")


def _scores(figures: dict[str, Any]) -> str:
    """Scores of annotators; "-" where one is not defined, as DIC without common items."""
    cells = (
        f"{figures[metric]['mean']:.{digits}f}".removeprefix("0") if metric in figures else "-"
        for metric, digits in QUERY_METRICS.items()
    )
    return " / ".join(cells) if figures else ""


def updated(*texts: str) -> list[str]:
    """The pages with what is kept now."""
    blocks = {
        "reading": f"{READ}\n",
        "outcome": _outcome(),
        **{f"{name}-claims": _claims(name) for name in PAPERS},
        "soft-labels": _tables("soft-labels", "Table 1", "Table 2"),
        "pos-tweets": _tweets(_script("pos_answers").read(RESULTS / "pos_tweets.json")),
        "seedbert": _tables("seedbert", "Table 4", without="encoder frozen"),
        "seedbert-looks": _tables("seedbert", "Do members look"),
        "qumatl": _queries(),
        "qumatl-simulated": _simulated(json.loads((RESULTS / "queries.json").read_text())),
        "qumatl-depth": _depth(json.loads((RESULTS / "queries_depth.json").read_text())),
    }
    return [BLOCK.sub(lambda b: f"{b[1]}{blocks[b[2]]}{b[3]}", text) for text in texts]


if __name__ == "__main__":
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    for page, text in zip(PAGES, updated(*pages), strict=True):
        page.write_text(text, encoding="utf-8")
