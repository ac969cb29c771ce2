"""Small random models of transformers in folders, as a hub would hold them."""

from __future__ import annotations

from pathlib import Path

import torch

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "so", "good", "bad", "!")


def tiny_bert(folder: Path, *, seed: int = 0, dropout: float = 0.1, n_positions: int = 512) -> str:
    """A BERT with 2 layers, 8 wide, that knows a few words; gives its folder's name."""
    from transformers import AutoModel, BertConfig, BertTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        max_position_embeddings=n_positions,
    )
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    AutoModel.from_config(config).save_pretrained(folder)  # type: ignore[no-untyped-call]
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


def tiny_vit(folder: Path) -> str:
    """A ViT for pictures of 16 pixels a side; gives its folder's name."""
    from transformers import AutoModel, ViTConfig, ViTImageProcessorPil

    config = ViTConfig(
        image_size=16,
        patch_size=8,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
    )
    torch.manual_seed(0)
    AutoModel.from_config(config).save_pretrained(folder)  # type: ignore[no-untyped-call]
    ViTImageProcessorPil(size={"height": 16, "width": 16}).save_pretrained(folder)
    return str(folder)
