"""Where the results of a measurement go."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

__all__ = ["check_results", "write_results"]


def check_results(*paths: Path | None) -> None:
    """Make sure, before an hour is spent, that the results can be written. Raises ClickException naming the file."""
    for path in paths:
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path.parent):
                pass
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError(13, "")
        except OSError as error:
            raise click.ClickException(f"{path} cannot be written: {os.strerror(error.errno or 0)}") from None
    named = [path.resolve() for path in paths if path is not None]
    if len(named) != len(set(named)):
        raise click.ClickException(f"--run and --json name the same file: {named[0]}")


def write_results(path: Path | None, text: str) -> None:
    """Write a result file, whole or not at all; what is no plain file (/dev/stdout) as it is."""
    if path is None:
        return
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
