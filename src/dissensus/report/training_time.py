"""How long it takes to train methods, and on how many items they can be trained within a time."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.corpus import Corpus
from dissensus.evaluation.execution.jobs import seconds_of_fit
from dissensus.evaluation.execution.scheduler import duration
from dissensus.methods import method
from dissensus.report.encoding_time import EncodingPlan, duration_option, items_within
from dissensus.report.project import FASTEST, FEWEST_ITEMS, n_folds, n_seeds

OF_FASTEST = 1 / 3  # of the time for the comparison, to train the fastest method in all folds
TRAINED_AGAIN = 2  # the model to save, and the one of the items that are held out


def trained_within(
    corpus: Corpus,
    plan: EncodingPlan,
    seconds: float,
    budget: float,
    methods: Sequence[str] = (),
    seeds: int | None = None,
) -> EncodingPlan:
    """A plan with fewer items if even the fastest method takes too long on those of a plan.

    Args:
        seconds: for the comparison, encoding included.
        budget: of the whole command in seconds, for advice.
        methods: to compare, if they are chosen already.
        seeds: likewise.
    """
    time_left = OF_FASTEST * max(seconds - plan.seconds, 0.0)
    names = [name for name in methods or (FASTEST,) if training_time(corpus, name, 1, seeds)]
    if not names or not plan.n_items:
        return plan
    fastest = min(names, key=lambda name: training_time(corpus, name, plan.n_items, seeds))
    if training_time(corpus, fastest, plan.n_items, seeds) <= time_left:
        return plan
    needed = training_time(corpus, fastest, corpus.n_items, seeds)
    part = min(max(items_within(corpus, needed, time_left), FEWEST_ITEMS), plan.n_items)
    if part == plan.n_items:
        return plan
    advised = budget + 2 * (needed / OF_FASTEST + plan.seconds * corpus.n_items / plan.n_items)
    return EncodingPlan(
        part,
        plan.encoder,
        f"training {fastest} on all {corpus.n_items:,} items would take about {duration(needed)}; "
        f"methods are compared on {part:,} of them, drawn at random (for all, give --budget "
        f"{duration_option(advised)} or more)",
        plan.seconds * part / plan.n_items,
    )


def training_time(corpus: Corpus, name: str, n_items: int, seeds: int | None) -> float:
    """About how many seconds it takes to train a method on so many items: in each fold, and twice
    more for the model and the report; 0 without training."""
    n_answers = sum(answers.n_answers for answers in corpus.questions.values())
    n_fits = (n_folds(n_items) - 1) * (seeds or n_seeds(n_answers)) + TRAINED_AGAIN
    return n_fits * seconds_of_fit(method(name)(), corpus, n_items)
