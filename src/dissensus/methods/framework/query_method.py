"""QueryMethod: the settings of a method whose annotators' queries attend to contents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dissensus.corpus import Corpus
from dissensus.errors import ModelError, listed
from dissensus.methods.framework.annotator_method import AnnotatorMethod
from dissensus.methods.framework.annotator_prior import check_spread, with_spread

ClassifierKind = Literal["auto", "own", "low-rank", "shared"]
CHOICES = {
    "classifier": get_args(ClassifierKind),
    "reads": ("focus", "content"),
    "average": ("answer", "annotator"),
    "learn": ("answers", "majority"),
    "vote": ("mean", "majority"),
}


@dataclass(eq=False)
class QueryMethod(AnnotatorMethod):
    """A method with a query for each annotator, in a Q-Former.

    Args:
        layers: of the Q-Former; `heads`, `width` and `inner` are those of each layer (an `inner` of
            0 leaves out its linear layers). Every `cross_every`-th layer attends to contents.
        self_attention: whether queries attend to one another. With one layer they do so before
            they have seen the item.
        vector_dropout: of the dimensions of the vectors that are attended to, the same ones at all
            positions of an item.
        layer_dropout: of the Q-Former.
        projection: the width of a linear layer behind the Q-Former; 0: there is none.
        projection_dropout: behind it.
        layer_norms: whether the projection, and hidden layers of each annotator's own, are followed
            by layer normalisation (as in the video model of the paper).
        normalise: whether vectors have length 1 behind it.
        dropout: before the classifiers.
        hidden: widths of the hidden layers of classifiers; `question_hidden` are added.
        hidden_dropout: of these layers, if it differs.
        classifier: "own" for each annotator; "low-rank": a shared one, plus a sum of `rank` basis
            heads, weighted by an embedding of the annotator; "shared" by all; "auto": "own" up to
            `panel` annotators, then "low-rank".
        common: whether a query, and a head, that all annotators share are added to each one's own.
        spread: the standard deviation of a normal prior of the difference between an annotator's
            query and head and the common ones; inf for none. The fewer answers an annotator gave,
            the closer are they to the common ones. It is doubled for queries if contents have
            several positions, to choose between them. It has an effect with `common`, with answers
            that are learned by their likelihood, and with their mean as loss.
        rank: the number of basis heads of "low-rank".
        panel: how many annotators attend to one another, or how many landmarks there are.
        standardise: whether vectors are standardised by the mean vectors of the training items,
            and long ones shortened to about the same length.
        reads: what is attended to where an item is a part of its content: its "focus", or the whole
            "content", in which the focus is marked.
        average: the loss is the mean over "answer"s, or the sum of each "annotator"'s mean over the
            answers in a batch, as published.
        learn: the "answers" of annotators, or the "majority" of each item from the mean of all
            queries (Pre-mv of the paper).
        vote: the distribution of an item is the "mean" of its annotators' distributions, or the
            shares of their predicted answers, so that the "majority" wins (Post-mv of the paper).
        frame_queries: 0, or how many queries of a first Q-Former summarise each frame of a video;
            the annotators' queries then attend to these summaries of all frames.
        frame_positions: how many positions of a sequence each frame has.
        most_frames: how many frames have a learned vector for their place; later ones share the
            last.
        pretrained: a file with the weights of a Q-Former of the same sizes, of BLIP-2 or
            InstructBLIP, to start from: with frames, of the Q-Former that summarises them.
    """

    layers: int = 1
    heads: int = 1
    width: int = 64
    inner: int = 0
    cross_every: int = 2
    self_attention: bool = True
    vector_dropout: float = 0.1
    layer_dropout: float = 0.0
    projection: int = 0
    projection_dropout: float = 0.0
    layer_norms: bool = False
    normalise: bool = False
    classifier: ClassifierKind = "auto"
    common: bool = True
    spread: float = 0.25
    rank: int = 8
    panel: int = 64
    reads: Literal["focus", "content"] = "focus"
    average: Literal["answer", "annotator"] = "answer"
    learn: Literal["answers", "majority"] = "answers"
    vote: Literal["mean", "majority"] = "mean"
    frame_queries: int = 0
    frame_positions: int = 1
    most_frames: int = 96
    pretrained: str = ""
    hidden: tuple[int, ...] = ()
    dropout: float = 0.3

    @property
    def votes(self) -> bool:
        return self.vote == "majority"

    def classifier_of(self, n_annotators: int) -> ClassifierKind:
        """Which kind of classifier so many annotators have."""
        if self.learn == "majority":
            return "shared"
        if self.classifier != "auto":
            return self.classifier
        return "own" if n_annotators <= self.panel else "low-rank"

    @property
    def has_prior(self) -> bool:
        of_answers = self.average == "answer" and self.learn == "answers"
        likelihood = self.loss == "likelihood" and self.objective != "density"
        return self.common and of_answers and likelihood and math.isfinite(self.spread)

    @classmethod
    def _settings(cls, settings: dict[str, Any]) -> dict[str, Any]:
        return super()._settings(with_spread(settings))

    # ---- checks ----

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        check_spread(self.spread)
        for setting, choices in CHOICES.items():
            if getattr(self, setting) not in choices:
                raise ModelError(
                    f"{setting} must be one of {listed(choices)}, not {getattr(self, setting)!r}"
                )
        names_of_1 = ("panel", "rank", "frame_positions", "most_frames")
        least_1 = {name: getattr(self, name) for name in names_of_1}
        wrong = {name: value for name, value in least_1.items() if value < 1}
        for name in ("projection", "frame_queries"):
            wrong |= {name: getattr(self, name)} if getattr(self, name) < 0 else {}
        for name in ("vector_dropout", "layer_dropout", "projection_dropout", "dropout"):
            wrong |= {name: getattr(self, name)} if not 0 <= getattr(self, name) < 1 else {}
        if wrong:
            values = ", ".join(f"{name} = {value}" for name, value in wrong.items())
            raise ModelError(f"settings out of range: {values}")
        names = super().check(corpus, questions)
        is_crowd = corpus.n_annotators + int(self.aggregate) > self.panel
        layers = (*self.hidden, *self.question_hidden)
        if is_crowd and layers and self.classifier_of(corpus.n_annotators) == "own":
            raise ModelError(
                f"hidden layers of each annotator's own are for at most panel={self.panel} "
                f"annotators, {corpus.name} has {corpus.n_annotators}; set classifier=low-rank"
            )
        if self.learn == "majority" and (is_crowd or self.aggregate):
            raise ModelError(
                "learn=majority takes the mean of all queries: it needs at most "
                f"panel={self.panel} annotators, and aggregate=False"
            )
        return names
