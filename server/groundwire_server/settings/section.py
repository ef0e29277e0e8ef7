"""What the sections of the tree are made of: their base, and values that are written in more ways than one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

__all__ = ["SWITCH_OFF", "FilePath", "Folder", "Section", "split", "word"]

SWITCH_OFF = {"": "none", "off": "none"}


class Section(BaseModel):
    """A group of settings: no others than are named, and none changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def word(words: Mapping[str, str]) -> BeforeValidator:
    """Case and older names of one value are folded before it is checked."""

    def fold(value: object) -> object:
        if not isinstance(value, str):
            return value
        name = value.strip().casefold()
        return words.get(name, name)

    return BeforeValidator(fold)


def split(value: object) -> object:
    """A list in the environment is written with commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _folder(value: object) -> object:
    if isinstance(value, str | Path):
        if not str(value) or "\0" in str(value) or value == Path():
            raise ValueError("no folder")
        return Path(os.path.expanduser(value))
    return value


Folder = Annotated[Path, BeforeValidator(_folder)]
FilePath = Annotated[Path, BeforeValidator(_folder)]
