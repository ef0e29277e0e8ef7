"""The controlled words of a library: what may be asked for, under which names (glossary.proto, formats.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

__all__ = [
    "Additivity",
    "ChannelTerm",
    "EntityTerm",
    "Identifier",
    "MemberTerm",
    "MetricNature",
    "MetricTerm",
    "RelationTerm",
    "Synonym",
    "Term",
    "TermKind",
    "display_name",
    "kind_of",
    "names_of",
]


class TermKind(Enum):
    """What a term is; a name is unique within its kind, and within its axis for members of further axes."""

    METRIC = "metric"
    ENTITY = "entity"
    CHANNEL = "channel"
    MEMBER = "dimension"
    RELATION = "relation"


class Additivity(Enum):
    """Whether a metric may be added over entities."""

    NONE = "none"
    SUM = "sum"


class MetricNature(Enum):
    """What a metric is measured over. The other is never answered for it."""

    FLOW = "flow"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class Synonym:
    """A name as people write it. language: "en", "zh", "ja" ...; empty: any."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A public identifier: scheme "ticker", value "7203.T"."""

    scheme: str
    value: str


@dataclass(frozen=True, slots=True)
class MetricTerm:
    """Something measured.

    unit: code that its facts carry; empty: they may differ. nature None: either.
    additivity_assumed: nobody said it, it was read from unit and names.
    """

    code: str
    label: str = ""
    synonyms: tuple[Synonym, ...] = ()
    unit: str = ""
    additivity: Additivity = Additivity.NONE
    nature: MetricNature | None = None
    definition: str = ""
    derivation: str = ""
    additivity_assumed: bool = False


@dataclass(frozen=True, slots=True)
class EntityTerm:
    """Somebody measured. An empty fiscal_year_start or fiscal_year_named_by is that of the parent, if it has one."""

    code: str
    label: str = ""
    synonyms: tuple[Synonym, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    parent_code: str = ""
    fiscal_year_start: str = ""
    fiscal_year_named_by: Literal["", "start", "end"] = ""
    entity_type: str = ""


@dataclass(frozen=True, slots=True)
class ChannelTerm:
    """A part of the whole. "TOTAL" is the whole itself and need not be listed."""

    code: str
    label: str = ""
    synonyms: tuple[Synonym, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberTerm:
    """A member of a further axis, e.g. dimension "segment", code "CLOUD"."""

    dimension: str
    code: str
    label: str = ""
    synonyms: tuple[Synonym, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationTerm:
    """The name of a relation.

    inverse_of: relation that says the same from the other end and is stored instead, turned round; empty: this one is
        stored. symmetric: it holds in both directions.
    """

    code: str
    label: str = ""
    synonyms: tuple[Synonym, ...] = ()
    inverse_of: str = ""
    symmetric: bool = False


Term = MetricTerm | EntityTerm | ChannelTerm | MemberTerm | RelationTerm

_KINDS: dict[type, TermKind] = {
    MetricTerm: TermKind.METRIC,
    EntityTerm: TermKind.ENTITY,
    ChannelTerm: TermKind.CHANNEL,
    MemberTerm: TermKind.MEMBER,
    RelationTerm: TermKind.RELATION,
}


def kind_of(term: Term) -> TermKind:
    """The kind of a term."""
    return _KINDS[type(term)]


def names_of(term: Term) -> tuple[str, ...]:
    """Every name of a term, its code first, without repeats: code, label, synonyms, identifiers."""
    identifiers = [identifier.value for identifier in term.identifiers] if isinstance(term, EntityTerm) else []
    named = [term.code, term.label, *(synonym.text for synonym in term.synonyms), *identifiers]
    return tuple(dict.fromkeys(name for name in named if name))


def display_name(term: Term, language: str) -> str:
    """Name to show: in English the label; else the first synonym in the language; then whatever is there.

    >>> display_name(EntityTerm("ABW", synonyms=(Synonym("Aruba", "en"), Synonym("アルバ", "ja"))), "ja")
    'アルバ'
    """
    if language == "en" and term.label:
        return term.label
    own = english = ""
    for synonym in term.synonyms:
        if synonym.language == language:
            own = own or synonym.text
        if synonym.language == "en":
            english = english or synonym.text
    return own or term.label or english or term.code
