"""What the tests of the pages share: blocks of code, a shell that has the command, commands that are only read."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click

from groundwire_server.cli.app import app

_OURS = ("GROUNDWIRE_", "RAGSPINE_", "OTEL_")


def blocks(text: str, language: str) -> list[str]:
    """The blocks of code of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def block(text: str, language: str) -> str:
    """The one block of code of a page in a language."""
    (found,) = blocks(text, language)
    return found


def run_shell(script: str, folder: Path, *, seconds: float = 200, **environment: str) -> str:
    """What a script prints that has `groundwire`, no embedder, and a folder to itself. It must end well."""
    command = folder / "bin" / "groundwire"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m groundwire_server.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    kept |= {"PATH": f"{command.parent}:{kept['PATH']}", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        ["bash", "-eu"],
        input=script,
        cwd=folder,
        env=kept | {"GROUNDWIRE_EMBEDDING_BACKEND": "none"} | environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


def read_command(line: str) -> None:
    """Have a command line read, and not run. Raises click.UsageError where it cannot be."""
    program, *words = shlex.split(line.removeprefix("$ "))
    assert program == "groundwire"
    command: click.Command = app
    context = click.Context(app, info_name=program)
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        context = click.Context(command, info_name=name, parent=context)
    command.make_context(str(command.name), words, parent=context.parent)
