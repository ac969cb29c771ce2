"""Report -> the paper's tables and claims as text, its figures next to ours."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.evaluation import number, p_text
from dissensus_papers.framework.declared import Claim
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.tables import (
    BEYOND,
    LEVEL,
    UNKNOWN,
    Block,
    claims_text,
    front_page,
    holds,
    interval,
    points,
    spread,
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


def claims(report: Report) -> str:
    """The claims of the paper, a line each."""
    every: tuple[Claim, ...] = (
        ("The accuracies of the paper can be reproduced", _met),
        ("MTL is better than STL with gold labels (Table 1)", lambda r: _beats(r, 1)),
        ("MTL is better than STL with the crowd's labels alone (Table 2)", lambda r: _beats(r, 2)),
        ("Inverse KL is the best of the losses", _best_loss),
        ("The crowd agrees more where only MTL is right than where only STL is right", _agreement),
        ("The soft-label task mitigates overfitting", _overfits_less),
        (
            f"{BEYOND}KL and cross-entropy have the same gradient, so should give the same model",
            _alike,
        ),
        (f"{BEYOND}do words without a vector explain the gap to the paper", _missing_vectors),
        (f"{BEYOND}is cross-validation that splits tweets too optimistic", _flatters),
        (f"{BEYOND}does Adam's state from the previous fold matter", _carried),
    )
    return claims_text(report, every)


def _of_table(report: Report, *tables: int) -> dict[str, Report]:
    conditions = report["conditions"]
    return {
        name: condition
        for name, condition in conditions.items()
        if CONDITIONS[name].table in tables
    }


def _met(report: Report) -> str:
    """How many printed accuracies we reach; for stems' silver labels the closer protocol counts."""
    below, n = [], 0
    for name, condition in _of_table(report, 1, 2).items():
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


def _beats(report: Report, table: int) -> str:
    """In how many comparisons MTL is more accurate, and where that is significant."""
    where_of: dict[str, list[str]] = {}
    higher = n = 0
    for name, condition in _of_table(report, table).items():
        for model, against in condition["against"].items():
            test = against["tests"]["gold"]["ours"]["accuracy"]
            where_of.setdefault(holds(test), []).append(f"{_short(model)} in {name}")
            higher, n = higher + (number(test["effect"]) > 0), n + 1
    if not n:
        return ""
    parts = [
        f"{words}: {', '.join(where)}" for words, where in where_of.items() if words != UNKNOWN
    ]
    return "; ".join([f"its accuracy is higher in {higher} of {n}", *parts])


def _short(model: str) -> str:
    return MODELS[model].removeprefix("MTL + ")


def _best_loss(report: Report) -> str:
    """Which MTL model has the highest accuracy in each condition."""
    best = {}
    for name, condition in _of_table(report, 1, 2).items():
        scores = {
            model: of_model["pooled"]["gold"]["accuracy"]
            for model, of_model in condition["models"].items()
            if model != BASELINE
        }
        if len(scores) == len(MODELS) - 1:
            best[name] = max(scores, key=lambda model: scores[model])
    if not best:
        return ""
    n = sum(model == "inverse-kl" for model in best.values())
    others = [f"{_short(model)} in {name}" for name, model in best.items()]
    return f"it is best in {n} of {len(best)} (best loss: {', '.join(others)})"


def _agreement(report: Report) -> str:
    """The direction of every comparison of the mixed cells, and how many are significant."""
    more, less, n = [], 0, 0
    for name, condition in _of_table(report, 1, 2).items():
        for model, against in condition["against"].items():
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
    smaller = {"chosen": 0, "last": 0}
    larger, n = {"chosen": 0, "last": 0}, 0
    for condition in _of_table(report, 1, 2).values():
        for against in condition["against"].values():
            n += 1
            for when, gap in against["gap"].items():
                smaller[when] += number(gap["high"]) < 0
                larger[when] += number(gap["low"]) > 0
    if not n:
        return ""
    parts = [
        f"at the {when} epoch the gap of losses is significantly smaller in {smaller[when]} of {n} "
        f"comparisons, larger in {larger[when]}"
        for when in ("chosen", "last")
    ]
    return "; ".join(parts)


def _alike(report: Report) -> str:
    """How far two models are apart that differ only by rounding, per run and over all runs."""
    apart = {}
    for name, condition in _of_table(report, 1, 2).items():
        both = [
            condition["models"][model]["fits"]
            for model in ("kl", "ce")
            if model in condition["models"]
        ]
        if len(both) == 2:
            runs = [[fit["scores"]["gold"]["accuracy"] for fit in fits] for fits in both]
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
    for name, condition in _of_table(report, 1, 2).items():
        share = number(condition["with_vector"])
        if np.isnan(share):
            continue
        below = {
            model: TABLES[name][model].accuracy - 100 * of_model["pooled"]["gold"]["accuracy"]
            for model, of_model in condition["models"].items()
        }
        lost = {
            model: 100
            * (number(of_model["words"]["with"]) - of_model["pooled"]["gold"]["accuracy"])
            for model, of_model in condition["models"].items()
        }
        parts.append(
            f"{name} {_range(lost.values())} points (ours is {_range(below.values())} lower)"
        )
    if not parts:
        return ""
    return (
        "if they were tagged as well as other words, accuracy would be higher by: "
        f"{'; '.join(parts)}. This is no proof: such words are harder in themselves"
    )


def _range(values: Iterable[float]) -> str:
    least, most = min(listed := list(values)), max(listed)
    return f"{least:.1f} to {most:.1f}"


def _flatters(report: Report) -> str:
    return _accuracies(report, "pos-cv-tweets", "by tweet", "by token")


def _carried(report: Report) -> str:
    return _accuracies(report, "pos-cv-fresh", "with a new Adam for every fold", "as published")


def _accuracies(report: Report, other: str, this: str, that: str) -> str:
    """The accuracy of every model in a condition that we add, and in the one that it varies."""
    conditions = report["conditions"]
    if other not in conditions or "pos-cv" not in conditions:
        return ""
    pairs = []
    for model in MODELS:
        both = [conditions[name]["models"].get(model) for name in (other, "pos-cv")]
        if all(both):
            scores = [100 * of_model["pooled"]["gold"]["accuracy"] for of_model in both if of_model]
            pairs.append(f"{MODELS[model]} {scores[0]:.2f} vs. {scores[1]:.2f}")
    return f"{this} vs. {that}: {', '.join(pairs)}" if pairs else ""


HEADINGS = {
    1: "Table 1: gold labels and soft labels",
    2: "Table 2: silver labels (the crowd's majority) and soft labels",
    0: "Beyond the paper: the same with one change",
}
WHAT = ("paper", "ours", "diff")
STARS = ((0.01, "**"), (0.05, "*"))
WORDS = (
    "Word vectors are GloVe with 100 numbers, not 300, and character vectors start at random: "
    "the paper's files of both are not public."
)


def shown(report: Report, width: int | None = None) -> str:
    """All tables of a report, and its claims.

    Args:
        width: of a terminal; nothing is broken if left out.
    """
    parts: list[str | Block] = [_about(report)]
    for table in (1, 2):
        parts.append(_table(report, table))
    parts += [_cells_table(report), _gap_table(report), _table(report, 0), _words_table(report)]
    parts.append(claims(report))
    return written(parts, width)


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


def _table(report: Report, table: int) -> str | Block:
    """A block for each condition: the paper's figures, ours, the difference, stars, verdicts."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        condition = CONDITIONS[name]
        if condition.table != table:
            continue
        for kind in condition.tested:
            rows.append([_title(condition, kind) + _fewer(report, block)])
            if kind == "gold" and name in EARLIER:
                earlier, accuracy = EARLIER[name]
                rows.append([f"  {earlier}", f"{accuracy:.2f}", *[""] * 7])
            most = f"{100 * block['majority'][kind]:.2f}"
            rows.append(["  always the most frequent label", "", most, *[""] * 6])
            rows += [_row(name, model, block, kind) for model in MODELS if model in block["models"]]
    if not rows:
        return ""
    names = [f"{metric}: {what}" for metric in ("accuracy", "F1") for what in WHAT]
    names = ["", *names, "within 1.5", "MTL over STL"]
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
    return Block(HEADINGS[table], [names, *rows], notes)


def _title(condition: SoftLabelsCondition, kind: str) -> str:
    if len(condition.tested) == 1:
        return f"{condition.title} ({condition.name})"
    against = "gold, as the paper says" if kind == "gold" else "the majority, as in its code"
    return f"{condition.title} ({condition.name}), tested on {against}"


def _fewer(report: Report, block: Report) -> str:
    """How many runs a condition has, where others have more."""
    n, most = len(block["seeds"]), len(report["seeds"])
    return f", {n} of {most} runs so far" if n < most else ""


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
        paper = _paper(printed, metric)
        difference = f"{ours - getattr(printed, metric):+.2f}" if printed else ""
        cells += [paper, f"{ours:.2f}{stars}{runs}", difference]
    met = ""
    if printed is not None:
        met = "yes" if printed.accuracy / 100 - pooled["accuracy"] <= NEAR + 1e-9 else "no"
    return [*cells, met, _over(against["ours"]["accuracy"]) if against else ""]


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


def _over(test: Report) -> str:
    """How much more accurate a model is than STL, and whether that holds."""
    return f"{points(test, 'seed')}: {holds(test)}"


# ---- Table 3 ----


def _cells_table(report: Report) -> str | Block:
    """Which models are right, and how much the crowd agrees there."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        if not any(sum(a["cells"]["n"].values()) for a in block["against"].values()):
            continue
        what = "entropy" if CONDITIONS[name].corpus == STEMS else "kurtosis"
        rows.append([f"{CONDITIONS[name].title} ({name}), {what}"])
        if name == KURTOSIS_CONDITION:
            printed = [f"{KURTOSIS[cell]:.3f}" for cell in CELLS]
            rows.append([f"  paper, {MODELS[KURTOSIS_MODEL]}", *printed, "p <= 0.05"])
        for model, against in block["against"].items():
            cells, p = against["cells"], number(against["cells"]["mann_whitney"])
            figures = [
                f"{number(cells['mean'][cell]):.3f} ({cells['n'][cell]:,})"
                if cells["n"][cell]
                else "-"
                for cell in CELLS
            ]
            rows.append([f"  {MODELS[model]}", *figures, f"p {p_text(p)}"])
    if not rows:
        return ""
    names = ["", *CELLS, "only MTL, only STL"]
    notes = (
        "Mean excess kurtosis of the soft label: high where the crowd agrees. With two values it "
        "is always -2, so stems have the entropy in nats: low where the crowd agrees.\n"
        "In brackets: number of predictions over all runs. p: Mann-Whitney test, which treats them "
        "as independent, as the paper does."
    )
    return Block("Table 3: agreement of the crowd where models are right", [names, *rows], notes)


# ---- words ----


def _words_table(report: Report) -> str | Block:
    """How accurate models are on words with a vector, and on those without."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        share = number(block["with_vector"])
        if np.isnan(share):
            continue
        about = f"{100 * share:.1f} % of {block['n_items']:,} words have a vector"
        rows.append([f"{CONDITIONS[name].title} ({name}): {about}"])
        for model, of_model in block["models"].items():
            each = (of_model["words"]["with"], of_model["words"]["without"])
            ours = [f"{100 * number(figure):.2f}" for figure in each]
            every = f"{100 * of_model['pooled']['gold']['accuracy']:.2f}"
            paper = _paper(TABLES.get(name, {}).get(model), "accuracy").rstrip("*")
            rows.append([f"  {MODELS[model]}", *ours, every, paper])
    if not rows:
        return ""
    names = ["", "with a vector", "without", "all", "all, in the paper"]
    heading = "Words with and without a vector in the file of GloVe: accuracy on gold, in percent"
    return Block(heading, [names, *rows])


# ---- overfitting ----


def _gap_table(report: Report) -> str | Block:
    """The main task's loss on the development part less that in training."""
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        rows.append([f"{CONDITIONS[name].title} ({name})"])
        for model, of_model in block["models"].items():
            cells = [f"  {MODELS[model]}"]
            for when in ("chosen", "last"):
                gaps = [fit["gap"][when] for fit in of_model["fits"]]
                against = block["against"].get(model)
                less = _difference_of_gaps(against["gap"][when]) if against else ""
                cells += [f"{np.mean(gaps):.3f}", less]
            rows.append(cells)
    names = ["", "chosen epoch", "chosen less STL's", "last epoch", "last less STL's"]
    heading = (
        "Overfitting: the main task's loss (nats) on the development part less that in training"
    )
    return Block(heading, [names, *rows], "Intervals: 95 % over seeds, not corrected.")


def _difference_of_gaps(test: Report) -> str:
    """With its interval, if there are several seeds."""
    if np.isnan(number(test["low"])):
        return f"{number(test['effect']):+.3f}"
    return interval(test, digits=3)
