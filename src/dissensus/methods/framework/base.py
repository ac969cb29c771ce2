"""Method: the interface of every method: settings as fields, fit, predict, save, load."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_of

from dissensus.conversion import corpus_of as corpus_of_answers
from dissensus.corpus import Corpus
from dissensus.densities import RatingKde
from dissensus.errors import DataError, DissensusError, ModelError, counted, cut, listed
from dissensus.files.checked_json import check_types
from dissensus.files.folders import DAMAGE, writing
from dissensus.methods.framework.attributes import no_attributes
from dissensus.methods.framework.enrolment import Newcomer, learn_newcomers, newcomers_of
from dissensus.methods.framework.learned import Answers, Learned, training_notes
from dissensus.methods.framework.model_folder import plain, read_model, write_model
from dissensus.methods.framework.nearest import nearest_annotators
from dissensus.methods.framework.pairs import (
    PairPredictor,
    Pairs,
    Selection,
    StandIns,
    TrainingAnnotators,
    Unknown,
    consensus_pairs,
    own_pairs,
    selected_pairs,
)
from dissensus.methods.framework.predicted_densities import density_of_annotators, density_of_items
from dissensus.methods.framework.raw_contents import ItemSource, corpus_of, index_of
from dissensus.methods.framework.settings import (
    Choices,
    changed,
    check_ranges,
    completed,
    literals,
    settings_of,
)
from dissensus.prediction import ByAnnotator, JointDensity, Prediction, Predictions
from dissensus.scales import SCALES

if TYPE_CHECKING:
    from torch import Tensor

    from dissensus.encoders import Encoding


@dataclass(eq=False)
class Method(ABC):
    """A dataclass whose fields are the settings. Attributes that `fit` sets end in `_`.

    `notes_` lists what the user should know about the last fit or prediction, a line each.

    A method that is `individual` predicts pairs of item and annotator, and an item's distribution
    is the mean of its annotators', unless the method `predicts_truth`. Any other method predicts
    items, the same for all annotators.
    """

    name: ClassVar[str]
    individual: ClassVar[bool] = False
    scales: ClassVar[tuple[str, ...]] = tuple(SCALES)  # kinds of answers that it learns
    instead: ClassVar[str] = ""  # a similar method that learns all kinds
    item_passes: ClassVar[float | None] = None  # of a fit without a training, about
    choices: ClassVar[Choices] = {}  # values to try, by setting ("training.epochs")
    ranges: ClassVar[Mapping[str, str]] = {}  # settings that are checked: one of `RANGES` each
    learned_: Learned = dataclasses.field(init=False, repr=False)
    notes_: list[str] = dataclasses.field(init=False, repr=False, default_factory=list)
    newcomers_: list[Newcomer] = dataclasses.field(init=False, repr=False, default_factory=list)
    _checkpoint: Path | None = dataclasses.field(init=False, repr=False, default=None)

    # ---- what a method overrides ----

    @abstractmethod
    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        """Learn the questions of `learned_` from the corpus."""

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        """The answers to all items, by question; if not `individual`, or if it `predicts_truth`."""
        raise NotImplementedError

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        """The answers of pairs, by question; if `individual`.

        Args:
            item: codes into the items of the corpus, (n_pairs,).
            annotator: codes into `learned_.annotators`, (n_pairs,).
        """
        raise NotImplementedError

    @property
    def has_prior(self) -> bool:
        """Whether annotators with few answers are predicted much like the others."""
        return False

    @property
    def predicts_truth(self) -> bool:
        """Whether a method that is `individual` also has a model of the truth, which predicts
        items; otherwise their distribution is the mean of the annotators'."""
        return False

    def vote_weights(self, question: str, answers: Answers) -> np.ndarray:
        """The weight of each annotator's answer in the mean of an item, (n_pairs,)."""
        return np.ones(len(answers.value))

    @abstractmethod
    def weights(self) -> dict[str, np.ndarray]:
        """What was learned, as arrays."""

    @abstractmethod
    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        """Set what was learned from `weights` and `config`; `learned_` is already set."""

    def check_question(self, corpus: Corpus, question: str) -> None:
        """Refuse a question that this method cannot learn from the corpus."""
        if not corpus[question].n_rows:
            raise DataError(f"{corpus.name}: no answers to {question!r}; nothing to learn from")
        kind = corpus[question].scale.kind
        if kind not in self.scales:
            similar = f"use {self.instead}, " if self.instead else ""
            raise ModelError(
                f"{self.name} learns {' and '.join(self.scales)} answers, but {question!r} is "
                f"{kind}; {similar}choose other questions, or declare the scale when reading"
            )
        if self.individual:
            corpus[question].annotator_codes(self.name)

    def encodings(self, corpus: Corpus) -> dict[str, Encoding]:
        """The encoder and contents of each role that the method reads; empty without contents."""
        return {}

    @property
    def shows_attention(self) -> bool:
        """Whether `predict(attention=True)` works with these settings."""
        return False

    @property
    def votes(self) -> bool:
        """Whether an item's distribution has the shares of its annotators' predicted answers,
        instead of the mean of their distributions."""
        return False

    def _with_attention(self, predictions: Predictions, corpus: Corpus) -> Predictions:
        """The predictions with attention, if `shows_attention`."""
        raise NotImplementedError

    # ---- fit ----

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
            questions: to learn; all of the corpus if left out.
            validation: to choose the best epoch on, if there are epochs.
            part: a note on which part of a larger corpus this is, saved with the model.
            checkpoint: a folder for the state of the training. If it contains the state of a
                training that was stopped, fit resumes there, with the same result.
                `forget_checkpoint` removes it afterwards.
        """
        self.begin_fit(corpus, questions, part)
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self.learn_from(corpus, self.validation_corpus(validation))
        return self

    def forget_checkpoint(self) -> None:
        """Remove the checkpoint, once the model is saved."""
        from dissensus.training.checkpoint import delete_checkpoint

        if self._checkpoint is not None:
            delete_checkpoint(self._checkpoint)
            self._checkpoint = None

    def begin_fit(
        self, corpus: Corpus, questions: Sequence[str] | str | None, part: Mapping[str, Any] | None
    ) -> None:
        """Check the corpus and set `learned_`."""
        self.learned_ = Learned.of_corpus(corpus, self.check(corpus, questions), part or {})
        self.notes_ = training_notes(self.learned_) if self.individual else []

    def check(
        self, corpus: Corpus, questions: Sequence[str] | str | None = None
    ) -> tuple[str, ...]:
        """The questions to learn; refuse those that cannot be learned from the corpus, and settings
        out of range."""
        check_ranges(self)
        if not isinstance(corpus, Corpus):
            raise DataError(
                f"{self.name} learns from a Corpus, found a {type(corpus).__name__}; "
                "dissensus.read(table) makes a corpus of a file or a table"
            )
        names = (questions,) if isinstance(questions, str) else tuple(questions or corpus.questions)
        corpus.check_questions(names)
        if not names:
            raise DataError(f"{corpus.name}: there is no question to learn")
        for question in names:
            self.check_question(corpus, question)
        return names

    def validation_corpus(self, validation: Corpus | None) -> Corpus | None:
        """The validation corpus as training uses it; see `align`."""
        return None if validation is None else self.align(validation)

    def align(self, validation: Corpus) -> Corpus:
        """The validation corpus with the annotator codes of training.

        If the method is `individual`, answers of annotators without an answer in training are
        left out.
        """
        scales, annotators = self.learned_.questions, self.learned_.annotators
        validation.check_questions(scales)
        for question, scale in scales.items():
            if validation[question].scale != scale:
                raise DataError(f"{validation.name}: {question!r} has another scale than training")
        answered = self.learned_.answered
        all_answered = np.all(list(answered.values()))
        if not self.individual or (validation.annotators == annotators and all_answered):
            return validation
        known = validation.select(annotators=annotators.find(validation.annotators) >= 0)
        questions = {question: known[question].on(known.items, annotators) for question in scales}
        for question, rows in questions.items():
            questions[question] = rows.take(answered[question][rows.annotator_codes(self.name)])
        return dataclasses.replace(known, annotators=annotators, questions=questions)

    # ---- predict ----

    def predict(
        self,
        source: ItemSource,
        *,
        annotators: Selection = "own",
        consensus: Literal["own", "all"] = "own",
        unknown: Unknown = "error",
        enrolment: Corpus | None = None,
        same_annotators: bool = False,
        attention: bool = False,
        density: RatingKde | str | None = None,
    ) -> Predictions:
        """Predict the answers to every learned question, for every item.

        Args:
            source: a corpus; a list of contents (texts; paths or bytes of images, recordings and
                videos; arrays) if the model reads one role; a list for each role; or a pandas,
                polars or Arrow table with a column for each role. Items are called as in its
                column of items, such as `id`, else as in the index of a DataFrame, which
                `to_pandas()` of the result keeps.
            annotators: whose answers to predict: "own", the annotators who answered the item in
                the source; "all" with an answer in training; a list of names; or (item, annotator)
                pairs. In a source without answers, such as raw contents, "own" means "all".
            consensus: whose answers make up an item's distribution: those of its "own" annotators
                (of all, if it has none), or always of "all". Annotators without an answer in
                training are left out, unless `unknown` is "mean", "nearest" or "attributes".
                Ignored by methods with a model of the truth, which predicts it.
            unknown: what to do with annotators who are not in the training corpus: "error";
                "mean" of all with an answer in training; "drop"; "nearest": as the annotator whose
                predicted answers agree best with their own (by concordance of ratings, or by the
                share of equal answers); "aggregate": as an annotator who learned the consensus,
                if the method was fitted with `aggregate=True`; or "attributes": by their attributes
                in the source, if the method was fitted with `attributes`. Annotators who are in the
                training corpus but gave no answer are dropped by "drop"; with "error" they get the
                mean. `notes_` names all of them. Ignored if the method is not `individual`.
            enrolment: contents and answers of newcomers that "nearest" compares; the source if left
                out. Answers to an item are never used to predict that item. Newcomers with fewer
                than two answers to other items, or equal ratings only, get the mean.
            same_annotators: the annotators of the source are those of the training corpus,
                although the corpora have different names.
            attention: also return attention; refused by methods without it.
            density: also return the density of the ratings of each item over the one or two
                questions that were learned, from the predicted answers of its annotators (those
                of `consensus`): a `RatingKde`, or its settings as a text such as "soft:bins=8". If
                the method is not `individual`, it is the product of the predicted distributions.
        """
        if not hasattr(self, "learned_"):
            raise ModelError(f"{self.name} is not fitted yet; call fit first")
        if attention and not self.shows_attention:
            raise ModelError(f"{self.name} has no attention to show")
        if consensus not in ("own", "all"):
            raise DataError(f"consensus must be 'own' or 'all', not {consensus!r}")
        if enrolment is not None and unknown != "nearest":
            raise DataError("enrolment is for unknown='nearest' (--unknown nearest); leave it out")
        kde = RatingKde.from_text(density) if isinstance(density, str) else density or self.kde_
        self.notes_ = []
        if isinstance(source, Corpus):
            corpus = source
        else:
            corpus = corpus_of(source, self._roles(), self.learned_.roles)
        if not corpus.questions and isinstance(annotators, str) and annotators == "own":
            annotators = "all"
        questions = self.learned_.questions
        training = TrainingAnnotators(self.learned_.annotators, self.learned_.any_answered)
        pairs = selected_pairs(corpus, questions, annotators, training)
        if self.individual:
            met = pairs.names is corpus.annotators and corpus is source and not same_annotators
            if met and corpus.name != self.learned_.corpus:
                hint = (
                    f" (the model was trained on {self.learned_.corpus!r}, this is "
                    f"{corpus.name!r}; if the annotators are the same, pass same_annotators=True "
                    "or --same-annotators)"
                )
                training = dataclasses.replace(training, foreign=True, hint=hint)
            newcomers = (enrolment or corpus).annotators
            training = dataclasses.replace(training, newcomers=newcomers)
            pairs, code = training.codes(pairs, unknown)
            own = None if consensus == "all" else own_pairs(corpus, questions)
            voters = consensus_pairs(corpus.n_items, own, training, unknown)
            predictor = PairPredictor(
                self.learned_, corpus, self.predict_pairs, None, self.vote_weights, self.votes
            )
            stand_ins: StandIns | None = None
            if unknown == "aggregate":
                stand_ins = self.stand_in_for_all()
            elif unknown == "attributes":
                stand_ins = self.stand_ins_by_attributes(corpus)
            elif unknown == "nearest":
                enrolled = dataclasses.replace(predictor, corpus=enrolment or corpus)
                both, foreign = np.r_[code, voters[1]], training.foreign and enrolment is None
                stand_ins = nearest_annotators(enrolled, both, corpus, foreign)
            predictor = dataclasses.replace(predictor, stand_ins=stand_ins)
            by_pair = predictor.answers(pairs, code)
            by_item = self.predict_items(corpus) if self.predicts_truth else predictor.mean(*voters)
            self.notes_ += predictor.notes(pairs, code)
            densities = [density_of_annotators(predictor, *voters, kde)] if kde else []
        else:
            by_item = self.predict_items(corpus)
            by_pair = {q: answers.take(pairs.item) for q, answers in by_item.items()}
            densities = [self.predict_density(corpus, by_item, kde.bins)] if kde else []
        predictions = self._predictions(corpus, by_item, pairs, by_pair, densities)
        if attention:
            predictions = self._with_attention(predictions, corpus)
        return predictions if isinstance(source, Corpus) else predictions.on(index_of(source))

    def stand_in_for_all(self) -> StandIns:
        """An annotator who learned the consensus stands in for all without an answer."""
        raise ModelError(
            f"this {self.name} has no aggregate annotator; train annotator-heads or "
            "annotator-onehot with aggregate=True (--set aggregate=true)"
        )

    def stand_ins_by_attributes(self, corpus: Corpus) -> StandIns:
        """Predict annotators of a corpus without an answer in training by their attributes."""
        raise no_attributes(self.name)

    @property
    def kde_(self) -> RatingKde | None:
        """How densities are predicted where `predict` is not told; None: there are none."""
        return None

    def predict_density(
        self, corpus: Corpus, by_item: dict[str, Answers], bins: int
    ) -> JointDensity:
        """The density of the ratings of each item; if not `individual`."""
        return density_of_items(self.learned_.questions, corpus, by_item, bins)

    def _predictions(
        self,
        corpus: Corpus,
        by_item: dict[str, Answers],
        pairs: Pairs,
        by_pair: dict[str, Answers],
        densities: Sequence[JointDensity],
    ) -> Predictions:
        predictions = {}
        for question, scale in self.learned_.questions.items():
            by_annotator = None
            if len(pairs):
                answers = by_pair[question]
                by_annotator = ByAnnotator(
                    pairs.item, pairs.annotator, pairs.names, answers.value, answers.distribution
                )
            of_items = by_item[question]
            bad = ~np.isfinite(of_items.distribution).all(axis=1)
            if bad.any():
                raise ModelError(
                    f"training diverged: {bad.sum()} of {len(bad)} answers to {question!r} are "
                    "nan; lower the learning rate, or rescale contents with large numbers"
                )
            extra = of_items.extra_fields()
            predictions[question] = Prediction(
                scale, corpus.items, of_items.distribution, of_items.value, by_annotator, **extra
            )
        return Predictions(predictions, self.name, corpus.name, densities)

    def _roles(self) -> list[str]:
        """The roles that are read; all of the training corpus if contents are ignored."""
        return list(self.learned_.roles)

    # ---- annotators come and go ----

    def annotator_rows(self) -> dict[str, bool]:
        """The names of the weights that have a row for each annotator, and whether it is learned;
        others are facts about the annotator."""
        return {}

    def newcomer_facts(self, newcomers: Corpus) -> dict[str, np.ndarray]:
        """The rows of annotators that are not learned, (n_newcomers, ...) by name."""
        return {}

    def row_loss(
        self, corpus: Corpus, code: int, items: np.ndarray
    ) -> Callable[[dict[str, Tensor]], Tensor]:
        """The negative log-likelihood of the answers to these items by the one annotator of a
        corpus, by the rows of the annotator with this code."""
        raise NotImplementedError

    def set_rows(self, code: int, rows: Mapping[str, Any]) -> None:
        """Set the rows of the annotator with this code."""
        weights = self.weights()
        for name, row in rows.items():
            weights[name][code] = row

    def enrol(self, answers: Any, same_annotators: bool = False) -> Self:
        """A copy that also predicts annotators who answered after the training.

        Only what the model has of each annotator is learned from the newcomer's answers, such as a
        head; everything else, and what is predicted for other annotators, stays as it is. `forget`
        undoes it. `newcomers_` of the copy says how each newcomer is predicted, and `notes_` too.

        Args:
            answers: a corpus, a table or a path with the answers of newcomers, and the contents of
                what they answered.
            same_annotators: the annotators of the answers whom the model knows are the same ones,
                although the corpora have different names; they are left out.
        """
        self._check_fitted("enrol")
        if not any(self.annotator_rows().values()) or not self.individual:
            raise ModelError(
                f"{self.name} keeps no weights of single annotators that could be learned for a "
                "newcomer; train annotator-heads, annotator-embedding, annotator-onehot, "
                "annotator-queries or annotator-logistic"
            )
        newcomers, notes = newcomers_of(corpus_of_answers(answers), self.learned_, same_annotators)
        kept = np.flatnonzero(newcomers.annotators.find(self.learned_.annotators) < 0)
        copy = self._with_annotators(kept, newcomers)
        copy.newcomers_ = learn_newcomers(copy, newcomers)
        copy.notes_ = [*notes, *map(str, copy.newcomers_)]
        return copy

    def forget(self, annotators: Sequence[str] | str) -> Self:
        """A copy without these annotators: their names, and the weights that are theirs alone.

        Weights that annotators share do not change: they were learned with the answers of
        annotators of the training, as `notes_` says. Nothing remains of enrolled annotators.
        """
        self._check_fitted("forget")
        learned = self.learned_
        names = [annotators] if isinstance(annotators, str) else list(annotators)
        gone = learned.annotators.codes(names, "annotator")
        kept = np.delete(np.arange(len(learned.annotators)), gone)
        copy = self._with_annotators(kept)
        if not copy.learned_.any_answered.any():
            raise DataError(f"{self.name}: no annotator is left without {listed(names, 5)}")
        trained = [name for name in names if name not in learned.enrolled]
        copy.notes_ = [f"forgotten: {listed(names, 5)}"]
        if trained:
            copy.notes_.append(
                f"weights that annotators share were learned with the answers of "
                f"{listed(trained, 5)} and did not change; train again without them to undo that"
            )
        return copy

    def _with_annotators(self, kept: np.ndarray, newcomers: Corpus | None = None) -> Self:
        """A copy with these annotators (codes), whose rows stay as they are, and then newcomers."""
        n, weights, config = len(self.learned_.annotators), self.weights(), self.config()
        n_newcomers = 0 if newcomers is None else newcomers.n_annotators
        code = np.r_[kept, np.zeros(n_newcomers, int)]  # newcomers begin with any row
        facts = {} if newcomers is None else self.newcomer_facts(newcomers)
        for name in self.annotator_rows():
            own = weights[name][code]
            own[len(kept) :] = facts.get(name, own[len(kept) :])
            weights[name] = np.concatenate([own, weights[name][n:]])  # then an aggregate annotator
        copy = changed(self, {})
        copy.learned_ = self.learned_.with_annotators(kept, newcomers)
        copy.restore(weights, config)
        return copy

    def _check_fitted(self, what: str) -> None:
        if not hasattr(self, "learned_"):
            raise ModelError(f"{self.name} is not fitted yet; call fit before {what}")

    # ---- settings, as in scikit-learn ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name.

        Args:
            deep: also those within a setting, such as `training__epochs`.
        """
        settings = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init}
        if deep:
            settings |= {name.replace(".", "__"): v for name, v in settings_of(self).items()}
        return settings

    def set_params(self, **settings: Any) -> Self:
        """Change settings by name; those within a setting as `training__epochs=3`.

        With another number of epochs, `training__least_steps` is 0, unless it is given too.
        """
        copy = changed(self, {name.replace("__", ".", 1): v for name, v in settings.items()})
        for name, value in copy.get_params(deep=False).items():
            setattr(self, name, value)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        """A setting that is a dataclass of settings, such as `training`, is completed; one with
        few possible values is checked; an encoder that is an object gets a name."""
        known = literals(type(self)).get(name)
        if known and value not in known:
            *others, last = map(repr, known)
            raise ModelError(f"{name} must be {', '.join(others)} or {last}, not {value!r}")
        default = getattr(type(self), name, None)
        if dataclasses.is_dataclass(default) and not isinstance(default, type):
            value = completed(f"{self.name}: {name}", value, default)
        if name == "encoder" and not isinstance(value, str):
            from dissensus.encoders import named

            value = named(value)
        super().__setattr__(name, value)

    # ---- save and load ----

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write a folder: model.safetensors, config.json and a model card; no pickle, no code.

        Args:
            overwrite: whether a model that is there is replaced; any other folder never is.
        """
        if not hasattr(self, "learned_"):
            raise ModelError(f"{self.name} is not fitted yet; there is nothing to save")
        with writing(path, "config", overwrite) as folder:
            self.write_to(folder)

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool = True,
        commit_message: str = "Upload a model of dissensus",
        token: str | None = None,
    ) -> str:
        """Save the model to the Hugging Face hub; the address of the model there.

        The names of annotators are in config.json and in the model card. `forget` them, or train on
        a corpus with other names, before others can see the model.

        Args:
            repo_id: its name there, "user/model".
            private: whether a new repository is for you and your organisation only.
            token: of an account; by default the one that is logged in.
        """
        from dissensus.methods.framework.hub import upload

        with tempfile.TemporaryDirectory() as folder:
            self.save(Path(folder) / "model")
            return upload(Path(folder) / "model", repo_id, private, commit_message, token)

    @classmethod
    def from_pretrained(
        cls, path: str | Path, *, revision: str | None = None, token: str | None = None
    ) -> Self:
        """Load a model of this class from a folder, or from the Hugging Face hub by its name
        "user/model"; `dissensus.load` loads those of every method.

        Args:
            revision: of the model on the hub: a branch, a tag or a commit.
            token: of an account; by default the one that is logged in.
        """
        from dissensus.methods.framework.hub import download, on_hub

        folder = download(str(path), revision, token) if on_hub(path) else path
        return load_model(folder, cls, *read_model(folder))

    def write_to(self, folder: Path) -> None:
        """Write the files of `save` to an existing folder."""
        write_model(folder, self.weights(), self.config())
        (folder / "README.md").write_text(self._card(), encoding="utf-8")

    def config(self) -> dict[str, Any]:
        """What `save` writes besides the weights, as JSON."""
        settings = {name: plain(value) for name, value in self.get_params(deep=False).items()}
        config = {"method": self.name, "settings": settings} | self.learned_.to_config()
        return dict(json.loads(json.dumps(config)))  # with lists for tuples, as when it is read

    def _card(self) -> str:
        learned = self.learned_
        questions = ", ".join(f"`{q}` ({scale.kind})" for q, scale in learned.questions.items())
        settings = "\n".join(f"- `{k}`: {plain(v)}" for k, v in self.get_params(deep=False).items())
        trained = [name for name in learned.annotators if name not in learned.enrolled]
        names = listed(trained[:20], 20) or "without names"
        more = " and more (all in config.json)" if len(trained) > 20 else ""
        since = ""
        if learned.enrolled:
            since += f"Enrolled after the training: {listed(learned.enrolled, 20)}.\n"
        if learned.n_forgotten:
            since += (
                f"{counted(learned.n_forgotten, 'annotator')} removed on request; weights that "
                "annotators share were learned with their answers.\n"
            )
        return (
            f"---\nlibrary_name: dissensus\ntags:\n- dissensus\n- {self.name}\n"
            "- learning-from-disagreement\n---\n\n"
            f"# {self.name} on {learned.corpus}\n\n"
            f"A model of dissensus, for {questions}.\n"
            f"It learned from {len(trained)} annotators: {names}{more}.\n{since}\n"
            f"## Settings\n{settings or '- none'}\n\n"
            "## Use\n`dissensus.load(folder)`, or `dissensus predict folder FILE -o OUT`; from the "
            'Hugging Face hub `dissensus.load("user/model")`.\n'
        )

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings as they were before they became JSON."""
        return {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}


M = TypeVar("M", bound=Method)
_DAMAGE: tuple[type[Exception], ...] = (*DAMAGE, RuntimeError, SafetensorError)


def load_model(path: str | Path, cls: type[M], config: dict[str, Any], weights: bytes) -> M:
    """The model in a folder that was read; no code in the folder is ever run."""
    if cls.name != config.get("method"):
        raise ModelError(
            f"{path}: a model of {config.get('method')!r}, but {cls.__name__} is {cls.name!r}; "
            "pass the class that the model was fitted with"
        )
    try:
        check_types(config["settings"], cls, Path(path) / "config.json", "settings")
        method = cls(**cls._settings(config["settings"]))
        method.learned_ = Learned.from_config(config)
        method.restore(tensors_of(weights), config)
        return method
    except DissensusError as error:
        if str(path) in str(error):
            raise
        raise ModelError(f"{path}: damaged ({error}); train again") from None
    except _DAMAGE as error:
        raise ModelError(
            f"{path}: a model of another version ({cut(error)}); train again"
        ) from None
