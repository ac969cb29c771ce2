"""Invented corpora in the form of SeedBERT's, and outcomes of models that were never trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dissensus import Annotations, Corpus, Names, Nominal
from dissensus.contents import Contents
from dissensus.evaluation.execution.folder import locked_folder
from dissensus_papers.seedbert.outcomes import Items, Outcome
from dissensus_papers.seedbert.protocol import CONDITIONS, MODELS, SOURCES, trials

N_ITEMS, N_ANNOTATORS = 120, 6


def corpus(name: str, n_items: int = N_ITEMS) -> Corpus:
    """Six annotators answer yes or no to texts; some say yes more often than others."""
    generator = np.random.default_rng(len(name))
    hard = generator.beta(0.6, 1.2, n_items)
    keen = np.linspace(-0.2, 0.2, N_ANNOTATORS)
    yes = generator.random((n_items, N_ANNOTATORS)) < (hard[:, None] + keen).clip(0.02, 0.98)
    items = Names([f"i{k}" for k in range(n_items)])
    annotators = Names([f"a{k}" for k in range(N_ANNOTATORS)])
    item, who = (side.ravel() for side in np.indices(yes.shape))
    answers = Annotations.from_arrays(
        item,
        who,
        yes.ravel().astype(np.int32),
        Nominal(("0", "1")),
        items=items,
        annotators=annotators,
    )
    texts = [f"{'good' if h > 0.5 else 'so'} ! {k}" for k, h in enumerate(hard)]
    return Corpus.build(
        name,
        items,
        {SOURCES[name].question: answers},
        annotators=annotators,
        contents={"text": Contents.distinct("text", texts)},
    )


def outcome(
    items: Items, model: str, repeat: int, condition: str, noise: float, members: float
) -> Outcome:
    """People's shares, blurred by noise, and by other noise for each member."""
    seed = [len(condition), sorted(MODELS).index(model), repeat]
    generator = np.random.default_rng(seed)
    n_members, n = MODELS[model].n_networks, len(items.label)
    share = items.shares[:, 1] + generator.normal(0, noise, n)
    own = generator.normal(0, members, (n_members, n)) if n_members > 1 else np.zeros((1, n))
    yes = (share + own).clip(0.01, 0.99)
    mass = np.stack([1 - yes, yes], axis=2)
    votes = mass.argmax(axis=2) if n_members > 1 else np.zeros((0, n))
    aside = np.stack([np.repeat(np.arange(5), 12), np.tile(np.arange(12), 5)])
    return Outcome(
        model,
        repeat,
        condition,
        mass,
        votes.astype(np.int8),
        aside,
        mass[:, aside[1]],
        settings={"training.epochs": 4, "training.encoder_learning_rate": 1e-4},
        machine="a machine",
        seconds=2.0,
    )


def write(
    out: Path,
    wanted: Mapping[str, Sequence[str]],
    repeats: int = 5,
    noise: float = 0.1,
    members: float = 0.2,
) -> Path:
    """A folder of outcomes: condition -> models; trials of conditions that have them."""
    with locked_folder(out) as place:
        place.begin({"paper": "seedbert", "settings": {}}, "the command", "abc")
        for name, models in wanted.items():
            condition = CONDITIONS[name]
            items = Items.of(corpus(condition.corpus))
            items.keep(out)
            for model in models:
                if condition.kind == "choose":
                    for n, settings in enumerate(trials(model, condition.frozen)):
                        scores = [0.5 - 0.01 * n, 0.4]
                        Outcome(
                            model, n, name, scores=scores, settings=settings, machine="a machine"
                        ).save(place.fits)
                    continue
                for repeat in range(min(repeats, condition.repeats)):
                    blur = noise * {"single": 2.0, "everything": 0.5}.get(model, 1.0)
                    outcome(items, model, repeat, name, blur, members).save(place.fits)
    return out
