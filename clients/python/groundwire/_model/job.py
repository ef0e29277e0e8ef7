"""Work in the background."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from groundwire._model.named import NamedEnum
from groundwire._model.reason import Cause
from groundwire._model.stream import Progress

__all__ = ["IndexPart", "Job", "JobKind", "JobState", "Purge"]


class IndexPart(NamedEnum):
    """What is derived from the store, and can be rebuilt."""

    UNSPECIFIED = 0
    LEXICAL = 1
    VECTORS = 2
    REPRESENTATIONS = 3
    TREE = 4
    TREE_SUMMARIES = 5
    GRAPH = 6


class JobKind(NamedEnum):
    """What a job does."""

    UNSPECIFIED = 0
    EMBED = 1
    REINDEX = 2
    PURGE = 3
    DELETE_LIBRARY = 4


class JobState(NamedEnum):
    """Where a job stands. UNSPECIFIED in a question: in any state."""

    UNSPECIFIED = 0
    QUEUED = 1
    RUNNING = 2
    SUCCEEDED = 3
    FAILED = 4
    CANCELLED = 5


@dataclass(frozen=True, slots=True)
class Job:
    """Work in the background as it is now. `error` says why it failed; whatever became of it, what was done stays.

    >>> Job("j-1", JobKind.EMBED, "default", state=JobState.RUNNING).ended
    False
    """

    job_id: str
    kind: JobKind = JobKind.UNSPECIFIED
    library_id: str = ""
    parts: tuple[IndexPart, ...] = ()
    state: JobState = JobState.UNSPECIFIED
    progress: Progress | None = None
    create_time: datetime | None = None
    update_time: datetime | None = None
    end_time: datetime | None = None
    error: Cause | None = None

    @property
    def ended(self) -> bool:
        """Whether it has succeeded, failed or been cancelled."""
        return self.state in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Purge:
    """How many revisions go, and the job that erases them; None: they were only counted."""

    revisions: int = 0
    job: Job | None = None
