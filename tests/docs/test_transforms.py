"""docs/transforms.md: its names and bounds are those of the code, its commands are read, its snippet runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from groundwire_server.cli.app import app
from groundwire_server.library import LibraryConfig
from groundwire_server.llm import load_prompt
from groundwire_server.narrative import RRF_K
from groundwire_server.query import (
    COMPONENT,
    MAX_PASSAGE_CHARS,
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    MAX_REPLY_TOKENS,
    TRANSFORMS,
)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "transforms.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_names_and_bounds_are_those_of_the_code() -> None:
    told = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## What runs")[0], re.MULTILINE)
    assert sorted(told) == sorted(["query_transform", *TRANSFORMS, "none"])
    assert LibraryConfig().query_transform == "none"
    assert f"{MAX_REPLY_TOKENS} tokens of reply, {MAX_QUERIES - 1} queries of\n  {MAX_QUERY_CHARS} code points" in PAGE
    assert f"a passage of {MAX_PASSAGE_CHARS}." in PAGE
    assert f"`k` = {RRF_K}" in PAGE
    assert f"`{COMPONENT}:NAME`" in PAGE
    assert load_prompt("hyde", "en").purpose == "hyde/1"


def test_the_commands_are_read() -> None:
    (block,) = blocks("console")
    lines = [line.removeprefix("$ ") for line in block.splitlines()]
    assert len(lines) == 2
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "groundwire"
        command: click.Command = app
        context = click.Context(app, info_name=program)
        while isinstance(command, click.Group):
            name, command_found, words = command.resolve_command(context, words)
            assert command_found is not None
            command = command_found
            context = click.Context(command, info_name=name, parent=context)
        command.make_context(str(command.name), words, parent=context.parent)


def test_the_snippet_works() -> None:
    (code,) = blocks("python")
    exec(code, {})
