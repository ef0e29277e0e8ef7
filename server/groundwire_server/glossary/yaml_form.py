"""The YAML form of a glossary: the TOML form with its keys and lists as YAML has them (formats.md).

Only what a glossary needs is read: maps, lists and scalars, of which each is a text as it stands, so that the country
NO and the start 04-01 stay what they are. Anchors, tags and merged keys are refused and not guessed around.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.glossary.fields import Fields, read_term
from groundwire_server.glossary.place import Place
from groundwire_server.glossary.terms import Term, TermKind

__all__ = ["read_yaml"]

_DEEPEST = 8
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_TAGS = re.compile(r"tag:yaml\.org,2002:(?:str|map|seq)|!")


def read_yaml(text: str) -> tuple[list[Term], list[Place]]:
    """Terms and the place of each ("metric[0], line 3"). Raises InvalidRequest with every fault at once."""
    document = _document(text)
    violations: list[Violation] = []
    terms: list[Term] = []
    places: list[Place] = []
    kinds = {kind.value: kind for kind in TermKind}
    for name, tables in document.items():
        if name not in kinds:
            known = f"no such kind of term; known: {', '.join(kinds)} (line {document.lines[name]})"
            violations.append(Violation(name, ErrorReason.UNKNOWN_NAME, known))
        elif not isinstance(tables, list) or not all(isinstance(table, _Map) for table in tables):
            needed = f"a list of maps is needed (line {document.lines[name]})"
            violations.append(Violation(name, ErrorReason.VALUE_MALFORMED, needed))
        else:
            for number, table in enumerate(tables):
                place = Place(f"{name}[{number}]", table.line)
                fields = Fields(table, place, violations)
                terms.append(read_term(kinds[name], fields, code="code", synonyms="synonyms"))
                fields.finish()
                places.append(place)
    if violations:
        raise InvalidRequest(violations)
    return terms, places


class _Map(dict[str, Any]):
    """A map, with the line on which it begins and that of each key."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


@dataclass(slots=True)
class _Open:
    """A map or list that is not closed yet; `key` waits for its value."""

    value: _Map | list[Any]
    key: str | None = field(default=None)


def _document(text: str) -> _Map:
    from yaml import YAMLError, events  # here, since few need it and it takes long to load

    found: list[object] = []
    stack: list[_Open] = []
    documents = 0
    try:
        for event in _events(text):
            line = event.start_mark.line + 1
            if isinstance(event, events.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _fault(line, "a second document begins")
            elif isinstance(event, events.AliasEvent) or getattr(event, "anchor", None):
                raise _fault(line, "anchors and aliases are not read; write the value out")
            elif isinstance(event, events.ScalarEvent):
                _put(stack, found, _scalar(event, line, is_key=_waits_for_key(stack)), line)
            elif isinstance(event, events.MappingStartEvent | events.SequenceStartEvent):
                _check_tag(event.tag, line)
                if len(stack) >= _DEEPEST:
                    raise _fault(line, f"it is nested more than {_DEEPEST} deep")
                if _waits_for_key(stack):
                    raise _fault(line, "a key is a text")
                value: _Map | list[Any] = _Map(line) if isinstance(event, events.MappingStartEvent) else []
                _put(stack, found, value, line)
                stack.append(_Open(value))
            elif isinstance(event, events.MappingEndEvent | events.SequenceEndEvent):
                stack.pop()
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else "in its characters"
        raise InvalidRequest.one("glossary", ErrorReason.VALUE_MALFORMED, f"no YAML {where}") from None
    if not found or found[0] is None:
        return _Map(1)
    if not isinstance(found[0], _Map):
        raise _fault(1, "a map with lists of terms is needed: metric, entity, channel ...")
    return found[0]


def _events(text: str) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return cast("Iterator[Any]", yaml.parse(text, Loader=loader))


def _waits_for_key(stack: list[_Open]) -> bool:
    return bool(stack) and isinstance(stack[-1].value, _Map) and stack[-1].key is None


def _put(stack: list[_Open], found: list[object], value: object, line: int) -> None:
    """A value to where it belongs."""
    if not stack:
        found.append(value)
        return
    top = stack[-1]
    if isinstance(top.value, list):
        top.value.append(value)
    elif top.key is None:
        key = str(value)
        if key in top.value:
            raise _fault(line, f"{key!r} stands already on line {top.value.lines[key]}")
        top.key, top.value.lines[key] = key, line
        top.value[key] = None
    else:
        top.value[top.key] = value
        top.key = None


def _scalar(event: Any, line: int, *, is_key: bool) -> object:
    _check_tag(event.tag, line)
    plain = event.style in (None, "")
    if is_key:
        if plain and event.value == "<<":
            raise _fault(line, "merged keys (<<) are not read; write them out")
        return event.value
    if plain and event.value in _NOTHING:
        return None
    return _Plain(event.value) if plain else event.value


class _Plain(str):
    """A scalar without quotes: the text that stands there, and true or false where such is needed."""

    __slots__ = ()

    @property
    def flag(self) -> bool | None:
        return _FLAGS.get(self)


def _check_tag(tag: str | None, line: int) -> None:
    if tag is not None and not _TAGS.fullmatch(tag):
        raise _fault(line, "tags (!...) are not read")


def _fault(line: int, why: str) -> InvalidRequest:
    return InvalidRequest.one("glossary", ErrorReason.VALUE_MALFORMED, f"{why} (line {line})")
