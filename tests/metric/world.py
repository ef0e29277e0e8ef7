"""A library of figures for tests, and one call to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from groundwire_server.evidence import (
    Call,
    CallOptions,
    DerivedFigure,
    Header,
    Label,
    MetricFact,
    MetricOutcome,
    MetricQuery,
    Outcomes,
    Principal,
    ReviewStatus,
    Snippet,
    Snippets,
    Summary,
)
from groundwire_server.evidence.outcome import CalculationOutcome
from groundwire_server.glossary import Glossary, parse_period
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.metric import MetricRequest, query_metric
from groundwire_server.store import FactRecord

READER = Principal("reader", Label.INTERNAL)
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


def open_library(
    folder: Path, glossary: Glossary, batches: Sequence[Sequence[FactRecord]] = (), library_id: str = "lib"
) -> Library:
    """A library whose n-th batch was recorded on the n-th day of 2025, from 0."""
    clock = [BEGIN]
    config = LibraryConfig(embedder="none", ambiguous="report")
    library = Library(folder / library_id, library_id, secret=b"s" * 32, config=config, now=lambda: clock[0])
    library.set_glossary(glossary)
    for number, batch in enumerate(batches):
        clock[0] = recorded(number)
        with library.writing() as writer:
            assert writer.put_facts(batch).refused == ()
    return library


def recorded(batch: int) -> datetime:
    """When a batch was recorded."""
    return BEGIN + timedelta(days=batch)


def figure(metric: str, entity: str, period: str, value: str, **more: object) -> FactRecord:
    """A figure with everything that a test does not care about filled in."""
    read = parse_period(period, reference=date(2025, 1, 1))
    fields: dict[str, object] = {
        "channel": "TOTAL",
        "unit": "USD",
        "source_doc": "report.pdf",
        "locator": "page=1",
        "review_status": ReviewStatus.AUTO_APPROVED,
        **more,
    }
    return FactRecord(metric, entity, read.canonical, read.first, read.last, value=value, **fields)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Answer:
    """What a call gave, frame by frame and put together."""

    frames: list[Header | Outcomes | Snippets | Summary]

    @property
    def header(self) -> Header:
        assert isinstance(self.frames[0], Header)
        return self.frames[0]

    @property
    def summary(self) -> Summary:
        assert isinstance(self.frames[-1], Summary)
        return self.frames[-1]

    @property
    def outcomes(self) -> list[MetricOutcome]:
        return [outcome for frame in self.frames if isinstance(frame, Outcomes) for outcome in frame.outcomes]

    @property
    def calculations(self) -> list[CalculationOutcome]:
        return [outcome for frame in self.frames if isinstance(frame, Outcomes) for outcome in frame.calculations]

    @property
    def snippets(self) -> dict[str, Snippet]:
        return {s.snippet_id: s for frame in self.frames if isinstance(frame, Snippets) for s in frame.snippets}

    def facts(self, ids: Sequence[str]) -> list[MetricFact]:
        payloads = [self.snippets[each].payload for each in ids]
        return [payload for payload in payloads if isinstance(payload, MetricFact)]

    @property
    def derived(self) -> list[DerivedFigure]:
        payloads = [snippet.payload for snippet in self.snippets.values()]
        return [payload for payload in payloads if isinstance(payload, DerivedFigure)]


def ask(
    libraries: Library | Sequence[Library],
    *queries: MetricQuery,
    request: MetricRequest | None = None,
    principal: Principal = READER,
    **options: object,
) -> Answer:
    """Answer queries, from 2025-06-30 on."""
    given = {"reference_date": date(2025, 6, 30), **options}
    call = Call(principal, CallOptions(**given))  # type: ignore[arg-type]
    snapshots = [each.snapshot() for each in ([libraries] if isinstance(libraries, Library) else libraries)]
    return Answer(list(query_metric(request or MetricRequest(queries), call, snapshots)))
