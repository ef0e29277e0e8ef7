"""Where prepared models live (formats.md, Places)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["models_folder", "models_folders"]

SETTING = "GROUNDWIRE_MODELS"


def models_folders(configured: Path | None = None, environ: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """Folders that are searched for prepared models, in order: the configured one, then the user's cache.

    `configured` wins over `GROUNDWIRE_MODELS`. The cache is `$XDG_CACHE_HOME/groundwire/models`, by default
    `~/.cache/groundwire/models`; it is left out where the user has no home.
    """
    environ = os.environ if environ is None else environ
    named = configured or (Path(environ[SETTING]) if environ.get(SETTING) else None)
    folders = [named.expanduser().absolute()] if named is not None else []
    cache = _user_cache(environ)
    if cache is not None:
        folders.append(cache / "groundwire" / "models")
    return tuple(dict.fromkeys(folders))


def models_folder(configured: Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """The folder that newly prepared models go to: the first of `models_folders`.

    Raises:
        FailedPrecondition: NO_MODEL; nothing is configured and the user has no home.
    """
    folders = models_folders(configured, environ)
    if not folders:
        raise FailedPrecondition(
            ErrorReason.NO_MODEL,
            "There is no folder for models: the user has no home folder.",
            hint=f"Set {SETTING} to a folder that can be written.",
        )
    return folders[0]


def _user_cache(environ: Mapping[str, str]) -> Path | None:
    named = environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # the XDG specification says to ignore a relative path
        return Path(named)
    home = environ.get("HOME") or os.path.expanduser("~")
    return Path(home) / ".cache" if os.path.isabs(home) else None
