"""One stream of figures and relations (service IngestFacts), without the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from groundwire_server.errors import Cause, DocumentRefused, ErrorReason, RowRefused
from groundwire_server.evidence import Label
from groundwire_server.ingest.events import (
    IngestEvent,
    RejectedRow,
    RowsOutcome,
    RowsRejected,
    decode_rows_outcome,
    encode_rows_outcome,
)
from groundwire_server.ingest.fact_files import FactFileRow, FactIngestRules, read_rows
from groundwire_server.ingest.facts import FactFields, read_fact
from groundwire_server.ingest.head import FactFileHead, decode_fact_file_head, encode_fact_file_head
from groundwire_server.ingest.late_names import under_stored_names
from groundwire_server.ingest.order import disorder
from groundwire_server.ingest.relations import RelationFields, TakenBack, read_relation
from groundwire_server.ingest.stream import IngestLimits, IngestOpening, IngestStream, IngestTarget
from groundwire_server.ingest.upload import Upload
from groundwire_server.library import Snapshot
from groundwire_server.readers import ReadOptions
from groundwire_server.relations import DerivedEdges
from groundwire_server.store.protocol import StoreWriter
from groundwire_server.store.rows import EdgeRecord, FactRecord, WriteCounts

__all__ = ["MAX_LISTED_ROWS", "MAX_ROWS_A_FRAME", "FactIngest"]

MAX_ROWS_A_FRAME = 1000
_ROWS_A_WRITE = 2000
# Of one part or file; more are counted and not listed.
MAX_LISTED_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class _Batch:
    """Rows that become durable together: a part of records, or a whole file. `file` is empty for records.

    rows: used up once, when they are written: those of a large file lie in a temporary file until then.
    """

    seq: int
    file: str
    rows: Iterable[FactFileRow]


class FactIngest(IngestStream[RowsOutcome]):
    """Takes records, and files in parts. Bad rows are refused one by one, good rows land."""

    kind = "facts"

    def __init__(
        self,
        target: IngestTarget,
        opening: IngestOpening,
        rules: Callable[[], FactIngestRules],
        limits: IngestLimits,
        release: Callable[[], None],
    ) -> None:
        self._rules = rules
        self._gathered: list[_Batch] = []
        super().__init__(target, opening, limits, release)

    def feed_records(
        self,
        seq: int,
        facts: Sequence[FactFields | RowRefused],
        relations: Sequence[RelationFields | RowRefused],
        size: int,
    ) -> list[IngestEvent]:
        """Take a part of records, some of which may be refused already; `size` is its size on the wire, in bytes."""
        if not self._is_new(seq, size, "part.records"):
            return self._repeated()
        if self._upload is not None:
            raise disorder("part.records", "part.file", "the file before is not complete")
        self._gathered.append(_Batch(seq, "", list(self._read_records(facts, relations))))
        return self._took(seq, size)

    def feed_file(self, seq: int, head: FactFileHead | None, content: bytes, last_part: bool) -> list[IngestEvent]:
        """Take a part of a file: `head` with its first one, `last_part` with its last."""
        if not self._is_new(seq, len(content), "part.file.content"):
            return self._repeated()
        upload = self._add_to_upload(seq, None if head is None else encode_fact_file_head(head), content)
        if last_part:
            self._gathered.append(self._read_file(seq, upload))
            self._upload = None
        return self._took(seq, len(content))

    def _read_records(
        self, facts: Sequence[FactFields | RowRefused], relations: Sequence[RelationFields | RowRefused]
    ) -> Iterator[FactFileRow]:
        rules = self._rules()
        for place, fact in enumerate(facts, 1):
            try:
                yield place, fact if isinstance(fact, RowRefused) else read_fact(fact, rules.facts)
            except RowRefused as refused:
                yield place, refused
        for place, relation in enumerate(relations, len(facts) + 1):
            try:
                yield (
                    place,
                    relation if isinstance(relation, RowRefused) else read_relation(relation, rules.relations),
                )
            except RowRefused as refused:
                yield place, refused

    def _read_file(self, seq: int, upload: Upload) -> _Batch:
        head = decode_fact_file_head(upload.head)
        if upload.too_large:
            message = f"{head.name}: it is over the limit of {self._limits.max_document_bytes} bytes."
            return _Batch(seq, head.name, [_whole_file(Cause(ErrorReason.DOCUMENT_TOO_LARGE, message), "content")])
        try:
            options = self._limits.bound(ReadOptions())
            return _Batch(seq, head.name, read_rows(head, upload.content(), self._rules(), options))
        except DocumentRefused as error:
            return _Batch(seq, head.name, [_whole_file(error.cause(), error.details.get("field", ""))])

    def _write_gathered(self, writer: StoreWriter) -> list[RowsOutcome]:
        outcomes = []
        touched: dict[tuple[str, str], FactRecord] = {}
        for batch in self._gathered:
            outcome = _write(writer, batch, self._clearance, touched, self._target.snapshot())
            self._finish_part(writer, batch.seq, encode_rows_outcome(outcome))
            outcomes.append(outcome)
        snapshot = self._target.snapshot()
        derived = DerivedEdges.of(snapshot.config, snapshot.glossary)
        derived.follow_facts(writer, self._target.store.reader(), touched.values())
        return outcomes

    def _forget_gathered(self) -> None:
        self._gathered.clear()

    def _decode(self, raw: bytes) -> list[RowsOutcome]:
        return [decode_rows_outcome(raw)]

    def _events_of(self, outcome: RowsOutcome) -> list[IngestEvent]:
        rows = outcome.rejected
        return [RowsRejected(rows[at : at + MAX_ROWS_A_FRAME]) for at in range(0, len(rows), MAX_ROWS_A_FRAME)]

    def _seq_of(self, outcome: RowsOutcome) -> int:
        return outcome.seq

    def _counts_of(self, outcome: RowsOutcome) -> tuple[int, int, int]:
        return outcome.stored, outcome.unchanged, outcome.failed


def _write(
    writer: StoreWriter,
    batch: _Batch,
    clearance: Label,
    touched: dict[tuple[str, str], FactRecord],
    snapshot: Snapshot,
) -> RowsOutcome:
    """Store the good rows of a batch; what the store refuses joins what was refused before. Relations are taken back
    behind those that come with them.

    A caller is not told whether a row beyond its clearance was there already: each counts as stored.

    Args:
        touched: takes one of the figures of each source and entity.
        snapshot: the state before.
    """
    stored = unchanged = failed = faults = 0
    listed: list[RejectedRow] = []
    rows = iter(batch.rows)
    while some := list(islice(rows, _ROWS_A_WRITE)):
        facts = [(row, record) for row, record in some if isinstance(record, FactRecord)]
        if any(record.withdraw or record.author for _, record in facts):
            names, there = snapshot.fact_names, snapshot.stored
            facts = [(row, each) for row, fact in facts for each in under_stored_names(fact, names, there, clearance)]
        edges = [(row, record) for row, record in some if isinstance(record, EdgeRecord)]
        refused = [(row, record) for row, record in some if isinstance(record, RowRefused)]
        of_facts = writer.put_facts([record for _, record in facts], clearance=clearance)
        of_edges = writer.put_edges([record for _, record in edges], clearance=clearance)
        taken_back = [record.edge for _, record in some if isinstance(record, TakenBack)]
        of_those = writer.take_back_edges(taken_back, clearance=clearance) if taken_back else WriteCounts(0, 0)
        refused += [(facts[place][0], error) for place, error in of_facts.refused]
        refused += [(edges[place][0], error) for place, error in of_edges.refused]
        refused.sort(key=lambda entry: entry[0])
        stored += of_facts.stored + of_edges.stored + of_those.stored
        unchanged += of_facts.unchanged + of_edges.unchanged + of_those.unchanged
        failed += len(refused)
        told = ((row, fault) for row, error in refused for fault in (error, *error.further))
        listed += [_rejected(batch, row, fault) for row, fault in islice(told, MAX_LISTED_ROWS - len(listed))]
        faults += sum(1 + len(error.further) for _, error in refused)
        touched |= {(record.source_doc, record.entity): record for _, record in facts}
    if faults > len(listed):
        message = f"and {faults - len(listed)} more faults, which are not listed"
        listed.append(RejectedRow(batch.seq, batch.file, 0, "", "", ErrorReason.INVALID_REQUEST, message))
    return RowsOutcome(batch.seq, stored, unchanged, failed, tuple(listed))


def _rejected(batch: _Batch, row: int, error: RowRefused) -> RejectedRow:
    return RejectedRow(batch.seq, batch.file, row, error.column, error.value, error.reason, str(error))


def _whole_file(cause: Cause, column: str) -> FactFileRow:
    """A file that cannot be read counts as one refused row, row 0."""
    return 0, RowRefused(cause.reason, cause.message, column=column, value="")
