"""The terms of a library, and what a name means among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tests.oracle.calendar_of import FiscalYears
from tests.oracle.names import exact_key, loose_key, turned_key, without_note
from tests.oracle.world import Term

__all__ = ["Glossary", "Names"]


class Names:
    """Which codes each name of one kind may mean."""

    def __init__(self, named: Iterable[tuple[str, str]], *, proper: bool) -> None:
        self._second_key = turned_key if proper else loose_key
        self._exact: dict[str, set[str]] = defaultdict(set)
        self._second: dict[str, set[str]] = defaultdict(set)
        for name, code in named:
            self._exact[exact_key(name)].add(code)
            self._second[self._second_key(name)].add(code)

    def read(self, raw: str) -> set[str]:
        """The codes that a name means: none is unknown, several are ambiguous."""
        for text in (raw, without_note(raw)):
            if text is not None and exact_key(text):
                meant = self._exact.get(exact_key(text)) or self._second.get(self._second_key(text))
                if meant:
                    return meant
        return set()


@dataclass(frozen=True)
class Glossary:
    """Terms as they were put in."""

    terms: tuple[Term, ...]

    def of_kind(self, kind: str, axis: str = "") -> list[Term]:
        return [each for each in self.terms if each.kind == kind and each.axis == axis]

    def term(self, kind: str, code: str) -> Term | None:
        return next((each for each in self.of_kind(kind) if each.code == code), None)

    def names(self, kind: str, axis: str = "", more: Iterable[str] = ()) -> Names:
        """The names of a kind, with codes besides that no term has."""
        terms = self.of_kind(kind, axis)
        ours = {each.code for each in terms}
        named = [(name, each.code) for each in terms for name in each.names()]
        return Names(named + [(code, code) for code in more if code not in ours], proper=kind == "entity")

    def axes(self) -> list[str]:
        return sorted({each.axis for each in self.terms if each.kind == "dimension"})

    def years(self, entity: str) -> FiscalYears:
        """How an entity counts its fiscal years: what it does not say, the one above it says."""
        start = named_by = ""
        seen: set[str] = set()
        while entity and entity not in seen:
            seen.add(entity)
            term = self.term("entity", entity)
            if term is None:
                break
            start, named_by, entity = start or term.fiscal_start, named_by or term.named_by, term.parent
        month, day = (int(each) for each in (start or "01-01").split("-"))
        return FiscalYears(month, day, named_by, bool(start))
