"""The command and its subcommands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

import click
from click.shell_completion import CompletionItem

from groundwire_server import __version__
from groundwire_server.cli.ending import EXIT_CODES, OutputClosed, end
from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import credential_options, place_options
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

Every command explains itself with --help; all that print what is found or done print JSON lines with --json. In a pipe
a table is one line a row with tabs between the cells. NO_COLOR switches colours off."""


class Commands(CommandGroup):
    """Loads a command when it is used, and brings every one to an end of one line and an exit code."""

    # In the order of a new user's days, with a line each, so that help and completion load no command to tell of it.
    sections: ClassVar[dict[str, dict[str, str]]] = {
        "Put something in": {
            "models": "Fetch and check the embedding model",
            "ingest": "Store documents: files or folders",
            "facts": "Store figures and relations, list figures",
            "glossary": "The names under which figures may be asked for",
        },
        "Ask": {
            "ask": "Ask as an agent would, and get a cited answer",
            "retrieve": "Find the best passages for a query",
            "metric": "Look up a figure by metric, entity, period",
            "trace": "Follow relations, add figures up along them",
            "why": "Why a document was found, or was not",
            "serve": "Answer agents until Ctrl-C",
        },
        "Look after it": {
            "libraries": "List, create, change, rebuild, delete libraries",
            "documents": "List, show, compare, withdraw documents",
            "relations": "List stored relations",
            "jobs": "Follow and cancel work in the background",
            "tokens": "Who may call a server that asks",
            "doctor": "What is active, what is not, why, what to do",
            "info": "Version, parts, features, limits, settings",
        },
        "Connect and measure": {
            "tools": "What an agent can call, for function calling",
            "eval": "Measure quality on questions with known answers",
            "completion": "Completion for bash, zsh, fish",
        },
    }
    lines: ClassVar[dict[str, str]] = {name: line for named in sections.values() for name, line in named.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lines:
            return None
        from importlib import import_module

        command: click.Command = import_module(f"groundwire_server.cli.{cmd_name}").command
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
        for heading, named in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl(list(named.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands that begin so; options of our own where it begins with a hyphen."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=line) for name, line in self.lines.items() if name.startswith(incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{_TASKS}\n\n{EXIT_CODES}\n")


@click.group(
    name="groundwire", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="groundwire")
@place_options
@credential_options(hidden=False)
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
