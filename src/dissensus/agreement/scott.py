"""Scott's pi: agreement of two annotators beyond what their pooled answers give by chance."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.kappa import pair_kappas, two
from dissensus.agreement.measure import Estimate
from dissensus.agreement.weights import Weights
from dissensus.annotations import Annotations


def scott_pi(annotations: Annotations, first: str, second: str, weights: Weights = None) -> float:
    """Agreement of two annotators on the items both answered, beyond chance.

    As Cohen's kappa, but chance takes the answers of both together: two annotators who lean to
    different answers have a lower pi than kappa. nan where undefined: no item in common, or both
    always gave one and the same answer. For more annotators at once there is `fleiss_kappa`.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> round(scott_pi(Annotations.from_rows(rows), "ann", "bob"), 4)
        0.3333

    Reference: Scott (1955), doi:10.1086/266577.
    """
    return float(pi_matrix(two(annotations, first, second), weights)[0, 1])


def pi_matrix(annotations: Annotations, weights: Weights = None) -> np.ndarray:
    """Scott's pi of every pair of annotators, (n_annotators, n_annotators); 1 on the diagonal."""
    return pair_kappas(annotations, weights, "Scott's pi", pooled=True).matrix()


def mean_pi(annotations: Annotations, weights: Weights = None) -> float:
    """Scott's pi, mean over the pairs of annotators that have one; nan where none has."""
    return prepare_mean_pi(annotations, weights).value()


def prepare_mean_pi(annotations: Annotations, weights: Weights = None) -> Estimate:
    """`mean_pi`, prepared to leave out items."""
    return pair_kappas(annotations, weights, "Scott's pi", pooled=True)
