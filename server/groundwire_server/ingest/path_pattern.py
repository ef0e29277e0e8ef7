"""Which paths of a folder count, by patterns like those of .gitignore."""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation

__all__ = ["PathPatterns", "fragment"]


class PathPatterns:
    """Patterns of paths with slashes.

    `*` and `?` stand for anything within one name, `[a-z]` and `[!a-z]` for one character, `**` for any folders. A
    pattern without a slash fits a name at any depth, one with a slash the path from the root on. What fits a folder
    fits all below it.

    Raises:
        InvalidRequest: a pattern is empty or malformed; all of them named.

    >>> patterns = PathPatterns(["*.md"], ["drafts", "a/**/b.md"])
    >>> [patterns.includes(p) and not patterns.excludes(p) for p in ("x.md", "d/x.md", "drafts/x.md", "a/1/2/b.md")]
    [True, True, False, False]
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        found: list[Violation] = []
        self._include = _compiled("include", include, found)
        self._exclude = _compiled("exclude", exclude, found)
        if found:
            raise InvalidRequest(found)

    def includes(self, path: str) -> bool:
        """Whether a path, or a folder above it, fits an include pattern; with none of them everything does."""
        return not self._include or _fits(self._include, path)

    def excludes(self, path: str) -> bool:
        """Whether a path, or a folder above it, fits an exclude pattern."""
        return _fits(self._exclude, path)


def _fits(patterns: list[re.Pattern[str]], path: str) -> bool:
    return any(pattern.fullmatch(path) for pattern in patterns)


def _compiled(field: str, patterns: Sequence[str], found: list[Violation]) -> list[re.Pattern[str]]:
    compiled = []
    for place, pattern in enumerate(patterns):
        try:
            compiled.append(re.compile(_translated(pattern), re.DOTALL))
        except ValueError as error:
            found.append(Violation(f"{field}[{place}]", ErrorReason.VALUE_MALFORMED, f"{pattern[:80]!r} {error}"))
    return compiled


def _translated(pattern: str) -> str:
    body = pattern.removeprefix("./").rstrip("/")
    anchored = "/" in body
    names = [name for name in body.split("/") if name]
    if not names:
        raise ValueError("is empty")
    parts = [r"(?:[^/]+/)*" if name == "**" else fragment(name) + "/" for name in names]
    path = "".join(parts).removesuffix("/")
    if names[-1] == "**":
        return f"{path}.+"
    return f"{path}(?:/.*)?" if anchored else f"(?:[^/]+/)*{path}(?:/.*)?"


def fragment(name: str) -> str:
    """A pattern within one name of a path as a regular expression. Raises ValueError when it is malformed."""
    out, place = [], 0
    while place < len(name):
        char = name[place]
        place += 1
        if char == "*":
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[":
            end = name.find("]", place + 1 + name.startswith("!", place))
            if end < 0:
                raise ValueError("has a [ that is not closed")
            out.append(_set(name[place:end]))
            place = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def _set(inside: str) -> str:
    negated = inside.startswith("!")
    members = inside[1:] if negated else inside
    escaped = re.sub(r"([\\\]\[^&~|])", r"\\\1", members)
    try:
        re.compile(f"[{escaped}]")
    except re.error:
        raise ValueError(f"has a malformed set [{inside}]") from None
    return f"(?!/)[{'^' if negated else ''}{escaped}]"
