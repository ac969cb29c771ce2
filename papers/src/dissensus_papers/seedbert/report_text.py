"""Report -> the paper's claims and our additional questions, judged; and tables as text, with the
paper's figures next to ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dissensus.evaluation import number
from dissensus_papers.framework.claims import Claim, Evidence
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import BEYOND, Section, extremes, interval, spread
from dissensus_papers.seedbert.analysis import ANNOTATOR_PRIOR, ANNOTATORS, ENSEMBLES
from dissensus_papers.seedbert.emotions import KAPPA, QUESTIONS
from dissensus_papers.seedbert.outcomes import BY, DISTANCES, MEAN, READ_OUTS, TEMPERED, VOTES
from dissensus_papers.seedbert.protocol import (
    ALIKE,
    CONDITIONS,
    DEEP,
    MODELS,
    SEEDS,
    SINGLE,
    SOURCES,
    TABLE,
    TABLE_4,
)

POINTS, NATS = 0.02, 0.01  # the smallest differences of F1 and of distances that matter
CORRELATION = 0.1  # the smallest one that matters
TUNED = ("chosen", "paper")  # kinds of conditions
UNIFORM = 0.9  # a mean entropy above this share of the highest


def _conditions(report: Report, *kinds: str) -> Iterator[tuple[str, str, Report]]:
    """The conditions of these kinds: name, what a table calls it, figures."""
    for name, block in report["conditions"].items():
        if CONDITIONS[name].kind in kinds:
            yield name, f"{name}, {block['n_items']:,} items", block


def _outperforms(report: Report, model: str) -> list[Evidence]:
    tests = []
    for _, where, block in _conditions(report, *TUNED):
        if not {model, SEEDS} <= set(block["models"]):
            continue
        ours, theirs = (float(np.mean(block["models"][name]["fits"]["f1"]))
                        for name in (SEEDS, model))  # fmt: skip
        lost = {"effect": ours - theirs, "p": None, "reason": "scores of single items are not kept"}
        test = block["against"].get(model, {}).get("f1", lost)
        if max(ours, theirs) < np.mean(block["floors"]["majority"]["f1"]) + POINTS:
            test = test | {"p": None, "reason": "both answer the most frequent label"}
        tests.append(Evidence(where, "macro-F1", test, POINTS))
    return tests


def _each(
    score: str, matters: float, sign: int, test: Callable[[Report], Any], *kinds: str
) -> Callable[[Report], list[Evidence]]:
    """The test of each condition of these kinds, of chosen and the paper's settings if none is
    named; `test` returns nothing where there is none."""
    return lambda report: [
        Evidence(where, score, difference, matters, sign)
        for _, where, block in _conditions(report, *kinds or TUNED)
        if (difference := test(block))
    ]


def _apart(report: Report) -> list[Evidence]:
    """Where members look apart, or answer apart, in items with marks of what annotators saw."""
    return [
        Evidence(f"{corpus}, {block['n_items']:,} items: {what} apart", "correlation",
                 block["conditions"][SEEDS][what], CORRELATION)
        for corpus, block in report.get("looks", {}).items()
        for what in ("look", "answer")
    ]  # fmt: skip


# ---- judged in words ----


def _near_uniform(report: Report) -> str:
    entropy, annotators = {}, []
    for name, _, block in _conditions(report, *TUNED):
        if SINGLE in block["models"]:
            entropy[name] = float(np.mean(block["models"][SINGLE]["reads"][MEAN]["entropy"]))
            annotators.append(number(block["floors"][ANNOTATORS]["entropy"]))
    if not entropy:
        return ""
    uniform = [name for name, height in entropy.items() if height > UNIFORM]
    where = f" ({', '.join(uniform)})" if uniform else ""
    return (
        f"true in {len(uniform)} of {len(entropy)}{where}, by an entropy above {UNIFORM} of the "
        f"maximum; it is {extremes(entropy.values(), 2)} of it, that of annotators "
        f"{extremes(annotators, 2)}"
    )


def _biased(report: Report) -> str:
    biases = [block["models"].get(SEEDS, {}).get("biases")
              for _, _, block in _conditions(report, *TUNED)]  # fmt: skip
    known = [each for each in biases if each]
    annotators = [each["sd"] for each in report[ANNOTATORS].values() if each]
    if not known:
        return ""
    theirs = f"{extremes([100 * sd for sd in annotators], 1)} points" if annotators else "not known"
    return (
        "standard deviation of how often an answer is given: members "
        f"{extremes([100 * each['sd'] for each in known], 1)} points, annotators {theirs}; members "
        f"differ by more than chance in {extremes([100 * each['differ'] for each in known], 0)} % "
        f"of the fits of {len(known)} conditions"
    )


def _agree_less(report: Report) -> str:
    kappas = report["kappas"]
    if not kappas:
        return ""
    lower = kappas["most"] < min(kappas["any"], kappas["all"])
    figures = ", ".join(f"{name} {kappas[name]:.2f}" for name in ("any", "most", "all"))
    printed = ", ".join(f"{KAPPA[name]:.2f}" for name in ("any", "most", "all"))
    return f"{'true' if lower else 'not so'} on snow2008 (kappa: {figures}; the paper: {printed})"


# ---- all of them ----

_TABLE_4 = tuple(n for n, each in CONDITIONS.items() if each.kind in TUNED)
_CHOSEN = tuple(name for name in _TABLE_4 if CONDITIONS[name].kind == "chosen")
_AGAIN = tuple(name for name, source in SOURCES.items() if source.again)
_WITH_IDS = tuple(name for name, source in SOURCES.items()
                  if source.folder == "lewidi2023" and name not in _AGAIN)  # fmt: skip
CLAIMS = (
    *(Claim(f"SeedBERT outperforms {MODELS[model].title} (Table 4)",
            partial(_outperforms, model=model), _TABLE_4)
      for model in TABLE_4 if model != SEEDS),
    Claim("Its votes are closer to the annotators than one network's distribution (Figure 3)",
          _each("JSD, nats", NATS, -1, lambda b: b["recovery"][SINGLE].get("JSD")), _TABLE_4),
    Claim("A single network predicts near-uniform distributions whatever the input",
          _near_uniform, _TABLE_4),
    Claim("Members are biased towards certain answers, as annotators are", _biased, _TABLE_4),
    Claim("Annotators agree less on what is most present (Table 1)", _agree_less,
          ("snow2008-affect",)),
    Claim("Where they name different emotions, these are neighbours on the circumplex more "
          "often than by chance (Table 2)",
          lambda r: [Evidence(f"{name}, {test['n_items']:,} items", "share of pairs", test, POINTS)
                     for name, test in r.get("neighbours", {}).items()], ("snow2008-affect",)),
    Claim("Annotators with different answers rest on different parts (Table 3): F1 of the "
          "marks of two with the same type of toxicity less that of two with different ones",
          lambda r: [Evidence(f"toxic_spans, {test['n_items']:,} texts", "F1 of characters", test,
                              POINTS) for test in [r.get("evidence")] if test]),
    Claim("Members are apart where annotators are: Spearman's correlation over items", _apart),
    Claim("What is known of an annotator improves the prediction of their answers",
          _each(f"{BY} of an answer", NATS, -1, lambda b: b.get("specific", {}).get("test")),
          _WITH_IDS),
    Claim(f"{BEYOND}SeedBERT outperforms one network with the same rate and epochs",
          partial(_outperforms, model=ALIKE), tuple(n for n in _CHOSEN if n.endswith("-alike"))),
    Claim(f"{BEYOND}seeds of the last layer are as close as a deep ensemble of as many",
          _each(f"{BY}, with temperature", NATS, 0,
                lambda b: b["recovery"][DEEP].get(TEMPERED, {}).get(BY), "chosen"),
          _CHOSEN),
    Claim(f"{BEYOND}ensembles are closer than one network, all with temperature, on other items",
          lambda r: [Evidence(f"{MODELS[model].title}: {name}", BY, of[model][SINGLE][BY], NATS, -1)
                     for model in ENSEMBLES for name, of in r["again"].items() if model in of],
          _AGAIN),
)  # fmt: skip

# ---- tables ----

KINDS = {"chosen": "settings chosen", "paper": "the paper's rate and epochs", "many": "20 members"}
READS = {VOTES: "votes", MEAN: "mean probability", TEMPERED: "mean, with temperature"}
SCORES = {"accuracy": "accuracy", "f1": "F1"}
Rows = Iterator[list[str]]


def title(name: str, block: Report) -> str:
    """A condition, as the heading of its rows."""
    condition = CONDITIONS[name]
    kind = f"{KINDS[condition.kind]}{', encoder frozen' * condition.frozen}"
    return f"{condition.corpus}, {kind} ({block['n_items']:,} items)"


def figures(values: Iterable[Any], digits: int = 4) -> list[str]:
    """Figures as cells; "-" where one is undefined."""
    known = [number(value) for value in values]
    return ["-" if np.isnan(value) else f"{value:.{digits}f}" for value in known]


# ---- by condition ----


def _table_4(report: Report) -> Rows:
    yield ["As printed: the paper's own corpus (500 clips, six emotions)"]
    for model, printed in TABLE.items():
        cells = [f"{100 * score:.2f}" for score in printed]
        yield [f"  {MODELS[model].title}", *cells, "25", "", ""]
    for name, block in report["conditions"].items():
        if CONDITIONS[name].kind == "many":
            continue
        yield [title(name, block)]
        floor = [_percent(block["floors"]["majority"][score]) for score in SCORES]
        yield ["  always the most frequent label", *floor, "", "", ""]
        for model, of_model in block["models"].items():
            fits, tests = of_model["fits"], block["against"].get(model)
            cells = [_percent(fits[score]) for score in SCORES]
            over = [interval(tests[score], 100, 2) if tests else "" for score in SCORES]
            yield [f"  {MODELS[model].title}", *cells, str(len(fits["accuracy"])), *over]


def _percent(fits: list[float]) -> str:
    shares = [100 * number(fit) for fit in fits]
    return f"{np.mean(shares):.2f}{spread(shares)}"


def _values(report: Report) -> Rows:
    for name, block in report["conditions"].items():
        models = {m: of["values"] for m, of in block["models"].items() if "values" in of}
        if len(block["values"]) > 2 and models:
            yield [f"{title(name, block)}: {', '.join(block['values'])}"]
            for model, scores in models.items():
                cells = "  ".join(f"{100 * score:.1f}" for score in scores)
                yield [f"  {MODELS[model].title}", cells]


def _recovered(report: Report) -> Rows:
    for name, block in report["conditions"].items():
        yield [title(name, block)]
        floors = block["floors"]
        for floor, words, ends in (
            (ANNOTATORS, "annotators themselves", ["1", f"{floors[ANNOTATORS]['entropy']:.3f}"]),
            ("prior", "prior: shares of labels", ["-", ""]),
            (ANNOTATOR_PRIOR, "prior: shares of annotators' answers, oracle", ["-", ""]),
        ):
            yield [f"  {words}", "", *figures(floors[floor][d] for d in DISTANCES), *ends]
        for model, of_model in block["models"].items():
            for read in READ_OUTS:
                of_read = {name: np.mean([number(value) for value in values])
                           for name, values in of_model["reads"][read].items()}  # fmt: skip
                ends = figures((of_read[n] for n in ("entropy correlation", "entropy")), 3)
                words = f"  {MODELS[model].title}" if read == VOTES else ""
                yield [words, READS[read], *figures(of_read[d] for d in DISTANCES), *ends]


def _examples(report: Report) -> Rows:
    for name, block in report["conditions"].items():
        for example in block.get("examples", ()):
            yield [f"{title(name, block)}: item {example['item']}, {', '.join(block['values'])}"]
            for who, shares in example["shares"].items():
                yield [f"  {who}", "  ".join(f"{share:.2f}" for share in shares)]


def _specific(report: Report) -> Rows:
    for name, block in report["conditions"].items():
        if specific := block.get("specific"):
            each = figures(specific[way] for way in ("without", "with", "alone"))
            yield [title(name, block), *each, interval(specific["test"])]


def _looks(report: Report) -> Rows:
    for corpus, block in report.get("looks", {}).items():
        annotators = block["annotators"]
        yield [f"{corpus} ({block['n_items']:,} items)"]
        yield ["  two annotators", "", f"{annotators['f1']:.3f}",
               interval(annotators["shuffled"], digits=3), "", "", ""]  # fmt: skip
        for of in block["conditions"].values():
            tests = [interval(of[name], digits=3) for name in ("shuffled", "look", "answer", "one")]
            yield [f"  {of['title']}", f"{of['accuracy']:.3f}", f"{of['f1']:.3f}", *tests]


# ---- by corpus ----


def _numbers(report: Report) -> Rows:
    for corpus, model in product(SOURCES, MODELS):
        if not (by_number := report["number"].get(corpus, {}).get(model)):
            continue
        yield [f"{corpus}, {MODELS[model].title} ({5 * by_number['repeats']} fits)"]
        for n in sorted((key for key in by_number if key.isdigit()), key=int):
            of_n, reads = by_number[n], by_number[n]["reads"]
            cells = figures((100 * of_n[score] for score in SCORES), 2)
            each = [reads[read][BY] for read in READ_OUTS]
            each += [reads[read]["JSD"] for read in (VOTES, TEMPERED)]
            yield [f"  {n}", *cells, *figures(each)]
        if "more" in by_number:
            tests = [interval(by_number["more"][read]) for read in READ_OUTS]
            yield ["  all less five", "", "", *tests, "", ""]


def _kappas(report: Report) -> Rows:
    for name, question in QUESTIONS.items() if report["kappas"] else ():
        yield [f"  {question}", *figures((KAPPA[name], report["kappas"][name]), 3)]


TABLES = (
    Section(
        "Table 4: accuracy and F1",
        ["", "accuracy", "F1", "fits", "SeedBERT's accuracy over it", "SeedBERT's F1 over it"],
        _table_4,
        "In percent, mean +- standard deviation over fits (folds, up to five repetitions); F1 is "
        "macro-F1. SeedBERT over it: the difference in points, with a 95 % interval over fits and "
        "items.",
    ),
    Section("F1 of each emotion or class, in percent", ["", ""], _values,
            "Over the answers of a repetition, mean over repetitions."),
    Section(
        "Distance of the recovered distribution from the annotators' answers",
        ["", "read as", "cross-entropy", "JSD", "TVD", "corr.", "entropy"], _recovered,
        "Distances from the annotators' answers, mean over items and repetitions: cross-entropy "
        "and JSD in nats, TVD. For the cross-entropy of votes, one half is added to each value. "
        "Votes of a single network: its answer counts five times. corr.: Pearson's correlation of "
        "entropies over items; entropy: mean, as a share of the maximum. Every temperature is "
        "chosen on the labels of held-out items, in the same way for all models. oracle: learns "
        "from all answers, not from one label per item.",
    ),
    Section(
        "Figure 3: distributions of single items", ["", ""], _examples,
        "Items at the quartiles of the annotators' entropy, in the first repetition. SeedBERT: "
        "shares of votes; BERT: probabilities of one network.",
    ),
    Section(
        "A specific annotator: cross-entropy of each annotator's answers, in nats",
        ["", "SeedBERT", "with their frequencies", "these alone", "with less without"], _specific,
        "SeedBERT's mean probability with a temperature of at least 1, times how often the "
        "annotator gives an answer in training, divided by how often all do; five answers of all "
        "annotators are added to theirs. Alone: these frequencies without a network.",
    ),
    Section(
        "Do members look at different parts where annotators do?",
        ["members differ in [where they look is seen by]", "accuracy", "F1 of two",
         "with annotators, over shuffled", "look apart where annotators do",
         "answer apart where annotators do", "uncertainty of one network does"],
        _looks,
        "In toxic_spans seven annotators marked what made a post toxic; text is a simulated crowd "
        "in which each annotator looks at the clauses that they prefer. F1 compares what an "
        "annotator marked with as many positions with a member's largest weights; shuffled: what "
        "was marked in another item. The last three: Spearman's correlation over items, corrected "
        "for item length, with a 95 % interval over seeds and items.",
    ),
    Section(
        "The effect of the number of members",
        ["members", "accuracy", "F1", *(f"cross-entropy, {READS[r]}" for r in READ_OUTS),
         "JSD, votes", "JSD, with temperature"], _numbers,
    ),
    Section("Table 1: agreement on three questions",
            ["Cohen's kappa, mean over pairs", "the paper's clips", "snow2008 affect"], _kappas,
            "Present: rated above 50 of 100."),
)  # fmt: skip
