"""Runs every check, and prints a line for each as it comes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from groundwire import GroundwireError as ClientError
from groundwire_server.cli.doctor.door import check_door
from groundwire_server.cli.doctor.finding import Finding, fail, ok
from groundwire_server.cli.doctor.folder import check_disk, check_folder, check_holder, check_port, holder_of
from groundwire_server.cli.doctor.machine import (
    check_extras,
    check_models,
    check_settings,
    check_versions,
    check_workers,
)
from groundwire_server.cli.doctor.serving import check_server
from groundwire_server.cli.ending import FAILED
from groundwire_server.cli.options import json_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import printable, say_exactly
from groundwire_server.cli.terminal import paint
from groundwire_server.errors import GroundwireError
from groundwire_server.settings import Settings

__all__ = ["command"]

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(name="doctor")
@json_option
@server_options
@click.pass_obj
def command(session: Session, as_json: bool) -> int | None:
    """Check everything, and say what is active, what is not, why, and what to do.

    \b
    groundwire doctor
    groundwire doctor --json | jq 'select(.status != "ok")'

    It looks at versions, extras, settings with their origin, model files and their checksum, the data folder, who has
    it open, disk space, and through the server (the running one, else one started for this check) at the embedder and
    every library. Exit code 1 when a line says fail; warn is for what works less well than it could.
    """
    failed = False
    for finding in _findings(session):
        failed = failed or finding.status == "fail"
        if as_json:
            show_json(finding)
            continue
        status = paint(f"{finding.status:<4}", _COLOURS[finding.status])
        say_exactly(f"{status}  {finding.check:<8}  {printable(finding.message)}")
        if finding.advice:
            say_exactly(f"{'':<16}{paint(f'-> {printable(finding.advice)}', 'cyan')}")
    return FAILED if failed else None


def _findings(session: Session) -> Iterator[Finding]:
    yield from check_versions()
    yield from check_extras()
    named = session.address or os.environ.get("GROUNDWIRE_ADDRESS")
    if named:
        yield ok("address", f"the server at {named} is asked; its folder and models are on its own machine")
        yield from _through_server(session, own=False)
        return
    try:
        settings = session.settings()
    except GroundwireError as error:
        yield fail("settings", error.message, error.hint)
        return
    yield from check_settings(settings)
    yield from check_door(settings)
    yield from check_workers(settings)
    yield from check_models(settings)
    yield from _with_folder(session, settings)


def _with_folder(session: Session, settings: Settings) -> Iterator[Finding]:
    sound = True
    for finding in check_folder(settings):
        sound = finding.status == "ok"
        yield finding
    yield from check_disk(settings)
    holder = holder_of(settings) if sound else None
    for finding in check_holder(holder, settings, session):
        sound = sound and finding.status == "ok"
        yield finding
    if holder is None:
        yield from check_port(settings)
    if sound:  # nothing is made where nothing was, and nobody is waited for who does not answer
        yield from _through_server(session, own=holder is None)


def _through_server(session: Session, *, own: bool) -> Iterator[Finding]:
    try:
        with session.client(embedder=True) as client:
            yield from check_server(client, own=own)
    except (GroundwireError, ClientError) as error:
        yield fail("server", error.message, getattr(error, "hint", "") or "see the lines above")
    except click.ClickException as error:
        yield fail("server", error.message, "see the lines above")
