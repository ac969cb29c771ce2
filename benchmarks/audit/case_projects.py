"""Is what `describe` and the report's summary say true of projects with a known truth?

Projects of eight honest annotators or more, four of whom are women, and of those who are planted:
one who clicks at random, one who always gives the same answer, one who contradicts, one who copies,
one who gets tired; or women and men who divide on a fifth of the items; or a minority who see a
third of the items otherwise. Each kind of sentence has a function that compares it with what was
planted, or with a plain count or another package. A sentence that no function knows is untrue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import krippendorff
import numpy as np
from cells import Cells

from dissensus import Annotations, Corpus, Interval, MultiLabel, Nominal, Ordinal, describe
from dissensus.description import Description, actions, cluster_annotators
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
    "tired": "tired",  # has a sentence of its own
    "different": "agrees less than the others do",
}
PLANTED = ("random", "constant", "contrary", "copier", "tired")
SETTINGS: dict[str, dict[str, Any]] = {
    "honest": {},
    "one of each": {"planted": PLANTED},
    "groups divide on a fifth": {"planted": ("random",), "divided": 0.2, "n_honest": 10},
    "minority of 3 of 9": {"planted": ("random",), "minority": 3, "n_honest": 9},
}
OPPOSITE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "two values": lambda own: 1 - own,
    "three values": lambda own: (own + 1) % 3,
    "levels": lambda own: 4 - own,
    "ratings": lambda own: (10 - own).round(1),
    "sets": lambda own: 7 - own,
}
OF_GROUPS = {  # what women and men answer to the items on which they divide
    "two values": (1, 0), "three values": (1, 0), "levels": (4, 1), "ratings": (9.0, 2.0),
    "sets": (1, 2),
}  # fmt: skip
N_ITEMS = 300
Generator = np.random.Generator


# ---- projects ----


@dataclass(frozen=True, eq=False)
class Project:
    """A corpus, and what was planted in it."""

    corpus: Corpus
    table: np.ndarray  # (n_items, n_annotators)
    names: list[str]
    planted: tuple[str, ...]
    minority: set[str]
    gender: np.ndarray  # (n_annotators,)
    divided: np.ndarray  # (n_items,) whether women and men divide

    @property
    def kind(self) -> str:
        return self.corpus["q"].scale.kind

    @cached_property
    def description(self) -> Description:
        return describe(self.corpus)

    @cached_property
    def sentences(self) -> list[str]:
        """What a report without a comparison says first, what to do, and what `describe` adds."""
        marks = self.description.questions[0].marked
        clusters = {"q": cluster_annotators(self.corpus["q"], left_out=marks)}
        summary = summary_of(self.corpus, self.description, None, clusters)
        return [*summary, *actions(self.description), *self.description.questions[0].crowd]

    @cached_property
    def kinds(self) -> dict[str, set[str]]:
        """What may be said about whom; who is at random agrees less than others, too."""
        kinds = {kind: {KIND[kind]} for kind in self.planted}
        for kind in {"random", "tired"} & set(kinds):
            kinds[kind].add(KIND["different"])
        if "copier" in kinds:
            kinds["honest0"] = {KIND["copier"]}
        return kinds

    def without(self, names: str) -> np.ndarray:
        """The answers without those of a list such as "ann, bob and cy", or "ann and 4 more"."""
        named = re.findall(r"[a-z]+\d*", names.replace(" and ", ", "))
        if more := re.search(r"and (\d+) more", names):
            marks = list(self.description.questions[0].marked)
            named = marks if len(marks) == len(named) - 1 + int(more[1]) else named
        return self.table[:, ~np.isin(self.names, named)]


def at_random(generator: Generator, scale: str) -> np.ndarray:
    if scale == "ratings":
        return generator.uniform(0, 10, N_ITEMS).round(1)
    n_codes = {"two values": 2, "three values": 3, "levels": 5, "sets": 8}[scale]
    return generator.integers(0, n_codes, N_ITEMS)


def honest(generator: Generator, scale: str, n: int, minority: int) -> list[np.ndarray]:
    """Answers of honest annotators; the last ones may see a third of the items otherwise."""
    skills, lenient = np.linspace(0.75, 0.95, n), np.linspace(-0.4, 0.4, n)
    other = (generator.random(N_ITEMS) < 1 / 3) & (np.arange(n) >= n - minority)[:, None]
    if scale in ("levels", "ratings"):
        place = generator.normal(0, 1.2, (2, N_ITEMS))
        seen = np.where(other, place[1], place[0]) + lenient[:, None]
        seen = seen + generator.normal(0, 0.6, (n, N_ITEMS))
        if scale == "levels":
            return list(np.rint(2 + seen).clip(0, 4).astype(int))
        return list((5 + 1.5 * seen).clip(0, 10).round(1))
    shares = {"two values": (0.7, 0.3), "three values": (0.6, 0.3, 0.1)}.get(scale)
    if shares is None:
        chances, bits = [0.5, 0.3, 0.2], np.array([1, 2, 4])
        truth = (generator.random((2, N_ITEMS, 3)) < chances) @ bits
        guesses = (generator.random((n, N_ITEMS, 3)) < chances) @ bits
    else:
        truth = generator.choice(len(shares), (2, N_ITEMS), p=shares)
        truth[1] = (truth[0] + 1) % len(shares)
        guesses = generator.choice(len(shares), (n, N_ITEMS), p=shares)
    right = generator.random((n, N_ITEMS)) < skills[:, None]
    return list(np.where(right, np.where(other, truth[1], truth[0]), guesses))


def project(
    generator: Generator,
    scale: str,
    planted: tuple[str, ...] = (),
    minority: int = 0,
    divided: float = 0.0,
    n_honest: int = 8,
) -> Project:
    """Honest annotators have numbers; the others are named after what was planted."""
    answers = honest(generator, scale, n_honest + 1, minority)
    careful = answers.pop(n_honest // 2)  # at first
    gender = generator.permutation(np.arange(n_honest) % 2)
    chosen = generator.random(N_ITEMS) < divided
    for code, own in enumerate(answers):
        view = OF_GROUPS[scale][gender[code]]
        own[chosen & (generator.random(N_ITEMS) < 0.9)] = view
    for kind in planted:
        other = at_random(generator, scale)
        if kind == "constant":
            other = np.full(N_ITEMS, answers[0][0])
        elif kind == "contrary":
            other = OPPOSITE[scale](answers[1])
        elif kind == "copier":
            other = np.where(generator.random(N_ITEMS) < 0.02, other, answers[0])
        elif kind == "tired":
            other = np.where(np.arange(N_ITEMS) < N_ITEMS / 2, careful, other)
        answers.append(other)
    names = [f"honest{number}" for number in range(n_honest)] + list(planted)
    gender = np.r_[gender, generator.integers(0, 2, len(planted))]
    table = np.stack(answers, axis=1)
    created = 1.7e9 + 30.0 * np.arange(N_ITEMS)[:, None] + generator.uniform(0, 9, table.shape)
    created += 86_400.0 * (np.array(names) == "copier")
    annotations = Annotations.from_arrays(
        np.repeat([f"t{number}" for number in range(N_ITEMS)], len(names)),
        np.tile(names, N_ITEMS),
        table.ravel().astype(SCALES[scale].dtype),
        SCALES[scale],
        extra={"created": created.ravel().round(1)},
    )
    order = [names.index(name) for name in annotations.annotators]
    corpus = Corpus.build(
        "project", annotations.items, {"q": annotations},
        annotator_attributes={"gender": np.array(["f", "m"])[gender[order]].tolist()},
    )  # fmt: skip
    few = set(names[n_honest - minority : n_honest])
    return Project(corpus, table, names, planted, few, gender, chosen)


# ---- sentences ----


def untrue(project: Project) -> Iterator[tuple[str, str]]:
    """The kind and the text of what is said and not true; of what may be so, "hint"."""
    for row in project.description.questions[0].suspicious:
        if not project.kinds.get(row.annotator):
            yield "people", f"describe: {row.annotator} is {row.suspicious}"
    for text in project.sentences:
        for kind, sentence, is_true in checked(text, project):
            if not is_true:
                hint = kind in ("groups", "level", "reliability") and " may " in sentence
                yield "hint" if hint else kind, sentence


def checked(text: str, project: Project) -> Iterator[tuple[str, str, bool]]:
    """The kind of each sentence of a text, the sentence, and whether it is true."""
    while text := text.strip():
        for pattern, check in CHECKS.items():
            if match := re.match(pattern, text):
                yield check.__name__, match[0], bool(check(match, project))
                text = text[match.end() :]
                break
        else:
            yield "unknown", text, False
            return


def size(match: re.Match[str], project: Project) -> bool:
    return [int(n.replace(",", "")) for n in match.groups()] == [
        project.table.size, *project.table.T.shape,
    ]  # fmt: skip


def _alpha(table: np.ndarray, kind: Any) -> float:
    """Krippendorff's alpha by another package; of sets by pairs of answers (MASI distances)."""
    if kind != "multi-label":
        return float(krippendorff.alpha(table.T, level_of_measurement=kind))
    bits = (table[..., None] >> np.arange(3)) & 1 == 1
    codes = (np.arange(8)[:, None] >> np.arange(3)) & 1 == 1
    both = (codes[:, None] & codes).sum(axis=2)
    either = (codes[:, None] | codes).sum(axis=2)
    subset = (both == codes.sum(axis=1)) | (both == codes.sum(axis=1)[:, None])
    share = np.where(subset, 2 / 3, np.where(both > 0, 1 / 3, 0.0))
    np.fill_diagonal(share, 1.0)
    distance = 1 - share * np.where(either > 0, both / np.maximum(either, 1), 1.0)
    counts = np.stack([(table == code).sum(axis=1) for code in range(8)], axis=1).astype(float)
    n, total = bits.shape[1], counts.sum(axis=0)
    observed = ((counts @ distance) * counts).sum() / (n - 1)
    return float(1 - observed * (total.sum() - 1) / (total @ distance @ total))


def agreement(match: re.Match[str], project: Project) -> bool:
    value, low, high, other, names = match.groups()
    true = abs(float(value) - _alpha(project.table, project.kind)) < 0.006
    true &= float(low) <= float(value) <= float(high)
    if other:
        true &= abs(float(other) - _alpha(project.without(names), project.kind)) < 0.006
    return true


def _differing(table: np.ndarray) -> float:
    return 100 * float((table.min(axis=1) < table.max(axis=1)).mean())


def _consensus(table: np.ndarray, kind: str) -> np.ndarray:
    if kind == "ordinal":
        return np.asarray(np.sort(table, axis=1)[:, (table.shape[1] - 1) // 2])
    if kind == "multi-label":
        bits = (table[..., None] >> np.arange(3)) & 1
        return np.asarray((2 * bits.sum(axis=1) > table.shape[1]) @ [1, 2, 4])
    return np.asarray((table[..., None] == np.arange(3)).sum(axis=1).argmax(axis=1))


def dispute(match: re.Match[str], project: Project) -> bool:
    share, names, other, changed = match.groups()
    expected = 99.5 if "more than 99" in match[0] else float(share or 100)
    true = abs(expected - _differing(project.table)) <= 0.5
    if names:
        rest = project.without(names)
        one, two = (_consensus(table, project.kind) for table in (project.table, rest))
        true &= abs(float(other) - _differing(rest)) <= 0.5 and int(changed) == (one != two).sum()
    return true


def _apart(table: np.ndarray) -> float:
    gaps = np.abs(table[:, :, None] - table[:, None]).sum(axis=(1, 2)).mean()
    return float(gaps / (table.shape[1] * (table.shape[1] - 1)))


def distance(match: re.Match[str], project: Project) -> bool:
    value, other, names = match.groups()
    true = abs(float(value) - _apart(project.table)) < 0.06
    return true and (not names or abs(float(other) - _apart(project.without(names))) < 0.06)


def people(match: re.Match[str], project: Project) -> bool:
    text, column = match[1], {name: project.table[:, at] for at, name in enumerate(project.names)}
    for first, second, same in re.findall(r"(\w+) and (\w+) \(the same .*? to (\d+)", text):
        pair = {first, second} == {"honest0", "copier"}
        if not pair or int((column[first] == column[second]).sum()) != int(same):
            return False
    named = dict(re.findall(r"(\w+) \((?!the same)([^()]*)\)", text))
    return all(set(k.split(", ")) <= project.kinds.get(who, set()) for who, k in named.items())


def nobody(match: re.Match[str], project: Project) -> bool:
    return not project.planted


def tired(match: re.Match[str], project: Project) -> bool:
    return set(re.findall(r"(\w+) \((?:agrees|is) ", match[1])) <= {"tired"} & set(project.planted)


def others(match: re.Match[str], project: Project) -> bool:
    """Whose answers to look at, and who is asked about the later ones."""
    looked = dict(re.findall(r"(\w+) \(([^()]*)\)", match[1] or ""))
    true = all({KIND[kind] for kind in why.split(", ")} <= project.kinds.get(who, set())
               for who, why in looked.items())  # fmt: skip
    return true and match[2] in (None, "tired") and {match[2]} <= {None, *project.planted}


def alike(match: re.Match[str], project: Project) -> bool:
    """Those who answer alike are the minority and the majority, or groups that divide."""
    sides = [project.minority, set(project.names) - set(project.planted) - project.minority]
    if project.divided.any():
        sides = [{n for n, code in zip(project.names, project.gender, strict=True)
                  if code == side} for side in (0, 1)]  # fmt: skip
    elif not project.minority:
        return False
    clusters = [set(re.findall(r"(?:honest\d+|[a-z]{4,})", part)) - {"more"}
                for part in match[1].split(";")]  # fmt: skip
    return all(any(cluster <= side for side in sides) for cluster in clusters)


def views(match: re.Match[str], project: Project) -> bool:
    names = set(re.findall(r"[a-z]+\d*", match[1].replace(" and ", ", "))) - {"more"}
    return bool(names) and names <= project.minority


def groups(match: re.Match[str], project: Project) -> bool:
    """Groups divide, on about so many items and by about as much; these are planted ones."""
    items, count, shares = match.groups()
    if not project.divided.any():
        return False
    if items and not all(project.divided[int(item[1:])] for item in items.split(", ")):
        return False
    n = project.divided.sum()
    if count and not 0.5 * n <= int(count) <= 1.5 * n:
        return False
    if found := re.search(r"(\w+) is the answer of (\d+) % of f and (\d+) % of m", shares or ""):
        values = list(project.corpus["q"].scale.values)  # type: ignore[attr-defined]
        code = values.index(found[1])
        has = (project.table >> code) & 1 == 1 if project.kind == "multi-label" else (
            project.table == code)  # fmt: skip
        has = has[:, : -len(project.planted) or None][project.divided]
        gender = project.gender[: has.shape[1]]
        return all(
            abs(float(found[2 + side]) / 100 - has[:, gender == side].mean()) < 0.15
            for side in (0, 1)
        )
    return "m rates higher" not in (shares or "")


def level(match: re.Match[str], project: Project) -> bool:
    """Women give a value more often, or rate higher, on the items on which groups divide."""
    if not project.divided.any():
        return False
    if rates := re.match(r"(?:gender: )?(\w) (?:rates|may rate) (\w+)", match[0]):
        return rates.groups() in (("f", "higher"), ("m", "lower"))
    found = re.search(r"(\w) (?:answers|may answer) (\w+) (more|less) often", match[0])
    who, value, often = found.groups() if found else ("", "", "")
    women, men = {"binary": ("yes", "no"), "three": ("toxic", "ok"), "sets": ("anger", "joy")}[
        {2: "binary"}.get(len(project.corpus["q"].scale.values),  # type: ignore[attr-defined]
                          "sets" if project.kind == "multi-label" else "three")
    ]  # fmt: skip
    return value == (women if (who == "f") == (often == "more") else men)


def reliability(match: re.Match[str], project: Project) -> bool:
    return bool(project.divided.any())


def no_groups(match: re.Match[str], project: Project) -> bool:
    return not project.divided.any()


def talk(match: re.Match[str], project: Project) -> bool:
    text, measure, value, other = match.groups()
    who = dict(re.findall(r"(\w+) \(([^()]*)\)", text))
    expected = {**dict.fromkeys(("constant", "contrary"), ""), "random": "at chance"}
    for name, why in who.items():
        copied = {name, why.split(";")[0].removeprefix("same answers as ")}
        if copied == {"honest0", "copier"} and "copier" in project.planted:
            continue
        if name not in project.planted or why != (expected.get(name) or name):
            return False
    if not measure:
        return True
    function = partial(_alpha, kind=project.kind)
    rest = project.without(", ".join(project.description.questions[0].marked))
    return all(abs(float(text) - function(table)) < 0.006
               for text, table in ((value, project.table), (other, rest)))  # fmt: skip


def apart(match: re.Match[str], project: Project) -> bool:
    return bool(project.divided.any())


def again(match: re.Match[str], project: Project) -> bool:
    rest = project.without(", ".join(project.description.questions[0].marked))
    most = [np.unique(row, return_counts=True)[1].max() for row in rest]
    return int(match[1]) == sum(2 * n <= rest.shape[1] for n in most)


def guidelines(match: re.Match[str], project: Project) -> bool:
    rest = project.without(", ".join(project.description.questions[0].marked))
    return abs(float(match[1]) - _alpha(rest, project.kind)) < 0.006 and float(match[1]) < 0.667


def contrary(match: re.Match[str], project: Project) -> bool:
    return "contrary" in project.planted


Check = Callable[[re.Match[str], Project], bool]
TERM = r"(?:; typical words: [^)]*)?"
CHECKS: dict[str, Check] = {
    r"project has ([\d,]+) answers by ([\d,]+) annotators to 1 question \(q\) on ([\d,]+) items\.":
        size,
    r"Agreement beyond chance \(Krippendorff's alpha\) is (-?[\d.]+) \(95 % interval (-?[\d.]+) to "
    r"(-?[\d.]+)\) for q(?:, (-?[\d.]+) without ([^;]*))?; 1 would be full agreement, 0 what "
    r"chance gives\.": agreement,
    r"On (?:each|more than 99 %|(\d+) %) of the 300 items with two answers or more, annotators do "
    r"not all give the same answer(?:; without (.*?) on (?:more than )?(\d+) %, and the "
    r"consensus of (\d+) is another one, ties included)?\.":
        dispute,
    r"Two ratings of q for the same item differ by ([\d.]+)(?:, ([\d.]+) without (.*),)? on "
    r"average, on a scale from 0 to 10 \(300 items with two ratings or more\)\.": distance,
    r"\d+ annotators? stands? out and should be looked at: (.*?)\.(?= [A-Z]|$)": people,
    r"None of the \d+ annotators with 10 answers or more stands out as careless or unlike the "
    r"others\.": nobody,
    r"Less careful as time went on, it seems: (.*\))\.": tired,
    r"Some annotators answer alike, more than a common view of the items explains \(p = 0\.01\): "
    r"(.*?)\.": alike,
    r"(?:Also )?(?:[lL]ook at the answers of (.*?\)))?(?:, and )?(?:[aA]sk (.*?) why the later "
    r"answers agree less with the others' than earlier)?\.": others,
    r"By gender they are (?:f and m|m and f)\.": apart,
    r"(.*?) agree with one another, but not with the rest\. They may hold another view, or "
    r"understand the task differently: look at the items they dispute\.": views,
    rf"(?:gender: )?f and m (?:may )?answer some items differently \(p = [\d.]+\)"
    rf"(?:, most of all ([^(]*?))?(?: \(on (\d+) of 300 items (.*?){TERM}\))?: read them before "
    r"you average over groups[.;]": groups,
    r"(?:gender: )?[fm] (?:answers|rates|may answer|may rate) .*?\(by .*?, p = [\d.]+\): ask as "
    r"many of each group about each item, or labels depend on who answered[.;]": level,
    r"(?:gender: )?[fm] (?:follows|may follow) the consensus less closely than .*?(?:which the "
    r"difference above may explain|look at their answers)[.;]": reliability,
    r"No difference between annotators by gender is shown(?:; .*?)?\.": no_groups,
    r"Talk to the annotators? (.*?), and look at what they answered(?:\. Until then report both: "
    r"([\w-]+) (-?[\d.]+), and (-?[\d.]+) without them \(`--without suspicious`\))?\.": talk,
    r"Keep the views of groups apart: gender divides annotators about some items, .* predicts each "
    r"annotator\.": apart,
    r"Discuss or ask again: (\d+) items? on which no value has more than half of the answers"
    r"(?: \(without those named\))?\. `dissensus disputed FILE -o items.xlsx` is the list\.": again,
    r"If people should give the same answers, .*? alpha (-?[\d.]+) is below 0.667, .* keep the "
    r"answers of each annotator\.": guidelines,
    r"Who is contrary may have read the scale the other way round, .*? look at the answers\.":
        contrary,
}  # fmt: skip


# ---- what the audit reports ----


def shares(generator: Generator, scale: str, setting: str) -> dict[str, Any]:
    """Who was found, who was accused, and what was untrue, of one project."""
    one = project(generator, scale, **SETTINGS[setting])
    question = one.description.questions[0]
    kinds = {row.annotator: set(row.suspicious) for row in question.suspicious}
    late = {row.annotator for row in question.tendencies
            if any("later half" in text for text in row.tendencies)}  # fmt: skip
    values: dict[str, Any] = {
        f"found: {kind}": float(kind in (late if kind == "tired" else kinds))
        for kind in one.planted
    }
    honest_ones = [name for name in one.names if name not in one.planted]
    accused = [name for name in honest_ones if name in (kinds.keys() | late)
               and not (name == "honest0" and kinds.get(name) == {"duplicated"}
                        and "copier" in one.planted)]  # fmt: skip
    values["honest ones accused"] = len(accused) / len(honest_ones)
    if one.divided.any():
        values["found: groups"] = float(question.groups[0].corrected < 0.05)
    if one.minority:
        text = " ".join(one.sentences)
        values["found: minority"] = float(
            "answer alike" in text or "agree with one another" in text
        )
    false = list(untrue(one))
    kinds_of = [kind for kind, _ in false]
    values['projects with an unfounded "may"'] = float("hint" in kinds_of)
    values["projects with an untrue sentence"] = float(bool(set(kinds_of) - {"hint"}))
    return values | {"_untrue": [f"{kind}: {text}" for kind, text in false]}


BARS = {
    "honest ones accused": "0",
    "projects with an untrue sentence": "at most 0.05",
    'projects with an unfounded "may"': "at most 0.05",
}

CELLS = tuple(
    Cells(
        f"{scale}, {name}",
        BARS
        | {f"found: {kind}": "1" for kind in setting.get("planted", ())}
        | ({"found: groups": "1"} if "divided" in setting else {})
        | ({"found: minority": "1"} if "minority" in setting else {}),
        partial(shares, scale=scale, setting=name),
    )
    for name, setting in SETTINGS.items()
    for scale in SCALES
)
