"""What a trial is made of: glossaries, rows as they come in, and calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

__all__ = [
    "Batch",
    "Calculation",
    "Call",
    "Dims",
    "LibraryPlan",
    "Product",
    "Query",
    "Row",
    "Term",
    "Test",
    "World",
]

Dims = tuple[tuple[str, str], ...]  # axis, member

LABELS = ("PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED")  # in order of strictness


@dataclass(frozen=True)
class Term:
    """A term of a glossary; what does not apply to its kind is empty."""

    kind: str  # metric, entity, channel, dimension
    code: str
    label: str = ""
    synonyms: tuple[tuple[str, str], ...] = ()  # text, language
    unit: str = ""
    nature: str = ""  # flow, instant
    derivation: str = ""
    identifiers: tuple[tuple[str, str], ...] = ()  # scheme, value
    parent: str = ""
    fiscal_start: str = ""  # MM-DD
    named_by: str = ""  # start, end
    axis: str = ""

    def names(self) -> tuple[str, ...]:
        """Everything that it may be called."""
        return (
            self.code,
            *((self.label,) if self.label else ()),
            *(text for text, _ in self.synonyms),
            *(value for _, value in self.identifiers),
        )


@dataclass(frozen=True)
class Row:
    """A figure as it is sent."""

    metric: str
    entity: str
    period: str
    value: str = ""
    unit: str = ""
    channel: str = ""
    dims: Dims = ()
    source: str = "annual.pdf"
    locator: str = "page=1"
    decimals: int | None = None
    filed: datetime | None = None
    status: str = ""  # "", APPROVED, PENDING
    label: str = "PUBLIC"
    as_written: str = ""
    author: str = ""
    reason: str = ""
    valid_as_of: datetime | None = None
    region: str | None = None  # an attribute of text
    pages: int | None = None  # an attribute that is a whole number
    withdraw: bool = False


@dataclass(frozen=True)
class Batch:
    """Rows that are durable together, in one library."""

    library: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class LibraryPlan:
    """A library before any row is in it."""

    terms: tuple[Term, ...]
    reports_ambiguity: bool = False
    glossary_from: int = 0  # the batch before which the glossary comes; rows before it are read by it all the same


@dataclass(frozen=True)
class Query:
    """One figure, named as somebody says it."""

    metric: str
    entity: str
    period: str
    channel: str = ""
    dims: Dims = ()


@dataclass(frozen=True)
class Product:
    """Lists to combine."""

    metrics: tuple[str, ...]
    entities: tuple[str, ...]
    periods: tuple[str, ...]
    channels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Calculation:
    """A computation over two queries."""

    operation: str  # DIFFERENCE, RATIO, GROWTH
    first: int
    second: int


@dataclass(frozen=True)
class Test:
    """A filter on one attribute, negated or not."""

    __test__ = False  # no test of pytest

    name: str  # region, pages
    operator: str  # eq, ne, one_of, none_of, gt, gte, lt, lte, between, present
    values: tuple[str | int | bool, ...]
    negated: bool = False


@dataclass(frozen=True)
class Call:
    """One QueryMetric."""

    libraries: tuple[int, ...]  # none: the call names all of them
    queries: tuple[Query, ...] = ()
    product: Product | None = None
    calculations: tuple[Calculation, ...] = ()
    versions: str = ""  # "", LATEST, AS_REPORTED, ALL
    known_at: datetime | int | None = None  # a time, or the number of the batch after which it was
    valid_at: datetime | None = None
    reference: str = ""  # YYYY-MM-DD
    language: str = ""
    tests: tuple[Test, ...] = ()  # all of them

    def asked(self) -> list[Query]:
        """Every query in order: listed ones, then the product, its last list fastest."""
        product = self.product
        if product is None:
            return list(self.queries)
        return list(self.queries) + [
            Query(metric, entity, period, channel)
            for metric in product.metrics
            for entity in product.entities
            for period in product.periods
            for channel in product.channels or ("",)
        ]


@dataclass(frozen=True)
class World:
    """Libraries, what comes into them, and what is asked then."""

    clearance: str
    libraries: tuple[LibraryPlan, ...]
    batches: tuple[Batch, ...]
    calls: tuple[Call, ...] = field(default=())
