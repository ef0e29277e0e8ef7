"""`groundwire jobs`."""

from __future__ import annotations

import click

from groundwire import Client, Job, JobState
from groundwire_server.cli.ending import FAILED
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import WORDS, json_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import say
from groundwire_server.cli.tables import Column, show_pairs, show_table
from groundwire_server.cli.values import as_words, when
from groundwire_server.cli.watching import how_far, outcome, watch_job

__all__ = ["command"]

_STATES = [each.name.lower() for each in JobState if each is not JobState.UNSPECIFIED]
_COLOURS = {"succeeded": "green", "failed": "red", "cancelled": "yellow", "running": "cyan"}


@click.group(name="jobs", cls=CommandGroup)
def command() -> None:
    """Work in the background: embedding, rebuilding of indexes, deletion.

    \b
    groundwire jobs list
    groundwire jobs watch
    """


@command.command(name="list")
@click.option("--library", type=WORDS, metavar="LIBRARY", default="", help="Only of this library.")
@click.option("--state", type=click.Choice(_STATES), help="Only in this state.")
@json_option
@server_options
@click.pass_obj
def list_(session: Session, library: str, state: str | None, as_json: bool) -> None:
    """List jobs, the newest first.

    \b
    groundwire jobs list --state running
    """
    with session.client(embedder=True) as client:
        jobs = client.list_jobs(library=library, state=(state or "unspecified").upper())
        if as_json:
            for job in jobs:
                show_json(job)
            return
        columns = [
            Column("job"),
            Column("kind"),
            Column("library"),
            Column("state", colour=_COLOURS.get),
            Column("progress"),
            Column("made"),
            Column("ended"),
            Column("error", shrinks=True),
        ]
        show_table(columns, (_row(job) for job in jobs))


@command.command(name="show")
@click.argument("job_id", metavar="JOB", type=WORDS)
@json_option
@server_options
@click.pass_obj
def show(session: Session, job_id: str, as_json: bool) -> None:
    """Show JOB as it is now.

    \b
    groundwire jobs show JOB
    """
    with session.client(embedder=True) as client:
        _show(client.get_job(job_id), as_json)


@command.command(name="watch")
@click.argument("job_id", metavar="[JOB]", type=WORDS, default="")
@json_option
@server_options
@click.pass_obj
def watch(session: Session, job_id: str, as_json: bool) -> int | None:
    """Follow JOB to its end, by default the newest that has not ended. Exit code 1 when it failed or was cancelled.

    \b
    groundwire jobs watch

    Ctrl-C ends the watching, not the job.
    """
    with session.client(embedder=True) as client:
        chosen = job_id or _newest(client)
        if not chosen:
            if not as_json:
                say("no job is running")
            return None
        job = watch_job(client, chosen, as_json=as_json)
    if not as_json:
        say(outcome(job))
    return None if job.state is JobState.SUCCEEDED else FAILED


@command.command(name="cancel")
@click.argument("job_id", metavar="JOB", type=WORDS)
@json_option
@server_options
@click.pass_obj
def cancel(session: Session, job_id: str, as_json: bool) -> None:
    """Ask JOB to stop. What it has done stays and is used by the next.

    \b
    groundwire jobs cancel JOB
    """
    with session.client(embedder=True) as client:
        _show(client.cancel_job(job_id), as_json)


def _newest(client: Client) -> str:
    return next((job.job_id for job in client.list_jobs() if not job.ended), "")


def _row(job: Job) -> tuple[object, ...]:
    return (
        job.job_id,
        as_words(job.kind.name),
        job.library_id,
        as_words(job.state.name),
        how_far(job),
        when(job.create_time),
        when(job.end_time),
        job.error.message if job.error else "",
    )


def _show(job: Job, as_json: bool) -> None:
    if as_json:
        show_json(job)
        return
    show_pairs(
        [
            ("job", job.job_id),
            ("kind", as_words(job.kind.name)),
            ("library", job.library_id),
            ("parts", ", ".join(as_words(part.name) for part in job.parts)),
            ("state", as_words(job.state.name)),
            ("progress", how_far(job)),
            ("made", when(job.create_time)),
            ("changed", when(job.update_time)),
            ("ended", when(job.end_time)),
            ("error", f"{job.error.message} ({job.error.reason.name})" if job.error else ""),
        ]
    )
