"""Encoders that are objects of a program: functions, networks with a tokenizer, and models."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dissensus as ds
from dissensus.encoders import mean_vectors, register
from dissensus.encoders.framework.pretrained import minilm_folder
from dissensus.evaluation import compare, k_fold, table
from dissensus.methods import AnnotatorHeads, Single

FEW: dict[str, Any] = {"training": {"epochs": 2}}


class Letters(nn.Module):
    """A vector for each token; `pooled`, one for each text."""

    def __init__(self, pooled: bool = False) -> None:
        super().__init__()
        self.pooled, self.table, self.last = pooled, nn.Embedding(128, 6), nn.Linear(6, 5)

    def forward(self, tokens: Tensor, attention_mask: Tensor) -> Tensor:
        vectors = torch.tanh(self.last(self.table(tokens)))
        return (vectors * attention_mask[..., None]).sum(dim=1) if self.pooled else vectors


def letters(texts: list[str]) -> list[list[int]]:
    return [[min(ord(letter), 127) for letter in text] for text in texts]


def lengths(texts: list[str]) -> np.ndarray:
    return np.array([[len(text), text.count(" ")] for text in texts], float)


def vectors_of(corpus: ds.Corpus, encoder: Any) -> np.ndarray:
    (encoding,) = Single(encoder=encoder).encodings(corpus).values()
    return mean_vectors(encoding.encoder, encoding.contents).vectors[encoding.content]


@pytest.fixture(scope="module")
def corpus() -> ds.Corpus:
    return ds.simulate.text(n_items=40)


def texts_of(corpus: ds.Corpus) -> list[str]:
    (contents,) = corpus.contents.values()
    (codes,) = corpus.content.values()
    return [contents[code] for code in codes]


def test_a_function_of_texts(corpus: ds.Corpus) -> None:
    np.testing.assert_array_equal(vectors_of(corpus, lengths), lengths(texts_of(corpus)))
    method = AnnotatorHeads(**FEW | {"encoder": lengths})
    assert method.encoder == "object:lengths"
    assert method.fit(corpus).predict(corpus).method == "annotator-heads"


@pytest.mark.parametrize("pooled", [False, True])
def test_a_network_with_its_tokenizer_frozen_and_fine_tuned(
    corpus: ds.Corpus, pooled: bool, tmp_path: Path
) -> None:
    network = Letters(pooled)
    expected = []
    for tokens in letters(texts_of(corpus)):  # 256 of them are read
        units = torch.tensor([tokens[:256]])
        with torch.no_grad():
            vectors = network(units, attention_mask=torch.ones_like(units))[0]
        expected.append((vectors if pooled else vectors.mean(dim=0)).numpy())
    vectors = vectors_of(corpus, (network, letters))
    np.testing.assert_allclose(vectors, expected, rtol=2e-3, atol=2e-3)  # stored as float16
    before = {name: weights.clone() for name, weights in network.state_dict().items()}
    method = Single(tune="all", **FEW | {"encoder": (network, letters)}).fit(corpus)
    assert all(torch.equal(before[name], own) for name, own in network.state_dict().items())
    weights = next(w for name, w in method.weights().items() if name.endswith("table.weight"))
    assert not np.allclose(weights, before["table.weight"].numpy())
    method.save(tmp_path / "model")
    (question,) = corpus.questions
    loaded = ds.load(tmp_path / "model").predict(corpus)[question].distribution
    np.testing.assert_array_equal(loaded, method.predict(corpus)[question].distribution)


def test_a_new_program_must_register_the_object(corpus: ds.Corpus, tmp_path: Path) -> None:
    Single(**FEW | {"encoder": lengths}).fit(corpus).save(tmp_path / "model")
    corpus.save(tmp_path / "corpus")
    command = [sys.executable, "-m", "dissensus", "predict", "model", "corpus", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "encoder 'object:lengths' is an object of the program" in done.stderr


def test_a_model_of_transformers_is_as_by_name(corpus: ds.Corpus) -> None:
    from transformers import AutoModel

    model = AutoModel.from_pretrained(minilm_folder())
    np.testing.assert_array_equal(vectors_of(corpus, model), vectors_of(corpus, "minilm"))


def test_a_model_of_sentence_transformers(corpus: ds.Corpus) -> None:
    package = pytest.importorskip("sentence_transformers")
    model = package.SentenceTransformer(str(minilm_folder()), device="cpu")
    expected = model.encode(texts_of(corpus))
    np.testing.assert_allclose(vectors_of(corpus, model), expected, rtol=1e-4, atol=1e-4)


def test_a_name_is_pickled_with_its_object(corpus: ds.Corpus, tmp_path: Path) -> None:
    name = register((Letters(), letters))
    assert pickle.loads(pickle.dumps(name)) == name
    results = compare(
        corpus, {"heads": AnnotatorHeads(**FEW | {"encoder": lengths})}, folds=k_fold(corpus, 2),
        seeds=1, metrics=["accuracy"], out=tmp_path / "out", processes=2,
    )  # fmt: skip
    assert results.counts("heads")["ok"] == 2
    assert "accuracy" in table(results)["heads"].cells
