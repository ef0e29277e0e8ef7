"""Checks through a server: what it can use, and how each library stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import groundwire_server
from groundwire import Client, Component, EndReason, GroundwireError, Job, JobState, Library
from groundwire_server.cli.doctor.finding import Finding, fail, ok, warn
from groundwire_server.cli.values import share

__all__ = ["check_server", "vectors_advice"]


def check_server(client: Client, *, own: bool) -> Iterator[Finding]:
    """Version, embedder, libraries, jobs. own: it was started for this check alone."""
    info = client.server_info()
    who = "started for this check" if own else f"answers at {client.address}"
    if info.server_version == groundwire_server.__version__:
        yield ok("server", f"version {info.server_version}, {who}; {len(info.methods)} methods work")
    else:
        words = f"version {info.server_version}, {who}; this command is {groundwire_server.__version__}"
        yield warn("server", words, "restart the server from this installation")
    yield from _without_model(info.components)
    for each in info.components:
        if each.inactive_reason == _NO_MODEL and not each.active:
            continue
        if each.kind == "embedder" and each.active:
            yield ok("embedder", f"{each.name} is active, version {each.version}")
        elif not each.active and each.inactive_reason.startswith(_CHOSEN):
            yield ok(each.kind, each.inactive_reason.removesuffix("."))
        elif not each.active and " is not installed: " in each.inactive_reason:  # as extras are that nobody needs
            yield ok(each.kind, f"{each.name} is not active: {each.inactive_reason}")
        elif not each.active:
            advice = (
                "words answer meanwhile"
                if "loading" in each.inactive_reason
                else _ADVICE.get(each.kind, "`groundwire info` lists what is active")
            )
            yield warn(each.kind, f"{each.name} is not active: {each.inactive_reason}", advice)
    searches_by_meaning = any(each.kind == "embedder" and each.active for each in info.components)
    yield from _check_libraries(client, searches_by_meaning)
    if "groundwire.v1.AdminService/ListJobs" in info.methods:
        yield from _check_jobs(client)


def _without_model(components: Iterable[Component]) -> Iterator[Finding]:
    """One line for all that would ask a language model, where there is none: nothing needs one."""
    lost = [f"{each.kind} {each.name}" for each in components if not each.active and each.inactive_reason == _NO_MODEL]
    if lost:
        names = ", ".join(lost)
        yield ok("llm", f"there is no language model, so these are not active: {names}; llm.provider sets one")


_CHOSEN = "The server is set to "
_NO_MODEL = "The server has no language model."
_ADVICE = {
    "process": "wait a moment; if it stays so, the log of the server says why",
    "embedder": "fine for search by words; for search by meaning see the line `model`, then start the server anew",
}


def _check_libraries(client: Client, searches_by_meaning: bool) -> Iterator[Finding]:
    libraries = client.list_libraries()
    if not libraries:
        yield warn("library", "there is none yet", "`groundwire ingest FOLDER` makes the library `default`")
    for library in libraries:
        yield from _check_library(client, library, searches_by_meaning)


def _check_library(client: Client, library: Library, searches_by_meaning: bool) -> Iterator[Finding]:
    name = library.library_id
    if library.fault is not None:
        message = f"{name} cannot be opened: {library.fault.message}"
        yield fail("library", message, f"look into its folder libraries/{name}, or bring back a backup of it")
        return
    held = f"{library.documents} documents, {library.active_chunks} chunks, {library.facts} facts"
    yield ok("library", f"{name}: {held}, {library.relations} relations")
    if not library.active_chunks:
        return
    wants_vectors = library.index is None or library.index.embedder != "none"
    yield _check_index(client, library, "auto" if searches_by_meaning and wants_vectors else "lexical")
    coverage = library.embedding_coverage
    if coverage is None:
        yield ok("vectors", f"{name} is searched by words alone")
    elif coverage < 1:
        message = f"{name}: {share(coverage)} of the chunks can be found by meaning"
        yield warn("vectors", message, vectors_advice(client.list_jobs(library=name), name))
    else:
        yield ok("vectors", f"{name}: every chunk can be found by meaning")


def vectors_advice(jobs: Iterable[Job], name: str) -> str:
    """What to do where chunks of the library lack vectors, by its jobs: a cancelled one is not taken up by itself."""
    if any(job.state in (JobState.QUEUED, JobState.RUNNING) for job in jobs):
        return "it goes on in a running server: `groundwire jobs list`, `groundwire jobs watch`"
    return f"no job is at it: `groundwire libraries reindex {name} --part vectors`"


def _check_index(client: Client, library: Library, mode: str) -> Finding:
    """A real question to the index of words, and to the vectors where there should be some."""
    name = library.library_id
    try:
        found = client.retrieve("?", top_k=1, mode=mode.upper(), libraries=[name]).collect()
    except GroundwireError as error:
        return fail("index", f"{name}: {error.message}", f"`groundwire libraries reindex {name}` builds it anew")
    degraded = [each for each in found.summary.degradations if each.kind.name != "VECTOR_PARTIAL"]
    if found.summary.end_reason is EndReason.REFUSED or degraded:
        why = "; ".join(each.cause.message if each.cause else each.kind.name for each in degraded)
        return warn("index", f"{name}: {why or 'it refuses to answer'}", f"`groundwire libraries reindex {name}`")
    steps = ", ".join(dict.fromkeys(step.backend.partition("@")[0] for step in found.header.plan))
    return ok("index", f"{name} answers over {found.summary.candidates} chunks ({steps})")


def _check_jobs(client: Client) -> Iterator[Finding]:
    for job in client.list_jobs(state=JobState.FAILED):
        why = job.error.message if job.error else "no reason is known"
        advice = f"`groundwire libraries reindex {job.library_id}` tries again"
        yield warn("job", f"{job.job_id} of {job.library_id} failed: {why}", advice)
        return  # the newest one tells enough
