"""Mutations of what a file means: types of JSON, columns, Arrow types, cells of workbooks, and
saved folders whose checksums are right."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from mutations import HOSTILE_TEXTS, HOSTILE_VALUES, json_key, json_value, mutated, zip_files

COLUMN_NAMES = [
    *("item", "annotator", "answer", "text", "label", "gold", "id", "worker", "split", "question"),
    *("label_1", "label_2", "Answer.mood", "Rate [cat.jpg]", "annotator_1", "ann.age", "1_Q3"),
    *("Input.a", "annotations", "user_name", "time", "start", "end", "a-mood", "mood (ann)", "0"),
    *("Unnamed: 0", "_unit_id", "Timestamp", "INPUT:a", "OUTPUT:a", "item ", "ITEM", "ítem"),
    "x" * 201,
    *("a" * 4000, "1_" * 2000, "[" * 2000, "(a " * 1000, "a.b" * 1000, " \t" * 1000, "A1" * 1500),
]  # fmt: skip
CELLS = [
    *("XFD1048576", "A0", "", "ZZZZ1", "A99999999999", "a1", "$A$1", "A1:B2", "XFE1", "A-1", "1A"),
    *("B", "7", "A1", "A1048577", "💥1", "A1048576", "BZZ3"),
]
NUMBERS = ["-1", "99999999", "2147483648", "1e400", "nan", "", "💥", "0", "1e-320", "4294967296"]


def restructured(path: Path, random: Random) -> None:
    """Change the structure of one or two files, by what they are."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) or [path]
    for file in random.sample(files, min(len(files), random.choice((1, 1, 2)))):
        data = file.read_bytes()
        for _ in range(random.choice((1, 1, 2, 3))):
            data = changed(data, random)
        file.write_bytes(data)


def changed(data: bytes, random: Random) -> bytes:
    """The bytes of a file after one mutation of its structure."""
    if data[:4] in (b"PAR1", b"ARRO"):
        return arrow_types(data, random)
    if data[:2] == b"PK":
        return members(data, random)
    if data[:6] == b"\x93NUMPY":
        return array_type(data, random)
    if data.lstrip()[:1] in (b"{", b"["):
        return random.choice((everywhere, everywhere, json_value, json_key))(data, random)
    return columns(data, random)


# ---- JSON ----


def everywhere(data: bytes, random: Random) -> bytes:
    """Give each value of one key another type, or the key another name, in the whole file."""
    lines = data.split(b"\n")
    try:
        documents, whole = [json.loads(data)], True
    except (ValueError, RecursionError):
        try:
            documents, whole = [json.loads(line) for line in lines if line], False
        except (ValueError, RecursionError):
            return mutated(data, random)
    holders = list(_objects(documents))
    if not holders:
        return mutated(data, random)
    key = random.choice(sorted({key for holder in holders for key in holder}))
    convert, name = random.choice(CONVERSIONS), random.choice(COLUMN_NAMES)
    renamed = not random.randrange(4)
    for holder in holders:
        if key in holder and (renamed or random.random() < 0.9):
            value = holder.pop(key)
            holder[name if renamed else key] = value if renamed else convert(value, random)
    texts = [json.dumps(one, ensure_ascii=bool(random.randrange(2))) for one in documents]
    return (texts[0] if whole else "\n".join(texts)).encode("utf-8", "surrogatepass")


def _objects(content: Any) -> Iterator[dict[str, Any]]:
    return (one for one in _holders(content) if isinstance(one, dict) and one)


CONVERSIONS: list[Callable[[Any, Random], Any]] = [
    lambda value, random: str(value),
    lambda value, random: [value],
    lambda value, random: [value, [value]],
    lambda value, random: {"value": value},
    lambda value, random: {str(value)[:40]: value},
    lambda value, random: None,
    lambda value, random: random.choice((value, None)),
    lambda value, random: random.choice((value, str(value), [value])),
    lambda value, random: random.random() * 10,
    lambda value, random: random.randrange(-2, 3),
    lambda value, random: bool(random.randrange(2)),
    lambda value, random: random.choice((float("nan"), 1e308, -(2**63), 2**53 + 1)),
    lambda value, random: json.dumps(value),
    lambda value, random: list(value) if isinstance(value, str | dict) else value,
    lambda value, random: value * 2 if isinstance(value, list | str | int) else value,
    lambda value, random: value[1:] if isinstance(value, list | str) else value,
    lambda value, random: value[::-1] if isinstance(value, list | str) else value,
    lambda value, random: -value if isinstance(value, int | float) else value,
    lambda value, random: random.choice(HOSTILE_VALUES),
    lambda value, random: random.choice(HOSTILE_TEXTS),
]


# ---- columns of a table of text ----


def columns(data: bytes, random: Random) -> bytes:
    """Rename, repeat, drop or exchange columns of a table of text."""
    separator = b"\t" if data.count(b"\t") > data.count(b",") else b","
    rows = [line.split(separator) for line in data.split(b"\n")]
    header, kind = rows[0], random.randrange(6)
    at, other = random.randrange(len(header)), random.randrange(len(header))
    if kind < 3:
        for place in {at, other} if kind else range(len(header)):
            header[place] = random.choice(COLUMN_NAMES + HOSTILE_TEXTS).encode("utf-8", "replace")
    elif kind == 3:
        header[at] = header[other]
    else:
        for row in rows:
            if len(row) > max(at, other):
                number = str(sum(row[at]) * 7919 % 101).encode()
                copies = [row[other]] * random.choice((0, 2, 40))
                row[at : at + 1] = copies if kind == 4 else [number]
    return b"\n".join(separator.join(row) for row in rows)


# ---- Arrow ----

SIMPLE = [
    *(pa.null(), pa.bool_(), pa.int8(), pa.uint8(), pa.int64(), pa.uint64(), pa.float16()),
    *(pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3), pa.date32(), pa.date64()),
    *(pa.time32("s"), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ns", "Mars/Base")),
    *(pa.timestamp("us", "Europe/Rome"), pa.duration("ms"), pa.month_day_nano_interval()),
    *(pa.decimal128(9, 2), pa.decimal256(60, -3), pa.uuid(), pa.bool8(), pa.json_()),
]
NESTED: list[Callable[[pa.DataType], pa.DataType]] = [
    *([lambda inner: inner] * 8),
    pa.list_,
    pa.large_list,
    pa.list_view,
    pa.large_list_view,
    lambda inner: pa.list_(inner, 2),
    lambda inner: pa.list_(pa.list_(inner)),
    lambda inner: pa.struct([("a", inner), ("a", pa.string())]),
    lambda inner: pa.struct([]),
    lambda inner: pa.map_(pa.string(), inner),
    lambda inner: pa.dictionary(pa.int8(), inner),
    lambda inner: pa.dictionary(pa.uint32(), inner, ordered=True),
    lambda inner: pa.run_end_encoded(pa.int32(), inner),
    lambda inner: pa.list_(pa.dictionary(pa.int16(), inner)),
]


def _values(kind: pa.DataType, column: list[Any], random: Random) -> list[Any]:
    """Values that may fit a type; those of the column, if it can have them."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _values(kind.value_type, column, random)
    if pa.types.is_map(kind):
        return [[("a", one), ("a", one)] for one in _values(kind.item_type, column, random)]
    if pa.types.is_struct(kind):
        return [{"a": one} if kind.num_fields else {} for one in column]
    if pa.types.is_nested(kind):
        size = kind.list_size if pa.types.is_fixed_size_list(kind) else random.randrange(3)
        return [[one] * size for one in _values(kind.value_type, column, random)]
    if pa.types.is_null(kind):
        return [None for _ in column]
    if kind in (pa.string(), pa.large_string(), pa.string_view(), pa.json_()):
        return [None if one is None else str(one) for one in column]
    if pa.types.is_boolean(kind):
        return [random.choice((True, False)) for _ in column]
    if "binary" in str(kind) or kind == pa.uuid():
        size = 16 if kind == pa.uuid() else 3
        return [random.choice((b"\xff\0a" * 6, str(one).encode() * 16))[:size] for one in column]
    if pa.types.is_floating(kind):
        extreme = random.choice((0.5, float("nan"), float("inf"), -0.0, 60000.0))
        return [np.float16(random.choice((row % 5, extreme))) for row in range(len(column))]
    if kind == pa.month_day_nano_interval():
        return [pa.MonthDayNano([row, 1, 2]) for row in range(len(column))]
    top = 2**63 - 1 if kind in (pa.timestamp("s"), pa.date64(), pa.int64()) else 127
    return [random.choice((row % 5, row % 5, top)) for row in range(len(column))]


def arrow_types(data: bytes, random: Random) -> bytes:
    """Give a column of a Parquet or Arrow file another type, name, or chunks."""
    parquet = data[:4] == b"PAR1"
    try:
        source = pa.BufferReader(data)
        table = pq.read_table(source) if parquet else pa.ipc.open_file(source).read_all()
    except (pa.ArrowException, OSError):
        return mutated(data, random)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(max(table.num_columns, 1))
        with suppress(pa.ArrowException, LookupError, OverflowError, ValueError, TypeError):
            table = random.choice(ARROW_CHANGES)(table, at, random)
    out, size = io.BytesIO(), random.choice((1, 5, 1000))
    if any(pa.types.is_union(kind) for kind in table.schema.types):
        size = 1000  # to write a part of one ends the process: a fault of Arrow
    try:
        if parquet:
            pq.write_table(table, out, row_group_size=size)
        else:
            with pa.ipc.new_file(out, table.schema) as writer:
                for batch in table.to_batches(size):
                    writer.write_batch(batch)
    except (pa.ArrowException, ValueError, OSError):  # a type that this format cannot have
        return data
    return out.getvalue()


def _retyped(table: pa.Table, at: int, random: Random) -> pa.Table:
    column, kind = table.column(at).to_pylist(), random.choice(NESTED)(random.choice(SIMPLE))
    values = _values(kind, column, random)
    if random.randrange(2):
        values = [None if random.random() < 0.2 else value for value in values]
    if pa.types.is_run_end_encoded(kind):
        ends = np.arange(1, len(values) + 1, dtype=np.int32)
        array = pa.RunEndEncodedArray.from_arrays(ends, pa.array(values, kind.value_type))
    elif isinstance(kind, pa.BaseExtensionType):
        array = pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))
    else:
        array = pa.array(values, kind)
    return table.set_column(at, table.field(at).name, array)


def _with_null_dictionary(table: pa.Table, at: int, random: Random) -> pa.Table:
    names = [random.choice((None, "a", "b", "a")) for _ in range(3)]
    codes = pa.array([random.choice((0, 1, 2, None)) for _ in range(table.num_rows)], pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string()))
    return table.set_column(at, table.field(at).name, array)


def _union(table: pa.Table, at: int, random: Random) -> pa.Table:
    n = table.num_rows
    kinds = pa.array([random.randrange(2) for _ in range(n)], pa.int8())
    children = [pa.array([f"t{row}" for row in range(n)]), pa.array(range(n), pa.int64())]
    if random.randrange(2):
        array = pa.UnionArray.from_sparse(kinds, children)
    else:
        array = pa.UnionArray.from_dense(kinds, pa.array(range(n), pa.int32()), children)
    return table.set_column(at, table.field(at).name, array)


def _renamed(table: pa.Table, at: int, random: Random) -> pa.Table:
    names = list(table.column_names)
    for place in random.choice(([at], range(len(names)))):
        names[place] = random.choice([*COLUMN_NAMES, *HOSTILE_TEXTS, *names])
    return table.rename_columns(names)


def _rows(table: pa.Table, at: int, random: Random) -> pa.Table:
    kind = random.randrange(4)
    if kind == 0:
        return table.slice(random.randrange(table.num_rows + 1), random.randrange(4))
    if kind == 1:
        return pa.concat_tables([table] * random.choice((2, 50)))
    if kind == 2:
        return table.take(random.sample(range(table.num_rows), table.num_rows))
    return table.drop_columns([table.field(at).name])


def _metadata(table: pa.Table, at: int, random: Random) -> pa.Table:
    text = random.choice(('{"index_columns": [7]}', "{", '{"columns": 1}', "x" * 9999, "[]"))
    key = random.choice(("pandas", "huggingface", "ARROW:schema", "PANDAS_ATTRS"))
    name = random.choice(("arrow.uuid", "arrow.json", "x", "arrow.fixed_shape_tensor"))
    about = {"ARROW:extension:name": name, "ARROW:extension:metadata": text}
    schema = table.schema.set(at, table.field(at).with_metadata(about))
    return table.cast(schema).replace_schema_metadata({key: text})


ARROW_CHANGES = [
    *([_retyped] * 6), _with_null_dictionary, _union, _renamed, _renamed, _rows, _metadata,
]  # fmt: skip


def array_type(data: bytes, random: Random) -> bytes:
    """An array of numpy of another type or shape."""
    try:
        array = np.lib.format.read_array(io.BytesIO(data))
    except Exception:
        return mutated(data, random)
    names = ("f2", "U3", "S2", "?", "u8", "M8[s]", "m8[D]", "V4", ">i4", "f8", "i1")
    shapes = [(-1,), (1, -1, 3), (1, 1, 1, -1), (0, 3), (-1, 1), (3, -1)]
    with suppress(TypeError, ValueError, ArithmeticError, RuntimeError), np.errstate(all="ignore"):
        array = array.astype(random.choice(names))
    with suppress(ValueError):
        array = array.reshape(random.choice(shapes))
    if random.randrange(2) and array.dtype.kind in "fc":
        array = np.where(np.arange(array.size).reshape(array.shape) % 3, array, np.nan)
    out = io.BytesIO()
    np.save(out, np.asfortranarray(array) if random.randrange(2) else array)
    return out.getvalue()


# ---- workbooks, and other zips ----


def members(data: bytes, random: Random) -> bytes:
    """Change cells, texts, sheets and names of a workbook, or the files in another zip."""
    files = zip_files(data)
    if not files:
        return mutated(data, random)
    name = random.choice([name for name in files for _ in range(3 if "sheet" in name else 1)])
    if name.endswith((".xml", ".rels")):
        for _ in range(random.choice((1, 1, 3))):
            files[name] = markup(files[name], random)
    else:
        files[name] = changed(files[name], random)
    if not random.randrange(20):
        del files[name]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for member, content in files.items():
            packed.writestr(zipfile.ZipInfo(member), content)
    return out.getvalue()


def markup(data: bytes, random: Random) -> bytes:
    """Change an attribute, a text or an element of XML."""
    attributes = list(re.finditer(rb'([\w:-]+)="([^"]*)"', data))
    texts = list(re.finditer(rb">([^<>]+)<", data))
    elements = list(re.finditer(rb"<([\w:]+)[^<>]*?(?:/>|>[^<>]*</\1>)", data))
    kind = random.randrange(5)
    if kind < 2 and attributes:
        match = random.choice(attributes)
        types = ["s", "b", "e", "d", "str", "inlineStr", "n", "x"]
        usual = [*NUMBERS, *HOSTILE_TEXTS, *CELLS, "../../x", "rId1", "true"]
        values = {b"r": CELLS, b"ref": CELLS, b"t": types}.get(match[1], usual)
        if match[1].endswith((b"repeated", b"spanned")):
            values = ["1048576", "99999999999", "-1", "0", "16384", "1.5"]
        start, stop = match.span(2)
    elif kind == 2 and texts:
        start, stop = random.choice(texts).span(1)
        values = [*NUMBERS, *HOSTILE_TEXTS, "1900-02-30", "=A1", "_x0000_", "&#0;", "&a;"]
    elif elements:
        start, stop = random.choice(elements).span()
        part = data[start:stop].decode("utf-8", "replace")
        values = ["", part * 2, part * 500, f"<row r='1'>{part}</row>", f"<a:b>{part}</a:b>"]
    else:
        return mutated(data, random)
    return data[:start] + random.choice(values).encode("utf-8", "replace") + data[stop:]


# ---- saved folders, with checksums that are right ----


def tampered(path: Path, random: Random) -> None:
    """Change values of a folder that dissensus wrote, and write its checksums again."""
    files = sorted(p for p in path.rglob("*") if p.suffix in (".json", ".parquet", ".safetensors"))
    for file in random.sample(files, min(len(files), random.choice((1, 1, 1, 2)))):
        data = file.read_bytes()
        if file.suffix == ".parquet":
            data = arrow_types(data, random)
        elif file.suffix == ".safetensors":
            data = header_of_tensors(data, random)
        else:
            for _ in range(random.choice((1, 1, 2))):
                data = random.choice((json_value, json_key, everywhere, similar))(data, random)
        file.write_bytes(data)
    for front in path.rglob("*.json"):
        _sum_again(front)


def similar(data: bytes, random: Random) -> bytes:
    """Put a value of the same type, or of another place, anywhere in JSON."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return data
    places = [
        (holder, key)
        for holder in _holders(content)
        for key in (holder if isinstance(holder, dict) else range(len(holder)))
    ]
    if not places:
        return data
    (holder, key), (other, of_other) = random.choice(places), random.choice(places)
    value = holder[key]
    numbers = (0.0, -1.0, 1e308, float("nan"), float("inf"), 1e-320)
    if not random.randrange(3):
        holder[key] = other[of_other]
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = random.choice((0, -1, value + 1, value * 1000, 2**31, 2**62, 5))
    elif isinstance(value, float):
        holder[key] = random.choice((*numbers, value * 7))
    elif isinstance(value, str):
        holder[key] = random.choice((*HOSTILE_TEXTS[:24], value + "x", value.upper()))
    elif isinstance(value, list) and value:
        holder[key] = random.choice((value[1:], value * 2, value[::-1], value[:1] * len(value), []))
    elif isinstance(value, dict) and value:
        keys = list(value)
        holder[key] = dict(zip(keys, [value[k] for k in keys[1:] + keys[:1]], strict=True))
    try:
        return json.dumps(content).encode()
    except (ValueError, RecursionError):  # it contains itself
        return data


def _holders(content: Any) -> Iterator[Any]:
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            yield one
            waiting += one.values() if isinstance(one, dict) else one


def _sum_again(front: Path) -> None:
    """Write the checksums in a JSON file of dissensus so that they match."""
    from dissensus.files import folders
    from dissensus.methods.framework.model_folder import WEIGHTS, checksum

    with suppress(ValueError, RecursionError, OSError, AttributeError, TypeError, KeyError):
        content = json.loads(front.read_bytes())
        if "checksum" in content:
            content["checksum"] = checksum(content, (front.parent / WEIGHTS).read_bytes())
        elif isinstance(content.pop(folders.CHECKSUMS), dict):
            sums = {p.name: folders._file_checksum(p) for p in front.parent.glob("*.parquet")}
            content[folders.CHECKSUMS] = {front.name: folders._json_checksum(content)} | sums
        front.write_text(json.dumps(content))


def header_of_tensors(data: bytes, random: Random) -> bytes:
    """Change the JSON header of safetensors, or the numbers."""
    with suppress(ValueError, struct.error, RecursionError):
        (size,) = struct.unpack("<Q", data[:8])
        header, body = data[8 : 8 + size], data[8 + size :]
        if not random.randrange(3):
            numbers = np.frombuffer(body[: len(body) // 4 * 4], np.float32).copy()
            values = [np.nan, np.inf, -np.inf, 1e38, 0.0, -1.0]
            numbers[random.randrange(len(numbers)) :: random.choice((1, 9))] = random.choice(values)
            return data[: 8 + size] + numbers.tobytes()
        header = random.choice((similar, json_key, json_value))(header, random)
        return struct.pack("<Q", len(header)) + header + body
    return mutated(data, random)


def of_encoder(path: Path, random: Random) -> None:
    """Change a file of an encoder's folder, so that it can still be parsed."""
    file = random.choice(sorted(file for file in path.iterdir() if file.is_file()))
    data = file.read_bytes()
    if file.suffix == ".safetensors":
        data = header_of_tensors(data, random)
    elif file.suffix == ".json":
        for _ in range(random.choice((1, 1, 2))):
            data = random.choice((json_value, json_key, similar, similar, added))(data, random)
    else:
        data = mutated(data, random)
    file.write_bytes(data)


SETTINGS = [
    *(
        "hidden_act",
        "quantization_config",
        "attn_implementation",
        "auto_map",
        "torch_dtype",
        "size",
    ),
    *("model_type", "is_decoder", "pruned_heads", "num_labels", "id2label", "use_cache", "dtype"),
    *("chunk_size_feed_forward", "vocab_size", "type_vocab_size", "num_hidden_layers"),
    *("layer_norm_eps", "position_embedding_type", "gradient_checkpointing", "rope_scaling"),
    *("add_cross_attention", "model_max_length", "pad_token", "added_tokens_decoder"),
    *("transformers_weights", "max_position_embeddings", "base_model_tp_plan", "architectures"),
    *("image_processor_type", "processor_class", "image_mean", "num_attention_heads"),
    *("tokenizer_class", "sub_configs"),
]


def added(data: bytes, random: Random) -> bytes:
    """Add a key that configurations of transformers may have."""
    content = json.loads(data)
    values = [*HOSTILE_VALUES, *HOSTILE_TEXTS[:20], 7, 10**6, "bert", "float16"]
    if isinstance(content, dict):
        content[random.choice(SETTINGS)] = random.choice(values)
    return json.dumps(content).encode()
