"""docs/explain.md: its names are those of the contract, its commands are read, its snippet runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from groundwire import Client
from groundwire.v1 import stream_pb2
from groundwire_server.cli.app import app
from groundwire_server.evidence import MAX_TRACE_ENTRIES, ExplainLevel, LossReason
from tests.docs.pages import block
from tests.rpc.house import house

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")


def test_names_and_bounds_are_those_of_the_contract() -> None:
    levels, reasons = PAGE.split("## The reasons")
    assert re.findall(r"^\| `([A-Z]+)`", levels, re.MULTILINE) == [level.name for level in ExplainLevel]
    assert sorted(re.findall(r"^\| `([A-Z_]+)` \|", reasons, re.MULTILINE)) == sorted(LossReason.__members__)
    assert f"at most {MAX_TRACE_ENTRIES:,}" in PAGE
    fields = {*stream_pb2.Explanation.DESCRIPTOR.fields_by_name, *stream_pb2.TraceEntry.DESCRIPTOR.fields_by_name}
    assert {name for name in fields - {"library_id"} if f"`{name}`" not in PAGE} == set()


def test_the_commands_are_read() -> None:
    for line in block(PAGE, "console").splitlines():
        program, name, *words = shlex.split(line.removeprefix("$ "))
        assert program == "groundwire"
        command = app.get_command(click.Context(app, info_name=program), name)
        assert command is not None
        assert command.make_context(name, words).params["explain"] == "trace"


def test_the_snippet_runs(tmp_path: Path) -> None:
    snippet = block(PAGE, "python")
    said: list[tuple[object, ...]] = []
    with house(tmp_path / "data") as here:
        here.store({f"{n}.md": f"energy {n}" for n in range(8)} | {"other.md": "rye"})
        with Client(here.server.address) as client:
            exec(snippet, {"client": client, "print": lambda *words: said.append(words)})
    assert [words[:3] for words in said] == [
        ("lexical", "DEPTH", 7),
        ("lexical", "DEPTH", 8),
        ("lexical", "NO_MATCH", 0),
        ("exit", "TOP_K", 6),
    ]
