"""Files that a command is given."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["read_text"]


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without a byte order mark. Raises ClickException that names the file."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.ClickException(f"{path}: it is no UTF-8 text") from None
