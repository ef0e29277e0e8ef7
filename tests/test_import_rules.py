"""Who may know whom: read from the imports of the server, and held."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).parent.parent / "server"
PACKAGE = "groundwire_server"

# From left to right: a room may know the rooms of the lines above its own, and itself. Nothing looks right or sideways.
LEVELS = [
    {"errors", "conformance"},
    {"evidence", "kernels"},
    {"text", "settings", "llm"},
    {"glossary", "chunking", "readers", "security"},
    {"store", "guard"},
    {"lexical", "dense", "adjacency", "supervision"},
    {"library", "rerank", "query"},
    {"narrative", "metric", "citation", "jobs", "relations"},
    {"graph"},
    {"router", "ingest"},
    {"engine"},
    {"rpc"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
# Foreign packages that only these rooms may import.
ONLY = {
    "grpc": {"rpc"},
    "google": {"rpc"},
    "grpc_health": {"rpc"},
    "grpc_reflection": {"rpc"},
    "groundwire.v1": {"rpc"},
    "groundwire": {"rpc", "cli"},
    "sqlite3": {"store"},
    "click": {"cli"},
    "httpx": {"llm"},
    "opentelemetry": {"rpc"},
    "prometheus_client": {"rpc"},
}
# Rooms that know less than their place would let them.
NARROWER = {
    "security": {"errors", "evidence", "text"},
    "settings": {"errors", "evidence"},
    "llm": {"errors", "conformance", "evidence"},
    "supervision": {"errors", "settings", "store"},
}


def _imports(path: Path, module: str) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that a file imports, wherever in it."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            origin = ".".join(part for part in (base, node.module or "") if part)
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)


def faults(server: Path) -> list[str]:
    """Each import that the rules do not allow, as file:line and why."""
    found: list[str] = []
    for path in sorted((server / PACKAGE).rglob("*.py")):
        inner = path.relative_to(server / PACKAGE).with_suffix("").parts
        room = "" if inner == ("__init__",) else inner[0]
        module = ".".join((PACKAGE, *(part for part in inner if part != "__init__")))
        place = path.relative_to(server).as_posix()
        if room and room not in LEVEL:
            found.append(f"{place}: no room is called {room}")
            continue
        for line, name in _imports(path, module):
            why = _fault(room, name)
            if why:
                found.append(f"{place}:{line}: {why}")
    return found


def _fault(room: str, name: str) -> str:
    top, _, rest = name.partition(".")
    if top == PACKAGE:
        other = rest.partition(".")[0]
        if other.startswith("__") or other in ("", room):
            return ""
        if other not in LEVEL:
            return f"no room is called {other}"
        if not room:
            return f"the package itself imports {other}"
        known = NARROWER.get(room)
        allowed = other in known if known is not None else LEVEL[other] < LEVEL[room]
        return "" if allowed else f"{room} may not know {other}"
    for foreign in sorted(ONLY, key=len, reverse=True):
        if name == foreign or name.startswith(f"{foreign}."):
            allowed_rooms = ONLY[foreign]
            return "" if room in allowed_rooms else f"only {', '.join(sorted(allowed_rooms))} may import {foreign}"
    return ""


def test_the_server_keeps_the_rules() -> None:
    assert faults(SERVER) == []


@pytest.mark.parametrize(
    ("path", "source", "why"),
    [
        ("text/normal.py", "from groundwire_server.store import rows", "text may not know store"),
        ("text/normal.py", "from groundwire_server import store", "text may not know store"),
        ("text/normal.py", "import groundwire_server.engine", "text may not know engine"),
        ("text/normal.py", "from ..rpc import codec", "text may not know rpc"),
        ("text/__init__.py", "from ..rpc import codec", "text may not know rpc"),
        ("metric/query.py", "def f():\n    from groundwire_server.narrative import x", "metric may not know narrative"),
        ("security/gate.py", "from groundwire_server.settings import Settings", "security may not know settings"),
        ("narrative/fuse.py", "import grpc.aio", "only rpc may import grpc"),
        ("cli/ask.py", "from groundwire.v1 import stream_pb2", "only rpc may import groundwire.v1"),
        ("engine.py", "from groundwire import Client", "only cli, rpc may import groundwire"),
        ("rpc/codec.py", "import sqlite3", "only store may import sqlite3"),
        ("attic/old.py", "", "no room is called attic"),
        ("engine.py", "from groundwire_server.attic import old", "no room is called attic"),
        ("__init__.py", "from groundwire_server import engine", "the package itself imports engine"),
    ],
)
def test_a_breach_is_seen(tmp_path: Path, path: str, source: str, why: str) -> None:
    file = tmp_path / PACKAGE / path
    file.parent.mkdir(parents=True)
    file.write_text(source, "utf-8")
    (fault,) = faults(tmp_path)
    assert fault.endswith(why)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("narrative/pipeline.py", "from groundwire_server.lexical import LexicalIndex\nfrom . import fuse"),
        ("rpc/server.py", "import grpc\nfrom groundwire.v1 import stream_pb2\nfrom google.rpc import status_pb2"),
        ("cli/ask.py", "from groundwire import Client\nimport click"),
        ("store/sqlite/open.py", "import sqlite3\nfrom groundwire_server import __version__"),
        ("text/__init__.py", "from groundwire_server.text.normal import normalize"),
    ],
)
def test_what_is_allowed_is_let_through(tmp_path: Path, path: str, source: str) -> None:
    file = tmp_path / PACKAGE / path
    file.parent.mkdir(parents=True)
    file.write_text(source, "utf-8")
    assert faults(tmp_path) == []
