"""Figures of the paper: STREET, means over its five questions (seed paper, Tables 2, 4, 5, 7)."""

from __future__ import annotations

from dissensus_papers.qumatl.models import BASE, QUERIES

ACCURACY, DIC = "annotator accuracy", "DIC, all pairs"
STREET = {
    BASE: {ACCURACY: 0.472},
    "d-lema": {ACCURACY: 0.512, DIC: 0.538},
    "padl": {ACCURACY: 0.564, DIC: 0.464},
    "madl": {ACCURACY: 0.516, DIC: 0.434},
    QUERIES: {ACCURACY: 0.616, DIC: 0.372},
}
ABLATION = {
    QUERIES: {ACCURACY: 0.616},
    "unified": {ACCURACY: 0.520},
    "alone": {ACCURACY: 0.522},
    "pre-mv": {"accuracy": 0.596},
    "post-mv": {"accuracy": 0.604},
}
SPARSE = {
    20: {"padl": {ACCURACY: 0.504}, QUERIES: {ACCURACY: 0.586}},
    30: {"padl": {ACCURACY: 0.454}, QUERIES: {ACCURACY: 0.556}},
    40: {"padl": {ACCURACY: 0.414}, QUERIES: {ACCURACY: 0.526}},
}
