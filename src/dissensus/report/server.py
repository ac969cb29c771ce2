"""The report as a page on this computer, where a text can be typed and each annotator predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus import web
from dissensus.errors import DataError
from dissensus.methods.framework.base import Method
from dissensus.prediction import Prediction
from dissensus.prediction.answer_files import other_than_largest
from dissensus.report.report import Report
from dissensus.scales import Interval

if TYPE_CHECKING:
    from starlette.applications import Starlette


def reads_one_text(model: Method) -> bool:
    """Whether a model predicts one text, so that it can be typed."""
    kinds = model.learned_.roles
    return len(kinds) == 1 and set(kinds.values()) == {"text"}


def web_app(report: Report, model: Method | None, token: str) -> Starlette:
    """The report; /predict answers what each annotator would say of a text."""

    def predict(request: dict[str, Any]) -> dict[str, Any]:
        assert model is not None
        text = request.get("text")
        if not isinstance(text, str) or not text.strip():
            raise DataError("Type a text.")
        return answers_to(model, text)

    actions = {} if model is None else {"predict": predict}
    return web.web_app(report.to_html(live=model is not None), actions, token)


def answers_to(model: Method, text: str) -> dict[str, Any]:
    """What each annotator would say of a text, and where they look, by question."""
    predictions = model.predict([text], attention=model.shows_attention)
    return {q: _answers(prediction, model.individual) for q, prediction in predictions.items()}


def _answers(prediction: Prediction, individual: bool) -> dict[str, Any]:
    """The distribution, and the answer of each annotator if the method tells them apart."""
    scale, shares = prediction.scale, prediction.distribution[0].tolist()
    ratings = isinstance(scale, Interval)
    values = () if ratings else tuple(getattr(scale, "values", ()))
    (consensus,) = scale.decode(prediction.consensus[:1])
    annotators: list[dict[str, Any]] = []
    pairs = prediction.by_annotator
    if pairs is not None and individual:
        for at, answer in enumerate(scale.decode(pairs.value)):
            name, shares_of = pairs.annotators[int(pairs.annotator[at])], pairs.distribution
            known = {"annotator": name, "answer": _words(answer)}
            most = None if shares_of is None or ratings else float(shares_of[at].max())
            annotators.append(
                known | {"probability": most, "attention": _attention(prediction, at)}
            )
    return {
        "consensus": _words(consensus) + " (median)" * int(other_than_largest(prediction)[0]),
        "shares": dict(zip(values, shares, strict=True)),
        "annotators": annotators,
    }


def _words(answer: Any) -> str:
    if isinstance(answer, tuple):
        return " + ".join(answer) or "(none)"
    return f"{answer:.3g}" if isinstance(answer, float) else str(answer)


def _attention(prediction: Prediction, pair: int) -> list[tuple[int, int, float]]:
    """From, to and weight of each part of the text that an annotator looks at, in order."""
    if not prediction.attention:
        return []
    (attention, *_) = prediction.attention
    weight, places = attention.of_pair(pair), attention.places_of(0)[:, 0]
    shown = (places[:, 1] > places[:, 0]) & np.isfinite(weight)
    order = np.argsort(places[shown][:, 0], kind="stable")
    return [
        (int(begin), int(end), float(value))
        for (begin, end), value in zip(places[shown][order], weight[shown][order], strict=True)
    ]
