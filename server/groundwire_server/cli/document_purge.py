"""`groundwire documents purge`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from groundwire import JobState, Purge
from groundwire_server.cli.ending import FAILED
from groundwire_server.cli.options import WORDS, json_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say
from groundwire_server.cli.watching import outcome, watch_job

__all__ = ["command"]


@click.command(name="purge")
@click.argument("document", type=WORDS, default="")
@click.option("--keep-last", type=click.IntRange(0, 2**31 - 1), help="Revisions of each document to keep.")
@click.option("--retired-before", type=WORDS, metavar="DAY", help="Only revisions that were retired before.")
@click.option("--dry-run", is_flag=True, help="Say how many would go, and erase nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait for the job that this begins.")
@library_option
@json_option
@server_options
@click.pass_obj
def command(
    session: Session,
    document: str,
    keep_last: int | None,
    retired_before: str | None,
    dry_run: bool,
    yes: bool,
    wait: bool,
    library: str,
    as_json: bool,
) -> int | None:
    """Erase old revisions of DOCUMENT, or of all documents, for good. The active one always stays.

    \b
    groundwire documents purge --keep-last 3 --dry-run
    groundwire documents purge reports/2024.md --keep-last 0 --yes
    groundwire documents purge --retired-before 2024-01-01

    Citations of what is erased can be verified no more. --keep-last counts beside the active revision; with both bounds
    a revision goes that neither keeps.
    """
    if keep_last is None and retired_before is None:
        raise click.UsageError("Say what is to go: --keep-last, --retired-before or both.")
    before = None if retired_before is None else _start_of(retired_before)
    keep = keep_last or 0
    with session.client(embedder=False) as client:

        def purge(*, validate_only: bool) -> Purge:
            return client.purge_revisions(
                library, doc_id=document, keep_last=keep, retired_before=before, validate_only=validate_only
            )

        if dry_run or not yes:
            planned = purge(validate_only=True)
            if dry_run:
                _tell(planned, "to erase", as_json)
                return None
            _confirm(planned.revisions)
        done = purge(validate_only=False)
        job = done.job
        if job is not None and wait:
            job = watch_job(client, job.job_id, as_json=as_json)
    _tell(done, "erased" if wait else "to erase", as_json)
    if not as_json and job is not None:
        say(outcome(job) if job.ended else f"purge goes on: groundwire jobs watch {job.job_id}")
    return FAILED if wait and job is not None and job.state is not JobState.SUCCEEDED else None


def _start_of(text: str) -> datetime:
    """A day is its beginning, in UTC: what was retired on that day was not retired before. Raises UsageError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"--retired-before {text!r} is no day such as 2024-06-30, and no time.") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _confirm(revisions: int) -> None:
    """Ask. Raises when there is nobody to ask, or the answer is no."""
    if not sys.stdin.isatty():
        raise click.UsageError("There is nobody to ask: --yes erases without asking, --dry-run only counts.")
    note("What goes cannot be brought back, and citations of it can be verified no more.")
    if not click.confirm(f"Erase {_named(revisions)}?", default=False, err=True):
        raise click.ClickException("nothing was erased")


def _tell(purge: Purge, what: str, as_json: bool) -> None:
    if as_json:
        show_json(purge)
    else:
        say(f"{what}: {_named(purge.revisions)}")


def _named(revisions: int) -> str:
    return "1 revision" if revisions == 1 else f"{revisions} revisions"
