"""The report as a page on this computer, where a text can be typed and each annotator predicted.

The server listens to this computer only, answers only who knows the token in the address, reads no
path that a request names, and takes at most `MOST_BYTES` of a request.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.errors import DataError, DissensusError, InstallError
from dissensus.files.checked_json import parse_json
from dissensus.methods.framework.base import Method
from dissensus.prediction import Prediction
from dissensus.report.report import Report
from dissensus.scales import Interval

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MOST_BYTES = 64 << 10  # of a request
HOSTS = ["127.0.0.1", "localhost"]


def reads_one_text(model: Method) -> bool:
    """Whether a model predicts one text, so that it can be typed."""
    kinds = model.learned_.roles
    return len(kinds) == 1 and set(kinds.values()) == {"text"}


def web_app(report: Report, model: Method | None, token: str) -> Starlette:
    """The pages: / is the report, /predict answers what each annotator would say of a text."""
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.responses import HTMLResponse, JSONResponse
        from starlette.routing import Route
    except ImportError:
        raise InstallError(
            "dissensus serve needs starlette and uvicorn: pip install 'dissensus[serve]'"
        ) from None
    page = report.to_html(live=model is not None)
    one_at_a_time = asyncio.Lock()

    def known(given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(), token.encode())

    async def index(request: Request) -> Response:
        if not known(request.query_params.get("token")):
            return HTMLResponse("Wrong token: open the address that dissensus serve printed.", 403)
        return HTMLResponse(page, headers={"Cache-Control": "no-store"})

    async def predict(request: Request) -> Response:
        if not known(request.headers.get("x-token")):
            return JSONResponse({"error": "Wrong token: open the page again."}, 403)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                most = f"{MOST_BYTES >> 10} kB"
                return JSONResponse({"error": f"The text is longer than {most}; shorten it."}, 413)
        try:
            text = parse_json(body, "request")["text"]
            if not isinstance(text, str) or not text.strip():
                raise ValueError
        except (DataError, ValueError, KeyError, TypeError):
            return JSONResponse({"error": "Type a text."}, 400)
        assert model is not None
        try:
            async with one_at_a_time:
                return JSONResponse(await run_in_threadpool(answers_to, model, text))
        except DissensusError as error:
            return JSONResponse({"error": str(error)}, 400)

    routes = [Route("/", index)]
    if model is not None:
        routes.append(Route("/predict", predict, methods=["POST"]))
    return Starlette(
        routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)]
    )


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
    annotators = []
    pairs = prediction.by_annotator if individual else None
    for at in range(0 if pairs is None else len(pairs)):
        assert pairs is not None
        (answer,) = scale.decode(pairs.value[at : at + 1])
        most = (
            None if pairs.distribution is None or ratings else float(pairs.distribution[at].max())
        )
        annotators.append(
            {
                "annotator": pairs.annotators[int(pairs.annotator[at])],
                "answer": _words(answer),
                "probability": most,
                "attention": _attention(prediction, at),
            }
        )
    return {
        "consensus": _words(consensus),
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
