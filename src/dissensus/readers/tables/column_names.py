"""Column names: which names stand for an item, an annotator, an answer and so on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from dissensus.contents import Kind
from dissensus.readers.tables.rows import Column, Rows


def plain(name: str) -> str:
    """A column's name without case, spaces, dashes and underscores.

    Example:
        >>> plain("Worker_ID"), plain("task-id"), plain("taskId")
        ('workerid', 'taskid', 'taskid')
    """
    return "".join(filter(str.isalnum, name.casefold()))


_FILE = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
NAMES = {part: tuple(map(plain, names.split())) for part, names in _FILE["columns"].items()}
WORDS = {kind: frozenset(words.split()) for kind, words in _FILE["words"].items()}
ORDERED = tuple(" ".join(words.split()).split(", ") for words in _FILE["ordered"].values())
KNOWN = frozenset(name for names in NAMES.values() for name in names)
PAIR = ("premise", "hypothesis")  # two texts shown together, in this order
_KNOWN = KNOWN | {*PAIR}
WEAK = ("id", "uid", "uuid", "index")  # may number the rows instead of the items
BORDER = re.compile(r"[\s_.:/|-]+")  # between the parts of a name
MEDIA: tuple[Kind, ...] = ("image", "audio", "video")

MOST_WORDS = 12  # at the end of a name, that may say who answered
_SHORT = {word.removesuffix("id").removesuffix("name") for word in NAMES["annotator"]}
_ANNOTATOR = "|".join(
    [*sorted(_SHORT), "ann", "anno", "annot", "human", "turker", "subject", "student"]
)
_ANSWER = "label|answer|rating|annotation|judgment|judgement|vote"
_SURE = re.compile(rf"({_ANSWER})?({_ANNOTATOR})(id)?\d+({_ANSWER})?")  # ann_1, worker851_label
_LETTERED = re.compile(rf"(?i:{_ANNOTATOR})([ _.-]+[A-Za-z]|[A-Z])")  # Rater A; not "raters"
_CALLED = re.compile(rf"(?i:{_ANNOTATOR})[ _.-]+\w+")  # Annot-Peter
_LIKELY = re.compile(rf"({_ANSWER}|[aprwju])?\d+")  # label_1, w851, 17
_ADDRESS = re.compile(r"A[0-9A-Z]{9,}|\S+@\S+")  # of a worker of Mechanical Turk, of a letter


# ---- what a single name says ----


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: "majority" and "vote" of majorityVote_2."""
    return [word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]


def is_about_answers(name: str) -> bool:
    """Whether a column is no question by its name, but about answers: CONFIDENCE, time_ms."""
    return not WORDS["about_answers"].isdisjoint(words_of(name))


def is_derived(name: str) -> bool:
    """Whether a column is a summary or the output of a model, by its name: label_mean, gpt4."""
    return not WORDS["derived"].isdisjoint(words_of(name)) and not is_called_annotator(name)


def is_named(name: str, part: str) -> bool:
    """Whether a column has a known name of annotators, answers and so on, one or several."""
    singular = re.sub("[sS]$", "", name)
    known = plain(name) in NAMES[part] or plain(singular) in NAMES[part]
    return known or (part == "annotator" and ends_in_annotator(singular))


def has_word_of_answers(name: str) -> bool:
    """Whether a word of a name is one for answers: `label_list`."""
    return any(is_named(word, "answer") for word in words_of(name))


def ends_in_annotator(name: str) -> bool:
    """Whether a longer name ends in an annotator: "anonymized annotator id", nameListener,
    rater_code; "rating by worker" does not."""
    parts = re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name[-200:])
    words = [part.casefold() for part in parts if part][-MOST_WORDS:]
    if {*words[:-1]} & {*NAMES["annotator"]} and words[-1] in WORDS["name"]:
        return True
    ends = {"".join(words[at:]) for at in range(1, len(words))}
    return not ends.isdisjoint(NAMES["annotator"]) and {*words}.isdisjoint(NAMES["answer"])


def is_one_annotator(name: str, likely: bool = True) -> bool:
    """Whether a name is usual for an annotator: rater_1, Coder B; w851, 17, an address if likely.

    Example:
        >>> [is_one_annotator(name) for name in ("rater_1", "w851", "toxic")]
        [True, True, False]
    """
    sure = _SURE.fullmatch(plain(name)) or _LETTERED.fullmatch(name)
    known = plain(name) in NAMES["annotator"]
    weak = known or _LIKELY.fullmatch(plain(name)) or _ADDRESS.fullmatch(name)
    return bool(sure or (likely and weak))


def is_called_annotator(name: str) -> bool:
    """Whether a name is a word for annotators and a name, not an answer: Annot-Peter."""
    return bool(_CALLED.fullmatch(name)) and plain(BORDER.split(name)[-1]) not in NAMES["answer"]


def is_annotator_part(part: str) -> bool:
    """Whether a part of a name is an annotator: the `rater1` of rater1_score."""
    sure = is_one_annotator(part, likely=False) or are_persons([part])
    return sure or bool(_ADDRESS.fullmatch(part))


def are_persons(names: Sequence[str]) -> bool:
    """Whether each name begins with another first name.

    Example:
        >>> are_persons(["Anna", "Ben K.", "carla_2"]), are_persons(["anna_rude", "anna_funny"])
        (True, False)
    """
    first = {re.split(r"[\W\d_]", name, maxsplit=1)[0].casefold() for name in names}
    return len(first) == len(names) and first <= WORDS["first_name"]


def kind_of(column: str) -> Kind:
    """The kind of content that a column of this name shows."""
    return next((kind for kind in MEDIA if plain(column) in NAMES[kind]), "text")


def families(names: Iterable[str]) -> list[dict[str, dict[str, str]]]:
    """Names that differ in one part: pattern -> what stands for its `{}` -> name.

    There is a mapping for each part: behind the last border, behind the first one, before the last
    one, before the first one, and the last number.

    Example:
        >>> families(["label_ann", "label_bob"])[0]
        {'label_{}': {'ann': 'label_ann', 'bob': 'label_bob'}}
        >>> families(["Score1", "Score2"])[-1]
        {'Score{}': {'1': 'Score1', '2': 'Score2'}}
    """
    every: list[dict[str, dict[str, str]]] = [{} for _ in range(5)]
    for name in names:
        borders = [one.span() for one in BORDER.finditer(name)]
        borders = [(start, end) for start, end in borders if 0 < start < end < len(name)]
        numbers = [one.span() for one in re.finditer(r"\d+", name)]
        parts: dict[int, tuple[int, int]] = {4: numbers[-1]} if numbers else {}
        if borders:
            (first, second), (last, behind) = borders[0], borders[-1]
            ends = (behind, len(name)), (second, len(name)), (0, last), (0, first)
            parts |= enumerate(ends)
        for way, (start, end) in parts.items():
            pattern = f"{name[:start]}{{}}{name[end:]}"
            every[way].setdefault(pattern, {})[name[start:end]] = name
    return every


def part_name(pattern: str) -> str:
    """What is around the `{}` of a pattern, as a name: `label` of `label_{}`."""
    return pattern.replace("{}", "").strip(" _.:/|-")


# ---- which columns of a table have a name ----


def n_recognised(names: Iterable[str]) -> int:
    """How many of these names are known, to recognise the delimiter."""
    return sum(plain(name) in _KNOWN for name in names)


def candidates(part: str, rows: Rows, taken: Iterable[str | None] = ()) -> list[str]:
    """The columns whose names fit, likeliest first."""
    taken = {*taken}
    free = [name for name in rows.columns if name not in taken]
    by_name = {plain(name): name for name in reversed(free)}  # the first of those called the same
    named = [by_name[name] for name in NAMES[part] if name in by_name]
    if part == "annotator":
        first, known = {*by_name.values()}, {*named}
        others = [name for name in free if name in first and name not in known]
        named += filter(ends_in_annotator, others)
        named = [name for name in named if not rows.columns[name].is_text]  # of a message
    return named


def first_named(
    part: str,
    rows: Rows,
    taken: Iterable[str | None] = (),
    fits: Callable[[Column], bool] = lambda column: True,
) -> str | None:
    """The likeliest column whose name and content fit."""
    fitting = (name for name in candidates(part, rows, taken) if fits(rows.columns[name]))
    return next(fitting, None)


def answer_named(rows: Rows, taken: Iterable[str | None]) -> str | None:
    """The likeliest column of answers; `response` may be one, but what ends in `id` never is."""
    ids = [name for name in rows.columns if plain(name).endswith("id")]
    answer = first_named("answer", rows, taken, _has_values)
    return answer or first_named("response", rows, {*taken, *ids}, _has_values)


def _has_values(column: Column) -> bool:
    return len(column.values) > 0
