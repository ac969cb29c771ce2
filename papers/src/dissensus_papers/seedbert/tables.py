"""Report -> tables as text, the paper's figures next to ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.evaluation.fit import number
from dissensus.evaluation.significance.difference import p_text
from dissensus_papers.framework.layout import Block, front_page, whole, written
from dissensus_papers.framework.verdicts import Report, holds, interval, points, spread
from dissensus_papers.seedbert.claims import READS, called, claims, other_choices
from dissensus_papers.seedbert.conditions import CONDITIONS
from dissensus_papers.seedbert.corpora import FIRST, SOURCES
from dissensus_papers.seedbert.figures import ANNOTATOR_PRIOR, ANNOTATORS
from dissensus_papers.seedbert.models import DEEP, MODELS, SEEDS, SINGLE, TABLE_4, VARIANTS
from dissensus_papers.seedbert.printed import KAPPA, QUESTIONS, TABLE, TITLE
from dissensus_papers.seedbert.scoring import DISTANCES, MEAN, READ_OUTS, TEMPERED, VOTES
from dissensus_papers.seedbert.selection import BY
from dissensus_papers.seedbert.studies.temperature import ENSEMBLES, MEMBER

KINDS = {"chosen": "settings chosen", "paper": "the paper's rate and epochs", "many": "20 members"}
COUNTED = tuple(name for name, source in SOURCES.items() if source.counted)
OTHER = (
    "The paper's corpus (500 clips, six emotions) is not public. Our figures are from other "
    "corpora, so only the order of methods can be compared. The encoder is MiniLM, "
    "not BERT."
)
RECOVERED = (
    "Distances from the annotators' answers, mean over items and repetitions: cross-entropy and "
    "JSD in nats, TVD. For the cross-entropy of votes, one half is added to each value. Votes of a "
    "single network: its answer counts five times. corr.: Pearson's correlation of entropies over "
    "items; entropy: mean, as a share of the maximum. Every temperature is chosen on the labels of "
    "held-out items, in the same way for all models. oracle: learns from all answers, not from one "
    "label per item."
)


def shown(report: Report, width: int | None = None) -> str:
    """All tables of a report, and its claims.

    Args:
        width: of a terminal; nothing is broken if left out.
    """
    parts: list[str | Block] = [_about(report), _table_4(report), _recovered(report)]
    parts += [_variants(report), _confirmed(report), _calibrated(report), _again(report)]
    parts += [_tempering(report), _seeds_and_deep(report), _numbers(report), _biases(report)]
    parts += [_uniform(report), _kappas(report), _choosing(report)]
    parts += [claims(report), _missing(report)]
    return written(parts, width)


def _about(report: Report) -> str:
    typed = ", ".join(f"{name}={value}" for name, value in report["settings"].items())
    missing = sum(counts[0] for of in report["missing"].values() for counts in of.values())
    unfinished = (
        f"{report['done']} of {report['done'] + missing} fits are done; those that are missing "
        "are listed at the end and are not in the tables."
    )
    after = f" ({typed})" if typed else ""
    return front_page(report, TITLE, OTHER, unfinished if missing else "", after=after)


def title(name: str, block: Report) -> str:
    """A condition, as the heading of its rows."""
    condition = CONDITIONS[name]
    apart = "" if condition.source.counted else ", not counted"
    return f"{condition.corpus}, {KINDS[condition.kind]} ({block['n_items']:,} items{apart})"


# ---- Table 4 ----


def _table_4(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        if CONDITIONS[name].kind == "many":
            continue
        rows.append([title(name, block)])
        floor = block["floors"]["majority"]
        rows.append(["  always the most frequent label", "-", _mean(floor["accuracy"]), "-",
                     _mean(floor["f1"]), "", "", ""])  # fmt: skip
        rows += [
            _row(model, of_model, block["against"]) for model, of_model in block["models"].items()
        ]
    if not rows:
        return ""
    names = ["", "accuracy: paper", "accuracy: ours", "F1: paper", "F1: ours", "fits"]
    names += ["SeedBERT's accuracy over it", "SeedBERT's F1 over it"]
    notes = (
        "In percent, mean +- standard deviation over fits (folds, up to five repetitions); F1 is "
        "macro-F1. SeedBERT over it: the difference in points, with a 95 % interval over fits and "
        'items; p is corrected (Holm) over this table; "holds": p is at most 0.05. '
        'With "one repetition", intervals and p are over items only.'
    )
    return Block("Table 4: accuracy and F1", [names, *rows], notes)


def _row(model: str, of_model: Report, against: Report) -> list[str]:
    printed = TABLE.get(model)
    fits = of_model["fits"]
    cells = [f"  {MODELS[model].called}"]
    for name in ("accuracy", "f1"):
        cells += [f"{100 * getattr(printed, name):.1f}" if printed else "-", _mean(fits[name])]
    cells.append(str(len(fits["accuracy"])))
    tests = against.get(model)
    return [*cells, *(over_points(tests[name]) if tests else "" for name in ("accuracy", "f1"))]


def over_points(test: Report) -> str:
    """A difference in points, and whether it holds."""
    return f"{points(test)}: {holds(test)}"


def _mean(fits: list[float]) -> str:
    shares = [100 * number(fit) for fit in fits]
    return f"{np.mean(shares):.2f}{spread(shares)}"


# ---- recovered distributions ----


def _recovered(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        rows.append([title(name, block)])
        floors = block["floors"]
        entropy = f"{floors[ANNOTATORS]['entropy']:.3f}"
        rows.append(["  annotators themselves", "", *_distances(floors[ANNOTATORS]), "1", entropy])
        rows.append(["  prior: shares of labels", "", *_distances(floors["prior"]), "-", ""])
        rows.append(["  prior: shares of annotators' answers, oracle", "",
                     *_distances(floors[ANNOTATOR_PRIOR]), "-", ""])  # fmt: skip
        for model, of_model in block["models"].items():
            name = f"  {MODELS[model].called}"
            for read in READ_OUTS:
                rows.append([name, READS[read], *_of_read(of_model["reads"][read])])
                name = ""
    if not rows:
        return ""
    names = ["", "read as", "cross-entropy", "JSD", "TVD", "corr.", "entropy"]
    return Block(
        "Distance of the recovered distribution from the annotators' answers",
        [names, *rows],
        RECOVERED,
    )


def _distances(figures: Report) -> list[str]:
    return [f"{number(figures[name]):.4f}" for name in DISTANCES]


def _of_read(of_read: Mapping[str, Any]) -> list[str]:
    figures = [f"{mean(of_read[name]):.4f}" for name in DISTANCES]
    correlation = mean(of_read["entropy correlation"])
    known = "-" if np.isnan(correlation) else f"{correlation:.3f}"
    return [*figures, known, f"{mean(of_read['entropy']):.3f}"]


def mean(values: list[Any]) -> float:
    """Over repetitions; nan where one is undefined."""
    return float(np.mean([number(value) for value in values]))


# ---- the best variant ----


def _variants(report: Report) -> str | Block:
    variant = report["variant"]
    if not variant:
        return f"The closest variant: not chosen yet, {FIRST} lacks some of the variants"
    rows = [[f"cross-entropy on {FIRST}", *READS.values()]]
    for model in VARIANTS:
        of_read = variant["scores"][model]
        marks = ["*" * ((model, read) == (variant["model"], variant["read"])) for read in READ_OUTS]
        cells = [f"{of_read[read]:.4f}{mark}" for read, mark in zip(READ_OUTS, marks, strict=True)]
        rows.append([f"  {MODELS[model].called}", *cells])
    others = other_choices(variant)
    others_text = "; ".join(f"by {' and '.join(names)}: {which}" for which, names in others.items())
    notes = (
        f"Other distances would have chosen another variant ({others_text})." if others_text else ""
    )
    return Block("The variant closest to the annotators (*), chosen here", rows, notes)


def _confirmed(report: Report) -> str | Block:
    """The chosen variant less one network with temperature, as it is, and counted five times."""
    variant = report["variant"]
    if not variant:
        return ""

    def rows_of(corpus: str, against: Report) -> Iterator[list[str]]:
        for read in (TEMPERED, MEAN, VOTES):
            tests = against[read]
            cells = [interval(tests[name]) for name in DISTANCES]
            verdict = _nearer(tests[BY]) if read == TEMPERED and corpus != FIRST else ""
            yield [f"  less single, {READS[read]}", *cells, verdict]

    heading = f"Is it closer than one network on other corpora: {called(variant)}"
    rows = _by_corpus(variant["against"], ", where it was chosen: not a confirmation", rows_of)
    notes = (
        "Below 0: closer to the annotators than one network. The test that counts is the "
        "cross-entropy against one network with temperature, corrected (Holm) over the other "
        "corpora; the others are not corrected."
    )
    return Block(heading, rows, notes)


def _calibrated(report: Report) -> str | Block:
    """Ensembles less one network, all with temperature: not the chosen variant."""
    if not report["calibrated"]:
        return ""
    first = ", where the variant was chosen: not counted"
    notes = (
        "Below 0: closer to the annotators. This comparison was added after the figures of the "
        "chosen variant were known; it is repeated on other items below. Cross-entropies less "
        f"single are corrected (Holm) over this table without {FIRST}, the others are not "
        "corrected. A single network has its own settings; an ensemble's first member has those "
        "of the ensemble."
    )
    heading = "Post hoc: is an ensemble closer than one network, all with temperature?"
    return Block(heading, _by_corpus(report["calibrated"], first, _less_one_network), notes)


def _less_one_network(corpus: str, of_model: Report) -> Iterator[list[str]]:
    for model in (name for name in ENSEMBLES if name in of_model):
        less = of_model[model]
        verdict = _nearer(less[SINGLE][BY]) if corpus != FIRST else ""
        cells = [interval(less[SINGLE][name]) for name in DISTANCES]
        yield [f"  {MODELS[model].called} less single", *cells, verdict]
        cells = [interval(less[MEMBER][name]) for name in DISTANCES]
        yield ["    less its own first member", *cells, ""]


def _again(report: Report) -> str | Block:
    """The same ensembles less one network, on items that were not used before."""
    if not report["again"]:
        return ""
    corpora = [name for name, source in SOURCES.items() if source.again]
    notes = (
        "Below 0: closer to the annotators. Settings, comparisons and the correction (Holm over "
        "the cross-entropies less single) were fixed before training. Items are not in the samples "
        "above; ConvAbuse has no others, so other folds and seeds are used."
    )
    heading = (
        "Repeated: is an ensemble closer than one network, all with a temperature of at least 1?"
    )
    return Block(heading, _by_corpus(report["again"], "", _less_one_network, corpora), notes)


def _by_corpus(
    of_corpus: Report,
    of_first: str,
    rows_of: Callable[[str, Report], Iterator[list[str]]],
    corpora: Sequence[str] = COUNTED,
) -> list[list[str]]:
    """The rows of every corpus.

    Args:
        of_first: a note on the first corpus.
        corpora: their names.
    """
    rows = [["", *DISTANCES, "closer"]]
    for corpus in corpora:
        if corpus not in of_corpus:
            rows.append([f"{corpus}: not run yet"])
            continue
        rows.append([f"{corpus}{of_first * (corpus == FIRST)}"])
        rows += rows_of(corpus, of_corpus[corpus])
    return rows


def _tempering(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for corpus in (name for name in SOURCES if name in report["tempering"]):
        tempering = report["tempering"][corpus]
        few, many = tempering["rare"]
        rare = f"{few} to {many} with a rarer label"
        rows.append([f"{corpus}: {tempering['items']:.0f} items in a fit, {rare}"])
        for model in (name for name in MODELS if name in tempering["models"]):
            of_model = tempering["models"][model]
            cells = [
                f"{of_model['low']:.2f} to {of_model['high']:.2f}",
                f"{of_model['below']} of {of_model['fits']}",
            ]
            cells += [
                _known(of_model[name]) for name in ("there", "elsewhere", "votes", "cautious")
            ]
            rows.append([f"  {MODELS[model].called}", *cells])
    if not rows:
        return ""
    names = [
        "",
        "temperatures",
        "below 1",
        "cross-entropy there",
        "in other fits",
        "its votes there",
        "all, none below 1",
    ]
    notes = (
        "A temperature below 1 makes a network more confident. Items are held out from training "
        "folds; a rarer label is any except the corpus's most frequent one. Its votes: in the "
        "other fits. None below 1: as methods choose a temperature now."
    )
    return Block("Temperatures, and the number of labels they are chosen by", [names, *rows], notes)


def _known(value: Any) -> str:
    return "-" if np.isnan(number(value)) else f"{number(value):.4f}"


def _nearer(test: Report) -> str:
    return f"p {p_text(number(test['adjusted']))}: {holds(test, -1)}"


def _seeds_and_deep(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        tests = block["recovery"][DEEP]
        if not tests:
            continue
        both = [100 * number(block["models"][model]["apart"]) for model in (SEEDS, DEEP)]
        about = f"two members differ in {both[0]:.1f} % and {both[1]:.1f} % of items"
        rows.append([f"{title(name, block)}: {about}"])
        for read in READ_OUTS:
            cells = [interval(tests[read][distance]) for distance in DISTANCES]
            rows.append([f"  {READS[read]}", *cells])
    if not rows:
        return ""
    heading = "Plain seeds less a deep ensemble of five (below 0: seeds are closer; not corrected)"
    return Block(heading, [["", *DISTANCES], *rows])


# ---- the number of members ----


def _numbers(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for corpus in (name for name in SOURCES if name in report["number"]):
        of_model = report["number"][corpus]
        for model, by_number in ((name, of_model[name]) for name in MODELS if name in of_model):
            rows.append([f"{corpus}, {MODELS[model].called} ({5 * by_number['repeats']} fits)"])
            for n in sorted((key for key in by_number if key.isdigit()), key=int):
                of_n = by_number[n]
                cells = [f"  {n}", f"{100 * of_n['accuracy']:.2f}", f"{100 * of_n['f1']:.2f}"]
                cells += [f"{of_n['reads'][read][BY]:.4f}" for read in READ_OUTS]
                rows.append([*cells, f"{of_n['reads'][VOTES]['JSD']:.4f}",
                             f"{of_n['reads'][TEMPERED]['JSD']:.4f}"])  # fmt: skip
            if "more" in by_number:
                tests = [interval(by_number["more"][read]) for read in READ_OUTS]
                rows.append(["  all less five", "", "", *tests, "", ""])
    if not rows:
        return ""
    names = ["members", "accuracy", "F1", *(f"cross-entropy, {READS[r]}" for r in READ_OUTS)]
    names += ["JSD, votes", "JSD, with temperature"]
    return Block("The effect of the number of members", [names, *rows])


# ---- biases, near-uniform, kappas ----


def _biases(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        of_members = {m: h["biases"] for m, h in block["models"].items() if h["biases"]}
        if not of_members:
            continue
        value = block["values"][-1]
        rows.append([f"{title(name, block)}, how often {value!r} is answered"])
        annotators = report[ANNOTATORS].get(CONDITIONS[name].corpus)
        if annotators:
            ends = f"{100 * annotators['low']:.1f} to {100 * annotators['high']:.1f} %"
            rows.append(
                [f"  {annotators['n']} annotators", ends, f"{100 * annotators['sd']:.2f}", ""]
            )
        for model, biases in of_members.items():
            ends = f"{100 * biases['low']:.1f} to {100 * biases['high']:.1f} %"
            cells = [ends, f"{100 * biases['sd']:.2f}", f"{100 * biases['differ']:.0f} %"]
            rows.append([f"  {MODELS[model].called}", *cells])
    if not rows:
        return ""
    names = ["", "lowest to highest", "sd, points", "fits in which members differ"]
    notes = (
        "Members: within a fit, on its test items, mean over fits. sd: of how often each value is "
        "answered, mean over values. Members differ: significantly by Cochran's test (5 % of fits "
        "if there were no bias). Annotators: those with at least 50 answers; if they answered "
        "different items, that adds to their spread."
    )
    return Block("Biases of members and of annotators", [names, *rows], notes)


def _uniform(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        single = block["models"].get("single")
        if single is None:
            continue
        of_mean = single["reads"][MEAN]
        cells = [
            f"{mean(of_mean['entropy']):.3f}",
            f"{block['floors'][ANNOTATORS]['entropy']:.3f}",
        ]
        rows.append([title(name, block), *cells, f"{mean(of_mean['moves']):.3f}"])
    if not rows:
        return ""
    names = ["", "entropy", "of annotators", "varies with the item"]
    notes = (
        "Entropy as a share of the maximum: 1 is uniform. varies: distance of predictions from "
        "their mean over items (TVD); 0 means the same prediction for every item."
    )
    return Block("Is a single network near-uniform?", [names, *rows], notes)


def _kappas(report: Report) -> str | Block:
    rows = [["Cohen's kappa, mean over pairs", "paper", "snow2008 affect"]]
    for name, question in QUESTIONS.items():
        ours = report["kappas"].get(name)
        rows.append([f"  {question}", f"{KAPPA[name]:.3f}", "-" if ours is None else f"{ours:.3f}"])
    if not report["kappas"]:
        return ""
    return Block("Table 1: agreement on three questions", rows, "Present: rated above 50 of 100.")


# ---- what was tried, and what is missing ----


def _choosing(report: Report) -> str | Block:
    rows: list[list[str]] = []
    for corpus in (name for name in SOURCES if name in report["choosing"]):
        rows.append([corpus])
        for model in (name for name in TABLE_4 if name in report["choosing"][corpus]):
            choice = report["choosing"][corpus][model]
            cells = [
                _trial(trial, at == choice["best"]) for at, trial in enumerate(choice["trials"])
            ]
            n = len(cells)
            lacking = (
                "" if choice["best"] is not None else f" ({n} of {choice['wanted']}: not chosen)"
            )
            rows.append([f"  {MODELS[model].called}{lacking}", "  ".join(cells)])
    if not rows:
        return ""
    notes = (
        "Learning rate of the encoder, epochs (BNN: complexity weight), and the cross-entropy of "
        "held-out labels within training folds; * marks the choice. Variants have SeedBERT's "
        "settings."
    )
    return Block("Settings that were tried, the same number for every method", rows, notes)


def _trial(trial: Report, best: bool) -> str:
    settings = trial["settings"]
    rate = f"{settings['training.encoder_learning_rate']:g}"
    other = settings.get("complexity_weight", settings["training.epochs"])
    return whole(f"{rate}/{other:g} {trial['score']:.4f}{'*' * best}")


def _missing(report: Report) -> str:
    lines = []
    for name in (name for name in CONDITIONS if name in report["missing"]):
        of_model = report["missing"][name]
        missing_of = [
            f"{model} {lacking} of {wanted}" if lacking < wanted else model
            for model, (lacking, wanted) in ((m, of_model[m]) for m in MODELS if m in of_model)
        ]
        lines.append(f"  {name}: {', '.join(missing_of)}")
    return "\n".join(["Not fitted yet", *lines]) if lines else ""
