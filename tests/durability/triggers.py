"""Kinds of places in the server at which it can be killed; each counts its passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Call", "DatabaseFile", "FileCall", "Statement", "Trigger", "When"]

When = Literal["before", "middle", "after"]
"""Middle: with half of it done, where it can be cut."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the server, "module:qualified.name".

    carries: only passages with a message among the arguments that has this member set.
    """

    target: str
    when: When
    carries: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that begins so. Middle: of many rows at once, when half of them are in."""

    begins: str
    when: When


@dataclass(frozen=True, slots=True)
class FileCall:
    """A function of `os`, or "write" to a file that was opened, on paths that match; a renamed file by its new name."""

    function: Literal["fsync", "ftruncate", "mkdir", "pwrite", "replace", "unlink", "write"]
    path: str
    when: When


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """What SQLite itself does to its files, below Python: in the midst of a commit or a checkpoint.

    checkpoint_pages: have a checkpoint each time that the log has so many pages; 0: as often as the server wants.
    """

    function: Literal["sync", "write"]
    path: str
    when: When
    checkpoint_pages: int = 0


Trigger = Call | Statement | FileCall | DatabaseFile
