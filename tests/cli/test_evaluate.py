from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.metrics import METRICS, bounds, scores
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction, Predictions
from dissensus.scales import Interval, Nominal
from tests.cli.conftest import Run


def floor(annotations: Annotations, items: Names | None = None) -> float:
    """The cross-entropy of the perfect prediction."""
    return bounds(["cross-entropy"], annotations, items)["cross-entropy"].perfect


ITEMS = Names([f"t{i}" for i in range(6)])


def small(splits: dict[str, list[str | None]] | None = None) -> Corpus:
    scale = Nominal(("no", "yes"))
    item, annotator = np.divmod(np.arange(18), 3)
    answer = np.array([0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    rude = Annotations.from_arrays(item, annotator, answer, scale, items=ITEMS)
    funny = Annotations.from_arrays(
        item, annotator, answer * 2.0 + item, Interval(0, 10), items=ITEMS
    )
    return Corpus.build(
        "small",
        ITEMS,
        {"rude": rude, "funny": funny},
        gold={"rude": rude.majority()},
        splits=splits or {},
    )


def guess(corpus: Corpus, question: str, by_annotator: bool = True) -> Prediction:
    annotations = corpus[question]
    mass = annotations.distribution() * 0.5 + 0.5 / annotations.scale.n_columns
    who = annotations.annotator_codes("here")
    pairs = ByAnnotator(
        annotations.item, who, annotations.annotators, np.zeros_like(annotations.answer)
    )
    return Prediction(
        annotations.scale,
        annotations.items,
        mass,
        annotations.scale.consensus(mass),
        pairs if by_annotator else None,
    )


def saved(corpus: Corpus, folder: Path, method: str = "single") -> Path:
    by_question = {q: guess(corpus, q, method == "single") for q in corpus.questions}
    Predictions(by_question, method, corpus.name).save(folder)
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    corpus = small()
    corpus.save(tmp_path / "corpus")
    return saved(corpus, tmp_path / "predictions"), tmp_path / "corpus"


def test_json_holds_the_scores(run: Run, folders: tuple[Path, Path]) -> None:
    fields = json.loads(run("evaluate", *folders, "--json", "--question", "rude").out)
    corpus = small()
    prediction = guess(corpus, "rude")
    assert fields == {
        "corpus": "small",
        "results": [
            {
                "question": "rude",
                "part": None,
                "method": "single",
                "items": 6,
                "answers": 18,
                "gold": 6,
                "scores": scores(prediction, corpus["rude"], corpus.gold["rude"]),
                "bounds": {
                    name: bound._asdict()
                    for name, bound in bounds(["cross-entropy"], corpus["rude"]).items()
                },
            }
        ],
    }


def test_a_block_per_part_of_the_official_split(run: Run, tmp_path: Path) -> None:
    corpus = small({"official": ["train", "dev", "train", "dev", "dev", None]})
    corpus.save(tmp_path / "corpus")
    folder = saved(corpus, tmp_path / "predictions")
    fields = json.loads(run("evaluate", folder, tmp_path / "corpus", "--json").out)["results"]
    rude = {r["part"]: r for r in fields if r["question"] == "rude"}
    assert {part: r["items"] for part, r in rude.items()} == {"train": 2, "dev": 3, "in no part": 1}
    dev = corpus.part("dev")
    expected = scores(guess(corpus, "rude"), dev["rude"], dev.gold["rude"])
    assert rude["dev"]["scores"] == pytest.approx(expected)
    perfect = rude["dev"]["bounds"]["cross-entropy"]["perfect"]
    assert perfect == pytest.approx(floor(dev["rude"]))
    out = run("evaluate", folder, tmp_path / "corpus").out
    assert "\nsmall, rude, dev\n" in out

    saved(dev, tmp_path / "on dev")
    only = json.loads(run("evaluate", tmp_path / "on dev", tmp_path / "corpus", "--json").out)
    assert {result["part"] for result in only["results"]} == {"dev"}


def test_further_predictions_are_further_columns(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    prior = saved(small(), tmp_path / "prior", "prior")
    lines = run("evaluate", *folders, "--against", prior).out.splitlines()
    assert lines[1].split() == ["single", "prior", "perfect", "constant", "better"]
    assert lines[3].split() == ["answers", "by", "annotator", "18", "0"]
    other = saved(small(), tmp_path / "other")
    again = run("evaluate", *folders, "--against", other, "--json").out
    names = {result["method"] for result in json.loads(again)["results"]}
    assert names == {f"single ({folders[0]})", f"single ({other})"}


def test_bounds_stand_below_where_they_differ(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    fewer = saved(small().select(items=["t0", "t1"]), tmp_path / "fewer", "prior")
    lines = run("evaluate", *folders, "--against", fewer, "--question", "rude").out.splitlines()
    assert lines[1].split() == ["single", "prior", "better"]
    assert [line.split()[-2:] for line in lines[6:8]] == [["0.318", "0.318"], ["0.687", "0.637"]]
    assert [line[:22] for line in lines[6:8]] == [
        "  perfect prediction  ",
        "  constant prediction ",
    ]


def test_names_without_room_are_broken_at_hyphens(
    run: Run, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    names = ("annotator-majority", "annotator-heads", "label-and-uncertainty")
    others = [saved(small(), tmp_path / name, name) for name in names]
    against = [part for folder in others for part in ("--against", folder)]
    lines = run("evaluate", *folders, *against, "--question", "rude").out.splitlines()
    assert max(map(len, lines)) <= 80
    first = next(at for at, line in enumerate(lines) if "label-" in line)
    headings = [line.split() for line in lines[first : first + 3]]
    assert headings[0] == ["label-"]
    assert headings[1] == ["annotator-", "annotator-", "and-"]
    assert headings[2][-4:] == ["majority", "heads", "uncertainty", "better"]


@pytest.mark.parametrize("width", [60, 40])
def test_no_number_is_broken_or_lost_where_room_is_short(
    run: Run, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    rude = ("--all", "--question", "rude")
    wanted = re.findall(r"-?\d+\.\d{3}|higher|lower", run("evaluate", *folders, *rude).out)
    monkeypatch.setenv("COLUMNS", str(width))
    out = run("evaluate", *folders, *rude).out
    assert re.findall(r"-?\d+\.\d{3}|higher|lower", out) == wanted
    assert len(wanted) > 80
    assert width < 60 or max(map(len, out.splitlines())) <= width


def test_every_metric_on_demand(run: Run, folders: tuple[Path, Path]) -> None:
    fields = json.loads(run("evaluate", *folders, "--all", "--json", "--question", "rude").out)
    corpus = small()
    everything = scores(guess(corpus, "rude"), corpus["rude"], corpus.gold["rude"], METRICS)
    (result,) = fields["results"]
    assert len(everything) > 30
    defined = {name: score for name, score in everything.items() if not np.isnan(score)}
    assert {n: s for n, s in result["scores"].items() if s is not None} == pytest.approx(defined)
    assert set(result["bounds"]) == {
        name for name in everything if name in METRICS and METRICS[name].soft
    }
    out = run("evaluate", *folders, "--all", "--question", "rude").out
    assert max(map(len, out.splitlines())) <= 80
    shown = [line.partition("  ")[0] for line in out.splitlines()[5:] if line[0] != " "]
    assert shown == list(everything)
