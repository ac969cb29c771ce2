"""Which answers to ask for next, and whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from dissensus.agreement import group_annotators
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_columns, with_columns
from dissensus.errors import DataError, cut
from dissensus.planning.item_model import MOST_VALUES, ItemModel
from dissensus.scales import MultiLabel, Nominal, Ordinal

About = Literal["distribution", "consensus"]
ANY = 5  # items of any kind that are added: with few items, frequent kinds are uncertain
AT_ONCE = 2  # of an even share of the budget that an item gets at most in one plan
USUAL = 6.0  # answers as the crowd gives them that are added to an annotator's own
NAMED = 3  # items in a report
SHARE = 2  # of an even share of the work that one annotator gets at most


@dataclass(frozen=True, eq=False)
class _Uncertainty:
    """How uncertain each item is, and what one more answer is expected to change."""

    now: np.ndarray  # (n_items,) variance of what is estimated
    reduction: np.ndarray  # (n_items,) by one answer
    by_annotator: Callable[[int], np.ndarray] | None = None  # item -> (n_annotators,) likewise

    def of(self, further: int) -> np.ndarray:
        """The reduction by a further answer after so many, (n_items,).

        The variance falls as with a Dirichlet or normal belief: as 1 / (strength + answers), with
        the strength that the first reduction says.
        """
        strength = np.maximum(self.now / np.maximum(self.reduction, 1e-12) - 1, 1e-9)
        return np.asarray(self.now * strength / (strength + further) / (strength + further + 1))


def next_answers(
    corpus: Corpus,
    question: str,
    budget: int,
    *,
    about: About = "distribution",
    most_per_annotator: int | None = None,
    group: str | None = None,
    seed: int = 0,
) -> pa.Table:
    """The answers that are expected to say most, the most useful first: items, and whom to ask.

    Uncertainty is the posterior variance of an item's distribution (of its values' shares), or of
    its consensus: of which value is the true one, under Dawid and Skene's model of the annotators;
    of means and multi-label answers, and if annotators are unknown, under a model of items. An
    annotator is never asked about an item again. About the distribution, those with the least work
    are asked, so that all are heard; about the consensus, those whose answer says most.

    Args:
        budget: how many answers to ask for.
        about: what is to be known better.
        most_per_annotator: answers that one annotator is asked for at most; if left out, twice an
            even share.
        group: an attribute of annotators; only those are asked whose group has not answered an
            item yet.
        seed: of the order of annotators with equally much work.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t2", "cleo", "no"), ("t1", "eve", "no")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"rude": Annotations.from_rows(rows)})
        >>> next_answers(corpus, "rude", 1).select(["item", "annotator"]).to_pylist()
        [{'item': 't1', 'annotator': 'cleo'}]
    """
    annotations = corpus[question]
    if about not in get_args(About):
        raise DataError(f"about {about!r}: choose distribution or consensus")
    for name, number in (("budget", budget), ("most_per_annotator", most_per_annotator)):
        if number is not None and number < 1:
            raise DataError(f"{name} must be 1 or more, found {number}")
    if not annotations.n_rows:
        raise DataError(f"{question}: there are no answers yet; ask about every item first")
    uncertain = _uncertainty(annotations, about)
    item, further = _slots(uncertain, -(-AT_ONCE * budget // annotations.n_items))
    columns: dict[str, Any] = {}
    if annotations.annotator is not None or most_per_annotator or group:
        codes = annotations.annotator_codes("a plan of whom to ask")
        groups = None if group is None else group_annotators(corpus, group)
        limit = most_per_annotator or SHARE * -(-budget // annotations.n_annotators)
        item, further, annotator = _assigned(
            annotations, codes, (item, further), budget, limit,
            None if groups is None else groups.code, uncertain.by_annotator, seed,
        )  # fmt: skip
        who = corpus.annotators.array.take(pa.array(annotator))
        columns[corpus.columns.get("annotator", "annotator")] = who
        if groups is not None:
            columns[str(group)] = [groups.names[code] for code in groups.code[annotator]]
    item, further = item[:budget], further[:budget]
    about_items = {name: c.take(pa.array(item)) for name, c in item_columns(corpus).items()}
    columns["answers so far"] = annotations.voters()[item]
    columns["uncertainty"] = uncertain.now[item]
    reductions = np.stack([uncertain.of(k) for k in range(int(further.max(initial=0)) + 1)])
    columns["expected reduction"] = reductions[further, item]
    return pa.table(with_columns(about_items, columns))


def _assigned(
    annotations: Annotations,
    codes: np.ndarray,
    slots: tuple[np.ndarray, np.ndarray],
    budget: int,
    limit: int,
    group: np.ndarray | None,
    by_annotator: Callable[[int], np.ndarray] | None,
    seed: int,
) -> np.ndarray:
    """Items, how many answers each gets before, and whom to ask, (3, n), until the budget is used.

    Args:
        codes: annotators of the rows.
        slots: items, and how many answers they get before.
        limit: answers that one annotator is asked for at most.
        group: codes of the annotators' groups, -1 unknown; only groups that have not answered.
        by_annotator: what an answer of each says about an item; else those with least work are
            asked.
    """
    order = np.argsort(annotations.item, kind="stable")
    answered = np.split(codes[order], np.cumsum(annotations.per_item())[:-1])
    n, chosen = annotations.n_annotators, list[tuple[int, int, int]]()
    work, tie = np.zeros(n, dtype=int), np.random.default_rng(seed).permutation(n) / n
    for item, before in zip(*(column.tolist() for column in slots), strict=True):
        free = work < limit
        if len(chosen) == budget or not free.any():
            break
        free[answered[item]] = False
        if group is not None:
            free &= ~np.isin(group, [-1, *group[answered[item]]])
        if free.any():
            worth = -(work + tie) if by_annotator is None else by_annotator(item)
            who = int(np.where(free, worth, -np.inf).argmax())
            work[who] += 1
            answered[item] = np.append(answered[item], who)
            chosen.append((item, before, who))
    return np.array(chosen, dtype=int).reshape(-1, 3).T


def _slots(uncertain: _Uncertainty, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Items, and how many answers they get before, those that say most first."""
    reduction = np.stack([uncertain.of(k) for k in range(most)])  # (most, n_items)
    order = np.argsort(-reduction, axis=None, kind="stable")
    further, item = np.unravel_index(order, reduction.shape)
    return item, further


def what_to_ask(corpus: Corpus) -> list[str]:
    """A sentence on what to ask for next, about the first question with known annotators.

    Example:
        >>> from dissensus import simulate
        >>> what_to_ask(simulate.text(n_items=40))[0].split(":")[0]
        'To know more, ask about 37, 13 and 1 first'
    """
    known = (one for one in corpus.questions.values() if one.annotator is not None and one.n_rows)
    for answers in known:
        items, _ = _slots(_uncertainty(answers, "distribution"), 1)
        items = items[(answers.voters() < answers.n_annotators)[items]][:NAMED]
        if len(items) == NAMED:
            *names, last = (cut(answers.items[item], 40) for item in items.tolist())
            return [
                f"To know more, ask about {', '.join(names)} and {last} first: one more answer is "
                "expected to say most there. `dissensus plan FILE --budget 100 -o next.xlsx` lists "
                "100 such answers, and whom to ask."
            ]
    return []


# ---- uncertainty ----


def _uncertainty(annotations: Annotations, about: About) -> _Uncertainty:
    scale, n_items = annotations.scale, annotations.n_items
    if about == "consensus" and annotations.annotator is not None:
        if isinstance(scale, Nominal | Ordinal) and len(scale) <= MOST_VALUES:
            return _of_truth(annotations)
    model = ItemModel.fit(annotations)
    known = model.size.sum()
    share = (known * model.share + ANY / len(model.share)) / (known + ANY)
    model = replace(model, share=share)
    target = model.kinds if about == "distribution" else model.consensus()
    each = (reductions(belief, model.kinds, target) for belief in model.beliefs())
    now, reduction = (np.concatenate(column) for column in zip(*each, strict=True))
    if isinstance(scale, MultiLabel):  # a row for each value of an item
        return _Uncertainty(*(x[model.place].reshape(n_items, -1).sum(1) for x in (now, reduction)))
    return _Uncertainty(now[model.place], reduction[model.place])


def reductions(
    belief: np.ndarray, answers: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The variance of a target, and how much of it one answer is expected to explain.

    Args:
        belief: probabilities of states, (n, n_states).
        answers: the distribution of the answer in each state, (n_states, n_values).
        target: what is estimated, in each state, (n_states, n_targets).

    Example:
        >>> now, less = reductions(np.array([[0.5, 0.5]]), np.array([[0.9, 0.1], [0.1, 0.9]]),
        ...                        np.array([[0.0], [1.0]]))
        >>> now.tolist(), less.round(2).tolist()
        ([0.25], [0.16])
    """
    mean = ((belief @ target) ** 2).sum(axis=1)
    after = np.zeros(len(belief))
    for value in answers.T:
        joint = belief * value
        after += ((joint @ target) ** 2).sum(axis=1) / np.maximum(joint.sum(axis=1), 1e-300)
    return np.maximum(belief @ (target**2).sum(axis=1) - mean, 0), np.maximum(after - mean, 0)


def _of_truth(annotations: Annotations) -> _Uncertainty:
    """Which value is the true one, and what an answer of each annotator says about it."""
    from dissensus.aggregation import DawidSkene

    fitted = DawidSkene().fit(annotations)
    counts = fitted.counts_.transpose(0, 2, 1)  # (n_annotators, true, answered)
    usual = counts.sum(axis=0) + 0.1 + np.eye(counts.shape[1])
    usual /= usual.sum(axis=1, keepdims=True)
    confusion = counts + USUAL * usual
    confusion /= confusion.sum(axis=2, keepdims=True)
    belief = fitted.calibrated_
    belief = np.where(np.isnan(belief), fitted.prior_, belief)

    wide = confusion.transpose(1, 0, 2).reshape(len(usual), -1)  # (true, n_annotators * answered)
    squared = wide**2

    def by_annotator(item: int) -> np.ndarray:
        after = belief[item] ** 2 @ squared / np.maximum(belief[item] @ wide, 1e-300)
        return np.asarray(after.reshape(len(confusion), -1).sum(axis=1))

    return _Uncertainty(*reductions(belief, usual, np.eye(len(usual))), by_annotator)
