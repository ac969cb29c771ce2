"""Mutations of a file's bytes: blind ones, and ones that know texts, JSON, tables and zips."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

HOSTILE_TEXTS = [
    "", " ", "\0", "\x1b[31m", "\ud800", "\u202e", "nan", "NaN", "inf", "-inf", "1e999", "-0",
    "9" * 30, "9" * 5000, "1e-400", "0x10", "١", "true", "None", "null", "[]", "{}", "a" * 5000,
    "é" * 300, "\n", "\r\n", "\t", ",", ";", "|", '"', "'", '""', "\\", "=1+1", "../../etc/passwd",
    "/dev/zero", "\ufeff", "😀", "2024-01-01", "1,2,3", '["a","b"]', '{"a": 1}', "<a>", "&amp;",
]  # fmt: skip
HOSTILE_VALUES: list[Any] = [
    None, True, False, 0, -1, 2**31, 2**63, 2**64, 10**40, 1.5, 1e308, float("nan"), float("inf"),
    "", "\0", "\ud800", "a" * 3000, [], {}, [[]], [None], {"": None}, [1, "a", None], [[1], [1, 2]],
    {"format": 1}, list(range(300)),
]  # fmt: skip
Mutation = Callable[[bytes, Random], bytes]


def mutated(data: bytes, random: Random) -> bytes:
    """The bytes after one to four mutations that suit them."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(suitable(data))(data, random)
    return data


def suitable(data: bytes) -> list[Mutation]:
    """The mutations for a file that begins like this."""
    blind: list[Mutation] = [bits, cut, zeros, repeat, insert, number, swap, empty]
    if data[:2] == b"PK":
        return [*blind, zip_member, zip_member, zip_member]
    if data[:1] in (b"{", b"["):
        return [*blind[:6], json_value, json_value, json_value, json_key, text, nesting]
    if data[:4] in (b"PAR1", b"ARRO", b"\x93NUM") or b"\0" in data[:200]:
        return blind
    return [*blind[:6], text, text, cell, cell, cell, line, line, encoding]


# ---- of any bytes ----


def bits(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 10)) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(data: bytes, random: Random) -> bytes:
    first, second = sorted(random.randint(0, len(data)) for _ in range(2))
    return random.choice((data[:first], data[second:], data[:first] + data[second:]))


def zeros(data: bytes, random: Random) -> bytes:
    start, length = random.randint(0, len(data)), random.choice((1, 8, 100))
    return data[:start] + bytes(length) + data[start + length :]


def repeat(data: bytes, random: Random) -> bytes:
    start = random.randint(0, len(data))
    part = data[start : start + random.choice((1, 10, 100, 1000))]
    return data[:start] + part * random.choice((2, 3, 50)) + data[start:]


def insert(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.randbytes(random.choice((1, 2, 4, 16))) + data[at:]


def number(data: bytes, random: Random) -> bytes:
    """Put an extreme number in the place of four or eight bytes, as in a length field."""
    at, size = random.randint(0, len(data)), random.choice((2, 4, 8))
    value = random.choice((0, 1, 2 ** (8 * size - 1) - 1, 2 ** (8 * size) - 1, 2 ** (4 * size)))
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


def swap(data: bytes, random: Random) -> bytes:
    a, b, c = sorted(random.randint(0, len(data)) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def empty(data: bytes, random: Random) -> bytes:
    return random.choice((b"", b"\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"PK\x03\x04", b"{"))


# ---- of texts ----


def text(data: bytes, random: Random) -> bytes:
    """Put a hostile text in the place of a word."""
    words = list(re.finditer(rb"[^\s,;:\"{}\[\]<>]+", data))
    if not words:
        return data
    word = random.choice(words)
    return data[: word.start()] + _bytes(random.choice(HOSTILE_TEXTS)) + data[word.end() :]


def line(data: bytes, random: Random) -> bytes:
    """Delete, repeat, move or join lines."""
    lines = data.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines[at:at] = [lines[other]] * random.choice((1, 2, 30))
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines[at] = b""
    else:
        lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    return b"\n".join(lines)


def cell(data: bytes, random: Random) -> bytes:
    """Change a cell of a table, or a whole column."""
    separator = b"\t" if data.count(b"\t") > data.count(b",") else b","
    rows = [row.split(separator) for row in data.split(b"\n")]
    row = random.choice(rows)
    at = random.randrange(len(row))
    value = _bytes(random.choice(HOSTILE_TEXTS))
    kind = random.randrange(5)
    if kind == 0:
        row[at] = value
    elif kind == 1:
        del row[at]
    elif kind == 2:
        row.insert(at, value)
    elif kind == 3:  # a column of one value
        for other in rows[1:]:
            if at < len(other):
                other[at] = value
    else:  # the cells of a column in another order
        cells = [other[at] for other in rows[1:] if at < len(other)]
        random.shuffle(cells)
        for other in rows[1:]:
            if at < len(other):
                other[at] = cells.pop()
    return b"\n".join(separator.join(row) for row in rows)


def encoding(data: bytes, random: Random) -> bytes:
    name = random.choice(("utf-16", "utf-16-le", "utf-32", "cp1252", "utf-8-sig", "utf-7"))
    return data.decode("utf-8", "replace").encode(name, "replace")


def _bytes(hostile: str) -> bytes:
    return hostile.encode("utf-8", "surrogatepass")


# ---- of JSON ----


def json_value(data: bytes, random: Random) -> bytes:
    """Put a hostile value anywhere in JSON, or in one of its lines."""
    return _in_json(data, random, lambda holder, key: _set(holder, key, random))


def json_key(data: bytes, random: Random) -> bytes:
    """Delete, rename or repeat an entry of JSON."""

    def change(holder: Any, key: Any) -> None:
        kind = random.randrange(3)
        value = holder.pop(key)
        if isinstance(holder, dict) and kind == 1:
            holder[random.choice(HOSTILE_TEXTS)] = value
        elif isinstance(holder, list) and kind > 0:
            holder += [value] * random.choice((2, 40))

    return _in_json(data, random, change)


def nesting(data: bytes, random: Random) -> bytes:
    depth = random.choice((50, 2000, 100_000))
    start, stop = random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    at = random.choice([0, *(m.end() for m in re.finditer(rb"[:,\[]", data))])
    return data[:at] + start * depth + b"1" + stop * depth + data[at:]


def _set(holder: Any, key: Any, random: Random) -> None:
    holder[key] = random.choice(HOSTILE_VALUES)


def _in_json(data: bytes, random: Random, change: Callable[[Any, Any], None]) -> bytes:
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    for whole, part in ((True, data), (False, lines[at])):
        try:
            content = json.loads(part)
        except (ValueError, RecursionError):
            continue
        places = _places(content)
        if places:
            change(*random.choice(places))
        new = json.dumps(content, ensure_ascii=bool(random.randrange(2)))
        part = new.encode("utf-8", "surrogatepass")
        return part if whole else b"\n".join([*lines[:at], part, *lines[at + 1 :]])
    return text(data, random)


def _places(content: Any) -> list[tuple[Any, Any]]:
    """Every list and object in JSON, with each of its keys."""
    places: list[tuple[Any, Any]] = []
    waiting = [content]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict | list):
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            places += [(holder, key) for key in keys]
            waiting += [holder[key] for key in keys]
    return places


# ---- of zips ----


def zip_files(data: bytes) -> dict[str, bytes] | None:
    """The files in a zip; None if it cannot be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    except Exception:
        return None


def zip_member(data: bytes, random: Random) -> bytes:
    """Change the content or the name of an entry of a zip."""
    members = zip_files(data)
    if members is None:
        return bits(data, random)
    if not members:
        return data
    name = random.choice(list(members))
    if random.randrange(4):
        members[name] = mutated(members[name], random)
    else:
        members[random.choice(["./a", ".", "../a", "a/b", "é.jsonl", "", ".hidden"])] = members.pop(
            name
        )
    packed_again = io.BytesIO()
    with zipfile.ZipFile(packed_again, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, content in members.items():
            packed.writestr(zipfile.ZipInfo(member), content)
    return packed_again.getvalue()
