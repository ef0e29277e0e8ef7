"""The controlled words of a library, as they are given to it."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.named import NamedEnum

__all__ = [
    "Additivity",
    "DimensionDetail",
    "EntityDetail",
    "FiscalYearNaming",
    "GlossaryFinding",
    "GlossaryFindingKind",
    "GlossaryUpdate",
    "Identifier",
    "MetricDetail",
    "MetricNature",
    "RelationDetail",
    "Synonym",
    "Term",
    "TermDescription",
    "TermKind",
    "TermRef",
]


class TermKind(NamedEnum):
    """Kinds of terms."""

    UNSPECIFIED = 0
    METRIC = 1
    ENTITY = 2
    CHANNEL = 3
    DIMENSION_MEMBER = 4
    RELATION = 5


class Additivity(NamedEnum):
    """Whether a metric may be added up over entities."""

    UNSPECIFIED = 0
    NONE = 1
    SUM = 2


class MetricNature(NamedEnum):
    """What a metric is measured over: a span of time, or a day."""

    UNSPECIFIED = 0
    FLOW = 1
    INSTANT = 2


class FiscalYearNaming(NamedEnum):
    """Which calendar year gives a fiscal year its name."""

    UNSPECIFIED = 0
    START = 1
    END = 2


class GlossaryFindingKind(NamedEnum):
    """What a finding is about."""

    UNSPECIFIED = 0
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
class Synonym:
    """A name as people write it; `language` "en", "zh", "ja" ..., empty: any."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class MetricDetail:
    """What a metric is; `derivation` by codes, e.g. "(REVENUE - COGS) / REVENUE".

    additivity_assumed: nobody said the additivity, it was read from unit and names.
    """

    unit: str = ""
    additivity: Additivity = Additivity.UNSPECIFIED
    definition: str = ""
    derivation: str = ""
    nature: MetricNature = MetricNature.UNSPECIFIED
    additivity_assumed: bool = False


@dataclass(frozen=True, slots=True)
class Identifier:
    """A public identifier, e.g. ticker 7203.T; it works as a name."""

    scheme: str
    value: str


@dataclass(frozen=True, slots=True)
class EntityDetail:
    """Who an entity is; `fiscal_year_start` as "04-01"."""

    identifiers: tuple[Identifier, ...] = ()
    parent_code: str = ""
    fiscal_year_start: str = ""
    entity_type: str = ""
    fiscal_year_named_by: FiscalYearNaming = FiscalYearNaming.UNSPECIFIED


@dataclass(frozen=True, slots=True)
class DimensionDetail:
    """The axis that a member belongs to."""

    dimension: str


@dataclass(frozen=True, slots=True)
class RelationDetail:
    """How a relation is stored: as `inverse_of`, turned round, and whether it holds in both directions."""

    inverse_of: str = ""
    symmetric: bool = False


@dataclass(frozen=True, slots=True)
class Term:
    """A controlled word; the detail of its kind may be set, no other."""

    kind: TermKind
    code: str
    label: str = ""
    synonyms: tuple[Synonym, ...] = ()
    metric: MetricDetail | None = None
    entity: EntityDetail | None = None
    dimension: DimensionDetail | None = None
    relation: RelationDetail | None = None


@dataclass(frozen=True, slots=True)
class TermRef:
    """Names a term; `dimension` is the axis of a DIMENSION_MEMBER, empty for the other kinds."""

    kind: TermKind
    code: str
    dimension: str = ""


@dataclass(frozen=True, slots=True)
class TermDescription:
    """A term, and which figures there are: `periods` that have one, and `gaps` between the first and the last.

    Both are cut at 400; the counts are not. unlisted: it is no term but a code that figures carry.
    """

    library_id: str
    term: Term
    fact_count: int = 0
    periods: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    period_count: int = 0
    gap_count: int = 0
    unlisted: bool = False


@dataclass(frozen=True, slots=True)
class GlossaryFinding:
    """Something that a person should look at."""

    term: TermRef | None
    fact_count: int = 0
    message: str = ""
    kind: GlossaryFindingKind = GlossaryFindingKind.UNSPECIFIED


@dataclass(frozen=True, slots=True)
class GlossaryUpdate:
    """What became of a change; `snapshot_id` is empty when nothing was changed. `findings` are at most 1,000."""

    findings: tuple[GlossaryFinding, ...] = ()
    snapshot_id: str = ""
    findings_omitted: int = 0
