"""Answers counted in blocks of items, from disk or on a cluster, against all answers at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dissensus as ds
from dissensus import Annotations, Corpus, Interval, MultiLabel, Names, Nominal, Ordinal
from dissensus.aggregation import (
    Aggregator,
    DawidSkene,
    Glad,
    Mace,
    Majority,
    OneCoin,
    SoftVote,
    aggregate,
)
from dissensus.aggregation.em import ClusterAnswers
from dissensus.agreement import MEASURES, summarise
from dissensus.annotations import AnnotationBlocks, PackedAnnotations, SplitAnnotations
from dissensus.cluster import connect
from dissensus.corpus import LeftOut, open_corpus, save_blocks
from dissensus.corpus import corpus as corpus_module
from dissensus.description import describe, describe_stored
from dissensus.errors import DataError, ModelError
from dissensus.files.plain import unpacking_up_to
from tests.saved_folders import without_checksums

VALUES = ("a", "b", "c", "d")
SCALES = [Nominal(VALUES), Ordinal(VALUES)]
MODELS: list[Callable[[], Any]] = [
    DawidSkene,
    OneCoin,
    lambda: Mace(restarts=2, iterations=15),
]
VOTES: list[Callable[[], Aggregator]] = [
    Majority,
    lambda: Majority(ties="random", seed=3),
    lambda: Majority(ties="drop"),
    SoftVote,
]


def crowd(scale: Any = SCALES[0], n_items: int = 300, seed: int = 0) -> Annotations:
    """Answers in a random order; some items have none, some one, and many votes tie."""
    draw = np.random.default_rng(seed)
    n_annotators = 12
    truth, skill = draw.integers(4, size=n_items), draw.uniform(0.3, 0.9, n_annotators)
    given = draw.random((n_items, n_annotators)) < draw.choice([0, 0.1, 0.4], (n_items, 1))
    item, annotator = np.nonzero(given)
    right = draw.random(len(item)) < skill[annotator]
    answer = np.where(right, truth[item], draw.integers(4, size=len(item)))
    order = draw.permutation(len(item))
    return Annotations.from_arrays(
        item[order],
        annotator[order],
        answer[order].astype(float) if isinstance(scale, Interval) else answer[order],
        scale,
        items=Names([f"t{n}" for n in range(n_items)]),
        annotators=Names([f"p{n}" for n in range(n_annotators)]),
    )


def corpus_with(answers: Annotations) -> Corpus:
    return Corpus.build("crowd", answers.items, {"q": answers}, annotators=answers.annotators)


def stored(answers: Annotations, folder: Path, n_blocks: int) -> Any:
    """A folder that was written in so many blocks, opened."""
    save_blocks(folder, "crowd", {"q": SplitAnnotations.of(answers, n_blocks)})
    return open_corpus(folder)


def assert_same(one: Aggregator, other: Aggregator) -> None:
    np.testing.assert_allclose(one.distribution_, other.distribution_, atol=1e-9, rtol=0)
    assert one.consensus_.equals(other.consensus_)
    np.testing.assert_allclose(one.calibrated_, other.calibrated_, atol=1e-9, rtol=0)
    assert one.prediction_.to_table().schema == other.prediction_.to_table().schema


# ---- blocks ----


@pytest.mark.parametrize("n_blocks", [1, 2, 7, 1000])
def test_blocks_have_all_rows_of_their_items(n_blocks: int) -> None:
    answers = crowd()
    blocks = SplitAnnotations.of(answers, n_blocks)
    rows = [
        row
        for items, block in blocks
        for row in zip(
            block.item + items.start, block.annotator_codes("test"), block.answer, strict=True
        )
    ]
    expected = zip(answers.item, answers.annotator_codes("test"), answers.answer, strict=True)
    assert sorted(map(tuple, rows)) == sorted(map(tuple, expected))
    assert blocks.bounds[0] == 0 and blocks.bounds[-1] == answers.n_items
    np.testing.assert_array_equal(blocks.per_item(), answers.per_item())
    np.testing.assert_array_equal(blocks.per_annotator(), answers.per_annotator())


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
@pytest.mark.parametrize("make", [*VOTES, *MODELS])
def test_aggregators_find_the_same_in_blocks_and_from_disk(
    make: Callable[[], Any], scale: Any, tmp_path: Path
) -> None:
    answers = crowd(scale)
    whole = make().fit(answers)
    assert_same(make().fit(SplitAnnotations.of(answers, 5)), whole)
    assert_same(make().fit(stored(answers, tmp_path / "crowd", 5)["q"]), whole)


def test_gold_and_a_history_teach_in_blocks_too() -> None:
    answers = crowd()
    code = np.arange(0, 300, 7)
    gold = Annotations.from_arrays(code, None, code % 4, answers.scale, items=answers.items)
    earlier = DawidSkene().fit(crowd(seed=1))
    whole = DawidSkene().fit(answers, gold=gold, history=earlier)
    blocks = SplitAnnotations.of(answers, 4)
    assert_same(DawidSkene().fit(blocks, gold=gold, history=earlier), whole)


def test_what_needs_all_answers_in_memory_is_refused() -> None:
    blocks = SplitAnnotations.of(crowd(), 2)
    with pytest.raises(DataError) as caught:
        Glad().fit(blocks)
    assert str(caught.value) == (
        "glad needs all answers in memory; majority, soft-vote, dawid-skene, one-coin and mace "
        "count single values in blocks"
    )
    anonymous = Annotations.from_arrays(np.arange(3), None, np.zeros(3, int), Nominal(VALUES))
    with pytest.raises(DataError, match="^mace needs known annotators; these answers are anonym"):
        Mace().fit(SplitAnnotations.of(anonymous, 2))


# ---- agreement ----


@pytest.mark.parametrize("weights", [None, "linear"])
@pytest.mark.parametrize(
    "scale", [*SCALES, Interval(0, 3), MultiLabel(VALUES)], ids=lambda scale: scale.kind
)
def test_agreement_is_the_same_from_disk(scale: Any, weights: Any, tmp_path: Path) -> None:
    if weights and scale.kind != "ordinal":
        return
    answers = crowd(scale)
    names = [
        name
        for name, one in MEASURES.items()
        if one.in_blocks and scale.kind in one.scales and (one.takes_weights or not weights)
    ]
    assert "krippendorff-alpha" in names
    options: dict[str, Any] = {"measures": names, "weights": weights, "intervals": True}
    whole = summarise(corpus_with(answers), **options)
    from_disk = summarise(stored(answers, tmp_path / "crowd", 6), **options)
    assert [vars(one) | {"measures": 0} for one in from_disk] == [
        vars(one) | {"measures": 0} for one in whole
    ]
    for one, other in zip(from_disk[0].measures, whole[0].measures, strict=True):
        assert one.measure == other.measure
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.interval == pytest.approx(other.interval, abs=1e-9)


def test_sets_of_many_values_have_no_alpha_in_blocks(tmp_path: Path) -> None:
    answers = crowd(MultiLabel(tuple(map(str, range(13)))))
    opened = stored(answers, tmp_path / "crowd", 3)
    assert [one.measure for one in summarise(opened)[0].measures] == ["percent"]
    with pytest.raises(DataError, match="^krippendorff-alpha: sets of more than 12 values must"):
        summarise(opened, measures=["krippendorff-alpha"])


def test_undefined_agreement_has_a_reason_in_blocks(tmp_path: Path) -> None:
    rows = [(f"t{n}", "ann", "yes") for n in range(5)]
    results = summarise(stored(Annotations.from_rows(rows), tmp_path / "crowd", 3))[0].measures
    assert {one.undefined for one in results} == {"no item has two answers"}


def test_a_measure_that_is_no_sum_is_refused_in_blocks(tmp_path: Path) -> None:
    opened = stored(crowd(), tmp_path / "crowd", 3)
    with pytest.raises(DataError) as caught:
        summarise(opened, measures=["conger-kappa"])
    assert str(caught.value) == (
        "conger-kappa: nominal answers must all be in one process for it; in blocks of items there "
        "are 'percent', 'krippendorff-alpha', 'fleiss-kappa', 'randolph-kappa', 'gwet-ac1', "
        "'cohen-kappa', 'scott-pi'"
    )
    many = replace(opened["q"], annotators=Names.range(3000))
    with pytest.raises(DataError, match="^cohen-kappa: the pairs of 3,000 annotators are too many"):
        summarise(replace(opened, questions={"q": many}), measures=["cohen-kappa"])


# ---- a folder ----


def test_a_folder_by_item_is_a_corpus_folder(tmp_path: Path) -> None:
    corpus = ds.simulate.text(n_items=60, n_annotators=5, labels_per_item=3)
    corpus.save(tmp_path / "crowd", by_item=True)
    loaded = Corpus.load(tmp_path / "crowd")
    order = np.argsort(corpus["emotion"].item, kind="stable")
    assert loaded["emotion"].equals(corpus["emotion"].take(order))
    assert loaded.contents["text"].values.equals(corpus.contents["text"].values)
    assert isinstance(ds.open_corpus(tmp_path / "crowd")["emotion"], AnnotationBlocks)


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    stored(crowd(), tmp_path / "crowd", 3)
    path = tmp_path / "crowd" / "question-0.parquet"
    content = path.read_bytes()
    for damaged in (content[:4] + bytes(64) + content[68:], content[:-20] + bytes(20), b""):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"question-0.parquet: damaged \(.*\); make the folder"):
            aggregate(open_corpus(tmp_path / "crowd"), "one-coin")


def test_a_row_group_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    stored(crowd(), tmp_path / "crowd", 1)
    with unpacking_up_to("4KB"), pytest.raises(DataError, match=r"question-0.parquet: unpacks to"):
        open_corpus(tmp_path / "crowd")


def test_a_folder_in_another_order_is_refused(tmp_path: Path) -> None:
    answers = crowd()
    folder = tmp_path / "crowd"
    blocks = SplitAnnotations.of(answers, 2)
    save_blocks(folder, "crowd", {"q": blocks})
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "question-0.parquet"
    groups = [pq.ParquetFile(path).read_row_group(n) for n in (1, 0)]
    table = pa.concat_tables(groups)
    pq.write_table(table, path, row_group_size=groups[0].num_rows)
    without_checksums(folder / "corpus.json")
    with pytest.raises(DataError) as caught:
        open_corpus(folder)
    assert str(caught.value) == (
        f"{path}: answers are not in the order of items; write the folder again with `dissensus "
        "convert FOLDER NEW --by-item`"
    )


# ---- a cluster ----


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler and two workers in this process."""
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "dashboard_address": None, "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=2, **options) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace"])
def test_a_cluster_finds_the_posteriors_of_one_process(address: str, method: str) -> None:
    corpus = corpus_with(crowd())
    here = aggregate(corpus, method)["q"]
    assert_same(aggregate(corpus, method, cluster=address)["q"], here)


@pytest.mark.slow
def test_a_cluster_counts_blocks_with_gold_labels(address: str) -> None:
    answers = crowd()
    code = np.arange(0, 300, 7)
    gold = Annotations.from_arrays(code, None, code % 4, answers.scale, items=answers.items)
    with closing(connect(address)) as client:
        there = OneCoin().fit(SplitAnnotations.of(answers, 5), gold=gold, cluster=client)
    assert_same(there, OneCoin().fit(answers, gold=gold))


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
def test_a_cluster_finds_the_agreement_of_one_process(address: str, scale: Any) -> None:
    corpus = corpus_with(crowd(scale))
    there = summarise(corpus, cluster=address, intervals=True)[0]
    names = [one.measure for one in there.measures]
    here = summarise(corpus, measures=names, intervals=True)[0]
    assert "krippendorff-alpha" in names
    for one, other in zip(there.measures, here.measures, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.interval == pytest.approx(other.interval, abs=1e-9)


def test_what_does_not_run_on_a_cluster_is_refused() -> None:
    corpus = corpus_with(crowd())
    for method in ("glad", "majority"):
        with pytest.raises(DataError) as caught:
            aggregate(corpus, method, cluster="tcp://127.0.0.1:1")
        assert str(caught.value) == (
            f"{method} does not run on a cluster; dawid-skene, one-coin and mace do"
        )
    with pytest.raises(DataError, match="^formulas need all answers in one process; leave them ou"):
        summarise(corpus, formulas=True, cluster="tcp://127.0.0.1:1")


# ---- a description ----


@pytest.mark.parametrize("scale", [*SCALES, Interval(0, 3)], ids=["nominal", "ordinal", "interval"])
def test_a_description_from_disk_counts_the_same(
    scale: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_module, "ROWS_AT_ONCE", 100)
    answers = crowd(scale)
    code = np.arange(0, 300, 7)
    labels = (code % 4).astype(scale.dtype)
    gold = Annotations.from_arrays(code, None, labels, scale, items=answers.items)
    left_out = (LeftOut("q", "no answer", 3),)
    bare = corpus_with(answers)
    corpus = Corpus.build(
        "crowd", bare.items, bare.questions, annotators=bare.annotators, gold={"q": gold},
        left_out=left_out,
    )  # fmt: skip
    corpus.save(tmp_path / "crowd", by_item=True)
    whole = describe(corpus, most=7).questions[0]
    from_disk = describe_stored(open_corpus(tmp_path / "crowd"), most=7).questions[0]
    assert from_disk.gold == len(code)
    counts = ("loaded", "left_out", "items", "items_without_answers", "annotators", "gold")
    for name in (*counts, "per_item", "per_annotator", "shares", "disputed_by", "disputed"):
        assert getattr(from_disk, name) == getattr(whole, name), name
    assert from_disk.ratings == pytest.approx(whole.ratings)
    assert from_disk.agreement == pytest.approx(whole.agreement)


@pytest.mark.slow
def test_a_lost_worker_ends_it_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    count, passes = ClusterAnswers.expected, []
    options = {"processes": True, "dashboard_address": ":0", "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=2, silence_logs=50, **options) as cluster:
        with closing(connect(cluster.scheduler_address)) as client:
            process = next(iter(client.run(os.getpid).values()))

            def losing(answers: ClusterAnswers, *given: Any) -> Any:
                passes.append(given[0])
                if len(passes) == 3:
                    os.kill(process, signal.SIGKILL)
                return count(answers, *given)

            monkeypatch.setattr(ClusterAnswers, "expected", losing)
            with pytest.raises(ModelError, match=r"^the cluster lost a worker \(.*\); run the sam"):
                DawidSkene().fit(crowd(), cluster=client)
    assert len(passes) == 3


def test_packed_annotations_are_the_same() -> None:
    for scale in (*SCALES, Interval(0, 3), MultiLabel(VALUES)):
        answers = crowd(scale)
        unpacked = PackedAnnotations.of(answers).unpacked()
        expected = answers.take(np.argsort(answers.item, kind="stable"))
        for name in ("item", "annotator", "answer"):
            np.testing.assert_array_equal(getattr(unpacked, name), getattr(expected, name))
        assert unpacked.scale == scale and unpacked.n_items == answers.n_items
