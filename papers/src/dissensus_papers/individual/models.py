"""The models: the paper's as published, and ours.

MT has a head for each annotator, OH reads the annotator as a one-hot vector. Each learns the
answers, the density of an item's ratings, or both, with a step for each loss.
"""

from __future__ import annotations

from typing import Any

from dissensus_papers.framework.declared import Model

PUBLISHED: dict[str, Any] = {  # network and optimisation, as in the released code
    "dropout": 0.2,
    "hidden_dropout": 0.0,
    "standardise": False,
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
CONSENSUS, HEADS = "consensus", "heads"

_OF_PAPER = {
    GRID_BASELINE: Model("Distribution over cells (baseline)", "grid-density", GRID),
    f"{GRID_BASELINE}-8": Model(
        "Distribution, 8 cells a question", "grid-density", GRID | {"bins": 8}
    ),
} | {
    f"{name}-{objective}": Model(
        f"{name.upper()}, {words}", method, INDIVIDUAL | own | {"objective": objective}
    )
    for name, method, own in (
        (MT, "annotator-heads", {"common": False}),
        (OH, "annotator-onehot", {}),
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
        "Distribution, 8 cells a question, AdamW",
        "grid-density",
        {"bins": 8, "base_rates": False},
    ),
}
_MT = INDIVIDUAL | {"common": False}
_CALIBRATED = {  # on the validation part, by the divergence that is reported
    "temperature": ("soft:sampling=even", "temperature"),
    "bandwidth": ("fixed:sampling=even,cells=64", "bandwidth,stretch"),
    "noise": ("plain:sampling=even,cells=64,noise=0.3", "factor,noise,shared,correlation"),
}
_VARIANTS = {
    f"{name}-{what}": Model(
        f"{words}, calibrated {what}",
        "annotator-heads",
        base | {"readout": readout, "calibrate": settings, "calibrate_by": "jsd"},
    )
    for name, words, base in (
        (MT, "MT, answers", _MT),
        (HEADS, "Annotator heads", {"loss": "ccc", "training.epochs": 20}),
    )
    for what, (readout, settings) in _CALIBRATED.items()
} | {
    "heads-rank": Model("Annotator heads of rank 2", "annotator-heads", {"rank": 2}),
}
_NOISE = dict(zip(("readout", "calibrate"), _CALIBRATED["noise"], strict=True)) | {
    "calibrate_by": "jsd"
}
_FURTHER = {
    f"{HEADS}-mixture": Model(
        "Mixtures of two, calibrated noise", "annotator-heads", {"components": 2} | _NOISE
    ),
    f"{HEADS}-moments": Model(
        "Moments (KL), calibrated noise",
        "annotator-heads",
        {"loss": "ccc", "item_spread": True, "moments": 0.1} | _NOISE,
    ),
    f"{HEADS}-pretrain": Model(
        "Copies of a common head, calibrated noise",
        "annotator-heads",
        {"loss": "ccc", "pretrain": 0.25} | _NOISE,
    ),
}
LEARNED = f"{HEADS}-learned"
_LEARNED = {
    LEARNED: Model(
        "Learned temperature",
        "annotator-heads",
        {"loss": "ccc", "objective": "both", "learn_temperature": True},
    )
}
_FLOORS = {
    "prior": Model("Mean rating", "prior"),
    "annotator-mean": Model("Mean rating of each annotator", "annotator-majority"),
    "annotator-median": Model("Median rating of each annotator", "annotator-median"),
}
_ONE_QUESTION = {
    f"{GRID_BASELINE}-16": Model("Distribution, 16 cells", "grid-density", GRID | {"bins": 16})
}
MODELS: dict[str, Model] = (
    _OF_PAPER | _OURS | _VARIANTS | _FURTHER | _LEARNED | _ONE_QUESTION | _FLOORS
)
OF_PAPER, OURS, VARIANTS, FURTHER, FLOORS = map(
    tuple, (_OF_PAPER, _OURS, _VARIANTS, _FURTHER, _FLOORS)
)


CONCORDANCES = (
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
