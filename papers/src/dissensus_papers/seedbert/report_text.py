"""Report -> tables and claims as text, the paper's figures next to ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.evaluation import number, p_text
from dissensus.tables import Table
from dissensus_papers.framework.declared import Claim
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import (
    BEYOND,
    LEVEL,
    UNKNOWN,
    alone,
    claims_text,
    front_page,
    holds,
    interval,
    points,
    spread,
    table,
    whole,
    written,
)
from dissensus_papers.seedbert.analysis import (
    ANNOTATOR_PRIOR,
    ANNOTATORS,
    ENSEMBLES,
    MEMBER,
)
from dissensus_papers.seedbert.outcomes import BY, DISTANCES, MEAN, READ_OUTS, TEMPERED, VOTES
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    COUNTED,
    DEEP,
    FIRST,
    KAPPA,
    MODELS,
    QUESTIONS,
    SEEDS,
    SINGLE,
    SOURCES,
    TABLE,
    TABLE_4,
    TITLE,
    VARIANTS,
)

KINDS = {"chosen": "settings chosen", "paper": "the paper's rate and epochs", "many": "20 members"}
READS = {VOTES: "votes", MEAN: "mean probability", TEMPERED: "mean, with temperature"}
AGAIN = tuple(name for name, source in SOURCES.items() if source.again)
OTHERS = tuple(name for name in COUNTED if name != FIRST)  # than the one that was chosen on
WANTED = 2  # corpora on which the variant has to be closer
UNCORRECTED = " (by intervals of 95 %, not corrected)"
UNIFORM = 0.9  # a mean entropy above this share of the highest
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
    """All tables of a report, and its claims; `width` of a terminal breaks lines."""
    tables = (
        _about, _table_4, _recovered, _variants, _confirmed, _calibrated, _again, _tempering,
        _seeds_and_deep, _numbers, _biases, _uniform, _kappas, _choosing, claims, _missing,
    )  # fmt: skip
    return written([table_of(report) for table_of in tables], width)


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


def called(which: Report) -> str:
    """A variant and its read-out."""
    return f"{MODELS[which['model']].title}, {READS[which['read']]}"


# ---- Table 4 ----


def _table_4(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        if CONDITIONS[name].kind == "many":
            continue
        accuracy, f1 = (_mean(block["floors"]["majority"][score]) for score in ("accuracy", "f1"))
        rows.append([title(name, block)])
        rows.append(["  always the most frequent label", "-", accuracy, "-", f1, "", "", ""])
        for model, of_model in block["models"].items():
            fits, printed = of_model["fits"], TABLE.get(model)
            cells = [f"  {MODELS[model].title}"]
            for score in ("accuracy", "f1"):
                paper = f"{100 * getattr(printed, score):.1f}" if printed else "-"
                cells += [paper, _mean(fits[score])]
            tests = block["against"].get(model)
            over = [over_points(tests[s]) if tests else "" for s in ("accuracy", "f1")]
            rows.append([*cells, str(len(fits["accuracy"])), *over])
    names = ["", "accuracy: paper", "accuracy: ours", "F1: paper", "F1: ours", "fits"]
    names += ["SeedBERT's accuracy over it", "SeedBERT's F1 over it"]
    notes = (
        "In percent, mean +- standard deviation over fits (folds, up to five repetitions); F1 is "
        "macro-F1. SeedBERT over it: the difference in points, with a 95 % interval over fits and "
        'items; p is corrected (Holm) over this table; "holds": p is at most 0.05. '
        'With "one repetition", intervals and p are over items only.'
    )
    return table("Table 4: accuracy and F1", names, rows, notes)


def over_points(test: Report) -> str:
    """A difference in points, and whether it holds."""
    return f"{points(test)}: {holds(test)}"


def _mean(fits: list[float]) -> str:
    shares = [100 * number(fit) for fit in fits]
    return f"{np.mean(shares):.2f}{spread(shares)}"


# ---- recovered distributions ----


def _recovered(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        rows.append([title(name, block)])
        floors = block["floors"]
        for floor, words, ends in (
            (ANNOTATORS, "annotators themselves",
             ["1", f"{floors[ANNOTATORS]['entropy']:.3f}"]),
            ("prior", "prior: shares of labels", ["-", ""]),
            (ANNOTATOR_PRIOR, "prior: shares of annotators' answers, oracle", ["-", ""]),
        ):  # fmt: skip
            distances = [f"{number(floors[floor][distance]):.4f}" for distance in DISTANCES]
            rows.append([f"  {words}", "", *distances, *ends])
        for model, of_model in block["models"].items():
            name = f"  {MODELS[model].title}"
            for read in READ_OUTS:
                of_read = of_model["reads"][read]
                distances = [f"{mean(of_read[distance]):.4f}" for distance in DISTANCES]
                correlation = mean(of_read["entropy correlation"])
                known = "-" if np.isnan(correlation) else f"{correlation:.3f}"
                rows.append(
                    [name, READS[read], *distances, known, f"{mean(of_read['entropy']):.3f}"]
                )
                name = ""
    names = ["", "read as", "cross-entropy", "JSD", "TVD", "corr.", "entropy"]
    heading = "Distance of the recovered distribution from the annotators' answers"
    return table(heading, names, rows, RECOVERED)


def mean(values: list[Any]) -> float:
    """Over repetitions; nan where one is undefined."""
    return float(np.mean([number(value) for value in values]))


# ---- the best variant ----


def _variants(report: Report) -> Table | str:
    variant = report["variant"]
    if not variant:
        return f"The closest variant: not chosen yet, {FIRST} lacks some of the variants"
    rows = [[f"cross-entropy on {FIRST}", *READS.values()]]
    for model in VARIANTS:
        cells = [f"{variant['scores'][model][read]:.4f}" for read in READ_OUTS]
        if model == variant["model"]:
            cells[READ_OUTS.index(variant["read"])] += "*"
        rows.append([f"  {MODELS[model].title}", *cells])
    others = other_choices(variant)
    others_text = "; ".join(f"by {' and '.join(names)}: {which}" for which, names in others.items())
    notes = f"Other distances would have chosen another variant ({others_text})." if others else ""
    heading = "The variant closest to the annotators (*), chosen here"
    return table(heading, rows[0], rows[1:], notes)


def other_choices(variant: Report) -> dict[str, list[str]]:
    """Variants that other distances would have chosen: variant -> distances."""
    names_of: dict[str, list[str]] = {}
    for distance in DISTANCES:
        if called(variant["by"][distance]) != called(variant):
            names_of.setdefault(called(variant["by"][distance]), []).append(distance)
    return names_of


def _confirmed(report: Report) -> Table | str:
    """The chosen variant less one network with temperature, as it is, and counted five times."""
    variant = report["variant"]
    if not variant:
        return ""

    def rows_of(corpus: str, against: Report) -> Iterator[list[str]]:
        for read in (TEMPERED, MEAN, VOTES):
            verdict = _nearer(against[read][BY]) if read == TEMPERED and corpus != FIRST else ""
            yield [f"  less single, {READS[read]}", *_intervals(against[read]), verdict]

    heading = f"Is it closer than one network on other corpora: {called(variant)}"
    rows = _by_corpus(variant["against"], ", where it was chosen: not a confirmation", rows_of)
    notes = (
        "Below 0: closer to the annotators than one network. The test that counts is the "
        "cross-entropy against one network with temperature, corrected (Holm) over the other "
        "corpora; the others are not corrected."
    )
    return table(heading, rows[0], rows[1:], notes)


def _calibrated(report: Report) -> Table | str:
    """Ensembles less one network, all with temperature: not the chosen variant."""
    first = ", where the variant was chosen: not counted"
    notes = (
        "Below 0: closer to the annotators. This comparison was added after the figures of the "
        "chosen variant were known; it is repeated on other items below. Cross-entropies less "
        f"single are corrected (Holm) over this table without {FIRST}, the others are not "
        "corrected. A single network has its own settings; an ensemble's first member has those "
        "of the ensemble."
    )
    heading = "Post hoc: is an ensemble closer than one network, all with temperature?"
    rows = _by_corpus(report["calibrated"], first, _less_one_network)
    return table(heading, rows[0], rows[1:], notes) if report["calibrated"] else ""


def _again(report: Report) -> Table | str:
    """The same ensembles less one network, on items that were not used before."""
    notes = (
        "Below 0: closer to the annotators. Settings, comparisons and the correction (Holm over "
        "the cross-entropies less single) were fixed before training. Items are not in the samples "
        "above; ConvAbuse has no others, so other folds and seeds are used."
    )
    heading = (
        "Repeated: is an ensemble closer than one network, all with a temperature of at least 1?"
    )
    rows = _by_corpus(report["again"], "", _less_one_network, AGAIN)
    return table(heading, rows[0], rows[1:], notes) if report["again"] else ""


def _less_one_network(corpus: str, of_model: Report) -> Iterator[list[str]]:
    for model in (name for name in ENSEMBLES if name in of_model):
        less = of_model[model]
        verdict = _nearer(less[SINGLE][BY]) if corpus != FIRST else ""
        yield [f"  {MODELS[model].title} less single", *_intervals(less[SINGLE]), verdict]
        yield ["    less its own first member", *_intervals(less[MEMBER]), ""]


def _by_corpus(
    of_corpus: Report,
    of_first: str,
    rows_of: Callable[[str, Report], Iterator[list[str]]],
    corpora: Sequence[str] = COUNTED,
) -> list[list[str]]:
    """The rows of every corpus; the first one has a note."""
    rows = [["", *DISTANCES, "closer"]]
    for corpus in corpora:
        if corpus not in of_corpus:
            rows.append([f"{corpus}: not run yet"])
            continue
        rows.append([f"{corpus}{of_first * (corpus == FIRST)}"])
        rows += rows_of(corpus, of_corpus[corpus])
    return rows


def _intervals(tests: Report) -> list[str]:
    return [interval(tests[name]) for name in DISTANCES]


def _nearer(test: Report) -> str:
    return f"p {p_text(number(test['adjusted']))}: {holds(test, -1)}"


def _tempering(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for corpus in (name for name in SOURCES if name in report["tempering"]):
        tempering = report["tempering"][corpus]
        few, many = tempering["rare"]
        rare = f"{few} to {many} with a rarer label"
        rows.append([f"{corpus}: {tempering['items']:.0f} items in a fit, {rare}"])
        for model, figures in _models(tempering["models"]):
            known = (number(figures[n]) for n in ("there", "elsewhere", "votes", "cautious"))
            rows.append([
                f"  {MODELS[model].title}", f"{figures['low']:.2f} to {figures['high']:.2f}",
                f"{figures['below']} of {figures['fits']}",
                *("-" if np.isnan(value) else f"{value:.4f}" for value in known),
            ])  # fmt: skip
    names = ["", "temperatures", "below 1", "cross-entropy there", "in other fits"]
    names += ["its votes there", "all, none below 1"]
    notes = (
        "A temperature below 1 makes a network more confident. Items are held out from training "
        "folds; a rarer label is any except the corpus's most frequent one. Its votes: in the "
        "other fits. None below 1: as methods choose a temperature now."
    )
    heading = "Temperatures, and the number of labels they are chosen by"
    return table(heading, names, rows, notes)


def _models(of_model: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """In the order of tables."""
    return [(model, of_model[model]) for model in MODELS if model in of_model]


def _seeds_and_deep(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        tests = block["recovery"][DEEP]
        if tests:
            both = [100 * number(block["models"][model]["apart"]) for model in (SEEDS, DEEP)]
            about = f"two members differ in {both[0]:.1f} % and {both[1]:.1f} % of items"
            rows.append([f"{title(name, block)}: {about}"])
            rows += [[f"  {READS[read]}", *_intervals(tests[read])] for read in READ_OUTS]
    heading = "Plain seeds less a deep ensemble of five (below 0: seeds are closer; not corrected)"
    return table(heading, ["", *DISTANCES], rows)


# ---- the number of members, biases, near-uniform, kappas ----


def _numbers(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for corpus in (name for name in SOURCES if name in report["number"]):
        for model, by_number in _models(report["number"][corpus]):
            rows.append([f"{corpus}, {MODELS[model].title} ({5 * by_number['repeats']} fits)"])
            for n in sorted((key for key in by_number if key.isdigit()), key=int):
                of_n, reads = by_number[n], by_number[n]["reads"]
                cells = [f"  {n}", f"{100 * of_n['accuracy']:.2f}", f"{100 * of_n['f1']:.2f}"]
                figures = [reads[read][BY] for read in READ_OUTS]
                figures += [reads[read]["JSD"] for read in (VOTES, TEMPERED)]
                rows.append([*cells, *(f"{figure:.4f}" for figure in figures)])
            if "more" in by_number:
                tests = [interval(by_number["more"][read]) for read in READ_OUTS]
                rows.append(["  all less five", "", "", *tests, "", ""])
    names = ["members", "accuracy", "F1", *(f"cross-entropy, {READS[r]}" for r in READ_OUTS)]
    names += ["JSD, votes", "JSD, with temperature"]
    return table("The effect of the number of members", names, rows)


def _biases(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        of_members = {m: h["biases"] for m, h in block["models"].items() if h["biases"]}
        if not of_members:
            continue
        value = block["values"][-1]
        rows.append([f"{title(name, block)}, how often {value!r} is answered"])
        annotators = report[ANNOTATORS].get(CONDITIONS[name].corpus)
        each = [(f"{annotators['n']} annotators", annotators)] if annotators else []
        each += [(MODELS[model].title, biases) for model, biases in of_members.items()]
        for words, biases in each:
            ends = f"{100 * biases['low']:.1f} to {100 * biases['high']:.1f} %"
            differ = f"{100 * biases['differ']:.0f} %" if "differ" in biases else ""
            rows.append([f"  {words}", ends, f"{100 * biases['sd']:.2f}", differ])
    names = ["", "lowest to highest", "sd, points", "fits in which members differ"]
    notes = (
        "Members: within a fit, on its test items, mean over fits. sd: of how often each value is "
        "answered, mean over values. Members differ: significantly by Cochran's test (5 % of fits "
        "if there were no bias). Annotators: those with at least 50 answers; if they answered "
        "different items, that adds to their spread."
    )
    return table("Biases of members and of annotators", names, rows, notes)


def _uniform(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for name, block in report["conditions"].items():
        if "single" in block["models"]:
            of_mean = block["models"]["single"]["reads"][MEAN]
            annotators = block["floors"][ANNOTATORS]["entropy"]
            figures = (mean(of_mean["entropy"]), annotators, mean(of_mean["moves"]))
            rows.append([title(name, block), *(f"{figure:.3f}" for figure in figures)])
    names = ["", "entropy", "of annotators", "varies with the item"]
    notes = (
        "Entropy as a share of the maximum: 1 is uniform. varies: distance of predictions from "
        "their mean over items (TVD); 0 means the same prediction for every item."
    )
    return table("Is a single network near-uniform?", names, rows, notes)


def _kappas(report: Report) -> Table | str:
    rows = [["Cohen's kappa, mean over pairs", "paper", "snow2008 affect"]]
    for name, question in QUESTIONS.items():
        ours = report["kappas"].get(name)
        rows.append([f"  {question}", f"{KAPPA[name]:.3f}", "-" if ours is None else f"{ours:.3f}"])
    if not report["kappas"]:
        return ""
    heading = "Table 1: agreement on three questions"
    return table(heading, rows[0], rows[1:], "Present: rated above 50 of 100.")


# ---- what was tried, and what is missing ----


def _choosing(report: Report) -> Table | str:
    rows: list[list[str]] = []
    for corpus in (name for name in SOURCES if name in report["choosing"]):
        rows.append([corpus])
        for model in (name for name in TABLE_4 if name in report["choosing"][corpus]):
            choice = report["choosing"][corpus][model]
            cells = [_trial(trial, n == choice["best"]) for n, trial in enumerate(choice["trials"])]
            chosen = choice["best"] is not None
            lacking = "" if chosen else f" ({len(cells)} of {choice['wanted']}: not chosen)"
            rows.append([f"  {MODELS[model].title}{lacking}", "  ".join(cells)])
    notes = (
        "Learning rate of the encoder, epochs (BNN: complexity weight), and the cross-entropy of "
        "held-out labels within training folds; * marks the choice. Variants have SeedBERT's "
        "settings."
    )
    heading = "Settings that were tried, the same number for every method"
    return table(heading, ["", ""], rows, notes)


def _trial(trial: Report, best: bool) -> str:
    settings = trial["settings"]
    rate = f"{settings['training.encoder_learning_rate']:g}"
    other = settings.get("complexity_weight", settings["training.epochs"])
    return whole(f"{rate}/{other:g} {trial['score']:.4f}{'*' * best}")


def _missing(report: Report) -> str:
    lines = []
    for name in (name for name in CONDITIONS if name in report["missing"]):
        missing_of = [
            f"{model} {lacking} of {wanted}" if lacking < wanted else model
            for model, (lacking, wanted) in _models(report["missing"][name])
        ]
        lines.append(f"  {name}: {', '.join(missing_of)}")
    return "\n".join(["Not fitted yet", *lines]) if lines else ""


# ---- claims ----


def claims(report: Report) -> str:
    """The claims of the paper and our additional questions, a line each."""
    every: tuple[Claim, ...] = (
        ("SeedBERT outperforms BERT and BNN (Table 4)", lambda r: _outperforms(r, False)),
        ("It outperforms models that learn from all annotators", lambda r: _outperforms(r, True)),
        ("Its votes are closer to the annotators than one network's distribution (Figure 3)",
         _recovers),
        ("A single network predicts near-uniform distributions whatever the input", _near_uniform),
        ("Members are biased towards certain answers, as annotators are", _biased),
        ("Annotators agree less on what is most present (Table 1)", _agree_less),
        (f"{BEYOND}seeds of the last layer compared with a deep ensemble of the same size", _deep),
        (f"{BEYOND}the best variant is closer than one network with temperature", _is_confirmed),
        (f"{BEYOND}how much of that comes from smoothing votes, not from members", _smoothing),
        (f"{BEYOND}post hoc, what the choice on {FIRST} depended on", _hung_on),
        (f"{BEYOND}post hoc, ensembles are closer than one network if all have temperature",
         _is_calibrated),
        (f"{BEYOND}repeated on other items, ensembles are closer, all with temperature",
         _holds_again),
    )  # fmt: skip
    return claims_text(report, every, unknown="not run yet")


def _counted(report: Report, *kinds: str) -> Iterator[tuple[str, Report]]:
    for name, condition in report["conditions"].items():
        if CONDITIONS[name].kind in kinds and CONDITIONS[name].source.counted:
            yield name, condition


def _outperforms(report: Report, oracle: bool) -> str:
    """In how many comparisons it is ahead, and where that is significant."""
    where_of: dict[str, list[str]] = {}
    ahead = n = 0
    for name, condition in _counted(report, "chosen", "paper"):
        for model in (m for m in TABLE_4 if MODELS[m].oracle == oracle):
            for metric, test in condition["against"].get(model, {}).items():
                ahead, n = ahead + (number(test["effect"]) > 0), n + 1
                what = f"{metric.replace('f1', 'F1')} over {model} in {name}{alone(test)}"
                where_of.setdefault(holds(test), []).append(what)
    if not n:
        return ""
    sure = [f"{words}: {', '.join(where)}" for words, where in where_of.items() if words != UNKNOWN]
    return "; ".join([f"better in {ahead} of {n} comparisons", *(sure or ["none is significant"])])


def _recovers(report: Report) -> str:
    parts = [
        f"{name} {', '.join(f'{d} {_side(tests[d])}' for d in DISTANCES)}"
        for name, condition in _counted(report, "chosen", "paper")
        if (tests := condition["recovery"]["single"])
    ]
    return f"{'; '.join(parts)}{UNCORRECTED}" if parts else ""


def _deep(report: Report) -> str:
    parts = [
        f"{name}, {BY}: {', '.join(f'{read} {_side(tests[read][BY])}' for read in READ_OUTS)}"
        for name, condition in _counted(report, "chosen")
        if (tests := condition["recovery"][DEEP])
    ]
    return f"{'; '.join(parts)}{UNCORRECTED}" if parts else ""


def _side(test: Report) -> str:
    """Closer or farther, if the interval excludes 0."""
    low, high = number(test["low"]), number(test["high"])
    side = "closer" if high < 0 else "farther" if low > 0 else UNKNOWN
    return f"{side} ({number(test['effect']):+.3f})"


def _near_uniform(report: Report) -> str:
    parts = []
    for name, condition in _counted(report, "chosen", "paper"):
        if "single" in condition["models"]:
            entropy = float(np.mean(condition["models"]["single"]["reads"][MEAN]["entropy"]))
            annotators = number(condition["floors"][ANNOTATORS]["entropy"])
            parts.append(
                f"{'' if entropy > UNIFORM else 'not '}true in {name}: entropy {entropy:.2f} of "
                f"the maximum, annotators' {annotators:.2f}"
            )
    return "; ".join(parts)


def _biased(report: Report) -> str:
    parts = []
    for name, condition in _counted(report, "chosen", "paper"):
        biases = condition["models"].get(SEEDS, {}).get("biases")
        if not biases:
            continue
        annotators = report[ANNOTATORS].get(CONDITIONS[name].corpus)
        theirs = f"annotators' by {100 * annotators['sd']:.1f}" if annotators else ""
        parts.append(
            f"{name}: members' rates of an answer differ by {100 * biases['sd']:.1f} points (sd), "
            f"{theirs or 'no ids of annotators'}; more than by chance in "
            f"{100 * biases['differ']:.0f} % of fits"
        )
    return "; ".join(parts)


def _agree_less(report: Report) -> str:
    kappas = report["kappas"]
    if not kappas:
        return ""
    lower = kappas["most"] < min(kappas["any"], kappas["all"])
    figures = ", ".join(f"{name} {kappas[name]:.2f}" for name in ("any", "most", "all"))
    return f"{'true' if lower else 'not true'} on snow2008 ({figures})"


def _is_nearer(test: Report) -> bool:
    """By the corrected test."""
    return number(test["adjusted"]) <= LEVEL and number(test["effect"]) < 0


def _is_confirmed(report: Report) -> str:
    """On how many of the other corpora the chosen variant is closer, by the corrected test."""
    variant = report["variant"]
    if not variant:
        return f"not chosen yet, {FIRST} lacks some of the variants"
    there = [name for name in OTHERS if name in variant["against"]]
    which = f"{MODELS[variant['model']].title}, {variant['read']}"
    if not there:
        return f"chosen on {FIRST}: {which}; not tested yet on {', '.join(OTHERS)}"
    nearer = [name for name in there if _is_nearer(variant["against"][name][TEMPERED][BY])]
    lacking = [name for name in OTHERS if name not in there]
    met = f"the criterion ({WANTED} corpora) is {'' if len(nearer) >= WANTED else 'not '}met"
    tail = f"not run yet: {', '.join(lacking)}" if lacking else met
    named = f" ({', '.join(nearer)})" if nearer else ""
    return f"{which}: significantly on {len(nearer)} of {len(there)}{named}; {tail}"


def _smoothing(report: Report) -> str:
    """The chosen variant against one network's answer, counted and smoothed like votes."""
    variant = report["variant"]
    if not variant or variant["read"] != VOTES:
        return "the chosen variant is not read as votes" if variant else ""
    parts = []
    for corpus in (name for name in SOURCES if name in variant["against"]):
        left, tempered = (variant["against"][corpus][read][BY] for read in (VOTES, TEMPERED))
        parts.append(
            f"{corpus}: {number(tempered['effect']):+.3f} against one network with temperature, "
            f"{_side(left)} against its answer counted as five votes"
        )
    return "; ".join(parts)


def _hung_on(report: Report) -> str:
    """Other distances' choices, and fits whose temperature is too low because of few labels."""
    variant = report["variant"]
    if not variant:
        return ""
    others = other_choices(variant)
    parts = [f"{' and '.join(names)} would have chosen {which}" for which, names in others.items()]
    parts = parts or [f"{' and '.join(DISTANCES)} choose the same"]
    tempering = report["tempering"][FIRST]
    few, many = tempering["rare"]
    parts.append(
        f"a temperature is chosen by {tempering['items']:.0f} items of a fit, of which {few} to "
        f"{many} have the rarer label"
    )
    models = {which["model"] for which in (variant, *variant["by"].values())}
    for model in (name for name in MODELS if name in models):
        figures = tempering["models"][model]
        below, fits = figures["below"], figures["fits"]
        sentence = f"{MODELS[model].title}: temperature below 1 in {below} of {fits} fits"
        if 0 < below < fits:
            sentence += (
                f", cross-entropy {figures['there']:.3f} in these and "
                f"{figures['elsewhere']:.3f} in the others, where votes have "
                f"{figures['votes']:.3f}"
            )
        parts.append(sentence)
    return "; ".join(parts)


def _is_calibrated(report: Report) -> str:
    """On how many of the other corpora each ensemble is closer, by the corrected test."""
    sentence = _on_how_many(report["calibrated"], OTHERS)
    return f"{sentence}. Not the chosen variant, so not a confirmation" if sentence else ""


def _holds_again(report: Report) -> str:
    """The same on other items, and whether the criterion is met there."""
    sentence = _on_how_many(report["again"], AGAIN)
    if not sentence or any(name not in report["again"] for name in AGAIN):
        return sentence
    tests = [report["again"][name][DEEP][SINGLE][BY] for name in AGAIN]
    met = "meets" if sum(map(_is_nearer, tests)) >= WANTED else "does not meet"
    return f"{sentence}; {MODELS[DEEP].title} {met} the criterion ({WANTED} corpora)"


def _on_how_many(of_corpus: Report, corpora: Sequence[str]) -> str:
    """Of the corpora that are there."""
    there = [name for name in corpora if name in of_corpus]
    parts = []
    for model in ENSEMBLES:
        tests = {n: of_corpus[n][model][SINGLE][BY] for n in there if model in of_corpus[n]}
        if tests:
            n = sum(map(_is_nearer, tests.values()))
            sentence = f"{MODELS[model].title}: significantly on {n} of {len(tests)}"
            parts.append(", ".join([sentence, *(_effect(*each) for each in tests.items())]))
    lacking = [name for name in corpora if name not in there]
    return "; ".join([*parts, *[f"not run yet: {', '.join(lacking)}"] * bool(parts and lacking)])


def _effect(name: str, test: Report) -> str:
    """How much closer on a corpus, and the result of the corrected test if it is not closer."""
    sure = number(test["adjusted"]) <= LEVEL
    words = "" if _is_nearer(test) else ", farther" if sure else f", {UNKNOWN}"
    return f"{name} ({number(test['effect']):+.4f}{words})"
