"""Are the sentences of `describe` and of the report's summary true of projects with a known truth?

Six honest annotators, some of them strict or lenient, and those who are planted. Sentences about
single annotators are compared with what was planted, sentences with a number with a plain count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from cells import Cell

from dissensus import Annotations, Corpus, Interval, MultiLabel, Nominal, Ordinal, describe
from dissensus.description import actions, cluster_annotators
from dissensus.report.summary import summary_of
from dissensus.scales import Scale

SCALES: dict[str, Scale] = {
    "two values": Nominal(("no", "yes")),
    "three values": Nominal(("ok", "toxic", "unsure")),
    "levels": Ordinal(("1", "2", "3", "4", "5")),
    "ratings": Interval(0, 10),
    "sets": MultiLabel(("anger", "joy", "fear")),
}
KIND = {  # of a planted annotator, in the words of the summary
    "random": "agrees with others no more than chance",
    "constant": "always gives the same answer",
    "contrary": "contradicts the others",
    "copier": "same answers as another annotator",
}
PLANTED = ("random", "constant", "contrary", "copier")
OPPOSITE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "two values": lambda own: 1 - own,
    "three values": lambda own: (own + 1) % 3,
    "levels": lambda own: 4 - own,
    "ratings": lambda own: (10 - own).round(1),
    "sets": lambda own: 7 - own,
}
N_ITEMS, N_HONEST = 300, 6
Generator = np.random.Generator


def at_random(generator: Generator, scale: str) -> np.ndarray:
    if scale == "ratings":
        return generator.uniform(0, 10, N_ITEMS).round(1)
    n_codes = {"two values": 2, "three values": 3, "levels": 5, "sets": 8}[scale]
    return generator.integers(0, n_codes, N_ITEMS)


def honest(generator: Generator, scale: str, camps: bool) -> list[np.ndarray]:
    """Answers of six annotators; of two camps, the last three see a third of items otherwise."""
    skills, lenient = np.linspace(0.75, 0.95, N_HONEST), np.linspace(-0.4, 0.4, N_HONEST)
    other = (generator.random(N_ITEMS) < 1 / 3) & camps
    if scale in ("levels", "ratings"):
        place = generator.normal(0, 1.2, (2, N_ITEMS))
        answers = []
        for number, own in enumerate(lenient):
            seen = np.where(other & (number >= 3), place[1], place[0]) + own
            seen = seen + generator.normal(0, 0.6, N_ITEMS)
            whole = np.rint(2 + seen).clip(0, 4).astype(int)
            answers.append(whole if scale == "levels" else (5 + 1.5 * seen).clip(0, 10).round(1))
        return answers
    shares = {"two values": (0.7, 0.3), "three values": (0.6, 0.3, 0.1)}.get(scale)
    if shares is None:
        bits = generator.random((2, N_ITEMS, 3)) < [0.5, 0.3, 0.2]
        truth = bits @ np.array([1, 2, 4])
        guesses = (generator.random((N_HONEST, N_ITEMS, 3)) < [0.5, 0.3, 0.2]) @ np.array([1, 2, 4])
    else:
        truth = generator.choice(len(shares), (2, N_ITEMS), p=shares)
        truth[1] = (truth[0] + 1) % len(shares)
        guesses = generator.choice(len(shares), (N_HONEST, N_ITEMS), p=shares)
    return [
        np.where(
            generator.random(N_ITEMS) < skill,
            np.where(other & (number >= 3), truth[1], truth[0]),
            guesses[number],
        )
        for number, skill in enumerate(skills)
    ]


def project(generator: Generator, scale: str, planted: tuple[str, ...], camps: bool) -> Corpus:
    """Annotators 0 to 5 are honest; the others are named after what was planted."""
    answers = honest(generator, scale, camps)
    names = [f"honest{number}" for number in range(N_HONEST)]
    for kind in planted:
        other = at_random(generator, scale)
        if kind == "constant":
            other = np.full(N_ITEMS, answers[0][0])
        elif kind == "contrary":
            other = OPPOSITE[scale](answers[1])
        elif kind == "copier":
            other = np.where(generator.random(N_ITEMS) < 0.02, other, answers[0])
        answers.append(other)
        names.append(kind)
    table = np.stack(answers, axis=1)
    annotations = Annotations.from_arrays(
        np.repeat([f"t{number}" for number in range(N_ITEMS)], len(names)),
        np.tile(names, N_ITEMS),
        table.ravel().astype(SCALES[scale].dtype),
        SCALES[scale],
    )
    return Corpus.build("project", annotations.items, {"q": annotations})


def sentences(corpus: Corpus) -> list[str]:
    """What a report without a comparison says first: what was found, and what to do now."""
    clusters = {q: cluster_annotators(answers) for q, answers in corpus.questions.items()}
    description = describe(corpus)
    return [*summary_of(corpus, description, None, clusters), *actions(description)]


def expected_kinds(planted: tuple[str, ...]) -> dict[str, set[str]]:
    """What may be said about whom; who is at random agrees less than others, too."""
    expected = {kind: {KIND[kind]} for kind in planted}
    if "random" in expected:
        expected["random"].add("agrees less than the others do")
    if "copier" in planted:
        expected["honest0"] = {KIND["copier"]}
    return expected


def untrue(
    generator: Generator, scale: str, planted: tuple[str, ...], camps: bool
) -> Iterator[str]:
    """The sentences about a project that are not true."""
    corpus = project(generator, scale, planted, camps)
    expected = expected_kinds(planted)
    for row in describe(corpus).questions[0].suspicious:
        if row.annotator not in expected:
            yield f"describe: {row.annotator} is {row.suspicious}"
    for sentence in sentences(corpus):
        if not is_true(sentence, corpus, expected):
            yield sentence


def is_true(sentence: str, corpus: Corpus, expected: dict[str, set[str]]) -> bool:
    answers = corpus["q"]
    table = answers.answer.reshape(N_ITEMS, -1)
    if found := re.search(
        r"has ([\d,]+) answers by ([\d,]+) annotators .* on ([\d,]+) items", sentence
    ):
        return [int(n.replace(",", "")) for n in found.groups()] == [table.size, *table.T.shape]
    if found := re.search(r"On (\d+) % of the 300 items .* do not all give", sentence):
        return abs(int(found[1]) - 100 * (table.min(axis=1) < table.max(axis=1)).mean()) <= 0.5
    if "each of the 300 items" in sentence:
        return bool((table.min(axis=1) < table.max(axis=1)).all())
    if found := re.search(r"for the same item differ by ([\d.]+) on average", sentence):
        apart = np.abs(table[:, :, None] - table[:, None]).sum(axis=(1, 2)).mean()
        return abs(float(found[1]) - apart / (table.shape[1] * (table.shape[1] - 1))) < 0.06
    if "answer alike" in sentence and not _camps(sentence):
        return False
    if sentence.startswith("None"):
        return not expected
    if "out and should be looked at" in sentence:
        for first, second, same in re.findall(r"(\w+) and (\w+) \(the same .* to (\d+)", sentence):
            x, y = (table[:, answers.annotators.codes([name])[0]] for name in (first, second))
            if {first, second} - {"honest0", "copier"} or int((x == y).sum()) != int(same):
                return False
        named = dict(re.findall(r"(\w+) \((?!the same)([^()]*)\)", sentence))
        return all(set(kind.split(", ")) <= expected.get(who, set()) for who, kind in named.items())
    if sentence.startswith("Talk to"):
        return set(re.findall(r"(\w+) \(", sentence)) <= {*expected, "them"}
    if found := re.search(r"again: (\d+) items? on which no value", sentence):
        marked = answers.annotators.codes(list(describe(corpus).questions[0].marked))
        return int(found[1]) == sum(
            2 * np.unique(row, return_counts=True)[1].max() <= len(row)
            for row in np.delete(table, marked, axis=1)
        )
    return True


def _camps(sentence: str) -> bool:
    """Whether those who are said to answer alike are two camps: the first and the last three."""
    parts = sentence.split("explains:")[1].split(";")
    clusters = [set(re.findall(r"[a-z]+\d?", part)) - {"and", "more"} for part in parts]
    sides = [{"honest0", "honest1", "honest2"}, {"honest3", "honest4", "honest5"}]
    return all(any(cluster <= side for side in sides) for cluster in clusters)


def is_untrue(generator: Generator, **options: Any) -> float:
    return float(any(True for _ in untrue(generator, **options)))


def found(generator: Generator, scale: str) -> float:
    """The share of those who were planted, and of whom was copied, who are named."""
    question = describe(project(generator, scale, PLANTED, camps=False)).questions[0]
    expected = expected_kinds(PLANTED)
    return len({row.annotator for row in question.suspicious} & set(expected)) / len(expected)


CELLS = (
    *(
        Cell(
            f"{scale}, {name}",
            "projects with an untrue sentence",
            "at most 0.05",
            partial(is_untrue, scale=scale, planted=planted, camps=camps),
        )
        for name, planted, camps in (
            ("honest", (), False),
            ("one at random, constant, contrary, copier each", PLANTED, False),
            ("two camps and one at random", ("random",), True),
        )
        for scale in SCALES
    ),
    *(
        Cell(f"{scale}, one of each planted", "planted found", "high", partial(found, scale=scale))
        for scale in SCALES
    ),
)
