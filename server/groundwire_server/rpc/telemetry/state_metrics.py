"""Numbers of the present state, read when they are asked for: what calls hold, what waits, what is in the background.

Jobs are those that the caller without credentials may know of: what such a caller cannot read adds nothing here.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from groundwire_server import __version__
from groundwire_server.jobs import Job, JobKind, JobState

if TYPE_CHECKING:
    from groundwire_server.rpc.lifecycle import Running

__all__ = ["StateMetrics"]

_MOST_JOBS = 5000


class StateMetrics(Collector):
    """Reads a running server.

    Args:
        process: which process of the server this is, "server" where it is the only one.
        tells_jobs: whether this is the process that does the work behind the calls.
    """

    def __init__(self, server: Running, process: str, *, tells_jobs: bool) -> None:
        self._server = server
        self._process = process
        self._tells_jobs = tells_jobs
        self._embedded = 0
        self._done = {job.job_id: _done(job) for job in self._jobs()} if tells_jobs else {}

    def describe(self) -> list[Metric]:
        """Nothing: the registry need not read the state to know the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Every family, as it is now."""
        info = {"version": __version__, "python": platform.python_version(), "process": self._process}
        yield InfoMetricFamily("groundwire_build", "What runs here.", info)
        held = GaugeMetricFamily(
            "groundwire_held", "What calls hold now; all zero on a server that nobody is calling.", labels=["what"]
        )
        for what, count in sorted(self._server.leftovers.items()):
            held.add_metric([what], count)
        yield held
        words = "States of libraries that are held beside the newest: by streams, and by work behind the calls."
        yield GaugeMetricFamily("groundwire_states_held", words, self._server.engine.earlier_states)
        yield GaugeMetricFamily(
            "groundwire_work_waiting", "Pieces of work that wait for a thread.", self._server.pool.waiting
        )
        yield from self._of_admission()
        if self._tells_jobs:
            yield from self._of_jobs()

    def _of_admission(self) -> Iterator[Metric]:
        admission = self._server.guard.admission
        places = GaugeMetricFamily("groundwire_admission_places", "Calls that may run at once.", labels=["service"])
        taken = GaugeMetricFamily("groundwire_admission_taken", "Calls that have a place now.", labels=["service"])
        refused = CounterMetricFamily(
            "groundwire_admission_refused", "Calls for which there was none.", labels=["service"]
        )
        for service in sorted(admission.most):
            places.add_metric([service], admission.most[service])
            taken.add_metric([service], admission.running[service])
            refused.add_metric([service], admission.refused[service])
        yield from (places, taken, refused)

    def _of_jobs(self) -> Iterator[Metric]:
        jobs = self._jobs()
        waiting = Counter((job.kind, job.state) for job in jobs)
        family = GaugeMetricFamily(
            "groundwire_jobs", "Work behind the calls that has not ended.", labels=["kind", "state"]
        )
        for kind in JobKind:
            for state in (JobState.QUEUED, JobState.RUNNING):
                family.add_metric([kind.name, state.name], waiting[kind, state])
        yield family
        embeds = [job for job in jobs if job.kind is JobKind.EMBED]
        left = sum(_total(job) - _done(job) for job in embeds if not job.state.ended)
        yield GaugeMetricFamily("groundwire_embedding_waiting_chunks", "Chunks that still get a vector.", left)
        yield CounterMetricFamily("groundwire_embedded_chunks", "Chunks that got one.", self._count_embedded(embeds))

    def _count_embedded(self, embeds: list[Job]) -> int:
        """All that jobs have done since the start, those included that ended between two looks."""
        done = {job.job_id: _done(job) for job in embeds}
        self._embedded += sum(max(0, count - self._done.get(job_id, 0)) for job_id, count in done.items())
        self._done = {job_id: max(count, self._done.get(job_id, 0)) for job_id, count in done.items()}
        return self._embedded

    def _jobs(self) -> list[Job]:
        engine = self._server.engine
        found, _ = engine.jobs.page(engine.local_principal, library_id="", state=None, after=None, limit=_MOST_JOBS)
        return found


def _done(job: Job) -> int:
    return 0 if job.progress is None else job.progress.done


def _total(job: Job) -> int:
    return 0 if job.progress is None else job.progress.total or 0
