"""Questions written without sight of the router: whether figures are needed, and which of the three routes.

Each line of rewritten.jsonl is a question of our own in the manner of the sets in `docs/routes.md`, with false friends
among them. Where a rate falls, the test names every question that is missed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.router import RouterLimits, learned_classifier, route
from tests.guard.support import read_cases
from tests.router.rewritten_world import rewritten_world
from tests.router.test_route import CALL

QUESTIONS = list(read_cases(Path(__file__).with_name("rewritten.jsonl")))
LANGUAGES = ("en", "ja", "zh")
LEAST = {"en": (80, 76), "ja": (82, 76), "zh": (81, 75)}
"""Questions of 82 that are right two-way, and three-way."""


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], str]]:
    snapshot = rewritten_world(tmp_path_factory.mktemp("rewritten"))
    limits = RouterLimits(classifier=learned_classifier())
    return [(each, route(each["question"], CALL, [snapshot], limits=limits).route.name.lower()) for each in QUESTIONS]


def test_the_suite_is_as_large_as_promised() -> None:
    count = Counter((each["language"], each["route"]) for each in QUESTIONS)
    for language in LANGUAGES:
        assert sum(count[language, name] for name in ("structured", "narrative", "composite")) >= 80
        assert count[language, "composite"] >= 16
    assert all(each["figures"] == (each["route"] != "narrative") for each in QUESTIONS)
    assert len({each["question"] for each in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_as_many_are_right_as_are_told_of(decided: list[tuple[dict[str, Any], str]], language: str) -> None:
    mine = [(each, found) for each, found in decided if each["language"] == language]
    two = sum((found != "narrative") == each["figures"] for each, found in mine)
    three = sum(found == each["route"] for each, found in mine)
    rates = f"{language}: {len(mine)} questions, two-way {two / len(mine):.3f}, three-way {three / len(mine):.3f}"
    sys.stdout.write(f"{rates}\n")
    assert two >= LEAST[language][0], (rates, list(_missed(mine)))
    assert three >= LEAST[language][1], (rates, list(_missed(mine)))


def test_what_needs_text_too_never_gets_figures_alone(decided: list[tuple[dict[str, Any], str]]) -> None:
    assert not [each["question"] for each, found in decided if each["route"] == "composite" and found != "composite"]


def _missed(mine: list[tuple[dict[str, Any], str]]) -> Iterator[str]:
    for each, found in mine:
        if found != each["route"]:
            yield f"{each['question']} {each['route']}, not {found}"
