"""Groups of commands that name what there is."""

from __future__ import annotations

from difflib import get_close_matches

import click

from groundwire_server.cli.ending import USAGE

__all__ = ["CommandGroup"]


class CommandGroup(click.Group):
    """A group that lists its commands in the order of a first use, and answers an unknown name with those it has."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they were written down."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words after the group. Without any, its help is shown on standard error, and it ends with USAGE."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises UsageError with the valid names."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            known = self.list_commands(ctx)
            near = get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else f" There are: {', '.join(known)}."
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)
