"""Trainings as the paper made them: kept as they end, gone on with, judged, and shown again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from dissensus import Corpus
from dissensus.errors import DataError, ModelError, Unfinished
from dissensus.evaluation.fit import Key, plain
from dissensus.training.loop import Trainer
from dissensus_papers.framework.fitted import Fits, Opened
from dissensus_papers.soft_labels import PAPER
from dissensus_papers.soft_labels.fits import Task
from dissensus_papers.soft_labels.outcomes import Outcome
from dissensus_papers.soft_labels.protocol import (
    CONDITIONS,
    MODELS,
    TRAINING,
    folds,
    labels,
    methods,
    saved_settings,
    with_automatic,
)
from papers.tests.tiny import QUICK, stems, tweets, vectors
from tests.error_texts import error_text


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Settings that train in a moment, with shared layers, so that the second task matters."""
    file = vectors(tmp_path_factory.mktemp("words") / "vectors.txt")
    return [("encoder", f"words:{file}"), ("hidden", "8"), *QUICK]


@pytest.fixture(scope="module")
def corpora() -> dict[str, Corpus]:
    return {"pos_tweets": tweets(), "stemming": stems()}


def trained(name: str, model: str, quick: list[tuple[str, str]], corpora: Any) -> Outcome:
    ready = {key: with_automatic(corpus) for key, corpus in corpora.items()}
    task = Task({name: methods(CONDITIONS[name], None, quick)})
    (outcome,) = task.done(Opened(ready), (Key(model, 1000, name),))
    assert isinstance(outcome, Outcome) and outcome.reason == ""
    return outcome


def untrained(
    name: str, model: str, quick: list[tuple[str, str]], corpus: Corpus
) -> tuple[Corpus, Corpus, Any]:
    """The parts for training and validation, and the method with the settings of the first run."""
    (fold,) = folds(corpus, CONDITIONS[name])
    train, _, validation = fold.parts(corpus)
    assert validation is not None
    method = methods(CONDITIONS[name], None, quick)[model]
    method.init_seed, method.training = 1000, replace(method.training, seed=1000)
    return train, validation, method


# ---- settings ----


def test_the_papers_settings() -> None:
    built = methods(CONDITIONS["pos-cv-silver"], "there/glove.txt")
    assert list(built) == list(MODELS)
    stl, inverse = built["stl"], built["inverse-kl"]
    assert (stl.soft_loss, inverse.soft_loss, inverse.label) == ("none", "inverse-kl", "consensus")
    assert (inverse.encoder, inverse.branch) == ("tagger:there/glove.txt", "attention")
    assert saved_settings(inverse)["encoder"] == "tagger:glove.txt"
    of_stems = methods(CONDITIONS["stemming"], None)["ce"]
    apart = {"word": "character-cnn", "stem": "character-cnn:copy=2"}  # a network each
    assert (of_stems.encoder, of_stems.branch, of_stems.label) == (apart, "output", "gold")
    assert (TRAINING.epochs, TRAINING.batch_size, TRAINING.learning_rate) == (10, 1024, 1e-3)
    assert (TRAINING.optimiser, TRAINING.clip, TRAINING.shuffle) == ("adam", math.inf, False)
    assert (TRAINING.schedule, TRAINING.warm_up, TRAINING.weight_decay) == ("constant", 0, 0)


def test_the_kept_outcomes_can_be_gone_on_with() -> None:
    kept = PAPER.report(Path(__file__).parents[2] / "benchmarks" / "results" / "soft_labels.json")
    for name, condition in CONDITIONS.items():
        models = kept["conditions"].get(name, {"models": {}})["models"]
        if not models:
            continue
        settings = {model: stored["settings"] for model, stored in models.items()}
        wanted = {
            m: saved_settings(built) for m, built in methods(condition, "pos_tweets.txt").items()
        }
        assert settings == plain(wanted), name


def test_tags_need_word_vectors() -> None:
    assert error_text(methods, CONDITIONS["pos-test"], None) == (
        "pos-test reads words: name a file of vectors with --glove (make glove)"
    )


# ---- one training ----


def test_development_f1_is_scikit_learns_and_of_the_labels_chosen_by(
    quick: list[tuple[str, str]], corpora: dict[str, Corpus]
) -> None:
    one = trained("pos-test-silver", "kl", quick, corpora)
    corpus = with_automatic(corpora["pos_tweets"])
    train, validation, method = untrained("pos-test-silver", "kl", quick, corpus)
    output = method.fit(train, "tag").predict(validation)["tag"].consensus
    expected = f1_score(labels(validation, "tag", "gold"), output, average="macro")
    assert one.f1[0][-1] == pytest.approx(expected, abs=1e-5)


def test_adam_goes_on_from_fold_to_fold_only_where_it_did(
    quick: list[tuple[str, str]], corpora: dict[str, Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[float, float]] = []
    weights: list[torch.Tensor] = []
    train = Trainer.train

    def watched(self: Trainer, checkpoint: Any = None) -> Any:
        weights.append(torch.cat([p.detach().flatten() for p in self.parameters]))
        state = self.optimiser.state_dict()["state"]
        before = float(state[0]["step"]) if state else 0.0
        log = train(self, checkpoint)
        steps.append((before, float(self.optimiser.state_dict()["state"][0]["step"])))
        return log

    monkeypatch.setattr(Trainer, "train", watched)
    carried = trained("pos-cv", "ce", quick, corpora)
    n = steps[0][1]
    assert n == 15  # 3 epochs of 150 tokens, 32 at a time
    assert steps == [(n * k, n * (k + 1)) for k in range(5)]
    steps.clear()
    fresh = trained("pos-cv-fresh", "ce", quick, corpora)
    assert steps == [(0, n)] * 5
    assert len(carried.predicted) == 250
    assert carried.loss[0] == fresh.loss[0]  # the first fold has nothing before it
    assert carried.loss[1] != fresh.loss[1]
    first = [w for w in weights if len(w) == len(weights[0])]
    assert len(first) == 10 and all(torch.equal(first[k], first[k + 5]) for k in range(5))


def test_losses_of_the_main_task_alone(
    quick: list[tuple[str, str]], corpora: dict[str, Corpus]
) -> None:
    one = trained("pos-test", "ce", quick, corpora)
    corpus = with_automatic(corpora["pos_tweets"])
    train, validation, method = untrained("pos-test", "ce", quick, corpus)
    method.fit(train, "tag")
    for part, loss in zip((train, validation), one.last[0], strict=True):
        q = method.predict(part)["tag"].distribution
        gold = labels(part, "tag", "gold")
        assert loss == pytest.approx(-np.log(q[np.arange(len(gold)), gold]).mean(), rel=1e-4)


# ---- many of them ----


def files(folder: Path) -> dict[str, Any]:
    """Everything in a folder that must be the same each time."""
    results = {}
    for path in sorted(folder.rglob("*.json")):
        content = json.loads(path.read_text())
        content.pop("seconds", None)
        content.pop("checksums", None)
        results[str(path.relative_to(folder))] = content
    return results


@pytest.mark.slow
def test_what_was_stopped_goes_on_and_ends_the_same(
    quick: list[tuple[str, str]],
    corpora: dict[str, Corpus],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = [CONDITIONS[name] for name in ("pos-test", "stemming-silver")]
    given: dict[str, Any] = {"runs": 1, "processes": 1, "settings": quick, "command": "this"}
    PAPER.run(corpora, arguments, tmp_path / "whole", **given)
    with pytest.raises(Unfinished) as over:
        PAPER.run(corpora, arguments, tmp_path / "parts", **given, time_limit=0)
    assert str(over.value) == (
        "Time limit reached: 0 of 8 fits done. Run the same command again to resume."
    )
    done: list[Key] = []
    real = Task.fit

    def killed(self: Task, opened: Opened, job: Fits) -> list[Outcome]:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.extend(job)
        return real(self, opened, job)

    with monkeypatch.context() as patch:
        patch.setattr(Task, "fit", killed)
        with pytest.raises(KeyboardInterrupt):
            PAPER.run(corpora, arguments, tmp_path / "parts", **given)
    assert len(PAPER.outcomes(tmp_path / "parts")) == 3
    PAPER.run(corpora, arguments, tmp_path / "parts", **given)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    text = PAPER.shown(PAPER.report(tmp_path / "whole"))
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(PAPER.report(tmp_path / "whole")))
    assert PAPER.shown(PAPER.report(kept)) == text
    assert "Table 1" in text and "Table 2" in text and "(stemming-silver), entropy" in text
    assert "tested on the majority, as in its code" in text
    # more conditions in the same folder
    PAPER.run(corpora, [CONDITIONS["stemming"]], tmp_path / "parts", **given)
    assert len(PAPER.outcomes(tmp_path / "parts")) == 12


@pytest.mark.slow
def test_processes_end_the_same(
    quick: list[tuple[str, str]], corpora: dict[str, Corpus], tmp_path: Path
) -> None:
    arguments = [CONDITIONS["pos-test"]]
    settings: dict[str, Any] = {"runs": 1, "settings": quick, "command": "this"}
    for n in (1, 2):
        PAPER.run(corpora, arguments, tmp_path / str(n), processes=n, **settings)
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_what_fails_is_said_and_the_rest_is_kept(
    quick: list[tuple[str, str]],
    corpora: dict[str, Corpus],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Task.fit

    def fragile(self: Task, opened: Opened, job: Fits) -> list[Outcome]:
        if job[0].method == "kl":
            raise ModelError("no luck")
        return real(self, opened, job)

    monkeypatch.setattr(Task, "fit", fragile)
    with pytest.raises(ModelError) as caught:
        PAPER.run(corpora, [CONDITIONS["pos-test"]], tmp_path, runs=1, processes=1, settings=quick)
    assert str(caught.value) == (
        "1 of 4 failed, first kl, seed 1000, pos-test: no luck; what was done is kept"
    )
    assert {outcome.model for outcome in PAPER.outcomes(tmp_path)} == {"stl", "inverse-kl", "ce"}


def test_wrong_numbers_are_refused(corpora: dict[str, Corpus], tmp_path: Path) -> None:
    arguments = [CONDITIONS["stemming"]]
    for numbers, expected in (
        ({"runs": 11}, "the paper has 10 runs; ask for 1 to 10, not 11"),
        ({"processes": 0}, "at least one process is needed, found 0"),
    ):
        assert error_text(PAPER.run, corpora, arguments, tmp_path, **numbers) == expected


def test_a_missing_file_of_vectors_is_said_before_anything_is_begun(
    corpora: dict[str, Corpus], tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        PAPER.run(corpora, [CONDITIONS["pos-test"]], tmp_path / "out", glove=tmp_path / "none.txt")
    assert str(caught.value) == f"{tmp_path / 'none.txt'}: No such file or directory"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "question"), [("pos-test", "tag"), ("stemming-silver", "is the stem")]
)
def test_a_corpus_without_gold_is_refused(
    name: str,
    question: str,
    quick: list[tuple[str, str]],
    corpora: dict[str, Corpus],
    tmp_path: Path,
) -> None:
    corpus = CONDITIONS[name].corpus
    without = {corpus: replace(corpora[corpus], gold={})}
    with pytest.raises(DataError) as caught:
        PAPER.run(without, [CONDITIONS[name]], tmp_path, runs=1, processes=1, settings=quick)
    assert str(caught.value) == f"{corpus}: no gold label for {question!r}"


@pytest.mark.parametrize("name", ["pos-test", "stemming"])
def test_kl_and_cross_entropy_end_alike_to_the_last_digit(
    name: str, quick: list[tuple[str, str]], corpora: dict[str, Corpus]
) -> None:
    """Their gradients are the same, so on a GPU nothing but the order of sums tells them apart."""
    kl, ce = (trained(name, model, quick, corpora) for model in ("kl", "ce"))
    assert kl.predicted.tolist() == ce.predicted.tolist()
    assert (kl.f1, kl.chosen, kl.last) == (ce.f1, ce.chosen, ce.last)
    assert kl.loss != ce.loss  # by the entropy of what people said
