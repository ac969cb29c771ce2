"""What runs on tweets are made of: tokens, the truth behind a crowd, hidden words, rows, pieces."""

from __future__ import annotations

import csv
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dissensus import Annotations, Corpus
from dissensus.aggregation import DawidSkene
from dissensus.contents import Contents
from dissensus.corpus import Focus

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "gpu"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    return importlib.import_module


def crowd(n_items: int = 300, n_annotators: int = 12, seed: int = 0) -> Annotations:
    """Five answers an item, of which two in three are right."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(3, size=n_items)
    people = np.stack([generator.permutation(n_annotators)[:5] for _ in range(n_items)])
    right = generator.random(people.shape) < 2 / 3
    answer = np.where(right, truth[:, None], generator.integers(3, size=people.shape))
    item = np.repeat(np.arange(n_items), 5)
    return Annotations.from_arrays(item, people.reshape(-1), answer.reshape(-1).astype(str))


def rows(answers: Annotations) -> np.ndarray:
    return np.stack([answers.item, answers.annotator_codes("a test"), answers.answer])


# ---- the truth behind a crowd ----


def test_without_a_teacher_it_is_dawid_and_skenes_model(script: Any) -> None:
    module, corpus = script("crowd_truth"), crowd()
    fitted = DawidSkene(iterations=2000, tolerance=1e-12).fit(corpus)
    prior = np.tile(fitted.prior_, (corpus.n_items, 1))
    result = module.expected(rows(corpus), prior, fitted.confusion_)
    np.testing.assert_allclose(result, fitted.distribution_, atol=1e-6)
    confusion = module.confusions(rows(corpus), fitted.distribution_, corpus.n_annotators, 0)
    np.testing.assert_allclose(confusion, fitted.confusion_, atol=1e-6)


def test_smoothing_makes_annotators_like_everybody(script: Any) -> None:
    module, corpus = script("crowd_truth"), crowd()
    result = module.confusions(rows(corpus), corpus.distribution(), corpus.n_annotators, 1e9)
    np.testing.assert_allclose(result, np.broadcast_to(result[0], result.shape), atol=1e-6)
    np.testing.assert_allclose(result.sum(axis=2), 1)


def test_a_teacher_decides_where_the_answers_weigh_nothing(script: Any) -> None:
    module, corpus = script("crowd_truth"), crowd()
    prior = np.random.default_rng(1).dirichlet(np.ones(3), corpus.n_items)
    silent = module.truth(rows(corpus), prior, corpus.n_annotators, weight=0.0)
    np.testing.assert_allclose(silent, prior)
    heard = module.truth(rows(corpus), prior, corpus.n_annotators, weight=1.0)
    np.testing.assert_allclose(heard.sum(axis=1), 1)
    assert np.abs(heard - prior).max() > 0.5


# ---- tokens ----


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<user> I won’t pay $20.5!! :) <url>", "@USER I won't pay $ NUMBER . NUMBER !! :) URL"),
        ("@ann see https://a.b/c, #now &amp; 4 u", "@USER see URL #now & 4 u"),
        ("so-so... U.S. <3 covid19?!", "so-so ... U.S. <3 covid19 ?!"),
    ],
)
def test_tokens_are_cut_as_those_of_the_crowd(script: Any, text: str, wanted: str) -> None:
    assert script("tweet_tokens").tokens(text) == wanted.split()


def test_untagged_tweets_stand_beside_the_others_as_a_part(script: Any) -> None:
    answers = Annotations.from_rows([("0", "ann", "NOUN"), ("1", "ann", "VERB")])
    corpus = Corpus.build(
        "two",
        answers.items,
        {"tag": answers},
        contents={"text": (Contents.distinct("text", ["dogs bark"])[0], np.zeros(2, np.int32))},
        item_attributes={"tweet": ["train-0"] * 2, "auto_labelled": [False] * 2},
        gold={"tag": Annotations.from_arrays(np.arange(2), None, np.arange(2), answers.scale)},
        focus=Focus("text", np.array([[0.0], [5.0]]), np.array([[4.0], [9.0]])),
        splits={"official": ["train", "train"]},
    )
    tokens = script("tweet_tokens")
    whole = tokens.beside(corpus, [["dogs", "bark"], ["cats", "do", "not"]])
    assert whole.parts() == ["train", "unlabelled"] and whole.n_items == 5
    more = whole.part("unlabelled")
    assert more["tag"].n_rows == 0 and more.gold["tag"].n_rows == 0
    starts, stops = (np.ravel(ends).astype(int) for ends in (more.focus.start, more.focus.stop))
    text = more.contents["text"][0]
    results = [text[start:stop] for start, stop in zip(starts, stops, strict=True)]
    assert results == ["cats", "do", "not"]


# ---- an encoder that is adapted ----


def test_some_words_are_hidden_and_never_what_stands_for_nothing(script: Any) -> None:
    module, generator = script("pos_adapted"), torch.Generator().manual_seed(0)
    vocabulary = module.Vocabulary(size=1000, mask=4, padding=0, special=(0, 1, 2, 3, 4))
    pieces = torch.randint(5, 1000, (2000, 40), generator=generator)
    pieces[:, 0], pieces[:, 30], pieces[:, 31:] = 2, 3, 0
    shown, chosen = vocabulary.hidden(pieces, generator)
    ordinary = pieces >= 5
    assert not chosen[~ordinary].any()
    assert torch.equal(shown[~chosen], pieces[~chosen])
    assert float(chosen[ordinary].float().mean()) == pytest.approx(0.15, abs=0.01)
    now, before = shown[chosen], pieces[chosen]
    assert float((now == 4).float().mean()) == pytest.approx(0.8, abs=0.02)
    assert float((now == before).float().mean()) == pytest.approx(0.1, abs=0.02)
    assert int(now.min()) == 4  # none is replaced by another special piece
    again, _ = vocabulary.hidden(pieces, generator)
    assert not torch.equal(shown, again)


def test_a_batch_holds_texts_of_like_length(script: Any) -> None:
    module = script("pos_adapted")
    lengths = np.random.default_rng(0).integers(4, 60, 3000)
    result = module.batches(lengths, np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(np.concatenate(result)), np.arange(3000))
    assert max(np.ptp(lengths[rows]) for rows in result) <= 9  # among all: 55
    sizes = [int(lengths[rows].sum()) for rows in result]
    assert max(sizes) < module.BATCH + 60 and len(result) == lengths.sum() // module.BATCH + 1


def test_the_rate_rises_and_falls(script: Any) -> None:
    rate = script("pos_adapted").warmed_up(160)
    results = [rate(step) for step in range(160)]
    assert results[:2] == pytest.approx([0.1, 0.2]) and np.argmax(results) in (9, 10)
    assert max(results) == 1 and 0 < results[-1] < 0.01


@pytest.mark.slow
def test_an_adapted_encoder_is_saved_as_it_was_trained(script: Any, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    module, texts = script("pos_adapted"), ["dogs bark at cats", "cats do not bark"] * 20
    script("kit").pack_minilm(tmp_path / "minilm", texts)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "minilm")
    torch.manual_seed(0)
    network = module.Guesser(AutoModel.from_pretrained(tmp_path / "minilm").float())
    learned = module.Texts.of(texts, tokenizer, torch.device("cpu"))
    before = learned.held_out_loss(network)
    assert module.learn(network, learned, epochs=5, rate=4e-4) == 5
    assert learned.held_out_loss(network) < before / 2
    network.eval()
    with torch.no_grad():
        wanted = network.encoder(learned.pieces[:2]).last_hidden_state
        module.save(network.encoder, tmp_path / "adapted", tmp_path / "minilm")
        loaded = AutoModel.from_pretrained(tmp_path / "adapted").float().eval()
        result = loaded(learned.pieces[:2]).last_hidden_state
    np.testing.assert_allclose(result, wanted, atol=5e-3)
    assert (
        AutoTokenizer.from_pretrained(tmp_path / "adapted")(texts)["input_ids"]
        == (tokenizer(texts)["input_ids"])
    )


def test_no_text_of_the_test_part_is_learned(script: Any, data_folder: Path) -> None:
    from dissensus import datasets

    tested: dict[str, list[str]] = {}
    with (data_folder / "pos_tweets" / "tokens.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["split"] == "test":
                tested.setdefault(row["sent_id"], []).append(row["token"])
    assert len(tested) == 200
    experts: dict[str, list[str]] = {}
    path = data_folder / "pos_tweets" / "plank2014_500tweets_2annotators.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            experts.setdefault(row["sent_id"], []).append(row["token"])
    corpus = datasets.load(data_folder / "pos_tweets")
    result = script("pos_adapted").texts(data_folder, corpus)
    assert len(result) == len(set(result)) > 20_000
    unseen = {" ".join(words).lower() for words in (*tested.values(), *experts.values())}
    assert not unseen & {text.lower() for text in result}
    for part, n_left_out in (("train", 1), ("dev", 0)):
        texts = set(corpus.part(part).contents["text"].values.to_pylist())
        assert len(texts - set(result)) == n_left_out


# ---- rows ----


def chosen_before(*rows: tuple[str, str, dict[str, Any]]) -> str:
    """Kept rows, as the kit holds them."""
    return json.dumps(
        [
            {
                "group": group,
                "method": name,
                "tried": [{"settings": settings, "gold": [0.9], "majority": [0.8]}],
                "chosen": {"gold": settings, "majority": settings},
            }
            for group, name, settings in rows
        ]
    )


@pytest.mark.parametrize("weighed", [False, True], ids=["new", "weighed is kept"])
def test_a_row_names_all_that_it_waits_for(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weighed: bool
) -> None:
    module = script("pos_teachers")
    settings = {"epochs": 8, "encoder_learning_rate": 4e-4}
    kept = [("gold", "single", settings), ("crowd", "single", settings)]
    if weighed:
        kept.append(("crowd", "weighed by a teacher", {"weight": 0.5, "epochs": 15}))
    (tmp_path / "choices.json").write_text(chosen_before(*kept))
    monkeypatch.setattr(module, "CHOICES", tmp_path / "choices.json")
    plan = module.Plan(tmp_path)
    for row in module.ROWS:
        every = {piece.path: piece for piece in module.pieces_of(plan, row)}
        place = {path: number for number, path in enumerate(every)}
        for path, piece in every.items():  # each waits for what stands before it
            assert all(place[need] < place[path] for need in piece.needs), path.name
    crossed = [piece.path.name for piece in module.crossed(plan)[1:]]
    both = ["crowd-cross-2-1.0.npz", "crowd-cross-2-0.5.npz"]
    assert crossed == (both[1:] if weighed else both)
    if weighed:
        row = module.named("crowd", "weighed, adapted")
        assert module.completed(plan, row, module.ADAPTED[1]) == {
            "weight": 0.5,
            "epochs": 15,
            **module.ADAPTED[1],
        }


def test_an_attempt_waits_for_the_encoder_that_it_reads_alone(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script("pos_teachers")
    settings = {"epochs": 8, "encoder_learning_rate": 4e-4}
    (tmp_path / "choices.json").write_text(chosen_before(("gold", "single", settings)))
    monkeypatch.setattr(module, "CHOICES", tmp_path / "choices.json")
    plan, row = module.Plan(tmp_path), module.named("gold", "base, adapted")
    tries = [piece for piece in module.trials_of(plan, row) if piece.function is module.attempt]
    for settings, piece in zip(row.grid, tries, strict=True):
        assert piece.needs == (module.adapted_folder(plan, settings),)
        read = module.read_by(plan, row, settings)
        assert read == f"{module.adapted_folder(plan, settings)}&spelling"
    folders = {module.adapted_folder(plan, settings) for settings in module.ADAPTED}
    assert len(folders) == len(module.ADAPTED)
    assert module.read_by(plan, row, {}) == f"{module.KIT / 'minilm'}&spelling"


def test_two_encoders_are_the_best_on_the_development_part(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script("pos_teachers")
    settings = {"epochs": 8, "encoder_learning_rate": 4e-4}
    kept = json.loads(chosen_before(("gold", "single", settings)))
    (tmp_path / "choices.json").write_text(json.dumps(kept))
    monkeypatch.setattr(module, "CHOICES", tmp_path / "choices.json")
    plan, row = module.Plan(tmp_path), module.named("gold", "taught, two adapted")
    module.tried_file(plan, row, 0).parent.mkdir()
    shares = {"base, adapted": (0.90, 0.94, 0.91, 0.92), "base, adapted for longer": (0.93,) * 4}
    for name, of_grid in shares.items():
        other = module.named("gold", name)
        for number, (of, share) in enumerate(zip(other.grid, of_grid, strict=True)):
            values = {"settings": of, "gold": [share], "majority": [0.5]}
            module.tried_file(plan, other, number).write_text(json.dumps(values))
    wanted = (module.ADAPTED[1], module.LONGER[0])
    read = "&".join(str(module.adapted_folder(plan, of)) for of in wanted)
    assert module.read_by(plan, row, {}) == f"{read}&spelling"
    needs = {need for piece in module.tests_of(plan, row) for need in piece.needs}
    every = (*module.ADAPTED, *module.LONGER)
    folders = [module.adapted_folder(plan, of) for of in every]
    assert len(set(folders)) == len(every) and set(folders) <= needs


# ---- pieces ----


def _write(text: str, path: Path) -> None:
    path.write_text(text)


def _fail(path: Path) -> None:
    raise ValueError("no luck")


@pytest.mark.slow
def test_pieces_wait_for_one_another_and_are_not_done_twice(
    script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("pieces")
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    examples = [
        module.Piece(second, _write, ("b",), (first,)),
        module.Piece(first, _write, ("a",)),
        module.Piece(third, _fail, ()),
    ]
    assert module.carry_out(examples, 1, 600) == 1
    assert (first.read_text(), second.read_text(), third.exists()) == ("a", "b", False)
    assert "third failed: no luck" in capsys.readouterr().out
    first.write_text("kept")
    assert module.carry_out(examples[:2], 1, 0) == 0
    assert first.read_text() == "kept"


# ---- the table ----


def kept_rows() -> dict[str, Any]:
    """Two methods with MiniLM and one with the paper's network, three seeds on six tokens."""
    of_method = {"single": ["AAABBB", "AAABBA", "AAABAB"], "soft-label-mtl, ce": ["AAABBB"] * 3}
    settings = {"epochs": 8}
    rows = [
        {
            "group": "gold",
            "method": name,
            "tried": [{"settings": settings, "gold": [0.5, 0.7], "majority": [0.4, 0.4]}],
            "chosen": {"gold": settings},
            "tested": {json.dumps(settings): {"seeds": seeds, "together": seeds[0]}},
        }
        for name, seeds in of_method.items()
    ]
    of_paper = {"group": "gold", "method": "single", "network": "tagger"}
    return {
        "gold": "AAABBB",
        "tweet": [0, 0, 1, 1, 2, 2],
        "tagged_otherwise": {"dev": [3], "test": [4, 5]},
        "dev_tokens": 8,
        "rows": [*rows, of_paper | {"seeds": of_method["single"]}],
    }


def test_columns_stand_under_their_heading(script: Any) -> None:
    module = script("pos_table")
    first, second, closing = module.shown(kept_rows()).split("\n\n")
    title, heading, single, other = first.split("\n")
    assert title == "MiniLM and spelling, learned from gold" and heading == module.HEADING
    for words, figure in (("together", "100.00"), ("by gold", "88.89"), ("dev", "60.00")):
        stop = heading.index(words) + len(words)
        assert single[:stop].endswith(figure)
    assert single[heading.index("accuracy") :].startswith("88.89 +- 9.62 (3)")
    assert other[heading.index("less single") :].startswith("+11.111 [")
    assert single[heading.index("settings") :] == '{"epochs": 8}'
    assert second.startswith("the paper's network, learned from gold\n")
    assert closing.startswith(
        "All 6 networks of MiniLM that learn from gold, each with a vote: 100.00."
    )


def test_limits_of_all_networks_together(script: Any) -> None:
    module, stored = script("pos_table"), kept_rows()
    every = next(iter(stored["rows"][0]["tested"].values()))
    every["seeds"] = ["BAABCA", "BAABCA", "BAABCB"]
    stored["rows"][1]["tested"] = {'{"epochs": 8}': {"seeds": ["BAABCB"], "together": "BAABCB"}}
    result = module.limits(stored, "gold")
    assert result.n_networks == 4
    assert result.vote == pytest.approx(100 * 3 / 6)  # the last token is a tie, for the first value
    assert result.never == pytest.approx(100 * 2 / 6)
    assert (result.otherwise, result.otherwise_dev) == pytest.approx((100 / 3, 100 / 8))
    assert result.right_otherwise == 0


def test_words_that_are_tagged_otherwise_than_in_training(script: Any) -> None:
    text = "it is it It no it no new IT"  # "it" three times in the training part, "no" once
    tags = "PRON VERB PRON PRON PRT VERB VERB VERB PRON".split()
    stop = np.flatnonzero([letter == " " for letter in f"{text} "]).astype(float)
    start = np.r_[0, stop[:-1] + 1]
    answers = Annotations.from_rows([(f"{n}", "ann", tag) for n, tag in enumerate(tags)])
    corpus = Corpus.build(
        "words",
        answers.items,
        {"tag": answers},
        contents={"text": (Contents.distinct("text", [text])[0], np.zeros(9, np.int32))},
        gold={"tag": Annotations.from_arrays(answers.item, None, answers.answer, answers.scale)},
        focus=Focus("text", start[:, None], stop[:, None]),
        splits={"official": ["train"] * 5 + ["test"] * 4},
    )
    module = script("pos_tweets")
    assert module.tagged_otherwise(corpus, "test").tolist() == [True, False, False, False]
    assert not module.tagged_otherwise(corpus, "train").any()


def test_rows_that_are_not_trained_yet(script: Any) -> None:
    module, stored = script("pos_table"), kept_rows()
    ours, of_paper = module.missing(stored, "gold"), module.missing(stored, "gold", "tagger")
    every = list(module.GROUPS["gold"])
    assert of_paper == every[1:]
    left = [name for name in every if name not in ("single", "soft-label-mtl, ce")]
    assert ours[: len(left)] == left and "base, adapted" in ours
