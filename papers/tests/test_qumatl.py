"""The paper qumatl: its corpora, its models, and conditions in parts."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import Blip2QFormerConfig, Blip2QFormerModel

from dissensus import Annotations, Corpus, simulate
from dissensus.encoders.framework.store import Store
from dissensus.errors import DataError, ModelError
from dissensus.evaluation.execution.task import drawn
from dissensus.scales import Interval, Ordinal
from dissensus_papers.framework.declared import ComparisonCondition
from dissensus_papers.qumatl import CLAIMS, PAPER
from dissensus_papers.qumatl.conditions import CONDITIONS
from dissensus_papers.qumatl.corpora import (
    CELLS,
    FRAMES,
    N_LEADERS,
    N_LED,
    TOKENS,
    WHOLE,
    as_levels,
    averaged,
    best_possible,
    followers,
    last_fifth,
    tokens,
)
from dissensus_papers.qumatl.models import MODELS
from dissensus_papers.qumatl.variants import VideoQueries
from papers.tests.licensed_folders import PANELS
from tests.cli.conftest import Run


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
def test_every_model_can_be_built_and_tries_as_many_settings(
    condition: ComparisonCondition,
) -> None:
    assert condition.corpus in PAPER.sources
    for name, method in PAPER._methods(condition, ()).items():
        choices = PAPER.models[name].choices
        if condition.trials and choices:
            settings = drawn(method, choices, condition.trials, seed=0)
            grid = [
                dict(zip(choices, values, strict=True)) for values in product(*choices.values())
            ]
            assert all(one in grid for one in settings)


def test_every_claim_names_conditions_that_have_its_models() -> None:
    for claim in CLAIMS:
        for name in claim.conditions:
            models = {*PAPER.conditions[name].models}
            assert {claim.first, claim.second} <= models, (claim.claim, name)


def test_whole_ratings_are_levels() -> None:
    rows = [("t1", "ann", 3), ("t2", "ann", 0), ("t1", "bob", 10)]
    levels = as_levels(Annotations.from_rows(rows, Interval(0, 10)))
    assert isinstance(levels.scale, Ordinal) and len(levels.scale) == 11
    assert levels.answer.tolist() == [3, 0, 10]
    with pytest.raises(DataError, match="whole numbers"):
        as_levels(Annotations.from_rows([("t1", "ann", 2.5)], Interval(0, 10)))


def test_frames_are_averaged_within_each_clip() -> None:
    lengths = [FRAMES + 5, 3]
    vectors = np.random.default_rng(0).normal(size=(sum(lengths), 4)).astype(np.float32)
    offsets = np.array([0, lengths[0], sum(lengths)])
    contents = averaged(Store(vectors, np.zeros((len(vectors), 1, 2)), offsets))
    first, second = (np.array(contents[code]) for code in range(2))
    expected = [vectors[:FRAMES].mean(0), vectors[FRAMES : FRAMES + 5].mean(0)]
    np.testing.assert_allclose(first, expected, rtol=1e-5)
    np.testing.assert_allclose(second, [vectors[-3:].mean(0)], rtol=1e-5)


def test_a_picture_is_a_class_token_and_cells_or_one_vector() -> None:
    n = 1 + CELLS**2
    vectors = np.random.default_rng(0).normal(size=(2 * n, 3)).astype(np.float32)
    store = Store(vectors, np.zeros((2 * n, 2, 2)), np.array([0, n, 2 * n]))
    contents = tokens(store)
    second = vectors[n:]
    grid = second[1:].reshape(CELLS, CELLS, 3)
    parts = np.array(contents[TOKENS][1])
    assert parts.shape == (65, 3)
    np.testing.assert_allclose(parts[0], second[0])
    np.testing.assert_allclose(parts[1 + 8 + 2], grid[2:4, 4:6].mean((0, 1)), rtol=1e-4)
    np.testing.assert_allclose(
        np.array(contents[WHOLE][1]), np.r_[second[0], second[1:].mean(0)], rtol=1e-3, atol=1e-5
    )


def test_followers_answer_as_the_plurality_of_leaders() -> None:
    corpus = followers(n_items=200)
    answers = corpus["emotion"]
    counts = answers.per_annotator()
    assert (counts[:N_LEADERS] == 160).all() and (counts[N_LEADERS:] == N_LED + 40).all()
    (fold,) = last_fifth(corpus)
    assert fold.test.tolist() == list(range(160, 200))
    best = best_possible(corpus)["emotion"]["best possible"]["annotator accuracy"]
    p = answers.extra["distribution"].flatten().to_numpy().reshape(answers.n_rows, -1)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)
    right = (p.argmax(1) == answers.answer)[answers.item >= 160]
    assert abs(right.mean() - best) < 0.06  # the best prediction is as good as it says


def test_answers_are_deleted_from_training_items_alone(data_folder: Path) -> None:
    corpora = PAPER.read(data_folder)
    whole, sparse = (
        PAPER.sources[name].prepared(corpora[name]) for name in ("HS-Brexit", "HS-Brexit-40")
    )

    def answers(corpus: Corpus, part: str) -> np.ndarray:
        return corpus.part(part)["hate"].per_annotator()

    np.testing.assert_array_equal(answers(whole, "dev"), answers(sparse, "dev"))
    left = answers(sparse, "train") / answers(whole, "train")
    np.testing.assert_allclose(left, 0.6, atol=0.001)


# ---- pretrained weights, and the paper's own corpora ----


def test_the_model_of_clips_starts_from_saved_qformers(tmp_path: Path) -> None:
    small: dict[str, Any] = {"layers": 2, "heads": 2, "width": 8, "inner": 12, "independent": True}
    small |= {"frame_queries": 3, "frame_positions": 2, "most_frames": 4, "encoder": "auto"}
    corpus = simulate.sequence(n_items=12, seed=1)
    width = len(next(iter(corpus.contents.values()))[0][0])

    def saved(source: int) -> dict[str, torch.Tensor]:
        sizes: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
        config = Blip2QFormerConfig(**sizes, intermediate_size=12, encoder_hidden_size=source)
        return {k: v.contiguous() for k, v in Blip2QFormerModel(config).state_dict().items()}

    frames, clips = saved(width), saved(8)
    weights = {f"qformer.{name}": values for name, values in frames.items()}
    weights |= {f"video_Qformer.{name}": values for name, values in clips.items()}
    weights["query_tokens"] = torch.arange(24.0).view(1, 3, 8)
    weights["video_frame_position_embedding.weight"] = torch.ones(4, 8)
    save_file(weights, tmp_path / "both.safetensors")
    save_file({"other": torch.ones(1)}, tmp_path / "other.safetensors")

    def network(file: str) -> Any:
        method = VideoQueries(**small, pretrained=str(tmp_path / file))
        method.begin_fit(corpus, None, None)
        method.trainer(corpus, None)
        return method.network_

    built = network("both.safetensors")
    inner = "encoder.layer.0.intermediate_query.dense.weight"
    assert torch.equal(built.frames.qformer.layers[0].inner.weight, frames[inner])
    assert torch.equal(built.qformer.layers[0].inner.weight, clips[inner])
    assert torch.equal(built.frames.queries.flatten(), torch.arange(24.0))
    assert torch.equal(built.frames.places, torch.ones(4, 8))
    with pytest.raises(ModelError, match="^pretrained: no weights of a Q-Former$"):
        network("other.safetensors")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("corpus", "conditions"),
    [("street", "street-safety,parts-street-safety,less-street-safety"), ("amer", "amer")],
)
def test_the_papers_own_corpora_are_described_and_every_claim_is_judged(
    run: Run, tmp_path: Path, corpus: str, conditions: str
) -> None:
    PANELS[corpus](tmp_path / corpus)
    described = run("describe", tmp_path / corpus)
    assert described.code == 0 and "48" in described.out, described.err
    quick = {"training.epochs": 1, "layers": 2, "width": 8, "heads": 2, "inner": 8}
    settings = [word for name, n in quick.items() for word in ("--set", f"{name}={n}")]
    where = [tmp_path, "-o", tmp_path / "out", "--conditions", conditions, "--processes", 1]
    ended = run("papers", "qumatl", *where, "--items", 40, "--runs", 1, *settings)
    assert ended.code == 0, ended.err
    report = PAPER.report(tmp_path / "out")
    assert list(report["conditions"]) == conditions.split(",")
    tests = [test for entry in report["claims"] for test in entry["tests"].values()]
    models = {name for one in conditions.split(",") for name in PAPER.conditions[one].models}
    about = [c for c in CLAIMS if {*conditions.split(",")} & {*c.conditions}]
    assert len(tests) >= len(about) > 0 and {*MODELS} >= models
    assert all(np.isfinite(test["effect"]) for test in tests)
    assert "too few items, in " in ended.out
