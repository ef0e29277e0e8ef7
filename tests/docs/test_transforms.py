"""docs/transforms.md: its names and bounds are those of the code, its commands are read, its snippet runs."""

from __future__ import annotations

import re
from pathlib import Path

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
from tests.docs.pages import block, read_command

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "transforms.md").read_text(encoding="utf-8")


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
    lines = block(PAGE, "console").splitlines()
    assert len(lines) == 2
    for line in lines:
        read_command(line)


def test_the_snippet_works() -> None:
    code = block(PAGE, "python")
    exec(code, {})
