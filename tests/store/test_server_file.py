"""The server's own file: its jobs, and folders of the versions before it had any."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from groundwire_server.errors import ErrorReason, FailedPrecondition
from groundwire_server.store import JobRow, ServerFile

# As the first version laid it.
FIRST = """
CREATE TABLE migration (place INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO migration (name, applied_at) VALUES ('0001_lay_tables', '2026-01-01T00:00:00+00:00');
CREATE TABLE library (library_id TEXT PRIMARY KEY, created_at TEXT NOT NULL);
CREATE TABLE kept (name TEXT PRIMARY KEY, value BLOB NOT NULL);
INSERT INTO library VALUES ('finance', '2026-01-01T00:00:00+00:00');
INSERT INTO kept VALUES ('secret', x'0102');
"""


def row(number: int, *, ended: bool = False, content: str = "{}") -> JobRow:
    return JobRow(f"j-{number}", "default", number, ended, content)


def test_jobs_are_kept_changed_and_forgotten(tmp_path: Path) -> None:
    file = ServerFile(tmp_path / "server.sqlite")
    assert file.job_rows() == []
    file.save_jobs([row(2), row(1)])
    file.save_jobs([row(1, ended=True, content='{"増": "✓"}'), row(3)], ["j-2"])
    file.close()
    again = ServerFile(tmp_path / "server.sqlite")
    assert again.job_rows() == [row(1, ended=True, content='{"増": "✓"}'), row(3)]
    again.close()


def test_a_file_of_the_first_version_gets_its_table_of_jobs(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(FIRST)
    connection.close()
    file = ServerFile(path)
    assert (file.library_ids(), file.secret(), file.job_rows()) == (["finance"], b"\x01\x02", [])
    assert file.created_at("finance") == "2026-01-01T00:00:00+00:00"
    file.save_jobs([row(1)])
    file.close()


def test_a_file_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite"
    ServerFile(path).close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("INSERT INTO migration (name, applied_at) VALUES ('9999_beyond', '')")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(FailedPrecondition) as refused:
        ServerFile(path)
    assert refused.value.reason is ErrorReason.STORE_VERSION
    assert path.read_bytes() == before
