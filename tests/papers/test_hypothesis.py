"""Members that look and answer apart where people do are found out, and those that do not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.papers.seedbert.studies.hypothesis.analysis import report
from dissensus.papers.seedbert.studies.hypothesis.ensembles import (
    CONDITIONS,
    SEEN,
    Looks,
    looks,
    named,
    text_parts,
)
from dissensus.papers.seedbert.studies.hypothesis.figures import (
    Figures,
    preference,
    rank_correlation,
)
from dissensus.papers.seedbert.studies.hypothesis.tables import shown, verdicts
from tests.tiny import tiny_bert

N_ITEMS, LONGEST, N_RUNS, N_MEMBERS, N_PEOPLE = 120, 12, 3, 4, 3
ABOUT = {"date": "2026-01-01", "machine": "here", "commit": "abc", "command": "run"}


def drawn(follows: bool, seed: int = 0) -> Looks:
    """People who look and answer apart in some items; members that do so in the same, or in
    others."""
    generator = np.random.default_rng(seed)
    apart = generator.random(N_ITEMS)  # how far people are
    of_members = apart if follows else generator.random(N_ITEMS)
    place = generator.integers(0, LONGEST - 2, N_ITEMS)
    marked = np.zeros((N_ITEMS, N_PEOPLE, LONGEST), bool)
    for person in range(N_PEOPLE):
        moved = generator.random(N_ITEMS) < apart
        at = np.where(moved, generator.integers(0, LONGEST - 2, N_ITEMS), place)
        marked[np.arange(N_ITEMS)[:, None], person, at[:, None] + np.arange(2)] = True
    shape = N_RUNS, N_MEMBERS, N_ITEMS
    common = marked[:, 0] + 0.1 * generator.random((N_ITEMS, LONGEST))
    noise = generator.random((*shape, LONGEST))
    weight = (1 - of_members[:, None]) * common + of_members[:, None] * noise
    yes = 0.5 + of_members * (generator.random(shape) - 0.5)
    votes = generator.binomial(7, 0.5 * apart)
    return Looks(
        rank=(weight.argsort(axis=-1).argsort(axis=-1) + 1).astype(np.uint8),
        size=np.zeros((0, N_MEMBERS, N_ITEMS, LONGEST), np.uint8),
        probability=np.stack([1 - yes, yes], axis=-1),
        marked=marked,
        answer=generator.integers(0, 2, (N_ITEMS, N_PEOPLE)),
        votes=np.stack([7 - votes, votes], axis=1),
        clause=np.full((N_ITEMS, LONGEST), -1),
        aspect=np.full((N_ITEMS, 1), -1),
        person=np.tile(np.arange(N_PEOPLE), (N_ITEMS, 1)),
        truth=np.full((2, N_ITEMS), np.nan),
        seconds=np.array(1.0),
    )


def judged(folder: Path, found: Looks) -> dict[str, Any]:
    found.save(folder / "toxic_spans.seeds.npz")
    return dict(json.loads(json.dumps(report(folder, ABOUT))))


def test_members_that_follow_people_are_found_to(tmp_path: Path) -> None:
    found = judged(tmp_path, drawn(follows=True))
    held = found["corpora"]["toxic_spans"]
    assert verdicts(held)[-1] == (
        "- The hypothesis holds here for networks that differ in their last layer alone."
    )
    seeds = held["conditions"]["seeds"]
    assert seeds["between"]["over"]["low"] > 0 and seeds["shuffled"]["low"] > 0
    assert seeds["auroc"]["one"]["low"] > 0
    assert "look apart where annotators do: yes (+0." in shown(found)


def test_members_that_do_not_are_found_not_to(tmp_path: Path) -> None:
    held = judged(tmp_path, drawn(follows=False))["corpora"]["toxic_spans"]
    assert verdicts(held)[-1].startswith("- The hypothesis is not shown here")


def test_two_people_by_brute_force() -> None:
    found = drawn(follows=True)
    f1, chance = Figures(found).people()
    sets = [set(np.flatnonzero(row)) for row in found.marked[7]]
    pairs = [(sets[0], sets[1]), (sets[0], sets[2]), (sets[1], sets[2])]
    assert f1[7] == pytest.approx(np.mean([len(a & b) / 2 for a, b in pairs]))
    assert chance[7] == pytest.approx(2 / LONGEST)


def test_a_member_that_looks_where_a_person_does() -> None:
    found = drawn(follows=True)
    rank = found.marked[:, 0].argsort(axis=-1).argsort(axis=-1) + 1
    alone = np.zeros_like(found.marked)
    alone[:, 0] = found.marked[:, 0]
    figures = Figures(replace(found, marked=alone, rank=np.broadcast_to(rank, found.rank.shape)))
    f1, chance = figures.between()
    np.testing.assert_allclose(f1, 1)
    np.testing.assert_allclose(chance, 2 / LONGEST)
    np.testing.assert_allclose(figures.each(), 1)
    np.testing.assert_allclose(figures.together(), 1)
    assert np.isnan(figures.people()[0]).all()


def test_marks_of_another_item_keep_their_share_of_it() -> None:
    figures = Figures(drawn(follows=True))
    np.testing.assert_array_equal(
        figures.elsewhere(),
        figures.looks.marked[figures.partner],  # all are as long
    )
    assert (figures.partner != np.arange(N_ITEMS)).all()


def test_ranks_correlate_as_spearman_and_are_freed_of_length() -> None:
    from scipy.stats import spearmanr

    generator = np.random.default_rng(0)
    length = generator.integers(5, 50, 300)
    people, other = (length + generator.normal(size=300) for _ in range(2))
    mine, theirs = rank_correlation(people, other[None], None)
    assert np.corrcoef(mine, theirs[0])[0, 1] == pytest.approx(spearmanr(people, other)[0])
    mine, theirs = rank_correlation(people, other[None], length)
    assert abs(np.corrcoef(mine, theirs[0])[0, 1]) < 0.15


def test_people_who_prefer_aspects_are_told_from_chance() -> None:
    generator = np.random.default_rng(0)
    aspect = np.tile([0, 1], (200, 1))
    loyal = np.repeat([[0], [1]], 200, axis=1)
    spread, chance = preference(loyal, aspect)
    assert spread == 0.5 and chance < 0.1
    spread, chance = preference(generator.integers(0, 2, (2, 200)), aspect)
    assert spread == pytest.approx(chance, abs=0.1)


def test_simulated_crowd_with_a_small_network(tmp_path: Path) -> None:
    """Everything in small: trained, kept, judged, shown."""
    encoder = tiny_bert(tmp_path / "bert")
    parts = text_parts(24, 16)
    for name in ("seeds", "frozen-seeds"):
        made = looks(
            CONDITIONS[name],
            parts,
            encoder=encoder,
            seeds=(0, 1),
            n_members=2,
            training={"epochs": 1, "device": "cpu"},
        )
        assert made.rank.shape[:3] == (2, 2, 16) and made.marked.shape[:2] == (16, 5)
        assert len(made.size) == (2 if name == "seeds" else 0)
        made.save(tmp_path / f"text.{name}.npz")
    found = dict(json.loads(json.dumps(report(tmp_path, ABOUT))))
    held = found["corpora"]["text"]
    assert list(held["conditions"]) == sorted(("seeds", "size-seeds", "frozen-seeds"))
    assert held["people"]["by_answer"]["effect"] > 0  # of this crowd it is true
    assert "true looks" in held["conditions"]["seeds"]["apart"]
    assert shown(found).startswith("Do members of a seed ensemble look at different parts")


def test_conditions_by_name() -> None:
    assert [found.name for found in named("deep, seeds", ())] == ["deep", "seeds"]
    assert SEEN["size-deep"].seen_by == "size of gradient x input"
    with pytest.raises(DataError) as caught:
        named("sedes", ())
    assert str(caught.value).startswith("no condition 'sedes'; there is 'seeds', 'order', 'deep'")


def test_a_folder_without_anything(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        report(tmp_path, ABOUT)
    assert str(caught.value) == (
        f"{tmp_path}: nothing is trained yet; there is no CORPUS.CONDITION.npz"
    )
