"""Both clients offer the same, under the same names, described in the same words."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import groundwire
from groundwire import AsyncClient, AsyncIngestStream, AsyncItems, AsyncStream, Client, IngestStream, Items, Stream

ROOT = Path(__file__).parents[2]
PAIRS = [(Client, AsyncClient), (Stream, AsyncStream), (Items, AsyncItems), (IngestStream, AsyncIngestStream)]
# What grpc wants to be awaited by the one and not by the other.
AWAITED = {"__enter__": "__aenter__", "__exit__": "__aexit__", "__iter__": "__aiter__", "__next__": "__anext__"}


def _methods(cls: type) -> dict[str, Any]:
    members = inspect.getmembers(cls, inspect.isfunction)
    return {name: value for name, value in members if not name.startswith("_") or name in (*AWAITED, *AWAITED.values())}


@pytest.mark.parametrize(("sync", "with_await"), PAIRS)
def test_the_same_methods(sync: type, with_await: type) -> None:
    assert {AWAITED.get(name, name) for name in _methods(sync)} == set(_methods(with_await))


@pytest.mark.parametrize("name", [*_methods(Client), "__init__"])
def test_the_same_parameters_and_description(name: str) -> None:
    ours, theirs = getattr(Client, name), getattr(AsyncClient, AWAITED.get(name, name))
    mine, other = (list(inspect.signature(each).parameters.values()) for each in (ours, theirs))
    assert [(each.name, each.kind, each.default) for each in mine] == [
        (each.name, each.kind, each.default) for each in other
    ]
    for one, two in zip(mine, other, strict=True):
        assert two.annotation in (one.annotation, f"{one.annotation} | Async{one.annotation}")
    assert ours.__doc__ == theirs.__doc__


def _answer(method: Any) -> str:
    returns = str(inspect.signature(method).return_annotation)
    return returns if inspect.iscoroutinefunction(method) else returns.replace("Async", "")


@pytest.mark.parametrize("name", [name for name in _methods(Client) if not name.startswith("_")])
def test_the_same_answer_awaited_or_streamed(name: str) -> None:
    ours, theirs = getattr(Client, name), getattr(AsyncClient, name)
    assert _answer(theirs) == str(inspect.signature(ours).return_annotation)
    assert inspect.iscoroutinefunction(theirs) is not _answer(ours).startswith(
        ("Stream", "Items", "Iterator", "IngestStream")
    )


def test_the_async_methods_are_made_from_the_sync_ones() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "async_client.py"), "check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_messages_alone_do_not_load_the_client() -> None:
    script = (
        "import sys, groundwire.v1.stream_pb2\n"
        "print(sorted(name for name in sys.modules if name.startswith('groundwire.') and '.v1' not in name))\n"
        "print('grpc' in sys.modules)\n"
        "import groundwire\n"
        "print(groundwire.Client.__name__, dir(groundwire).count('AsyncClient'))\n"
    )
    folder = str(ROOT / "clients" / "python")
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PYTHONPATH": folder}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "False", "Client 1"]


def test_a_name_that_is_not_offered() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Clint'"):
        _ = groundwire.Clint  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        _ = groundwire._nothing  # type: ignore[attr-defined]
