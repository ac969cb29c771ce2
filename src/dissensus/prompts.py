"""Prompts that ask a language model for an annotator's answer, with examples of their own answers;
and the replies as answers (in-context learning of annotators: Sorensen and Choi 2025)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, cut, listed
from dissensus.names import string_array
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale, split_set

QUARTERS = 4  # of an annotator's ratings, from which examples are drawn in turn


def prompts(
    known: Corpus,
    asked: Corpus,
    question: str,
    annotators: Sequence[str] | None = None,
    shots: int = 10,
    attributes: Sequence[str] = (),
    seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """A prompt for each answer to ask for: its item, annotator, question and messages.

    Examples are answers of the annotator, each value in turn while there are some, in a random
    order. Items with a text that is asked about are never examples.

    Args:
        asked: items to ask about: of each annotator who answered them, or of all annotators if
            there are no answers.
        annotators: whom to ask for; all if left out.
        attributes: of annotators, to tell.
    """
    answers, texts = known[question], [known.text_of(item) for item in range(known.n_items)]
    names = list(known.annotators) if annotators is None else list(annotators)
    codes = known.annotators.codes(names, "annotator")
    facts = known.annotator_attributes
    if missing := [name for name in attributes if name not in facts]:
        raise DataError(
            f"no annotator attribute {listed(missing)}; there are {listed(facts, 20) or 'none'}"
        )
    told = {name: string_array(facts[name]).to_pylist() for name in attributes}
    own = asked.questions.get(question)
    every = [asked.text_of(item) for item in range(asked.n_items)]
    free = np.array([text not in set(every) for text in texts], dtype=bool)
    for name, code in zip(names, codes, strict=True):
        rows = np.flatnonzero((answers.annotator_codes("a prompt") == code) & free[answers.item])
        items = range(asked.n_items)
        if own is not None and own.n_rows:
            items = own.item[own.annotator_codes("a prompt") == own.annotators.find([name])[0]]
        draw = np.random.default_rng((seed, int(code)))
        chosen = draw.permutation(_stratified(answers, rows, shots, draw))
        values = answers.take(chosen).answers()
        examples = [f"{texts[item]}\nAnswer: {_spelled(value)}" for item, value in
                    zip(answers.item[chosen], values, strict=True)]  # fmt: skip
        about = [f"{fact}: {of[code]}" for fact, of in told.items() if of[code]]
        system = (
            f"You predict how one annotator answers the question {question!r}. Annotators "
            f"disagree; answer as this one would. Reply with {_allowed(answers.scale)}, nothing "
            "else." + f" The annotator: {'; '.join(about)}." * bool(about)
        )
        for item in items:
            user = "\n\n".join([*examples, f"{every[item]}\nAnswer:"])
            yield {
                "id": json.dumps([question, asked.items[item], name], ensure_ascii=False),
                **{"question": question, "item": asked.items[item], "annotator": name},
                "messages": [
                    {"role": "system", "content": system},
                    {"role": "user", "content": user},
                ],
            }


def _stratified(
    answers: Annotations, rows: np.ndarray, n: int, draw: np.random.Generator
) -> np.ndarray:
    """Rows at random, of each value in turn; of ratings from each quarter of these."""
    rows = draw.permutation(rows)
    value = answers.answer[rows]
    if isinstance(answers.scale, Interval):
        value = value.argsort(kind="stable").argsort() * QUARTERS // max(len(rows), 1)
    order = np.argsort(value, kind="stable")
    starts = np.unique(value[order], return_index=True)[1]
    turn = np.arange(len(rows)) - np.repeat(starts, np.diff([*starts, len(rows)]))
    return rows[order[np.argsort(turn, kind="stable")]][:n]


def _allowed(scale: Scale) -> str:
    if isinstance(scale, Interval):
        return f"a number from {scale.low:g} to {scale.high:g}"
    several = (
        "all that apply, separated by commas, of" if isinstance(scale, MultiLabel) else "one of"
    )
    return f"{several}: {', '.join(getattr(scale, 'values', ()))}"


def _spelled(answer: Any) -> str:
    return ", ".join(answer) or "none" if isinstance(answer, tuple) else f"{answer}"


# ---- replies ----


def read_reply(text: str, scale: Scale) -> Any:
    """The answer in a reply, as a text or number; None if there is none, or more than one.

    Example:
        >>> read_reply("**Toxic**, I would say", Nominal(("ok", "toxic")))
        'toxic'
        >>> read_reply("ok or toxic", Nominal(("ok", "toxic"))), read_reply("7.5", Interval(0, 10))
        (None, 7.5)
    """
    if isinstance(scale, Interval):
        number = re.search(r"-?\d+(?:\.\d+)?", text)
        value = float(number[0]) if number else np.nan
        return value if scale.low <= value <= scale.high else None
    named = {value.casefold(): value for value in getattr(scale, "values", ())}
    plain = text.strip().strip("\"'`*.").casefold()
    if isinstance(scale, MultiLabel):
        parts = split_set("" if plain == "none" else plain)
        return ", ".join(named[p] for p in parts) if set(parts) <= set(named) else None
    if plain in named:
        return named[plain]
    pattern = "|".join(re.escape(name) for name in sorted(named, key=len, reverse=True))
    values = set(re.findall(rf"(?<![\w-])(?:{pattern})(?!\w)", plain))
    return named[values.pop()] if len(values) == 1 else None


def answers_of(
    replies: Iterable[Mapping[str, Any]], corpus: Corpus
) -> tuple[list[dict[str, Any]], list[str]]:
    """The answers in replies, which `evaluate` reads, and replies without one.

    Args:
        replies: have the `id` (or custom_id) of a prompt and a text: under reply, answer, text,
            content or output, or within, as the services of language models return it.
    """
    rows, unread = [], []
    for reply in replies:
        try:
            question, item, annotator = json.loads(reply.get("id") or reply["custom_id"])
        except (KeyError, TypeError, ValueError):
            raise DataError(f"a reply has no id of a prompt; it has {listed(reply)}") from None
        text = _text_in({k: v for k, v in reply.items() if k not in ("id", "custom_id")})
        answer = None if text is None else read_reply(text, corpus[question].scale)
        if answer is None:
            unread.append(f"{text}"[:40])
        else:
            rows.append({"question": question, "item": item, "annotator": annotator,
                         "answer": answer})  # fmt: skip
    return rows, unread


def _text_in(reply: Any) -> str | None:
    """The first text under a usual name, however deep."""
    if isinstance(reply, list):
        return next((t for t in map(_text_in, reply) if t is not None), None)
    if not isinstance(reply, Mapping):
        return None
    for name in ("reply", "answer", "text", "content", "output"):
        if isinstance(reply.get(name), str):
            return str(reply[name])
    inner = ("response", "body", "choices", "message", "output", "content", "answer")
    return next((t for n in inner if (t := _text_in(reply.get(n))) is not None), None)


def answered_locally(
    asked: Iterable[Mapping[str, Any]], folder: Path, scale: Scale
) -> Iterator[dict[str, Any]]:
    """The probability of each value after each prompt, by a causal model of transformers in a
    folder. No code in the folder is run, and nothing is downloaded."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if not isinstance(scale, Nominal | Ordinal):
        raise DataError(f"a local model answers with values, not {scale.kind}; use --replies")
    if not folder.is_dir():
        raise ModelError(f"{folder}: no folder of a language model")
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        model = AutoModelForCausalLM.from_pretrained(  # type: ignore[no-untyped-call]
            folder, local_files_only=True, trust_remote_code=False, use_safetensors=True
        ).eval()
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{folder}: not a causal language model of transformers ({cut(error)})"
        ) from None
    ends = [tokenizer(f" {value}", add_special_tokens=False)["input_ids"] for value in scale.values]
    most = getattr(model.config, "max_position_embeddings", None) or 10**9
    for prompt in asked:
        start = tokenizer(_joined(tokenizer, prompt["messages"]), add_special_tokens=False)[
            "input_ids"
        ]
        if len(start) + max(map(len, ends)) > most:
            raise DataError(
                f"{prompt['id']}: the prompt has {len(start)} tokens, but the model reads {most}; "
                "use fewer --shots"
            )
        logs = []
        for end in ends:
            with torch.inference_mode():
                given = model(torch.tensor([start + end])).logits[0, len(start) - 1 : -1]
            token = torch.tensor(end)[:, None]
            logs.append(float(given.log_softmax(dim=-1).gather(1, token).sum()))
        shares = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
        best = scale.values[int(shares.argmax())]
        about = {name: prompt[name] for name in ("question", "item", "annotator")}
        named = {f"share.{v}": float(x) for v, x in zip(scale.values, shares, strict=True)}
        yield {**about, "answer": best, **named}


def _joined(tokenizer: Any, messages: Sequence[Mapping[str, str]]) -> str:
    """The messages as the model was trained to read them."""
    if tokenizer.chat_template:
        return str(
            tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )
    return "\n\n".join(message["content"] for message in messages)
