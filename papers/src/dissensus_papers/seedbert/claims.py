"""The claims of the paper, each with a verdict."""

from __future__ import annotations

import numpy as np

from dissensus.evaluation.fit import number
from dissensus_papers.framework.verdicts import (
    BEYOND,
    LEVEL,
    UNKNOWN,
    Claim,
    Report,
    alone,
    claims_text,
    holds,
)
from dissensus_papers.seedbert.conditions import CONDITIONS
from dissensus_papers.seedbert.corpora import FIRST, SOURCES
from dissensus_papers.seedbert.figures import ANNOTATORS
from dissensus_papers.seedbert.models import DEEP, MODELS, SEEDS, SINGLE, TABLE_4
from dissensus_papers.seedbert.scoring import DISTANCES, MEAN, READ_OUTS, TEMPERED, VOTES
from dissensus_papers.seedbert.selection import BY
from dissensus_papers.seedbert.studies.temperature import ENSEMBLES

WANTED = 2  # corpora on which the variant has to be closer
UNCORRECTED = " (by intervals of 95 %, not corrected)"
UNIFORM = 0.9  # a mean entropy above this share of the highest
READS = {VOTES: "votes", MEAN: "mean probability", TEMPERED: "mean, with temperature"}


def claims(report: Report) -> str:
    """The claims of the paper and our additional questions, a line each."""
    every: tuple[Claim, ...] = (
        ("SeedBERT outperforms BERT and BNN (Table 4)", lambda r: _outperforms(r, False)),
        ("It outperforms models that learn from all annotators", lambda r: _outperforms(r, True)),
        (
            "Its votes are closer to the annotators than one network's distribution (Figure 3)",
            _recovers,
        ),
        ("A single network predicts near-uniform distributions whatever the input", _near_uniform),
        ("Members are biased towards certain answers, as annotators are", _biased),
        ("Annotators agree less on what is most present (Table 1)", _agree_less),
        (f"{BEYOND}seeds of the last layer compared with a deep ensemble of the same size", _deep),
        (f"{BEYOND}the best variant is closer than one network with temperature", _confirmed),
        (f"{BEYOND}how much of that comes from smoothing votes, not from members", _smoothing),
        (f"{BEYOND}post hoc, what the choice on {FIRST} depended on", _hung_on),
        (
            f"{BEYOND}post hoc, ensembles are closer than one network if all have temperature",
            _calibrated,
        ),
        (
            f"{BEYOND}repeated on other items, ensembles are closer, all with temperature",
            _again,
        ),
    )
    return claims_text(report, every, unknown="not run yet")


def _counted(report: Report, *kinds: str) -> dict[str, Report]:
    return {
        name: condition
        for name, condition in report["conditions"].items()
        if CONDITIONS[name].kind in kinds and CONDITIONS[name].source.counted
    }


def _outperforms(report: Report, oracle: bool) -> str:
    """In how many comparisons it is ahead, and where that is significant."""
    where_of: dict[str, list[str]] = {}
    ahead = n = 0
    for name, condition in _counted(report, "chosen", "paper").items():
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
    parts = []
    for name, condition in _counted(report, "chosen", "paper").items():
        tests = condition["recovery"]["single"]
        if tests:
            parts.append(f"{name} {', '.join(f'{d} {_side(tests[d])}' for d in DISTANCES)}")
    return f"{'; '.join(parts)}{UNCORRECTED}" if parts else ""


def _side(test: Report) -> str:
    """Closer or farther, if the interval excludes 0."""
    low, high = number(test["low"]), number(test["high"])
    side = "closer" if high < 0 else "farther" if low > 0 else UNKNOWN
    return f"{side} ({number(test['effect']):+.3f})"


def _near_uniform(report: Report) -> str:
    parts = []
    for name, condition in _counted(report, "chosen", "paper").items():
        single = condition["models"].get("single")
        if single is None:
            continue
        entropy = float(np.mean(single["reads"][MEAN]["entropy"]))
        annotators = number(condition["floors"][ANNOTATORS]["entropy"])
        words = "true" if entropy > UNIFORM else "not true"
        parts.append(
            f"{words} in {name}: entropy {entropy:.2f} of the maximum, annotators' {annotators:.2f}"
        )
    return "; ".join(parts)


def _biased(report: Report) -> str:
    parts = []
    for name, condition in _counted(report, "chosen", "paper").items():
        biases = condition["models"].get(SEEDS, {}).get("biases")
        if not biases:
            continue
        annotators = report[ANNOTATORS].get(CONDITIONS[name].corpus)
        compared = (
            f", annotators' by {100 * annotators['sd']:.1f}"
            if annotators
            else ", no ids of annotators"
        )
        parts.append(
            f"{name}: members' rates of an answer differ by {100 * biases['sd']:.1f} points (sd)"
            f"{compared}; more than by chance in {100 * biases['differ']:.0f} % of fits"
        )
    return "; ".join(parts)


def _agree_less(report: Report) -> str:
    kappas = report["kappas"]
    if not kappas:
        return ""
    lower = kappas["most"] < min(kappas["any"], kappas["all"])
    figures = ", ".join(f"{name} {kappas[name]:.2f}" for name in ("any", "most", "all"))
    return f"{'true' if lower else 'not true'} on snow2008 ({figures})"


def _deep(report: Report) -> str:
    parts = []
    for name, condition in _counted(report, "chosen").items():
        tests = condition["recovery"][DEEP]
        if tests:
            sides = [f"{read} {_side(tests[read][BY])}" for read in READ_OUTS]
            parts.append(f"{name}, {BY}: {', '.join(sides)}")
    return f"{'; '.join(parts)}{UNCORRECTED}" if parts else ""


def _confirmed(report: Report) -> str:
    """On how many of the other corpora the chosen variant is closer, by the corrected test."""
    variant = report["variant"]
    if not variant:
        return f"not chosen yet, {FIRST} lacks some of the variants"
    others = _others()
    there = [name for name in others if name in variant["against"]]
    which = f"{MODELS[variant['model']].called}, {variant['read']}"
    if not there:
        return f"chosen on {FIRST}: {which}; not tested yet on {', '.join(others)}"
    nearer = [name for name in there if _is_nearer(variant["against"][name][TEMPERED][BY])]
    lacking = [name for name in others if name not in there]
    met = (
        ""
        if lacking
        else f"; the criterion ({WANTED} corpora) is {'' if len(nearer) >= WANTED else 'not '}met"
    )
    tail = f"; not run yet: {', '.join(lacking)}" if lacking else met
    named = f" ({', '.join(nearer)})" if nearer else ""
    return f"{which}: significantly on {len(nearer)} of {len(there)}{named}{tail}"


def _others() -> list[str]:
    """The corpora that count, other than the one that was chosen on."""
    return [name for name, source in SOURCES.items() if source.counted and name != FIRST]


def _is_nearer(test: Report) -> bool:
    """By the corrected test."""
    return number(test["adjusted"]) <= LEVEL and number(test["effect"]) < 0


def _smoothing(report: Report) -> str:
    """The chosen variant against one network's answer, counted and smoothed like votes."""
    variant = report["variant"]
    if not variant or variant["read"] != VOTES:
        return "the chosen variant is not read as votes" if variant else ""
    parts = []
    for corpus in (name for name in SOURCES if name in variant["against"]):
        against = variant["against"][corpus]
        left, whole = (against[read][BY] for read in (VOTES, TEMPERED))
        parts.append(
            f"{corpus}: {number(whole['effect']):+.3f} against one network with temperature, "
            f"{_side(left)} against its answer counted as five votes"
        )
    return "; ".join(parts)


# ---- post hoc ----


def called(which: Report) -> str:
    """A variant and its read-out."""
    return f"{MODELS[which['model']].called}, {READS[which['read']]}"


def other_choices(variant: Report) -> dict[str, list[str]]:
    """Variants that other distances would have chosen: variant -> distances."""
    names_of: dict[str, list[str]] = {}
    for distance in DISTANCES:
        if called(variant["by"][distance]) != called(variant):
            names_of.setdefault(called(variant["by"][distance]), []).append(distance)
    return names_of


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
        of_model = tempering["models"][model]
        sentence = (
            f"{MODELS[model].called}: temperature below 1 in {of_model['below']} of "
            f"{of_model['fits']} fits"
        )
        if 0 < of_model["below"] < of_model["fits"]:
            sentence += (
                f", cross-entropy {of_model['there']:.3f} in these and "
                f"{of_model['elsewhere']:.3f} in the others, where votes have "
                f"{of_model['votes']:.3f}"
            )
        parts.append(sentence)
    return "; ".join(parts)


def _calibrated(report: Report) -> str:
    """On how many of the other corpora each ensemble is closer, by the corrected test."""
    sentence = _on_how_many(report["calibrated"], _others())
    return f"{sentence}. Not the chosen variant, so not a confirmation" if sentence else ""


def _again(report: Report) -> str:
    """The same on other items, and whether the criterion is met there."""
    corpora = [name for name, source in SOURCES.items() if source.again]
    sentence = _on_how_many(report["again"], corpora)
    if not sentence or any(name not in report["again"] for name in corpora):
        return sentence
    tests = [report["again"][name][DEEP][SINGLE][BY] for name in corpora]
    met = "meets" if sum(map(_is_nearer, tests)) >= WANTED else "does not meet"
    return f"{sentence}; {MODELS[DEEP].called} {met} the criterion ({WANTED} corpora)"


def _on_how_many(of_corpus: Report, corpora: list[str]) -> str:
    """Of the corpora that are there."""
    there = [name for name in corpora if name in of_corpus]
    parts = []
    for model in ENSEMBLES if there else ():
        tests = {
            name: of_corpus[name][model][SINGLE][BY] for name in there if model in of_corpus[name]
        }
        if not tests:
            continue
        n = sum(map(_is_nearer, tests.values()))
        sentences = [f"{MODELS[model].called}: significantly on {n} of {len(tests)}"]
        parts.append(", ".join([*sentences, *(_effect(*each) for each in tests.items())]))
    lacking = [name for name in corpora if name not in there]
    return "; ".join([*parts, *[f"not run yet: {', '.join(lacking)}"] * bool(parts and lacking)])


def _effect(name: str, test: Report) -> str:
    """How much closer on a corpus, and the result of the corrected test if it is not closer."""
    sure = number(test["adjusted"]) <= LEVEL
    words = "" if _is_nearer(test) else ", farther" if sure else f", {UNKNOWN}"
    return f"{name} ({number(test['effect']):+.4f}{words})"
