"""docs/filters.md, corrective.md and presets.md: names and bounds are the code's, commands are read, snippets run."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from groundwire_server.evidence import RefusalReason
from groundwire_server.library import LibraryConfig
from groundwire_server.llm import load_prompt
from groundwire_server.narrative import PRESETS, RetrievalMode, RetrievalTuning, hints, mode_of_preset, with_preset
from groundwire_server.query.filters import FILTER_EXTRACTORS, by_glossary, by_model
from groundwire_server.query.grades import GRADED_PASSAGES, GRADERS, by_words
from groundwire_server.query.grades import by_model as judged_by_model
from groundwire_server.settings import RetrievalSettings
from tests.docs.pages import block, read_command

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("filters", "corrective", "presets")}


def test_filters() -> None:
    page = PAGES["filters"]
    told = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(told) == sorted(["filter_extractor", *FILTER_EXTRACTORS, "none"])
    assert LibraryConfig().filter_extractor == RetrievalSettings().filter_extractor == "none"
    assert f"up to {by_model._MOST_ATTRIBUTES} attributes" in page
    assert f"up to {by_model._MOST_VALUES} values each" in page
    assert f"more than {hints._MOST_VALUES} different values" in page
    assert by_glossary._CARRIED == by_glossary._NAMES == 1 / 2
    for name in by_glossary._PERIOD_NAMES | by_glossary._ENTITY_NAMES:
        assert f"`{name}`" in page
    assert load_prompt("filters", "en").purpose in page


def test_corrective() -> None:
    page = PAGES["corrective"]
    assert set(GRADERS) == {"words", "llm"}
    assert not LibraryConfig().corrective
    assert (LibraryConfig().corrective_judge, RetrievalSettings().corrective) == ("words", "none")
    assert f"the best {GRADED_PASSAGES} passages" in page
    assert f"A share of {by_words._ENOUGH:.2f} is enough, of {by_words._ENOUGH_KANA:.2f} in".replace("0.", ".") in page
    assert f"{judged_by_model._LONGEST_PASSAGE} characters each" in page
    for reason in (RefusalReason.WEAK_CONTEXT, RefusalReason.NOTHING_FOUND):
        assert f"`{reason.name}`" in page


def test_presets() -> None:
    head, _, *rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in PAGES["presets"].splitlines()
        if line.startswith("|")
    ]
    names = [name.strip("|` ") for name in head]
    assert sorted(names) == sorted(PRESETS)
    said = {re.sub(r"`(\w+)`.*", r"\1", row[0]): dict(zip(names, row[1:], strict=True)) for row in rows}
    shown = {True: "on", False: "off", None: "the library's", "": "the library's"}
    stages = {each.name for each in fields(RetrievalTuning)}
    for name in PRESETS:
        tuning = with_preset(RetrievalTuning(preset=name))
        set_here = {stage for stage in stages if getattr(tuning, stage) != getattr(RetrievalTuning(), stage)}
        assert set_here <= said.keys()
        for stage in said.keys() & stages:
            value = getattr(tuning, stage)
            assert said[stage][name] == shown.get(value, value), (stage, name)
        mode = mode_of_preset(name, RetrievalMode.HYBRID)
        told = said["legs, where the call names no mode"][name]
        assert told == ("words alone" if mode is RetrievalMode.LEXICAL else "the server's")


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_are_read(name: str) -> None:
    for line in block(PAGES[name], "console").splitlines():
        read_command(line)


@pytest.mark.parametrize("name", ["filters", "corrective"])
def test_the_snippets_work(name: str) -> None:
    code = block(PAGES[name], "python")
    exec(code, {})
