"""AnnotatorMethod: what methods that train on each annotator's answers share."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dissensus.corpus import Corpus
from dissensus.densities import RatingKde, rating_densities
from dissensus.errors import DataError, ModelError
from dissensus.methods.framework.aggregate import with_aggregate
from dissensus.methods.framework.calibration import check_held_out, held_out_items
from dissensus.methods.framework.density_calibration import (
    MOST_ITEMS,
    Distance,
    calibrate_density,
    calibrated_settings,
)
from dissensus.methods.framework.density_loss import (
    annotator_density_loss,
    check_density,
    density_targets,
    learned_factor,
    most_answers,
)
from dissensus.methods.framework.individual import PairPredictor
from dissensus.methods.framework.labels import has_answers
from dissensus.methods.framework.pairs import TrainingAnnotators, consensus_pairs, own_pairs
from dissensus.methods.framework.predicted_densities import PredictedRatings
from dissensus.methods.framework.rating_losses import RatingLoss, check_ratings, rating_losses
from dissensus.methods.framework.similar_annotators import (
    cell_losses,
    check_similar,
    with_cells,
)
from dissensus.methods.framework.trained import ExamplesCache
from dissensus.methods.framework.trunk_method import TrunkMethod
from dissensus.training import Loss, Sizes
from dissensus.training.examples import Table
from dissensus.training.loop import Trainer

Objective = Literal["answers", "density", "both"]


@dataclass(eq=False)
class AnnotatorMethod(TrunkMethod):
    """A method whose network predicts rows: each annotator's answer to each item.

    Args:
        question_hidden: widths of further hidden layers that each question has of its own.
        loss: of the answers: their "likelihood"; of ratings also "ccc", 1 - concordance, or "mse".
        objective: what is learned: the "answers", the "density" of the ratings of each item (the
            differentiable density of Tavernor et al. 2024), or "both". `training.losses` says
            whether both are summed or have a step each.
        kde: how predicted ratings become a density, in training and, with another objective than
            "answers", in predictions.
        learn_temperature: whether the temperature of `kde` is learned with the density, from that
            of the settings.
        readout: how predicted ratings become the density of predictions, if not as `kde` says:
            settings that differ from it, as a text such as "fixed:bandwidth=0.2". With it,
            predictions have a density even if only "answers" are learned.
        calibrate: settings of the density of predictions that are chosen on held-out items after
            training, as a text: of "temperature", "bandwidth", "factor", "stretch", "noise",
            "shared" and "correlation", e.g. "bandwidth,noise"; see `RatingKde`.
        calibrate_by: how they are chosen: by the lowest "cross-entropy", "tvd" or "jsd" of the
            predicted density to that of the ratings.
        held_out: the share of items, by content, that is held out for it, unless there is a
            validation corpus.
        aggregate: whether one more annotator is learned, whose answer to each item is the consensus
            of its annotators (the mean of interval ratings). It predicts unknown annotators
            (`predict(unknown="aggregate")`); it is not listed, and has no part in a consensus.
        similar: above 0, pairs of item and annotator without an answer are learned too, with this
            weight: from what is predicted for annotators who answered the item, weighted by their
            agreement (kappa); after half of the epochs, certain ones become labels (SimLabel).
    """

    question_hidden: tuple[int, ...] = ()
    loss: RatingLoss = "likelihood"
    objective: Objective = "answers"
    kde: RatingKde = RatingKde()
    learn_temperature: bool = False
    readout: str = ""
    calibrate: str = ""
    calibrate_by: Distance = "cross-entropy"
    held_out: float = 0.1
    aggregate: bool = False
    similar: float = 0.0
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    most_: int = field(init=False, repr=False, default=1)  # annotators of an item
    calibrated_: RatingKde | None = field(init=False, repr=False, default=None)

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        known = {
            "loss": get_args(RatingLoss),
            "objective": get_args(Objective),
            "calibrate_by": get_args(Distance),
        }
        for setting, choices in known.items():
            if getattr(self, setting) not in choices:
                raise ModelError(
                    f"{setting} must be one of {', '.join(choices)}, not {getattr(self, setting)!r}"
                )
        if self.aggregate and self.objective == "density":
            raise ModelError(
                "an aggregate annotator learns from answers; set objective to answers or both"
            )
        names = super().check(corpus, questions)
        for question in names:
            scale = corpus[question].scale
            if self.loss != "likelihood":
                check_ratings(self.name, f"loss={self.loss}", question, scale)
            if self.objective != "answers":
                check_ratings(self.name, f"objective={self.objective}", question, scale)
        if self.objective != "answers":
            check_density(self.name, names)
            if self.kde.kind != "soft":
                raise ModelError(
                    f"{self.name}: a {self.kde.kind} density has no gradient; learn a soft one "
                    f"(kde.kind=soft), and predict with density={self.kde.kind!r}"
                )
        elif self.learn_temperature:
            raise ModelError(
                "learn_temperature: a temperature is learned with a density; set objective=both"
            )
        if self.similar:
            check_similar(self, corpus, names)
        if self._chosen:
            check_held_out(self.held_out)
        if self.readout or self._chosen:
            check_density(self.name, names)
            for question in names:
                check_ratings(self.name, "a density", question, corpus[question].scale)
            RatingKde.from_text(self.readout or self.kde.kind, self.kde)
        return names

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        answers = rating_losses(sizes, self.loss) if self.objective != "density" else ()
        if self.similar:
            answers = (*answers, *cell_losses(sizes, self.similar))
        if self.objective == "answers":
            return answers
        density = annotator_density_loss(sizes, self.kde, self.most_, self._left_out(sizes))
        return (*answers, density)

    def _left_out(self, sizes: Sizes) -> int | None:
        """The code of the annotator that has no part in what annotators answer together."""
        return sizes.n_annotators - 1 if self.aggregate else None

    @property
    def n_annotators(self) -> int:
        return super().n_annotators + int(self.aggregate)

    @property
    def aggregate_code(self) -> int | None:
        return len(self.learned_.annotators) if self.aggregate else None

    def rows(self, corpus: Corpus) -> Table:
        rows = super().rows(corpus)
        if self.aggregate:
            rows = with_aggregate(rows, corpus, self.n_annotators - 1)
        if self.similar:
            rows = with_cells(rows, corpus, tuple(self.learned_.questions))
        return rows

    @property
    def rows_key(self) -> tuple[Any, ...]:
        return (*super().rows_key, self.similar > 0)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        if self.objective == "answers":
            return {}
        return density_targets(corpus, tuple(self.learned_.questions), self.kde.bins)

    def trainer(
        self, corpus: Corpus, validation: Corpus | None, cache: ExamplesCache | None = None
    ) -> Trainer:
        self.calibrated_ = None
        if self.objective != "answers":
            corpora = [corpus] if validation is None else [corpus, validation]
            limit = self.training.max_rows_per_item
            self.most_ = most_answers(corpora, tuple(self.learned_.questions), limit)
        run = super().trainer(corpus, validation, cache)
        run.kind = repr((run.kind, self.most_))  # a stack shares one loss
        if self._chosen and not self._calibrates_on(validation):
            kept = np.setdiff1d(run.learned, self._held_out_items(corpus))
            if not len(kept) or len(kept) == len(run.learned):
                raise DataError(
                    f"{corpus.name}: {len(run.learned)} items with answers cannot be split to "
                    "calibrate a density; pass a validation corpus, or set calibrate=''"
                )
            run = replace(run, learned=kept)
        return run

    def end_fit(self, runs: list[Trainer], corpus: Corpus, validation: Corpus | None) -> None:
        super().end_fit(runs, corpus, validation)
        if self.learn_temperature:
            learned = self.kde.temperature * learned_factor(self.network_)
            self.notes_.append(f"temperature of the density: {learned:.3g}")
        if self._chosen:
            if validation is None or not self._calibrates_on(validation):
                validation = corpus.select(items=self._held_out_items(corpus))
            self._calibrate(validation)

    def _calibrates_on(self, validation: Corpus | None) -> bool:
        """Whether a validation corpus replaces held-out items: it needs answers."""
        return validation is not None and has_answers(validation, self.learned_.questions)

    @property
    def _chosen(self) -> tuple[str, ...]:
        """The settings of the density that are chosen on held-out items."""
        return calibrated_settings(self.calibrate)

    def _held_out_items(self, corpus: Corpus) -> np.ndarray:
        return held_out_items(corpus, self.held_out, self.training.seed)

    def _calibrate(self, corpus: Corpus) -> None:
        """Choose the density of predictions by the densities of the ratings of a corpus."""
        kde = self.kde_
        assert kde is not None
        questions = tuple(self.learned_.questions)
        target = rating_densities(corpus, questions, kde.bins)
        items = corpus.items.codes(target.items)
        some = np.sort(np.random.default_rng(0).permutation(len(items))[:MOST_ITEMS])
        if not len(some):
            self.notes_.append("density not calibrated: no held-out item has two ratings")
            return
        part = corpus.select(items=items[some])
        training = TrainingAnnotators(self.learned_.annotators, self.learned_.any_answered)
        own = own_pairs(part, questions)
        voters, code = consensus_pairs(part.n_items, own, training, "drop")
        predictor = PairPredictor(self.learned_, part, self.predict_pairs)
        most = int(np.bincount(voters.item).max())
        predicted = PredictedRatings.of_pairs(predictor, voters, code, range(part.n_items), most)
        chosen = calibrate_density(
            kde, self._chosen, predicted, target.mass[some], self.calibrate_by
        )
        self.calibrated_ = chosen.kde
        self.notes_.append(chosen.note(self._chosen, self.calibrate_by, len(some)))

    @property
    def kde_(self) -> RatingKde | None:
        if self.calibrated_ is not None:
            return self.calibrated_
        kde = self.kde
        if self.learn_temperature and hasattr(self, "network_"):
            learned = self.kde.temperature * learned_factor(self.network_)
            kde = replace(kde, temperature=learned)
        if self.readout:
            return RatingKde.from_text(self.readout, kde)
        return kde if self._chosen or self.objective != "answers" else None

    def config(self) -> dict[str, Any]:
        chosen = None if self.calibrated_ is None else asdict(self.calibrated_)
        return super().config() | {"calibrated": chosen}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        chosen = config.get("calibrated")  # models of older versions have none
        self.calibrated_ = None if chosen is None else RatingKde(**chosen)
        super().restore(weights, config)

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        kde = settings.get("kde", {})  # models of older versions have none
        return super()._settings(settings) | {"kde": RatingKde(**kde)}
