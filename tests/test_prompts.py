"""Prompts with an annotator's own examples, replies of services, and a local model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Interval, MultiLabel, Nominal, Ordinal
from dissensus.corpus import Corpus
from dissensus.evaluation import read_predictions
from dissensus.prompts import answered_locally, answers_of, prompts, read_reply
from dissensus.scales import Scale

SCALE = Ordinal(("low", "mid", "high"))


def corpus(scale: Scale = SCALE, n: int = 30) -> Corpus:
    draw = np.random.default_rng(0)
    values: Any = ["low", "low", "low", "mid", "high"]  # unequal
    values = values if isinstance(scale, Ordinal) else draw.uniform(0, 10, 5).tolist()
    rows = [
        (f"t{item}", who, values[draw.integers(5)]) for item in range(n) for who in ("ann", "ben")
    ]
    texts = [f"text {item // 2}" for item in range(n)]  # each twice
    facts = {"gender": ["f", None], "age": ["30", "40"]}
    answers = Annotations.from_rows(rows, scale)
    names = [f"t{item}" for item in range(n)]
    return Corpus.build("mine", names, {"q": answers}, contents={"text": texts},
                        annotator_attributes=facts)  # fmt: skip


def test_examples_are_own_answers_of_each_value_and_never_asked_about() -> None:
    whole = corpus()
    known, asked = whole, whole.select(items=np.arange(7))  # t6 has the text of t7
    made = list(prompts(known, asked, "q", shots=9, attributes=["gender", "age"]))
    assert [(row["item"], row["annotator"]) for row in made] == [
        (f"t{item}", who) for who in ("ann", "ben") for item in range(7)
    ]
    given = {row: answer for row, answer in zip(zip(*_names(whole), strict=True),
                                                whole["q"].answers(), strict=True)}  # fmt: skip
    for row in made:
        *examples, last = row["messages"][1]["content"].split("\n\n")
        assert last == f"text {int(row['item'][1:]) // 2}\nAnswer:"
        counts: dict[str, int] = {}
        for example in examples:
            text, answer = example.split("\nAnswer: ")
            number = int(text.removeprefix("text "))
            assert number > 3
            both = {given[f"t{2 * number + k}", row["annotator"]] for k in (0, 1)}
            assert answer in both
            counts[answer] = counts.get(answer, 0) + 1
        assert len(examples) == 9 and min(counts.values()) >= 2 and len(counts) == 3
    systems = [row["messages"][0]["content"] for row in made]
    assert "gender: f; age: 30" in systems[0] and "gender" not in systems[-1]
    assert made == list(prompts(known, asked, "q", shots=9, attributes=["gender", "age"]))


def _names(whole: Corpus) -> tuple[list[str], list[str]]:
    rows = whole["q"]
    assert rows.annotator is not None
    return [rows.items[i] for i in rows.item], [rows.annotators[a] for a in rows.annotator]


def test_new_items_are_asked_of_every_annotator_and_ratings_come_from_all_quarters() -> None:
    whole = corpus(Interval(0, 10))
    new = Corpus.build("new", ["n1"], {}, contents={"text": ["something new"]})
    made = list(prompts(whole, new, "q", ["ben"], shots=4))
    (row,) = made
    assert "a number from 0 to 10" in row["messages"][0]["content"]
    ratings = [float(part.split()[-1]) for part in row["messages"][1]["content"].split("\n\n")[:-1]]
    own = np.sort([x for x, who in zip(whole["q"].answer, _names(whole)[1], strict=True)
                   if who == "ben"])  # fmt: skip
    assert max(ratings) >= np.quantile(own, 0.7) and min(ratings) <= np.quantile(own, 0.3)


REPLIES = [
    ("low", SCALE, "low"), (" **Mid**.", SCALE, "mid"), ("I would say high", SCALE, "high"),
    ("low or high", SCALE, None), ("lower", SCALE, None), ("", SCALE, None),
    ("-3", Ordinal(("-3", "3")), "-3"), ("about 3", Ordinal(("-3", "3")), "3"),
    ("7.5 of 10", Interval(0, 10), 7.5), ("42", Interval(0, 10), None),
    ("?", Interval(0, 10), None),
    ("Joy, fear", MultiLabel(("joy", "fear")), "joy, fear"), ("none", MultiLabel(("joy",)), ""),
    ("hate", MultiLabel(("joy",)), None), ("not ok", Nominal(("ok", "not ok")), "not ok"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "scale", "answer"), REPLIES)
def test_a_reply_is_read_if_it_has_one_answer(text: str, scale: Scale, answer: Any) -> None:
    assert read_reply(text, scale) == answer


def test_replies_of_services_become_predictions(tmp_path: Path) -> None:
    whole = corpus()
    made = list(prompts(whole, whole.select(items=np.arange(2)), "q"))
    shapes: list[Any] = [
        lambda p: {"id": p["id"], "reply": "low"},
        lambda p: {"custom_id": p["id"], "response": {"body": {"choices": [
            {"message": {"role": "assistant", "content": "High."}}]}}},
        lambda p: {"custom_id": p["id"], "response": {"output": [
            {"type": "message", "content": [{"type": "output_text", "text": "high"}]}]}},
        lambda p: {"id": p["id"], "content": "no idea"},
    ]  # fmt: skip
    replies = [shape(prompt) for shape, prompt in zip(shapes, made, strict=True)]
    rows, unread = answers_of(replies, whole)
    assert [row["answer"] for row in rows] == ["low", "high", "high"] and unread == ["no idea"]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = read_predictions(path, whole)[0]["q"]
    assert found.by_annotator is not None and len(found.by_annotator) == 3
    assert dict(zip(found.items, found.distribution.tolist(), strict=True)) == {
        "t0": [0.5, 0, 0.5],  # ann low, ben high
        "t1": [0, 0, 1],
    }


def test_a_local_model_gives_each_value_the_probability_of_its_tokens(tmp_path: Path) -> None:
    """Against the model asked for one token after another."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        AutoModelForCausalLM,
        GPT2Config,
        GPT2LMHeadModel,
        PreTrainedTokenizerFast,
    )

    letters = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    own = Tokenizer(models.BPE(vocab=letters, merges=[]))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=own)  # type: ignore[no-untyped-call]
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "n_positions": 600,
        "n_embd": 16,
        "n_layer": 2,
        "n_head": 2,
        "bos_token_id": 0,
    }
    config = GPT2Config(vocab_size=256, eos_token_id=0, initializer_range=0.5, **sizes)
    GPT2LMHeadModel(config).save_pretrained(tmp_path)  # type: ignore[no-untyped-call]
    tokenizer.save_pretrained(tmp_path)
    whole = corpus()
    made = list(prompts(whole, whole.select(items=np.arange(2)), "q", shots=1))[:2]
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    for row, prompt in zip(answered_locally(made, tmp_path, SCALE), made, strict=True):
        start = tokenizer("\n\n".join(m["content"] for m in prompt["messages"]))["input_ids"]
        chance = []
        for value in SCALE.values:
            tokens, product = list(start), 1.0
            for token in tokenizer(f" {value}")["input_ids"]:
                with torch.inference_mode():
                    product *= float(model(torch.tensor([tokens])).logits[0, -1].softmax(0)[token])
                tokens.append(token)
            chance.append(product)
        shares = [row[f"share.{value}"] for value in SCALE.values]
        np.testing.assert_allclose(shares, np.array(chance) / sum(chance), rtol=1e-4)
        assert row["answer"] == SCALE.values[int(np.argmax(chance))]
