"""Glossary files as terms of the client."""

from __future__ import annotations

from pathlib import Path

import click

import groundwire
from groundwire_server.cli.files import read_text
from groundwire_server.errors import InvalidRequest
from groundwire_server.glossary import Glossary, Term, check_derivations, kind_of
from groundwire_server.glossary.terms import EntityTerm, MemberTerm, MetricTerm, RelationTerm

__all__ = ["read_glossary", "read_placed_terms", "read_terms"]

_KINDS = {
    "metric": groundwire.TermKind.METRIC,
    "entity": groundwire.TermKind.ENTITY,
    "channel": groundwire.TermKind.CHANNEL,
    "dimension": groundwire.TermKind.DIMENSION_MEMBER,
    "relation": groundwire.TermKind.RELATION,
}


def read_glossary(path: Path) -> Glossary:
    """The glossary that a file holds, by the form that its name tells. Names that two terms share are reported.

    Raises:
        ClickException: it is no UTF-8 text, or of no known form.
        InvalidRequest: it does not hold; every fault at once.
    """
    suffix = path.suffix.lower()
    if suffix not in _FORMS:
        raise click.ClickException(f"{path}: a glossary ends in .toml, .yaml or .jsonl")
    return _FORMS[suffix](read_text(path))


def read_terms(path: Path) -> list[groundwire.Term]:
    """The terms of a glossary file; see `read_placed_terms`."""
    return read_placed_terms(path)[0]


def read_placed_terms(path: Path) -> tuple[list[groundwire.Term], list[str]]:
    """The terms of a glossary file, and where each stands in it. Shared names are left to the library to judge.

    Raises ClickException with the file and every fault in it.
    """
    try:
        glossary = read_glossary(path)
        check_derivations(glossary)
    except InvalidRequest as error:
        raise click.ClickException(f"{path}: {error}") from None
    return [_term(term) for term in glossary.terms], list(glossary.places)


def _of_toml(text: str) -> Glossary:
    return Glossary.from_toml(text, ambiguous="report")


def _of_yaml(text: str) -> Glossary:
    return Glossary.from_yaml(text, ambiguous="report")


def _of_lines(text: str) -> Glossary:
    return Glossary.from_jsonl(text.split("\n"), ambiguous="report")


_FORMS = {".toml": _of_toml, ".yaml": _of_yaml, ".yml": _of_yaml, ".jsonl": _of_lines, ".ndjson": _of_lines}


def _term(term: Term) -> groundwire.Term:
    return groundwire.Term(
        kind=_KINDS[kind_of(term).value],
        code=term.code,
        label=term.label,
        synonyms=tuple(groundwire.Synonym(synonym.text, synonym.language) for synonym in term.synonyms),
        metric=_metric(term) if isinstance(term, MetricTerm) else None,
        entity=_entity(term) if isinstance(term, EntityTerm) else None,
        dimension=groundwire.DimensionDetail(term.dimension) if isinstance(term, MemberTerm) else None,
        relation=groundwire.RelationDetail(term.inverse_of, term.symmetric) if isinstance(term, RelationTerm) else None,
    )


def _metric(term: MetricTerm) -> groundwire.MetricDetail:
    return groundwire.MetricDetail(
        unit=term.unit,
        additivity=groundwire.Additivity.read(term.additivity.name),
        definition=term.definition,
        derivation=term.derivation,
        additivity_assumed=term.additivity_assumed,
        nature=groundwire.MetricNature.read(term.nature.name) if term.nature else groundwire.MetricNature.UNSPECIFIED,
    )


def _entity(term: EntityTerm) -> groundwire.EntityDetail:
    naming = term.fiscal_year_named_by.upper() or "UNSPECIFIED"
    return groundwire.EntityDetail(
        identifiers=tuple(groundwire.Identifier(each.scheme, each.value) for each in term.identifiers),
        parent_code=term.parent_code,
        fiscal_year_start=term.fiscal_year_start,
        entity_type=term.entity_type,
        fiscal_year_named_by=groundwire.FiscalYearNaming.read(naming),
    )
