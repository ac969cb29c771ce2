"""The speed that the page on densities reports is the one that was measured."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_was_measured() -> None:
    text = (ROOT / "docs" / "densities.md").read_text(encoding="utf-8")
    output = " ".join(text.partition("## Speed")[2].split())
    cpu, gpu = (
        json.loads((ROOT / "benchmarks" / "results" / name).read_text())["densities_a_second"]
        for name in ("densities.json", "densities_gpu.json")
    )
    batches, differences = cpu["torch, with gradient"], cpu["numpy, as printed, with gradient"]
    assert (
        f"with gradients, {batches:,.0f} a second. numpy and scipy reach {differences:.2f}"
        in output
    )
    assert f"({batches / differences:,.0f} times fewer)" in output and batches > 50 * differences
    alone, one = cpu["torch"], cpu["numpy, as printed"]
    assert f"without gradients, {alone:,.0f} a second; numpy and scipy reach {one:.0f}" in output
    assert f"({alone / one:.0f} times fewer), or {cpu['numpy, levels']:.0f} with each" in output
    forward, with_gradient = (
        [gpu[f"{kind}, batch {n}"] for n in (256, 4096)] for kind in ("forward", "with gradient")
    )
    assert min(forward) > 20_000
    assert (
        f"computes {forward[0]:,.0f} a second in batches of 256 and {forward[1]:,.0f} in batches "
        f"of 4,096; with gradients, {with_gradient[0]:,.0f} and {with_gradient[1]:,.0f}."
    ) in output
