"""docs/models.md: its settings are those that there are, its files are read, its snippet runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundwire_server.engine.model import model_config
from groundwire_server.llm import make_provider
from groundwire_server.llm.http_provider import MAX_REPLY_BYTES
from groundwire_server.llm.retry import RETRIED, RetryPolicy
from groundwire_server.settings import load_settings, setting_names
from tests.docs.pages import block, blocks

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def test_every_setting_is_told_of_with_its_default() -> None:
    table = PAGE.split("\n\n")[2]
    told = re.findall(r"`(llm\.\w+)`", table.replace("llm.base_url` alone", ""))
    assert sorted(set(told)) == [name for name in setting_names() if name.startswith("llm.")]
    defaults = {item.name: item.value for item in load_settings(environ={}).in_force()}
    for name, shown in re.findall(r"^\| `(llm\.\w+)` \| `?([\w.]+)`? \|", table, re.MULTILINE):
        assert defaults[name] in (shown, f"{shown}.0"), name


@pytest.mark.parametrize("text", blocks(PAGE, "toml"))
def test_the_files_are_read_and_make_a_provider(tmp_path: Path, text: str) -> None:
    file = tmp_path / "groundwire.toml"
    file.write_text(text, "utf-8")
    settings = load_settings(config=file, environ={})
    made = make_provider(model_config(settings.llm), {"OPENAI_API_KEY": "k", "TEAM_KEY": "k"})
    assert made is not None
    assert made.model == settings.llm.model
    made.close()


def test_the_snippet_works() -> None:
    code = block(PAGE, "python")
    exec(code, {})


def test_tries_are_those_of_the_code() -> None:
    (statuses,) = re.findall(r"^\| ([\d, ]+); no connection", PAGE, re.MULTILINE)
    assert {int(status) for status in statuses.split(",")} == RETRIED
    assert f"over {MAX_REPLY_BYTES >> 20} MiB" in PAGE
    policy = RetryPolicy()
    assert f"after {policy.first_seconds} s, 1 s, 2 s ... up to {policy.most_seconds:.0f} s" in PAGE
