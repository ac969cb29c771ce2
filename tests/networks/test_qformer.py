"""Against transformers' own Q-Formers, and the parameters that the paper counts."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dissensus.networks.noise import draw_by_key, drawing
from dissensus.networks.qformer import QFormer, interpolated

SMALL: dict[str, Any] = {"layers": 3, "heads": 2, "inner": 24}


def some(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def randomised(model: nn.Module) -> nn.Module:
    """The model with weights so large that every part matters."""
    for number, parameter in enumerate(model.parameters()):
        parameter.data = 0.3 * some(*parameter.shape, seed=number)
    return model.eval()


def transformers_model(kind: str) -> nn.Module:
    import transformers

    config = getattr(transformers, f"{kind}QFormerConfig")(
        vocab_size=11,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=24,
        encoder_hidden_size=12,
        attn_implementation="eager",
    )
    return randomised(getattr(transformers, f"{kind}QFormerModel")(config))


@pytest.mark.parametrize(
    ("length", "kind"),  # keys and values are computed, or folded
    [
        (5, "Blip2"),
        (60, "InstructBlip"),
        pytest.param(60, "Blip2", marks=pytest.mark.slow),
        pytest.param(5, "InstructBlip", marks=pytest.mark.slow),
    ],
)
def test_same_as_transformers(kind: str, length: int) -> None:
    theirs = transformers_model(kind)
    ours = QFormer(16, 12, **SMALL).eval()
    named = {f"qformer.{name}": values for name, values in theirs.state_dict().items()}
    assert ours.load_blip(named)
    queries, vectors = some(4, 16), some(2, length, 12, seed=1)
    mask = torch.arange(length) < torch.tensor([[length], [length // 2]])
    inputs = {} if kind == "Blip2" else {"input_ids": None, "attention_mask": torch.ones(2, 4)}
    expected = theirs(
        query_embeds=queries.expand(2, -1, -1),
        encoder_hidden_states=vectors,
        encoder_attention_mask=mask.float(),
        output_attentions=True,
        **inputs,
    )
    seen = ours(queries, vectors, mask)
    torch.testing.assert_close(seen.queries, expected.last_hidden_state, rtol=1e-4, atol=1e-5)
    own = [weights for weights in expected.cross_attentions if weights is not None]
    for weights, of_layer in zip(seen.weights, own, strict=True):
        torch.testing.assert_close(weights, of_layer, rtol=1e-4, atol=1e-5)


def test_weights_of_lavis() -> None:
    """LAVIS, from which InstructBLIP and Video-LLaMA were released, has other names."""
    theirs = transformers_model("InstructBlip").state_dict()
    renamed = {
        "Qformer.bert."
        + name.replace(".attention.attention.", ".attention.self.")
        .replace(".crossattention.attention.", ".crossattention.self.")
        .replace("embeddings.layernorm", "embeddings.LayerNorm"): values
        for name, values in theirs.items()
    }
    ours, same = QFormer(16, 12, **SMALL), QFormer(16, 12, **SMALL)
    assert ours.load_blip(renamed) and same.load_blip(theirs)
    for name, values in ours.state_dict().items():
        torch.testing.assert_close(same.state_dict()[name], values)


def test_interpolated_queries() -> None:
    queries = torch.arange(4.0)[:, None] * torch.ones(2)
    assert interpolated(queries, 2)[:, 0].tolist() == [0.5, 2.5]
    assert torch.equal(interpolated(queries, 4), queries)


def test_parameters_of_the_paper() -> None:
    with torch.device("meta"):
        network = QFormer()
    assert sum(parameter.numel() for parameter in network.parameters()) == 105_137_664


@pytest.mark.parametrize("layers", [1, 3])
def test_landmarks_keep_queries_apart(layers: int) -> None:
    """With landmarks, a query sees the same whichever other queries are there."""
    network = randomised(QFormer(16, 12, layers=layers, heads=2, inner=24))
    queries, landmarks, vectors = some(5, 16), some(3, 16, seed=1), some(2, 6, 12, seed=2)
    mask = torch.ones(2, 6, dtype=torch.bool)
    together = network(queries, vectors, mask, landmarks)
    alone = network(queries[3:4], vectors, mask, landmarks)
    torch.testing.assert_close(together.queries[:, 3:4], alone.queries)
    torch.testing.assert_close(together.weights[-1][:, :, 3:4], alone.weights[-1])
    other = network(queries, vectors, mask, -landmarks)
    assert not torch.allclose(other.queries, together.queries)


def test_a_content_without_positions_gives_numbers() -> None:
    network = randomised(QFormer(16, 12, **SMALL))
    seen = network(some(5, 16), some(2, 6, 12), torch.zeros(2, 6, dtype=torch.bool))
    assert seen.queries.isfinite().all()
    assert not seen.weights[0].any()


def test_dropout_differs_between_contents() -> None:
    """Also in the first self-attention, where queries have not met their content yet."""
    network = draw_by_key(
        randomised(QFormer(16, 12, layers=1, heads=2, inner=0, dropout=0.5)).train()
    )
    vectors, mask = some(1, 6, 12).expand(2, -1, -1), torch.ones(2, 6, dtype=torch.bool)
    for landmarks in (None, some(3, 16, seed=1)):
        with drawing(1):
            seen = network(some(5, 16), vectors, mask, landmarks).queries
        assert not torch.allclose(seen[0], seen[1])
