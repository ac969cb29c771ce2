"""annotator-queries: sizes of the paper, crowds, attention, ablations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dissensus import Annotations, Corpus, Nominal
from dissensus.contents import Contents
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorQueries
from dissensus.methods.annotator_queries import QueryNet
from dissensus.networks.qformer import QFormer
from dissensus.testing import check_method
from dissensus.training import Sizes, Training

QUICK = Training(epochs=2, batch_size=16, device="cpu", max_rows_per_item=64)


def sequences(n_items: int = 40, n_annotators: int = 4, roles: tuple[str, ...] = ("x",)) -> Corpus:
    """Annotators who look at different positions of sequences of vectors."""
    draw = np.random.default_rng(0)
    lengths = draw.integers(2, 5, n_items)
    shown = [draw.normal(size=(n, 6)).astype(np.float32) for n in lengths]
    rows = [
        (f"i{i}", f"p{a}", "yes" if shown[i][a % lengths[i], 0] > 0 else "no")
        for i in range(n_items)
        for a in range(n_annotators)
        if (i + a) % 3
    ]
    answers = Annotations.from_rows(rows, scale=Nominal(("no", "yes")))
    by_item = dict(zip([f"i{i}" for i in range(n_items)], shown, strict=True))
    contents = {
        role: Contents.distinct("features", [by_item[name][:, number:] for name in answers.items])
        for number, role in enumerate(roles)
    }
    return Corpus.build("sequences", answers.items, {"q": answers}, contents=contents)


class Crowd(AnnotatorQueries):
    """Three annotators are many."""

    panel, rank = 2, 2


def method(cls: type[AnnotatorQueries] = AnnotatorQueries, **settings: Any) -> AnnotatorQueries:
    quick: dict[str, Any] = {"encoder": "features", "training": QUICK}
    return cls(**quick | settings)


def test_parameters_of_the_paper() -> None:
    """Table 6: 106.02 M parameters that are trained, with an encoder 1,408 wide."""
    sizes = Sizes({"q": Nominal(tuple("abcdef"))}, 10, {"image": 1408})
    with torch.device("meta"):
        network = QueryNet(sizes, AnnotatorQueries.published())
    counts = {
        "all": sum(p.numel() for p in network.parameters()),
        "qformer": sum(p.numel() for p in network.qformer.parameters()),
        "heads": sum(p.numel() for c in network.classifiers for p in c.parameters()),
    }
    assert counts == {"all": 106_015_548, "qformer": 105_137_664, "heads": 673_340}


@pytest.mark.slow
def test_a_crowd_keeps_the_promises() -> None:
    sizes = {"layers": 2, "heads": 2, "width": 16, "inner": 8, "positions": 3}
    check_method(method(Crowd, **sizes, layer_dropout=0.1))


@pytest.mark.parametrize("cls", [AnnotatorQueries, Crowd])
def test_an_answer_does_not_depend_on_other_annotators(cls: type[AnnotatorQueries]) -> None:
    corpus = sequences(n_annotators=6)
    fitted = method(cls, layers=2, cross_every=1, positions=2).fit(corpus)
    every = fitted.predict(corpus, annotators="all", attention=True)["q"]
    for annotators in (["p4"], ["p1", "p4", "p0"]):
        some = fitted.predict(corpus, annotators=annotators, attention=True)["q"]
        assert some.by_annotator is not None and every.by_annotator is not None
        names = np.array(list(some.by_annotator.annotators))[some.by_annotator.annotator]
        of_all = np.array(list(every.by_annotator.annotators))[every.by_annotator.annotator]
        one, two = some.by_annotator.distribution, every.by_annotator.distribution
        assert one is not None and two is not None
        np.testing.assert_allclose(one[names == "p4"], two[of_all == "p4"], atol=1e-6)
        maps, of_every = some.attention[0], every.attention[0]
        for own, other in zip(
            np.flatnonzero(names == "p4").tolist(),
            np.flatnonzero(of_all == "p4").tolist(),
            strict=True,
        ):
            np.testing.assert_allclose(maps.of_pair(own), of_every.of_pair(other), atol=1e-6)


def test_attention_of_each_pair_and_role() -> None:
    corpus = sequences(roles=("x", "y"))
    prediction = method().fit(corpus).predict(corpus, attention=True)["q"]
    assert [attention.role for attention in prediction.attention] == ["x", "y"]
    pairs = prediction.by_annotator
    assert pairs is not None
    for attention in prediction.attention:
        for pair in range(len(pairs)):
            weights = attention.of_pair(pair)
            assert len(weights) == len(attention.places_of(pairs.item[pair])) >= 2
            np.testing.assert_allclose(weights.sum(), 1, atol=1e-5)


def test_unknown_annotators_have_no_attention() -> None:
    corpus = sequences()
    prediction = (
        method()
        .fit(corpus)
        .predict(corpus, annotators=["p1", "newcomer"], unknown="mean", attention=True)["q"]
    )
    assert np.isnan(prediction.attention[0].of_pair(1)).all()
    assert not np.isnan(prediction.attention[0].of_pair(0)).any()


def test_queries_find_where_annotators_look() -> None:
    """Each annotator answers by one position: attention finds it, and answers are right."""
    draw = np.random.default_rng(1)
    shown = draw.normal(size=(400, 3, 6)).astype(np.float32)
    for position in range(3):
        shown[:, position, 3:] = 2 * np.eye(3)[position]  # says where it is
    names = [f"i{i:03}" for i in range(400)]
    rows = [
        (names[i], f"p{a}", "yes" if shown[i, a, 0] > 0 else "no")
        for i in range(400)
        for a in range(3)
    ]
    answers = Annotations.from_rows(rows, scale=Nominal(("no", "yes")))
    contents = {"x": Contents.distinct("features", list(shown))}
    corpus = Corpus.build("positions", answers.items, {"q": answers}, contents=contents)
    train, test = (corpus.select(items=part) for part in (np.arange(300), np.arange(300, 400)))
    training = Training(epochs=20, learning_rate=3e-3, device="cpu")
    prediction = method(width=16, training=training).fit(train).predict(test, attention=True)["q"]
    pairs = prediction.by_annotator
    assert pairs is not None
    right = pairs.value == test["q"].answer
    assert right.mean() > 0.9
    looked = [prediction.attention[0].of_pair(n).argmax() for n in range(len(pairs))]
    assert np.mean(np.array(looked) == pairs.annotator) > 0.95


def test_positions_tell_equal_vectors_apart() -> None:
    """Contents of the same vectors in another order are answered alike without positions only."""
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(20, 3, 6)).astype(np.float32)
    shown = [order for content in vectors for order in (content, content[::-1].copy())]
    answers = [(f"i{i:02}", f"p{a}", "ab"[i % 2]) for i in range(40) for a in range(2)]
    annotations = Annotations.from_rows(answers)
    contents = {"x": Contents.distinct("features", shown)}
    corpus = Corpus.build("orders", annotations.items, {"q": annotations}, contents=contents)
    for positions in (0, 3):
        fitted = method(positions=positions).fit(corpus)
        pairs = fitted.predict(corpus)["q"].distribution.reshape(20, 2, 2)
        assert (np.abs(pairs[:, 0] - pairs[:, 1]).max() > 1e-4) == (positions > 0)


def test_losses_are_means_by_annotator() -> None:
    """As the paper sums them: an annotator with more answers in a batch does not count more."""
    corpus = sequences()
    training = Training(epochs=1, device="cpu")
    fitted = method(independent=True, dropout=0.0, training=training)
    fitted.begin_fit(corpus, None, None)
    run = fitted.trainer(corpus, None)
    batch = run.examples.batch(
        np.arange(40), np.arange(len(run.examples.table.item)), run.examples.table.item,
        np.ones(40, np.float32),
    )  # fmt: skip
    batch.rows.weight["q"][::7] = 0
    outputs = run.network.eval()(batch)
    raw, answer, weight = outputs.rows["q"], batch.rows.answer["q"], batch.rows.weight["q"]
    losses = torch.nn.functional.cross_entropy(raw, answer, reduction="none")
    own = [
        losses[(batch.rows.annotator == a) & (weight > 0)].mean()
        for a in range(len(batch.annotators))
    ]
    torch.testing.assert_close(batch.loss(outputs, run.losses), torch.stack(own).sum())


@pytest.mark.parametrize("reads", ["focus", "content"])
def test_items_that_are_parts_of_contents(reads: Any) -> None:
    from dissensus.corpus import Focus

    corpus = sequences()
    start, stop = np.zeros((corpus.n_items, 1)), np.ones((corpus.n_items, 1))
    parts = replace(corpus, focus=Focus("x", start, stop))
    fitted = method(reads=reads).fit(parts)
    attention = fitted.predict(parts, attention=True)["q"].attention[0]
    outside = [attention.of_pair(pair)[1:].sum() for pair in range(attention.n_pairs)]
    assert (np.max(outside) > 0) == (reads == "content")


def test_pretrained_weights(tmp_path: Path) -> None:
    from safetensors.torch import save_file
    from transformers import Blip2QFormerConfig, Blip2QFormerModel

    config = Blip2QFormerConfig(
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=12,
        encoder_hidden_size=6,
    )
    theirs = Blip2QFormerModel(config)
    weights = {f"qformer.{k}": v.contiguous() for k, v in theirs.state_dict().items()}
    weights["query_tokens"] = torch.arange(4.0)[None, :, None].expand(1, 4, 8).contiguous()
    save_file(weights, tmp_path / "qformer.safetensors")
    small: dict[str, Any] = {"layers": 2, "heads": 2, "width": 8, "inner": 12, "independent": True}
    fitted = method(pretrained=str(tmp_path / "qformer.safetensors"), **small)
    fitted.begin_fit(sequences(), None, None)
    fitted.trainer(sequences(), None)
    network = fitted.network_
    assert isinstance(network, QueryNet) and isinstance(network.qformer, QFormer)
    own = network.qformer.layers[0].inner.weight
    assert torch.equal(own, weights["qformer.encoder.layer.0.intermediate_query.dense.weight"])
    assert network.queries[:, 0].tolist() == [0, 1, 2, 3]
    with pytest.raises(ModelError, match="not the weights of a Q-Former with these layers"):
        method(pretrained=fitted.pretrained, **small | {"layers": 3}).fit(sequences())
    key = "qformer.encoder.layer.0.crossattention.attention.key.weight"
    save_file(weights | {key: torch.zeros(8, 9)}, tmp_path / "qformer.safetensors")
    with pytest.raises(
        ModelError, match=r"key\.weight has 8 x 9 numbers, not 8 x 6'\); choose the"
    ):
        method(pretrained=fitted.pretrained, **small).fit(sequences())


def test_independent_queries_of_more_annotators_than_there_is_room_for() -> None:
    with pytest.raises(ModelError, match="is for at most 2 annotators, sequences has 4"):
        method(cls=Crowd, independent=True).fit(sequences())
