"""Rows of a JSON lines file, each by itself: a bad one is refused, the others go on. Lines end at LF alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import NoReturn

from groundwire_server.errors import ErrorReason, RowRefused

__all__ = ["JsonRow", "TwiceNamedError", "named_once", "read_json_rows"]

JsonRow = dict[str, object]


class TwiceNamedError(ValueError):
    """An object of JSON has two members of one name, and which of them counts is not said."""


def named_once(members: list[tuple[str, object]]) -> JsonRow:
    """The members of an object of JSON, for `object_pairs_hook`.

    Raises:
        TwiceNamedError: two have one name.
    """
    content = dict(members)
    if len(content) < len(members):
        names = [name for name, _ in members]
        raise TwiceNamedError(next(name for name in names if names.count(name) > 1))
    return content


def read_json_rows(raw: bytes) -> Iterator[tuple[int, JsonRow | RowRefused]]:
    """(line from 1, its object or why it is none) of each line with content. Numbers with a fraction are Decimals.

    >>> [(row, type(content).__name__) for row, content in read_json_rows(b'{"a": 1.50}\\n\\n[2]\\n')]
    [(1, 'dict'), (3, 'RowRefused')]
    """
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            yield number, _read(line)


def _read(line: bytes) -> JsonRow | RowRefused:
    try:
        text = line.decode("utf-8")
        content = _DECODER.decode(text)
    except UnicodeDecodeError:
        return _refused("The line is no UTF-8.", ascii(line[:200]))
    except TwiceNamedError as twice:
        return _refused(f"The line names {str(twice)[:80]!r} twice.", text)
    except (ValueError, RecursionError):
        return _refused("The line is no JSON.", text)
    if not isinstance(content, dict):
        return _refused("The line is no JSON object.", text)
    if b"\\u" not in line and line.count(b"[") + line.count(b"{") < _DEEP:
        return content  # UTF-8 has no half characters: only an escape makes one
    try:
        json.dumps(content, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        return _refused("The line holds half a character (a lone surrogate).", text)
    except RecursionError:
        return _refused("The line is no JSON.", text)
    return content


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


# Made once: one for each line would cost as much as reading it.
_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=named_once)
_DEEP = 100


def _refused(message: str, value: str) -> RowRefused:
    return RowRefused(ErrorReason.VALUE_MALFORMED, message, column="", value=value)
