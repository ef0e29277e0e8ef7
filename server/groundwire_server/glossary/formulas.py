"""Whether the derivations of a glossary are formulas that can be computed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation
from groundwire_server.glossary.derivation import derivation_codes
from groundwire_server.glossary.glossary import Glossary
from groundwire_server.glossary.terms import MetricTerm

__all__ = ["check_derivations", "derivation_faults"]


def check_derivations(glossary: Glossary, only: Collection[str] | None = None) -> None:
    """Whoever changes a glossary is told what a derivation of his can not mean; one that is kept is not judged again.

    Args:
        only: codes of the metrics to look at; None: all.

    Raises:
        InvalidRequest: a derivation is no formula, names no metric or leads back to itself; every fault at once. One
            that names a metric which is not there (yet) is `lint_glossary`'s to tell.
    """
    faults = derivation_faults(glossary)
    violations: list[Violation] = []
    for term, place in zip(glossary.terms, glossary.term_places, strict=True):
        if isinstance(term, MetricTerm) and (only is None or term.code in only):
            told = faults.get(term.code, ())
            violations += [place.fault("derivation", reason, why) for reason, why in told]
    if violations:
        raise InvalidRequest(violations)


def derivation_faults(glossary: Glossary) -> dict[str, list[tuple[ErrorReason, str]]]:
    """By metric, what its derivation can not mean."""
    faults: dict[str, list[tuple[ErrorReason, str]]] = {}
    made_of: dict[str, tuple[str, ...]] = {}
    for code, term in glossary.metrics.items():
        if not term.derivation.strip():
            continue
        try:
            made_of[code] = derivation_codes(term.derivation, glossary.metrics)
        except ValueError as error:
            why = f"{term.derivation[:200]!r} is no formula: {error}"
            faults[code] = [(ErrorReason.VALUE_MALFORMED, why)]
            continue
        if not made_of[code]:
            why = f"{term.derivation[:200]!r} names no metric"
            faults[code] = [(ErrorReason.VALUE_MALFORMED, why)]
    for code in _in_circles(made_of):
        faults.setdefault(code, []).append((ErrorReason.CONTRADICTION, f"{code!r} is derived from itself"))
    return faults


def _in_circles(made_of: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Codes that are made of themselves, over whatever others."""
    for code in made_of:
        ahead, passed = list(made_of[code]), set[str]()
        while ahead:
            other = ahead.pop()
            if other == code:
                yield code
                break
            if other not in passed:
                passed.add(other)
                ahead += made_of.get(other, ())
