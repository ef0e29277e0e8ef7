"""The learned weighing of routes: what it sees, what it may not say, and where the rules hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given

from groundwire_server.library import Snapshot
from groundwire_server.router import (
    LearnedClassifier,
    Odds,
    Route,
    RouteDecision,
    RouterLimits,
    learned_classifier,
    route,
    route_model,
)
from groundwire_server.router.features import features_of
from groundwire_server.router.reading import Reading, read_question
from tests.router.test_route import CALL
from tests.router.test_route import test_the_route_of_a_question as by_the_rules
from tests.router.world import make_world
from tests.support.hostile_text import hostile_text
from tests.support.libraries import Doc, make_library

S, N, C = Route.STRUCTURED, Route.NARRATIVE, Route.COMPOSITE


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_world(tmp_path_factory.mktemp("world")).snapshot()


@dataclass(frozen=True)
class Always:
    """Says the same of every question."""

    route: Route
    name: str = "always"

    def classify(self, reading: Reading, by_rules: Route, confidence: float) -> Odds:
        return Odds(*(0.98 if self.route is each else 0.01 for each in (S, N, C)))


def decide(snapshot: Snapshot, question: str, classifier: object = None) -> RouteDecision:
    chosen = classifier or learned_classifier()
    return route(question, CALL, [snapshot], limits=RouterLimits(classifier=chosen))  # type: ignore[arg-type]


SETTLED = next(mark for mark in by_the_rules.pytestmark if mark.name == "parametrize").args[1]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("question", "expected"), SETTLED)
def test_what_the_rules_settle_stays(snapshot: Snapshot, question: str, expected: Route) -> None:
    decision = decide(snapshot, question)
    assert decision.route is expected, decision.reason


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was the percentage change in revenue between 2018 and 2019?", S),
        ("In which year was net sales the highest?", S),
        ("What is the average revenue for the years 2018 and 2019?", S),
        ("What does the company's credit agreement require?", N),
        ("How does the company account for goodwill?", N),
    ],
)
def test_where_the_rules_are_not_sure_it_decides(snapshot: Snapshot, question: str, expected: Route) -> None:
    decision = decide(snapshot, question)
    assert decision.route is expected
    assert "learned: structured 0." in decision.reason
    assert decision == decide(snapshot, question)


@pytest.mark.parametrize(
    ("question", "classifier", "expected"),
    [
        ("What was the revenue of Acme Corp in 2023?", Always(N), S),
        ("What was the revenue of Acme Corp in 2023, and why did it fall?", Always(S), C),
        ("Why did the revenue of Acme Corp fall?", Always(S), C),
        ("アクメの売上高はなぜ減ったのですか", Always(S), C),
        ("What is ROE?", Always(S), N),
        ("什么是营业收入？", Always(C), N),
        ("What was the capital of Yorkland in 1990?", Always(S), N),
        ("How much revenue did Acme Corp have?", Always(N), C),
    ],
)
def test_the_rails_bound_every_classifier(
    snapshot: Snapshot, question: str, classifier: Always, expected: Route
) -> None:
    assert decide(snapshot, question, classifier).route is expected


def test_nothing_is_asked_back_where_no_figure_is_stored(tmp_path: Path) -> None:
    texts = make_library(tmp_path, [Doc("a", "Osaka has 5000 stores.")]).snapshot()
    decision = decide(texts, "How many stores opened between 2018 and 2019?", Always(S))
    assert (decision.route, decision.clarification) == (N, None)


def test_a_greeting_is_asked_back_by_all(snapshot: Snapshot) -> None:
    assert decide(snapshot, "Hello!", Always(S)).clarification is not None


def test_no_name_is_a_feature(snapshot: Snapshot) -> None:
    question = "What was the revenue of Acme Corp beside Zorgtech in 2023 and アクメ?"
    found = features_of(read_question(question, CALL, [snapshot]), N, 0.5)
    said = " ".join(found).casefold()
    assert not any(name in said for name in ("acme", "zorg", "2023", "アクメ"))
    assert "m:revenue" not in found
    assert "m:the _M of" in found


def test_unknown_words_weigh_nothing(snapshot: Snapshot) -> None:
    reading = read_question("qwertz", CALL, [snapshot])
    assert LearnedClassifier({}).classify(reading, N, 0.5) == Odds(1 / 3, 1 / 3, 1 / 3)


def test_the_file_holds_whole_thousandths_and_its_own_measures() -> None:
    model = route_model()
    assert all(isinstance(each, int) for weights in model["weights"].values() for each in weights)
    tatqa, multi = model["measured"]["tatqa"], model["measured"]["routes_multi"]
    assert tatqa["two_way_accuracy"]["mean"] >= 0.87
    assert tatqa["accuracy"]["mean"] >= 0.66
    assert tatqa["evidence_reached"]["mean"] >= 0.96
    assert tatqa["composite_share"]["mean"] <= 0.35
    assert all(each["two_way_accuracy"]["mean"] >= 0.95 for each in multi["by_language"].values())
    assert json.loads(json.dumps(model)) == model


@given(text=hostile_text())
def test_any_text_gets_odds(snapshot: Snapshot, text: str) -> None:
    odds = learned_classifier().classify(read_question(text, CALL, [snapshot]), N, 0.7)
    assert abs(odds.structured + odds.narrative + odds.composite - 1) < 1e-9
