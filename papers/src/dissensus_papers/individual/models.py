"""The models: the paper's as published, the same with other smoothing, ours, and floors.

MT has a head for each annotator, OH reads the annotator as a one-hot vector. Each learns the
answers, the density of an item's ratings, or both, with a step for each loss.
"""

from __future__ import annotations

from typing import Any

from dissensus_papers.framework.declared import Model

HEADS_METHOD, ONEHOT_METHOD, CONSENSUS_METHOD, GRID_METHOD = (
    f"individual.methods:{name}" for name in ("Heads", "OneHot", "Consensus", "PublishedGrid")
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
INDIVIDUAL = PUBLISHED | {
    "hidden": (256,), "question_hidden": (256, 256), "loss": "ccc", "published": True,
}  # fmt: skip
MT_SETTINGS = INDIVIDUAL | {"common": False}
GRID_SETTINGS = PUBLISHED | {"hidden": (256, 256, 256), "base_rates": False}

GRID, MT, OH, CONSENSUS, HEADS = "grid", "mt", "oh", "consensus", "heads"
ANSWERS, DENSITY, BOTH = (f"{MT}-{objective}" for objective in ("answers", "density", "both"))
SPREAD, TEMPERATURE, BANDWIDTH = (
    f"{BOTH}-{smoothing}" for smoothing in ("spread", "temperature", "bandwidth")
)
ONEHOT, ONEHOT_BOTH = f"{OH}-answers", f"{OH}-both"


def _mt(title: str, objective: str = "answers", **settings: Any) -> Model:
    return Model(title, HEADS_METHOD, MT_SETTINGS | {"objective": objective} | settings)


def _oh(title: str, objective: str = "answers") -> Model:
    return Model(title, ONEHOT_METHOD, INDIVIDUAL | {"objective": objective})


_OF_PAPER = {
    GRID: Model("Distribution over cells (baseline)", GRID_METHOD, GRID_SETTINGS),
    ANSWERS: _mt("MT, answers"),
    DENSITY: _mt("MT, density", "density"),
    BOTH: _mt("MT, answers and density", "both"),
    ONEHOT: _oh("OH, answers"),
    ONEHOT_BOTH: _oh("OH, answers and density", "both"),
}
_SMOOTHED = {
    SPREAD: _mt("MT, both, temperature by spread", "both", own_temperature=True),
    TEMPERATURE: _mt("MT, both, learned temperature", "both", learn="temperature"),
    BANDWIDTH: _mt("MT, both, learned bandwidth", "both", learn="bandwidth"),
}
_OTHERS = {
    CONSENSUS: Model("Consensus, network and loss of MT", CONSENSUS_METHOD, MT_SETTINGS),
    HEADS: Model("Annotator heads (ours)", HEADS_METHOD),
    "prior": Model("Mean rating", "prior"),
    "annotator-mean": Model("Mean rating of each annotator", "annotator-majority"),
}
MODELS: dict[str, Model] = _OF_PAPER | _SMOOTHED | _OTHERS

# ---- figures of the paper: trained on MSP-Improv, means over five seeds ----

TVD, JSD = "density TVD", "density JSD"
CONCORDANCES = (  # of activation, of valence
    {GRID: {"CCC": 0.673}, BOTH: {"CCC": 0.741}},
    {GRID: {"CCC": 0.573}, BOTH: {"CCC": 0.571}},
)
DISTANCES = {
    "soft": {
        GRID: {TVD: 0.515, JSD: 0.213},
        BOTH: {TVD: 0.503, JSD: 0.211},
        ANSWERS: {TVD: 0.500, JSD: 0.211},
    },
    "plain": {ANSWERS: {TVD: 0.553, JSD: 0.265}},
}
ACROSS = {  # TVD of the baseline and of MT on other corpora, without retraining
    "improv-podcast": (0.601, 0.518),
    "improv-iemocap": (0.633, 0.613),
    "improv-muse": (0.530, 0.470),
}
