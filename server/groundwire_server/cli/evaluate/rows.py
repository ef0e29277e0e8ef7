"""Figures and relations of an evaluation, into the fresh library."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire import Client, FactFile, RowsRejected
from groundwire_server.cli.evaluate.fresh import LIBRARY
from groundwire_server.cli.streams import note

__all__ = ["store_rows"]


def store_rows(client: Client, files: Iterable[FactFile]) -> int:
    """Store files of figures or relations. Returns how many rows were refused; the first of them is told."""
    refused = 0
    with client.ingest_facts(files, library=LIBRARY) as events:
        for event in events:
            if isinstance(event, RowsRejected):
                if not refused:
                    first = event.rows[0]
                    note(f"refused rows cannot be found, e.g. row {first.row}, {first.column}: {first.message}")
                refused += len(event.rows)
    return refused
