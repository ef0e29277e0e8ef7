"""Hooks below SQLite: its default VFS with writing or syncing of some files replaced.

SQLite reaches the disk through a table of functions a file (`sqlite3_io_methods`). A file that is of interest gets a
copy of its table with our functions in it; https://sqlite.org/vfs.html describes both structures, which never change.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import os
from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any, Literal

__all__ = ["hook_files"]

Operation = Literal["write", "sync"]
Hook = Callable[[Callable[[], int], Callable[[], int]], int]
"""Gets how to do all of it, and half of it; gives SQLite's result."""

_POINTERS_BY_VERSION = {1: 12, 2: 16, 3: 18}
_OPEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_TYPES: dict[Operation, Any] = {
    "write": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64),
    "sync": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int),
}
_PLACES: dict[Operation, int] = {"write": 2, "sync": 4}
_kept: list[Any] = []  # what SQLite holds pointers to must never be collected


class _Methods(ctypes.Structure):
    """sqlite3_io_methods: a version and functions: close, read, write, truncate, sync ..."""

    _fields_ = [("version", ctypes.c_int), ("functions", ctypes.c_void_p * 18)]


class _File(ctypes.Structure):
    """sqlite3_file."""

    _fields_ = [("methods", ctypes.POINTER(_Methods))]


class _Vfs(ctypes.Structure):
    """sqlite3_vfs, as far as its xOpen."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("open", ctypes.c_void_p),
    ]


def hook_files(operation: Operation, path: str, hook: Hook) -> None:
    """Call the hook in place of an operation on files whose path matches, from the next one on that is opened."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    vfs = library.sqlite3_vfs_find(None)
    original = _OPEN(vfs.contents.open)

    def opened(self: int, name: bytes | None, file: int, flags: int, out_flags: int) -> int:
        result: int = original(self, name, file, flags, out_flags)
        if result == 0 and fnmatch(os.fsdecode(name or b""), path):
            _replace(ctypes.cast(file, ctypes.POINTER(_File)), operation, hook)
        return result

    ours = _OPEN(opened)
    _kept.append(ours)
    vfs.contents.open = ctypes.cast(ours, ctypes.c_void_p).value


def _replace(file: Any, operation: Operation, hook: Hook) -> None:
    theirs = file.contents.methods.contents
    methods = _Methods(version=min(theirs.version, 3))
    for place in range(_POINTERS_BY_VERSION[methods.version]):
        methods.functions[place] = theirs.functions[place]
    kind, place = _TYPES[operation], _PLACES[operation]
    original = kind(theirs.functions[place])

    def ours(handle: int, *arguments: int) -> int:
        def whole() -> int:
            return int(original(handle, *arguments))

        def half() -> int:
            content, size, offset = arguments
            return int(original(handle, content, size // 2, offset))

        return hook(whole, half if operation == "write" else whole)

    function = kind(ours)
    methods.functions[place] = ctypes.cast(function, ctypes.c_void_p).value
    _kept.extend([methods, function])
    file.contents.methods = ctypes.pointer(methods)
