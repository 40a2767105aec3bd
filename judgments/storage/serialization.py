"""Values as bytes that hold no code: JSON, and arrays beside it in NumPy's npy without pickles.

Two steps. `pack` and `unpack` go between bytes and plain values: None, numbers, text, bytes,
arrays, lists, and dictionaries with text as keys. `to_plain` and `from_plain` go between plain
values and dataclasses, by the types that their fields declare.
"""

import io
import json
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import datetime
from itertools import accumulate, pairwise
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin

import numpy as np

T = TypeVar("T")

_LENGTH: Final = struct.Struct(">Q")


class Unreadable(ValueError):
    """These bytes, or these plain values, are not what was asked for."""


def pack(value: Any) -> bytes:
    """Plain values as bytes. TypeError or ValueError for anything else, an array of objects too."""
    parts: list[bytes] = []
    tree = _encoded(value, parts)
    head = json.dumps([tree, list(map(len, parts))]).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *parts])


def unpack(data: bytes) -> Any:
    """The plain values that `pack` was given; tuples come back as lists. Unreadable for others."""
    try:
        (length,) = _LENGTH.unpack_from(data)
        body = _LENGTH.size + length
        tree, sizes = json.loads(data[_LENGTH.size : body])
        ends = list(accumulate(sizes, initial=body))
        if ends[-1] != len(data):
            raise Unreadable("it is cut short, or something follows it")
        view = memoryview(data)
        return _decoded(tree, [view[a:b] for a, b in pairwise(ends)])
    except Exception as error:  # NumPy's reader of headers alone raises a dozen kinds
        raise Unreadable(str(error)) from error


def to_plain(value: Any) -> Any:
    """Dataclasses as dictionaries, however deep, times as text, NumPy's scalars as Python's.

    TypeError for what is not plain even then.
    """
    if is_dataclass(value):
        return {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, (list, tuple)):
        return [to_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: to_plain(one) for name, one in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None or isinstance(value, (bool, int, float, str, bytes, np.ndarray)):
        return value
    raise TypeError(f"{type(value).__name__} is no plain value")


def from_plain(kind: type[T], value: Any) -> T:
    """What `to_plain` was given, if it is of this kind in every part; else Unreadable.

    kind: a dataclass, or None, bool, int, float, str, bytes, a time, an array of one dtype, and
    lists, tuples, dictionaries and unions of these.
    """
    return cast("T", _typed(kind, value))


def _encoded(value: Any, parts: list[bytes]) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_encoded(one, parts) for one in value]
    if isinstance(value, Mapping):
        if not all(type(name) is str for name in value):
            raise TypeError("only text can be a key")
        return {"map": {name: _encoded(one, parts) for name, one in value.items()}}
    if isinstance(value, bytes):
        parts.append(value)
        return {"bytes": len(parts) - 1}
    if isinstance(value, np.ndarray):
        file = io.BytesIO()
        np.lib.format.write_array(file, value, allow_pickle=False)
        parts.append(file.getvalue())
        return {"npy": len(parts) - 1}
    raise TypeError(f"{type(value).__name__} is no plain value")


def _decoded(tree: Any, parts: list[memoryview]) -> Any:
    if isinstance(tree, list):
        return [_decoded(one, parts) for one in tree]
    if not isinstance(tree, dict):
        return tree
    ((what, content),) = tree.items()
    if what == "map":
        return {name: _decoded(one, parts) for name, one in content.items()}
    if what == "bytes":
        return bytes(parts[content])
    if what == "npy":
        return np.lib.format.read_array(io.BytesIO(parts[content]), allow_pickle=False)
    raise Unreadable(f"{what!r} is unknown")


def _typed(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        return _dataclass_of(kind, value)
    by_origin = _COMPOSED.get(get_origin(kind))
    return by_origin(kind, value) if by_origin else _scalar_of(kind, value)


def _scalar_of(kind: Any, value: Any) -> Any:
    if kind in (None, NoneType):
        return _checked(value, value is None)
    if kind is float and type(value) is int:  # a whole number is a mean too
        return float(value)
    if kind is datetime:
        return _time_of(value)
    return _checked(value, type(value) is kind)


def _time_of(value: Any) -> datetime:
    _checked(value, type(value) is str)
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise Unreadable(str(error)) from error


def _dataclass_of(kind: Any, value: Any) -> Any:
    names = {one.name for one in fields(kind)}
    _checked(value, isinstance(value, dict) and value.keys() == names)
    return kind(**{one.name: _typed(one.type, value[one.name]) for one in fields(kind)})


def _union_of(kind: Any, value: Any) -> Any:
    *others, last = get_args(kind)
    for one in others:
        with suppress(Unreadable):
            return _typed(one, value)
    return _typed(last, value)


def _array_of(kind: Any, value: Any) -> Any:
    (dtype,) = get_args(get_args(kind)[1])
    return _checked(value, isinstance(value, np.ndarray) and value.dtype == np.dtype(dtype))


def _mapping_of(kind: Any, value: Any) -> Any:
    names, values = get_args(kind)
    _checked(value, isinstance(value, dict))
    return {_typed(names, name): _typed(values, one) for name, one in value.items()}


def _list_of(kind: Any, value: Any) -> Any:
    _checked(value, isinstance(value, list))
    return [_typed(get_args(kind)[0], one) for one in value]


def _tuple_of(kind: Any, value: Any) -> Any:
    kinds = get_args(kind)
    _checked(value, isinstance(value, list))
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    _checked(value, len(value) == len(kinds))
    return tuple(_typed(one, part) for one, part in zip(kinds, value, strict=True))


def _checked(value: Any, is_right: bool) -> Any:
    if not is_right:
        raise Unreadable(f"{type(value).__name__} is not what was expected")
    return value


_COMPOSED: Final[dict[Any, Callable[[Any, Any], Any]]] = {
    Union: _union_of,
    UnionType: _union_of,
    np.ndarray: _array_of,
    dict: _mapping_of,
    list: _list_of,
    tuple: _tuple_of,
}
