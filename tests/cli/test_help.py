"""What the command says about itself, and about words that it does not know."""

from __future__ import annotations

import re
import tomllib

import click
import pytest

from groundwire_server import __version__
from groundwire_server.cli.app import app
from groundwire_server.cli.ending import BROKEN_PIPE, DONE, FAILED, SOME_REFUSED, USAGE
from groundwire_server.cli.interrupt import INTERRUPTED
from groundwire_server.settings import Settings, setting_names
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


def _named(words: tuple[str, ...]) -> click.Command:
    command: click.Command = app
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


def _is_group(words: tuple[str, ...]) -> bool:
    return isinstance(_named(words), click.Group)


def test_the_help_names_every_command_and_every_exit_code() -> None:
    ran = run("--help")
    assert ran.code == 0
    sections = ran.out.partition("Put something in:")[2].partition("Everyday tasks:")[0]
    names = [line.split()[0] for line in sections.splitlines() if line.startswith("  ")]
    assert names == list(dict.fromkeys(words[0] for words in _every_command(app)))
    assert names[:2] == ["models", "ingest"]
    codes = re.findall(r"^ +(\d+)  \w", ran.out.partition("Exit codes:")[2], re.MULTILINE)
    assert [int(code) for code in codes] == [DONE, FAILED, USAGE, SOME_REFUSED, INTERRUPTED, BROKEN_PIPE]


@pytest.mark.parametrize("words", _every_command(app), ids=" ".join)
def test_every_command_explains_itself(words: tuple[str, ...]) -> None:
    ran = run(*words, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: groundwire {' '.join(words)}")
    assert ran.err == ""
    examples = [line for line in ran.out.splitlines() if line.strip().startswith(("groundwire ", 'eval "$(groundwire'))]
    assert any(f"groundwire {' '.join(words)}" in line for line in examples), "its help shows no example of it"


@pytest.mark.parametrize("words", _every_command(app), ids=" ".join)
def test_every_command_prints_json(words: tuple[str, ...]) -> None:
    command = _named(words)
    named = {option for parameter in command.params for option in parameter.opts}
    # A group has none of its own; these print what is no list, or a file of another form.
    others = {("serve",), ("completion",), ("facts", "mapping"), ("relations", "export")}
    if not isinstance(command, click.Group) and words not in others:
        assert "--json" in named


def test_the_help_of_serve_lists_every_setting() -> None:
    listed = re.findall(r"^  ([a-z_]+(?:\.[a-z_]+)?)(?: =.*)?$", run("serve", "--help").out, re.MULTILINE)
    assert sorted(listed) == setting_names()


@pytest.mark.parametrize("words", [(), *filter(_is_group, _every_command(app))], ids=" ".join)
def test_a_group_alone_shows_its_help(words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert (ran.code, ran.out) == (USAGE, "")
    assert ran.err == run(*words, "--help").out


def test_the_version() -> None:
    assert run("--version").out == f"groundwire, version {__version__}\n"


def test_an_unknown_command_is_answered_with_those_there_are() -> None:
    ran = run("frobnicate")
    assert ran.code == USAGE
    assert "ask, retrieve, metric" in ran.complaint
    assert "Did you mean retrieve?" in run("retreive", "x").complaint


def taught(text: str) -> str:
    """The parts of a help text in which examples stand."""
    return text.partition("Options:")[0] + text.partition("Everyday")[2]


def test_the_examples_of_the_help_are_commands_that_there_are() -> None:
    known = {" ".join(words) for words in _every_command(app)}
    groups = {words.rpartition(" ")[0] for words in known}
    texts = [run("--help").out, *(run(*words, "--help").out for words in _every_command(app))]
    for text in texts:
        for named in re.findall(
            r"groundwire((?: [a-z]+)+)", text.partition("Options:")[0] + text.partition("Everyday")[2]
        ):
            words = named.split()
            found = max((size for size in (1, 2) if " ".join(words[:size]) in known), default=0)
            assert found, f"groundwire{named} is no command"
            assert " ".join(words[:found]) not in groups or found == 2 or len(words) == 1, f"groundwire{named}"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_help_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in _every_command(app):
        assert run(*words, "--help").code == 0


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
        (("documents", "show"), "Missing argument 'DOCUMENT'"),
        (("documents", "show", "a", "--revision", "0"), "0 is not in the range"),
        (("documents", "remove", "a"), "There are: list, show, history, diff, withdraw, purge."),
        (("trace", "closure", "Acme"), "Missing option '--relation'"),
        (("trace", "around", "Acme", "--direction", "up"), "'up' is not one of 'out', 'in', 'both'"),
        (("jobs", "list", "--state", "sleeping"), "'sleeping' is not one of"),
        (("completion", "csh"), "'csh' is not one of 'bash', 'zsh', 'fish'"),
        (("why", "words"), "Missing argument 'DOCUMENT'"),
        (("tools", "--form", "yaml"), "'yaml' is not one of"),
    ],
)
def test_a_command_that_is_not_written_like_that(words: tuple[str, ...], why: str) -> None:
    ran = run(*words)
    assert ran.code == USAGE
    assert why in ran.complaint
    assert "--help` shows how." in ran.complaint
    assert ran.out == ""


def test_the_settings_of_the_help_are_a_settings_file() -> None:
    said = run("serve", "--help").out.partition("Settings, in the file (TOML)")[2]
    lines = re.findall(r"^  (\w[\w.]* = .*)$", said, re.MULTILINE)
    told = tomllib.loads("\n".join(lines))
    assert Settings.model_validate(told) == Settings()
