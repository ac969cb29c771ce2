"""annotator-queries: sizes of the paper, crowds, attention, ablations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dissensus import Annotations, Corpus, Nominal
from dissensus.contents import Contents
from dissensus.errors import ModelError
from dissensus.methods import AnnotatorQueries
from dissensus.methods.framework.query_net import QueryNet, Read, Rows
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


def method(**settings: Any) -> AnnotatorQueries:
    quick: dict[str, Any] = {"encoder": "features", "training": QUICK}
    return AnnotatorQueries(**quick | settings)


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


def test_shapes_of_the_video_model() -> None:
    """96 frames of 257 positions, 32 summaries each, 13 annotators, 8 values; nothing computed."""
    sizes = Sizes({"q": Nominal(tuple("abcdefgh"))}, 13, {"video": 1408})
    with torch.device("meta"):
        network = QueryNet(sizes, AnnotatorQueries.published_video()).eval()
        vectors = torch.zeros(2, 96 * 257, 1408)
        mask = torch.ones(2, 96 * 257, dtype=torch.bool)
        assert network.frames is not None
        summaries = network.frames(Read(vectors, mask, [96 * 257]))
        assert summaries.vectors.shape == (2, 96 * 32, 768)
        place = torch.arange(26)
        rows = Rows(place, place % 13, 13)
        seen = network.seen(summaries, rows)
        assert seen.queries.shape == (2, 13, 768)
        assert len(seen.weights) == 6 and seen.weights[-1].shape == (2, 12, 13, 96 * 32)
        features = network.features(seen.queries)
        assert features.shape == (2, 13, 256)
        assert network.classifiers[0](features, rows, None).shape == (26, 8)
    frame = sum(p.numel() for p in network.frames.qformer.parameters())
    assert frame == 105_137_664
    # keys and values of six layers read vectors 768 wide instead of 1,408
    video = sum(p.numel() for p in network.qformer.parameters())
    assert video == frame - 6 * 2 * 768 * (1408 - 768)


def test_a_video_model_attends_to_positions() -> None:
    corpus = sequences()
    sizes = {"frame_queries": 3, "frame_positions": 2, "most_frames": 1, "width": 8}
    layers = {"layer_norms": True, "projection": 8, "projection_dropout": 0.1, "hidden": (4,)}
    fitted = method(**sizes, **layers).fit(corpus)
    attention = fitted.predict(corpus, attention=True)["q"].attention[0]
    for pair in range(attention.n_pairs):
        np.testing.assert_allclose(attention.of_pair(pair).sum(), 1, atol=1e-5)
    with pytest.raises(ModelError, match="frame_queries need one role, found 'x', 'y'"):
        method(frame_queries=3).fit(sequences(roles=("x", "y")))


@pytest.mark.slow
def test_a_crowd_keeps_the_promises() -> None:
    check_method(method(panel=2, rank=2, layers=2, heads=2, width=16, inner=8, layer_dropout=0.1))


@pytest.mark.parametrize("panel", [64, 3])
def test_an_answer_does_not_depend_on_other_annotators(panel: int) -> None:
    corpus = sequences(n_annotators=6)
    fitted = method(panel=panel, layers=2, cross_every=1).fit(corpus)
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


def test_attention_follows_the_order_of_pairs() -> None:
    corpus = sequences()
    fitted = method().fit(corpus)
    every = fitted.predict(corpus, annotators="all", attention=True)["q"]
    names = [("i7", "p2"), ("i3", "p0"), ("i7", "p0")]
    some = fitted.predict(corpus, annotators=names, attention=True)["q"]
    assert every.by_annotator is not None
    of_all = every.by_annotator
    for number, (item, annotator) in enumerate(names):
        same = (of_all.item == corpus.items.codes([item])[0]) & (
            of_all.annotator == of_all.annotators.codes([annotator])[0]
        )
        expected = every.attention[0].of_pair(int(np.flatnonzero(same)[0]))
        np.testing.assert_allclose(some.attention[0].of_pair(number), expected, atol=1e-6)


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


def test_losses_are_means_by_annotator() -> None:
    """As the paper sums them: an annotator with more answers in a batch does not count more."""
    corpus = sequences()
    fitted = method(average="annotator", dropout=0.0, training=Training(epochs=1, device="cpu"))
    fitted.begin_fit(corpus, None, None)
    run = fitted.trainer(corpus, None)
    batch = run.examples.batch(
        np.arange(40), np.arange(len(run.examples.table.item)), run.examples.table.item,
        np.ones(40, np.float32),
    )  # fmt: skip
    batch.rows.weight["q"][::7] = 0
    outputs = run.network(batch)
    raw, answer, weight = outputs.rows["q"], batch.rows.answer["q"], batch.rows.weight["q"]
    losses = torch.nn.functional.cross_entropy(raw, answer, reduction="none")
    own = [
        losses[(batch.rows.annotator == a) & (weight > 0)].mean()
        for a in range(len(batch.annotators))
    ]
    torch.testing.assert_close(batch.loss(outputs, run.losses), torch.stack(own).sum())


def test_majority_learned_is_the_same_for_all_annotators() -> None:
    corpus = sequences()
    prediction = method(learn="majority").fit(corpus).predict(corpus, annotators="all")["q"]
    assert prediction.by_annotator is not None
    by_pair = prediction.by_annotator.distribution
    assert by_pair is not None
    by_item = by_pair.reshape(corpus.n_items, 4, 2)
    np.testing.assert_allclose(by_item, by_item[:, :1].repeat(4, axis=1), atol=1e-6)


def test_votes_are_shares_of_answers() -> None:
    corpus = sequences()
    fitted = method(vote="majority").fit(corpus)
    prediction = fitted.predict(corpus, annotators="all", consensus="all")["q"]
    assert prediction.by_annotator is not None
    votes = prediction.by_annotator.value.reshape(corpus.n_items, 4)
    np.testing.assert_allclose(prediction.distribution[:, 1], votes.mean(axis=1))


@pytest.mark.parametrize("reads", ["focus", "content"])
def test_items_that_are_parts_of_contents(reads: Any) -> None:
    from dissensus.corpus import Focus

    corpus = sequences()
    start, stop = np.zeros((corpus.n_items, 1)), np.ones((corpus.n_items, 1))
    parts = Corpus.build(
        "parts",
        corpus.items,
        corpus.questions,
        contents={"x": (corpus.contents["x"], corpus.content["x"])},
        focus=Focus("x", start, stop),
    )
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
    small = {"layers": 2, "heads": 2, "width": 8, "inner": 12, "common": False}
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reads": "all"}, "reads must be one of 'focus', 'content', not 'all'"),
        ({"panel": 0}, "settings out of range: panel = 0"),
        ({"panel": 2, "classifier": "own", "hidden": (4,)}, "at most panel=2 annotators"),
        ({"panel": 2, "learn": "majority"}, "learn=majority takes the mean of all queries"),
        ({"heads": 3}, "a width that is a multiple of the heads"),
        ({"pretrained": "nowhere.safetensors"}, "pretrained: no file nowhere.safetensors"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        method(**settings).fit(sequences())
