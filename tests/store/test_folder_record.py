"""The record of a folder, beside which threads read."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from groundwire_server.store.folder_record import FolderRecord


def test_who_asks_a_record_that_is_closed_meanwhile_is_refused(tmp_path: Path) -> None:
    """An ingest that is broken off leaves gRPC's thread reading for a moment; it must not take the process along."""
    for number in range(20):
        record = FolderRecord(tmp_path / f"{number}.sqlite")
        begun = threading.Event()
        ended: list[BaseException] = []

        def ask(record: FolderRecord = record, begun: threading.Event = begun) -> None:
            try:
                while True:
                    record.stored_label("a.md")
                    begun.set()
            except sqlite3.ProgrammingError as error:
                ended.append(error)  # noqa: B023

        threads = [threading.Thread(target=ask) for _ in range(4)]
        with record:
            for thread in threads:
                thread.start()
            assert begun.wait(60)
        for thread in threads:
            thread.join(60)
        assert len(ended) == len(threads)
    with pytest.raises(sqlite3.ProgrammingError):
        record.stored_label("a.md")
