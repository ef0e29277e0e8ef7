"""A real package with library routers that fail in every way, installed for the length of a block."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from groundwire_server.narrative import ROUTER_GROUP, library_router

__all__ = ["FAULTY_ROUTERS", "installed_routers"]

_MODULE = "groundwire_test_routers"
_SOURCE = '''
"""Library routers, good and bad."""

import itertools
import threading

GATE = threading.Event()  # what hangs waits for it


class Last:
    """The last library, for a reason."""

    def route(self, question, descriptions):
        last = max(descriptions)
        return {last: f"it is the last one\\nof {len(descriptions)}\\x00 " + "!" * 500}


class Raises:
    def route(self, question, descriptions):
        raise RuntimeError(f"secret about {question}")


class Exits:
    def route(self, question, descriptions):
        raise SystemExit(f"secret about {question}")


class Hangs:
    def route(self, question, descriptions):
        GATE.wait()
        return list(descriptions)


class HangsWhenBuilt:
    def __init__(self):
        GATE.wait()


class Nothing:
    def route(self, question, descriptions):
        return []


class NoList:
    def route(self, question, descriptions):
        return 42


class Text:
    def route(self, question, descriptions):
        return "al"


class Numbers:
    def route(self, question, descriptions):
        return [1, 2, 3]


class Endless:
    def route(self, question, descriptions):
        return itertools.repeat(next(iter(descriptions)))


class Unknown:
    def route(self, question, descriptions):
        return [*descriptions, "../../etc/passwd"]


class Meddles:
    """Tries to change what it was given, for those who come after it."""

    def route(self, question, descriptions):
        descriptions.clear()
        return []


class NotBuilt:
    def __init__(self):
        raise ImportError("secret of the package")


NO_ROUTER_AT_ALL = None
'''
FAULTY_ROUTERS = {
    "raises": "Raises",
    "exits": "Exits",
    "hangs": "Hangs",
    "hangs-when-built": "HangsWhenBuilt",
    "nothing": "Nothing",
    "no-list": "NoList",
    "text": "Text",
    "numbers": "Numbers",
    "unknown": "Unknown",
    "meddles": "Meddles",
    "not-built": "NotBuilt",
    "no-router": "NO_ROUTER_AT_ALL",
    "missing": "IsNotThere",
}


@contextmanager
def installed_routers(folder: Path) -> Iterator[ModuleType]:
    """The package, found by its metadata as any other; at the end what hangs is let go."""
    (folder / f"{_MODULE}.py").write_text(_SOURCE, "utf-8")
    metadata = folder / f"{_MODULE}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {_MODULE}\nVersion: 1.0\n", "utf-8")
    # Two that are left out: a name that is taken, and one that no request could say.
    named = {**FAULTY_ROUTERS, "last": "Last", "endless": "Endless", "keyword": "Raises", "no name": "Raises"}
    lines = [f"{name} = {_MODULE}:{attribute}" for name, attribute in named.items()]
    (metadata / "entry_points.txt").write_text("\n".join((f"[{ROUTER_GROUP}]", *lines, "")), "utf-8")
    sys.path.insert(0, str(folder))
    library_router.forget_packages()
    try:
        module = importlib.import_module(_MODULE)
        try:
            yield module
        finally:
            module.GATE.set()
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(_MODULE, None)
        importlib.invalidate_caches()
        library_router.forget_packages()
