"""The methods of the paper's Table 4 and variants of ours, as settings, and what is tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dissensus.methods import method as method_class
from dissensus.methods.framework.settings import changed
from dissensus.training import Training
from dissensus_papers.framework.models import known, with_typed
from dissensus_papers.seedbert.printed import TABLE

if TYPE_CHECKING:
    from dissensus.methods.framework.trained import TrainedMethod

N_MEMBERS, MANY = 5, 20
AT_ONCE = 30  # networks side by side on a GPU, at most


@dataclass(frozen=True)
class Model:
    """A row of the tables: a method with settings.

    Args:
        called: its name in tables.
        method: its name in `METHODS`.
        given: settings other than those that are tried.
        oracle: whether it sees more than one label of an item.
        tuned_as: the model whose chosen settings it has; itself if left out.
    """

    called: str
    method: str
    given: tuple[tuple[str, Any], ...] = ()
    oracle: bool = False
    tuned_as: str = ""

    @property
    def n_networks(self) -> int:
        """Of one fit."""
        return int(dict(self.given).get("n_members", 1))

    @property
    def size(self) -> int:
        """How many networks it counts for where several are trained at once: 30 draws of the
        weights take as much memory as another one."""
        return 2 if self.method == "bayesian" else self.n_networks


def _ensemble(called: str, vary: str, n_members: int = N_MEMBERS) -> Model:
    return Model(called, "seed-ensemble", (("n_members", n_members), ("vary", vary)), False, SEEDS)


SINGLE, SEEDS, DEEP = "single", "seeds", "everything"
MODELS: dict[str, Model] = {
    SINGLE: Model("BERT (single)", "single"),
    "bayesian": Model("BNN (bayesian)", "bayesian"),
    "soft-label": Model("LDL (soft-label, oracle)", "soft-label", oracle=True),
    "label-and-uncertainty": Model(
        "Multi-Task (label-and-uncertainty, oracle)", "label-and-uncertainty", oracle=True
    ),
    SEEDS: _ensemble("SeedBERT (seed-ensemble)", "last-layer"),
    "order": _ensemble("other order of items", "order"),
    "dropout": _ensemble("other dropout", "dropout"),
    "bag": _ensemble("bagging", "bag"),
    DEEP: _ensemble("deep ensemble (everything)", "everything"),
    f"{SEEDS}-{MANY}": _ensemble("SeedBERT, 20 members", "last-layer", MANY),
    f"{DEEP}-{MANY}": _ensemble("deep ensemble, 20 members", "everything", MANY),
}
TABLE_4 = tuple(TABLE)
VARIANTS = (SEEDS, "order", "dropout", "bag", DEEP)

CHOSEN = Training(batch_size=32, learning_rate=1e-3).over(Training())  # and what is chosen
PAPER = Training(
    epochs=3,
    batch_size=16,
    optimiser="adam",
    learning_rate=5e-6,
    encoder_learning_rate=5e-6,
    schedule="constant",
    weight_decay=0.0,
    warm_up=0.0,
    clip=math.inf,
)
RATES, EPOCHS = (3e-5, 1e-4, 3e-4), (2, 4)
COSTS = (1e-4, 1e-2)  # of a Bayesian network's weights; in the paper 1


def trials(model: str) -> list[dict[str, Any]]:
    """What is tried, as many settings of every method: rates of the encoder and epochs, of the
    Bayesian network rates and the weight of its cost, which decides whether it learns at all."""
    if MODELS[model].method == "bayesian":
        return [
            {
                "training.encoder_learning_rate": rate,
                "training.epochs": 4,
                "complexity_weight": cost,
            }
            for cost, rate in itertools.product(COSTS, RATES)
        ]
    return [
        {"training.encoder_learning_rate": rate, "training.epochs": epochs}
        for epochs, rate in itertools.product(EPOCHS, RATES)
    ]


def tuned_as(model: str) -> str:
    """The model that settings are chosen for: variants of an ensemble share those of its seeds."""
    return MODELS[model].tuned_as or model


def built(
    model: str,
    encoder: str | dict[str, str],
    settings: Mapping[str, Any],
    typed: Sequence[tuple[str, str]] = (),
) -> TrainedMethod:
    """A method without seeds, to be trained with these settings.

    Args:
        settings: those of a trial, or `AS_PAPER`.
        typed: more of them as typed, for trying things out.
    """
    from dissensus.methods.framework.trained import TrainedMethod

    model_settings = MODELS[model]
    cls = method_class(model_settings.method)
    plain = cls(encoder=encoder, tune="all", temperature=True, training=CHOSEN)  # type: ignore[call-arg]
    built = with_typed(changed(plain, dict(model_settings.given) | known(plain, settings)), typed)
    assert isinstance(built, TrainedMethod)
    return built


AS_PAPER: dict[str, Any] = {
    **{f"training.{name}": value for name, value in asdict(PAPER).items()},
    "dropout": 0.1,
    "base_rates": False,
    "complexity_weight": 1.0,
}
