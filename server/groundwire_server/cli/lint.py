"""What is wrong in a glossary, and what a person should look at, whether it is a file or a library's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from groundwire_server.cli.files import read_text
from groundwire_server.cli.terms import glossary_form
from groundwire_server.errors import InvalidRequest
from groundwire_server.glossary import Additivity, EntityTerm, Glossary, MetricTerm, derivation_codes

__all__ = ["LintFinding", "lint_file", "lint_glossary"]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """severity: error, the glossary does not hold; look, a person should. where: the term, or its place in the file."""

    severity: Literal["error", "look"]
    where: str
    message: str


def lint_file(path: Path) -> tuple[int, list[LintFinding]]:
    """How many terms a file has, and everything that is found in it.

    Raises:
        click.ClickException: it is no UTF-8 text, or of no known form.
    """
    form = glossary_form(path)
    text = read_text(path)
    try:
        if form == "toml":
            glossary = Glossary.from_toml(text, ambiguous="report")
        else:
            glossary = Glossary.from_jsonl(text.split("\n"), ambiguous="report")
    except InvalidRequest as error:
        return 0, [LintFinding("error", each.field, each.description) for each in error.violations]
    return len(glossary), list(lint_glossary(glossary))


def lint_glossary(glossary: Glossary) -> Iterator[LintFinding]:
    """Shared names with both places, derivations that do not hold, and what was assumed."""
    for conflict in glossary.conflicts:
        message = f"{conflict.synonym!r} is a name of {' and of '.join(conflict.places)}"
        yield LintFinding("error", conflict.kind.value, message)
    yield from _derivations(glossary)
    for term in glossary.terms:
        if isinstance(term, MetricTerm):
            yield from _metric(term)
        elif isinstance(term, EntityTerm) and term.parent_code and term.parent_code not in glossary.entities:
            yield LintFinding("look", term.code, f"its parent {term.parent_code!r} is no entity here")


def _metric(term: MetricTerm) -> Iterator[LintFinding]:
    if term.additivity_assumed:
        word = term.additivity.value
        yield LintFinding("look", term.code, f'additivity is not said; "{word}" is assumed from its unit and names')
    if not term.unit:
        yield LintFinding(
            "look", term.code, "it has no unit: its facts may differ, and are never added over unlike ones"
        )
    if "/" in term.derivation and term.additivity is Additivity.SUM:
        yield LintFinding("look", term.code, 'it is derived as a ratio and its additivity is "sum"')


def _derivations(glossary: Glossary) -> Iterator[LintFinding]:
    metrics = glossary.metrics
    made_of: dict[str, tuple[str, ...]] = {}
    for code, term in metrics.items():
        if not term.derivation.strip():
            continue
        try:
            made_of[code] = derivation_codes(term.derivation, metrics)
        except ValueError as error:
            yield LintFinding("error", code, f"its derivation {term.derivation!r} is no formula: {error}")
            continue
        for other in made_of[code]:
            if other not in metrics:
                yield LintFinding("error", code, f"its derivation names {other!r}, which is no metric here")
        if not made_of[code]:
            yield LintFinding("error", code, f"its derivation {term.derivation!r} names no metric")
    for code in made_of:
        if _is_made_of_itself(code, made_of):
            yield LintFinding("error", code, "its derivation leads back to itself")


def _is_made_of_itself(code: str, made_of: dict[str, tuple[str, ...]]) -> bool:
    ahead, passed = list(made_of[code]), set[str]()
    while ahead:
        other = ahead.pop()
        if other == code:
            return True
        if other not in passed:
            passed.add(other)
            ahead += made_of.get(other, ())
    return False
