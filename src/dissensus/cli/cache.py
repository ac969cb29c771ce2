"""dissensus cache: the features that frozen encoders have cached on disk; show or delete them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from dissensus.cli.console import columns, number, print_json, show
from dissensus.errors import DataError

if TYPE_CHECKING:
    from dissensus.encoders.framework.cache import CachedEncoder


def cache(
    encoder: str | None = None,
    clear: bool = False,
    limit: str | None = None,
    json: bool = False,
) -> None:
    """Show the features that frozen encoders have cached on disk, or delete them.

    Args:
        encoder (ENCODER): Name of an encoder or of its cache folder (default: all).
        clear: Delete the cached features of ENCODER, or of all encoders.
        limit: Delete the least recently used features until this size is reached, e.g. 5GB.

    Examples:
        dissensus cache
        dissensus cache --clear
    """
    from dissensus.encoders.framework import cache as features

    if limit is not None and (clear or encoder):
        raise DataError("--limit applies to the whole cache; leave out --clear and ENCODER")
    if clear or limit is not None:
        freed = features.clear(encoder) if clear else features.trim(features.size(limit or ""))
        left = sum(one.bytes for one in features.cached_encoders())
        folder = str(features.cache_folder())
        if json:
            print_json({"folder": folder, "freed": freed, "bytes": left})
        else:
            print(f"{folder}: {readable(freed)} deleted, {readable(left)} left")
        return
    folder, limit_size = str(features.cache_folder()), features.cache_limit()
    entries = [one for one in features.cached_encoders() if encoder is None or one.matches(encoder)]
    if json:
        encoders = [
            {
                "name": one.name,
                "identity": one.identity,
                "folder": one.folder.name,
                "contents": one.contents,
                "bytes": one.bytes,
                "used": datetime.fromtimestamp(one.used).astimezone().isoformat(timespec="seconds"),
            }
            for one in entries
        ]
        print_json({"folder": folder, "limit": limit_size, "encoders": encoders})
    elif not entries:
        of = f" of encoder {encoder!r}" if encoder else ""
        print(f"{folder}: no cached features{of}")
    else:
        total = readable(sum(one.bytes for one in entries))
        print(f"{folder}: {total}, the limit is {readable(limit_size)}")
        _show(entries)


def _show(entries: list[CachedEncoder]) -> None:
    rows = []
    for one in entries:
        used = datetime.fromtimestamp(one.used).strftime("%Y-%m-%d %H:%M")
        sizes = (number(one.contents), readable(one.bytes))
        rows.append([one.name, *sizes, used, one.folder.name[:8]])
    names = ["encoder", "contents", "size", "last used", "folder"]
    show(columns(names, rows, ["contents", "size"], names[1:]))


def readable(size: int) -> str:
    """A size in bytes as text.

    Example:
        >>> readable(999), readable(20 * 10**9), readable(1_234_567)
        ('999 B', '20 GB', '1.2 MB')
    """
    for unit, worth in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= worth:
            return f"{size / worth:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} B"
