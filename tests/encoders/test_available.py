"""The list of encoders says of those that are here what their networks have."""

from __future__ import annotations

import hashlib

import pytest

from dissensus.encoders import NeuralEncoder, available, encoder
from dissensus.encoders.framework.pretrained import weights_file

KINDS = {"minilm": "text", "efficientnet-lite0": "image", "whisper-tiny": "audio"}


@pytest.mark.parametrize("name", KINDS)
def test_sizes_and_hashes_are_those_of_the_weights(name: str) -> None:
    (known,) = (one for one in available() if one["name"] == name)
    network = encoder(name, KINDS[name])
    assert isinstance(network, NeuralEncoder)
    millions = sum(each.numel() for each in network.network.parameters()) / 1e6
    assert millions == pytest.approx(known["parameters"], abs=0.06)
    assert network.network.width == known["width"]
    digest = hashlib.sha256(weights_file(name).read_bytes()).hexdigest()
    assert known["here"] and known["sha256"] == digest and KINDS[name] in known["reads"]


def test_models_of_the_hub_are_listed_without_a_hub() -> None:
    names = [one["name"] for one in available() if one["from"] == "the hub"]
    assert "openai/whisper-base" in names
