"""What `dissensus predict` says about panels of annotators, and for a population."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.cli.console import say
from dissensus.errors import DataError, listed

if TYPE_CHECKING:
    from dissensus.corpus import Corpus
    from dissensus.methods.framework.base import Method
    from dissensus.names import Names
    from dissensus.prediction import Predictions


def of_jury(fitted: Method, part: Corpus, people: Corpus, text: str) -> dict[str, dict[str, Any]]:
    """The columns of a jury's verdicts by question; prints how they differ from those of panels
    that are drawn from all annotators, and with other seats of two groups.

    Args:
        people: has the attributes of annotators.
    """
    from dissensus.juries import PANELS, groups_of, jury, seats_of

    attribute, seats = seats_of(text)
    names = _names(fitted, "--jury")
    groups = groups_of(people, attribute, names)
    for group, n in seats.items():
        if len(found := groups.get(group, ())) < n:
            there = listed([f"{name} ({len(codes)})" for name, codes in groups.items()], 20)
            raise DataError(
                f"--jury: {n} seats for {attribute} {group!r}, but the model has {len(found)} such "
                f"annotators; there are {there}"
            )
    predicted = fitted.predict(part, annotators=list(names), consensus="all")
    every, n_seats = np.concatenate(list(groups.values())), sum(seats.values())
    columns = {}
    for question, prediction in predicted.items():
        own = jury(prediction, [groups[group] for group in seats], list(seats.values()))
        usual, by_seats = jury(prediction, [every], [n_seats]), []
        rated = prediction.scale.kind == "interval"
        columns[question] = own.columns()
        about = f"{question}: {PANELS:,} panels of {n_seats} ({text})"
        drawn = f"panels drawn from all {len(every)} annotators with a known {attribute}"
        for other in _other_seats(seats, groups):
            verdicts = jury(prediction, [groups[group] for group in other], list(other.values()))
            away = np.abs(own.value - verdicts.value).mean()
            apart = f"{away:.3g}" if rated else f"{own.changed(verdicts).sum()}"
            makeup = ", ".join(f"{group} {n}" for group, n in other.items())
            by_seats.append(f"{apart} ({makeup})")
        if rated:
            far = np.abs(own.value - usual.value)
            say(f"{about}: usual verdicts are {far.mean():.3g} away from those of {drawn}, on "
                f"average; at most {far.max():.3g}")  # fmt: skip
        else:
            columns[question]["jury_changed"] = changed = own.changed(usual)
            say(f"{about}: {own.shares.max(axis=1).mean():.0%} of them agree on a verdict, on "
                f"average; {changed.sum()} of {len(changed)} items have another usual verdict than "
                f"with {drawn}")  # fmt: skip
        if by_seats:
            what = "distance of usual verdicts" if rated else "items with another usual verdict"
            say(f"{question}: {what} with other seats: {', '.join(by_seats)}")
    return columns


def _other_seats(seats: dict[str, int], groups: dict[str, np.ndarray]) -> list[dict[str, int]]:
    """The same number of seats if the first of two groups has 0, 25, 50, 75 or 100 % of them, as
    far as there are enough annotators."""
    n = sum(seats.values())
    firsts = {n * part // 4 for part in range(5)} if len(seats) == 2 else set()
    every = [dict(zip(seats, (first, n - first), strict=True)) for first in sorted(firsts)]
    return [
        other
        for other in every
        if other != seats and all(len(groups[group]) >= n for group, n in other.items())
    ]


def of_population(
    fitted: Method, part: Corpus, people: Corpus, path: Path, predictions: Predictions
) -> Predictions:
    """The predictions with shares, and the consensus, of a population.

    Args:
        path: a table with a column of groups, named as the attribute, and the column share.
    """
    from dissensus.evaluation.outside_predictions import read_columns
    from dissensus.juries import groups_of, reweighted

    table = read_columns(path)
    attributes = [name for name in table if name != "share"]
    if "share" not in table or len(attributes) != 1:
        raise DataError(
            f"{path}: needs a column named as an attribute, such as gender, and the column share; "
            f"found {listed(table, 20)}"
        )
    try:
        shares = dict(zip(map(str, table[attributes[0]]), map(float, table["share"]), strict=True))
    except (TypeError, ValueError):
        shares = {}
    if not 0 < sum(shares.values()) < np.inf or min(shares.values()) < 0:
        raise DataError(
            f"{path}: shares must be numbers, 0 or more, found {listed(table['share'])}"
        )
    names = _names(fitted, "--population")
    groups = groups_of(people, attributes[0], names)
    new, predicted = {}, fitted.predict(part, annotators=list(names), consensus="all")
    for question, prediction in predictions.items():
        weighted = reweighted(predicted[question], groups, shares)
        new[question] = replace(
            prediction, distribution=weighted.distribution, consensus=weighted.consensus
        )
        changed = int((weighted.consensus != predicted[question].consensus).sum())
        of = ", ".join(f"{g} {x / sum(shares.values()):.0%}" for g, x in shares.items())
        say(f"{question}: shares are those of a population with {attributes[0]} {of}; {changed} of "
            f"{part.n_items} consensuses are other than with equal weights")  # fmt: skip
    return predictions.with_questions(new)


def _names(fitted: Method, option: str) -> Names:
    if not fitted.individual:
        raise DataError(
            f"{option}: {fitted.name} does not predict individual annotators; train a method that "
            "does, such as annotator-heads"
        )
    return fitted.learned_.annotators.take(np.flatnonzero(fitted.learned_.any_answered))
