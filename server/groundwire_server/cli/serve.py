"""`groundwire serve`."""

from __future__ import annotations

import json
import signal
import sys
import textwrap

import click
from pydantic import BaseModel

from groundwire_server.cli.interrupt import INTERRUPTED
from groundwire_server.cli.options import WORDS, own_place_options
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note
from groundwire_server.settings import Settings

__all__ = ["command"]

_INDENT = " " * 6


class _WithSettings(click.Command):
    """Help that ends with every setting: its name, its default, what it is."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("\nSettings, in the file (TOML) as here, in the environment as GROUNDWIRE_SERVER_PORT:\n")
        for line in _describe_settings(Settings, "", formatter.width):
            formatter.write(f"{line}\n")


def _describe_settings(model: type[BaseModel], prefix: str, width: int) -> list[str]:
    lines: list[str] = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            lines += _describe_settings(kind, f"{prefix}{name}.", width)
            continue
        default = field.get_default(call_default_factory=True)
        shown = _toml(default)
        lines.append(f"  {prefix}{name}{f' = {shown}' if shown and name != 'secret' else ''}")
        lines += textwrap.wrap(field.description or "", width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return lines


def _toml(value: object) -> str:
    """A default as the settings file has it; empty when it has none."""
    if value is None:
        return ""
    return json.dumps(value if isinstance(value, bool | int | float | tuple) else str(value), ensure_ascii=False)


@click.command(name="serve", cls=_WithSettings)
@click.option("--host", type=WORDS, metavar="HOST", help="Address to listen on. [127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one. [50051]")
@click.option("--workers", type=click.IntRange(1, 64), help="Processes that answer reads, beside one that writes. [1]")
@click.option("--lexical", is_flag=True, help="Without an embedding model: BM25 only.")
@click.option("--models", type=click.Path(file_okay=False), help="Folder of prepared models.")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="Least level that is written. [info]"
)
@own_place_options
@click.pass_obj
def command(
    session: Session,
    host: str | None,
    port: int | None,
    workers: int | None,
    lexical: bool,
    models: str | None,
    log_level: str | None,
) -> int | None:
    """Answer agents until SIGTERM or Ctrl-C.

    \b
    groundwire serve
    groundwire serve --data /srv/groundwire --port 50051
    groundwire serve --workers 4

    Every other setting comes from the settings file or from GROUNDWIRE_* in the environment.
    """
    if session.address is not None:
        raise click.UsageError("--address names a server to speak to; this one listens on --host and --port.")
    if session.shows_something:
        raise click.UsageError("A server has its certificate from tls.cert and tls.key; --help shows all settings.")
    settings = session.settings(
        server__host=host,
        server__port=port,
        server__workers=workers,
        embedding__backend="none" if lexical else None,
        models=models,
        log__level=log_level,
    )
    return INTERRUPTED if _serve(settings) is signal.SIGINT else None


def _serve(settings: Settings) -> signal.Signals:
    if settings.server.workers > 1:  # what the processes need is loaded by them
        from groundwire_server.supervision import supervise

        return supervise(settings, _say, note)
    from groundwire_server.rpc import serve
    from groundwire_server.rpc.notes import start_notes

    for line in start_notes(settings):
        note(line)
    return serve(settings)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
