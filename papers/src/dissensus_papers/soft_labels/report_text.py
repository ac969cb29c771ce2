"""Report -> the paper's tables and claims as text, its figures next to ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from dissensus.evaluation import number, p_text
from dissensus.tables import Table
from dissensus_papers.framework.declared import Claim
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import (
    BEYOND,
    LEVEL,
    UNKNOWN,
    claims_text,
    front_page,
    holds,
    interval,
    points,
    spread,
    table,
    written,
)
from dissensus_papers.soft_labels.protocol import (
    BASELINE,
    CELLS,
    CONDITIONS,
    EARLIER,
    KURTOSIS,
    KURTOSIS_CONDITION,
    KURTOSIS_MODEL,
    MODELS,
    NEAR,
    STEMS,
    TABLES,
    TITLE,
    Printed,
    SoftLabelsCondition,
)

HEADINGS = {
    1: "Table 1: gold labels and soft labels",
    2: "Table 2: silver labels (the crowd's majority) and soft labels",
    0: "Beyond the paper: the same with one change",
}
STARS = ((0.01, "**"), (0.05, "*"))
WORDS = (
    "Word vectors are GloVe with 100 numbers, not 300, and character vectors start at random: "
    "the paper's files of both are not public."
)


def shown(report: Report, width: int | None = None) -> str:
    """All tables of a report, and its claims; `width` of a terminal breaks lines."""
    parts: list[Table | str] = [_about(report), _table(report, 1), _table(report, 2)]
    parts += [_cells_table(report), _gap_table(report), _table(report, 0), _words_table(report)]
    return written([*parts, claims(report)], width)


def _about(report: Report) -> str:
    n, left_out = len(report["seeds"]), report["left_out"]
    more = f"{left_out} more fits are done, but not with every model; they are not counted."
    encoders = [
        str(model["settings"].get("encoder"))
        for condition in report["conditions"].values()
        for model in condition["models"].values()
    ]
    vectors = WORDS if any(name.startswith("tagger:") for name in encoders) else ""
    runs = f"{n} run{'s' * (n != 1)}, seeds {', '.join(map(str, report['seeds']))}; "
    return front_page(report, TITLE, more if left_out else "", vectors, before=runs)


# ---- Tables 1 and 2, and ours ----


def _table(report: Report, number_: int) -> Table | str:
    """A block for each condition: the paper's figures, ours, the difference, stars, verdicts."""
    rows: list[list[str]] = []
    for name, block in _of_table(report, number_):
        condition = CONDITIONS[name]
        for kind in condition.tested:
            n, most = len(block["seeds"]), len(report["seeds"])
            fewer = f", {n} of {most} runs so far" if n < most else ""
            rows.append([_title(condition, kind) + fewer])
            if kind == "gold" and name in EARLIER:
                earlier, accuracy = EARLIER[name]
                rows.append([f"  {earlier}", f"{accuracy:.2f}", *[""] * 7])
            frequent = f"{100 * block['majority'][kind]:.2f}"
            rows.append(["  always the most frequent label", "", frequent, *[""] * 6])
            rows += [_row(name, model, block, kind) for model in MODELS if model in block["models"]]
    names = [f"{metric}: {what}" for metric in ("accuracy", "F1") for what in
             ("paper", "ours", "diff")]  # fmt: skip
    notes = (
        "Accuracy and macro-F1 in percent over the predictions of all folds and runs; +- is the "
        'standard deviation over runs; diff is ours less the paper\'s, in points. "within 1.5": '
        "our accuracy is at most 1.5 points below the paper's, or above it.\n"
        "Stars: better than STL by the paper's own test, * p <= 0.05, ** p <= 0.01. It treats the "
        "ten answers to an item as independent.\n"
        "MTL over STL is our test: points of accuracy that MTL gains, with a 95 % interval over "
        "seeds and items. p is corrected for multiple comparisons (Holm); "
        '"holds": p is at most 0.05.'
    )
    return table(HEADINGS[number_], ["", *names, "within 1.5", "MTL over STL"], rows, notes)


def _of_table(report: Report, *tables: int) -> Iterator[tuple[str, Report]]:
    for name, condition in report["conditions"].items():
        if CONDITIONS[name].table in tables:
            yield name, condition


def _title(condition: SoftLabelsCondition, kind: str) -> str:
    if len(condition.tested) == 1:
        return f"{condition.title} ({condition.name})"
    against = "gold, as the paper says" if kind == "gold" else "the majority, as in its code"
    return f"{condition.title} ({condition.name}), tested on {against}"


def _row(name: str, model: str, block: Report, kind: str) -> list[str]:
    pooled = block["models"][model]["pooled"][kind]
    fits = [fit["scores"][kind] for fit in block["models"][model]["fits"]]
    against = block["against"].get(model, {}).get("tests", {}).get(kind)
    printed = TABLES.get(name, {}).get(model)
    cells = [f"  {MODELS[model]}"]
    for metric in ("accuracy", "f1"):
        ours = 100 * pooled[metric]
        stars = _stars(against, metric) if against else ""
        runs = spread([100 * fit[metric] for fit in fits])
        difference = f"{ours - getattr(printed, metric):+.2f}" if printed else ""
        cells += [_paper(printed, metric), f"{ours:.2f}{stars}{runs}", difference]
    met, over = "", ""
    if printed is not None:
        met = "yes" if printed.accuracy / 100 - pooled["accuracy"] <= NEAR + 1e-9 else "no"
    if against:
        test = against["ours"]["accuracy"]
        over = f"{points(test, 'seed')}: {holds(test)}"
    return [*cells, met, over]


def _paper(printed: Printed | None, metric: str) -> str:
    if printed is None:
        return "-"
    stars = printed.stars if metric == "accuracy" else printed.f1_stars
    return f"{getattr(printed, metric):.2f}{stars}"


def _stars(against: Report, metric: str) -> str:
    """By the paper's test, which is one-sided: is MTL better?"""
    p = number(against["published"][metric])
    if not number(against["ours"][metric]["effect"]) > 0:
        return ""
    return next((stars for level, stars in STARS if p <= level), "")


# ---- Table 3, words, overfitting ----


def _cells_table(report: Report) -> Table | str:
    """Which models are right, and how much the crowd agrees there."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        if not any(sum(a["cells"]["n"].values()) for a in block["against"].values()):
            continue
        what = "entropy" if CONDITIONS[name].corpus == STEMS else "kurtosis"
        rows.append([f"{CONDITIONS[name].title} ({name}), {what}"])
        if name == KURTOSIS_CONDITION:
            printed = [f"{figure:.3f}" for figure in KURTOSIS]
            rows.append([f"  paper, {MODELS[KURTOSIS_MODEL]}", *printed, "p <= 0.05"])
        for model, against in block["against"].items():
            cells, p = against["cells"], number(against["cells"]["mann_whitney"])
            each = [(number(cells["mean"][cell]), cells["n"][cell]) for cell in CELLS]
            figures = [f"{mean:.3f} ({n:,})" if n else "-" for mean, n in each]
            rows.append([f"  {MODELS[model]}", *figures, f"p {p_text(p)}"])
    notes = (
        "Mean excess kurtosis of the soft label: high where the crowd agrees. With two values it "
        "is always -2, so stems have the entropy in nats: low where the crowd agrees.\n"
        "In brackets: number of predictions over all runs. p: Mann-Whitney test, which treats them "
        "as independent, as the paper does."
    )
    heading = "Table 3: agreement of the crowd where models are right"
    return table(heading, ["", *CELLS, "only MTL, only STL"], rows, notes)


def _words_table(report: Report) -> Table | str:
    """How accurate models are on words with a vector, and on those without."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        share = number(block["with_vector"])
        if np.isnan(share):
            continue
        about = f"{100 * share:.1f} % of {block['n_items']:,} words have a vector"
        rows.append([f"{CONDITIONS[name].title} ({name}): {about}"])
        for model, of_model in block["models"].items():
            each = [number(of_model["words"][side]) for side in ("with", "without")]
            each.append(of_model["pooled"]["gold"]["accuracy"])
            paper = _paper(TABLES.get(name, {}).get(model), "accuracy").rstrip("*")
            ours = [f"{100 * figure:.2f}" for figure in each]
            rows.append([f"  {MODELS[model]}", *ours, paper])
    names = ["", "with a vector", "without", "all", "all, in the paper"]
    heading = "Words with and without a vector in the file of GloVe: accuracy on gold, in percent"
    return table(heading, names, rows)


def _gap_table(report: Report) -> Table | str:
    """The main task's loss on the development part less that in training."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        rows.append([f"{CONDITIONS[name].title} ({name})"])
        for model, of_model in block["models"].items():
            cells = [f"  {MODELS[model]}"]
            for when in ("chosen", "last"):
                less = ""
                if model in block["against"]:
                    test = block["against"][model]["gap"][when]
                    several = not np.isnan(number(test["low"]))  # seeds
                    less = interval(test, digits=3) if several else f"{number(test['effect']):+.3f}"
                cells += [f"{np.mean([fit['gap'][when] for fit in of_model['fits']]):.3f}", less]
            rows.append(cells)
    names = ["", "chosen epoch", "chosen less STL's", "last epoch", "last less STL's"]
    heading = (
        "Overfitting: the main task's loss (nats) on the development part less that in training"
    )
    return table(heading, names, rows, "Intervals: 95 % over seeds, not corrected.")


# ---- claims ----


def claims(report: Report) -> str:
    """The claims of the paper, a line each."""
    every: tuple[Claim, ...] = (
        ("The accuracies of the paper can be reproduced", _met),
        ("MTL is better than STL with gold labels (Table 1)", lambda r: _beats(r, 1)),
        ("MTL is better than STL with the crowd's labels alone (Table 2)", lambda r: _beats(r, 2)),
        ("Inverse KL is the best of the losses", _best_loss),
        ("The crowd agrees more where only MTL is right than where only STL is right", _agreement),
        ("The soft-label task mitigates overfitting", _overfits_less),
        (f"{BEYOND}KL and cross-entropy have the same gradient, so should give the same model",
         _alike),
        (f"{BEYOND}do words without a vector explain the gap to the paper", _missing_vectors),
        (f"{BEYOND}is cross-validation that splits tweets too optimistic",
         lambda r: _accuracies(r, "pos-cv-tweets", "by tweet", "by token")),
        (f"{BEYOND}does Adam's state from the previous fold matter", lambda r: _accuracies(
            r, "pos-cv-fresh", "with a new Adam for every fold", "as published")),
    )  # fmt: skip
    return claims_text(report, every)


def _against(report: Report, *tables: int) -> Iterator[tuple[str, str, Report]]:
    """Each MTL model compared with STL: condition, model, comparison."""
    for name, condition in _of_table(report, *tables):
        for model, against in condition["against"].items():
            yield name, model, against


def _accuracy(of_model: Report) -> float:
    return float(of_model["pooled"]["gold"]["accuracy"])


def _met(report: Report) -> str:
    """How many printed accuracies we reach; for stems' silver labels the closer protocol counts."""
    below, n = [], 0
    for name, condition in _of_table(report, 1, 2):
        for model, of_model in condition["models"].items():
            n += 1
            best = max(pooled["accuracy"] for pooled in of_model["pooled"].values())
            missing = TABLES[name][model].accuracy / 100 - best
            if missing > NEAR + 1e-9:
                below.append(f"{MODELS[model]} in {name} by {100 * missing:.1f}")
    if not n:
        return ""
    tail = f"; further below: {', '.join(below)}" if below else ""
    return f"{n - len(below)} of {n} accuracies are at most 1.5 points below the paper{tail}"


def _beats(report: Report, number_: int) -> str:
    """In how many comparisons MTL is more accurate, and where that is significant."""
    where_of: dict[str, list[str]] = {}
    higher = n = 0
    for name, model, against in _against(report, number_):
        test = against["tests"]["gold"]["ours"]["accuracy"]
        where_of.setdefault(holds(test), []).append(f"{_short(model)} in {name}")
        higher, n = higher + (number(test["effect"]) > 0), n + 1
    if not n:
        return ""
    sure = [f"{words}: {', '.join(where)}" for words, where in where_of.items() if words != UNKNOWN]
    return "; ".join([f"its accuracy is higher in {higher} of {n}", *sure])


def _short(model: str) -> str:
    return MODELS[model].removeprefix("MTL + ")


def _best_loss(report: Report) -> str:
    """Which MTL model has the highest accuracy in each condition."""
    best = {}
    for name, condition in _of_table(report, 1, 2):
        scores = {m: _accuracy(of) for m, of in condition["models"].items() if m != BASELINE}
        if len(scores) == len(MODELS) - 1:
            best[name] = max(scores, key=lambda model: scores[model])  # noqa: B023
    if not best:
        return ""
    n = sum(model == "inverse-kl" for model in best.values())
    others = [f"{_short(model)} in {name}" for name, model in best.items()]
    return f"it is best in {n} of {len(best)} (best loss: {', '.join(others)})"


def _agreement(report: Report) -> str:
    """The direction of every comparison of the mixed cells, and how many are significant."""
    more, less, n = [], 0, 0
    for name, model, against in _against(report, 1, 2):
        cells = against["cells"]
        mine, theirs = (number(cells["mean"][c]) for c in ("only MTL right", "only STL right"))
        if np.isnan(mine) or np.isnan(theirs):
            continue
        n += 1
        agrees = mine < theirs if CONDITIONS[name].corpus == STEMS else mine > theirs
        significant = number(cells["mann_whitney"]) <= LEVEL
        less += (not agrees) and significant
        if agrees:
            more.append(f"{_short(model)} in {name}{'*' * significant}")
    if not n:
        return ""
    named = f" ({', '.join(more)}; * p <= 0.05)" if more else ""
    return f"true in {len(more)} of {n}{named}; significantly the reverse in {less}"


def _overfits_less(report: Report) -> str:
    """Whether the gap is significantly smaller."""
    gaps = [against["gap"] for _, _, against in _against(report, 1, 2)]
    parts = []
    for when in ("chosen", "last"):
        smaller = sum(number(gap[when]["high"]) < 0 for gap in gaps)
        larger = sum(number(gap[when]["low"]) > 0 for gap in gaps)
        parts.append(
            f"at the {when} epoch the gap of losses is significantly smaller in {smaller} of "
            f"{len(gaps)} comparisons, larger in {larger}"
        )
    return "; ".join(parts) if gaps else ""


def _alike(report: Report) -> str:
    """How far two models are apart that differ only by rounding, per run and over all runs."""
    apart = {}
    for name, condition in _of_table(report, 1, 2):
        if {"kl", "ce"} <= set(condition["models"]):
            runs = [
                [fit["scores"]["gold"]["accuracy"] for fit in condition["models"][model]["fits"]]
                for model in ("kl", "ce")
            ]
            apart[name] = 100 * (np.array(runs[0]) - np.array(runs[1]))
    same = [name for name, differences in apart.items() if not differences.any()]
    other = {name: differences for name, differences in apart.items() if differences.any()}
    parts = [f"they do in every run of {', '.join(same)}"] if same else []
    if other:
        single = np.abs(np.concatenate(list(other.values())))
        most = max(other, key=lambda name: abs(other[name].mean()))
        parts.append(
            f"in {', '.join(other)}, they differ only by rounding (the order of sums varies on a "
            f"GPU); accuracies of one seed are {single.mean():.2f} points apart on average and "
            f"{single.max():.2f} at most, means over runs up to {abs(other[most].mean()):.2f} "
            f"({most}), so a difference of this size means nothing"
        )
    return "; ".join(parts)


def _missing_vectors(report: Report) -> str:
    """What accuracy would be if words without a vector were tagged as well as those with one."""
    parts = []
    for name, condition in _of_table(report, 1, 2):
        if np.isnan(number(condition["with_vector"])):
            continue
        models = condition["models"].items()
        below = _range(TABLES[name][m].accuracy - 100 * _accuracy(of) for m, of in models)
        lost = _range(100 * (number(of["words"]["with"]) - _accuracy(of)) for _, of in models)
        parts.append(f"{name} {lost} points (ours is {below} lower)")
    if not parts:
        return ""
    return (
        "if they were tagged as well as other words, accuracy would be higher by: "
        f"{'; '.join(parts)}. This is no proof: such words are harder in themselves"
    )


def _range(values: Iterable[float]) -> str:
    least, most = min(listed := list(values)), max(listed)
    return f"{least:.1f} to {most:.1f}"


def _accuracies(report: Report, other: str, this: str, that: str) -> str:
    """The accuracy of every model in a condition that we add, and in the one that it varies."""
    ours, theirs = (report["conditions"].get(n, {}).get("models", {}) for n in (other, "pos-cv"))
    pairs = [
        f"{MODELS[m]} {100 * _accuracy(ours[m]):.2f} vs. {100 * _accuracy(theirs[m]):.2f}"
        for m in MODELS
        if m in ours and m in theirs
    ]
    return f"{this} vs. {that}: {', '.join(pairs)}" if pairs else ""
