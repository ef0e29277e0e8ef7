"""Work that goes on behind the calls: what a job is, the board on which all stand, and who does what was ordered."""

from groundwire_server.jobs.board import (
    KEPT_JOBS,
    MAX_OPEN_JOBS,
    JobBoard,
    JobPlace,
    JobTable,
    new_job_id,
    place_of_job,
)
from groundwire_server.jobs.control import JobControl, JobStopped, Task
from groundwire_server.jobs.job import AUDIENCES, IndexPart, Job, JobKind, JobState, WorkOrder, audience_of
from groundwire_server.jobs.runner import JobRunner

__all__ = [
    "AUDIENCES",
    "KEPT_JOBS",
    "MAX_OPEN_JOBS",
    "IndexPart",
    "Job",
    "JobBoard",
    "JobControl",
    "JobKind",
    "JobPlace",
    "JobRunner",
    "JobState",
    "JobStopped",
    "JobTable",
    "Task",
    "WorkOrder",
    "audience_of",
    "new_job_id",
    "place_of_job",
]
