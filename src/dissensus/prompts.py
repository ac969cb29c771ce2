"""Prompts that ask a language model for an annotator's answer, with examples of their own answers;
and the replies as answers (in-context learning of annotators: Sorensen and Choi 2025)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, cut, listed
from dissensus.names import string_array
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale, split_set

REPLY = ("reply", "answer", "text", "content", "output", "response", "body", "choices", "result",
         "message")  # fmt: skip


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
    answers, names = known[question], annotators or list(known.annotators)
    texts, every = ([c.text_of(item) for item in range(c.n_items)] for c in (known, asked))
    facts = known.annotator_attributes
    if missing := [name for name in attributes if name not in facts]:
        raise DataError(
            f"no annotator attribute {listed(missing)}; there are {listed(facts, 20) or 'none'}"
        )
    told = {name: string_array(facts[name]).to_pylist() for name in attributes}
    own, items = asked.questions.get(question), np.arange(asked.n_items)
    free = ~np.isin(np.array(texts, dtype=object), np.array(every, dtype=object))
    for name, code in zip(names, known.annotators.codes(names, "annotator"), strict=True):
        rows = np.flatnonzero((answers.annotator_codes("a prompt") == code) & free[answers.item])
        if own is not None and own.n_rows:
            items = own.item[own.annotator_codes("a prompt") == own.annotators.find([name])[0]]
        draw = np.random.default_rng((seed, int(code)))
        rows = draw.permutation(rows)
        value = answers.answer[rows]
        turn = [np.count_nonzero(value[:n] == one) for n, one in enumerate(value)]
        chosen = draw.permutation(rows[np.argsort(turn, kind="stable")][:shots])
        examples = [
            f"{texts[item]}\nAnswer: {', '.join(a) or 'none' if isinstance(a, tuple) else a}"
            for item, a in zip(answers.item[chosen], answers.take(chosen).answers(), strict=True)
        ]
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


def _allowed(scale: Scale) -> str:
    if isinstance(scale, Interval):
        return f"a number from {scale.low:g} to {scale.high:g}"
    several = (
        "all that apply, separated by commas, of" if isinstance(scale, MultiLabel) else "one of"
    )
    return f"{several}: {', '.join(getattr(scale, 'values', ()))}"


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
        text = _text_in(reply)
        answer = None if text is None else read_reply(text, corpus[question].scale)
        if answer is None:
            unread.append(f"{text}"[:40])
        else:
            rows.append({"question": question, "item": item, "annotator": annotator,
                         "answer": answer})  # fmt: skip
    return rows, unread


def _text_in(reply: Any) -> str | None:
    """The first text under a usual name, however deep."""
    if isinstance(reply, Mapping):
        reply = [reply[name] for name in REPLY if name in reply]
    if not isinstance(reply, list):
        return None if reply is None else str(reply)
    return next((text for one in reply if (text := _text_in(one)) is not None), None)


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
        text: Any = "\n\n".join(message["content"] for message in prompt["messages"])
        if tokenizer.chat_template:  # as the model was trained to read messages
            text = tokenizer.apply_chat_template(
                prompt["messages"], tokenize=False, add_generation_prompt=True
            )
        start = tokenizer(text, add_special_tokens=False)["input_ids"]
        n = len(start)
        if n + max(map(len, ends)) > most:
            raise DataError(
                f"{prompt['id']}: the prompt has {n} tokens, but the model reads {most}; use fewer "
                "--shots"
            )
        logs = []
        for end in ends:
            tokens = torch.tensor([start + end])
            with torch.inference_mode():
                every = model(tokens).logits[0, n - 1 : -1].log_softmax(dim=-1)
            logs.append(float(every.gather(1, tokens[0, n:, None]).sum()))
        shares = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
        best = scale.values[int(shares.argmax())]
        named = {f"share.{v}": float(x) for v, x in zip(scale.values, shares, strict=True)}
        yield {n: prompt[n] for n in ("question", "item", "annotator")} | {"answer": best} | named
