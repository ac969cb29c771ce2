"""The same seed gives the same numbers as in earlier versions: three methods on three corpora.

To write the values again, after a change that is meant to change them:
`python -m tests.methods.test_kept_values`
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Corpus
from dissensus.contents import Contents
from dissensus.methods import method
from dissensus.training import Training
from tests.crowds import feature_crowd
from tests.tiny import tiny_bert

KEPT = Path(__file__).with_name("kept_values.json")
TOLERANCE = 1e-5  # relative: another processor or number of threads gives other last digits
N_ITEMS, N_SHOWN = 32, 4  # items of a corpus; items whose predictions are kept
METHODS = ("annotator-heads", "soft-label", "seed-ensemble")
CORPORA = ("nominal", "ordinal", "interval")
TRAINING = Training(epochs=3, batch_size=8, seed=3, device="cpu")


def _corpus(kind: str) -> Corpus:
    """Answers on a scale of this kind; the items of the nominal corpus are texts."""
    corpus = feature_crowd(kind, N_ITEMS)
    if kind != "nominal":
        return corpus
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(["so", "good", "bad", "!"], 6)) for _ in range(N_ITEMS)]
    shown = Contents.distinct("text", texts)
    return Corpus.build("texts", corpus.items, {"q": corpus["q"]}, contents={"text": shown})


def _values(name: str, kind: str, folder: Path) -> dict[str, Any]:
    """What a small training ends with; on texts an encoder with attention is trained too."""
    corpus = _corpus(kind)
    first = np.arange(N_ITEMS) < 24
    settings: dict[str, Any] = {"training": TRAINING, "init_seed": 1, "encoder": "features"}
    if kind == "nominal":
        settings |= {"encoder": tiny_bert(folder), "tune": "all"}
    fitted = method(name)().set_params(**settings)
    fitted.fit(corpus.select(items=first), validation=corpus.select(items=~first))
    prediction = fitted.predict(corpus)["q"]
    pairs = prediction.by_annotator
    assert pairs is not None and pairs.distribution is not None
    log = fitted.log_  # type: ignore[attr-defined]
    values = {
        "training loss": log.train,
        "validation loss": log.validation,
        "consensus": prediction.consensus[:N_SHOWN],
        "distribution": prediction.distribution[:N_SHOWN, :8],
        "by annotator": pairs.distribution[: 4 * N_SHOWN : 3, :8],
    }
    return {what: np.asarray(result, np.float64).tolist() for what, result in values.items()}


@pytest.mark.parametrize("kind", CORPORA)
@pytest.mark.parametrize("name", METHODS)
def test_a_seed_gives_the_numbers_it_always_gave(name: str, kind: str, tmp_path: Path) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[name][kind]
    values = _values(name, kind, tmp_path)
    assert values.keys() == kept.keys()
    for what, result in values.items():
        np.testing.assert_allclose(result, kept[what], rtol=TOLERANCE, atol=1e-8, err_msg=what)


def _write() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        kept = {n: {k: _values(n, k, Path(folder)) for k in CORPORA} for n in METHODS}
    rounded = json.loads(json.dumps(kept), parse_float=lambda text: float(f"{float(text):.9g}"))
    KEPT.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
