"""Real corpora: what their authors, or the cards of their folders, publish about them."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.corpus import Corpus
from dissensus.datasets import dataset
from dissensus.encoders.features import FeaturesEncoder
from dissensus.scales import MultiLabel

pytestmark = pytest.mark.data


def real(data_folder: Path, name: str, corpus: str | None = None) -> Corpus:
    return dataset(name).load(data_folder / name, corpus)


def raw(data_folder: Path, edition: str, name: str) -> dict[str, dict[str, Any]]:
    """The items of all files of a corpus of LeWiDi, under the names that they have here."""
    results: dict[str, dict[str, Any]] = {}
    for part in ("train", "dev"):
        path = data_folder / edition / f"{name}_{part}.json"
        if path.is_file():
            items = json.loads(path.read_text(encoding="utf-8"))
            results |= {f"{part}-{key}": item for key, item in items.items()}
    return results


def focused(corpus: Corpus) -> list[str]:
    """The text that each item is about."""
    assert corpus.focus is not None
    texts = [corpus.contents["text"][code] for code in corpus.content["text"]]
    spans = zip(texts, corpus.focus.start[:, 0], corpus.focus.stop[:, 0], strict=True)
    return [text[int(start) : int(stop)] for text, start, stop in spans]


@pytest.mark.parametrize(
    ("name", "corpus_name", "question", "published"),
    [
        ("faces_3dsk", None, "att", 0.433),
        ("faces_3dsk", None, "dom", 0.342),
        ("faces_3dsk", None, "health", 0.375),
        ("faces_3dsk", None, "sexdim", 0.502),
        ("faces_3dsk", None, "trust", 0.326),
        ("nli_variation", None, "rating", 0.699),
        ("nsc_voices", None, "angenehm", 0.276),
        ("nsc_voices", None, "aktiv", 0.349),
        ("nsc_voices", None, "alt", 0.501),
        ("nsc_voices", "telephone", "aktiv", 0.507),
        ("trompa_mer", None, "valence", 0.493),
        ("trompa_mer", None, "arousal", 0.623),
    ],
)
def test_the_correlation_of_an_answer_with_the_mean_of_the_others(
    name: str, corpus_name: str | None, question: str, published: float, data_folder: Path
) -> None:
    answers = real(data_folder, name, corpus_name)[question]
    number, n = answers.answer.astype(float), answers.per_item()[answers.item]
    total = np.bincount(answers.item, number)[answers.item]
    several = n > 1
    others = (total - number)[several] / (n[several] - 1)
    assert np.corrcoef(number[several], others)[0, 1] == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "corpus_name", "question", "single", "majority", "n_ties"),
    [
        ("bluebirds_ducks", "bluebirds", "bluebird", 0.636, 0.759, 0),
        ("labelme_crowds", None, "scene", 0.740, 0.820, 129),
        ("snow2008", "rte", "rte", 0.729, 0.932, 65),
        ("snow2008", "temp", "temp", 0.734, 0.953, 17),
        ("snow2008", "wsd", "wsd", 0.982, 0.994, 0),
    ],
)
def test_the_share_of_answers_and_of_majorities_that_are_gold(
    name: str,
    corpus_name: str | None,
    question: str,
    single: float,
    majority: float,
    n_ties: int,
    data_folder: Path,
) -> None:
    corpus = real(data_folder, name, corpus_name)
    answers, gold = corpus[question], corpus.gold[question].answer
    assert (answers.answer == gold[answers.item]).mean() == pytest.approx(single, abs=5e-4)
    clear = answers.majority(ties="drop")
    assert (answers.per_item() > 0).sum() - clear.n_rows == n_ties
    assert (clear.answer == gold[clear.item]).mean() == pytest.approx(majority, abs=5e-4)


def test_cifar10h_votes(data_folder: Path) -> None:
    corpus = real(data_folder, "cifar10h")
    gold = corpus.gold["class"].answer
    with np.load(data_folder / "cifar10h" / "labels.npz") as labels:
        np.testing.assert_array_equal(gold, labels["test"])
    counts = corpus["class"].counts()
    np.testing.assert_array_equal(counts, np.load(data_folder / "cifar10h/cifar10h-counts.npy"))
    best = counts == counts.max(axis=1, keepdims=True)
    assert (best.sum(axis=1) > 1).sum() == 3
    assert best[np.arange(10_000), gold].mean() == pytest.approx(0.992, abs=5e-4)
    assert counts[np.arange(10_000), gold].sum() / 511_000 == pytest.approx(0.952, abs=5e-4)
    assert ((counts > 0).sum(axis=1) == 1).sum() == 4393
    image = corpus.contents["image"]
    assert all(image.bytes_of(code)[:2] == b"\xff\xd8" for code in range(len(image)))


def test_the_means_of_emobank_leave_the_same_responses_out(data_folder: Path) -> None:
    corpus = real(data_folder, "emobank")
    with (data_folder / "emobank" / "emobank.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    at = corpus.items.codes([row["id"] for row in published])
    assert len(at) == 10_062
    for side in ("V", "A", "D"):
        stated = np.array([float(row[side]) for row in published])
        answers = [corpus[f"{who} {side}"] for who in ("reader", "writer")]
        total = sum(np.bincount(a.item, a.answer, minlength=corpus.n_items) for a in answers)
        means = np.asarray(total / sum(a.per_item() for a in answers))
        assert np.abs(means[at] - stated).max() <= 0.0071  # says the card
    assert {part: corpus.part(part).n_items for part in corpus.parts()} == {
        "train": 8062,
        "dev": 1000,
        "test": 1000,
    }
    assert corpus.splits["official"].null_count == 486
    texts = [corpus.text_of(int(item)) for item in at]
    assert texts == [row["text"] for row in published]


def test_coders_of_eye_fixations(data_folder: Path) -> None:
    corpus = real(data_folder, "eye_fixations_12coders")
    answers = corpus["fixation"]
    counts = answers.counts()
    assert (counts > 0).all(axis=1).mean() == pytest.approx(0.194, abs=5e-4)
    table = np.full((corpus.n_items, 12), np.nan)
    table[answers.item, answers.annotator_codes("")] = answers.answer
    pairs = []  # Cohen's kappa of two coders, over what both answered
    for a, b in itertools.combinations(table.T, 2):
        both = ~np.isnan(a) & ~np.isnan(b)
        yes = np.array([a[both].mean(), b[both].mean()])
        chance = yes.prod() + (1 - yes).prod()
        pairs.append(((a == b)[both].mean() - chance) / (1 - chance))
    values = (np.mean(pairs), min(pairs), max(pairs))
    assert values == pytest.approx((0.854, 0.736, 0.919), abs=5e-4)  # the card's, four missing
    assert "(4815 cells)" in corpus.notes[0] and corpus.notes[0].startswith("4 pairs")
    gaze = corpus.contents["gaze"]
    assert len(gaze) == 70
    vectors = FeaturesEncoder().encode(gaze).vectors
    assert (vectors[:, 3:] == 0).sum(axis=0).tolist() == [17_150, 18_777]
    assert corpus.focus is not None
    lengths = np.bincount(corpus.content["gaze"])
    np.testing.assert_array_equal(lengths, gaze.values.value_lengths().to_numpy())
    assert corpus.focus.stop.max() == lengths.max() == 4504


@pytest.mark.parametrize(
    ("name", "question", "digits"),
    [
        ("HS-Brexit", "hate", 2),
        ("ArMIS", "misogyny", 2),
        ("ConvAbuse", "abusive", 3),
        ("MD-Agreement", "offensive", 2),
    ],
)
def test_the_official_labels_agree(
    name: str, question: str, digits: int, data_folder: Path
) -> None:
    corpus = real(data_folder, "lewidi2023", name)
    items = raw(data_folder, "lewidi2023", name)
    assert list(corpus.items) == list(items)
    soft = np.array([item["soft_label"]["1"] for item in items.values()])
    share = corpus[question].distribution()[:, 1]
    assert np.abs(share - soft).max() <= 0.5 * 10**-digits + 1e-9
    labels = [str(item["hard_label"]) for item in items.values()]
    assert corpus.gold[question].answers() == labels
    untied = share != 0.5
    assert ((share > 0.5) == (corpus.gold[question].answer == 1))[untied].all()


def test_words_for_zero_of_hs_brexit(data_folder: Path) -> None:
    corpus = real(data_folder, "lewidi2023", "HS-Brexit")
    assert corpus.notes == ("offensive: 2 answers 'No' are taken to mean '0'",)
    assert corpus.annotator_attributes["group"].to_pylist() == (
        ["target group"] * 3 + ["control group"] * 3
    )
    share = corpus["hate"].distribution()[:, 1]
    gold = corpus.gold["hate"].answer
    assert ((share == 0.5).sum(), gold[share == 0.5].sum()) == (71, 36)


def test_conversations_of_convabuse(data_folder: Path) -> None:
    corpus = real(data_folder, "lewidi2023", "ConvAbuse")
    assert Counter(corpus["severity"].answers()) == {
        "-3": 220,
        "-2": 690,
        "-1": 617,
        "0": 519,
        "1": 7512,
    }
    assert list(corpus.contents) == ["prev_agent", "prev_user", "agent", "user"]
    flags = [q for q in corpus.questions if q not in ("severity", "abusive")]
    joint = corpus.joint("abusive", *flags).answers
    odd = (joint["abusive"] == 0) & np.any([joint[flag] for flag in flags], axis=0)
    assert (len(flags), odd.sum()) == (12, 13)
    dev = corpus.in_part("dev")
    ids = [text.split(",") for text in corpus.item_attributes["conversation_ids"].to_pylist()]
    trained = {one for row in np.flatnonzero(~dev) for one in ids[row]}
    assert sum(not trained.isdisjoint(ids[row]) for row in np.flatnonzero(dev)) == 283
    assert sum("E+" in one for parts in ids for one in parts) == 189
    units = corpus.units()
    of = {one: units[row] for row, parts in enumerate(ids) for one in parts}
    assert all(of[one] == units[row] for row, parts in enumerate(ids) for one in parts)
    assert np.bincount(units).max() < 0.02 * corpus.n_items  # no giant group


@pytest.mark.parametrize("name", dataset("lewidi2025").corpora)
def test_the_official_soft_labels_agree(name: str, data_folder: Path) -> None:
    corpus = real(data_folder, "lewidi2025", name)
    items = raw(data_folder, "lewidi2025", name)
    assert list(corpus.items) == list(items)
    ((_, requested),) = corpus.questions.items()
    official = [item["soft_label"] for item in items.values()]
    if isinstance(requested.scale, MultiLabel):
        soft = [[label[value]["1"] for value in requested.scale.values] for label in official]
    else:
        soft = [[shares[key] for key in sorted(shares, key=float)] for shares in official]
    assert np.abs(requested.distribution() - np.array(soft)).max() <= 5.1e-4


def test_the_marginals_of_real_sets_are_the_three_questions_of_the_card(data_folder: Path) -> None:
    corpus = real(data_folder, "lewidi2025", "VariErrNLI")
    labels = corpus["inference"]
    assert labels.scale == MultiLabel(("contradiction", "entailment", "neutral"))
    chosen = [
        item["annotations"].values()
        for item in raw(data_folder, "lewidi2025", "VariErrNLI").values()
    ]
    for column, value in enumerate(("contradiction", "entailment", "neutral")):
        yes = [sum(value in answer.split(",") for answer in answers) for answers in chosen]
        assert labels.marginals()[:, column].tolist() == yes
    assert (labels.marginals().sum(), labels.n_rows) == (1692, 1624)
    assert np.bincount(labels.per_item()).tolist() == [0, 3, 29, 61, 345]
    texts = labels.extra["explanations"]  # one for each value chosen
    assert [len(text) for text in texts.to_pylist()] == [len(a) for a in labels.answers()]
    names = [f"{part}-{key}" for key in (111338, 129081, 32754, 84781) for part in ("train", "dev")]
    units = corpus.units()[corpus.items.codes(names)]
    assert (units[::2] == units[1::2]).all() and len(np.unique(units)) == 4
    assert len(np.unique(corpus.units())) == 434


def test_people_of_lewidi2025(data_folder: Path) -> None:
    irony = real(data_folder, "lewidi2025", "MP")
    missing = {key: values.null_count for key, values in irony.annotator_attributes.items()}
    assert (missing["Employment status"], missing["Student status"], len(missing)) == (109, 81, 8)
    sarcasm = real(data_folder, "lewidi2025", "CSC")
    assert sarcasm.annotator_attributes["Gender"].null_count >= 850 - 818
    assert set(sarcasm.annotator_attributes["Gender"].unique().to_pylist()) == {
        "Female",
        "Male",
        None,
    }
    assert len(np.unique(sarcasm.units())) == 71  # contexts


def test_the_crowd_of_pos_tweets(data_folder: Path) -> None:
    corpus = real(data_folder, "pos_tweets")
    with (data_folder / "pos_tweets" / "tokens.csv").open(encoding="utf-8", newline="") as file:
        assert focused(corpus) == [row["token"] for row in csv.DictReader(file)]
    assert len(corpus.contents["text"]) == 1181  # 1,200 tweets
    tweets = {p: corpus.part(p).item_attributes["tweet"] for p in ("train", "dev", "test")}
    assert [len(names.unique()) for names in tweets.values()] == [910, 90, 200]
    shown = {part: set(corpus.content["text"][corpus.in_part(part)]) for part in tweets}
    assert len(shown["train"] & shown["dev"]) == 1  # the same text, so the same content
    assert len(shown["train"] & shown["test"]) == 1
    automatic = np.asarray(corpus.item_attributes["auto_labelled"])
    assert automatic.sum() == 939 and not corpus["tag"].per_item()[automatic].any()
    assert corpus.part("train")["tag"].n_rows + corpus.part("dev")["tag"].n_rows == 70177


def test_the_crowds_majority_is_gold_as_the_card_says(data_folder: Path) -> None:
    corpus = real(data_folder, "pos_tweets")
    counts = corpus["tag"].counts()
    requested = counts.any(axis=1)
    best = counts == counts.max(axis=1, keepdims=True)
    shared = best[np.arange(corpus.n_items), corpus.gold["tag"].answer] / best.sum(axis=1)
    assert shared[requested].mean() == pytest.approx(0.782, abs=5e-4)
    assert (best[requested].sum(axis=1) > 1).sum() == 745
    right = corpus["tag"].answer == corpus.gold["tag"].answer[corpus["tag"].item]
    assert right.mean() == pytest.approx(0.713, abs=5e-4)


def test_the_experts_of_pos_tweets(data_folder: Path) -> None:
    corpus = real(data_folder, "pos_tweets", "plank2014")
    assert [row.answers for row in corpus.left_out] == [12, 1]
    assert corpus["tag"].n_rows == 2 * 7876 - 13
    alike = (corpus["tag"].counts() == 2).any(axis=1)
    assert alike.mean() == pytest.approx(0.882, abs=5e-4)  # of all tokens, as the card counts


def test_gold_of_rte_is_that_of_the_texts(data_folder: Path) -> None:
    folder = data_folder / "snow2008"
    corpus = real(data_folder, "snow2008", "rte")
    lines = (folder / "text_rte1.tsv").read_text(encoding="utf-8").splitlines()[1:]
    value = {line.split("\t")[0]: str(int(line.split("\t")[1] == "TRUE")) for line in lines}
    assert corpus.gold["rte"].answers() == [value[item] for item in corpus.items]


def test_ratings_of_snow2008_follow_gold(data_folder: Path) -> None:
    published = {
        "anger": 0.711,
        "disgust": 0.765,
        "fear": 0.699,
        "joy": 0.640,
        "sadness": 0.792,
        "surprise": 0.526,
        "valence": 0.850,
        "wordsim": 0.952,
    }
    affect = real(data_folder, "snow2008", "affect")
    words = real(data_folder, "snow2008", "wordsim")
    for question, expected in published.items():
        corpus = words if question == "wordsim" else affect
        means = corpus[question].consensus().answer
        result = np.corrcoef(means, corpus.gold[question].answer)[0, 1]
        assert result == pytest.approx(expected, abs=5e-4)
    assert affect.joint(*affect.questions).item.shape == (1000,)


def test_sentences_of_speechocean762(data_folder: Path) -> None:
    corpus = real(data_folder, "speechocean762")
    speech = corpus.contents["speech"]
    assert corpus.items[0] == "000010011"
    assert all(speech.bytes_of(code)[:4] == b"OggS" for code in range(len(speech)))
    assert len(np.unique(corpus.units())) == 125
    published = {
        "accuracy": [8.13, 7.85, 8.20, 6.98, 7.56],
        "fluency": [8.27, 7.98, 8.52, 6.68, 6.61],
        "prosodic": [8.14, 7.62, 7.98, 6.28, 6.56],
    }
    for question, means in published.items():
        answers = corpus[question]
        total = np.bincount(answers.annotator_codes("a mean"), answers.answer)
        np.testing.assert_allclose(total / answers.per_annotator(), means, atol=5.1e-3)


def test_every_real_word_is_found_in_its_text(data_folder: Path) -> None:
    corpus = real(data_folder, "speechocean762", "words")
    table = corpus.item_attributes["word"].to_pylist()
    letters = [re.sub(r"\W|ˈ", "", word).upper() for word in table]
    assert [re.sub(r"\W", "", word) for word in focused(corpus)] == letters
    accuracy, stress, total = (corpus[f"word {q}"] for q in ("accuracy", "stress", "total"))
    sums = 0.8 * accuracy.answer + 0.2 * np.array([5, 10])[stress.answer]
    assert (np.abs(sums - total.answer) > 0.01).sum() == 1  # all rows but one, says the card


def test_votes_on_stems(data_folder: Path) -> None:
    corpus = real(data_folder, "stemming")
    counts = corpus["is the stem"].counts()
    gold = corpus.gold["is the stem"].answer
    tied = counts[:, 0] == counts[:, 1]
    right = counts.argmax(axis=1) == gold
    assert tied.sum() == 526
    assert right[~tied].mean() == pytest.approx(0.9165, abs=5e-5)
    assert counts[np.arange(len(gold)), gold].sum() / counts.sum() == pytest.approx(0.819, abs=5e-4)
    assert gold.mean() == pytest.approx(0.749, abs=5e-4)
    assert {part: corpus.part(part).n_items for part in corpus.parts()} == {
        "train": 5478,
        "dev": 600,
        "test": 601,
    }
    units = corpus.units()
    assert len(np.unique(units)) == 5000
    assert np.bincount(units, gold).tolist() == [1] * 5000
    size = np.bincount(units)[units]
    np.testing.assert_array_equal(size, corpus.item_attributes["freq"].to_numpy())
    for part in corpus.parts():  # the official split cuts no word
        inside = corpus.in_part(part)
        assert not set(units[inside]) & set(units[~inside])


def test_toxic_spans(data_folder: Path) -> None:
    corpus = real(data_folder, "toxic_spans")
    answers, spans = corpus["toxic"], corpus.rationales
    assert spans is not None
    assert answers.answer.mean() == pytest.approx(0.625, abs=5e-4)
    assert (answers.counts().min(axis=1) == 0).mean() == pytest.approx(0.348, abs=5e-4)
    length = np.array([len(corpus.text_of(item)) for item in range(corpus.n_items)])
    assert (spans.start >= 0).all() and (spans.start < spans.stop).all()
    assert (spans.stop[:, 0] <= length[spans.item]).all()
    own = spans.annotator >= 0
    answered = set(
        zip(answers.item.tolist(), answers.annotator_codes("a test").tolist(), strict=True)
    )
    pairs = zip(spans.item[own].tolist(), spans.annotator[own].tolist(), strict=True)
    assert set(pairs) <= answered
    assert own.sum() == 46_784 - 76
    kinds = spans.kind.value_counts().to_pylist()
    assert {row["values"] for row in kinds} == {
        "Insult",
        "Profane/Obscene",
        "Identity based Attack",
        "Other Toxicity",
        "Threat",
        "",
        "gold",
    }
    parts = corpus.splits["official"]
    assert len(parts) - parts.null_count == 10_777
    shared = [corpus.part(name).content["text"] for name in ("train", "trial", "test")]
    assert [len(np.unique(codes)) for codes in shared] == [7939, 690 - 8, 2000]


def test_the_published_consistency_of_tvsum(data_folder: Path) -> None:
    """Cronbach's alpha of the annotators of a video, mean over the videos: .81."""
    corpus = real(data_folder, "tvsum", "tvsum-shots")
    answers = corpus["importance"]
    alphas = []
    videos = np.array(corpus.item_attributes["video"].to_pylist())
    for video in np.unique(videos):
        inside = videos[answers.item] == video
        table = answers.answer[inside].reshape(-1, 20)  # sorted by shot, then slot
        spread = table.var(axis=0, ddof=1).sum() / table.sum(axis=1).var(ddof=1)
        alphas.append(20 / 19 * (1 - spread))
    assert len(alphas) == 50 and np.mean(alphas) == pytest.approx(0.81, abs=0.005)
    frames = real(data_folder, "tvsum")
    assert len(frames.contents["image"]) == 329 and frames.n_annotators == 400
