"""What every method promises: settings as fields, fit, predict, save, load."""

from __future__ import annotations

import dataclasses
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from safetensors import SafetensorError

from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, listed
from dissensus.folders import writing
from dissensus.methods.framework.model_folder import plain, read_weights, write_model
from dissensus.methods.framework.pairs import (
    Asked,
    Pairs,
    Unknown,
    asked_pairs,
    crossed,
    own_pairs,
    trained_codes,
    voters,
)
from dissensus.methods.framework.raw_contents import Source, corpus_of
from dissensus.methods.framework.search_space import Choices
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from dissensus.scales import Interval, Scale, scale_from_dict

if TYPE_CHECKING:
    from dissensus.encoders import Encoding


@dataclass(frozen=True, eq=False)
class Answers:
    """What a method says of some items or pairs: a distribution and one answer each."""

    distribution: np.ndarray  # (n, n_columns)
    value: np.ndarray  # (n,) as the scale stores answers

    @staticmethod
    def joined(parts: Sequence[Answers]) -> Answers:
        """The answers of all parts, one part after another."""
        return Answers(
            np.concatenate([part.distribution for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def take(self, rows: np.ndarray) -> Answers:
        return Answers(self.distribution[rows], self.value[rows])

    def beside(self) -> dict[str, Any]:
        """What else a `Prediction` of these items holds, by the names of its fields."""
        return {}


@dataclass(frozen=True, eq=False)
class Learned:
    """What a fitted method remembers besides its weights."""

    corpus: str  # annotators are matched by name within the corpus of this name
    questions: dict[str, Scale]
    annotators: Names
    roles: dict[str, str]  # role -> kind of content, as shown in training
    part: dict[str, Any]  # which part of the corpus was learned, where the caller said
    answered: dict[str, np.ndarray]  # by question: who gave an answer, (n_annotators,) bool

    @property
    def any_answered(self) -> np.ndarray:
        """Which annotators gave an answer to any of the questions, (n_annotators,) bool."""
        return np.any(list(self.answered.values()), axis=0)

    def without_answers(self) -> dict[str, list[str]]:
        """By question, the annotators of whom nothing was learned; questions without any are
        left out."""
        missing = {q: np.flatnonzero(~answered) for q, answered in self.answered.items()}
        return {
            q: [self.annotators[a] for a in codes] for q, codes in missing.items() if len(codes)
        }


@dataclass(eq=False)
class Method(ABC):
    """A dataclass of settings. `fit` returns self; what was learned ends in `_`.

    `notes_` says, a line each, what the last fit or prediction had to decide.

    A method whose answers differ between annotators (`individual`) answers pairs, and an item's
    answer is the mean of its annotators'; any other answers items, for everybody alike.
    """

    name: ClassVar[str]
    individual: ClassVar[bool] = False
    slow: ClassVar[bool] = False  # so that it is compared only where it is named
    choices: ClassVar[Choices] = {}  # setting, dotted -> values to try
    learned_: Learned = dataclasses.field(init=False, repr=False)
    notes_: list[str] = dataclasses.field(init=False, repr=False, default_factory=list)
    _checkpoint: Path | None = dataclasses.field(init=False, repr=False, default=None)

    # ---- what a method writes ----

    @abstractmethod
    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        """Learn the questions of `learned_` from the corpus."""

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        """Answers to every item, by question; of methods that are not individual."""
        raise NotImplementedError

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        """Answers of pairs (annotators as codes of training), by question; if individual."""
        raise NotImplementedError

    @property
    def shows_attention(self) -> bool:
        """Whether it can say where it looked, with these settings."""
        return False

    def _with_attention(self, made: Predictions, corpus: Corpus) -> Predictions:
        """The predictions with where the method looked; of methods that show it."""
        raise NotImplementedError

    @abstractmethod
    def weights(self) -> dict[str, np.ndarray]:
        """What was learned, as arrays."""

    @abstractmethod
    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        """Take back what `weights` and `config` gave; `learned_` is there already."""

    def check_question(self, corpus: Corpus, question: str) -> None:
        """Refuse a question that this method cannot learn from the corpus."""
        if not corpus[question].n_rows:
            raise DataError(f"{corpus.name}: nobody answered {question!r}; nothing to learn from")
        if self.individual:
            corpus[question].who(self.name)

    # ---- what everyone calls ----

    def encodings(self, corpus: Corpus) -> dict[str, Encoding]:
        """What the method reads of a corpus, by role; nothing, if it only looks at answers."""
        return {}

    def fit(
        self,
        corpus: Corpus,
        questions: Sequence[str] | str | None = None,
        validation: Corpus | None = None,
        part: Mapping[str, Any] | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from a corpus.

        Args:
            questions: which ones; all of the corpus if left out.
            validation: to choose the best epoch on, where there are epochs.
            part: a note on which part of a larger corpus this is, kept with the model.
            checkpoint: a folder for the state of a long training; one that was stopped goes on
                from there, with the same end. `forget_checkpoint` removes it afterwards.
        """
        self.begin_fit(corpus, questions, part)
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self.learn_from(corpus, None if validation is None else self.align(validation))
        return self

    def forget_checkpoint(self) -> None:
        """Remove the state of the training, once the model is safe."""
        if self._checkpoint is not None:
            shutil.rmtree(self._checkpoint, ignore_errors=True)
            self._checkpoint = None

    def begin_fit(
        self,
        corpus: Corpus,
        questions: Sequence[str] | str | None,
        part: Mapping[str, Any] | None,
    ) -> None:
        """Note what is going to be learned."""
        asked = self.check(corpus, questions)
        self.learned_ = Learned(
            corpus.name,
            {question: corpus[question].scale for question in asked},
            corpus.annotators,
            {role: held.kind for role, held in corpus.contents.items()},
            dict(part or {}),
            {question: _answered(corpus, question) for question in asked},
        )
        self.notes_ = self._unlearned_notes() if self.individual else []

    def check(
        self, corpus: Corpus, questions: Sequence[str] | str | None = None
    ) -> tuple[str, ...]:
        """Refuse questions that cannot be learned from the corpus; the questions, if all can."""
        if not isinstance(corpus, Corpus):
            raise DataError(
                f"{self.name} learns from a corpus, found a {type(corpus).__name__}; "
                "dissensus.read(table) makes one of a file or a table"
            )
        asked = (questions,) if isinstance(questions, str) else tuple(questions or corpus.questions)
        corpus.check_questions(asked)
        if not asked:
            raise DataError(f"{corpus.name}: there is no question to learn")
        for question in asked:
            self.check_question(corpus, question)
        return asked

    def align(self, validation: Corpus) -> Corpus:
        """The validation corpus with the codes of training; strangers' answers are left out,
        where it matters who answers."""
        questions, everyone = self.learned_.questions, self.learned_.annotators
        validation.check_questions(questions)
        for question, scale in questions.items():
            if validation[question].scale != scale:
                raise DataError(f"{validation.name}: {question!r} has another scale than training")
        answered = self.learned_.answered
        if not self.individual or (
            validation.annotators == everyone and np.all([*answered.values()])
        ):
            return validation
        known = validation.select(annotators=everyone.find(validation.annotators) >= 0)
        asked = {q: known[q].on(known.items, everyone) for q in questions}
        asked = {q: rows.take(answered[q][rows.who(self.name)]) for q, rows in asked.items()}
        return dataclasses.replace(known, annotators=everyone, questions=asked)

    def predict(
        self,
        source: Source,
        *,
        annotators: Asked = "own",
        consensus: Literal["own", "all"] = "own",
        unknown: Unknown = "error",
        same_annotators: bool = False,
        attention: bool = False,
    ) -> Predictions:
        """Answer every question learned, for every item of the source.

        Args:
            source: a corpus; a list of contents (texts; paths or bytes of pictures, recordings and
                videos; arrays) where the model reads one role; a list for each role; or a table
                with a column for each role.
            annotators: whose answers are wanted: "own", of those who answered the item in the
                source; "all" with an answer in training; a list of names; or (item, annotator)
                pairs. Where nobody answered anything, as with raw contents, "own" is "all".
            consensus: whose answers make up an item's distribution: its own annotators' (all,
                for items nobody answered), or always all. Annotators without an answer in
                training are left out, unless `unknown` is "mean".
            unknown: what to do with annotators who are not in the training corpus: "error",
                "mean" over all with an answer in training, or "drop" them. Annotators who are in
                the training corpus without an answer are dropped too, or get the mean and are
                named in `notes_`. Methods that answer for everybody alike ignore it.
            same_annotators: the source has another name than the corpus of training, but its
                annotators are the same people.
            attention: where the method looked; refused by methods without attention.
        """
        if not hasattr(self, "learned_"):
            raise ModelError(f"{self.name} is not fitted yet; call fit first")
        if attention and not self.shows_attention:
            raise ModelError(f"{self.name} has no attention to show")
        if consensus not in ("own", "all"):
            raise DataError(f"consensus is of 'own' or 'all' annotators, not {consensus!r}")
        self.notes_ = []
        if isinstance(source, Corpus):
            corpus = source
        else:
            corpus = corpus_of(source, self._roles(), self.learned_.roles)
        if not corpus.questions and isinstance(annotators, str) and annotators == "own":
            annotators = "all"
        questions, everyone = self.learned_.questions, self.learned_.annotators
        answered = self.learned_.any_answered
        asked = asked_pairs(corpus, questions, annotators, everyone, answered)
        if self.individual:
            theirs = asked.names is corpus.annotators and corpus is source
            foreign = theirs and corpus.name != self.learned_.corpus and not same_annotators
            trained = everyone, answered, foreign
            pairs, code = trained_codes(asked, *trained, self._hint(corpus), unknown)
            own = None if consensus == "all" else own_pairs(corpus, questions)
            by_item = self._mean(corpus, *voters(corpus.n_items, own, *trained, unknown))
            by_pair = self._answers(corpus, pairs, code)
            self._note_unlearned(pairs, code)
        else:
            pairs, by_item = asked, self.predict_items(corpus)
            by_pair = {q: answers.take(pairs.item) for q, answers in by_item.items()}
        made = self._predictions(corpus, by_item, pairs, by_pair)
        return self._with_attention(made, corpus) if attention else made

    def _predictions(
        self,
        corpus: Corpus,
        by_item: dict[str, Answers],
        pairs: Pairs,
        by_pair: dict[str, Answers],
    ) -> Predictions:
        made = {}
        for question, scale in self.learned_.questions.items():
            people = None
            if len(pairs):
                of_pairs = by_pair[question]
                people = ByAnnotator(
                    pairs.item, pairs.annotator, pairs.names, of_pairs.value, of_pairs.distribution
                )
            of_items = by_item[question]
            bad = ~np.isfinite(of_items.distribution).all(axis=1)
            if bad.any():
                raise ModelError(
                    f"training diverged: {bad.sum()} of {len(bad)} answers to {question!r} are "
                    "nan; lower the learning rate, or scale contents that hold large numbers"
                )
            made[question] = Prediction(
                scale,
                corpus.items,
                of_items.distribution,
                of_items.value,
                people,
                **of_items.beside(),
            )
        return Predictions(made, self.name, corpus.name)

    # ---- an individual method's items ----

    def _hint(self, corpus: Corpus) -> str:
        if corpus.name == self.learned_.corpus:
            return ""
        return (
            f" (it learned from {self.learned_.corpus!r}, not {corpus.name!r}: if these are the "
            "same people, say same_annotators=True or --same-annotators)"
        )

    def _unlearned_notes(self) -> list[str]:
        """Which annotators of the corpus gave no answer to learn from, a line per question."""
        n, several = len(self.learned_.annotators), len(self.learned_.questions) > 1
        return [
            f"{len(names)} of {n} annotators gave no answer"
            + (f" to {question!r}" if several else "")
            + f" to learn from ({listed(names, 5)}): they are left out of the consensus of all"
            for question, names in self.learned_.without_answers().items()
        ]

    def _note_unlearned(self, pairs: Pairs, code: np.ndarray) -> None:
        """Say which of the predicted annotators gave no answer in training."""
        asked, n_questions = np.unique(pairs.annotator), len(self.learned_.questions)
        codes = np.full(len(pairs.names), -1)
        codes[pairs.annotator] = code
        for question, answered in self.learned_.answered.items():
            learned = np.r_[answered, False]  # the last one for code -1
            names = [pairs.names[a] for a in asked if not learned[codes[a]]]
            if names:
                which = "" if n_questions == 1 else f" to {question!r}"
                self.notes_.append(
                    f"no answer{which} in training from annotator {listed(names, 5)}; predicted "
                    "as the mean of the annotators who gave one"
                )

    def _answers(self, corpus: Corpus, pairs: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """Answers of pairs. Where nothing was learned of an annotator (code -1, or no answer to
        the question in training), the mean of all others."""
        unlearned = {
            question: ~np.r_[answered, False][code]
            for question, answered in self.learned_.answered.items()
        }
        known = np.flatnonzero(code >= 0)
        given = self._own_answers(corpus, pairs.take(known), code[known])
        rows = np.flatnonzero(np.any(list(unlearned.values()), axis=0))
        if not len(rows):
            return given
        every = np.flatnonzero(self.learned_.any_answered)
        others = crossed(np.unique(pairs.item[rows]), every, self.learned_.annotators)
        mean = self._mean(corpus, others, others.annotator, only_learned=True)
        at = np.cumsum(code >= 0) - 1  # of each pair in `given`
        joined = {}
        for question, of_items in mean.items():
            parts = [of_items.take(pairs.item), *([given[question]] if len(known) else [])]
            place = np.where(unlearned[question], np.arange(len(pairs)), len(pairs) + at)
            joined[question] = Answers.joined(parts).take(place)
        return joined

    def _own_answers(self, corpus: Corpus, pairs: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """Answers of pairs as the method gives them, some pairs at a time."""
        runs = Pairs(pairs.item, code, pairs.names).runs()
        parts = [self.predict_pairs(corpus, run.item, run.annotator) for run in runs]
        return {q: Answers.joined([p[q] for p in parts]) for q in parts[0]} if parts else {}

    def _mean(
        self, corpus: Corpus, voters: Pairs, code: np.ndarray, only_learned: bool = False
    ) -> dict[str, Answers]:
        """Each item's answer as the mean of its voters' distributions; nan without any.

        Args:
            voters: sorted by item.
            only_learned: count only voters who answered the question in training.
        """
        scales = self.learned_.questions
        mass = {q: np.zeros((corpus.n_items, s.n_columns)) for q, s in scales.items()}
        place = {q: np.zeros(corpus.n_items) for q in scales}
        n_votes = {q: np.zeros(corpus.n_items) for q in scales}
        answers = self._own_answers if only_learned else self._answers
        for run, codes in zip(voters.runs(), Pairs(code, code, voters.names).runs(), strict=True):
            starts = np.flatnonzero(np.diff(run.item, prepend=-1))
            items = run.item[starts]
            for question, given in answers(corpus, run, codes.item).items():
                vote = np.ones(len(run))
                if only_learned:
                    vote = self.learned_.answered[question][codes.item].astype(float)
                masses, values = vote[:, None] * given.distribution, vote * given.value
                mass[question][items] += np.add.reduceat(masses, starts, axis=0)
                place[question][items] += np.add.reduceat(values, starts)
                n_votes[question][items] += np.add.reduceat(vote, starts)
        means = {}
        for question, scale in scales.items():
            n = np.where(n_votes[question] > 0, n_votes[question], np.nan)
            share, value = mass[question] / n[:, None], place[question] / n
            if not isinstance(scale, Interval):
                value = scale.consensus(np.nan_to_num(share)).astype(scale.dtype)
            means[question] = Answers(share, value)
        return means

    def _roles(self) -> list[str]:
        """The roles that are read; those that were shown, where contents are not looked at."""
        return list(self.learned_.roles)

    # ---- scikit-learn's manners ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init}

    def set_params(self, **settings: Any) -> Self:
        """Change settings by name."""
        strange = [name for name in settings if name not in self.get_params()]
        if strange:
            known = listed(self.get_params(), 20) or "none"
            raise ModelError(f"{self.name} has no setting {listed(strange)}; it has {known}")
        for name, value in settings.items():
            setattr(self, name, value)
        return self

    # ---- a folder ----

    def save(self, path: str | Path) -> None:
        """Write a folder: model.safetensors, config.json and a model card; no pickle."""
        if not hasattr(self, "learned_"):
            raise ModelError(f"{self.name} is not fitted yet; there is nothing to save")
        with writing(path, "config") as folder:
            write_model(folder, self.weights(), self.config())
            (folder / "README.md").write_text(self._card(), encoding="utf-8")
            self._write_more(folder)

    def _write_more(self, folder: Path) -> None:  # noqa: B027
        """Write what a method keeps beside its weights, if anything."""

    def config(self) -> dict[str, Any]:
        learned = self.learned_
        config = {
            "method": self.name,
            "settings": {k: plain(v) for k, v in self.get_params().items()},
            "corpus": learned.corpus,
            "questions": {q: scale.to_dict() for q, scale in learned.questions.items()},
            "annotators": list(learned.annotators),
            "roles": learned.roles,
            "part": learned.part,
        }
        missing = learned.without_answers()
        if missing:
            config["without_answers"] = missing
        return dict(json.loads(json.dumps(config)))  # tuples are lists when it is read back

    def _card(self) -> str:
        learned = self.learned_
        questions = ", ".join(f"`{q}` ({s.kind})" for q, s in learned.questions.items())
        settings = "\n".join(f"- `{k}`: {plain(v)}" for k, v in self.get_params().items())
        people = listed(learned.annotators[:20], 20) or "nobody by name"
        more = " and more (all in config.json)" if len(learned.annotators) > 20 else ""
        return (
            f"# {self.name} on {learned.corpus}\n\n"
            f"A model of dissensus, for {questions}.\n"
            f"It learned from {len(learned.annotators)} annotators: {people}{more}.\n\n"
            f"## Settings\n{settings or '- none'}\n\n"
            "## Use\n`dissensus.load(folder)`, or `dissensus predict folder FILE -o OUT`.\n"
        )

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings as they were before they became JSON."""
        return {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}

    @classmethod
    def from_folder(cls, folder: Path, config: dict[str, Any]) -> Self:
        """The method that `save` wrote, from its checked config."""
        method = cls(**cls._settings(config["settings"]))
        annotators = Names(config["annotators"]) if config["annotators"] else Names.range(0)
        missing = config.get("without_answers", {})  # older models do not say
        answered = {
            q: ~np.isin(np.arange(len(annotators)), annotators.find(Names(missing.get(q, []))))
            for q in config["questions"]
        }
        method.learned_ = Learned(
            config["corpus"],
            {q: scale_from_dict(s) for q, s in config["questions"].items()},
            annotators,
            config["roles"],
            config["part"],
            answered,
        )
        method.restore(read_weights(folder), config)
        return method


def _answered(corpus: Corpus, question: str) -> np.ndarray:
    """Which annotators answered a question, (n_annotators,); all of them if that is unknown."""
    annotator = corpus[question].annotator
    everyone = np.arange(corpus.n_annotators)
    return np.isin(everyone, everyone if annotator is None else annotator)


def load_model(path: str | Path, cls: type[Method], config: dict[str, Any]) -> Method:
    """The model of a folder whose config was read; nothing in the folder is ever run."""
    try:
        return cls.from_folder(Path(path), config)
    except (KeyError, TypeError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"{path}: a model of another version ({reason}); train again") from None
