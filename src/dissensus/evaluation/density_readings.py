"""DensityReading: a way to predict densities that a comparison scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dissensus.corpus import Corpus
from dissensus.densities import RatingKde, rating_densities
from dissensus.errors import DataError
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.predicted_densities import check_scales
from dissensus.metrics import DENSITY_METRICS, constant_density
from dissensus.prediction import JointDensity


@dataclass(frozen=True)
class DensityReading:
    """How densities are predicted: of which annotators, and with which settings.

    Example:
        >>> reading = DensityReading.from_text("soft:bins=8@all")
        >>> reading.kde.bins, reading.consensus, reading.name(("valence", "activation"))
        (8, 'all', 'valence x activation (soft:bins=8@all)')
    """

    text: str
    kde: RatingKde
    consensus: Literal["own", "all"] = "own"
    of_method: bool = False  # a method's own settings, such as calibrated ones, come first

    @classmethod
    def from_text(cls, text: str) -> DensityReading:
        """Settings of `RatingKde` as a text, or "method" for those that each method has of its own
        (soft if it has none); followed by "@all" for the annotators of training instead of those
        of the item."""
        settings, _, whose = text.partition("@")
        if whose not in ("", "own", "all"):
            raise DataError(
                f"{text!r}: a density is of the annotators of each item (@own) or of all (@all), "
                f"not @{whose}"
            )
        kind, colon, rest = settings.partition(":")
        own = kind == "method"
        kde = RatingKde.from_text(f"soft{colon}{rest}" if own else settings)
        return cls(text, kde, "all" if whose == "all" else "own", own)

    def predict(self, method: Method, test: Corpus) -> JointDensity:
        """The density that a fitted method predicts."""
        kde = self.kde
        if self.of_method and method.kde_ is not None:
            kde = replace(method.kde_, bins=self.kde.bins)
        predictions = method.predict(test, density=kde, consensus=self.consensus)
        (density,) = predictions.densities.values()
        return density

    def name(self, questions: Sequence[str]) -> str:
        """What results call it, in the place of a question."""
        return f"{' x '.join(questions)} ({self.text})"


def density_readings(
    texts: Sequence[str], corpus: Corpus, questions: Sequence[str]
) -> tuple[DensityReading, ...]:
    """The readings that these texts mean; refused where the questions have no density."""
    if texts:
        check_scales({question: corpus[question].scale for question in questions})
    if len(set(texts)) < len(texts):
        raise DataError(f"a density is listed twice: {', '.join(texts)}")
    return tuple(DensityReading.from_text(text) for text in texts)


def density_floors(
    readings: Sequence[DensityReading], corpus: Corpus, questions: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """For each reading, the scores of the mean density of the test items."""
    by_name = {}
    for reading in readings:
        observed = rating_densities(corpus, questions, reading.kde.bins)
        constant = constant_density(observed)
        by_name[reading.name(questions)] = {
            name: {"constant density": metric(constant, observed)}
            for name, metric in DENSITY_METRICS.items()
        }
    return by_name
