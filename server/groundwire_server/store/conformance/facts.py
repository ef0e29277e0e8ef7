"""Figures and their versions."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from groundwire_server.evidence import Dimension, Label, Period, PeriodKind, ReviewStatus
from groundwire_server.store.conformance.check import Places, expect, same
from groundwire_server.store.conformance.samples import START, TickingClock, a_full_fact, make_fact
from groundwire_server.store.protocol import Store
from groundwire_server.store.rows import (
    FactKey,
    FactRecord,
    StoredFact,
    WriteCounts,
    extent_of_facts,
    line_of_fact,
    make_fact_id,
)

__all__ = ["CHECKS"]

_DAY = timedelta(days=1)


def _put(store: Store, *records: FactRecord) -> WriteCounts:
    with store.writer() as writer:
        return writer.put_facts(records)


def _values(facts: list[StoredFact]) -> list[str]:
    return [fact.record.value for fact in facts]


def a_fact_comes_out_as_it_went_in(places: Places) -> None:
    """A figure comes out with every digit and every field as it went in, under the id of its key and source."""
    store = places()(TickingClock())
    records = [a_full_fact(), make_fact("3521418059.923445000", entity="日本"), make_fact("0", unit="%")]
    same(_put(store, *records), WriteCounts(3, 0), "counts")
    found = store.reader().facts(Label.INTERNAL)
    same({f.fact_id: f.record for f in found}, {make_fact_id(r): r for r in records}, "figures")
    same([f.fact_id for f in found], sorted(f.fact_id for f in found), "their order")
    store.close()


def repeating_changes_nothing(places: Places) -> None:
    """A repeat of what was put changes nothing, in whichever batches it comes."""
    store = places()(TickingClock())
    records = [
        make_fact("10"),
        make_fact("10", locator="elsewhere"),
        make_fact("11", locator="third place"),
        make_fact("5", filed_at=START),
        make_fact("6", filed_at=START + _DAY),
        make_fact("7", filed_at=START + _DAY, locator="x"),
        make_fact("5", filed_at=START, source_doc="other", source="report.pdf"),
    ]
    same(_put(store, *records), WriteCounts(7, 0), "the first run")
    before = store.reader()
    same(_put(store, *records), WriteCounts(0, 7), "the second run")
    for record in reversed(records):
        same(_put(store, record), WriteCounts(0, 1), "a repeat by itself")
    after = store.reader()
    same(after.generation, before.generation, "the generation")
    same(after.facts(Label.INTERNAL), before.facts(Label.INTERNAL), "figures")
    store.close()


def another_value_is_another_version(places: Places) -> None:
    """Another value for the same key is a further version; versions go by (filed_at or recorded_at, fact_row)."""
    clock = TickingClock()
    store = places()(clock)
    _put(store, make_fact("20", filed_at=START + 2 * _DAY))
    _put(store, make_fact("10", filed_at=START + _DAY), make_fact("11", filed_at=START + _DAY))
    clock.moment = START + 1.5 * _DAY
    _put(store, make_fact("15"))
    found = store.reader().facts(Label.INTERNAL)
    same(_values(found), ["10", "11", "15", "20"], "values in the order of their versions")
    same(len({f.fact_id for f in found}), 1, "facts")
    clock.moment = START + 9 * _DAY
    same(_put(store, make_fact("16")), WriteCounts(1, 0), "a correction")
    same(_put(store, make_fact("15")), WriteCounts(1, 0), "a correction taken back")
    same(_values(store.reader().facts(Label.INTERNAL))[-2:], ["16", "15"], "the newest values")
    store.close()


def the_same_version_is_replaced(places: Places) -> None:
    """Where the same version comes with something else changed, the old row dies and the new one is born."""
    for filed_at in (None, START):
        store = places()(TickingClock())
        pending = make_fact("10", filed_at=filed_at, review_status=ReviewStatus.PENDING)
        approved = replace(pending, review_status=ReviewStatus.APPROVED, author="auditor")
        hidden = replace(approved, label=Label.RESTRICTED)
        _put(store, pending)
        then = store.reader()
        same(then.counts(Label.INTERNAL)[2], 0, "a pending figure does not count")
        same(_put(store, approved), WriteCounts(1, 0), "its approval")
        now = store.reader()
        same([f.record for f in now.facts(Label.INTERNAL)], [approved], "the figure after its approval")
        same([f.record for f in then.facts(Label.INTERNAL)], [pending], "the figure before it")
        same(now.counts(Label.INTERNAL)[2], 1, "an approved figure counts")
        fact_id = make_fact_id(pending)
        same([f.record for f in now.retired_facts(Label.INTERNAL, fact_id)], [pending], "what is there no more")
        same(_put(store, hidden), WriteCounts(1, 0), "a stricter label")
        after = store.reader()
        same(after.facts(Label.CONFIDENTIAL), [], "the figure under a stricter label")
        same([f.record for f in after.retired_facts(Label.INTERNAL, fact_id)], [pending, approved], "what was")
        store.close()


def a_label_can_be_lowered(places: Places) -> None:
    """A value that comes again under a lower label is open from then on, and the stricter row is gone."""
    store = places()(TickingClock())
    _put(store, make_fact("10", label=Label.CONFIDENTIAL))
    same(_put(store, make_fact("10", label=Label.PUBLIC)), WriteCounts(1, 0), "a lower label")
    for clearance in (Label.PUBLIC, Label.CONFIDENTIAL):
        found = store.reader().facts(clearance)
        same([f.record.label for f in found], [Label.PUBLIC], f"labels as {clearance.name} reads")
    store.close()


def units_and_periods_make_the_key(places: Places) -> None:
    """The key takes units without case and periods by their days; everything else makes another fact."""
    store = places()(TickingClock())
    _put(store, make_fact("1", unit="usd"))
    same(_put(store, make_fact("1", unit="USD")), WriteCounts(1, 0), "another spelling of the unit")
    same([f.record.unit for f in store.reader().facts(Label.INTERNAL)], ["USD"], "the unit as it was stored last")
    same(_put(store, make_fact("1", period="2024-01-01/2024-12-31")), WriteCounts(1, 0), "another form of the period")
    same(len(store.reader().facts(Label.INTERNAL)), 1, "values of one fact")
    others = [
        make_fact(unit="EUR"),
        make_fact(metric="PROFIT"),
        make_fact(entity="B"),
        make_fact(channel="ONLINE"),
        make_fact(source_doc="other.pdf"),
        make_fact(dimensions=(Dimension("region", "EU"),)),
        make_fact(period="FY2024", period_first=date(2024, 4, 1), period_last=date(2025, 3, 31)),
    ]
    _put(store, *others)
    same(store.reader().counts(Label.INTERNAL)[2], 8, "facts")
    store.close()


def facts_are_found_by_key(places: Places) -> None:
    """Figures are found by any part of their key, and by the days of their period whatever its form."""
    store = places()(TickingClock())
    records = [
        make_fact("1"),
        make_fact("2", metric="PROFIT"),
        make_fact("3", entity="B", channel="ONLINE"),
        make_fact("4", period="2023", period_first=date(2023, 1, 1), period_last=date(2023, 12, 31)),
        make_fact("5", entity="C", period="2024-01-01/2024-12-31"),
    ]
    _put(store, *records)
    reader = store.reader()
    days = (date(2024, 1, 1), date(2024, 12, 31))
    for arguments, wanted in (
        ({}, "12345"),
        ({"metric": "REVENUE"}, "1345"),
        ({"entity": "ACME"}, "124"),
        ({"metric": "REVENUE", "entity": "ACME"}, "14"),
        ({"channel": "ONLINE"}, "3"),
        ({"period": "2024"}, "123"),
        ({"days": days}, "1235"),
        ({"metric": "REVENUE", "entity": "ACME", "channel": "TOTAL", "days": days}, "1"),
        ({"metric": "revenue"}, ""),
    ):
        found = reader.facts(Label.INTERNAL, **arguments)
        same("".join(sorted(_values(found))), wanted, f"figures by {arguments}")
    same(_values(reader.fact(Label.INTERNAL, make_fact_id(records[0]))), ["1"], "a fact by its id")
    same(reader.fact(Label.INTERNAL, "0" * 32), [], "an unknown fact")
    same(reader.fact_codes(Label.INTERNAL, "metric"), ["PROFIT", "REVENUE"], "codes of metrics")
    same(reader.fact_codes(Label.INTERNAL, "entity"), ["ACME", "B", "C"], "codes of entities")
    same(reader.fact_codes(Label.INTERNAL, "channel"), ["ONLINE", "TOTAL"], "codes of channels")
    _put(store, make_fact("9", metric="SECRET", review_status=ReviewStatus.PENDING))
    same(store.reader().fact_codes(Label.INTERNAL, "metric"), ["PROFIT", "REVENUE"], "codes without a pending one")
    store.close()


def lines_tell_what_whole_figures_tell(places: Places) -> None:
    """The figures of every entity at once are those that are read one by one; whole ones are found by their rows."""
    clock = TickingClock()
    store = places()(clock)
    region = (Dimension("region", "EU"),)
    records = [
        make_fact("1", entity="B"),
        make_fact("2", entity="A", filed_at=START, decimals=-3, source="filer"),
        make_fact("3", entity="A", filed_at=START + _DAY, source="filer", source_doc="next.pdf"),
        make_fact("4", entity="C", label=Label.CONFIDENTIAL),
        make_fact("5", entity="D", review_status=ReviewStatus.PENDING),
        make_fact("6", entity="E", dimensions=region),
        make_fact("7", entity="F", channel="WEB"),
        make_fact("8", entity="G", period="2024-01-01/2024-12-31", valid_as_of=START + 9 * _DAY),
        make_fact("9", entity="H", period="2024-12-31", period_first=date(2024, 12, 31)),
        make_fact("10", entity="I", period="2024-12-31/2024-12-31", period_first=date(2024, 12, 31)),
        make_fact("11", entity="J", metric="PROFIT"),
        make_fact("12", entity="日本"),
    ]
    _put(store, *records)
    clock.moment += 100 * _DAY
    _put(store, make_fact("13", entity="B", locator="x"))
    reader = store.reader()
    year = Period("2024", PeriodKind.CALENDAR, date(2024, 1, 1), date(2024, 12, 31))
    day = Period("2024-12-31", PeriodKind.INSTANT, date(2024, 12, 31), date(2024, 12, 31))
    span = replace(day, kind=PeriodKind.INTERVAL)
    for clearance, period, more, wanted in (
        (Label.INTERNAL, year, {}, "2 3 1 13 8 12"),
        (Label.CONFIDENTIAL, year, {}, "2 3 1 13 4 8 12"),
        (Label.INTERNAL, year, {"dimensions": region}, "6"),
        (Label.INTERNAL, year, {"channel": "WEB"}, "7"),
        (Label.INTERNAL, year, {"valid_at": START}, "2 3 1 13 12"),
        (Label.INTERNAL, year, {"known_at": START + _DAY / 2}, "2 1 8 12"),
        (Label.INTERNAL, day, {}, "9"),
        (Label.INTERNAL, span, {}, "10"),
        (Label.INTERNAL, year, {"metric": "COSTS"}, ""),
    ):
        asked: dict[str, Any] = {"metric": "REVENUE", "channel": "TOTAL", "period": period, **more}
        lines = reader.fact_lines(clearance, **asked)
        same(" ".join(line.value for line in lines), wanted, f"lines by {more}")
        whole = reader.fact_rows(clearance, [line.fact_row for line in lines])
        same([line_of_fact(fact) for fact in whole], lines, f"the figures of the lines by {more}")
    rows = [fact.fact_row for fact in reader.facts(Label.CONFIDENTIAL)]
    backwards = [fact.fact_row for fact in reader.fact_rows(Label.CONFIDENTIAL, [*reversed(rows), 10**9])]
    same(backwards, rows[::-1], "rows in the order asked")
    expect(len(reader.fact_rows(Label.INTERNAL, rows)) == len(rows) - 1, "hidden rows are not there")
    store.close()


def many_keys_are_read_at_once(places: Places) -> None:
    """Keys read together give what each gives alone, in the order asked, however many there are."""
    clock = TickingClock()
    store = places()(clock)
    entities = ["ACME", "日本", 'a "quoted" one', *(f"E{number}" for number in range(230))]
    _put(store, *(make_fact(str(number), entity=entity) for number, entity in enumerate(entities)))
    _put(store, make_fact("-1", entity="ACME", label=Label.CONFIDENTIAL), make_fact("-2", entity="E0", channel="WEB"))
    clock.moment += 100 * _DAY
    _put(store, make_fact("-3", entity="日本"), make_fact("-4", entity="E1", review_status=ReviewStatus.PENDING))
    reader, days = store.reader(), (date(2024, 1, 1), date(2024, 12, 31))
    keys = [FactKey("REVENUE", entity, "TOTAL", *days) for entity in [*reversed(entities), "nobody", "ACME"]]
    keys += [FactKey("REVENUE", "E0", "WEB", *days), FactKey("REVENUE", "E0", "TOTAL", days[0], days[0])]
    for clearance in (Label.INTERNAL, Label.CONFIDENTIAL):
        for known_at in (None, START + _DAY / 2):
            alone = [
                reader.facts(
                    clearance,
                    metric=key.metric,
                    entity=key.entity,
                    channel=key.channel,
                    days=(key.first, key.last),
                    known_at=known_at,
                )
                for key in keys
            ]
            same(reader.facts_of(clearance, keys, known_at=known_at), alone, f"many keys known at {known_at}")
            expect(sum(map(len, alone)) > 230, "there are figures under the keys")
    same(reader.facts_of(Label.INTERNAL, []), [], "no keys")
    store.close()


def extents_tell_what_whole_figures_tell(places: Places) -> None:
    """How far figures reach is what one sees who reads each of them."""
    store = places()(TickingClock())
    cloud, quoted = Dimension("segment", "CLOUD"), Dimension("segment", 'a "CLOUD"]')
    _put(
        store,
        make_fact("1"),
        make_fact("2", filed_at=START),
        make_fact("3", unit="usd"),
        make_fact("4", period="2024-01-01/2024-12-31", source_doc="other.pdf", unit="EUR"),
        make_fact("5", entity="B", channel="WEB", dimensions=(Dimension("region", "EU"), cloud)),
        make_fact("6", entity="B", dimensions=(quoted,)),
        make_fact("7", metric="PROFIT", label=Label.CONFIDENTIAL, period="2023", period_first=date(2023, 1, 1)),
        make_fact("8", metric="PROFIT", unit="JPY", review_status=ReviewStatus.PENDING),
        make_fact("9", metric="日本 ' \" %", dimensions=(cloud,)),
    )
    reader = store.reader()
    bounds: tuple[dict[str, Any], ...] = (
        {},
        {"metric": "REVENUE"},
        {"metric": "PROFIT"},
        {"entity": "B", "channel": "WEB"},
        {"entity": "X"},
    )
    for clearance in (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL):
        for wanted in bounds:
            for member in (None, cloud, quoted, Dimension("segment", "X")):
                facts = reader.facts(clearance, **wanted)
                kept = [fact for fact in facts if member is None or member in fact.record.dimensions]
                same(
                    reader.fact_extent(clearance, member=member, **wanted),
                    extent_of_facts(kept),
                    f"the extent of {wanted} with {member} for {clearance.name}",
                )
    store.close()


def every_code_is_told_once(places: Places) -> None:
    """Codes are told of all rows there ever were, and behind a row only those of the rows that came later."""
    store = places()(TickingClock())
    same(store.reader().stored_codes(), (0, {"channel": [], "entity": [], "metric": []}), "codes of nothing")
    _put(
        store,
        make_fact("1", label=Label.RESTRICTED),
        make_fact("1", entity="日本", channel="WEB"),
        make_fact("1", metric="PROFIT", review_status=ReviewStatus.PENDING),
    )
    with store.writer() as writer:
        writer.withdraw_document("report.pdf")
    eu, cloud = Dimension("region", "EU"), Dimension("segment", "CLOUD")
    same(store.reader().stored_members(), (store.reader().stored_codes()[0], []), "members of none")
    _put(store, make_fact("1", dimensions=(cloud, eu), label=Label.RESTRICTED), make_fact("1", dimensions=(cloud,)))
    last, codes = store.reader().stored_codes()
    same(store.reader().stored_members(), (last, [eu, cloud]), "members")
    same(store.reader().stored_members(last), (last, []), "no members since")
    same(store.reader().fact_members(Label.CONFIDENTIAL), [cloud], "members that can be read")
    same(codes, {"channel": ["TOTAL", "WEB"], "entity": ["ACME", "日本"], "metric": ["PROFIT", "REVENUE"]}, "all codes")
    same(store.reader().stored_codes(last), (last, {"channel": [], "entity": [], "metric": []}), "no codes since")
    _put(store, make_fact("2", entity="B"))
    later, codes = store.reader().stored_codes(last)
    same(codes, {"channel": ["TOTAL"], "entity": ["B"], "metric": ["REVENUE"]}, "codes since")
    expect(later > last, "the last row does not go up")
    store.close()


def a_figure_can_be_taken_back(places: Places) -> None:
    """A figure that is taken back is there no more, in no version; what was known before still is, and old citations
    still lead to it. Who corrects a figure leaves it under its label."""
    clock = TickingClock()
    store = places()(clock)
    clock.moment = START + 10 * _DAY
    secret = make_fact("5", entity="B", label=Label.CONFIDENTIAL)
    _put(store, make_fact("1", filed_at=START), make_fact("2", filed_at=START + _DAY), make_fact("7"), secret)
    clock.moment = START + 20 * _DAY
    _put(store, make_fact("8", entity="B", keeps_label=True, author="a"), make_fact("9", entity="C", keeps_label=True))
    same(_values(store.reader().facts(Label.INTERNAL, entity="B")), [], "a correction of what is hidden")
    same(_values(store.reader().facts(Label.INTERNAL, entity="C")), ["9"], "a word about nothing")
    clock.moment = START + 30 * _DAY
    back = make_fact("", locator="", withdraw=True)
    same(_put(store, back, replace(back, entity="Z")), WriteCounts(1, 1), "what was taken back")
    same(_put(store, back), WriteCounts(0, 1), "taken back again")
    reader = store.reader()
    same(_values(reader.facts(Label.INTERNAL, entity="ACME")), [], "values that are left")
    same(_values(reader.retired_facts(Label.INTERNAL, make_fact_id(back))), ["1", "2", "7"], "what was there")
    year = Period("2024", PeriodKind.CALENDAR, date(2024, 1, 1), date(2024, 12, 31))
    for days, wanted in ((5, ["1", "2"]), (15, ["1", "2", "7"]), (40, [])):
        then = START + days * _DAY
        same(_values(reader.facts(Label.INTERNAL, entity="ACME", known_at=then)), wanted, f"known after {days} days")
        asked: dict[str, Any] = {"metric": "REVENUE", "period": year, "channel": "TOTAL", "known_at": then}
        lines = [line for line in reader.fact_lines(Label.INTERNAL, **asked) if line.entity == "ACME"]
        same([line.value for line in lines], wanted, f"lines known after {days} days")
        whole = reader.fact_rows(Label.INTERNAL, [line.fact_row for line in lines])
        same(_values(whole), wanted, f"whole figures known after {days} days")
    with store.writer() as writer:
        hidden = replace(back, entity="B")
        same(writer.put_facts([hidden], clearance=Label.INTERNAL), WriteCounts(0, 1), "what is hidden is not there")
        same(writer.put_facts([hidden]), WriteCounts(1, 0), "the house takes it back")
    later = {"entity": "D", "source": "filer"}
    _put(store, make_fact("3", **later), make_fact("4", **later, source_doc="next.pdf"))
    _put(store, make_fact("44", entity="D", source_doc="next.pdf", keeps_label=True, author="a"))
    same(len({f.fact_id for f in store.reader().facts(Label.INTERNAL, entity="D")}), 1, "facts of one source")
    same(_put(store, replace(back, entity="D")), WriteCounts(1, 0), "the figure of a source, by a document of its")
    same(_values(store.reader().facts(Label.INTERNAL, entity="D")), [], "values of that source")
    _put(store, make_fact("1", filed_at=START))
    same(_values(store.reader().facts(Label.INTERNAL, entity="ACME")), ["1"], "stored again")
    same(_values(store.reader().facts(Label.INTERNAL, entity="ACME", known_at=START)), ["1"], "and known once")
    store.close()


def what_is_approved_is_not_read_back(places: Places) -> None:
    """The same value read again for review leaves what is approved; another value waits beside it."""
    store = places()(TickingClock())
    pending = ReviewStatus.PENDING
    _put(store, make_fact("1"), make_fact("2", entity="B", review_status=ReviewStatus.APPROVED))
    again = [make_fact("1", review_status=pending), make_fact("2", entity="B", review_status=pending)]
    same(_put(store, *again), WriteCounts(0, 2), "readings of what is approved")
    same(_put(store, make_fact("3", review_status=pending)), WriteCounts(1, 0), "a reading of another value")
    states = [(f.record.value, f.record.review_status) for f in store.reader().facts(Label.INTERNAL, entity="ACME")]
    same(states, [("1", ReviewStatus.AUTO_APPROVED), ("3", pending)], "what is there")
    store.close()


def what_waits_stands_between_nothing(places: Places) -> None:
    """A value that waits for review hides no repeat of the value before it, and is found when it is approved."""
    store = places()(TickingClock())
    records = [make_fact("10"), make_fact("12", review_status=ReviewStatus.PENDING)]
    same(_put(store, *records), WriteCounts(2, 0), "a value, and another that waits")
    same(_put(store, *records), WriteCounts(0, 2), "both again")
    same(_put(store, make_fact("10", label=Label.CONFIDENTIAL)), WriteCounts(1, 0), "a stricter label")
    same([f.record.value for f in store.reader().facts(Label.INTERNAL)], ["12"], "what is left to a reader below")
    same(_put(store, make_fact("12", review_status=ReviewStatus.APPROVED)), WriteCounts(1, 0), "its approval")
    found = store.reader().facts(Label.CONFIDENTIAL)
    same(_values(found), ["10", "12"], "values after the approval")
    same([f.record.review_status for f in found if f.record.value == "12"], [ReviewStatus.APPROVED], "its review")
    store.close()


def a_date_is_added_to_what_had_none(places: Places) -> None:
    """A value read again with its date of filing is no further version and stands where it was filed; a repeat without
    the date takes none back."""
    clock = TickingClock()
    store = places()(clock)
    clock.moment = START + 100 * _DAY
    _put(store, make_fact("1"), make_fact("5", entity="B"), make_fact("7", entity="C"))
    before = store.reader()
    dated = [make_fact("1", filed_at=START), make_fact("5", entity="B", filed_at=START + 900 * _DAY)]
    same(_put(store, *dated), WriteCounts(2, 0), "the dates")
    same(_values(store.reader().facts(Label.INTERNAL, entity="ACME")), ["1"], "a value with its date")
    same(_values(store.reader().facts(Label.INTERNAL, entity="B")), ["5", "5"], "one that was filed later on")
    same(_put(store, *dated, make_fact("1"), make_fact("5", entity="B")), WriteCounts(0, 4), "repeats of every kind")
    same(_put(store, make_fact("1", author="reviewer")), WriteCounts(1, 0), "a review without the date")
    (reviewed,) = store.reader().facts(Label.INTERNAL, entity="ACME")
    same((reviewed.record.filed_at, reviewed.record.author), (START, "reviewer"), "the date after a review")
    _put(store, make_fact("2", filed_at=START + _DAY, locator="next"))
    same(_values(store.reader().facts(Label.INTERNAL, entity="ACME")), ["1", "2"], "versions in order")
    same(_put(store, make_fact("1", author="reviewer")), WriteCounts(0, 1), "a repeat after a restatement")
    same(sorted(_values(before.facts(Label.INTERNAL))), ["1", "5", "7"], "the state before")
    store.close()


def known_at_goes_by_filing(places: Places) -> None:
    """known_at bounds figures by filed_at; a value without it is as the store had recorded it then."""
    clock = TickingClock()
    store = places()(clock)
    clock.moment = START + 10 * _DAY
    _put(store, make_fact("1", filed_at=START), make_fact("2", filed_at=START + 5 * _DAY), make_fact("7", entity="B"))
    clock.moment = START + 20 * _DAY
    _put(store, make_fact("7", entity="B", author="approved later"), make_fact("8", entity="B", locator="x"))
    reader = store.reader()

    def known(days: float) -> list[tuple[str, str]]:
        return sorted(
            (f.record.value, f.record.author) for f in reader.facts(Label.INTERNAL, known_at=START + days * _DAY)
        )

    same(known(-1), [], "before everything")
    same(known(0), [("1", "")], "on the day of the first filing")
    same(known(9), [("1", ""), ("2", "")], "after both filings")
    same(known(15), [("1", ""), ("2", ""), ("7", "")], "after the first recording")
    same(known(30), [("1", ""), ("2", ""), ("7", "approved later"), ("8", "")], "now")
    fact_id = make_fact_id(make_fact())
    same(_values(reader.fact(Label.INTERNAL, fact_id, known_at=START)), ["1"], "one fact")
    store.close()


def a_bad_figure_is_refused(places: Places) -> None:
    """A value that is no decimal number is refused; missing is not zero; the others go on."""
    store = places()(TickingClock())
    bad = ["", " ", "n.a.", "1,000", "NaN", "Infinity", "1e", "０", "--1", "1.2.3", "0x10"]
    good = ["0", "-0", "+1", "1.", ".5", "-312.50", "1E+3", "00012"]
    records = [make_fact(value, locator=f"l{place}") for place, value in enumerate(bad + good)]
    counts = _put(store, *records)
    same([place for place, _ in counts.refused], list(range(len(bad))), "refused")
    same(counts.stored, len(good), "stored")
    expect(all(error.column == "value" for _, error in counts.refused), "the column is named")
    same(sorted(_values(store.reader().facts(Label.INTERNAL))), sorted(good), "values")
    store.close()


CHECKS = (
    a_fact_comes_out_as_it_went_in,
    repeating_changes_nothing,
    another_value_is_another_version,
    the_same_version_is_replaced,
    a_label_can_be_lowered,
    units_and_periods_make_the_key,
    facts_are_found_by_key,
    lines_tell_what_whole_figures_tell,
    many_keys_are_read_at_once,
    a_figure_can_be_taken_back,
    what_is_approved_is_not_read_back,
    what_waits_stands_between_nothing,
    a_date_is_added_to_what_had_none,
    extents_tell_what_whole_figures_tell,
    every_code_is_told_once,
    known_at_goes_by_filing,
    a_bad_figure_is_refused,
)
