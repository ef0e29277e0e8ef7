"""What makes a list of terms a glossary: every fault at once, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.glossary.names import name_key
from groundwire_server.glossary.periods import FiscalCalendar
from groundwire_server.glossary.place import Place
from groundwire_server.glossary.relation_names import DEFAULT_RELATION_NAMES
from groundwire_server.glossary.terms import (
    EntityTerm,
    MemberTerm,
    MetricTerm,
    RelationTerm,
    Term,
    TermKind,
    kind_of,
    names_of,
)

__all__ = ["check_terms"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_CODE = 512
# What a query may ask by (metric.proto): a longer name could never be said, and it goes into every sentence.
_LONGEST_NAME = 512
_LONGEST_TEXT = 16_384
_LONGEST_LANGUAGE = 35  # of a language tag


def check_terms(terms: Sequence[Term], places: Sequence[Place]) -> None:
    """Raises InvalidRequest: codes repeat or are malformed, names are blank, parents are unknown or in a circle."""
    violations: list[Violation] = []
    seen: dict[tuple[TermKind, str, str], Place] = {}
    for term, place in zip(terms, places, strict=True):
        violations.extend(_faults(term, place))
        key = (kind_of(term), term.dimension if isinstance(term, MemberTerm) else "", term.code)
        if key in seen:
            why = f"{term.code!r} stands already at {seen[key]}"
            violations.append(place.fault("code", ErrorReason.CONTRADICTION, why))
        seen.setdefault(key, place)
    if not violations:
        violations.extend(_family_faults(terms, places))
        violations.extend(_relation_faults(terms, places))
    if violations:
        raise InvalidRequest(violations)


def _faults(term: Term, place: Place) -> Iterator[Violation]:
    yield from _code_faults(term.code, "code", place)
    if isinstance(term, MemberTerm):
        yield from _code_faults(term.dimension, "dimension", place)
    for name in names_of(term):
        if len(name) > _LONGEST_NAME:
            words = f"a name has {len(name)} characters, at most {_LONGEST_NAME}"
            yield place.fault("", ErrorReason.VALUE_OUT_OF_RANGE, words)
        elif not name_key(name) or _CONTROL.search(name):
            yield place.fault("", ErrorReason.VALUE_MALFORMED, f"{name!r} is blank or holds control characters")
    if any(len(synonym.language) > _LONGEST_LANGUAGE for synonym in term.synonyms):
        words = f"a language has more than {_LONGEST_LANGUAGE} characters"
        yield place.fault("synonyms", ErrorReason.VALUE_OUT_OF_RANGE, words)
    if isinstance(term, MetricTerm):
        yield from _metric_faults(term, place)
    if isinstance(term, RelationTerm) and term.inverse_of:
        yield from _code_faults(term.inverse_of, "inverse_of", place)
    if isinstance(term, EntityTerm) and term.fiscal_year_start:
        try:
            FiscalCalendar(term.fiscal_year_start)
        except ValueError:
            yield place.fault(
                "fiscal_year_start",
                ErrorReason.VALUE_MALFORMED,
                f"{term.fiscal_year_start!r} is no day MM-DD of a common year",
            )


def _metric_faults(term: MetricTerm, place: Place) -> Iterator[Violation]:
    if len(term.unit) > _LONGEST_NAME:
        words = f"{len(term.unit)} characters, at most {_LONGEST_NAME}"
        yield place.fault("unit", ErrorReason.VALUE_OUT_OF_RANGE, words)
    elif _CONTROL.search(term.unit):
        yield place.fault("unit", ErrorReason.VALUE_MALFORMED, f"{term.unit!r} holds control characters")
    for name, text in (("definition", term.definition), ("derivation", term.derivation)):
        if len(text) > _LONGEST_TEXT:
            words = f"{len(text)} characters, at most {_LONGEST_TEXT}"
            yield place.fault(name, ErrorReason.VALUE_OUT_OF_RANGE, words)


def _code_faults(code: str, field: str, place: Place) -> Iterator[Violation]:
    if not code.strip():
        yield place.fault(field, ErrorReason.VALUE_REQUIRED, "must not be blank")
    elif code != code.strip() or _CONTROL.search(code):
        yield place.fault(field, ErrorReason.VALUE_MALFORMED, f"{code!r} holds control characters or outer blanks")
    elif len(code.encode("utf-8", "surrogatepass")) > _LONGEST_CODE:
        yield place.fault(field, ErrorReason.VALUE_OUT_OF_RANGE, f"longer than {_LONGEST_CODE} bytes")


def _family_faults(terms: Sequence[Term], places: Sequence[Place]) -> Iterator[Violation]:
    parents = {term.code: term.parent_code for term in terms if isinstance(term, EntityTerm)}
    for term, place in zip(terms, places, strict=True):
        if not isinstance(term, EntityTerm) or not term.parent_code:
            continue
        if term.parent_code not in parents:
            yield place.fault("parent", ErrorReason.UNKNOWN_NAME, f"{term.parent_code!r} is no entity here")
        elif _is_own_ancestor(term.code, parents):
            yield place.fault("parent", ErrorReason.CONTRADICTION, f"{term.code!r} is its own ancestor")


def _relation_faults(terms: Sequence[Term], places: Sequence[Place]) -> Iterator[Violation]:
    """A relation is stored under one name: the one that another is the inverse of is the inverse of none."""
    own = {term.code: term for term in terms if isinstance(term, RelationTerm)}
    turned = {*DEFAULT_RELATION_NAMES.inverse, *own} - {code for code, term in own.items() if not term.inverse_of}
    for term, place in zip(terms, places, strict=True):
        if not isinstance(term, RelationTerm) or not term.inverse_of:
            continue
        if term.inverse_of in turned:
            why = f"{term.inverse_of!r} is itself turned round"
            yield place.fault("inverse_of", ErrorReason.CONTRADICTION, why)
        if term.symmetric:
            why = "what holds in both directions is no inverse"
            yield place.fault("symmetric", ErrorReason.CONTRADICTION, why)


def _is_own_ancestor(code: str, parents: dict[str, str]) -> bool:
    passed: set[str] = set()
    above = parents[code]
    while above and above not in passed:
        if above == code:
            return True
        passed.add(above)
        above = parents.get(above, "")
    return False
