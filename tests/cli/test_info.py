"""`groundwire info`."""

from __future__ import annotations

from groundwire_server import __version__
from tests.cli.commands import run, run_on_terminal, server


def test_what_the_server_is() -> None:
    with server() as address:
        ran = run("info")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[:2] == [f"version\t{__version__}", f"address\t{address}"]
    assert "chunker\tparagraph\tactive\t" in lines
    assert any(line.startswith("embedder\t") and "embedding.backend = none" in line for line in lines)
    assert "retrieval.lexical" in lines
    assert "max_top_k\t200" in lines
    assert any(line.startswith("embedding.backend\tnone\t") for line in lines)
    assert "groundwire.v1.NarrativeService/NarrativeRetrieve" in lines


def test_for_programs() -> None:
    (info,) = run("info", "--json").frames
    assert info["server_version"] == __version__
    assert info["limits"]["max_call_duration"] == 60.0
    assert {"kind", "name"} <= info["components"][0].keys()


def test_on_a_terminal_it_has_headings() -> None:
    shown = run_on_terminal("info", NO_COLOR="1", columns=70).out
    for heading in ("Parts", "Features that work", "Limits", "Settings", "Methods that work"):
        assert f"\n\n{heading}\n" in shown
