"""What the parts of one write transaction share."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from groundwire_server.evidence import Label
from groundwire_server.store.sqlite.attributes import AttributeBook
from groundwire_server.store.sqlite.digest import DigestBook

__all__ = ["VISIBLE", "Transaction", "readable_labels"]

# Whether a row is there at generation :g.
VISIBLE = "born <= :g AND (died IS NULL OR died > :g)"


def readable_labels(clearance: Label | None) -> int:
    """The strictest label that a reader may see, as the columns hold it; None: all. RESTRICTED is for nobody."""
    return int(Label.RESTRICTED if clearance is None else min(clearance, Label.CONFIDENTIAL))


@dataclass
class Transaction:
    """An open write transaction that will become `generation` if it changes anything that a reader can see."""

    connection: sqlite3.Connection
    generation: int
    changed: bool = False
    digest: DigestBook = field(init=False)
    attributes: AttributeBook = field(init=False)

    def __post_init__(self) -> None:
        self.digest = DigestBook(self.connection)
        self.attributes = AttributeBook(self.connection, self.generation)

    def born(self, label: Label, event: bytes) -> None:
        """Take note that a row was born."""
        self.changed = True
        self.digest.add_birth(label, event)

    def died(self, label: Label, event: bytes) -> None:
        """Take note that a row died."""
        self.changed = True
        self.digest.add_death(label, event)
