"""Soft densities of 200 observations on 64 x 64 cells: many at a time, against one after another.

    python benchmarks/bench_densities.py
    python benchmarks/bench_densities.py --gpu FILE     on a GPU; see results/densities_gpu.json

"as printed": numpy and scipy, one item after another, with the recursion of Botev et al. (2010) as
it is printed and Brent's method, as in their own programs, without a gradient.
"torch": batches of tensors in float32. Rows with a gradient compute the density and the gradient of
one number with respect to all observations; numpy's is by differences, which takes 401 densities.

Densities per processor second, on one thread, median of alternated runs. On a GPU, densities per
second by the clock.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from scipy.fft import dctn, idctn
from scipy.optimize import brentq
from scipy.special import expit
from torch import Tensor

from dissensus.densities import Grid, diffusion_kde

N, TEMPERATURE, N_OBSERVATIONS, BATCH = 64, 8.0, 200, 256
GRID = Grid((N, N))
BARS = {"cpu": 50, "cuda": 20_000}  # times as many as "as printed"; forward, per second


def observations(n_items: int, seed: int = 0) -> np.ndarray:
    """Ratings around a centre of each item, spread more or less: (n_items, 200, 2)."""
    generator = np.random.default_rng(seed)
    centre = generator.uniform(-0.5, 0.5, (n_items, 1, 2))
    width = generator.uniform(0.05, 0.5, (n_items, 1, 2))
    noise = generator.normal(size=(n_items, N_OBSERVATIONS, 2))
    return (centre + width * noise).clip(-1, 1)


def as_printed(item: np.ndarray) -> np.ndarray:
    """The density of one item: the formulas, and nothing else."""
    edges = np.linspace(-1, 1, N + 1)
    above = expit(TEMPERATURE * (item[:, :, None] - edges))  # (200, 2, n + 1)
    shares = above[:, :, :-1] - above[:, :, 1:]
    cosines = dctn(shares[:, 0].T @ shares[:, 1] / N_OBSERVATIONS)
    cosines[0] /= 2
    cosines[:, 0] /= 2
    power, squares = cosines**2, np.arange(N) ** 2.0
    half = np.where(squares > 0, 0.5, 1)

    def roughness(i: int, j: int, time: float) -> float:
        if i + j <= 4:
            total = abs(roughness(i + 1, j, time) + roughness(i, j + 1, time))
            odd = math.prod(range(1, 2 * i, 2)) * math.prod(range(1, 2 * j, 2))
            share = (1 + 0.5 ** (i + j + 1)) / 3
            time = (share * odd / (np.pi * N_OBSERVATIONS * total)) ** (1 / (2 + i + j))
        weights = half * np.exp(-(np.pi**2) * squares * time)
        value = (weights * squares**j) @ power @ (weights * squares**i)
        return float((-1) ** (i + j) * np.pi ** (2 * (i + j)) * value)

    def error(time: float) -> float:
        total = roughness(0, 2, time) + roughness(2, 0, time) + 2 * roughness(1, 1, time)
        gamma = (2 * np.pi * N_OBSERVATIONS * total) ** (-1 / 3)
        return float(time - (time - gamma) / gamma)

    root = brentq(error, 0, 0.1)
    second, mixed, first = roughness(0, 2, root), roughness(1, 1, root), roughness(2, 0, root)
    common = 4 * np.pi * N_OBSERVATIONS * (mixed + math.sqrt(second * first))
    times = [np.cbrt((a / b) ** 0.75 / common) for a, b in ((first, second), (second, first))]
    damped = cosines * np.outer(*(np.exp(-(np.pi**2) * squares * time / 2) for time in times))
    damped[0] *= 2
    damped[:, 0] *= 2
    density = idctn(damped).clip(min=np.finfo(float).eps)
    return density / density.sum()


def by_differences(item: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """The gradient of sum(density * its value here) with respect to the observations."""
    before = as_printed(item)
    gradient = np.empty_like(item)
    for place in np.ndindex(item.shape):
        moved = item.copy()
        moved[place] += step
        gradient[place] = ((as_printed(moved) - before) * before).sum() / step
    return gradient


def forward(values: Tensor) -> Tensor:
    with torch.no_grad():
        return diffusion_kde(values, GRID, temperature=TEMPERATURE).density


def with_gradient(values: Tensor) -> Tensor:
    values = values.detach().requires_grad_()
    density = diffusion_kde(values, GRID, temperature=TEMPERATURE).density
    (gradient,) = torch.autograd.grad((density * density.detach()).sum(), values)
    return gradient


def per_second(work: Callable[[], object], n: int, device: str = "cpu") -> float:
    def now() -> float:
        if device == "cpu":
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()

    begin = now()
    work()
    return n / (now() - begin)


def cpu_rows(runs: int) -> dict[str, float]:
    """Densities per processor second of each form, median of alternated runs."""
    torch.set_num_threads(1)
    some, values = observations(8), torch.from_numpy(observations(BATCH)).float()
    expected = np.array([as_printed(item) for item in some])
    np.testing.assert_allclose(forward(torch.from_numpy(some).float()), expected, atol=1e-6)
    forms: dict[str, tuple[Callable[[], object], int]] = {
        "numpy, as printed": (lambda: [as_printed(item) for item in some], len(some)),
        "torch": (lambda: forward(values), BATCH),
        "torch, with gradient": (lambda: with_gradient(values), BATCH),
    }
    rates: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(runs + 1):
        for name, (work, n) in forms.items():
            rates[name].append(per_second(work, n))
    medians = {name: float(np.median(rate[1:])) for name, rate in rates.items()}  # 0 warms up
    gradients: list[np.ndarray] = []
    rate = per_second(lambda: gradients.append(by_differences(some[0])), 1)
    ours = with_gradient(torch.from_numpy(some[:1]))[0]
    np.testing.assert_allclose(ours, gradients[0], atol=1e-3 * float(ours.abs().max()))
    return {"numpy, as printed, with gradient": rate, **medians}


def gpu_rows(runs: int, sizes: tuple[int, ...] = (256, 1024, 4096)) -> dict[str, float]:
    """Densities per second on a GPU, by batch size, also replayed from a CUDA graph."""
    rates = {}
    torch.backends.cuda.matmul.allow_tf32 = False
    some = torch.from_numpy(observations(8)).float()
    torch.testing.assert_close(forward(some.cuda()).cpu(), forward(some), atol=1e-6, rtol=1e-3)
    for size in sizes:
        values = torch.from_numpy(observations(size)).float().cuda()
        for name, work in (("forward", forward), ("with gradient", with_gradient)):
            forms: dict[str, Callable[[], object]] = {
                name: partial(work, values),
                f"{name}, CUDA graph": captured(work, values).replay,
            }
            for label, form in forms.items():
                best = max(per_second(form, size, "cuda") for _ in range(runs + 2))
                rates[f"{label}, batch {size}"] = best
    return rates


def captured(work: Callable[[Tensor], Tensor], values: Tensor) -> torch.cuda.CUDAGraph:
    """A CUDA graph of the work, whose result agrees with that of the work itself."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work(values)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work(values)
    graph.replay()
    torch.testing.assert_close(result, work(values), atol=1e-6, rtol=1e-3)
    return graph


def shown(rates: dict[str, float], reference: str | None = None) -> str:
    lines = [f"{'':34} {'densities/s':>12} {'times' if reference else '':>8}"]
    for name, rate in rates.items():
        times = f"{rate / rates[reference]:8.2g}" if reference else ""
        lines.append(f"{name:34} {rate:12.4g} {times}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--gpu", type=Path, help="measure on a GPU instead, into this file")
    given = parser.parse_args(arguments)
    if given.gpu:
        rates = gpu_rows(given.runs)
        print(shown(rates))
        about = {
            "command": "python benchmarks/bench_densities.py --gpu FILE",
            "date": datetime.date.today().isoformat(),
            "machine": torch.cuda.get_device_name(),
            "seeds": [0],
            "densities_a_second": rates,
        }
        given.gpu.write_text(json.dumps(about, indent=1) + "\n")
        return
    rates = cpu_rows(given.runs)
    print(shown(rates, "numpy, as printed"), flush=True)
    ours = rates["torch, with gradient"]
    like, without = rates["numpy, as printed, with gradient"], rates["numpy, as printed"]
    print(f"with gradient, torch against numpy: {ours / like:.0f} times (bar: {BARS['cpu']})")
    print(f"torch with gradient against numpy without: {ours / without:.0f} times")
    from keeping import keep, kept

    content = {"threads": 1, "seeds": [0], "batch": BATCH, "densities_a_second": rates}
    keep("densities", "bench_densities.py", content)
    of_gpu = kept("densities_gpu")
    if "densities_a_second" in of_gpu:
        print(f"kept from {of_gpu['date']}, {of_gpu['machine']} (bar: {BARS['cuda']}, forward):")
        print(shown(of_gpu["densities_a_second"]))


if __name__ == "__main__":
    main()
