"""Pages that the site makes when it is built: a page for each method and for each public folder.

A hook of MkDocs (mkdocs.yml). What pages say is taken from docstrings, from the settings of
methods, and from what benchmarks kept.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import runpy
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import dissensus
from dissensus.methods import METHODS, method
from dissensus.methods.registry import PRESETS

DOCS = Path(__file__).parent
ROOT = DOCS.parent
BORROWED = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")  # pages above the folder docs
FORMULAS = {
    "prior": "p(y) = mean over training items of the share of y",
    "annotator-majority": "p(y | a) = share of y among the answers of a, smoothed",
    "annotator-median": "p(y | a) as above; the answer is the median of a's answers",
    "logistic": "p(y | x) = softmax(W x + b), learned from one label for each item",
    "logistic-votes": "p(y | x) = softmax(W x + b), learned from the shares of the answers",
    "annotator-logistic": "p(y | x, a) = softmax(W x + b + v_a)",
    "single": "p(y | x) = softmax(W h(x) + b)\nloss = -log p(label | x)",
    "seed-ensemble": "p_1 ... p_M differ in the first weights of their last layers\n"
    "p(y | x) = mean of p_m(y | x), members = argmax of each p_m",
    "bayesian": "w ~ N(mu, sigma^2)\n"
    "loss = -log mean over w of p(label | x, w) + KL(N(mu, sigma^2) || prior) / items",
    "soft-label": "loss = -sum over y of s(y) log p(y | x), s = shares of the answers to x",
    "soft-label-mtl": "loss = -log p(label | x) + d(s, q(. | x)), with two output layers p and q",
    "repeated-label": "loss = -log p(y | x), summed over every answer y to x",
    "label-and-uncertainty": "loss = -log p(label | x) + w (u(x) - disagreement(x))^2",
    "annotator-heads": "p(y | x, a) = softmax((W + W_a) h(x)), W_a ~ N(0, spread^2)\n"
    "p(y | x) = mean over a of p(y | x, a)",
    "annotator-onehot": "p(y | x, a) = softmax(W g(h(x), e_a)), e_a one-hot",
    "annotator-queries": "z_a = Q-Former(query of a, positions of x)\n"
    "p(y | x, a) = softmax(W_a z_a)",
    "annotator-embedding": "p(y | x, a) = softmax(W g(h(x) + alpha(x, a) E_a))\n"
    "E_a ~ N(0, spread^2)",
    "base-heads": "p(y | x, a) = softmax(W_a g_a(h(x)))",
    "d-lema": "a network p_a(y | x) for each annotator\n"
    "p(y | x) = mean over a, weighted by 1 - entropy of p_a",
    "padl": "shared logits ~ N(mu(x), sigma(x)^2)\nlogits of a ~ N(mu(x) + delta_a(x), sigma_a^2)",
    "crowd-layer": "p(c | x) = softmax(f(x))\nlogits of a = M_a p(. | x), M_a = I at first",
    "conal": "logits of a = (w M + (1 - w) M_a) p(. | x), w = sigmoid(u_a . v(x))\n"
    "loss = -log p(y | x, a) - l sum over a of |M_a - M|",
    "union-net": "loss = -log sum over c of p(c | x) P(a, y | c), P a softmax over all (a, y)\n"
    "p(y | x, a) = sum over c of p(c | x) P(y | a, c)",
    "annotator-confusions": "p(y | x, a) = sum over c of p(c | x) P_a(c, y)\n"
    "P_a = softmax(S + D_a), D_a ~ N(0, spread^2)",
    "geo-f": "p(y | x, a) = sum over c of p(c | x) P_a(c, y)\n"
    "loss = -log p(y | x, a) - l log det of F'F, F the classes of a batch, (items, values)",
    "geo-w": "p(y | x, a) = sum over c of p(c | x) P_a(c, y)\n"
    "loss = -log p(y | x, a) - l log det of W'W, W all P_a, (annotators and answers, classes)",
    "joint-em": "loss = -log sum over c of p(c | x) prod over a of P_a(c, answer of a)",
    "madl": "p(y | x, a) = sum over c of p(c | x) P(c, y | x, a)\n"
    "P from embeddings of x and a, and their product",
    "annot-mix": "as madl, trained on mixtures l (x, a, y) + (1 - l) (x', a', y'), l ~ Beta",
    "method-ensemble": "p(y | x) = mean over members m of p_m(y | x)",
    "grid-density": "p(cell | x) = softmax over the cells of a grid\n"
    "loss = cross-entropy to the density of the ratings",
}


def on_config(config: Any) -> Any:
    """Put the pages that are made into the navigation."""
    for section in config.nav:
        if "Methods" in section:
            section["Methods"].append({"Each method": [{n: f"methods/{n}.md"} for n in METHODS]})
        if "Reference" in section:
            pages = [{f"ds.{name}": f"reference/{name}.md"} for name in folders()]
            section["Reference"].append({"By folder": [*pages, {"ds": "reference/ds.md"}]})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made."""
    from mkdocs.structure.files import File  # of the group `docs`

    made = {f"methods/{name}.md": method_page(name) for name in METHODS}
    made |= {f"reference/{name}.md": folder_page(name) for name in folders()}
    made["reference/ds.md"] = names_page()
    made |= {name: (ROOT / name).read_text(encoding="utf-8") for name in BORROWED}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links as they are in the site; notebooks with what their code shows."""
    name = page.file.src_uri
    if name.startswith("notebooks/"):
        link = f'<a href="{Path(name).stem}.ipynb">Download as a notebook</a>'
        return f"{notebook().to_markdown(_run(name))}\n{link}\n"
    if name in BORROWED:
        return re.sub(r"\]\(docs/", "](", markdown)
    markdown = re.sub(rf"\]\(\.\./({'|'.join(map(re.escape, BORROWED))})", r"](\1", markdown)
    if name == "methods.md":
        markdown = re.sub(r"^\| `([\w-]+)` \|", _linked, markdown, flags=re.MULTILINE)
    if name == "reference.md":
        links = "\n".join(f"- [`ds.{n}`](reference/{n}.md): {sentence(n)}" for n in folders())
        markdown = markdown.replace("<!-- reference -->", f"\n{links}\n")
    return markdown


def on_post_build(config: Any) -> None:
    """Write each notebook as .ipynb, too."""
    for path in sorted(DOCS.glob("notebooks/*.md")):
        made = notebook().to_notebook(_run(f"notebooks/{path.name}"))
        Path(config.site_dir, "notebooks", f"{path.stem}.ipynb").write_text(made, encoding="utf-8")


@cache
def notebook() -> ModuleType:
    """The module notebook.py, next to this file."""
    sys.path.append(str(DOCS))
    return importlib.import_module("notebook")


@cache
def _run(name: str) -> Any:
    return notebook().run(DOCS / name)


def _linked(cell: re.Match[str]) -> str:
    return f"| [`{cell[1]}`](methods/{cell[1]}.md) |" if cell[1] in METHODS else cell[0]


def method_page(name: str) -> str:
    """Idea, formula, when another is better, settings, measured figures and paper of a method."""
    cls = method(name)
    preset = PRESETS.get(name)
    lines = [f"# {name}", ""]
    if preset:
        given = ", ".join(f"{setting}={value!r}" for setting, value in preset.items())
        lines += [f"`dissensus.methods.build({name!r})`: `{cls.__name__}({given})`.", ""]
    options = "{options: {members: false, show_root_heading: false, heading_level: 2}}"
    lines += [f"::: {cls.__module__}.{cls.__qualname__}", f"    {options[1:-1]}", ""]
    lines += ["## Formula", "", "```", FORMULAS[name], "```", ""]
    lines += [
        "x is an item with its content, a an annotator, y an answer, c a true class, h the encoder",
        "and the hidden layers.",
        "",
    ]
    lines += ["## Defaults", "", "| setting | default |", "|---|---|"]
    for parameter in inspect.signature(cls).parameters.values():
        lines.append(f"| `{parameter.name}` | `{_shown(parameter.default)}` |")
    lines += ["", "## Measured", "", *measured(name), "", "## On the command line", ""]
    lines += ["```", f"dissensus train FILE --method {name} -o model/", "```", ""]
    lines += ["[Which method when](../which.md) · [methods in depth](../methods.md)"]
    return "\n".join(lines)


def _shown(default: object) -> str:
    text = repr(default)
    return (text if len(text) < 90 else f"{type(default).__name__}(...)").replace("|", "\\|")


@cache
def _kept() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    script = runpy.run_path(str(ROOT / "benchmarks" / "gpu" / "defaults.py"))
    path = ROOT / "benchmarks" / "results" / "defaults.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return script, rows


def measured(name: str) -> list[str]:
    """The scores of a method on each corpus, next to the best one."""
    script, rows = _kept()
    lines = []
    for row in rows:
        if name in row["scores"]:
            own, best = (row["scores"][m][row["metric"]] for m in (name, script["best_of"](row)))
            cells = [row["corpus"], row["metric"], f"{own:.3f}", f"{best:.3f}"]
            lines.append(f"| {' | '.join(cells)} | `{script['best_of'](row)}` |")
    if not lines:
        return ["See [crowds](../crowds.md) and [the four papers](../papers.md)."]
    head = ["| corpus | score | this method | best | which |", "|---|---|--:|--:|---|"]
    made = "`python benchmarks/gpu/defaults.py show`: default settings, three folds, two seeds."
    return [*head, *lines, "", f"{made} More in [crowds](../crowds.md) and [papers](../papers.md)."]


@cache
def folders() -> tuple[str, ...]:
    """The public folders of the package."""
    names = [n for n in dissensus.__all__ if isinstance(getattr(dissensus, n), ModuleType)]
    return tuple(sorted(names))


def sentence(name: str) -> str:
    """The first line of a folder's docstring."""
    return str(getattr(dissensus, name).__doc__).splitlines()[0]


def folder_page(name: str) -> str:
    """The public names of a folder, with their docstrings."""
    module = getattr(dissensus, name)
    lines = [f"# ds.{name}", "", sentence(name), ""]
    for public in getattr(module, "__all__", []):
        entry = getattr(module, public)
        if inspect.isclass(entry) or inspect.isfunction(entry):
            lines += [f"::: {entry.__module__}.{entry.__qualname__}", ""]
        elif isinstance(entry, dict):
            lines += [f"## {public}", "", ", ".join(f"`{key}`" for key in entry), ""]
    return "\n".join(lines)


def names_page() -> str:
    """Names of the package itself."""
    lines = ["# ds", "", "What `import dissensus as ds` offers besides its folders.", ""]
    for name in dissensus.__all__:
        entry = getattr(dissensus, name)
        if not isinstance(entry, ModuleType):
            lines += [f"::: {entry.__module__}.{entry.__qualname__}", ""]
    return "\n".join(lines)
