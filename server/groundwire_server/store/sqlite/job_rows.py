"""Jobs as `server.sqlite` keeps them. What a job is, is the business of the room of jobs: here are rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["JobRow", "lay_job_table", "read_jobs", "write_jobs"]


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job. `created_at`: microseconds since 1970; `ended`: nothing of it changes any more; `content`: all else."""

    job_id: str
    library_id: str
    created_at: int
    ended: bool
    content: str


def lay_job_table(connection: sqlite3.Connection) -> None:
    """The table of jobs."""
    connection.execute(
        "CREATE TABLE job (job_id TEXT PRIMARY KEY, library_id TEXT NOT NULL, created_at INTEGER NOT NULL,"
        " ended INTEGER NOT NULL, content TEXT NOT NULL) WITHOUT ROWID"
    )


def read_jobs(connection: sqlite3.Connection) -> list[JobRow]:
    """All of them, oldest first."""
    rows = connection.execute(
        "SELECT job_id, library_id, created_at, ended, content FROM job ORDER BY created_at, job_id"
    ).fetchall()
    return [
        JobRow(job_id, library_id, created, bool(ended), content)
        for job_id, library_id, created, ended, content in rows
    ]


def write_jobs(connection: sqlite3.Connection, rows: Iterable[JobRow], forgotten: Iterable[str]) -> None:
    """Keep some, in the state that they have now, and forget others; within one transaction of the caller."""
    connection.executemany(
        "INSERT OR REPLACE INTO job (job_id, library_id, created_at, ended, content) VALUES (?, ?, ?, ?, ?)",
        [(row.job_id, row.library_id, row.created_at, int(row.ended), row.content) for row in rows],
    )
    connection.executemany("DELETE FROM job WHERE job_id = ?", [(job_id,) for job_id in forgotten])
