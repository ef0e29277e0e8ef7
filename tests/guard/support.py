"""Snippets and verdicts for the cases of the guard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundwire_server.evidence import (
    Label,
    Lineage,
    MetricFact,
    MetricKey,
    ReviewStatus,
    Snippet,
    TextPassage,
    Trust,
)
from groundwire_server.glossary import EntityTerm, Glossary
from groundwire_server.guard import SentenceGuard, Verdict, resolve

Case = dict[str, Any]


def passage(text: str, name: str = "a", trust: Trust = Trust.CITABLE, heading: str = "") -> Snippet:
    """A cited passage."""
    return Snippet(name, Lineage("default", heading=heading), trust, TextPassage(text), Label.PUBLIC)


def fact(statement: str, key: MetricKey, value: str, unit: str) -> Snippet:
    """A cited figure of the store."""
    payload = MetricFact(key, value, unit, statement, "f", ReviewStatus.APPROVED)
    return Snippet("f", Lineage("default"), Trust.CITABLE, payload, Label.PUBLIC)


def judge(
    sentence: str,
    *texts: str,
    question: str = "",
    language: str = "en",
    allowed: bool = True,
    entities: tuple[str, ...] = (),
) -> Verdict:
    """The verdict on a sentence that cites these passages."""
    glossary = [Glossary([EntityTerm(f"E{number}", name) for number, name in enumerate(entities)])] if entities else []
    guard = SentenceGuard(question, glossary, language, figures_allowed=allowed)
    return guard.check(sentence, [passage(text, str(number)) for number, text in enumerate(texts)])


def kinds(verdict: Verdict) -> list[str]:
    """The faults of a verdict, by name."""
    return [fault.kind.value for fault in verdict.faults]


def read_cases(path: Path) -> Iterator[Case]:
    """The cases of a JSON lines file."""
    for line in path.read_text("utf-8").split("\n"):
        if line:
            yield json.loads(line)


def judge_case(case: Case) -> tuple[bool, list[str]]:
    """Whether a case passes number guard and citation guard, and why not."""
    evidence = [passage(case["text"])]
    entities = case.get("entities", ())
    glossary = [Glossary([EntityTerm(f"E{number}", name) for number, name in enumerate(entities)])] if entities else []
    sentence = case["sentence"] + case.get("mark", "[1]")
    cited = resolve(sentence, evidence)
    guard = SentenceGuard(case.get("question", ""), glossary, case["language"], figures_allowed=True)
    verdict = guard.check(cited.text, cited.snippets)
    faults = [fault.kind.value for fault in cited.faults] + kinds(verdict)
    return verdict.passed and not cited.faults, faults
