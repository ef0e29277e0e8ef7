"""What the path of a file says about it: attributes in named places of a path, labels and charsets by pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from groundwire_server.errors import DocumentRefused, ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import Attribute, Label, Value
from groundwire_server.ingest.documents import read_period
from groundwire_server.ingest.path_pattern import PathPatterns, fragment
from groundwire_server.readers import BUILT_IN_ATTRIBUTES

__all__ = ["PathRules"]

_PLACE = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"([a-z0-9_]{1,64})(?::([a-z]+))?")


def _int(text: str) -> int:
    return int(text)


# Of each type: what a path must look like to fit, and how that is read.
_TYPES: dict[str, tuple[str, Callable[[str], Value]]] = {
    "text": (r"[^/]+", str),
    "int": (r"-?[0-9]{1,18}", _int),
    "decimal": (r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?", Decimal),
    "date": (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", date.fromisoformat),
    "period": (r"[^/]+", read_period),
}


@dataclass(frozen=True, slots=True)
class _AttributePattern:
    path: re.Pattern[str]
    types: tuple[tuple[str, str], ...]  # name and type


class PathRules:
    """Patterns that give attributes, and patterns that give labels or charsets.

    An attribute pattern describes the whole path below the folder: names with `*`, `?`, `[a-z]`, `**` for any folders,
    and places `{name}` or `{name:TYPE}` within one name, TYPE being text, int, decimal, date (2024-03-31) or period
    (FY2024). Of several patterns that give the same attribute the first one that fits counts. A label pattern is one of
    `--include` with a label behind its last `=`; of all that fit, the strictest holds. A charset pattern is one with a
    charset there; the first that fits counts, and only texts heed it.

    Raises:
        InvalidRequest: a pattern is malformed; all of them named.

    >>> rules = PathRules(["reports/{year:int}/{company}/*"], ["secret/**=CONFIDENTIAL"])
    >>> [(each.name, each.value) for each in rules.attributes("reports/2024/acme/annual.pdf")]
    [('company', 'acme'), ('year', 2024)]
    >>> rules.label("secret/plan.md"), rules.label("plan.md")
    (<Label.CONFIDENTIAL: 3>, None)
    """

    def __init__(
        self, attributes_from: Sequence[str] = (), label_for: Sequence[str] = (), charset_for: Sequence[str] = ()
    ) -> None:
        found: list[Violation] = []
        self._attributes = [
            pattern
            for place, text in enumerate(attributes_from)
            if (pattern := _attribute_pattern(text, f"attributes_from[{place}]", found)) is not None
        ]
        self._labels = [
            label
            for place, text in enumerate(label_for)
            if (label := _label_pattern(text, f"label_for[{place}]", found)) is not None
        ]
        self._charsets = [
            charset
            for place, text in enumerate(charset_for)
            if (charset := _charset_pattern(text, f"charset_for[{place}]", found)) is not None
        ]
        if found:
            raise InvalidRequest(found)

    def attributes(self, path: str) -> tuple[Attribute, ...]:
        """What a path says, sorted by name. Raises DocumentRefused when a place holds no value of its type."""
        values: dict[str, Value] = {}
        for pattern in self._attributes:
            fit = pattern.path.fullmatch(path)
            if fit is None:
                continue
            for name, kind in pattern.types:
                if name not in values:
                    values[name] = _read(path, name, kind, fit[name])
        return tuple(Attribute(name, values[name]) for name in sorted(values))

    def label(self, path: str) -> Label | None:
        """The strictest label of all patterns that fit; None: none does."""
        return max((label for patterns, label in self._labels if patterns.includes(path)), default=None)

    def charset(self, path: str) -> str:
        """The charset of the first pattern that fits; empty: none does, so that it is detected."""
        return next((charset for patterns, charset in self._charsets if patterns.includes(path)), "")


def _read(path: str, name: str, kind: str, text: str) -> Value:
    try:
        return _TYPES[kind][1](text)
    except ValueError:
        message = f"The path has {text!r} where {{{name}:{kind}}} stands in --attributes-from."
        raise DocumentRefused(ErrorReason.INVALID_REQUEST, message, details={"path": path}) from None


def _attribute_pattern(text: str, field: str, found: list[Violation]) -> _AttributePattern | None:
    types: dict[str, str] = {}
    names = [name for name in text.removeprefix("./").split("/") if name]
    try:
        parts = [r"(?:[^/]+/)*" if name == "**" else _translated(name, types) + "/" for name in names]
        if not types:
            raise ValueError("has no place like {year:int}")
        body = "".join(parts)
        path = re.compile(f"{body}[^/]+" if names[-1] == "**" else body.removesuffix("/"), re.DOTALL)
    except ValueError as error:
        found.append(Violation(field, ErrorReason.VALUE_MALFORMED, f"{text[:80]!r} {error}"))
        return None
    return _AttributePattern(path, tuple(types.items()))


def _translated(name: str, types: dict[str, str]) -> str:
    """One name of a path as a regular expression; its places go into `types`."""
    out, end = [], 0
    for place in _PLACE.finditer(name):
        out.append(fragment(name[end : place.start()]))
        end = place.end()
        said = _NAME.fullmatch(place[1])
        if said is None or said[1][0].isdigit():
            raise ValueError(f"has {place[0]}, which is no {{name}} or {{name:type}} of a-z, 0-9, underscore")
        attribute, kind = said[1], said[2] or "text"
        if kind not in _TYPES:
            raise ValueError(f"has {place[0]}; types are {', '.join(_TYPES)}")
        if attribute in BUILT_IN_ATTRIBUTES:
            raise ValueError(f"has {place[0]}, which is built in and cannot be given")
        if attribute in types:
            raise ValueError(f"has {{{attribute}}} twice")
        types[attribute] = kind
        out.append(f"(?P<{attribute}>{_TYPES[kind][0]})")
    return "".join((*out, fragment(name[end:])))


def _label_pattern(text: str, field: str, found: list[Violation]) -> tuple[PathPatterns, Label] | None:
    pattern, equals, name = text.rpartition("=")
    label = next((each for each in Label if each.name == name.strip().upper()), None)
    if not equals or label is None:
        # A label that is misspelt must not leave the file open to everybody.
        labels = ", ".join(each.name for each in Label)
        found.append(Violation(field, ErrorReason.VALUE_MALFORMED, f"{text[:80]!r} is no PATTERN=LABEL of {labels}"))
        return None
    patterns = _patterns(pattern, field, found)
    return None if patterns is None else (patterns, label)


def _charset_pattern(text: str, field: str, found: list[Violation]) -> tuple[PathPatterns, str] | None:
    pattern, equals, name = text.rpartition("=")
    if not equals or not name.strip():
        message = f"{text[:80]!r} is no PATTERN=CHARSET, e.g. 'old/*.txt=windows-1252'"
        found.append(Violation(field, ErrorReason.VALUE_MALFORMED, message))
        return None
    patterns = _patterns(pattern, field, found)
    return None if patterns is None else (patterns, name.strip())


def _patterns(pattern: str, field: str, found: list[Violation]) -> PathPatterns | None:
    try:
        return PathPatterns([pattern])
    except InvalidRequest as error:
        found.append(Violation(field, ErrorReason.VALUE_MALFORMED, error.violations[0].description))
        return None
