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
from dissensus.methods.asking import (
    Asked,
    Pairs,
    Unknown,
    asked_pairs,
    crossed,
    own_pairs,
    trained_codes,
    voters,
)
from dissensus.methods.choices import Choices
from dissensus.methods.folder import plain, read_weights, write_model
from dissensus.methods.sources import Source, corpus_of
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from dissensus.scales import Interval, Scale, scale_from_dict

if TYPE_CHECKING:
    from dissensus.encoders import Reading


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
    def _fit(self, corpus: Corpus, validation: Corpus | None) -> None:
        """Learn the questions of `learned_` from the corpus."""

    def _of_items(self, corpus: Corpus) -> dict[str, Answers]:
        """Answers to every item, by question; of methods that are not individual."""
        raise NotImplementedError

    def _of_pairs(
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
    def _weights(self) -> dict[str, np.ndarray]:
        """What was learned, as arrays."""

    @abstractmethod
    def _restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        """Take back what `_weights` and `_config` gave; `learned_` is there already."""

    def _check(self, corpus: Corpus, question: str) -> None:
        """Refuse a question that this method cannot learn from the corpus."""
        if not corpus[question].n_rows:
            raise DataError(f"{corpus.name}: nobody answered {question!r}; nothing to learn from")
        if self.individual:
            corpus[question].who(self.name)

    # ---- what everyone calls ----

    def reads(self, corpus: Corpus) -> dict[str, Reading]:
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
        self._begin(corpus, questions, part)
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self._fit(corpus, None if validation is None else self._aligned(validation))
        return self

    def forget_checkpoint(self) -> None:
        """Remove the state of the training, once the model is safe."""
        if self._checkpoint is not None:
            shutil.rmtree(self._checkpoint, ignore_errors=True)
            self._checkpoint = None

    def _begin(
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
        )
        self.notes_ = []

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
            self._check(corpus, question)
        return asked

    def _aligned(self, validation: Corpus) -> Corpus:
        """The validation corpus with the codes of training; strangers' answers are left out,
        where it matters who answers."""
        questions, everyone = self.learned_.questions, self.learned_.annotators
        validation.check_questions(questions)
        for question, scale in questions.items():
            if validation[question].scale != scale:
                raise DataError(f"{validation.name}: {question!r} has another scale than training")
        if validation.annotators == everyone or not self.individual:
            return validation
        known = validation.select(annotators=everyone.find(validation.annotators) >= 0)
        asked = {q: known[q].on(known.items, everyone) for q in questions}
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
                source; "all" that were learned; a list of names; or (item, annotator) pairs.
                Where nobody answered anything, as with raw contents, "own" is "all".
            consensus: whose answers make up an item's distribution: its own annotators' (all,
                for items nobody answered), or always all.
            unknown: what to do with annotators that were not in training: an error, the mean
                over all that were, or drop them. Methods that answer for everybody alike know
                no strangers.
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
        asked = asked_pairs(corpus, questions, annotators, everyone)
        if self.individual:
            theirs = asked.names is corpus.annotators and corpus is source
            foreign = theirs and corpus.name != self.learned_.corpus and not same_annotators
            pairs, code = trained_codes(asked, everyone, foreign, self._hint(corpus), unknown)
            own = None if consensus == "all" else own_pairs(corpus, questions)
            by_item = self._mean(corpus, *voters(corpus.n_items, own, everyone, foreign, unknown))
            by_pair = self._answers(corpus, pairs, code)
        else:
            pairs, by_item = asked, self._of_items(corpus)
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

    def _answers(self, corpus: Corpus, pairs: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """Answers of pairs; a stranger (code -1) answers as the mean of everyone."""
        if (code >= 0).all():
            runs = Pairs(pairs.item, code, pairs.names).runs()
            parts = [self._of_pairs(corpus, run.item, run.annotator) for run in runs]
            return {q: Answers.joined([p[q] for p in parts]) for q in parts[0]} if parts else {}
        known = np.flatnonzero(code >= 0)
        strange = np.flatnonzero(code < 0)
        of_known = self._answers(corpus, pairs.take(known), code[known])
        everyone = crossed(np.unique(pairs.item[strange]), self.learned_.annotators)
        mean = self._mean(corpus, everyone, everyone.annotator)
        back = np.argsort(np.r_[known, strange], kind="stable")
        joined = {}
        for question, of_items in mean.items():
            theirs = [of_known[question]] if known.size else []
            both = Answers.joined([*theirs, of_items.take(pairs.item[strange])])
            joined[question] = both.take(back)
        return joined

    def _mean(self, corpus: Corpus, voters: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """Each item's answer as the mean of its voters' distributions; nan without any.

        Args:
            voters: sorted by item.
        """
        scales = self.learned_.questions
        mass = {q: np.zeros((corpus.n_items, s.n_columns)) for q, s in scales.items()}
        place = {q: np.zeros(corpus.n_items) for q in scales}
        for run, codes in zip(voters.runs(), Pairs(code, code, voters.names).runs(), strict=True):
            starts = np.flatnonzero(np.diff(run.item, prepend=-1))
            items = run.item[starts]
            for question, given in self._answers(corpus, run, codes.item).items():
                mass[question][items] += np.add.reduceat(given.distribution, starts, axis=0)
                place[question][items] += np.add.reduceat(given.value.astype(float), starts)
        n = np.bincount(voters.item, minlength=corpus.n_items).astype(float)
        n[n == 0] = np.nan
        means = {}
        for question, scale in scales.items():
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
            write_model(folder, self._weights(), self._config())
            (folder / "README.md").write_text(self._card(), encoding="utf-8")
            self._write_more(folder)

    def _write_more(self, folder: Path) -> None:  # noqa: B027
        """Write what a method keeps beside its weights, if anything."""

    def _config(self) -> dict[str, Any]:
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
        method.learned_ = Learned(
            config["corpus"],
            {q: scale_from_dict(s) for q, s in config["questions"].items()},
            Names(config["annotators"]) if config["annotators"] else Names.range(0),
            config["roles"],
            config["part"],
        )
        method._restore(read_weights(folder), config)
        return method


def load_model(path: str | Path, cls: type[Method], config: dict[str, Any]) -> Method:
    """The model of a folder whose config was read; nothing in the folder is ever run."""
    try:
        return cls.from_folder(Path(path), config)
    except (KeyError, TypeError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"{path}: a model of another version ({reason}); train again") from None
