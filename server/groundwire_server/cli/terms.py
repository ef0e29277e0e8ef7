"""Glossary files as terms of the client."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

import groundwire
from groundwire_server.cli.files import read_text
from groundwire_server.errors import InvalidRequest
from groundwire_server.glossary import Glossary, Term, kind_of
from groundwire_server.glossary.terms import EntityTerm, MemberTerm, MetricTerm, RelationTerm

__all__ = ["glossary_form", "read_terms", "term_places"]

_KINDS = {
    "metric": groundwire.TermKind.METRIC,
    "entity": groundwire.TermKind.ENTITY,
    "channel": groundwire.TermKind.CHANNEL,
    "dimension": groundwire.TermKind.DIMENSION_MEMBER,
    "relation": groundwire.TermKind.RELATION,
}


def glossary_form(path: Path) -> Literal["toml", "jsonl"]:
    """The form of a glossary file, by its name. Raises ClickException for another."""
    match path.suffix.lower():
        case ".toml":
            return "toml"
        case ".jsonl" | ".ndjson":
            return "jsonl"
        case _:
            raise click.ClickException(f"{path}: a glossary ends in .toml or .jsonl")


def read_terms(path: Path) -> list[groundwire.Term]:
    """The terms of a glossary in TOML or JSON lines. Names that two terms share are left to the library to judge.

    Raises ClickException with the file and every fault in it.
    """
    return [_term(term) for term in _read(path).terms]


def term_places(path: Path) -> list[str]:
    """Where each of the terms that `read_terms` gives stands in its file."""
    return list(_read(path).places)


def _read(path: Path) -> Glossary:
    form = glossary_form(path)
    text = read_text(path)
    try:
        if form == "toml":
            return Glossary.from_toml(text, ambiguous="report")
        return Glossary.from_jsonl(text.split("\n"), ambiguous="report")
    except InvalidRequest as error:
        raise click.ClickException(f"{path}: {error}") from None


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
