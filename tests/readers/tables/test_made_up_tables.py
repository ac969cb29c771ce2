"""Tables made up by rule, in shapes that people have: read rightly, or refused, never wrongly."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from dissensus import Corpus, read
from dissensus.errors import DissensusError
from dissensus.readers.layout import Layout, UnclearError, layouts_taken
from tests.readers.conftest import Write

PEOPLE = "Anna Ben Cem Dora Emil Fatima Hugo Laura".split()
SCALES = [list("01"), list("12345"), ["no", "yes"], ["anger", "fear", "joy"], ["never", "often"]]
SEEDS = 12
FEWEST_RIGHT = 0.9  # or asked about, with a proposal that reads the table rightly


class Crowd:
    """Answers of a few annotators to some items, and the names of both."""

    def __init__(self, draw: random.Random, n_items: int = 0, values: Any = None) -> None:
        self.draw, self.n_items = draw, n_items or draw.randint(12, 50)
        self.values = values or draw.choice(SCALES)
        n_people = draw.randint(3, 7)
        self.people = draw.choice([PEOPLE, [f"w{n}" for n in range(9)], list("01234567")])[
            :n_people
        ]
        style = draw.choice(["t{:03}", "{}", "img{}.jpg"])
        self.items = [style.format(n) for n in range(self.n_items)]
        self.texts = [" ".join(draw.choices("so it was a dog who ran home".split(), k=9)) + f" {n}"
                      for n in range(self.n_items)]  # fmt: skip
        self.answers: dict[tuple[int, int], str] = {}
        for item in range(self.n_items):
            truth = draw.choice(self.values)
            for who in draw.sample(range(n_people), draw.randint(2, n_people)):
                own = truth if draw.random() < 0.6 else draw.choice(self.values)
                self.answers[item, who] = own
        seen = {who for _, who in self.answers}
        self.n_annotators = len(seen)

    def long(self, *more: Callable[[int], Any]) -> list[list[Any]]:
        """A row for each answer: what `more` says of its item, the annotator, the answer."""
        return [[*(one(item) for one in more), self.people[who], answer]
                for (item, who), answer in self.answers.items()]  # fmt: skip

    def of(self, item: int) -> dict[str, str]:
        """Annotator -> answer to this item."""
        return {self.people[who]: a for (one, who), a in self.answers.items() if one == item}

    def outcome(self, annotators: bool = True) -> tuple[int, int, list[Counter[str]]]:
        people = self.n_annotators if annotators else 0
        return self.n_items, people, [Counter(self.answers.values())]


Made = tuple[str, str, Any]  # content, ending, what is in it


def table(rows: list[list[Any]], delimiter: str = ",") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def parts_of_an_item(draw: random.Random) -> Made:
    crowd = Crowd(draw, n_items=24)
    names = draw.choice([("doc", "sentence"), ("identity term", "attribute"), ("system", "doc")])
    rows = crowd.long(lambda i: f"a{i // 6}", lambda i: i % 6)
    return table([[*names, "rater", "label"], *rows]), "csv", crowd.outcome()


def three_parts_of_an_item(draw: random.Random) -> Made:
    crowd = Crowd(draw, n_items=48)
    rows = crowd.long(lambda i: f"d{i // 12}", lambda i: i // 4 % 3, lambda i: i % 4)
    return (
        table([["document", "paragraph", "line", "coder", "label"], *rows]),
        "csv",
        crowd.outcome(),
    )


def questions_in_a_column(draw: random.Random) -> Made:
    crowds = [Crowd(draw, 20), Crowd(draw, 20)]
    crowds[1].answers = {key: draw.choice("12345") for key in crowds[0].answers}
    crowds[1].people = crowds[0].people
    rows = [[q, *row] for q, c in zip(("style", "sense"), crowds, strict=True)
            for row in c.long(lambda i: f"t{i}")]  # fmt: skip
    name = draw.choice(["question", "criterion", "facet"])
    both = [Counter(one.answers.values()) for one in crowds]
    outcome = (20, crowds[0].n_annotators, both)
    return table([[name, "item", "annotator", "score"], *rows]), "csv", outcome


def no_names(draw: random.Random) -> Made:
    crowd = Crowd(draw)
    return table(crowd.long(crowd.items.__getitem__), "\t"), "txt", crowd.outcome()


def a_name_for_each_question_and_annotator(draw: random.Random) -> Made:
    n_people, n_items = draw.randint(2, 4), draw.randint(12, 30)
    people = draw.choice([PEOPLE, [f"rater{n}" for n in range(4)], list("ABCD")])[:n_people]
    people = [f"coder {one}" for one in people] if people[0] == "A" else people
    scales = {q: draw.choice(SCALES) for q in draw.sample(["tone", "stance", "quality"], 2)}
    pattern = draw.choice(["{q}_{p}", "{p}_{q}", "{q} - {p}", "{p}.{q}"])
    cells = {(q, p): [draw.choice(values) for _ in range(n_items)]
             for q, values in scales.items() for p in people}  # fmt: skip
    header = ["id", *(pattern.format(q=q, p=p) for q, p in cells)]
    rows = [[f"t{n}", *(column[n] for column in cells.values())] for n in range(n_items)]
    both = [Counter(a for p in people for a in cells[q, p]) for q in scales]
    return table([header, *rows]), "csv", (n_items, n_people, both)


def a_question_that_not_everyone_answers(draw: random.Random) -> Made:
    """A column for each question and annotator, but one: no question may be lost."""
    people = draw.choice([PEOPLE, [f"rater{n}" for n in range(4)]])[: draw.randint(3, 4)]
    pattern = draw.choice(["{q}_{p}", "{p}.{q}", "{q} - {p}"])
    left_out = draw.randrange(2 * len(people))
    pairs = [(q, p) for q in ("tone", "stance") for p in people]
    cells = {pair: draw.choices("12345", k=20) for n, pair in enumerate(pairs) if n != left_out}
    header = ["id", *(pattern.format(q=q, p=p) for q, p in cells)]
    rows = [[f"t{n}", *(column[n] for column in cells.values())] for n in range(20)]
    both = [Counter(a for p in people for a in cells.get((q, p), ())) for q in ("tone", "stance")]
    return table([header, *rows]), "csv", (20, len(people), both)


def answers_beside_who_gave_them(draw: random.Random) -> Made:
    crowd = Crowd(draw)
    most = max(len(crowd.of(item)) for item in range(crowd.n_items))
    score, who = draw.choice([("Score", "TurkId"), ("label_", "worker_"), ("answer.", "rater.")])
    header = ["Id", *(f"{name}{k}" for k in range(1, most + 1) for name in (score, who))]
    rows = []
    for item in range(crowd.n_items):
        pairs = [cell for p, a in crowd.of(item).items() for cell in (a, f"A{p}X")]
        rows.append([crowd.items[item], *pairs, *[""] * (2 * most - len(pairs))])
    return table([header, *rows]), "csv", crowd.outcome()


def items_beside_their_answers(draw: random.Random) -> Made:
    """A row for each annotator, with the items that they saw and what they said."""
    crowd = Crowd(draw, n_items=12)
    own = {who: [(i, a) for (i, one), a in crowd.answers.items() if one == who] for who in
           {one for _, one in crowd.answers}}  # fmt: skip
    most = max(map(len, own.values()))
    shown, said = draw.choice([("image", "rating"), ("stimulus_", "answer_"), ("text", "score")])
    header = ["participant", *(f"{name}{k}" for k in range(1, most + 1) for name in (shown, said))]
    rows = []
    for who, answers in own.items():
        pairs = [cell for item, a in answers for cell in (f"thing {item}.png", a)]
        rows.append([f"p{who}", *pairs, *[""] * (2 * most - len(pairs))])
    return table([header, *rows]), "csv", crowd.outcome()


def texts_by_the_annotators(draw: random.Random) -> Made:
    """Reviews: every row has a text of its own, which is not what was rated."""
    crowd = Crowd(draw)
    rows = [[*row, f"{draw.choice(crowd.texts)} and {n}"]
            for n, row in enumerate(crowd.long(lambda i: f"paper {i}"))]  # fmt: skip
    header = [draw.choice(["forum", "submission title"]), "reviewer", "rating", "review"]
    return table([header, *rows]), "csv", crowd.outcome()


def quotes_that_are_letters(draw: random.Random) -> Made:
    crowd = Crowd(draw)
    texts = [f'"{text}' if n % 5 == 0 else f'{text} "ok"' for n, text in enumerate(crowd.texts)]
    lines = ["\t".join(row) for row in crowd.long(crowd.items.__getitem__, texts.__getitem__)]
    return "\n".join(["id\ttweet\trater\tlabel", *lines]), "tsv", crowd.outcome()


def conditions(draw: random.Random) -> Made:
    """Two coders beside each document and code: no annotator is the code."""
    codes = ["Trust", "Fear", "Hope", "Anger"]
    rows = [[f"Interview {n}", code, *draw.choices("01", k=2)] for n in range(8) for code in codes]
    return table([["Document", "Code", "A. Smith", "B. Jones"], *rows]), "csv", None


def lists(draw: random.Random) -> Made:
    crowd = Crowd(draw)
    people, answers = draw.choice([("annotators", "labels"), ("workers", "ratings")])
    of = [crowd.of(item) for item in range(crowd.n_items)]
    rows = [[name, [*one], [*one.values()]] for name, one in zip(crowd.items, of, strict=True)]
    header = ["id", people, answers]
    if draw.random() < 0.5:
        return table([header, *rows]), "csv", crowd.outcome()
    lines = (json.dumps(dict(zip(header, row, strict=True))) for row in rows)
    return "\n".join(lines), "jsonl", crowd.outcome()


def records(draw: random.Random) -> Made:
    crowd = Crowd(draw)
    entries = [[{"rater": p, "label": a} for p, a in crowd.of(item).items()]
               for item in range(crowd.n_items)]  # fmt: skip
    rows = [{"id": n, "ratings": one} for n, one in zip(crowd.items, entries, strict=True)]
    return json.dumps(rows), "json", crowd.outcome()


def boxes(draw: random.Random) -> Made:
    crowd = Crowd(draw, values=["anger", "fear", "joy", "pride"])
    yes, no = draw.choice([("1", "0"), ("TRUE", "FALSE"), ("x", "")])
    prefix = draw.choice(["", "mood_"])
    rows = [[*row[:-1], *(yes if v == row[-1] else no for v in crowd.values)]
            for row in crowd.long(crowd.items.__getitem__)]  # fmt: skip
    header = ["item", "worker", *(prefix + value for value in crowd.values)]
    return table([header, *rows]), "csv", crowd.outcome()


def spellings_and_gaps(draw: random.Random) -> Made:
    crowd = Crowd(draw, values=["no", "maybe", "yes"])
    rows = [[*row[:-1], draw.choice([row[-1], row[-1].title(), row[-1] + " "])]
            for row in crowd.long(crowd.items.__getitem__)]  # fmt: skip
    gaps = [[f"t{n}", crowd.people[0], draw.choice(["N/A", "-", ""])] for n in range(900, 903)]
    n_items, *others = crowd.outcome()
    return table([["task", "user", "label"], *rows, *gaps]), "csv", (n_items + 3, *others)


def votes(draw: random.Random) -> Made:
    crowd = Crowd(draw, values=["against", "neutral", "pro"])
    counts = [Counter(crowd.of(item).values()) for item in range(crowd.n_items)]
    rows = [[n, *(one[v] for v in crowd.values), sum(one.values())]
            for n, one in zip(crowd.items, counts, strict=True)]  # fmt: skip
    header = ["id", *(f"n_{value}" for value in crowd.values), "total"]
    return table([header, *rows]), "csv", crowd.outcome(annotators=False)


def no_answers(draw: random.Random) -> Made:
    """Numbers that may be ratings of one person, or who says what in words of their own."""
    crowd = Crowd(draw)
    ratings = [[n, *draw.choices("12345", k=3)] for n in crowd.items]
    texts = [[*row[:-1], " ".join(draw.sample(crowd.texts, 2))]
             for row in crowd.long(crowd.items.__getitem__)]  # fmt: skip
    tables = [["id", "tone", "sense", "style"], *ratings], [["clip", "worker", "said"], *texts]
    return table(draw.choice(tables)), "csv", None


SHAPES = [parts_of_an_item, three_parts_of_an_item, questions_in_a_column, no_names,
          a_name_for_each_question_and_annotator, a_question_that_not_everyone_answers,
          answers_beside_who_gave_them, items_beside_their_answers, texts_by_the_annotators,
          quotes_that_are_letters, conditions, lists, records, boxes, spellings_and_gaps, votes,
          no_answers]  # fmt: skip
MAY_ASK = (questions_in_a_column, no_names)


def contents(corpus: Corpus) -> tuple[int, int, list[Counter[str]]]:
    """Items, annotators, and how often each answer to a question was given."""
    counts = []
    for answers in corpus.questions.values():
        n_each = [1] * answers.n_rows if answers.count is None else answers.count.tolist()
        counts.append(Counter[str]())
        for value, n in zip(answers.answers(), n_each, strict=True):
            counts[-1][value.strip().casefold()] += int(n)
    return corpus.n_items, corpus.n_annotators, counts


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.__name__ for shape in SHAPES])
def test_made_up_tables_are_never_read_wrongly(shape: Any, write: Write) -> None:
    n_right = 0
    for seed in range(SEEDS):
        text, ending, expected = shape(random.Random(seed))
        path = write(text, f"table{seed}.{ending}")
        try:
            with layouts_taken() as layouts:
                read_contents = as_expected(contents(read(path)))
            again = read(path, layout=Layout.from_toml(layouts[-1].to_toml()))
            assert as_expected(contents(again)) == read_contents, seed
        except UnclearError as error:
            ways = [as_expected(contents(read(path, layout=way))) for way in error.ways.values()]
            n_right += (as_expected(expected) in ways) * (shape in MAY_ASK) if expected else 1
            continue
        except DissensusError:
            n_right += expected is None
            continue
        assert expected is not None, seed
        assert read_contents == as_expected(expected), seed
        n_right += 1
    assert n_right >= FEWEST_RIGHT * SEEDS


def as_expected(outcome: tuple[int, int, list[Counter[str]]]) -> tuple[int, int, list[Any]]:
    """Contents without the names and the order of questions and values."""
    n_items, n_annotators, counts = outcome
    return n_items, n_annotators, sorted(map(sorted_items, counts))


def sorted_items(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted((value, n) for value, n in counts.items() if n)


@pytest.mark.parametrize("between", ["\t", " ", ","])
@pytest.mark.parametrize("values", [("joy", "anger"), ("0", "1")])
def test_lines_of_an_item_an_annotator_and_an_answer_without_names(
    write: Write, between: str, values: tuple[str, str]
) -> None:
    lines = [between.join([str(n // 3), str(n % 3), values[n % 7 % 2]]) for n in range(60)]
    path = write("\n".join(lines), "table.txt")
    with pytest.raises(UnclearError, match="'column 1' and 'column 2' look like items") as refusal:
        read(path)
    corpus = read(path, layout=next(iter(refusal.value.ways.values())))
    assert (corpus.n_items, corpus.n_annotators) == (20, 3)
