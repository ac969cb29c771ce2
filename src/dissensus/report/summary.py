"""The summary of a report: what was found, in a few sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from dissensus.agreement import mean_difference
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description import AnnotatorClusters, Description
from dissensus.description.advice import undivided
from dissensus.description.describe import differing_items
from dissensus.description.disputed_table import changed_consensus
from dissensus.description.marks import without_marked
from dissensus.description.suspicious_annotators import FEW, some_names
from dissensus.errors import counted, cut
from dissensus.evaluation import Results
from dissensus.evaluation.best_method import best_method, comparison_tables
from dissensus.evaluation.comparison_table import higher_is_better
from dissensus.evaluation.result_tables import comparable_methods
from dissensus.evaluation.results import WITHOUT
from dissensus.report.sections.agreement import alpha_of, named
from dissensus.scales import Interval

MOST_NAMED = 4
_short = partial(cut, most=40)  # a question that is a whole sentence
KINDS = {  # of suspicious annotators, in words
    "at chance": "agrees with others no more than chance",
    "constant": "always gives the same answer",
    "contrary": "contradicts the others",
    "different": "agrees less than the others do",
    "fast": "answers much faster than usual",
}


def summary_of(
    corpus: Corpus | None,
    description: Description | None,
    results: Results | None,
    clusters: Mapping[str, AnnotatorClusters | None],
    note: str = "",
) -> list[str]:
    """What the report shows, the most important first.

    Args:
        note: why no method was compared, or what of the comparison is missing.
    """
    sentences: list[str] = []
    if corpus is not None and description is not None:
        sentences += [_size(corpus), _agreement(corpus, description), _dispute(corpus, description)]
        groups = _groups(description)
        parts = [_people(description), _tired(description), _alike(corpus, clusters)]
        parts += [] if groups else [_no_groups(description)]
        sentences += [" ".join(filter(None, parts)), groups]
    sentences.append(_methods(results, note))
    return [sentence for sentence in sentences if sentence]


def _size(corpus: Corpus) -> str:
    n_answers = sum(answers.n_answers for answers in corpus.questions.values())
    known = any(answers.annotator is not None for answers in corpus.questions.values())
    n = corpus.n_annotators
    by = f" by {n:,} annotator{'s' * (n != 1)}" if known else " by unknown annotators"
    questions = [_short(question) for question in corpus.questions]
    about = f" to {counted(len(questions), 'question')} ({', '.join(questions[:5])}"
    about += ", ...)" if len(questions) > 5 else ")"
    items = "1 item" if corpus.n_items == 1 else f"{corpus.n_items:,} items"
    return f"{corpus.name} has {n_answers:,} answers{by}{about} on {items}."


def _agreement(corpus: Corpus, description: Description) -> str:
    parts, without = [], {one.name: one.agreement_without for one in description.questions}
    who = {one.name: named(tuple(one.marked), MOST_NAMED) for one in description.questions}
    for question, answers in list(corpus.questions.items())[:3]:
        value, low, high = alpha_of(answers)
        if math.isnan(value):
            continue
        ends = "" if math.isnan(low) else f" (95 % interval {low:.2f} to {high:.2f})"
        part = f"{round(value, 2) + 0:.2f}{ends} for {_short(question)}"
        other = without.get(question, {}).get("krippendorff-alpha", math.nan)
        part += "" if math.isnan(other) else f", {other:.2f} without {who[question]}"
        parts.append(part)
    if not parts:
        several = any((answers.voters() >= 2).any() for answers in corpus.questions.values())
        why = "all answers are the same" if several else "no item has two annotators"
        return f"Agreement is undefined, because {why}."
    return (
        f"Agreement beyond chance (Krippendorff's alpha) is {'; '.join(parts)}; 1 would be full "
        "agreement, 0 what chance gives."
    )


def _dispute(corpus: Corpus, description: Description) -> str:
    question, answers = next(iter(corpus.questions.items()), ("", None))
    n = 0 if answers is None else int((answers.voters() >= 2).sum())
    if answers is None or not n:
        return ""
    marks = description.questions[0].marked
    rest = without_marked(answers, marks) if marks else answers
    who = f"without {named(tuple(marks), MOST_NAMED)}"
    if isinstance(answers.scale, Interval):
        other = f", {mean_difference(rest):.2g} {who}," if marks else ""
        return (
            f"Two ratings of {_short(question)} for the same item differ by "
            f"{mean_difference(answers):.2g}{other} on average, on a scale from "
            f"{answers.scale.low:g} to {answers.scale.high:g} ({counted(n, 'item')} with two "
            "ratings or more)."
        )
    where = f" about {_short(question)}" if len(corpus.questions) > 1 else ""
    share, of_rest = (_share_differing(one) for one in (answers, rest))
    part = f"each of the {n:,} items" if n > 1 else "the only item"
    if n > 1 and 0 < share < 1:
        part = f"{_percent(share)} of the {n:,} items"
    what = "annotators do not all give the same" if share else "all annotators give the same"
    other = ""
    if marks and not math.isnan(of_rest):
        changed = len(changed_consensus(answers, rest)[0])
        other = (
            f"; {who} on {_percent(of_rest)}, and the consensus of {changed:,} is another one, "
            "ties included"
        )
    return f"On {part} with two answers or more, {what} answer{where}{other}."


def _share_differing(annotations: Annotations) -> float:
    """The share of the items with two answers or more whose answers differ."""
    several = annotations.voters() >= 2
    return float(differing_items(annotations)[several].mean()) if several.any() else math.nan


def _percent(share: float) -> str:
    if 0 < share < 0.01 or 0.99 < share < 1:
        return "less than 1 %" if share < 0.5 else "more than 99 %"
    return f"{100 * share:.0f} %"


def _people(description: Description) -> str:
    kinds: dict[str, list[str]] = {}
    copies: dict[str, None] = {}
    for question in description.questions:
        for row in question.suspicious:
            own = kinds.setdefault(row.annotator, [])
            own += [KINDS[k] for k in row.suspicious if k in KINDS and KINDS[k] not in own]
        for pair in question.duplicated:
            same = f"the same answer to {pair.answers:,} of {pair.items:,} items"
            copies[f"{' and '.join(pair.annotators)} ({same})"] = None
    checked = max([question.checked for question in description.questions] + [0])
    doubt = next((q.crowd[0] for q in description.questions if q.crowd and not q.comparable), "")
    if doubt and not kinds:
        return doubt
    if kinds:
        people = [f"{name} ({', '.join(own)})" for name, own in kinds.items() if own]
        people += copies
        more = len(people) - MOST_NAMED
        rest = f"; and {more} more" if more > 0 else ""
        verb = "annotator stands" if len(kinds) == 1 else "annotators stand"
        who = "; ".join(people[:MOST_NAMED])
        return f"{len(kinds):,} {verb} out and should be looked at: {who}{rest}."
    if checked < 2:
        return ""
    n_few = description.annotators - checked
    few = f"; {n_few:,} gave too few answers to tell" if n_few > 0 else ""
    none = "Neither" if checked == 2 else "None"
    return (
        f"{none} of the {checked:,} annotators with {FEW} answers or more stands out as careless "
        f"or unlike the others{few}."
    )


def _tired(description: Description) -> str:
    """Annotators who agree less as time goes on, apart from those who are marked anyway."""
    tired = [
        f"{name} ({text})" for one in description.questions for name, text in one.tired.items()
    ]
    who = some_names(list(dict.fromkeys(tired)))
    return f"Less careful as time went on, it seems: {who}." if tired else ""


def _alike(corpus: Corpus, clusters: Mapping[str, AnnotatorClusters | None]) -> str:
    """Annotators who answer alike, on the first question that has such clusters."""
    for question, some in clusters.items():
        if some is not None and some.significant:
            parts = [named(cluster.annotators, MOST_NAMED) for cluster in some.clusters]
            where = f" about {_short(question)}" if len(clusters) > 1 else ""
            return (
                f"Some annotators answer alike{where}, more than a common view of the items "
                f"explains (p = {some.p:.2f}): {'; '.join(parts)}{_same_groups(corpus, some)}."
            )
    return ""


def _same_groups(corpus: Corpus, clusters: AnnotatorClusters) -> str:
    """Which attribute has one value in each cluster, another one in each; nothing if none has."""
    for attribute, values in corpus.annotator_attributes.items():
        of = dict(zip(corpus.annotators, values.to_pylist(), strict=True))
        groups = [{of[name] for name in cluster.annotators} for cluster in clusters.clusters]
        names = [str(value) for group in groups for value in group if value is not None]
        if len(groups) == len(names) == len(set(names)) > 1:
            return f". By {attribute} they are {' and '.join(names)}"
    return ""


def _groups(description: Description) -> str:
    for question in description.questions:
        for group in question.groups:
            if min(group.corrected, group.level_corrected, group.reliability_corrected) < 0.05:
                where = f" ({_short(question.name)})" if len(description.questions) > 1 else ""
                return f"{group.attribute}: {group.conclusion}{where}".rstrip(".") + "."
    return ""


def _no_groups(description: Description) -> str:
    names, why = undivided([one for question in description.questions for one in question.groups])
    which = some_names(names, 5) if len(names) > 6 else " or ".join(names)
    return f"No difference between annotators by {which} is shown{why}." if names else ""


def _methods(results: Results | None, note: str) -> str:
    why = f"{note[:1].upper()}{note[1:]}."
    if results is None:
        return why if note else ""
    best = best_method(results)
    if best is None:
        return why if note else "No method could be fitted."
    table = next(t for t in comparison_tables(results) if t.question == best.question)
    metric, cell = best.metric, table[best.method].cells[best.metric]
    better = "higher" if higher_is_better(metric) else "lower"
    ends = "" if math.isnan(cell.low) else f" (95 % interval {cell.low:.3f} to {cell.high:.3f})"
    comparable = [n for n in comparable_methods(results) if metric in table[n].cells]
    subject = f"Of {len(comparable)} methods, {best.method} predicts"
    how = "best on average: "
    if len(comparable) == 1:
        subject, how = f"{best.method}, the only method to compare with floors, predicts", "with "
    sentence = (
        f"{subject} {_short(table.question)} {how}{metric} {cell.mean:.3f}{ends}, where "
        f"{better} is better"
    )
    for name in results.about.protocol.get(WITHOUT, ()):
        if name.startswith(who := f"{table.question} without "):
            (fewer,) = comparison_tables(results, (name,))
            if metric in fewer[best.method].cells:
                score = fewer[best.method].cells[metric].mean
                sentence += f"; {score:.3f} without {name.removeprefix(who)}"
    floors = [r for r in table.rows if r.floor and metric in r.cells and r.cells[metric].n_fits]
    if floors:
        sign = 1 if higher_is_better(metric) else -1
        floor = max(floors, key=lambda r: sign * r.cells[metric].mean)
        score = floor.cells[metric].mean
        verdict = f"has {score:.3f}"
        if not sign * score < sign * cell.mean:
            verdict = f"is no worse with {score:.3f}: more items, or another encoder, may help"
        sentence += f"; {floor.name}, which ignores the content, {verdict}"
    return f"{sentence} ({note})." if note else f"{sentence}."
