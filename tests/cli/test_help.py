"""What the command says about itself, and about words that it does not know."""

from __future__ import annotations

import re

import click
import pytest

from groundwire_server import __version__
from groundwire_server.cli.app import app
from groundwire_server.cli.ending import BROKEN_PIPE, DONE, FAILED, SOME_REFUSED, USAGE
from groundwire_server.cli.interrupt import INTERRUPTED
from groundwire_server.settings import setting_names
from tests.cli.commands import run


def _every_command(group: click.Group, words: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append((*words, name))
        if isinstance(command, click.Group):
            found += _every_command(command, (*words, name))
    return found


def test_the_help_names_every_command_and_every_exit_code() -> None:
    ran = run("--help")
    assert ran.code == 0
    names = {line.split()[0] for line in ran.out.partition("Commands:")[2].splitlines() if line.startswith("  ")}
    assert {words[0] for words in _every_command(app)} <= names
    codes = re.findall(r"^ +(\d+)  \w", ran.out.partition("Exit codes:")[2], re.MULTILINE)
    assert [int(code) for code in codes] == [DONE, FAILED, USAGE, SOME_REFUSED, INTERRUPTED, BROKEN_PIPE]


@pytest.mark.parametrize("words", _every_command(app), ids=" ".join)
def test_every_command_explains_itself(words: tuple[str, ...]) -> None:
    ran = run(*words, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: groundwire {' '.join(words)}")
    assert ran.err == ""


def test_the_help_of_serve_lists_every_setting() -> None:
    listed = re.findall(r"^  ([a-z_]+(?:\.[a-z_]+)?)(?: =.*)?$", run("serve", "--help").out, re.MULTILINE)
    assert sorted(listed) == setting_names()


def test_the_version() -> None:
    assert run("--version").out == f"groundwire, version {__version__}\n"


def test_an_unknown_command_is_answered_with_those_there_are() -> None:
    ran = run("frobnicate")
    assert ran.code == USAGE
    assert "retrieve, serve" in ran.complaint
    assert "Did you mean retrieve?" in run("retreive", "x").complaint


@pytest.mark.parametrize("kind", ["routes", "graph"])
def test_an_evaluation_that_is_not_built_is_no_command(kind: str) -> None:
    ran = run("eval", kind, ".")
    assert ran.code == USAGE
    assert "There are: metric, retrieval." in ran.complaint


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("retrieve",), "Missing argument 'QUERY'"),
        (("metric", "a", "b"), "Missing argument 'PERIOD'"),
        (("ingest",), "Missing argument 'PATHS...'"),
        (("ingest", "nowhere"), "'nowhere' does not exist"),
        (("retrieve", "x", "--mode", "fuzzy"), "'fuzzy' is not one of 'auto', 'hybrid', 'vector', 'lexical'"),
        (("retrieve", "x", "--top-k", "0"), "0 is not in the range"),
        (("retrieve", "x", "--top-k", "99999999999"), "99999999999 is not in the range"),
        (("retrieve", "x", "--top-k", "many"), "'many' is not a valid integer"),
        (("serve", "--port", "99999"), "99999 is not in the range"),
        (("serve", "--log-level", "loud"), "'loud' is not one of"),
        (("--config", "nowhere.toml", "retrieve", "x"), "'nowhere.toml' does not exist"),
        (("retrieve", "x", "--nonsense"), "No such option"),
        (("eval", "metric", "."), "Missing option '--by'"),
        (("retrieve", "\udcff\udcfe"), "is no UTF-8"),
    ],
)
def test_a_command_that_is_not_written_like_that(words: tuple[str, ...], why: str) -> None:
    ran = run(*words)
    assert ran.code == USAGE
    assert why in ran.complaint
    assert "--help` shows how." in ran.complaint
    assert ran.out == ""
