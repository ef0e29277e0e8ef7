"""What reads a filter out of a question: a hint, apart from the caller's own filter (semantics 3).

An extractor sees the question, the glossary and the attributes of the documents that the caller may read. What it makes
narrows a search and is dropped, with a mark, where it leaves nothing. It never makes one wider: an extractor that fails
or finds nothing makes no hint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from groundwire_server.errors import Cause
from groundwire_server.evidence import Degradation, DegradationKind, Family, Filter, Value
from groundwire_server.glossary import Glossary
from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.asking import StepResult
from groundwire_server.query.query_text import QueryText

__all__ = ["COMPONENT", "Attributes", "Extracted", "FilterExtractor", "FilterSource", "ValuesOf", "extraction_skipped"]

COMPONENT = "filter_extractor"


@dataclass(frozen=True, slots=True)
class ValuesOf:
    """What stands in an attribute.

    Attributes:
        values: distinct; empty: they are too many to be told.
        share: of the documents, how many have the attribute.
    """

    family: Family
    values: tuple[Value, ...]
    share: float = 1.0


Attributes = Mapping[str, ValuesOf]
"""Attributes by name."""


@dataclass(frozen=True, slots=True)
class FilterSource:
    """A question, and what a filter can be made of.

    Attributes:
        attributes: of the documents that may be told of.
        reference: day from which "last year" counts.
        keeps: whether some document that the caller may read satisfies a filter.
    """

    query: QueryText
    attributes: Attributes
    glossary: Glossary = field(default_factory=lambda: Glossary(()))
    reference: date = date(1970, 1, 1)
    keeps: Callable[[Filter], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class Extracted(StepResult):
    """What came of a question; with a degradation, nothing could be extracted.

    Attributes:
        hint: None: the question asks for no part of the documents.
        detail: for the plan, what it is made of.
    """

    hint: Filter | None = None
    detail: str = ""


class FilterExtractor(Protocol):
    """One way to read a filter out of a question. Any thread may call it, several at once.

    `groundwire_server.query.filters.conformance` has what holds for each.
    """

    @property
    def name(self) -> str:
        """As a call asks for it."""
        ...

    @property
    def asks_model(self) -> bool:
        """Whether what it sees of the documents goes to a language model."""
        ...

    def extract(
        self, source: FilterSource, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Extracted:
        """The hint of a question; it names only attributes of the source, with values of their families.

        Args:
            model: None: there is none.
            passes: whether a text names nothing outside; a value that does not pass is left out.
            stop: looked at while the model is waited for; what it raises is not caught.
        """
        ...


def extraction_skipped(name: str, cause: Cause) -> Extracted:
    """No hint, and why."""
    kind = DegradationKind.FILTER_EXTRACTION_SKIPPED
    lost = Degradation(kind, f"{COMPONENT}:{name}", cause=cause)
    return Extracted(degradation=lost)
