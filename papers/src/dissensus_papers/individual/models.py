"""The models: the paper's as published, and ours.

MT has a head for each annotator, OH reads the annotator as a one-hot vector. Each learns the
answers, the density of an item's ratings, or both, with a step for each loss.
"""

from __future__ import annotations

from typing import Any

from dissensus_papers.framework.declared import Model

VARIANT, PUBLISHED_ONEHOT, PUBLISHED_GRID = (
    f"individual.variants:{name}" for name in ("VariantHeads", "PublishedOneHot", "PublishedGrid")
)
PUBLISHED: dict[str, Any] = {  # network and optimisation, as in the released code
    "dropout": 0.2,
    "training.epochs": 500,
    "training.batch_size": 32,
    "training.optimiser": "sgd",
    "training.learning_rate": 1e-3,
    "training.weight_decay": 0.0,
    "training.schedule": "plateau",
    "training.plateau": 5,
    "training.plateau_factor": 0.1,
    "training.patience": 10,
    "training.warm_up": 0.0,
    "training.clip": float("inf"),
    "training.losses": "interleaved",
}
INDIVIDUAL = PUBLISHED | {"hidden": (256,), "question_hidden": (256, 256), "loss": "ccc"}
GRID = PUBLISHED | {"hidden": (256, 256, 256), "base_rates": False}
OBJECTIVES = {"answers": "answers", "density": "density", "both": "answers and density"}

GRID_BASELINE, MT, OH = "grid", "mt", "oh"
CONSENSUS, HEADS, LEARNED = "consensus", "heads", "heads-learned"


def _heads(title: str, **settings: Any) -> Model:
    return Model(title, VARIANT, settings)


_MT = INDIVIDUAL | {"common": False, "published": True}
_OF_PAPER = {
    GRID_BASELINE: Model("Distribution over cells (baseline)", PUBLISHED_GRID, GRID),
    f"{GRID_BASELINE}-8": Model(
        "Distribution, 8 cells a question", PUBLISHED_GRID, GRID | {"bins": 8}
    ),
} | {
    f"{name}-{objective}": Model(
        f"{name.upper()}, {words}", method, settings | {"objective": objective}
    )
    for name, method, settings in (
        (MT, VARIANT, _MT),
        (OH, PUBLISHED_ONEHOT, INDIVIDUAL),
    )
    for objective, words in OBJECTIVES.items()
}
_OURS = {
    CONSENSUS: Model("Consensus alone", "single", {"hidden": (64,), "training.epochs": 20}),
    HEADS: Model("Annotator heads", "annotator-heads"),
    f"{HEADS}-both": Model(
        "Annotator heads, answers and density", "annotator-heads", {"objective": "both"}
    ),
    "onehot": Model("One-hot annotator", "annotator-onehot"),
    "grid-ours": Model(
        "Distribution, 8 cells a question, AdamW", "grid-density", {"bins": 8, "base_rates": False}
    ),
}
_CALIBRATED: dict[str, dict[str, Any]] = {  # on the validation part, by what is reported
    what: {"readout": readout, "calibrate": settings, "calibrate_by": "jsd"}
    for what, readout, settings in (
        ("temperature", "soft:sampling=even", "temperature"),
        ("bandwidth", "fixed:sampling=even,cells=64", "bandwidth,stretch"),
        ("noise", "plain:sampling=even,cells=64,noise=0.3", "factor,noise,shared,correlation"),
    )
}
_VARIANTS = {
    f"{name}-{what}": _heads(f"{words}, calibrated {what}", **base | calibrated)
    for name, words, base in (
        (MT, "MT, answers", _MT),
        (HEADS, "Annotator heads", {"loss": "ccc", "training.epochs": 20}),
    )
    for what, calibrated in _CALIBRATED.items()
} | {"heads-rank": _heads("Annotator heads of rank 2", rank=2)}
_FURTHER = {
    f"{HEADS}-{name}": _heads(f"{words}, calibrated noise", **settings | _CALIBRATED["noise"])
    for name, words, settings in (
        ("mixture", "Mixtures of two", {"components": 2}),
        ("moments", "Moments (KL)", {"loss": "ccc", "item_spread": True, "moments": 0.1}),
        ("pretrain", "Copies of a common head", {"loss": "ccc", "pretrain": 0.25}),
    )
}
_LAST = {
    LEARNED: _heads("Learned temperature", loss="ccc", objective="both", learn_temperature=True),
    f"{GRID_BASELINE}-16": Model("Distribution, 16 cells", PUBLISHED_GRID, GRID | {"bins": 16}),
}
_FLOORS = {
    "prior": Model("Mean rating", "prior"),
    "annotator-mean": Model("Mean rating of each annotator", "annotator-majority"),
    "annotator-median": Model("Median rating of each annotator", "annotator-median"),
}
MODELS: dict[str, Model] = _OF_PAPER | _OURS | _VARIANTS | _FURTHER | _LAST | _FLOORS
OF_PAPER, OURS, VARIANTS, FURTHER, FLOORS = map(
    tuple, (_OF_PAPER, _OURS, _VARIANTS, _FURTHER, _FLOORS)
)

# ---- figures of the paper: MSP-Improv, means over five seeds ----

CONCORDANCES = (  # of activation, of valence
    {GRID_BASELINE: {"CCC": 0.673}, f"{MT}-both": {"CCC": 0.741}},
    {GRID_BASELINE: {"CCC": 0.573}, f"{MT}-both": {"CCC": 0.571}},
)
DISTANCES = {
    "soft": {
        GRID_BASELINE: {"density TVD": 0.515, "density JSD": 0.213},
        f"{MT}-both": {"density TVD": 0.503, "density JSD": 0.211},
        f"{MT}-answers": {"density TVD": 0.500, "density JSD": 0.211},
    },
    "plain": {f"{MT}-answers": {"density TVD": 0.553, "density JSD": 0.265}},
}
