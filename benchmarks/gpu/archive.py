"""One file for a folder of many: outcomes of a paper, on their way from and to a GPU machine."""

from __future__ import annotations

import io
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

KINDS = ("*.json", "*.npz", "*.parquet")
EVERY = 30  # seconds between two archives
PART = 15 << 20  # bytes of a file; the rest of an archive is in NAME.1, NAME.2 and so on


def unpack(archive: Path) -> Path:
    """A new folder with the outcomes of an archive, however it is compressed."""
    folder = Path(tempfile.mkdtemp())
    (folder / "fits").mkdir()
    parts = [archive, *sorted(archive.parent.glob(f"{archive.name}.[0-9]"))]
    whole = io.BytesIO(b"".join(part.read_bytes() for part in parts))
    with tarfile.open(fileobj=whole) as tar:
        tar.extractall(folder, filter="data")
    return folder


def resumed(*archives: Path) -> Path:
    """A folder to run into: with the outcomes of the first archive that exists, or empty."""
    archive_found = next((archive for archive in archives if archive.exists()), None)
    return unpack(archive_found) if archive_found else Path(tempfile.mkdtemp()) / "outcomes"


@contextmanager
def archived(folder: Path, archive: Path, every: float = EVERY) -> Iterator[None]:
    """Within the block the folder is put into an archive now and then, and when it ends."""
    over = threading.Event()

    def again() -> None:
        while not over.wait(every):
            write_archive(folder, archive)

    thread = threading.Thread(target=again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        write_archive(folder, archive)


def write_archive(folder: Path, archive: Path) -> None:
    """What is whole in the folder: names that begin with a dot are being written."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    new = archive.with_name(f".{archive.name}.new")
    with tarfile.open(new, "w:gz") as tar:
        for path in sorted(path for kind in KINDS for path in folder.rglob(kind)):
            inside = path.relative_to(folder)
            if not any(part.startswith(".") for part in inside.parts):
                with suppress(FileNotFoundError):  # of a fit that has just ended
                    tar.add(path, str(inside), filter=_nobodys)
    _divided(new, archive)


def _divided(new: Path, archive: Path) -> None:
    """Files of at most `PART` bytes; what comes back from a GPU machine is limited."""
    whole = new.read_bytes()
    new.unlink()
    for number, first in enumerate(range(0, len(whole), PART)):
        part = archive.with_name(f"{archive.name}.{number}") if number else archive
        part.write_bytes(whole[first : first + PART])


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without a name, a time and a machine: the same outcomes make the same archive."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry
