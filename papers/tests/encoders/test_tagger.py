"""The tagger's LSTMs against torch's bidirectional ones, and how texts are laid out for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import dissensus as ds
from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.corpus import Focus
from dissensus.errors import ModelError
from dissensus.methods import Single, SoftLabelMtl
from dissensus.training import Training
from dissensus_papers.encoders.characters import first_values
from dissensus_papers.encoders.tagger import CHARACTERS, TaggerEncoder, TaggerNetwork
from tests.encoders.test_words import LINES, VECTORS, written

TEXTS = ("so good !", "Do strange so", "", "good " + "x" * 60)


@pytest.fixture
def tagger(tmp_path: Path) -> TaggerEncoder:
    return TaggerEncoder(str(written(tmp_path, LINES)))


def _texts(*texts: str) -> Contents:
    return Contents.distinct("text", list(texts))[0]


def _network(tagger: TaggerEncoder) -> TaggerNetwork:
    built = tagger.trainable().double()
    assert isinstance(built, TaggerNetwork)
    return built


def _both_ways(ours: Any) -> nn.LSTM:
    """torch's Bi-LSTM with the weights of ours."""
    built = nn.LSTM(ours.forth.input_size, 256, bidirectional=True, batch_first=True).double()
    state = dict(ours.forth.state_dict())
    state |= {f"{name}_reverse": value for name, value in ours.back.state_dict().items()}
    built.load_state_dict(state)
    return built


def _plain(network: TaggerNetwork, units: Tensor) -> Tensor:
    """The vectors of one text without padding, (n_words, 1024)."""
    words, _ = _both_ways(network.of_words)(network.words(units[:, 0])[None])
    spelled, _ = _both_ways(network.of_characters)(network.characters(units[:, 1:]))
    return torch.cat([words[0], spelled[:, -1]], dim=1)


def test_it_is_torchs_bidirectional_lstms(tagger: TaggerEncoder) -> None:
    network = _network(tagger)
    prepared = tagger.prepare(_texts(*TEXTS))
    inputs = prepared.inputs(np.arange(4))
    result = network(inputs.units, inputs.lengths)
    assert result.shape == (4, 3, 1024)
    for number, length in enumerate(inputs.lengths):
        expected = _plain(network, inputs.units[number, :length])
        torch.testing.assert_close(result[number, :length], expected, rtol=0, atol=1e-12)


def test_gradients_are_those_of_every_word_by_itself(tagger: TaggerEncoder) -> None:
    network = _network(tagger)
    inputs = tagger.prepare(_texts("so good so so", "good so")).inputs(np.arange(2))
    mask = torch.arange(4) < inputs.lengths[:, None]
    network(inputs.units, inputs.lengths)[mask].square().sum().backward()
    results = {name: stored.grad for name, stored in network.named_parameters()}
    network.zero_grad(set_to_none=True)
    parts = [_plain_with(network, inputs.units[n, :length]) for n, length in enumerate((4, 2))]
    torch.cat(parts).square().sum().backward()  # type: ignore[no-untyped-call]
    for name, stored in network.named_parameters():
        torch.testing.assert_close(results[name], stored.grad, rtol=0, atol=1e-10)


def _plain_with(network: TaggerNetwork, units: Tensor) -> Tensor:
    """As `_plain`, by the network's own LSTMs, so that gradients reach them."""
    words, spelled = network.words(units[None, :, 0]), network.characters(units[:, 1:])
    forth = network.of_words.forth(words)[0]
    back = network.of_words.back(words.flip(1))[0].flip(1)
    of_letters = [
        network.of_characters.forth(spelled)[0][:, -1],
        network.of_characters.back(spelled.flip(1))[0].flip(1)[:, -1],
    ]
    return torch.cat([forth[0], back[0], *of_letters], dim=1)


def test_a_position_is_a_run_without_spaces(tagger: TaggerEncoder) -> None:
    prepared = tagger.prepare(_texts("good! so", "Do so do"))
    assert prepared.offsets.tolist() == [0, 2, 5]
    places = prepared.places[:, 0].astype(int).tolist()
    assert places == [[0, 5], [6, 8], [0, 2], [3, 5], [6, 8]]
    words = prepared.units[:, 0]
    assert words[1] == words[3] == 0 and words[2] == words[4] == 5  # lines of the file
    assert len(VECTORS) <= words[0] < len(VECTORS) + 4096  # the file does not know good!
    letters = prepared.units[0, 1:]
    assert letters.tolist() == [*map(ord, "good!"), *[0] * (CHARACTERS - 5)]


def test_its_tables_begin_as_the_file_and_as_characters(tagger: TaggerEncoder) -> None:
    network = tagger.trainable()
    assert isinstance(network, TaggerNetwork)
    np.testing.assert_array_equal(network.words.weight[: len(VECTORS)].detach(), VECTORS)
    assert not network.words.weight[len(VECTORS) :].any()
    np.testing.assert_array_equal(network.characters.weight.detach(), first_values())


def _lists(values: list[list[str]]) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.list_(pa.string()))


def test_words_without_a_vector_are_said(tagger: TaggerEncoder) -> None:
    output = tagger.unknown_note(_texts("so odd", "odd even!"))
    assert output == "3 words have no vector in made.txt: 'odd', 'even!'"
    assert tagger.unknown_note(_texts("so good")) is None


# ---- in a method ----

QUICK = Training(epochs=2, batch_size=4, device="cpu")


def _tags(n_tweets: int = 4) -> Corpus:
    """Words in their tweets, tagged by two people."""
    tweets = [f"so good {'!' * (1 + n % 2)}" for n in range(n_tweets)]
    item = np.repeat(np.arange(3 * n_tweets), 2)
    answer = np.stack([np.arange(3 * n_tweets) % 3, np.arange(3 * n_tweets) % 2], axis=1).ravel()
    answers = Annotations.from_arrays(
        item,
        np.arange(len(item)) % 2,
        answer,
        Nominal(("a", "b", "c")),
        annotators=Names(["ann", "bob"]),
    )
    contents, code = Contents.distinct("text", tweets)
    start = np.tile([[0.0], [3.0], [8.0]], (n_tweets, 1))
    stop = np.tile([[2.0], [7.0], [9.0]], (n_tweets, 1))
    return Corpus.build(
        "tags",
        Names.range(3 * n_tweets),
        {"tag": answers},
        contents={"text": (contents, np.repeat(code, 3))},
        focus=Focus("text", start, stop),
    )


def test_it_learns_predicts_and_is_restored(tagger: TaggerEncoder, tmp_path: Path) -> None:
    corpus, name = _tags(), f"tagger:{tagger.name}"
    fitted = SoftLabelMtl(encoder=name, tune="all", training=QUICK).fit(corpus)
    output = fitted.predict(corpus)["tag"].distribution
    fitted.save(tmp_path / "model")
    loaded = ds.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(corpus)["tag"].distribution, output)
    few = corpus.select(items=np.arange(corpus.n_items) < 2)  # padded otherwise
    np.testing.assert_allclose(fitted.predict(few)["tag"].distribution, output[:2], atol=1e-6)


def test_first_weights_are_the_seeds_and_learn_at_the_common_rate(tagger: TaggerEncoder) -> None:
    corpus, name = _tags(), f"tagger:{tagger.name}"

    def weights(seed: int, rate: float) -> dict[str, np.ndarray]:
        training = Training(epochs=1, learning_rate=rate, encoder_learning_rate=1e-30)
        method = Single(encoder=name, tune="all", init_seed=seed, training=training)
        return method.fit(corpus).weights()

    before = torch.get_rng_state()
    lstm = "encoders.0.of_words.forth.weight_ih_l0"
    still, again, other, moved = (
        weights(*c) for c in ((1, 1e-30), (1, 1e-30), (2, 1e-30), (1, 0.1))
    )
    assert torch.equal(before, torch.get_rng_state())
    np.testing.assert_array_equal(still[lstm], again[lstm])
    assert np.abs(still[lstm] - other[lstm]).max() > 0.01
    assert np.abs(still[lstm] - moved[lstm]).max() > 0.01


# ---- errors ----


def test_frozen_it_means_nothing(tagger: TaggerEncoder) -> None:
    name = f"tagger:{tagger.name}"
    with pytest.raises(ModelError) as caught:
        Single(encoder=name, training=QUICK).fit(_tags())
    assert str(caught.value) == (
        "encoder 'tagger' is not pretrained, so its vectors would be random; train it with the "
        "method: set tune=all"
    )
    with pytest.raises(ModelError) as caught:
        Single(encoder=name, tune=1, training=QUICK).fit(_tags())
    assert str(caught.value) == "encoder 'tagger' is trained as a whole: set tune=all"
