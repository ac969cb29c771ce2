"""The served report: who may open it, what it answers, and what it refuses."""

from __future__ import annotations

import http.cookiejar
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dissensus import simulate
from dissensus.cli import main
from dissensus.methods import AnnotatorQueries
from dissensus.report import make_report
from dissensus.report.server import answers_to, reads_one_text, web_app
from dissensus.training import Training
from dissensus.web import MOST_BYTES
from tests.tiny import tiny_bert

uvicorn = pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
TOKEN = "a-secret"


def test_it_says_what_it_is_doing_before_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    simulate.text(n_items=30, n_annotators=4, labels_per_item=3).save(tmp_path / "corpus")
    monkeypatch.setattr("sys.argv", ["dissensus", "serve", str(tmp_path / "corpus")])
    monkeypatch.setattr("dissensus.web.listen", lambda *_: None)
    words: list[str] = []

    def write(*of: Any) -> Any:
        words.append(capsys.readouterr().err)
        return make_report(*of)

    monkeypatch.setattr("dissensus.report.make_report", write)
    with pytest.raises(SystemExit):
        main()
    assert words[0].endswith("corpus: writing the report\n")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    corpus = simulate.text(n_items=30, n_annotators=4, labels_per_item=3, seed=0)
    encoder = tiny_bert(tmp_path_factory.mktemp("tiny"))
    return AnnotatorQueries(encoder=encoder, training=Training(epochs=1)).fit(corpus)


@pytest.fixture(scope="module")
def address(model: Any) -> Iterator[str]:
    corpus = simulate.text(n_items=30, n_annotators=4, labels_per_item=3, seed=0)
    app = web_app(make_report(corpus), model, TOKEN)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]), daemon=True)
        thread.start()
        deadline = time.monotonic() + 60
        while not server.started:
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def reply_to(address: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
    """The status and the text of an answer."""
    request = urllib.request.Request(
        address, body, {k.replace("_", "-"): v for k, v in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_only_who_knows_the_token_sees_the_report(address: str) -> None:
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    with browser.open(f"{address}/?token={TOKEN}") as reply:
        page = reply.read().decode()
        assert reply.url == f"{address}/" and reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["X-Frame-Options"] == "DENY"
    assert "Try a text" in page and "connect-src 'self'" in page and TOKEN in page
    (cookie,) = jar
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.name == f"dissensus-{address[17:]}"
    for wrong in ("", "?token=", "?token=a-secret2", "?token=%C3%A9"):
        status, text = reply_to(f"{address}/{wrong}")
        assert status == 403 and "Wrong token" in text and "Try a text" not in text


def test_who_leaves_early_leaves_no_traceback(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    for sent in (b"", b'{"text"', b"GET / HTTP"):
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as client:
            head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nX-Token: {TOKEN}\r\n"
            client.sendall(f"{head}Content-Length: 100\r\n\r\n".encode() + sent)
    assert reply_to(f"{address}/")[0] == 403  # it still answers
    assert "Traceback" not in caplog.text


def test_a_typed_text_is_answered_for_each_annotator(address: str, model: Any) -> None:
    body = json.dumps({"text": "what a lovely <b>day</b>"}).encode()
    status, text = reply_to(f"{address}/predict", body, X_Token=TOKEN)
    answers = json.loads(text)["emotion"]
    assert status == 200 and len(answers["annotators"]) == 4
    assert sum(answers["shares"].values()) == pytest.approx(1, abs=1e-5)
    row = answers["annotators"][0]
    assert row["answer"] in answers["shares"] and 0 < row["probability"] <= 1
    assert (
        answers == json.loads(json.dumps(answers_to(model, "what a lovely <b>day</b>")))["emotion"]
    )


def test_what_is_refused(address: str) -> None:
    good = json.dumps({"text": "so"}).encode()
    assert reply_to(f"{address}/predict", good)[0] == 403
    assert reply_to(f"{address}/predict", good, X_Token="wrong")[0] == 403
    large = json.dumps({"text": "a" * MOST_BYTES}).encode()
    assert reply_to(f"{address}/predict", large, X_Token=TOKEN)[0] == 413
    bodies = [b"{", b"[]", b"{}", b'{"text": 3}', b'{"text": "  "}', b"\xff", b"[" * 60_000]
    for bad in (*bodies, b'{"text": "half a letter: \\ud800"}', b"9" * 5000):
        assert reply_to(f"{address}/predict", bad, X_Token=TOKEN)[0] == 400
    for path in ("/../../etc/passwd", "/report.json", "/%2e%2e/config.json", "/model/config.json"):
        assert reply_to(f"{address}{path}?token={TOKEN}")[0] == 404
    assert reply_to(f"{address}/?token={TOKEN}", None, Host="evil.example")[0] == 400


def test_a_report_without_a_model_has_nothing_to_type(model: Any) -> None:
    corpus = simulate.text(n_items=20, n_annotators=4, labels_per_item=3, seed=0)
    assert "Try a text" not in make_report(corpus).to_html()
    assert reads_one_text(model)
