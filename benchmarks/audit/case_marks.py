"""Are planted annotators marked, is nobody honest, and are figures right without marked ones?

Projects are those of `case_sentences`. Groups: five annotators of each of two genders divide on a
fifth of the items, or on none.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from case_sentences import PLANTED, SCALES, project
from cells import Cell

from dissensus import Annotations, Corpus, Nominal
from dissensus.agreement import compare_groups, krippendorff_alpha
from dissensus.description import leave_out, marked

N_ITEMS = 200


def found(generator: np.random.Generator, scale: str, kind: str) -> float:
    """Whether the planted annotator is marked; of a copied pair, either."""
    marks = marked(project(generator, scale, (kind,), camps=False)["q"])
    return float(kind in marks or (kind == "copier" and "honest0" in marks))


def accused(generator: np.random.Generator, scale: str, planted: tuple[str, ...]) -> float:
    """The share of honest annotators who are marked, but for one of a copied pair."""
    marks = marked(project(generator, scale, planted, camps=False)["q"])
    honest = [name for name in marks if name.startswith("honest")]
    pair = "copier" in planted and "honest0" in honest and "copier" not in marks
    return (len(honest) - pair) / 6


def nearer(generator: np.random.Generator, scale: str) -> float:
    """How far alpha without marked annotators is from that of the honest ones alone."""
    corpus = project(generator, scale, PLANTED, camps=False)
    honest = corpus.without(annotators=list(PLANTED))
    return abs(krippendorff_alpha(leave_out(corpus, "suspicious")["q"])
               - krippendorff_alpha(honest["q"]))  # fmt: skip


def divided(generator: np.random.Generator, share: float, quantity: str) -> float:
    """Whether groups are said to differ about items; how many of the items have the words."""
    n = 10
    topic = generator.random(N_ITEMS) < share
    truth = generator.random(N_ITEMS) < 0.3
    group = np.arange(n) % 2
    chance = np.where(topic, np.where(group == 0, 0.91, 0.08)[:, None], np.where(truth, 0.9, 0.1))
    answers = (generator.random((n, N_ITEMS)) < chance).astype(np.int32)
    annotator, item = np.divmod(np.arange(n * N_ITEMS), N_ITEMS)
    annotations = Annotations.from_arrays(
        item, annotator, answers.ravel(), Nominal(("ok", "toxic"))
    )
    items = list(annotations.items)
    genders = {"gender": np.array(["f", "m"])[group].tolist()}
    corpus = Corpus.build("groups", items, {"q": annotations}, annotator_attributes=genders)
    result = compare_groups(corpus, ["gender"])[0]
    if quantity == "difference":
        return float(result.corrected < 0.05)
    best = np.argsort([-float(one.division) for one in result.dividing])
    return float(np.mean([topic[int(result.dividing[at].item)] for at in best])) if len(best) else 0


CELLS = [
    *(
        Cell(f"{scale}, {kind}", "marked", "1", partial(found, scale=scale, kind=kind))
        for scale in SCALES
        for kind in PLANTED
    ),
    *(
        Cell(f"{scale}, {len(planted)} planted", "honest ones marked", "0",
             partial(accused, scale=scale, planted=planted))
        for scale in SCALES
        for planted in ((), PLANTED)
    ),
    *(
        Cell(scale, "distance of alpha without marked ones", "0", partial(nearer, scale=scale))
        for scale in SCALES
    ),
    *(
        Cell(f"{share:.0%} of items", quantity, bar,
             partial(divided, share=share, quantity=quantity))
        for share, quantity, bar in (
            (0.2, "difference", "1"), (0.2, "items", "1"), (0.0, "difference", "0.05")
        )
    ),
]  # fmt: skip
