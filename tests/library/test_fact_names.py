"""Figures that were stored under names of which the glossary knew nothing then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Dimension, Label, Period, PeriodKind, ReviewStatus
from groundwire_server.glossary import (
    ChannelTerm,
    EntityTerm,
    Glossary,
    MemberTerm,
    MetricTerm,
    Synonym,
    Term,
    parse_period,
)
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.store import FactPlace, FactRecord, StoreReader, make_fact_id
from tests.metric.world import figure

YEAR = Period("2024", PeriodKind.CALENDAR, date(2024, 1, 1), date(2024, 12, 31))
DAYS = (YEAR.first, YEAR.last)
FILED = datetime(2025, 3, 1, tzinfo=UTC)
SHOWN = frozenset({ReviewStatus.AUTO_APPROVED, ReviewStatus.APPROVED})
TERMS: list[Term] = [
    MetricTerm("REVENUE", synonyms=(Synonym("Net sales"), Synonym("売上高", "ja"))),
    EntityTerm("ACME", synonyms=(Synonym("Acme Corp."), Synonym("アクメ", "ja"))),
    ChannelTerm("WEB", synonyms=(Synonym("Online stores"),)),
    MemberTerm("segment", "CLOUD", synonyms=(Synonym("Cloud services"),)),
]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    clock = [datetime(2025, 1, 1, tzinfo=UTC)]

    def now() -> datetime:
        clock[0] += timedelta(days=1)
        return clock[0]

    config = LibraryConfig(embedder="none", ambiguous="report")
    library = Library(tmp_path / "lib", "lib", secret=b"s" * 32, config=config, now=now)
    yield library
    library.close()


def put(library: Library, *records: FactRecord) -> None:
    with library.writing() as writer:
        assert writer.put_facts(records).refused == ()


def values(reader: StoreReader, **wanted: str) -> list[str]:
    return [fact.record.value for fact in reader.facts(Label.INTERNAL, **wanted)]  # type: ignore[arg-type]


def test_a_term_takes_in_what_was_stored_under_its_names(library: Library) -> None:
    raw = figure("net  sales", "Acme Corp", "2024", "10", channel="online store", source_doc="a.csv")
    split = figure(
        "売上高", "アクメ", "2024", "7", source_doc="b.csv", dimensions=(Dimension("segment", "cloud service"),)
    )
    put(library, raw, split)
    assert values(library.snapshot().reader, metric="REVENUE") == []
    library.set_glossary(Glossary(TERMS))
    reader = library.snapshot().reader
    (one,) = reader.facts(Label.INTERNAL, metric="REVENUE", entity="ACME", channel="WEB", days=DAYS)
    assert one.record == replace(raw, metric="REVENUE", entity="ACME", channel="WEB")
    (other,) = reader.facts(Label.INTERNAL, metric="REVENUE", entity="ACME", channel="TOTAL")
    assert other.record.dimensions == (Dimension("segment", "CLOUD"),)
    assert [reader.fact_codes(Label.INTERNAL, axis) for axis in ("metric", "entity", "channel")] == [
        ["REVENUE"],
        ["ACME"],
        ["TOTAL", "WEB"],
    ]
    # By the name that was stored as well, and in every other way to read.
    assert values(reader, metric="net  sales") == values(reader, metric="REVENUE")
    assert reader.fact(Label.INTERNAL, make_fact_id(raw)) == [one]
    assert reader.fact_rows(Label.INTERNAL, [one.fact_row]) == [one]
    extent = reader.fact_extent(Label.INTERNAL, entity="ACME", member=Dimension("segment", "CLOUD"))
    assert (extent.facts, extent.units) == (1, ("USD",))
    (line,) = reader.fact_lines(Label.INTERNAL, metric="REVENUE", period=YEAR, channel="WEB")
    assert (line.entity, line.value) == ("ACME", "10")
    (line,) = reader.fact_lines(
        Label.INTERNAL, metric="REVENUE", period=YEAR, channel="TOTAL", dimensions=[Dimension("segment", "CLOUD")]
    )
    assert line.value == "7"


def test_a_term_that_goes_gives_the_names_back(library: Library) -> None:
    put(library, figure("Net sales", "Acme Corp.", "2024", "10"))
    before = library.snapshot().reader.facts(Label.INTERNAL)
    library.set_glossary(Glossary(TERMS))
    library.set_glossary(Glossary())
    assert library.snapshot().reader.facts(Label.INTERNAL) == before


def test_what_means_several_things_belongs_to_none(library: Library) -> None:
    put(library, figure("sales", "Acme", "2024", "10"))
    both = [MetricTerm(code, synonyms=(Synonym("sales"),)) for code in ("NET", "GROSS")]
    library.set_glossary(Glossary(both, ambiguous="report"))
    reader = library.snapshot().reader
    assert (values(reader, metric="NET"), values(reader, metric="sales")) == ([], ["10"])


def test_the_same_source_loaded_again_is_one_fact(library: Library) -> None:
    early = figure("Net sales", "ACME", "2024", "10", filed_at=FILED)
    put(library, early)
    library.set_glossary(Glossary(TERMS))
    late = replace(early, metric="REVENUE", value="11", filed_at=FILED + timedelta(days=9))
    put(library, replace(early, metric="REVENUE"), late, replace(late, source_doc="other.csv"))
    reader = library.snapshot().reader
    found = reader.facts(Label.INTERNAL, metric="REVENUE")
    by_source: dict[str, set[str]] = {}
    for fact in found:
        by_source.setdefault(fact.record.source_doc, set()).add(fact.fact_id)
    assert sorted(fact.record.value for fact in found) == ["10", "11", "11"]
    assert [len(ids) for ids in by_source.values()] == [1, 1]
    for fact_id in (make_fact_id(early), make_fact_id(late)):
        assert [fact.record.value for fact in reader.fact(Label.INTERNAL, fact_id)] == ["10", "11"]
    lines = reader.fact_lines(Label.INTERNAL, metric="REVENUE", period=YEAR, channel="TOTAL")
    assert {(line.fact_id, line.fact_row, line.value) for line in lines} == {
        (fact.fact_id, fact.fact_row, fact.record.value) for fact in found
    }


def test_a_page_lists_them_as_they_are_stored(library: Library) -> None:
    records = [
        figure(name, "ACME", str(year), "1") for name in ("Net sales", "REVENUE", "COST") for year in (2023, 2024)
    ]
    put(library, *records)
    library.set_glossary(Glossary(TERMS))
    reader = library.snapshot().reader
    listed, after = [], None
    while page := reader.fact_page(Label.INTERNAL, statuses=SHOWN, metric="REVENUE", after=after, limit=1):
        (fact,) = page
        record = fact.record
        listed.append((record.metric, record.period))
        after = FactPlace(
            record.metric,
            record.entity,
            record.period_first,
            record.period_last,
            record.channel,
            record.dimensions,
            record.source_doc,
            fact.fact_id,
        )
    assert listed == [("Net sales", "2023"), ("Net sales", "2024"), ("REVENUE", "2023"), ("REVENUE", "2024")]


def test_a_hidden_name_changes_nothing(library: Library) -> None:
    put(library, figure("REVENUE", "ACME", "2024", "1"))
    library.set_glossary(Glossary(TERMS))
    before = library.snapshot().reader
    put(library, figure("Net sales", "ACME", "2024", "2", label=Label.CONFIDENTIAL, source_doc="secret.csv"))
    after = library.snapshot().reader
    for reader in (before, after):
        assert values(reader, metric="REVENUE") == ["1"]
        assert reader.fact_codes(Label.INTERNAL, "metric") == ["REVENUE"]
        assert reader.fact_extent(Label.INTERNAL, metric="REVENUE").facts == 1
    assert after.facts(Label.INTERNAL) == before.facts(Label.INTERNAL)
    assert len(after.facts(Label.CONFIDENTIAL, metric="REVENUE")) == 2


def test_the_past_is_read_by_the_names_of_today(library: Library) -> None:
    put(library, figure("Net sales", "ACME", "2024", "1"))
    then = library.snapshot().reader.facts(Label.INTERNAL)[0].recorded_at
    library.set_glossary(Glossary(TERMS))
    snapshot = library.snapshot()
    assert values(snapshot.reader_at(then), metric="REVENUE") == ["1"]
    assert [f.record.metric for f in snapshot.reader.facts(Label.INTERNAL, metric="REVENUE", known_at=then)] == [
        "REVENUE"
    ]


NAMES = {
    "metric": ["REVENUE", "net sales", "Net-Sales", "売上高", "COST"],
    "entity": ["ACME", "acme corp", "アクメ", "B"],
}
CHANNELS = ["TOTAL", "WEB", "online stores", "Online store"]


@st.composite
def records(draw: st.DrawFn) -> FactRecord:
    metric, entity = draw(st.sampled_from(NAMES["metric"])), draw(st.sampled_from(NAMES["entity"]))
    member = draw(st.sampled_from(["", "CLOUD", "cloud services", "OTHER"]))
    return figure(
        metric,
        entity,
        draw(st.sampled_from(["2023", "2024"])),
        draw(st.sampled_from(["1", "2"])),
        channel=draw(st.sampled_from(CHANNELS)),
        dimensions=(Dimension("segment", member),) if member else (),
        source_doc=draw(st.sampled_from(["a", "b"])),
        filed_at=draw(st.sampled_from([FILED, FILED + timedelta(days=1)])),
    )


@given(st.lists(records(), max_size=12))
def test_it_is_as_if_the_glossary_had_always_been_there(
    tmp_path_factory: pytest.TempPathFactory, given: list[FactRecord]
) -> None:
    """Loaded before the glossary or behind it: the same figures in the same histories, however they are read."""
    glossary = Glossary(TERMS)

    def today(record: FactRecord) -> FactRecord:
        kinds = {
            "metric": glossary.resolve_metric,
            "entity": glossary.resolve_entity,
            "channel": glossary.resolve_channel,
        }
        named = {
            kind: getattr(resolve(getattr(record, kind)), "code", getattr(record, kind))
            for kind, resolve in kinds.items()
        }
        members = tuple(
            Dimension(each.name, getattr(glossary.resolve_member(each.name, each.member), "code", each.member))
            for each in record.dimensions
        )
        return replace(record, **named, dimensions=members)

    worlds = []
    for loaded in (given, list(map(today, given))):
        folder = tmp_path_factory.mktemp("names")
        library = Library(folder / "lib", "lib", secret=b"s" * 32, config=LibraryConfig(embedder="none"))
        for record in loaded:
            put(library, record)
        library.set_glossary(glossary)
        worlds.append(_seen(library.snapshot().reader))
        library.close()
    assert worlds[0] == worlds[1]


def _seen(reader: StoreReader) -> dict[object, object]:
    """All that a reader can tell, without ids and rows."""
    seen: dict[object, object] = {}
    for axis in ("metric", "entity", "channel"):
        seen[axis] = codes = reader.fact_codes(Label.INTERNAL, axis)
        for code in codes:
            seen[axis, code] = reader.fact_extent(Label.INTERNAL, **{axis: code})  # type: ignore[arg-type]
    for metric in ("REVENUE", "COST"):
        for year in ("2023", "2024"):
            period = parse_period(year, reference=date(2025, 1, 1))
            facts = reader.facts(Label.INTERNAL, metric=metric, days=(period.first, period.last))
            histories: dict[str, list[FactRecord]] = {}
            for fact in facts:
                histories.setdefault(fact.fact_id, []).append(fact.record)
            seen[metric, year] = sorted(map(repr, histories.values()))
            for channel in ("TOTAL", "WEB"):
                lines = reader.fact_lines(Label.INTERNAL, metric=metric, period=period, channel=channel)
                seen[metric, year, channel] = sorted(
                    (line.entity, line.source, line.value, line.filed_at) for line in lines
                )
    return seen
