"""Write the figures in papers.md anew from the kept reports."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from dissensus.evaluation import Difference
from dissensus.evaluation.significance.difference import p_text
from dissensus.tables import Table
from dissensus_papers import qumatl, seedbert
from dissensus_papers.framework.claims import READ
from dissensus_papers.framework.text import interval, spread
from dissensus_papers.qumatl import MODELS as QUERY_MODELS
from dissensus_papers.seedbert.analysis import ENSEMBLES, MEMBER
from dissensus_papers.seedbert.claims import claims as seedbert_claims
from dissensus_papers.seedbert.hypothesis import SEEN
from dissensus_papers.seedbert.hypothesis import interval as looked
from dissensus_papers.seedbert.outcomes import DISTANCES
from dissensus_papers.seedbert.protocol import MODELS as SEEDBERT_MODELS
from dissensus_papers.seedbert.protocol import SINGLE, TABLE
from dissensus_papers.seedbert.report_text import mean
from dissensus_papers.soft_labels import CONDITIONS, report
from dissensus_papers.soft_labels.claims import claims, near
from dissensus_papers.soft_labels.protocol import MODELS, TABLES

PAGE = Path(__file__).parent / "papers.md"
RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
BLOCK = re.compile(r"(<!-- ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
QUERY_METRICS = {  # and their digits
    "annotator accuracy, weighted": 3,
    "annotator macro-F1": 3,
    "annotator cross-entropy": 3,
    "DIC": 2,
}
TESTS = "| | decided by | estimate [95 % interval] | p | would be found | verdict |"
QUERY_CONDITIONS = (  # a table each
    ("cue-conflict", "speech", "hs-brexit", "convabuse", "paraphrase"),
    ("cue-conflict-published", "hs-brexit-published"),
    ("simulated-image", "simulated-text", "simulated-sequence", "followers"),
    ("ablation", "tuned", "cue-texture", "gaze"),
    *(tuple(f"{name}-{share}" for share in (20, 30, 40)) for name in ("hs-brexit", "convabuse")),
)
LOOKING = ("seeds", "order", "deep", "pool-seeds", "frozen-seeds", "size-seeds")


def soft_labels(found: dict[str, Any]) -> str:
    """Accuracies next to the paper's, words with and without a vector, and its claims."""
    made = f"`{found['command']}`, {found['date'][:10]}, {', '.join(found['machines'])}."
    tables = [*_accuracies(found), "", made, "", *_words(found), ""]
    return "\n".join([*_claims(claims(found)), "", *tables])


def _claims(table: Table | str) -> list[str]:
    """Claims as a list, with their tests as a table below; those judged in words as they are."""
    rows = [[str(cell) for cell in row] for row in table.rows] if isinstance(table, Table) else []
    lines: list[str] = []
    for row in rows:
        if len(row) == 1:
            lines += ["", row[0]]
        else:
            lines += ["", TESTS, "|---|---|---|--:|--:|---|"] if "|" not in lines[-1] else []
            lines.append(f"| {' | '.join(cell.strip() for cell in row)} |")
    return [*lines[1:], "", READ]


def _accuracies(found: dict[str, Any]) -> list[str]:
    lines = [
        "| condition | model | paper | ours | within 1.5 or above | MTL less STL, points |",
        "|---|---|--:|--:|---|---|",
    ]
    for name, held in found["conditions"].items():
        printed, before = TABLES.get(name, {}), name
        n = len(held["seeds"])
        for model, words in MODELS.items():
            of_model = held["models"][model]
            ours = of_model["pooled"]["gold"]["accuracy"]
            runs = [100 * fit["scores"]["gold"]["accuracy"] for fit in of_model["fits"]]
            paper = met = over = ""
            if model in printed:
                paper = f"{printed[model].accuracy:.2f}"
                met = "yes" if near(printed[model].accuracy, ours) else "no"
            if model in held["against"]:
                test = held["against"][model]["tests"]["gold"]["ours"]["accuracy"]
                over = interval(test, 100, 2)
            cells = [before, words, paper]
            cells += [f"{100 * ours:.2f}{spread(runs)}".replace("+-", "±"), met, over]
            lines.append(f"| {' | '.join(cells)} |")
            before = f"({n} runs)" if n < len(found["seeds"]) and before == name else ""
    return lines


def _words(found: dict[str, Any]) -> list[str]:
    lines = [
        "| condition | words with a vector | accuracy there | without | all | paper |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, held in found["conditions"].items():
        if CONDITIONS[name].corpus == "pos_tweets" and name in TABLES:
            models = held["models"].values()
            sides = [[100 * m["words"][side] for m in models] for side in ("with", "without")]
            every = [100 * m["pooled"]["gold"]["accuracy"] for m in models]
            paper = [printed.accuracy for printed in TABLES[name].values()]
            ranges = [f"{min(side):.1f} to {max(side):.1f}" for side in (*sides, every, paper)]
            share = f"{100 * held['with_vector']:.1f} %"
            lines.append(f"| {' | '.join([name, share, *ranges])} |")
    return lines


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


# ---- seedbert ----


def of_seedbert(found: dict[str, Any]) -> str:
    """Table 4 next to the paper's, the recovered distributions, the comparisons made after the
    fact, and its claims."""
    made = f"`{found['command']}`, {found['date'][:10]}, {', '.join(found['machines'])}."
    tables = [*_table_4(found), "", *_recovered(found), ""]
    tables += _less_one(found["again"], "with a temperature of at least 1")
    missing = ", ".join(name for name in seedbert.CONDITIONS if name in found["missing"])
    left = [f"Not whole yet: {missing}.", ""] if missing else []
    return "\n".join([*_claims(seedbert_claims(found)), "", *tables, "", made, "", *left])


def _table_4(found: dict[str, Any]) -> list[str]:
    lines = [
        "| | | accuracy | F1 | fits | SeedBERT's F1 less its |",
        "|---|---|--:|--:|--:|---|",
    ]
    for model, printed in TABLE.items():
        figures = [f"{100 * printed.accuracy:.1f}", f"{100 * printed.f1:.1f}", "25", ""]
        cells = ["the paper's 500 clips" if model == SINGLE else "", SEEDBERT_MODELS[model].title]
        lines.append(f"| {' | '.join([*cells, *figures])} |")
    for name, held in found["conditions"].items():
        if seedbert.CONDITIONS[name].kind == "many":
            continue
        before = name
        floor = held["floors"]["majority"]
        cells = [before, "always the most frequent label", _percent(floor["accuracy"])]
        lines.append(f"| {' | '.join([*cells, _percent(floor['f1']), '', ''])} |")
        for model, of_model in held["models"].items():
            fits = of_model["fits"]
            cells = ["", SEEDBERT_MODELS[model].title]
            cells += [_percent(fits[metric]) for metric in ("accuracy", "f1")]
            against = held["against"].get(model)
            over = interval(against["f1"], 100, 2) if against else ""
            lines.append(f"| {' | '.join([*cells, str(len(fits['f1'])), over])} |")
    return lines


def _percent(fits: list[float]) -> str:
    shares = [100 * fit for fit in fits]
    return f"{sum(shares) / len(shares):.2f}{spread(shares)}".replace("+-", "±")


def _recovered(found: dict[str, Any]) -> list[str]:
    heads = ["votes", "mean", "tempered"]
    lines = [
        f"| | | {' | '.join(f'cross-entropy: {head}' for head in heads)} | JSD: votes | tempered "
        "| TVD: votes | tempered |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, held in found["conditions"].items():
        floors = held["floors"]
        for called, key in (("annotators themselves", "people"), ("prior of labels", "prior")):
            figures = [f"{floors[key][d]:.4f}" for d in ("cross-entropy", "JSD", "TVD")]
            cells = [name, called, "", figures[0], "", figures[1], "", figures[2], ""]
            lines.append(f"| {' | '.join(cells)} |")
            name = ""
        for model, of_model in held["models"].items():
            reads = of_model["reads"]
            figures = [f"{mean(reads[head]['cross-entropy']):.4f}" for head in heads]
            figures += [
                f"{mean(reads[head][distance]):.4f}"
                for distance in ("JSD", "TVD")
                for head in ("votes", "tempered")
            ]
            lines.append(f"|  | {' | '.join([SEEDBERT_MODELS[model].title, *figures])} |")
    return lines


def _less_one(found: dict[str, Any], heading: str) -> list[str]:
    """Ensembles less one network, all with temperature."""
    others = {SINGLE: "a single network", MEMBER: "its own first member"}
    lines = [
        f"| {heading} | | less | {' | '.join(DISTANCES)} |",
        "|---|---|---|--:|--:|--:|",
    ]
    for corpus in (name for name in seedbert.SOURCES if name in found):
        of_model, before = found[corpus], corpus
        for model in (name for name in ENSEMBLES if name in of_model):
            for other, words in others.items():
                tests = [of_model[model][other][distance] for distance in DISTANCES]
                cells = [before, SEEDBERT_MODELS[model].title, words, *map(interval, tests)]
                lines.append(f"| {' | '.join(cells)} |")
                before = ""
    return lines


def _members(found: dict[str, Any]) -> str:
    """Up to 20 members."""
    reads = ("votes", "mean", "tempered")
    lines = [
        f"| | members | accuracy | {' | '.join(f'cross-entropy: {read}' for read in reads)} "
        "| JSD: votes | tempered |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for corpus in (name for name in seedbert.SOURCES if name in found["number"]):
        many = {m: held for m, held in found["number"][corpus].items() if "more" in held}
        for model, held in sorted(many.items(), reverse=True):
            before = f"{corpus}, {SEEDBERT_MODELS[model].title}, {5 * held['repeats']} fits"
            for n in sorted((key for key in held if key.isdigit()), key=int):
                of_n = held[n]["reads"]
                cells = [before, n, f"{100 * held[n]['accuracy']:.2f}"]
                cells += [f"{of_n[read]['cross-entropy']:.4f}" for read in reads]
                cells += [f"{of_n[read]['JSD']:.4f}" for read in ("votes", "tempered")]
                lines.append(f"| {' | '.join(cells)} |")
                before = ""
            tests = [interval(held["more"][read]) for read in reads]
            lines.append(f"| {' | '.join(['', 'all less five', '', *tests, '', ''])} |")
    return "\n".join([*lines, ""])


def _looks(found: dict[str, Any]) -> str:
    """Whether members look, and answer, apart where annotators do."""
    lines = [
        "| | members differ in | accuracy | F1 of two members "
        "| of member and annotator, over shuffled | look apart where annotators do "
        "| answer apart where annotators do | one network's uncertainty does |",
        "|---|---|--:|--:|---|---|---|---|",
    ]
    for corpus, held in sorted(found["corpora"].items(), reverse=True):
        before = corpus
        for name in LOOKING:
            of_name, seen = held["conditions"][name], SEEN[name]
            apart = of_name["apart"]
            tests = [of_name["shuffled"], apart["looks"]["looks"]["given length"]]
            tests += [apart["answers"][who]["given length"] for who in ("answers", "one")]
            cells = [before, f"{seen.title} [{seen.seen_by}]", f"{of_name['accuracy']:.3f}"]
            cells += [f"{of_name['members']['mean']:.3f}", *map(looked, tests)]
            lines.append(f"| {' | '.join(cells)} |")
            before = ""
    made = f"`{found['command']}`, {found['date']}, {found['machine']}."
    return "\n".join([*lines, "", made, ""])


def _queries(found: dict[str, Any]) -> str:
    """The claims, and the scores of annotators by model and condition."""
    shown = qumatl.shown(found)
    claims = shown[shown.index("\nClaims\n") + 1 :].split("\n\n")[0].splitlines()
    lines = ["```", *(line for line in claims if not line.endswith("not tested yet")), "```"]
    for names in QUERY_CONDITIONS:
        conditions = {
            name: found["conditions"][name] for name in names if name in found["conditions"]
        }
        lines += ["", *_query_table(conditions)] if conditions else []
    return "\n".join([*lines, ""])


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


def _short(figure: float) -> str:
    return f"{figure:.3f}".removeprefix("0")


def _scores(figures: dict[str, Any]) -> str:
    """Scores of annotators; "-" where one is not defined, as DIC without common items."""
    cells = (
        f"{figures[metric]['mean']:.{digits}f}".removeprefix("0") if metric in figures else "-"
        for metric, digits in QUERY_METRICS.items()
    )
    return " / ".join(cells) if figures else ""


def updated(text: str) -> str:
    """The page with what is kept now."""
    whole = seedbert.report(RESULTS / "seedbert.json")
    of_queries = qumatl.report(RESULTS / "qumatl.json")
    made = {
        "soft-labels": soft_labels(report(RESULTS / "soft_labels.json")),
        "pos-tweets": _tweets(_script("pos_answers").read(RESULTS / "pos_tweets.json")),
        "seedbert": of_seedbert(whole),
        "seedbert-members": _members(whole),
        "qumatl": _queries(of_queries),
        "qumatl-simulated": _simulated(json.loads((RESULTS / "queries.json").read_text())),
        "seedbert-looks": _looks(seedbert.hypothesis(RESULTS / "seedbert_hypothesis.json")),
    }
    return BLOCK.sub(lambda block: f"{block[1]}{made[block[2]]}{block[3]}", text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
