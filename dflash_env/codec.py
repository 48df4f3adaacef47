"""One strict translation between dataclasses and JSON-like data, for every document this project reads or writes."""

import dataclasses
import difflib
import functools
import json
import os
import tempfile
import types
import typing
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, Union, cast

T = TypeVar("T")

SCHEMA = 1
"""The version that every document carries as `"schema"`."""


class DecodeError(ValueError):
    """The data does not have the declared shape; `where` is the path of the offending value, such as `.gpus.count`."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where or 'the document'}: {message}")
        self.where = where


def encode(value: object) -> Any:
    """JSON-like data for a dataclass; a class with a `TAG` becomes `{TAG: {…}}`, so that unions can be told apart."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        tag = getattr(value, "TAG", None)
        return {tag: fields} if tag else fields
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {printable(str(key)): encode(item) for key, item in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path | str):
        return printable(str(value))
    return value


def printable(text: str) -> str:
    """Text that UTF-8 can hold: a byte that the system gave us and that is no UTF-8 is shown as an escape."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    if 0xDC80 <= ord(letter) <= 0xDCFF:  # how Python carries a byte that is no UTF-8
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return f"\\u{ord(letter):04x}" if 0xD800 <= ord(letter) <= 0xDFFF else letter


def decode(kind: type[T], data: object, where: str = "") -> T:
    """Build a `kind` from data; raise `DecodeError` on an unknown or missing key, or a value of another type."""
    return cast(T, _decode(kind, data, where))


def _decode(kind: Any, data: object, where: str) -> object:
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        return _decode_union(typing.get_args(kind), data, where)
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind)[0], data, where)
    if origin is dict:
        return _decode_dict(typing.get_args(kind)[1], data, where)
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(cast(type, kind), data, where)
    return _decode_scalar(kind, data, where)


def _decode_scalar(kind: Any, data: object, where: str) -> object:
    if kind is object:
        return data
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError:
            choices = ", ".join(repr(member.value) for member in kind)
            raise DecodeError(where, f"expected one of {choices}, got {data!r}") from None
    if kind is float and type(data) is int:
        return float(data)
    if type(data) is not kind:
        raise DecodeError(where, f"expected {_name(kind)}, got {_name(type(data))} {data!r}")
    return data


def _decode_tuple(item: Any, data: object, where: str) -> tuple[object, ...]:
    if not isinstance(data, list):
        raise DecodeError(where, f"expected a list, got {_name(type(data))} {data!r}")
    return tuple(_decode(item, element, f"{where}[{index}]") for index, element in enumerate(data))


def _decode_dict(item: Any, data: object, where: str) -> dict[str, object]:
    if not isinstance(data, dict):
        raise DecodeError(where, f"expected a table, got {_name(type(data))} {data!r}")
    return {str(key): _decode(item, value, f"{where}.{key}") for key, value in data.items()}


def _decode_union(members: tuple[Any, ...], data: object, where: str) -> object:
    if isinstance(data, dict) and len(data) == 1:
        for member in members:
            if getattr(member, "TAG", None) in data:
                return _decode(member, data, where)
    untagged = [member for member in members if not getattr(member, "TAG", None)]
    if data is None and type(None) in untagged:
        return None
    rest = [member for member in untagged if member is not type(None)]
    if len(rest) == 1:
        return _decode(rest[0], data, where)
    for member in rest:
        if type(data) is member:
            return data
    raise DecodeError(where, f"expected {' or '.join(map(_name, members))}, got {data!r}")


def _decode_dataclass(kind: type, data: object, where: str) -> object:
    tag = getattr(kind, "TAG", None)
    if tag and isinstance(data, dict) and set(data) == {tag}:
        data, where = data[tag], f"{where}.{tag}"
    if not isinstance(data, dict):
        raise DecodeError(where, f"expected a table, got {_name(type(data))} {data!r}")
    hints = _hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for key in data:
        if key not in fields:
            raise DecodeError(f"{where}.{key}", f"unknown key{did_you_mean(str(key), fields)}")
    for name, field in fields.items():
        if name not in data and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise DecodeError(where, f"the key {name!r} is missing")
    return kind(**{key: _decode(hints[key], value, f"{where}.{key}") for key, value in data.items()})


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def did_you_mean(word: str, choices: typing.Iterable[str]) -> str:
    """`; did you mean 'X'?` for the nearest choice, or nothing."""
    near = difflib.get_close_matches(word, list(choices), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _name(kind: Any) -> str:
    plain = {str: "text", int: "a whole number", float: "a number", bool: "true or false", dict: "a table"}
    return plain.get(kind, getattr(kind, "__name__", str(kind)))


def write_text(path: Path, text: str) -> None:
    """Write a text whole, or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write under a temporary name beside `path`, then rename: a reader sees the old content or the new, never half."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp answers 0600; documents are readable like any file the user makes.
        Path(name).chmod(0o666 & ~umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def normal(path: Path) -> str:
    """A path without `.` and `..`, its links left as they are."""
    return os.path.normpath(path)


def umask() -> int:
    """What the user wants taken off the permissions of new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_document(path: Path, value: object) -> None:
    """Write one JSON document with its schema version."""
    write_text(path, document(value))


def document(value: object) -> str:
    """The text of one JSON document with its schema version."""
    return json.dumps({"schema": SCHEMA, **encode(value)}, indent=2, ensure_ascii=False) + "\n"


def open_document(data: object, where: str = "") -> dict[str, Any]:
    """The body of a document, its schema checked and taken off."""
    if not isinstance(data, dict):
        raise DecodeError(where, "expected a JSON object")
    if data.get("schema") != SCHEMA:
        raise DecodeError(f"{where}.schema", f"expected {SCHEMA}, got {data.get('schema')!r}")
    return {key: value for key, value in data.items() if key != "schema"}
