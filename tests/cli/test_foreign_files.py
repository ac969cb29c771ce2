"""No file that dissensus did not write is ever replaced or removed, whatever its name."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dissensus import Corpus, compare, simulate
from dissensus import run as run_all
from dissensus.errors import DissensusError
from dissensus.methods import AnnotatorMajority, AnnotatorQueries
from dissensus.report import make_report
from dissensus.training import Training
from dissensus.writers import write
from tests.cli.conftest import Run

_PATH = Path(__file__).parents[2] / "benchmarks" / "fuzzing" / "commands.py"
_SPEC = importlib.util.spec_from_file_location("commands", _PATH)
assert _SPEC is not None and _SPEC.loader is not None
commands = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(commands)

WORDS = ("config", "corpus", "predictions", "results", "comparison", "aggregation", "fit", "run")
JSON = [*(f"{word}.json" for word in (*WORDS, "part", "report")), "trial-0.json"]
TABLES = ["items.parquet", "rows.parquet", "annotators.parquet", "trained_items.parquet"]
OTHERS = ["report.html", "README.md", "log.csv", "lock", "model.safetensors", "state.safetensors"]
ANSWERS = [
    "consensus.csv",
    "consensus-a.csv",
    "predictions.csv",
    "emotion.csv",
    "predictions-a.csv",
]
WITHIN = [
    *(*JSON, *TABLES, *OTHERS, *ANSWERS, ".git/HEAD", ".lock", ".corpus/corpus.json"),
    *(f"{name}/{part}" for name in ("corpus", "model", "annotator-model", "comparison")
      for part in ("config.json", "corpus.json", "results.json", "notes.txt", "fits/a/fit.json")),
    *("fits/a/fit.json", "fits/.a.new/lock", "unfinished/a/trial-0.json", "unfinished/notes.txt"),
    *("member-0/state.safetensors", "data/train-00000-of-00001.parquet", "files/a", "replaced/a"),
    *(f".{name}.new/files/a" for name in ("results.json", "comparison.json", "state.safetensors")),
]  # fmt: skip
ENDINGS = ("", ".csv", ".json", ".jsonl", ".html", ".xlsx", ".svg", ".parquet")
BESIDE = [
    *(f".out{ending}.new/{name}" for ending in ENDINGS
      for name in ("notes", "lock", "files/a", "replaced/a")),
    *("out.unfinished/notes", "out.unfinished/state.safetensors", "out.unfinished/member-0/a"),
    *("labels.csv.dissensus.toml", ".labels.csv.dissensus.toml.new/lock", "out-emotion.csv"),
]  # fmt: skip
AS_FILES = [f".out{ending}.new" for ending in ENDINGS]
KINDS = [f'{{"kind": "{word}", "notes": 1}}' for word in (*WORDS, "report")]


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(f): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def plant(folder: Path, names: list[str], content: str) -> None:
    """Write files of a user with these names, where nothing is yet."""
    for name in names:
        path = folder / name
        if not path.exists() and not any(above.is_file() for above in path.parents):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, and what commands read besides, in a folder to copy."""
    folder = tmp_path_factory.mktemp("inputs")
    corpus = simulate.text(n_items=30, n_annotators=4, labels_per_item=3, seed=0)
    corpus.save(folder / "crowd")
    write(corpus, folder / "labels.csv")
    AnnotatorMajority().fit(corpus).save(folder / "model")
    queries = AnnotatorQueries(encoder="characters", training=Training(epochs=1)).fit(corpus)
    queries.save(folder / "queries")
    queries.predict(corpus, attention=True).save(folder / "predictions")
    commands.write_bert(folder / "bert")
    return folder


QUICK = {"--method": "annotator-majority", "--encoder": None, "--epochs": None}
COMMANDS = commands.COMMANDS
FILES = [name for name, command in COMMANDS.items() if any(w[:4] == "out." for w in command)]


def quick(command: tuple[str, ...]) -> list[str]:
    """The command with a method that needs no training."""
    words = list(command)
    for option, value in QUICK.items() if "single" in words else ():
        at = words.index(option)
        words[at : at + 2] = [] if value is None else [option, value]
    return words


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COMMANDS, "several questions", "several in a folder"])
@pytest.mark.parametrize("where", ["within", "beside", "as files", "later"])
def test_commands(
    name: str, where: str, inputs: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = ("aggregate", "two.csv", "--answer", "a", "--answer", "b", "-o")
    command = quick(COMMANDS.get(name, (*several, "out" if "folder" in name else "out.csv")))
    monkeypatch.setenv("DISSENSUS_CACHE", str(tmp_path / "cache"))
    folders = [word for word in command if word == "out"] or ["."]
    contents = ["mine\n", "", *KINDS] if (where, folders) == ("within", ["out"]) else ["mine\n"]
    for number, content in enumerate(contents):
        monkeypatch.chdir(tmp_path)
        shutil.copytree(inputs, str(number))
        monkeypatch.chdir(tmp_path / str(number))
        Path("two.csv").write_text("item,annotator,a,b\n1,x,y,n\n1,z,y,n\n2,x,n,n\n2,z,n,y\n")
        if where == "later":
            run(*command)
            plant(Path(folders[0]), [n for n in WITHIN if "/" not in n], content)
            plant(Path(folders[0]), ["notes.txt", "model/notes.txt", "fits/notes.txt"], content)
        elif where == "within" and folders == ["out"]:
            plant(Path("out"), WITHIN, content)
        elif where == "as files":
            plant(Path(), AS_FILES, content)
        else:
            plant(Path(), [*BESIDE, "out-a.csv", "out-b.csv", "out/a.csv"], content)
            if "out.html" in command:
                plant(Path(), ["out.json"], content)
        before = hashes(Path())
        ended = run(*command)
        assert "Traceback" not in ended.err
        lost = {path for path, known in hashes(Path()).items() if before.get(path, known) != known}
        lost |= before.keys() - hashes(Path()).keys()
        own = {word for word in command if word[:4] == "out."} if where == "later" else set()
        own |= {"out.json"} if "out.html" in own else set()
        assert lost - own == set(), ended.err


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_exists(
    name: str, inputs: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shutil.copytree(inputs, tmp_path / "here"))
    command = COMMANDS[name]
    files = [word for word in command if word[:4] == "out."]
    for file in files:
        Path(file).write_text("mine\n")
        ended = run(*(word for word in command if word != "--overwrite"))
        assert (ended.code, Path(file).read_text()) == (1, "mine\n")
        assert f"Error: {file}: already exists" in ended.err and "choose another path" in ended.err
        Path(file).write_text("")
    if name != "report":
        plant(Path(), files, "mine\n")
        assert run(*command).code == 0
        assert all(Path(file).read_bytes() != b"mine\n" for file in files)


def test_what_is_read_is_never_written_over(
    inputs: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shutil.copytree(inputs, tmp_path / "here"))
    Path("llm.csv").write_text("item,answer\ni1,joy\n")
    for command in (
        ("judge", "llm.csv", "labels.csv", "-o", "llm.csv"),
        ("evaluate", "predictions", "labels.csv", "--against", "llm.csv", "-o", "llm.csv"),
        ("aggregate", "labels.csv", "--gold", "llm.csv", "-o", "./llm.csv"),
        ("convert", "labels.csv", "labels.csv"),
    ):
        ended = run(*command, "--overwrite")
        assert "is the input; choose another path" in ended.err, command
    assert Path("llm.csv").read_text() == "item,answer\ni1,joy\n"


def test_the_cache(inputs: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, own = tmp_path / "cache", "0123456789abcdef01234567"
    monkeypatch.setenv("DISSENSUS_CACHE", str(cache))
    within = ("a.safetensors", ".new-a", "notes.txt", "a/12345678-12345678.safetensors")
    names = [*within, *(f"{own}/{name}" for name in within)]
    plant(cache, names, "mine\n")
    command = ("train", inputs / "crowd", "--method", "single", "--encoder", inputs / "bert", "-o")
    assert run(*command, tmp_path / "out", "--epochs", "1").code == 0
    before = hashes(cache)
    pieces = {path for path in before if Path(path).stat().st_size > 5}
    monkeypatch.setenv("DISSENSUS_CACHE_LIMIT", "1B")
    new = tmp_path / "new.csv"
    new.write_text("item,text,annotator,answer\n1,a new text,ann,joy\n1,a new text,bob,fear\n")
    assert run("train", new, *command[2:], tmp_path / "new", "--epochs", "1").code == 0
    assert pieces and before.keys() - hashes(cache).keys() == pieces


SAVING: dict[str, Callable[[Corpus, Path], Any]] = {
    "corpus": lambda corpus, path: corpus.save(path, overwrite=True),
    "model": lambda corpus, path: AnnotatorMajority().fit(corpus).save(path, overwrite=True),
    "predictions": lambda corpus, path: (
        AnnotatorMajority().fit(corpus).predict(corpus).save(path, overwrite=True)
    ),
    "compare": lambda corpus, path: compare(corpus, ["prior"], out=path, seeds=1, processes=1),
    "results": lambda corpus, path: compare(
        corpus, ["prior"], out=path.with_name("done"), seeds=1
    ).save(path, True),
    "run": lambda corpus, path: run_all(corpus, path, methods=["prior"], seeds=1),
    "datasets": lambda corpus, path: write(corpus, path, "datasets", overwrite=True),
    "report": lambda corpus, path: make_report(corpus).save(path / "report.html"),
    "checkpoint": lambda corpus, path: (
        AnnotatorMajority().fit(corpus, checkpoint=path).forget_checkpoint()
    ),
}


@pytest.mark.parametrize("name", SAVING)
@pytest.mark.parametrize("later", [False, True])
def test_functions(name: str, later: bool, tmp_path: Path) -> None:
    corpus = simulate.text(n_items=30, n_annotators=4, labels_per_item=3, seed=0)
    if later:  # in a folder of ours, of any kind
        SAVING["corpus" if name == "datasets" else name](corpus, tmp_path / "out")
    plant(tmp_path / "out", ["notes.txt"] if later else WITHIN, "mine\n")
    before = hashes(tmp_path)
    with suppress(DissensusError):
        SAVING[name](corpus, tmp_path / "out")
    after = hashes(tmp_path)
    lost = {path for path in before if before[path] != after.get(path)}
    own = {"report.html", "report.json"} if name in ("run", "report") else {f"{name}.json"}
    own = own if later else set()
    assert {Path(path).name for path in lost} - own == set()


def test_a_folder_of_ours_needs_overwrite(inputs: Path, tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"
    command = ("predict", inputs / "model", inputs / "crowd", "--split", "all", "-o", out)
    assert run(*command).code == 0
    before = hashes(out)
    assert run(*command).err.splitlines()[-1] == (
        f"Error: {out}: is already a dissensus predictions folder; replace it with --overwrite "
        "(overwrite=True), or choose another path"
    )
    assert run(*command, "--overwrite").code == 0 and hashes(out) == before
    for ours in (
        Corpus.load(inputs / "crowd"),
        AnnotatorMajority().fit(Corpus.load(inputs / "crowd")),
    ):
        ours.save(tmp_path / "saved")
        with pytest.raises(DissensusError, match="replace it with --overwrite"):
            ours.save(tmp_path / "saved")
        ours.save(tmp_path / "saved", overwrite=True)
        (tmp_path / "saved").rename(tmp_path / type(ours).__name__)
