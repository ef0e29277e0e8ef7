"""`groundwire completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from groundwire_server.cli.streams import say_exactly

__all__ = ["command"]


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    \b
    eval "$(groundwire completion bash)"                                  # in ~/.bashrc
    eval "$(groundwire completion zsh)"                                   # in ~/.zshrc
    groundwire completion fish > ~/.config/fish/completions/groundwire.fish
    """
    root = ctx.find_root()
    name = root.info_name or "groundwire"
    completion = get_completion_class(shell)
    assert completion is not None  # click has these three
    variable = f"_{name.replace('-', '_').replace('.', '_')}_COMPLETE".upper()
    script = completion(root.command, {}, name, variable)
    say_exactly(script.source_template % script.source_vars())
