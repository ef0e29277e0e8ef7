"""Waiting until what was stored can be found by its meaning too."""

from __future__ import annotations

import time

from groundwire import Client, Job, JobKind, JobState
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.streams import note
from groundwire_server.cli.watching import outcome

__all__ = ["await_embeddings"]

_POLL_SECONDS = 0.2
_STALLED_SECONDS = 60.0
_LOOK_SECONDS = 2.0


def await_embeddings(client: Client, library: str) -> bool:
    """Wait until every chunk has its vector, with a line of progress; at once where there is no embedder.

    Returns:
        False: the job has failed or was cancelled, or nothing has moved for a minute, which was said; some chunks have
            no vector.
    """
    line: ProgressLine | None = None
    most, moved = -1, time.monotonic()
    look = moved + _LOOK_SECONDS
    while True:
        found = next((each for each in client.list_libraries() if each.library_id == library), None)
        if found is None or found.embedding_coverage is None:
            return True
        total = found.active_chunks
        done = round(found.embedding_coverage * total)
        if done >= total:
            if line is not None:
                line.finish(done)
            return True
        if done > most:
            most, moved = done, time.monotonic()
        if time.monotonic() - moved > _STALLED_SECONDS:
            note(f"{total - done} of {total} chunks have no vector, and none has come for {_STALLED_SECONDS:.0f} s")
            return False
        if time.monotonic() > look:
            look = time.monotonic() + _LOOK_SECONDS
            if (job := _stopped_job(client, library)) is not None:
                note(f"{outcome(job)}; {total - done} of {total} chunks have no vector")
                return False
        if line is None:
            line = ProgressLine("embedding", "chunks", total)
        line.total = total
        line.update(done)
        time.sleep(_POLL_SECONDS)


def _stopped_job(client: Client, library: str) -> Job | None:
    """The newest job of embedding, when it has ended without success and so no vector comes any more."""
    newest = next((job for job in client.list_jobs(library=library) if job.kind is JobKind.EMBED), None)
    stopped = (JobState.FAILED, JobState.CANCELLED)
    return newest if newest is not None and newest.state in stopped else None
