"""Figures of the paper: MSP-Improv, means over five seeds.

The first concordance is that of activation, the second that of valence.
"""

from __future__ import annotations

from dissensus_papers.individual.models import GRID_BASELINE, MT

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
