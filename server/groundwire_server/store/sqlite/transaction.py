"""What the parts of one write transaction share."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Literal

from groundwire_server.evidence import AttributeType, Label
from groundwire_server.store.sqlite.attributes import AttributeBook
from groundwire_server.store.sqlite.digest import DigestBook
from groundwire_server.store.sqlite.gathered import GatheredRows

__all__ = ["VISIBLE", "Transaction", "readable_labels"]

# Tables of what documents state; the key of each is its name and "_row".
Stated = Literal["fact", "edge"]

# Whether a row is there at generation :g.
VISIBLE = "born <= :g AND (died IS NULL OR died > :g)"


def readable_labels(clearance: Label | None) -> int:
    """The strictest label that a reader may see, as the columns hold it; None: all. RESTRICTED is for nobody."""
    return int(Label.RESTRICTED if clearance is None else min(clearance, Label.CONFIDENTIAL))


@dataclass
class Transaction:
    """An open write transaction that will become `generation` if it changes anything that a reader can see.

    gathered: rows of new documents that are yet to be inserted.
    """

    held: InitVar[sqlite3.Connection]
    generation: int
    declared: Mapping[str, AttributeType] = field(default_factory=dict)
    changed: bool = False
    gathered: GatheredRows = field(init=False)
    digest: DigestBook = field(init=False)
    attributes: AttributeBook = field(init=False)

    def __post_init__(self, held: sqlite3.Connection) -> None:
        self.gathered = GatheredRows(held)
        self.digest = DigestBook(held)
        self.attributes = AttributeBook(held, self.generation, self.declared)

    @property
    def connection(self) -> sqlite3.Connection:
        """The one that writes, with all rows inserted that were gathered."""
        self.gathered.insert()
        return self.gathered.connection

    def born(self, label: Label, event: bytes) -> None:
        """Take note that a row was born; an empty event says nothing that others do not say."""
        self.changed = True
        if event:
            self.digest.add_birth(label, event)

    def died(self, label: Label, event: bytes) -> None:
        """Take note that a row died."""
        self.changed = True
        if event:
            self.digest.add_death(label, event)

    def purged(self, label: Label, event: bytes) -> None:
        """Take note that what a row held was erased."""
        self.changed = True
        self.digest.add_purge(label, event)

    def retire(self, kind: Stated, row: int, label: Label, event: bytes) -> None:
        """End a figure or a source of an edge."""
        self.connection.execute(f"UPDATE {kind} SET died = ? WHERE {kind}_row = ?", (self.generation, row))
        self.died(label, event)

    def retire_stated_by(self, kind: Stated, source_doc: str, strictest: int, but: str = "1") -> int:
        """End everything of a kind that a document states, up to a label, and fits a condition. Returns how many."""
        rows = self.connection.execute(
            f"SELECT {kind}_row, label, event FROM {kind}"
            f" WHERE source_doc = ? AND died IS NULL AND label <= ? AND {but}",
            (source_doc, strictest),
        ).fetchall()
        for row, label, event in rows:
            self.retire(kind, row, Label(label), event)
        return len(rows)
