"""The command and its subcommands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import click

from groundwire import GroundwireError as ClientError
from groundwire_server import __version__
from groundwire_server.cli.session import Session
from groundwire_server.errors import GroundwireError

__all__ = ["app"]


class Commands(click.Group):
    """Loads a command when it is used, and ends every known error with one clear line and exit code 1."""

    modules: ClassVar = {
        "ask": "ask",
        "eval": "eval",
        "facts": "facts",
        "glossary": "glossary",
        "ingest": "ingest",
        "metric": "metric",
        "models": "models",
        "retrieve": "retrieve",
        "serve": "serve",
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        from importlib import import_module

        command: click.Command = import_module(f"groundwire_server.cli.{self.modules[cmd_name]}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (GroundwireError, ClientError) as error:
            raise click.ClickException(str(error)) from None
        except BrokenPipeError:
            # The reader of our output went away (`| head`): nothing is wrong.
            sys.stderr.close()
            ctx.exit(0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="groundwire")
@click.option("--config", type=click.Path(dir_okay=False, path_type=Path), help="Settings file (TOML).")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="Data folder. [./groundwire-data]")
@click.option("--address", envvar="GROUNDWIRE_ADDRESS", help="Server to speak to, host:port.")
@click.pass_context
def app(ctx: click.Context, config: Path | None, data: Path | None, address: str | None) -> None:
    """Typed, cited evidence for agents, over gRPC.

    \b
    groundwire models prepare            once: the embedding model for hybrid search
    groundwire ingest ./docs             documents in
    groundwire facts load figures.csv    figures in
    groundwire serve                     answer agents on 127.0.0.1:50051
    groundwire ask "Why did it happen?"  ask as an agent would

    Commands that read or write find the server by themselves: the one at --address, else the one that has the data
    folder open, else one that they start for themselves and stop when they are done.
    """
    ctx.obj = Session(config=config, data=data, address=address)
