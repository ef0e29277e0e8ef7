"""Each extractor passes every check, and no check is idle: broken ones are caught."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from groundwire_server.evidence import Label, Span
from groundwire_server.glossary import Glossary
from groundwire_server.relations.extractors import (
    Check,
    CoOccurrenceExtractor,
    Extraction,
    NoExtractor,
    RelationExtractor,
    SourceDocument,
)
from groundwire_server.relations.extractors.conformance import CHECKS, run_checks


def test_none_passes() -> None:
    assert run_checks(lambda _: NoExtractor()) == []


def test_co_occurrence_passes() -> None:
    assert run_checks(CoOccurrenceExtractor) == []


def test_each_check_says_what_it_holds() -> None:
    assert all((check.__doc__ or "").strip().endswith(".") for check in CHECKS)


@dataclass
class _Broken:
    """Co-occurrence with something that is wrong."""

    inner: CoOccurrenceExtractor
    change: Callable[[SourceDocument, Extraction], Extraction] = lambda _, found: found
    asks: bool = True
    clearance: Label = Label.CONFIDENTIAL
    version: str = "1"
    name: str = "co_occurrence"
    unverified: bool = False
    immediate: bool = True
    parallel: int = 1

    def extract(self, document: SourceDocument, check: Check = lambda: None) -> Extraction:
        found = self.inner.extract(replace(document, label=Label.PUBLIC), check if self.asks else lambda: None)
        return found if document.label > self.clearance else self.change(document, found)


def _changed(**changes: object) -> Callable[[SourceDocument, Extraction], Extraction]:
    def change(_: SourceDocument, found: Extraction) -> Extraction:
        return replace(found, relations=tuple(replace(each, **changes) for each in found.relations))  # type: ignore[arg-type]

    return change


def _doubled(_: SourceDocument, found: Extraction) -> Extraction:
    return replace(found, relations=found.relations * 2)


_COUNTER = itertools.count()


def _moody(_: SourceDocument, found: Extraction) -> Extraction:
    return found if next(_COUNTER) % 2 else replace(found, relations=found.relations[:1])


BROKEN: list[tuple[str, Callable[[Glossary], RelationExtractor]]] = [
    ("it_says_what_it_is", lambda g: _Broken(CoOccurrenceExtractor(g), version="")),
    ("it_says_what_it_is", lambda g: _Broken(CoOccurrenceExtractor(g), version=f"{next(_COUNTER)}")),
    ("what_it_finds_stands_in_its_passage", lambda g: _Broken(CoOccurrenceExtractor(g), _changed(span=Span(0, 1)))),
    ("what_it_finds_stands_in_its_passage", lambda g: _Broken(CoOccurrenceExtractor(g), _changed(passage=99))),
    ("edges_are_of_their_document", lambda g: _Broken(CoOccurrenceExtractor(g), _changed(target=("entity", "")))),
    (
        "edges_are_of_their_document",
        lambda g: _Broken(CoOccurrenceExtractor(g), _changed(source=("a", "a"), target=("a", "a"))),
    ),
    ("nothing_is_found_twice", lambda g: _Broken(CoOccurrenceExtractor(g), _doubled)),
    ("what_is_too_strict_is_not_looked_at", lambda g: _Broken(CoOccurrenceExtractor(g))),
    ("the_same_comes_of_the_same", lambda g: _Broken(CoOccurrenceExtractor(g), _moody)),
    ("it_ends_when_it_is_told", lambda g: _Broken(CoOccurrenceExtractor(g), asks=False)),
]


@pytest.mark.parametrize(("check", "make"), BROKEN)
def test_a_broken_extractor_is_caught(check: str, make: Callable[[Glossary], RelationExtractor]) -> None:
    assert check in {failure.check for failure in run_checks(make)}


def test_every_check_catches_something() -> None:
    assert {name for name, _ in BROKEN} == {check.__name__ for check in CHECKS}
