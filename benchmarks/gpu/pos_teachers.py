"""Ways on for the tagger of pos_tweets.py: stages `adapt` and `teach` there, from the settings that
`run` chose.

Four ways, from gold labels and from the crowd's alone. Every choice is made on the development
part, by its gold labels or by its crowd's majority.

- "adapted": before it is read, MiniLM goes on learning to fill in words, in tweets that nobody
  tagged (pos_adapted.py). "two adapted": two such encoders are read side by side.
- "taught": ten teachers, the best method so far, tag tweets that nobody tagged; students learn
  what they think on average, beside what was learned before. "taught again": by such students.
- "weighed by a teacher": what an annotator's answers are worth is found together with the truth
  (Dawid & Skene), where what a teacher thinks of a text that it was not shown is the prior of each
  token (Raykar et al. 2010); students learn the posterior. Two rounds: the second teachers learn
  the posterior of the first.
- "and dev": the same again with the development part learned too, with the settings chosen before.

A row of the kit's choices is not made again; where another one goes on from it, its settings are
taken from there.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from crowd_truth import truth
from pieces import Piece, carry_out
from pos_adapted import ADAPTED, LONGER, adapt
from pos_methods import (
    AGGREGATED,
    CHOICES,
    GRID,
    GROUPS,
    KIT,
    QUESTION,
    SEEDS,
    TRIED,
    label,
    letters,
    made,
    row_path,
    share,
)
from tweet_tokens import PART

VOTES = 100  # shared out by a distribution, so that soft-label learns it from counts
FOLDS, CROSS_SEEDS = 5, range(200, 202)
WEIGHTS = (1.0, 0.5)  # of an answer's evidence: answers to one token are not independent
TAUGHT = [{"tweets": n, "epochs": e} for n, e in itertools.product((2000, 5000), (3, 6))]
WEIGHED = [{"weight": w, "epochs": e} for w, e in itertools.product(WEIGHTS, (8, 15))]
HALVES = tuple(tuple(SEEDS)[first::2] for first in range(2))


@dataclass(frozen=True)
class Row:
    """A row of the table: how it is taught, and the settings to choose from."""

    group: str
    name: str
    grid: tuple[dict[str, Any], ...] = ()
    labels: str = "gold"  # of tokens: "gold", "votes" or "weighed"
    teachers: str = ""  # that tag tweets: "base" or the name of a row
    parent: str = ""  # the row whose settings are taken
    words: bool = False  # whether word vectors are read too
    encoder: str = ""  # the row whose adapted encoder is read, by teachers too
    n_encoders: int = 1  # or so many adapted ones side by side, the best on the development part

    @property
    def bys(self) -> tuple[str, ...]:
        return ("gold",) if self.group == "gold" else ("majority", "gold")

    @property
    def adapted(self) -> bool:
        return "adapted" in self.name

    @property
    def with_dev(self) -> bool:
        return self.name.endswith("and dev")


WEIGHED_ROW = Row("crowd", "weighed by a teacher", tuple(WEIGHED), "weighed")
ROWS = [  # the most important first; a row stands behind those that it goes on from
    WEIGHED_ROW,
    Row("gold", "base, adapted", ADAPTED),
    Row("crowd", "weighed, adapted", ADAPTED, "weighed"),
    Row("crowd", "base, adapted", ADAPTED, "votes"),
    Row("gold", "taught, adapted", tuple(TAUGHT), teachers="base", encoder="base, adapted"),
    Row("gold", "base, adapted, and dev", parent="base, adapted"),
    Row("crowd", "weighed, adapted, and dev", labels="weighed", parent="weighed, adapted"),
    Row(
        "gold",
        "taught, adapted, and dev",
        teachers="base",
        parent="taught, adapted",
        encoder="base, adapted",
    ),
    Row("crowd", "base, adapted, and dev", labels="votes", parent="base, adapted"),
    Row("gold", "base, adapted for longer", LONGER),
    Row(
        "gold",
        "taught, adapted for longer",
        tuple(TAUGHT),
        teachers="base",
        encoder="base, adapted for longer",
    ),
    Row(
        "gold",
        "taught, two adapted",
        teachers="base",
        parent="taught, adapted for longer",
        encoder="base, adapted for longer",
        n_encoders=2,
    ),
    Row(
        "gold",
        "taught again, adapted for longer",
        teachers="taught, adapted for longer",
        parent="taught, adapted for longer",
        encoder="base, adapted for longer",
    ),
    Row("crowd", "weighed, taught", tuple(TAUGHT), "weighed", WEIGHED_ROW.name),
    Row("gold", "base, and dev", parent="base"),
    Row("crowd", "weighed, and dev", labels="weighed", parent=WEIGHED_ROW.name),
    Row("crowd", "weighed, taught, and dev", (), "weighed", WEIGHED_ROW.name, "weighed, taught"),
    Row("gold", "base, word vectors", tuple(GRID), words=True),
]


# ---- corpora ----


@dataclass(frozen=True, eq=False)
class Tweets:
    """All tweets; tokens that were tagged automatically count as unanimous."""

    whole: Any

    @classmethod
    def opened(cls) -> Tweets:
        import dissensus as ds
        from dissensus_papers.soft_labels.protocol import with_automatic

        return cls(with_automatic(ds.read(KIT / "tweets")))

    def items(self, *parts: str) -> np.ndarray:
        return np.flatnonzero(np.any([self.whole.in_part(part) for part in parts], axis=0))

    def unlabelled(self, n_tweets: int | None = None) -> np.ndarray:
        """The tokens of the first tweets that nobody tagged."""
        found = self.items(PART)
        tweet = np.cumsum(np.diff(self.whole.content["text"][found], prepend=-1) != 0)
        return found if n_tweets is None else found[tweet <= n_tweets]

    def rows(self, items: np.ndarray) -> np.ndarray:
        """Items by their place in `items`, annotators and answers, but for automatic tokens."""
        asked = self.whole[QUESTION]
        place = np.full(self.whole.n_items, -1)
        automatic = np.asarray(self.whole.item_attributes["auto_labelled"]).astype(bool)
        place[items] = np.where(automatic[items], -1, np.arange(len(items)))
        kept = place[asked.item] >= 0
        return np.stack([place[asked.item[kept]], asked.annotator[kept], asked.answer[kept]])

    def shares(self, items: np.ndarray, labels: str) -> np.ndarray:
        """The distribution of gold labels (one-hot) or of votes, (n_items, n_values)."""
        asked = self.whole.gold[QUESTION] if labels == "gold" else self.whole[QUESTION]
        found: np.ndarray = asked.distribution()[items]
        return found

    def counted(self, items: np.ndarray, distribution: np.ndarray) -> Any:
        """A corpus of these items whose answers are votes, shared out by the distribution."""
        from dissensus import Annotations
        from dissensus.names import Names

        part = self.whole.select(items=items)
        votes = np.rint(VOTES * distribution).astype(np.int64)
        item, answer = np.nonzero(votes)
        asked = Annotations.from_arrays(
            item,
            None,
            answer.astype(np.int32),
            part[QUESTION].scale,
            items=part.items,
            count=votes[item, answer],
        )
        return replace(part, annotators=Names.range(0), questions={QUESTION: asked})


# ---- what is trained ----


@dataclass(frozen=True)
class Plan:
    """Where everything lies, and how much of it a trial in miniature takes."""

    out: Path
    small: int = 0  # tweets of each part, one epoch, a seed of each half; 0: everything

    def file(self, name: str) -> Path:
        return self.out / "pieces" / name.replace(" ", "_").replace(",", "")

    def seeds(self, given: Sequence[int]) -> Sequence[int]:
        return given[:1] if self.small else given

    def settings(self, given: dict[str, Any]) -> dict[str, Any]:
        """A grid's entry as settings of training."""
        kept = {k: v for k, v in given.items() if k in ("epochs", "encoder_learning_rate")}
        return kept | {"epochs": 1} if self.small else kept


@functools.cache
def opened(small: int) -> Tweets:
    """The tweets, read once by each process; in miniature only the first ones of each part."""
    tweets = Tweets.opened()
    if not small:
        return tweets
    content = tweets.whole.content["text"]
    kept = []
    for part in tweets.whole.parts():
        items = tweets.items(part)
        kept.append(items[np.isin(content[items], np.unique(content[items])[:small])])
    return Tweets(tweets.whole.select(items=np.sort(np.concatenate(kept))))


def base(group: str) -> dict[str, Any]:
    """The row of the best method so far, by the development part."""
    rows = [
        row
        for row in json.loads(CHOICES.read_text())
        if row["group"] == group and row["method"] in set(GROUPS[group]) - set(AGGREGATED)
    ]
    by = "gold" if group == "gold" else "majority"
    return max(rows, key=lambda row: max(float(np.mean(tried[by])) for tried in row["tried"]))


def base_settings(group: str, by: str = "") -> dict[str, Any]:
    found: dict[str, Any] = base(group)["chosen"][by or ("gold" if group == "gold" else "majority")]
    return found


def kept(row: Row) -> dict[str, Any] | None:
    """The row as it is kept, if it is."""
    held = json.loads(CHOICES.read_text())
    return next((of for of in held if (of["group"], of["method"]) == (row.group, row.name)), None)


def choice(plan: Plan, row: Row, by: str) -> dict[str, Any]:
    """The settings of a row that are best on the development part, or were for its parent."""
    before = kept(row)
    if before:
        found: dict[str, Any] = before["chosen"][by]
        return found
    if row.parent == "base":
        return base_settings(row.group, by)
    if row.parent:
        return choice(plan, named(row.group, row.parent), by)
    return max(tried(plan, row), key=lambda found: float(np.mean(found[by])))["settings"]


def tried(plan: Plan, row: Row) -> list[dict[str, Any]]:
    """What a row's settings came to on the development part."""
    before = base(row.group) if row.parent == "base" else kept(row)
    if before:
        found: list[dict[str, Any]] = before["tried"]
        return found
    if row.parent:
        return tried(plan, named(row.group, row.parent))
    files = [tried_file(plan, row, number) for number in range(len(row.grid))]
    return [json.loads(path.read_text()) for path in files]


def completed(plan: Plan, row: Row, given: dict[str, Any]) -> dict[str, Any]:
    """Settings, with those that rows before it chose: an encoder, the weight of an answer."""
    before: dict[str, Any] = {}
    if row.encoder:
        before |= choice(plan, named(row.group, row.encoder), row.bys[0])
    if row.labels == "weighed" and "weight" not in given:
        before |= choice(plan, WEIGHED_ROW, "majority")
    return before | given


def named(group: str, name: str) -> Row:
    return next(row for row in ROWS if (row.group, row.name) == (group, name))


def student(settings: dict[str, Any], seed: int, more: bool = False) -> Any:
    """What learns distributions; in larger batches where there are up to seven times as many
    tokens."""
    like = made("crowd", "soft-label", settings, seed)
    if more:
        like.training = replace(like.training, batch_size=1024)
    return like


def lesson(
    plan: Plan, tweets: Tweets, row: Row, given: dict[str, Any], seeds: Sequence[int]
) -> list[Any]:
    """Methods about to be fitted, as jobs on one corpus."""
    from dissensus.methods.framework.stacked_fits import Job

    seeds, given = plan.seeds(seeds), completed(plan, row, given)
    settings = plan.settings(base_settings(row.group) | given)
    items = tweets.items("train", "dev") if row.with_dev else tweets.items("train")
    if row.labels == "weighed" or row.teachers:
        corpus = tweets.counted(*targets(plan, tweets, row, given, items))
        methods = [student(settings, seed, bool(row.teachers)) for seed in seeds]
    else:
        corpus, name = tweets.whole.select(items=items), base(row.group)["method"]
        methods = [made(row.group, name, settings, seed) for seed in seeds]
    for method in methods:
        method.encoder = read_by(plan, row, given)
    return [Job(method, corpus, QUESTION) for method in methods]


def read_by(plan: Plan, row: Row, given: dict[str, Any]) -> str:
    """MiniLM, adapted where the settings say how, and spelling; word vectors in some rows."""
    read = [KIT / "minilm"]
    if row.n_encoders > 1:
        held = [of for other in adapting(row.group) for of in tried(plan, other)]
        read = [adapted_folder(plan, of) for of in best(held, row)]
    elif given.keys() >= ADAPTED[0].keys():
        read = [adapted_folder(plan, given)]
    words = [f"words:{KIT / 'glove.txt.gz'}"] if row.words else []
    return "&".join([*map(str, read), "spelling", *words])


def best(held: list[dict[str, Any]], row: Row) -> list[dict[str, Any]]:
    """Of settings that were tried those whose encoders a row reads, the best first."""
    held = sorted(held, key=lambda of: -float(np.mean(of[row.bys[0]])))
    return [of["settings"] for of in held[: row.n_encoders]]


def adapting(group: str) -> list[Row]:
    """The rows that choose among adapted encoders."""
    return [row for row in ROWS if row.group == group and row.grid in (ADAPTED, LONGER)]


def targets(
    plan: Plan, tweets: Tweets, row: Row, given: dict[str, Any], items: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Items, with those of tweets that teachers tag, and the distribution of each."""
    if row.labels == "weighed":
        found = posterior(plan, tweets, items, 2, given["weight"])
    else:
        found = tweets.shares(items, row.labels)
    if not row.teachers:
        return items, found
    more = tweets.unlabelled(given["tweets"])
    return np.r_[items, more], np.concatenate([found, taught(plan, row)[: len(more)]])


def taught(plan: Plan, row: Row) -> np.ndarray:
    """What the teachers of a row think of every token that nobody tagged, on average."""
    files = teacher_files(plan, row)
    found: np.ndarray = np.mean([np.load(path)["unlabelled"] for path in files], axis=0)
    return found


def teacher_files(plan: Plan, row: Row) -> list[Path]:
    halves = range(len(HALVES))
    if row.teachers != "base":
        teacher = named(row.group, row.teachers)
        return [tested_file(plan, teacher, teacher.bys[0], half) for half in halves]
    return [plan.file(f"{row.group}-teachers-{row.encoder}-{half}.npz") for half in halves]


def posterior(
    plan: Plan, tweets: Tweets, items: np.ndarray, n_rounds: int, weight: float
) -> np.ndarray:
    """The truth behind the answers to items, in view of the teachers of a round."""
    held = np.load(cross_file(plan, n_rounds, weight))
    whole = np.zeros((tweets.whole.n_items, held["prior"].shape[1]))
    whole[held["items"]] = held["prior"]
    rows, prior = tweets.rows(items), whole[items]
    found = truth(rows, prior, tweets.whole.n_annotators, weight)
    automatic = np.setdiff1d(np.arange(len(items)), rows[0])
    found[automatic] = tweets.shares(items[automatic], "votes")
    return found


# ---- pieces ----


def cross_file(plan: Plan, n_rounds: int, weight: float) -> Path:
    return plan.file(f"crowd-cross-{n_rounds}-{weight if n_rounds > 1 else 0}.npz")


def adapted_folder(plan: Plan, settings: dict[str, Any]) -> Path:
    size = f"-{settings['masked_batch']}" if "masked_batch" in settings else ""
    return plan.file(f"adapted-{settings['masked_epochs']}-{settings['masked_rate']:.0e}{size}")


def tried_file(plan: Plan, row: Row, number: int) -> Path:
    return plan.file(f"{row.group}-{row.name}-tried-{number}.json")


def tested_file(plan: Plan, row: Row, by: str, half: int) -> Path:
    return plan.file(f"{row.group}-{row.name}-tested-{by}-{half}.npz")


def begun(plan: Plan) -> Tweets:
    """The tweets, in a process that works on one core."""
    import torch

    torch.set_num_threads(1)
    return opened(plan.small)


def think(methods: Sequence[Any], part: Any) -> list[np.ndarray]:
    """What each method thinks of each item, (n_items, n_values); the texts are read once."""
    found = []
    for method in methods:
        method.share_encodings(methods[0])
        found.append(np.asarray(method.predict(part)[QUESTION].distribution))
    return found


def fitted(plan: Plan, jobs: list[Any]) -> list[Any]:
    """All jobs side by side; a trial in miniature is for a CPU, where that is slow."""
    from dissensus.methods.framework.stacked_fits import fit_many

    for job in jobs if plan.small else ():
        job.method.training = replace(job.method.training, precision="fp32")
    return fit_many(jobs, stack=False if plan.small else None)


def teach(plan: Plan, group: str, encoder: str, half: int, path: Path) -> None:
    """Teachers of the best method so far, and what they think of tweets that nobody tagged."""
    tweets = begun(plan)
    labels = "gold" if group == "gold" else "votes"
    row = Row(group, "teachers", labels=labels, encoder=encoder)
    methods = fitted(plan, lesson(plan, tweets, row, {}, HALVES[half]))
    found = np.mean(think(methods, tweets.whole.part(PART)), axis=0)
    with path.open("wb") as file:
        np.savez_compressed(file, unlabelled=found.astype(np.float16))


def cross(plan: Plan, n_rounds: int, weight: float, path: Path) -> None:
    """What teachers think of each token of the crowd that they have not seen; those of the
    second round learn the posterior of the first."""
    from dissensus.methods.framework.stacked_fits import Job

    tweets = begun(plan)
    seeds = plan.seeds(CROSS_SEEDS)
    settings, name = plan.settings(base_settings("crowd")), base("crowd")["method"]
    train, dev = tweets.items("train"), tweets.items("dev")
    content = tweets.whole.content["text"][train]
    distinct, tweet = np.unique(content, return_inverse=True)
    fold = (np.random.default_rng(0).permutation(len(distinct)) % FOLDS)[tweet]
    jobs = []
    for number in range(FOLDS):
        items = train[fold != number]
        if n_rounds == 1:
            part = tweets.whole.select(items=items)
            methods = [made("crowd", name, settings, seed) for seed in seeds]
        else:
            part = tweets.counted(items, posterior(plan, tweets, items, 1, weight))
            methods = [student(settings, seed) for seed in seeds]
        jobs += [Job(method, part, QUESTION) for method in methods]
    methods = fitted(plan, jobs)
    prior = np.zeros((len(train), len(tweets.whole[QUESTION].scale.values)))
    for number in range(FOLDS):
        of_fold = methods[number * len(seeds) : (number + 1) * len(seeds)]
        part = tweets.whole.select(items=train[fold == number])
        prior[fold == number] = np.mean(think(of_fold, part), axis=0)
    of_dev = np.mean(think(methods, tweets.whole.select(items=dev)), axis=0)
    with path.open("wb") as file:
        np.savez_compressed(file, items=np.r_[train, dev], prior=np.concatenate([prior, of_dev]))


def attempt(plan: Plan, row: Row, number: int, path: Path) -> None:
    """A row with one of its settings, on the development part."""
    tweets = begun(plan)
    dev = tweets.whole.part("dev")
    methods = fitted(plan, lesson(plan, tweets, row, row.grid[number], TRIED))
    said = [mass.argmax(axis=1) for mass in think(methods, dev)]
    right = {of: [share(codes, label(dev, of)) for codes in said] for of in ("gold", "majority")}
    path.write_text(json.dumps({"settings": row.grid[number], **right}))


def test(plan: Plan, row: Row, by: str, half: int, path: Path) -> None:
    """Half of the seeds with the chosen settings, on the test part; nothing where the same
    settings are chosen by the crowd's majority, too."""
    given = choice(plan, row, by)
    held: dict[str, Any] = {}
    if by == row.bys[0] or given != choice(plan, row, row.bys[0]):
        tweets = begun(plan)
        methods = fitted(plan, lesson(plan, tweets, row, given, HALVES[half]))
        held["test"] = np.stack(think(methods, tweets.whole.part("test"))).astype(np.float32)
        if by == row.bys[0] and any(row.name == other.teachers for other in ROWS):
            more = np.mean(think(methods, tweets.whole.part(PART)), axis=0)
            held["unlabelled"] = more.astype(np.float16)
    with path.open("wb") as file:
        np.savez_compressed(file, **held)


def assemble(plan: Plan, row: Row, path: Path) -> None:
    """A row of the table, in the form of those that `run` makes."""
    chosen = {by: choice(plan, row, by) for by in row.bys}
    tested = {}
    for by, settings in chosen.items():
        halves = [np.load(tested_file(plan, row, by, half)) for half in range(len(HALVES))]
        if "test" in halves[0]:
            mass = np.concatenate([held["test"] for held in halves])  # (n_seeds, n_items, n_values)
            tested[json.dumps(settings)] = {
                "seeds": [letters(of_seed.argmax(axis=1)) for of_seed in mass],
                "together": letters(mass.mean(axis=0).argmax(axis=1)),
            }
    content = {
        "group": row.group,
        "method": row.name,
        "base": base(row.group)["method"],
        "tried": tried(plan, row),
        "chosen": chosen,
        "tested": tested,
    }
    path.write_text(json.dumps(content))


def pieces_of(plan: Plan, row: Row) -> list[Piece]:
    """Everything that a row needs, in order; what other rows need too is named by each."""
    tests = tests_of(plan, row)
    path = row_path(plan.out, row.group, row.name)
    return [*tests, Piece(path, assemble, (plan, row), _paths(tests))]


def tests_of(plan: Plan, row: Row) -> list[Piece]:
    """A row on the test part, and what must be there before."""
    before = trials_of(plan, row)
    found = [
        Piece(tested_file(plan, row, by, half), test, (plan, row, by, half), _paths(before))
        for by, half in itertools.product(row.bys, range(len(HALVES)))
    ]
    return [*before, *found]


def trials_of(plan: Plan, row: Row) -> list[Piece]:
    """A row's settings on the development part, unless their choice is kept, and what must be
    there before; an adapted encoder is waited for where it is read."""
    before, encoders = needed(plan, row), encoders_of(plan, row)
    if kept(row):
        return [*before, *encoders]
    found = []
    for number, settings in enumerate(row.grid):
        read = [piece for piece in encoders if piece.arguments[0] == settings]
        path = tried_file(plan, row, number)
        found.append(Piece(path, attempt, (plan, row, number), _paths([*before, *read])))
    return [*before, *encoders, *found]


def encoders_of(plan: Plan, row: Row) -> list[Piece]:
    """The adapted encoders to choose from, or those that were chosen."""
    before = kept(row)
    wanted = before["chosen"].values() if before else row.grid
    return [encoder_of(plan, settings) for settings in wanted if settings in (*ADAPTED, *LONGER)]


def encoder_of(plan: Plan, settings: dict[str, Any]) -> Piece:
    return Piece(adapted_folder(plan, settings), adapt, (settings, plan.small))


def needed(plan: Plan, row: Row) -> list[Piece]:
    """What other rows, crossed teachers and teachers give to a row."""
    encoder = trials_of(plan, named(row.group, row.encoder)) if row.encoder else []
    found = list(encoder)
    if row.parent not in ("", "base"):
        found += trials_of(plan, named(row.group, row.parent))
    if row.n_encoders > 1:
        for other in adapting(row.group):
            found += trials_of(plan, other)
            if kept(other):
                found += [encoder_of(plan, of) for of in best(tried(plan, other), row)]
    if row.labels == "weighed":
        found += crossed(plan) if row == WEIGHED_ROW else trials_of(plan, WEIGHED_ROW)
    if row.teachers == "base":
        for half, path in enumerate(teacher_files(plan, row)):
            arguments = (plan, row.group, row.encoder, half)
            found.append(Piece(path, teach, arguments, _paths(encoder)))
    elif row.teachers:
        found += tests_of(plan, named(row.group, row.teachers))
    return found


def crossed(plan: Plan) -> list[Piece]:
    """Both rounds of crossed teachers, with the weights to choose from or that was chosen."""
    before = kept(WEIGHED_ROW)
    weights = {of["weight"] for of in before["chosen"].values()} if before else WEIGHTS
    first = Piece(cross_file(plan, 1, 0), cross, (plan, 1, 0))
    second = [
        Piece(cross_file(plan, 2, weight), cross, (plan, 2, weight), (first.path,))
        for weight in sorted(weights, reverse=True)
    ]
    return [first, *second]


def _paths(pieces: Sequence[Piece]) -> tuple[Path, ...]:
    return tuple(piece.path for piece in pieces)


def run(out: Path, processes: int, seconds: float, adapted: bool, small: int = 0) -> None:
    """The rows that read an adapted encoder, or the others; what is neither kept nor in OUT."""
    plan = Plan(out, small)
    rows = [row for row in ROWS if row.adapted == adapted and not kept(row)]
    pieces = {piece.path: piece for row in rows for piece in pieces_of(plan, row)}
    left = carry_out(list(pieces.values()), processes, seconds)
    print(f"{len(pieces) - left} of {len(pieces)} pieces are done")
