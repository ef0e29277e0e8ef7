"""The TOML form of a glossary: a table a term, `[[metric]]`, `[[entity]]`, `[[relation]]` ... (formats.md)."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.glossary.fields import Fields, read_term
from groundwire_server.glossary.place import Place
from groundwire_server.glossary.terms import (
    EntityTerm,
    MemberTerm,
    MetricTerm,
    RelationTerm,
    Synonym,
    Term,
    TermKind,
    kind_of,
)

__all__ = ["read_toml", "write_toml"]

_PLACE = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)")
_HEADING = re.compile(r"^[ \t]*\[\[[ \t]*([a-z]+)[ \t]*\]\]", re.MULTILINE)
_LINE_END = re.compile("\n")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(text: str) -> tuple[list[Term], list[Place]]:
    """Terms and the place of each ("metric[0], line 3"). Raises InvalidRequest with every fault at once."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest.one("glossary", ErrorReason.VALUE_MALFORMED, f"no TOML {_where(str(error))}") from None
    violations: list[Violation] = []
    terms: list[Term] = []
    places: list[Place] = []
    kinds = {kind.value: kind for kind in TermKind}
    for name, tables in document.items():
        if name not in kinds:
            violations.append(
                Violation(name, ErrorReason.UNKNOWN_NAME, f"no such kind of term; known: {', '.join(kinds)}")
            )
        elif not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            violations.append(Violation(name, ErrorReason.VALUE_MALFORMED, f"tables [[{name}]] are needed"))
        else:
            lines = _lines(text, name)
            for number, table in enumerate(tables):
                place = Place(f"{name}[{number}]", lines[number] if len(lines) == len(tables) else 0)
                fields = Fields(table, place, violations)
                terms.append(read_term(kinds[name], fields, code="code", synonyms="synonyms"))
                fields.finish()
                places.append(place)
    if violations:
        raise InvalidRequest(violations)
    return terms, places


def _where(message: str) -> str:
    """Line and column of a parser's message; nothing else of it is passed on."""
    place = _PLACE.search(message)
    return f"at line {place[1]}, column {place[2]}" if place is not None and place[1] else "at its end"


def _lines(text: str, name: str) -> list[int]:
    """Line of each heading of a kind, from 1; one inside a multi-line text makes one too many, and then none counts."""
    ends = [match.start() for match in _LINE_END.finditer(text)]
    return [bisect_left(ends, match.start(1)) + 1 for match in _HEADING.finditer(text) if match[1] == name]


def write_toml(terms: Iterable[Term]) -> str:
    """The TOML form of terms, in the order given. Fields that say nothing are left out."""
    return "\n".join("\n".join((f"[[{kind_of(term).value}]]", *_fields(term), "")) for term in terms)


def _fields(term: Term) -> Iterator[str]:
    if isinstance(term, MemberTerm):
        yield f"dimension = {_quoted(term.dimension)}"
    yield f"code = {_quoted(term.code)}"
    yield from _texts(label=term.label)
    if isinstance(term, MetricTerm):
        yield from _texts(
            unit=term.unit,
            additivity="" if term.additivity_assumed else term.additivity.value,
            nature=term.nature.value if term.nature is not None else "",
            definition=term.definition,
            derivation=term.derivation,
        )
    if isinstance(term, EntityTerm):
        yield from _texts(
            type=term.entity_type,
            parent=term.parent_code,
            fiscal_year_start=term.fiscal_year_start,
            fiscal_year_named_by=term.fiscal_year_named_by,
        )
        if term.identifiers:
            pairs = (f"{_key(each.scheme)} = {_quoted(each.value)}" for each in term.identifiers)
            yield f"ids = {{{', '.join(pairs)}}}"
    if isinstance(term, RelationTerm):
        yield from _texts(inverse_of=term.inverse_of)
        if term.symmetric:
            yield "symmetric = true"
    if term.synonyms:
        yield f"synonyms = {{{', '.join(_by_language(term.synonyms))}}}"


def _texts(**fields: str) -> Iterator[str]:
    for name, value in fields.items():
        if value:
            yield f"{name} = {_quoted(value)}"


def _by_language(synonyms: tuple[Synonym, ...]) -> Iterator[str]:
    for language in dict.fromkeys(synonym.language for synonym in synonyms):
        listed = ", ".join(_quoted(synonym.text) for synonym in synonyms if synonym.language == language)
        yield f"{_key(language or 'any')} = [{listed}]"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A basic TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(f"\\u{ord(char):04x}" if ord(char) < 0x20 or ord(char) == 0x7F else char for char in escaped)
        + '"'
    )
