"""Figures: every filed value a row, versions of one fact under one id (semantics 10)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Label, ReviewStatus
from groundwire_server.store.rows import FactRecord, StoredFact, WriteCounts, make_fact_id
from groundwire_server.store.sqlite.codec import (
    decode_attributes,
    decode_dimensions,
    decode_instant,
    decode_optional_instant,
    encode_attributes,
    encode_dimensions,
    encode_instant,
    encode_optional_instant,
    is_storable,
)
from groundwire_server.store.sqlite.digest import birth_event, hash_parts
from groundwire_server.store.sqlite.transaction import VISIBLE, Transaction

__all__ = [
    "FACT",
    "FACT_COLUMNS",
    "KNOWN",
    "fact_of_row",
    "in_versions",
    "last_words",
    "put_facts",
    "read_facts",
    "retire_facts_of",
]

_VALUE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TEXTS = (
    "metric",
    "entity",
    "period",
    "channel",
    "unit",
    "source",
    "source_doc",
    "locator",
    "as_written",
    "author",
    "reason",
)

# The columns of a record in the table, in the order of `_columns`; label stands for itself.
_COLUMNS = (
    "label, metric, entity, period, period_first, period_last, channel, dimensions, value, unit, source, source_doc,"
    " locator, decimals, as_written, valid_as_of, filed_at, review_status, author, reason, attributes"
)
_COUNT = _COLUMNS.count(",") + 1
_INSERT = f"INSERT INTO fact (fact_id, born, event, {_COLUMNS}) VALUES ({', '.join('?' * (_COUNT + 3))})"
_ALIVE = (
    f"SELECT fact_row, event, (SELECT committed_at FROM generation WHERE generation = born), {_COLUMNS}"
    " FROM fact WHERE fact_id = ? AND died IS NULL ORDER BY fact_row"
)
_SOURCES = (
    "SELECT source FROM fact WHERE metric = :metric AND period_first = :first AND period_last = :last"
    " AND channel = :channel AND entity = :entity AND source_doc = :source_doc AND source <> ''"
    " AND died IS NULL AND label <= :label GROUP BY source ORDER BY max(fact_row) DESC"
)
_NAMES = _COLUMNS.split(", ")
_PLACE = tuple(_NAMES.index(name) for name in ("source_doc", "locator"))
_REVIEW_AT = _NAMES.index("review_status")
_VALUE_AT = _NAMES.index("value")
_FILED_AT = _NAMES.index("filed_at")


@dataclass(frozen=True, slots=True)
class _Version:
    """A living value of a fact. recorded_at: microseconds since 1970 in UTC; now, if this transaction wrote it."""

    fact_row: int
    event: bytes
    recorded_at: int
    columns: tuple[Any, ...]

    @property
    def label(self) -> Label:
        return Label(self.columns[0])


def put_facts(transaction: Transaction, records: Iterable[FactRecord], strictest: int, now: datetime) -> WriteCounts:
    """Store filed values; see `StoreWriter.put_facts`."""
    stored = unchanged = 0
    refused: list[tuple[int, RowRefused]] = []
    for place, given in enumerate(records):
        if given.withdraw:
            changed = _withdraw(transaction, given, strictest)
            stored, unchanged = stored + changed, unchanged + (not changed)
            continue
        record = _with_label_kept(transaction, given, strictest)
        fault = _fault(transaction, record, strictest)
        if fault is not None:
            refused.append((place, fault))
        elif _put(transaction, record, encode_instant(now)) or record.label > strictest:
            stored += 1
        else:
            unchanged += 1
    return WriteCounts(stored, unchanged, tuple(refused))


def _withdraw(transaction: Transaction, record: FactRecord, strictest: int) -> bool:
    """End every value of a fact up to a label. Whether there was any."""
    _, living = _meant(transaction, record, strictest)
    for version in living:
        transaction.retire("fact", version.fact_row, version.label, version.event)
    return bool(living)


def _with_label_kept(transaction: Transaction, record: FactRecord, strictest: int) -> FactRecord:
    """A word about a figure that may be there, as one more of its values and under its label: the strictest of those
    that the writer can see."""
    if not record.keeps_label:
        return record
    meant, living = _meant(transaction, record, strictest)
    return replace(meant, label=max(version.label for version in living), keeps_label=False) if living else record


def _meant(transaction: Transaction, record: FactRecord, strictest: int) -> tuple[FactRecord, list[_Version]]:
    """The record with the source whose figure it speaks of, and the living values of that up to a label.

    A source may state its figure in one document after the other, and only these are named.
    """
    living = [each for each in _living(transaction.connection, make_fact_id(record), 0) if each.label <= strictest]
    if living or record.source:
        return record, living
    asked = {name: getattr(record, name) for name in ("metric", "channel", "entity", "source_doc")}
    days = {"first": record.period_first.isoformat(), "last": record.period_last.isoformat()}
    sources = transaction.connection.execute(_SOURCES, {**asked, **days, "label": strictest}).fetchall()
    for (source,) in sources:
        named = replace(record, source=source)
        living = [each for each in _living(transaction.connection, make_fact_id(named), 0) if each.label <= strictest]
        if living:
            return named, living
    return record, []


def _fault(transaction: Transaction, record: FactRecord, strictest: int) -> RowRefused | None:
    for name in _TEXTS:
        if not is_storable(getattr(record, name)):
            message = f"{name} holds half a surrogate pair, which has no UTF-8 form."
            return RowRefused(ErrorReason.VALUE_MALFORMED, message, column=name, value=ascii(getattr(record, name)))
    for dimension in record.dimensions:
        if not is_storable(dimension.name + dimension.member):
            message = "A dimension holds half a surrogate pair, which has no UTF-8 form."
            return RowRefused(ErrorReason.VALUE_MALFORMED, message, column="dimensions", value=ascii(dimension.member))
    if not _VALUE.fullmatch(record.value):
        return RowRefused(
            ErrorReason.FACT_VALUE_MISSING if not record.value.strip() else ErrorReason.FACT_VALUE_MALFORMED,
            "The value is no decimal number like -312.50.",
            column="value",
            value=record.value,
        )
    fault = transaction.attributes.fault(record.label, record.attributes, strictest)
    if fault is not None:
        reason, why = fault
        names = ", ".join(attribute.name for attribute in record.attributes)
        return RowRefused(reason, f"The {why}.", column="attributes", value=ascii(names))
    return None


def _put(transaction: Transaction, record: FactRecord, now: int) -> bool:
    """Whether anything changed."""
    fact_id = make_fact_id(record)
    columns = _columns(record)
    living = _living(transaction.connection, fact_id, now)
    readable = [version for version in living if version.label <= record.label]
    same = _same_version(readable, columns)
    if same is not None and columns[_FILED_AT] is None:  # a repeat that does not say when takes back no date
        columns = (*columns[:_FILED_AT], same.columns[_FILED_AT], *columns[_FILED_AT + 1 :])
    if same is not None and (same.columns == columns or _is_read_again(same, record)):
        return False
    dead: set[int] = set()
    for version in living:
        other = version.label > record.label or (same is not None and version.label < record.label)
        if version is same or (other and _is_relabelled(version, columns)):
            transaction.retire("fact", version.fact_row, version.label, version.event)
            dead.add(version.fact_row)
    history = [version for version in readable if version.fact_row not in dead]
    transaction.attributes.fix(record.label, record.attributes)
    event = birth_event("fact", fact_id, *columns, _history(history, columns))
    transaction.connection.execute(_INSERT, (fact_id, transaction.generation, event, *columns))
    transaction.born(record.label, event)
    return True


def _columns(record: FactRecord) -> tuple[Any, ...]:
    return (
        int(record.label),
        record.metric,
        record.entity,
        record.period,
        record.period_first.isoformat(),
        record.period_last.isoformat(),
        record.channel,
        encode_dimensions(record.dimensions),
        record.value,
        record.unit,
        record.source,
        record.source_doc,
        record.locator,
        record.decimals,
        record.as_written,
        encode_optional_instant(record.valid_as_of),
        encode_optional_instant(record.filed_at),
        int(record.review_status),
        record.author,
        record.reason,
        encode_attributes(record.attributes),
    )


def _living(connection: sqlite3.Connection, fact_id: str, now: int) -> list[_Version]:
    """In the order of writing."""
    rows = connection.execute(_ALIVE, (fact_id,)).fetchall()
    return [
        _Version(fact_row, event, now if recorded_at is None else recorded_at, tuple(columns))
        for fact_row, event, recorded_at, *columns in rows
    ]


def _same_version(readable: list[_Version], columns: tuple[Any, ...]) -> _Version | None:
    """The living row that a record says again, perhaps with something beside its value changed.

    Only rows that a reader of the record can read count here: else what becomes of it would tell of hidden ones. A
    stricter row that says the same dies as well, unseen: it was relabelled.
    """
    beside = [version for version in readable if all(version.columns[at] == columns[at] for at in _PLACE)]
    undated = [version for version in beside if version.columns[_FILED_AT] is None]
    if columns[_FILED_AT] is None:
        # Without any like it, it repeats what its place said with a date.
        beside = _in_force(undated) or beside
    else:
        exact = [version for version in beside if version.columns[_FILED_AT] == columns[_FILED_AT]]
        beside = [version for version in undated if _is_dated_by(version, columns)] + exact
    return next((version for version in reversed(beside) if _says_the_same(version, columns)), None)


def _in_force(undated: list[_Version]) -> list[_Version]:
    """Of what a place has given without a date: the last value, and all that wait for review.

    What waits is no figure yet: it does not stand between a value and its repeat, and is found when it is approved.
    """
    waiting = [version for version in undated if version.columns[_REVIEW_AT] == ReviewStatus.PENDING]
    approved = [version for version in undated if version.columns[_REVIEW_AT] != ReviewStatus.PENDING]
    return sorted((*approved[-1:], *waiting), key=lambda version: version.fact_row)


def _is_dated_by(version: _Version, columns: tuple[Any, ...]) -> bool:
    """Whether a record may tell when a value was filed that was read without a date: it was filed before that."""
    filed_at = columns[_FILED_AT]
    return filed_at is not None and filed_at <= version.recorded_at


def _says_the_same(version: _Version, columns: tuple[Any, ...]) -> bool:
    one, other = version.columns[_VALUE_AT], columns[_VALUE_AT]
    return all(version.columns[at] == columns[at] for at in _PLACE) and (one == other or Decimal(one) == Decimal(other))


def _is_read_again(version: _Version, record: FactRecord) -> bool:
    """Whether a reading that waits for review says what is approved already: it takes nothing back."""
    return record.review_status is ReviewStatus.PENDING and version.columns[_REVIEW_AT] != ReviewStatus.PENDING


def _is_relabelled(version: _Version, columns: tuple[Any, ...]) -> bool:
    """Whether a row under another label tells what a record tells: no earlier version is to show what became secret."""
    return _says_the_same(version, columns) and version.columns[_FILED_AT] == columns[_FILED_AT]


def _history(readable: list[_Version], columns: tuple[Any, ...]) -> bytes | None:
    """What an event must say of the versions before it, so that equal digests mean equal answers.

    Where each version says when it was filed, and no two say the same, their order stands in what they hold. Else it
    comes from the order of writing, and the event names what was there that a reader of this row can read too.
    """
    filed = [version.columns[_FILED_AT] for version in readable] + [columns[_FILED_AT]]
    if not readable or (None not in filed and len(set(filed)) == len(filed)):
        return None
    return hash_parts(*(version.event for version in readable))


def retire_facts_of(transaction: Transaction, source_doc: str, strictest: int) -> int:
    """End every value that a document states, up to a label. Returns how many."""
    return transaction.retire_stated_by("fact", source_doc, strictest)


# What `fact_of_row` makes a fact of, from fact JOIN generation.
FACT_COLUMNS = f"fact_row, fact_id, committed_at, born, CASE WHEN died <= :g THEN died END, {_COLUMNS}"
FACT = f"SELECT {FACT_COLUMNS} FROM fact JOIN generation ON generation = born WHERE label <= :label AND "
# :then is the generation of known_at; a value that says when it was filed counts from that day on.
# What was taken back since was known then.
KNOWN = (
    f"CASE WHEN filed_at IS NULL THEN {VISIBLE.replace(':g', ':then')}"
    " ELSE filed_at <= :known AND born <= :g AND (died IS NULL OR died > :then) END"
)
_GONE = "died <= :g"


def read_facts(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    *,
    wanted: dict[str, str],
    known: tuple[int, int] | None = None,
    gone: bool = False,
) -> list[StoredFact]:
    """Values whose columns equal `wanted`, in the order of their versions.

    known: (instant, generation then). gone: those that have died instead of those that live.
    """
    state = _GONE if gone else VISIBLE if known is None else KNOWN
    statement = FACT + " AND ".join([state, *(f"{column} = :{column}" for column in sorted(wanted))])
    moment, then = known or (0, 0)
    parameters = {"g": generation, "label": strictest, "known": moment, "then": then, **wanted}
    rows = connection.execute(statement, parameters).fetchall()
    return in_versions([fact_of_row(row) for row in rows], at_a_moment=known is not None)


def in_versions(facts: list[StoredFact], *, at_a_moment: bool) -> list[StoredFact]:
    """The values of some facts in the order of their versions; at a moment only those that stood then."""
    if at_a_moment:
        facts = [facts[place] for place in last_words([_words(fact) for fact in facts])]
    return sorted(facts, key=lambda fact: (fact.fact_id, fact.record.filed_at or fact.recorded_at, fact.fact_row))


def last_words(stated: Sequence[tuple[Hashable, int, bool]]) -> list[int]:
    """Places of the rows that stand for what was stated at a moment: of those that replaced one another the last.

    Args:
        stated: of each row what tells one statement from another, its number, and whether it says when it was filed.
    """
    last: dict[Hashable, int] = {}
    for statement, row, is_dated in stated:
        if is_dated:
            last[statement] = max(row, last.get(statement, row))
    return [place for place, (statement, row, is_dated) in enumerate(stated) if not is_dated or last[statement] == row]


def _words(fact: StoredFact) -> tuple[Hashable, int, bool]:
    record = fact.record
    statement = (fact.fact_id, record.source_doc, record.locator, record.filed_at, record.value)
    return statement, fact.fact_row, record.filed_at is not None


def fact_of_row(row: tuple[Any, ...]) -> StoredFact:
    """A fact of the columns of `FACT_COLUMNS`."""
    fact_row, fact_id, recorded_at, born, died, *columns = row
    (label, metric, entity, period, first, last, channel, dimensions, value, unit, source, source_doc) = columns[:12]
    (locator, decimals, as_written, valid_as_of, filed_at, review_status, author, reason, attributes) = columns[12:]
    record = FactRecord(
        metric=metric,
        entity=entity,
        period=period,
        period_first=date.fromisoformat(first),
        period_last=date.fromisoformat(last),
        channel=channel,
        value=value,
        unit=unit,
        source_doc=source_doc,
        locator=locator,
        dimensions=decode_dimensions(dimensions),
        decimals=decimals,
        as_written=as_written,
        valid_as_of=decode_optional_instant(valid_as_of),
        filed_at=decode_optional_instant(filed_at),
        review_status=ReviewStatus(review_status),
        author=author,
        reason=reason,
        label=Label(label),
        attributes=decode_attributes(attributes),
        source=source,
    )
    return StoredFact(fact_row, fact_id, record, decode_instant(recorded_at), born, died)
