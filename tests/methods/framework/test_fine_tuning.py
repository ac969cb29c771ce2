"""An encoder that learns: as a plain torch loop would have it, and no more of it than was said."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dissensus import Annotations, Corpus, Names, Nominal, encoders
from dissensus.contents import Contents
from dissensus.corpus import Focus
from dissensus.encoders import TextEncoder, encode, encoder, encodings, prepared
from dissensus.methods import load
from dissensus.methods.annotator_heads import AnnotatorHeads
from dissensus.methods.single import Single
from dissensus.training import Examples, Training
from dissensus.training.examples import Table, batches
from dissensus.training.fine_tuning import FineTunedNetwork, pooled_by_item
from tests.tiny import tiny_bert

N_ITEMS = 12
WORDS = ["so", "good", "bad", "!"]
PLAIN = Training(
    epochs=5,
    batch_size=N_ITEMS,
    schedule="constant",
    warm_up=0.0,
    learning_rate=1e-2,
    encoder_learning_rate=1e-3,
    weight_decay=0.01,
    clip=1e9,
    device="cpu",
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", dropout=0.0)


def texts(seed: int, n: int = N_ITEMS) -> list[str]:
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(WORDS, size=2 + i % 5)) for i in range(n)]


def corpus_of(**shown: Sequence[str | None]) -> Corpus:
    """Two people answer every item yes or no."""
    generator = np.random.default_rng(0)
    n = len(next(iter(shown.values())))
    answers = Annotations.from_arrays(
        np.repeat(np.arange(n), 2),
        np.tile([0, 1], n),
        generator.integers(0, 2, size=2 * n),
        Nominal(("no", "yes")),
        items=Names.range(n),
        annotators=Names(["ann", "bob"]),
    )
    contents = {role: Contents.distinct("text", values) for role, values in shown.items()}
    return Corpus.build("small", Names.range(n), {"q": answers}, contents=contents)


def moved(method: Any, tiny: str) -> dict[str, float]:
    """How far each parameter of the encoder went from where it was pretrained."""
    before = TextEncoder(tiny).network.state_dict()
    assert isinstance(method.network_, FineTunedNetwork)
    after = method.network_.encoders[0].state_dict()
    return {name: float((after[name] - before[name]).abs().max()) for name in before}


# ---- the same as a plain loop ----


@pytest.mark.slow
def test_it_steps_as_torch_and_transformers_do(tiny: str) -> None:
    """A linear head, no dropout, the whole corpus a batch: five steps of AdamW by hand."""
    corpus = corpus_of(text=texts(1))
    method = Single(encoder=tiny, tune="all", hidden=(), dropout=0.0, training=PLAIN)
    method.fit(corpus)
    expected = _by_hand(corpus, tiny, method)
    np.testing.assert_allclose(method.log_.train, expected, atol=1e-5)
    assert expected[0] - expected[-1] > 1e-3  # and it learned


def _by_hand(corpus: Corpus, tiny: str, fitted: Single) -> list[float]:
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(tiny), AutoTokenizer.from_pretrained(tiny)
    again = Single(encoder=tiny, tune="all", hidden=(), dropout=0.0, training=PLAIN)
    again.learned_, again.sizes_ = fitted.learned_, fitted.sizes_
    built = again.build_network()
    assert isinstance(built, FineTunedNetwork)
    head = built.inner  # with the same first weights
    shown = [corpus.contents["text"][code] for code in corpus.content["text"]]
    tokens = tokenizer(shown, padding=True, return_tensors="pt")
    label = torch.from_numpy(again.targets(corpus)["q"])
    model.eval()  # no dropout in there either way

    def pooled() -> Tensor:
        mask = tokens["attention_mask"].unsqueeze(2)
        vectors = model(**tokens).last_hidden_state
        return (vectors * mask).sum(dim=1) / mask.sum(dim=1)

    with torch.no_grad():
        head.prepare({"text": pooled()})
    optimiser = torch.optim.AdamW(
        [
            {"params": [p for p in head.parameters() if p.requires_grad], "lr": 1e-2},
            {"params": model.parameters(), "lr": 1e-3},
        ],
        weight_decay=0.01,
    )
    losses = []
    for _ in range(PLAIN.epochs):
        optimiser.zero_grad()
        batch = _batch_of(pooled())
        loss = nn.functional.cross_entropy(head(batch).items["q"], label)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


def _batch_of(pooled: Tensor) -> Any:
    """All that a head for one question looks at."""
    corpus = corpus_of(text=texts(1))
    table = Table.of_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    examples = Examples.of_corpus(corpus, encodings(corpus, "characters"), table)
    ((batch, _),) = batches(examples, np.arange(N_ITEMS), N_ITEMS)
    batch.pooled = {"text": pooled}
    return batch


# ---- what moves ----


@pytest.mark.parametrize("rate", [1e-3, 1e-5])
def test_the_encoder_moves_at_its_own_rate(tiny: str, rate: float) -> None:
    """The first step of Adam is as long as the rate, wherever there is a gradient."""
    once = dataclasses.replace(PLAIN, epochs=1, encoder_learning_rate=rate, weight_decay=0.0)
    method = Single(encoder=tiny, tune="all", training=once).fit(corpus_of(text=texts(1)))
    furthest = max(moved(method, tiny).values())
    assert furthest == pytest.approx(rate, rel=0.02)


def test_the_first_blocks_move_least(tiny: str) -> None:
    once = dataclasses.replace(
        PLAIN, epochs=1, encoder_learning_rate=1e-3, layer_decay=0.5, weight_decay=0.0
    )
    method = Single(encoder=tiny, tune="all", training=once).fit(corpus_of(text=texts(1)))
    furthest: dict[str, float] = {}
    for name, far in moved(method, tiny).items():
        block = name.split("layer.")[1][0] if "layer." in name else "before"
        furthest[block] = max(far, furthest.get(block, 0.0))
    rates = {"before": 2.5e-4, "0": 5e-4, "1": 1e-3}
    assert furthest == pytest.approx(rates, rel=0.02)


def test_only_the_last_block_moves(tiny: str) -> None:
    method = Single(encoder=tiny, tune=1, training=PLAIN).fit(corpus_of(text=texts(1)))
    went = {name for name, far in moved(method, tiny).items() if far > 0}
    assert went and all(name.startswith("model.encoder.layer.1.") for name in went)
    assert any("attention" in name for name in went) and any("output" in name for name in went)


def test_roles_with_one_encoder_share_its_network(tiny: str) -> None:
    corpus = corpus_of(premise=texts(1), hypothesis=texts(2))
    names = {"premise": tiny, "hypothesis": f"{tiny}:max_length=256"}  # which it is anyway
    shared = Single(encoder=names, tune="all", training=PLAIN).fit(corpus)
    assert len(shared.network_.encoders) == 1  # type: ignore[arg-type]
    apart = Single(
        encoder={"premise": tiny, "hypothesis": f"{tiny}:max_length=16"}, tune="all", training=PLAIN
    ).fit(corpus)
    assert len(apart.network_.encoders) == 2  # type: ignore[arg-type]
    one = Single(encoder={"premise": tiny}, tune="all", training=PLAIN).fit(corpus)
    assert moved(shared, tiny) != moved(one, tiny)  # gradients of both roles
    assert one.notes_ == [f"{one.encoder!r} does not read 'hypothesis'"]


def test_texts_read_together_learn_and_are_restored(tiny: str, tmp_path: Path) -> None:
    corpus = corpus_of(premise=texts(1), hypothesis=[*texts(2, N_ITEMS - 1), None])
    method = AnnotatorHeads(
        encoder={"premise+hypothesis": f"{tiny}:max_length=8"}, tune="all", training=PLAIN
    ).fit(corpus)
    assert list(method.sizes_.widths) == ["premise+hypothesis"]
    assert max(moved(method, tiny).values()) > 0
    (note,) = method.notes_
    assert note.endswith(" contents are longer than the encoder reads; their ends are not seen")
    prediction = method.predict(corpus)["q"]
    method.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(corpus)["q"].distribution, prediction.distribution)
    raw: dict[str, Any] = {"premise": texts(1), "hypothesis": [*texts(2, N_ITEMS - 1), None]}
    np.testing.assert_allclose(
        loaded.predict(raw)["q"].distribution,
        method.predict(corpus, consensus="all")["q"].distribution,
        atol=1e-6,
    )


# ---- pooling ----


def test_a_focus_is_pooled_as_a_store_pools_it(tiny: str) -> None:
    shown = ["so good ! bad", "bad bad so", "so good ! bad", "good"]
    corpus = corpus_of(text=[*shown, None])
    start = np.array([[0.0], [4.0], [8.0], [np.nan], [0.0]])
    stop = np.array([[7.0], [7.0], [9.0], [np.nan], [2.0]])
    start[2], stop[2] = 90.0, 99.0  # overlaps nothing: the whole text
    corpus = dataclasses.replace(corpus, focus=Focus("text", start, stop))
    read = encodings(corpus, tiny)
    table = Table.of_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    examples = Examples.of_corpus(corpus, read, table, tuned=True)
    ((batch, _),) = batches(examples, np.arange(5), 5)
    reader = TextEncoder(tiny)
    network = FineTunedNetwork(nn.Identity(), {"text": reader.network}, pool=True)  # type: ignore[arg-type]
    with torch.no_grad():
        result = network.encoded(batch).pooled["text"].numpy()
    expected, n_empty = (
        read["text"].store().pooled_at(corpus.content["text"][:4], start[:4], stop[:4])
    )
    assert n_empty == 1
    np.testing.assert_allclose(result[:4], expected, atol=2e-3)  # a store holds float16
    assert not result[4].any()
    assert not np.allclose(result[0], result[2], atol=1e-2)  # one text, two foci


def test_without_a_focus_it_is_the_mean_of_what_is_not_padding(tiny: str) -> None:
    contents = Contents.distinct("text", ["so", "so good bad !"])[0]
    reader = TextEncoder(tiny)
    inputs = prepared(reader, contents).inputs(np.array([0, 1]))
    with torch.no_grad():
        vectors = reader.network(inputs.units, inputs.lengths)
    mask = torch.arange(vectors.shape[1]) < inputs.n_positions[:, None]
    cut = encoders.Sequence(vectors, mask, inputs.places)
    result = pooled_by_item(cut, torch.tensor([1, 0, -1]), None).numpy()
    expected = encode(encoder(tiny, "text"), contents).pooled()
    np.testing.assert_allclose(result[:2], expected[[1, 0]], atol=2e-3)
    assert not result[2].any()
