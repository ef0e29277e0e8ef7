"""What a job is: long work that goes on behind the calls, told to one class of callers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from groundwire_server.errors import Cause
from groundwire_server.evidence import Label, Principal, Progress

__all__ = ["AUDIENCES", "IndexPart", "Job", "JobKind", "JobState", "WorkOrder", "audience_of"]

AUDIENCES = (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)
"""The classes of callers: each reads up to its label."""


class JobKind(IntEnum):
    """What a job does; numbers are those of `groundwire.v1.JobKind`."""

    EMBED = 1
    REINDEX = 2
    PURGE = 3
    DELETE_LIBRARY = 4


class IndexPart(IntEnum):
    """What is derived from the store; numbers are those of `groundwire.v1.IndexPart`."""

    LEXICAL = 1
    VECTORS = 2
    REPRESENTATIONS = 3
    TREE = 4
    TREE_SUMMARIES = 5
    GRAPH = 6


class JobState(IntEnum):
    """Where a job stands; numbers are those of `groundwire.v1.JobState`."""

    QUEUED = 1
    RUNNING = 2
    SUCCEEDED = 3
    FAILED = 4
    CANCELLED = 5

    @property
    def ended(self) -> bool:
        """Nothing of the job changes any more."""
        return self >= JobState.SUCCEEDED


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """Work that somebody asked for; the jobs that tell of it, one for each class of callers, share it.

    Attributes:
        work_id: of the work.
        task: name of what is to be run; again, after a restart.
        argument: what it is run on, e.g. the name of a folder.
        request: who asked, with which request id, for what; empty when a repeat is to count.
    """

    work_id: str
    task: str
    argument: str = ""
    request: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Work in the background, as the callers of one class may know of it.

    What nobody of a class may read makes no job for it, adds nothing to the progress that it sees, and does not keep
    its job running: for each class the job ends with the last of what the class may read.

    Attributes:
        job_id: opaque.
        audience: the class of callers for which the job exists.
        parts: what it builds; empty: nothing that is derived.
        progress: None: not begun.
        ended_at: set exactly when it has ended.
        error: set exactly in state FAILED.
        order: the work behind it; None for embedding, which needs no order.
    """

    job_id: str
    kind: JobKind
    library_id: str
    audience: Label
    state: JobState
    created_at: datetime
    updated_at: datetime
    parts: tuple[IndexPart, ...] = ()
    progress: Progress | None = None
    ended_at: datetime | None = None
    error: Cause | None = None
    order: WorkOrder | None = None

    @property
    def embeds(self) -> bool:
        """Whether it sees to the vectors of its library."""
        return self.kind is JobKind.EMBED or IndexPart.VECTORS in self.parts


def audience_of(principal: Principal) -> Label:
    """The class of callers to which a principal belongs; nobody reads RESTRICTED."""
    return min(principal.clearance, Label.CONFIDENTIAL)
