"""What a model wrote, read leniently and bounded (semantics 7): lists in any dress, a passage, JSON unasked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from groundwire_server.text import sentence_spans

__all__ = ["read_passage", "read_queries"]

_MOST = 1 << 16  # code points of a reply that are looked at
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
# A bullet or number before an item; "3.5 % growth" and "2020 revenue" have none.
_MARK = re.compile(r"^\s*(?:[-*+•·・◦‣▪–—]\s+|[•・◦‣▪]|\(?[0-9]{1,2}(?:[.):](?![0-9])|[、．）：])|[①-⑳]|(?:>\s*)+)\s*")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "`": "`"}


def read_queries(text: str, *, whole: bool = True) -> list[str]:
    r"""The items of a list, one a line, without bullets, numbers and quotation marks.

    Args:
        whole: False: the reply was cut, and so its last line is left out.

    >>> read_queries('Sure, here they are:\n1. "revenue growth"\n2) **why sales rose**\n')
    ['revenue growth', 'why sales rose']
    """
    body = _body(text)
    held = _json_strings(body)
    if held is not None:
        return [_one_line(each) for each in held if each.strip()]
    lines = [line for line in body.splitlines() if line.strip()]
    if not whole:
        lines = lines[:-1]
    if len(lines) > 1:
        lines = [line for line in lines if not line.rstrip(" *").endswith((":", "："))]
    items = (_bare(line) for line in lines)
    return [item for item in items if item]


def read_passage(text: str, limit: int) -> str:
    """A passage as one line, cut behind the last sentence that ends within `limit` code points, else at the limit."""
    body = _body(text)
    held = _json_strings(body)
    passage = _one_line(body if held is None else " ".join(held))
    if len(passage) <= limit:
        return passage
    ends = [span.end for span in sentence_spans(passage[: limit + 1]) if span.end <= limit]
    return passage[: max(ends, default=limit)].rstrip()


def _body(text: str) -> str:
    """Without thoughts and code fences, and without what no text on the wire may hold."""
    text = text[:_MOST].encode("utf-8", "ignore").decode()
    text = _THOUGHT.sub("", text)
    fenced = _FENCE.search(text)
    return (fenced[1] if fenced else text).strip()


def _json_strings(body: str) -> list[str] | None:
    """All strings of a body that is JSON, keys aside, in order; None: it is none."""
    if not body.startswith(("{", "[")):
        return None
    try:
        return list(_strings(json.loads(body)))
    except (ValueError, RecursionError):
        return None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.encode("utf-8", "ignore").decode()
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _bare(line: str) -> str:
    line = _one_line(_MARK.sub("", line)).strip("*_ ")
    while len(line) > 1 and _QUOTES.get(line[0]) == line[-1]:
        line = line[1:-1].strip("*_ ")
    return line


def _one_line(text: str) -> str:
    return " ".join(text.split())
