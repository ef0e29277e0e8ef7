"""The JSON lines form of a glossary: kind, canonical, label, aliases by language, one term a line (formats.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.glossary.fields import Fields, read_term
from groundwire_server.glossary.place import Place
from groundwire_server.glossary.terms import Term, TermKind

__all__ = ["read_jsonl"]


def read_jsonl(lines: Iterable[str]) -> tuple[list[Term], list[Place]]:
    """Terms and the place of each ("line 3"). Blank lines are passed over.

    Raises:
        InvalidRequest: every fault at once.
    """
    violations: list[Violation] = []
    terms: list[Term] = []
    places: list[Place] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = Place(f"line {number}")
        try:
            table = json.loads(line)
        except ValueError:
            violations.append(place.fault("", ErrorReason.VALUE_MALFORMED, "no JSON"))
            continue
        if not isinstance(table, dict):
            violations.append(place.fault("", ErrorReason.VALUE_MALFORMED, "a JSON object is needed"))
            continue
        fields = Fields(table, place, violations)
        kind = fields.choice("kind", tuple(each.value for each in TermKind))
        if not kind:
            fields.fault("kind", ErrorReason.VALUE_REQUIRED, "metric, entity, channel, dimension or relation is needed")
            continue
        terms.append(read_term(TermKind(kind), fields, code="canonical", synonyms="aliases"))
        fields.finish()
        places.append(place)
    if violations:
        raise InvalidRequest(violations)
    return terms, places
