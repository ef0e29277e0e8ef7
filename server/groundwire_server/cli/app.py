"""The command and its subcommands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

import click

from groundwire_server import __version__
from groundwire_server.cli.ending import EXIT_CODES, OutputClosed, end
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import server_options
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import take_any_text

__all__ = ["app"]


_TASKS = """\
Everyday tasks:
  why a passage was not found   groundwire why "the question" reports/2024.md
  what is stored                groundwire documents list
  what changed in a document    groundwire documents history DOC; groundwire documents diff DOC
  take a document out           groundwire documents withdraw DOC
  what does not work, and why   groundwire doctor
  move the data folder          stop the server, mv groundwire-data /new/place, then --data /new/place,
                                GROUNDWIRE_DATA=/new/place or `data = "/new/place"` in groundwire.toml
  back up                       stop the server and copy the data folder

Every command explains itself with --help and prints JSON lines with --json. In a pipe a table is one line a row with
tabs between the cells. NO_COLOR switches colours off."""


class Commands(CommandGroup):
    """Loads a command when it is used, and brings every one to an end of one line and an exit code."""

    # In the order of a new user's days; the heading goes over them in the help.
    sections: ClassVar = {
        "Put something in": ("models", "ingest", "facts", "glossary"),
        "Ask": ("ask", "retrieve", "metric", "trace", "why", "serve"),
        "Look after it": ("libraries", "documents", "relations", "jobs", "doctor", "info"),
        "Connect and measure": ("tools", "eval", "completion"),
    }
    modules: ClassVar = {name: name for names in sections.values() for name in names}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        from importlib import import_module

        command: click.Command = import_module(f"groundwire_server.cli.{self.modules[cmd_name]}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise OutputClosed from None  # click would take the bare one for success of a kind of its own

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run, and leave with an exit code."""
        take_any_text()
        arguments = {**extra, "standalone_mode": False}
        sys.exit(end(lambda: super(Commands, self).main(args, prog_name or "groundwire", **arguments)))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = formatter.width - max(map(len, self.modules)) - 6
        for heading, names in self.sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl([(name, each.get_short_help_str(room)) for name, each in commands if each])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{_TASKS}\n\n{EXIT_CODES}\n")


@click.group(
    name="groundwire", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="groundwire")
@server_options
@click.pass_context
def app(ctx: click.Context) -> None:
    """Typed, cited evidence for agents, over gRPC.

    \b
    groundwire models prepare            once: the embedding model for hybrid search
    groundwire ingest ./docs             documents in
    groundwire facts load figures.csv    figures in
    groundwire ask "Why did it happen?"  ask as an agent would
    groundwire serve                     answer agents on 127.0.0.1:50051
    groundwire doctor                    when something is not as it should be

    Commands that read or write find the server by themselves: the one at --address, else the one that has the data
    folder open, else one that they start for themselves and stop when they are done.
    """
    ctx.ensure_object(Session)
