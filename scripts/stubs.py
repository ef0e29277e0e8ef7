"""Make the Python stubs of the contract, or say which of the committed ones are stale.

Runs in `.venv-proto` (see `make proto`). Usage: stubs.py write | check
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
CLIENT = ROOT / "clients" / "python"
PACKAGE = Path("groundwire") / "v1"
PLUGINS = ("protoc-gen-mypy", "protoc-gen-mypy_grpc")
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


def generate(into: Path) -> None:
    """Write all stubs below `into`, as the package `groundwire.v1`."""
    arguments = [
        "protoc",
        f"-I{PROTO}",
        f"-I{Path(grpc_tools.__file__).parent / '_proto'}",
        f"--python_out={into}",
        f"--grpc_python_out={into}",
        *(f"--plugin={plugin}={Path(sys.executable).with_name(plugin)}" for plugin in PLUGINS),
        f"--mypy_out=quiet:{into}",
        f"--mypy_grpc_out=quiet:{into}",
        *sorted(path.relative_to(PROTO).as_posix() for path in PROTO.rglob("*.proto")),
    ]
    if protoc.main(arguments) != 0:
        raise SystemExit("protoc failed")
    for path in sorted((into / PACKAGE).glob("*_pb2_grpc.py")):
        if "class " not in path.read_text("utf-8"):  # the file has no service: nothing but imports
            path.unlink()
            path.with_suffix(".pyi").unlink()


def _stubs(below: Path) -> list[Path]:
    return sorted(path for pattern in GENERATED for path in (below / PACKAGE).glob(pattern))


def write() -> None:
    """Put the stubs in their place and take away those whose proto is gone."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        wanted = {path.relative_to(fresh) for path in _stubs(fresh)}
        for path in _stubs(CLIENT):
            if path.relative_to(CLIENT) not in wanted:
                path.unlink()
        for relative in sorted(wanted):
            (CLIENT / relative).write_bytes((fresh / relative).read_bytes())
    print(f"{len(wanted)} files in clients/python/{PACKAGE}")


def check() -> None:
    """Exit 1 when a committed stub differs from what the contract gives."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        want = {path.relative_to(fresh): path.read_bytes() for path in _stubs(fresh)}
    have = {path.relative_to(CLIENT): path.read_bytes() for path in _stubs(CLIENT)}
    stale = sorted(str(path) for path in want.keys() | have.keys() if want.get(path) != have.get(path))
    if stale:
        raise SystemExit(f"stale, run `make proto`: {', '.join(stale)}")
    print(f"{len(want)} stubs are current")


if __name__ == "__main__":
    commands = {"write": write, "check": check}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        raise SystemExit(__doc__)
    commands[sys.argv[1]]()
