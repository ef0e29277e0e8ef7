"""What a person should look at in a glossary, whether it is a file's or a library's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from groundwire_server.errors import ErrorReason
from groundwire_server.glossary.derivation import derivation_codes
from groundwire_server.glossary.formulas import derivation_faults
from groundwire_server.glossary.glossary import Glossary
from groundwire_server.glossary.terms import Additivity, EntityTerm, Identifier, MetricTerm, TermKind

__all__ = ["FindingKind", "TermFinding", "lint_glossary"]

_LEI = re.compile(r"[0-9A-Z]{18}[0-9]{2}")
_ISIN = re.compile(r"[A-Z]{2}[0-9A-Z]{9}[0-9]")
_ISO_COUNTRY = re.compile(r"[A-Z]{2}|[A-Z]{3}|[0-9]{3}")


class FindingKind(IntEnum):
    """What a finding is about; numbers are those of `groundwire.v1.GlossaryFindingKind`."""

    UNLISTED = 1
    AMBIGUOUS = 2
    ASSUMED = 3
    DERIVATION = 4
    UNIT = 5
    ADDITIVITY = 6
    IDENTIFIER = 7
    FILE = 8
    PERIOD = 9


@dataclass(frozen=True, slots=True)
class TermFinding:
    """Something about one term. wrong: it can not be meant so; else a person should look."""

    kind: FindingKind
    term: TermKind
    code: str
    place: str
    message: str
    wrong: bool = False


def lint_glossary(glossary: Glossary) -> Iterator[TermFinding]:
    """Derivations that do not hold, what was assumed, and what looks like an oversight; by kind and code of terms.

    Shared names are not among them (`Glossary.conflicts`), nor what makes it no glossary at all (`check_terms`).
    """
    faults = derivation_faults(glossary)
    for term, place in zip(glossary.terms, glossary.places, strict=True):
        if isinstance(term, MetricTerm):
            for kind, message, wrong in (*_derivation(term, glossary, faults.get(term.code, ())), *_metric(term)):
                yield TermFinding(kind, TermKind.METRIC, term.code, place, message, wrong)
        elif isinstance(term, EntityTerm):
            for identifier in term.identifiers:
                why = _identifier_fault(identifier)
                if why:
                    message = f"its {identifier.scheme} {identifier.value!r} {why}"
                    yield TermFinding(FindingKind.IDENTIFIER, TermKind.ENTITY, term.code, place, message)


_Finding = tuple[FindingKind, str, bool]


def _derivation(term: MetricTerm, glossary: Glossary, faults: Sequence[tuple[ErrorReason, str]]) -> Iterator[_Finding]:
    for _, why in faults:
        yield FindingKind.DERIVATION, f"its derivation does not hold: {why}", True
    if faults or not term.derivation.strip():
        return
    for other in derivation_codes(term.derivation, glossary.metrics):
        if other not in glossary.metrics:
            yield FindingKind.DERIVATION, f"its derivation names {other!r}, which is no metric here", True
    if "/" in term.derivation and term.additivity is Additivity.SUM:
        yield FindingKind.ADDITIVITY, 'it is derived as a ratio and its additivity is "sum"', False


def _metric(term: MetricTerm) -> Iterator[_Finding]:
    if term.additivity_assumed:
        word = term.additivity.value
        message = f'additivity is not said; "{word}" is assumed from its unit and names'
        yield FindingKind.ASSUMED, message, False
    if not term.unit:
        message = "it has no unit: its facts may differ, and are never added over unlike ones"
        yield FindingKind.UNIT, message, False


def _identifier_fault(identifier: Identifier) -> str:
    """Why a public identifier can not be one; empty for those of schemes that are not known here."""
    value = identifier.value
    match identifier.scheme.casefold():
        case "lei":
            return "" if _LEI.fullmatch(value) and _digits(value) % 97 == 1 else "does not check as an LEI (ISO 17442)"
        case "isin":
            return "" if _ISIN.fullmatch(value) and _luhn(str(_digits(value))) else "does not check as an ISIN"
        case "iso3166" | "iso_3166" | "iso2" | "iso3":
            return "" if _ISO_COUNTRY.fullmatch(value) else "has no form of ISO 3166"
        case _:
            return ""


def _digits(value: str) -> int:
    """Letters as numbers from 10 on."""
    return int("".join(str(int(char, 36)) for char in value))


def _luhn(digits: str) -> bool:
    doubled = (int(char) * (2 if place % 2 else 1) for place, char in enumerate(reversed(digits)))
    return sum(each // 10 + each % 10 for each in doubled) % 10 == 0
