"""`groundwire models`."""

from __future__ import annotations

import json

import click

from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import WORDS, json_option, server_options
from groundwire_server.cli.progress import ProgressLine
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say, say_exactly
from groundwire_server.dense.models import DEFAULT_MODEL, SOURCES, Progress, list_models, prepare

__all__ = ["StepLines", "command"]


@click.group(name="models", cls=CommandGroup)
def command() -> None:
    """Embedding models on this machine. Nothing is downloaded without being asked.

    \b
    groundwire models list
    groundwire models prepare
    """


@command.command(name="list")
@json_option
@server_options
@click.pass_obj
def list_(session: Session, as_json: bool) -> None:
    """Show every known model, whether it is prepared, and where.

    \b
    groundwire models list
    """
    for entry in list_models(session.settings().models):
        ready = entry.prepared
        if as_json:
            found = {"folder": str(ready.folder), "sha256": ready.version} if ready else {}
            named = {"name": entry.spec.name, "variant": entry.variant, "default": entry.is_default}
            say_exactly(json.dumps({**named, "prepared": ready is not None, **found}))
            continue
        mark = "*" if entry.is_default else " "
        state = f"{ready.folder} sha256 {ready.version}" if ready else "not prepared"
        say(f"{mark} {entry.spec.name}:{entry.variant}  {state}")
    if not as_json:
        say("* is the default; `groundwire models prepare NAME` makes one ready.")


@command.command(name="prepare")
@click.argument("name", type=WORDS, default=DEFAULT_MODEL)
@click.option(
    "--variant", type=WORDS, metavar="VARIANT", help="Arithmetic of the model, as `models list` shows after the colon."
)
@click.option(
    "--source",
    type=click.Choice(list(SOURCES)),
    default=SOURCES[0],
    show_default=True,
    help="Where to fetch it when it is not on this machine.",
)
@json_option
@server_options
@click.pass_obj
def prepare_(session: Session, name: str, variant: str | None, source: str, as_json: bool) -> None:
    """Make model NAME ready: fetch, check its sha256, convert. A second run only checks.

    \b
    groundwire models prepare
    groundwire models prepare multilingual-e5-small --variant q4
    """
    prepared = prepare(name, StepLines(), source=source, variant=variant, folder=session.settings().models)
    if as_json:
        say_exactly(json.dumps({"name": name, "folder": str(prepared.folder), "sha256": prepared.version}))
        return
    say(f"{name} is ready: {prepared.folder} sha256 {prepared.version}")


class StepLines:
    """One progress line for each step of the preparation."""

    def __init__(self) -> None:
        self._step = ""
        self._line: ProgressLine | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.note:
            note(progress.note)
        if progress.step != self._step:
            self._step = progress.step
            self._line = ProgressLine(progress.step, progress.unit, progress.total or None)
        if self._line is not None:
            self._line.total = progress.total or None
            self._line.update(progress.done)
            if progress.total and progress.done >= progress.total:
                self._line.finish(progress.done)
                self._line = None
