"""The filter that a language model reads out of a question, held to attributes and values that there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from groundwire_server.evidence import AllOf, AnyOf, Family, Filter, Operator, Period, Predicate, Value
from groundwire_server.glossary import PeriodError, parse_period
from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.asking import Inquiry, NoAnswer, ask_for_json
from groundwire_server.query.filters.extractor import Attributes, Extracted, FilterSource, ValuesOf, extraction_skipped
from groundwire_server.text import normalize, tokenize

__all__ = ["ModelExtractor"]

_MOST_ATTRIBUTES = 40
_MOST_VALUES = 40
_LONGEST_VALUE = 120
_MOST_FILTERS = 16
_SCHEMA = {
    "type": "object",
    "properties": {
        "filters": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "attribute": {"type": "string"},
                    "any_of": {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
                    "from": {"type": ["string", "number"]},
                    "to": {"type": ["string", "number"]},
                },
                "required": ["attribute"],
            },
        }
    },
    "required": ["filters"],
}
_ORDERED = (Family.NUMBER, Family.DAY, Family.PERIOD)
_TESTED = (*_ORDERED, Family.TEXT, Family.TEXTS, Family.TRUTH)


class ModelExtractor:
    """Asks a model which documents a question asks for. It is shown attributes, and texts that stand in them."""

    name = "llm"
    asks_model = True

    def extract(
        self, source: FilterSource, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Extracted:
        """See `FilterExtractor.extract`."""
        stop()
        shown = _shown(source, passes)
        if model is not None and not shown:
            return Extracted(detail="attributes=0")
        told = [_told(*each) for each in shown.items()]
        inquiry = Inquiry("filters", source.query.language, {"question": source.query.text, "attributes": told})
        answer = ask_for_json(inquiry, _SCHEMA, lambda found: _Reading(source, shown).read(found), model, stop)
        made = extraction_skipped(self.name, answer.cause) if isinstance(answer, NoAnswer) else answer.found.extracted()
        return replace(made, purpose=answer.purpose, usage=answer.usage)


def _shown(source: FilterSource, passes: Callable[[str], bool]) -> Attributes:
    """What the model gets to see: attributes that it can test, and of texts the values that fit the question best."""
    shown: dict[str, ValuesOf] = {}
    words = set(tokenize(source.query.text))
    for name, held in sorted(source.attributes.items(), key=lambda each: (-each[1].share, each[0])):
        texts = _texts(held, words, passes) if held.family in (Family.TEXT, Family.TEXTS) else ()
        if held.family not in _TESTED or (held.family in (Family.TEXT, Family.TEXTS) and not texts):
            continue
        shown[name] = ValuesOf(held.family, texts, held.share)
        if len(shown) == _MOST_ATTRIBUTES:
            break
    return dict(sorted(shown.items()))


def _texts(held: ValuesOf, words: set[str], passes: Callable[[str], bool]) -> tuple[str, ...]:
    found: set[str] = set()
    for value in held.values:
        found.update((value,) if isinstance(value, str) else value if isinstance(value, tuple) else ())
    short = [text for text in found if text.strip() and len(text) <= _LONGEST_VALUE]
    best = sorted(short, key=lambda text: (-len(words & set(tokenize(text))), text))[: 2 * _MOST_VALUES]
    return tuple(sorted([text for text in best if passes(text)][:_MOST_VALUES]))


def _told(name: str, held: ValuesOf) -> dict[str, Any]:
    told: dict[str, Any] = {"attribute": name, "type": "text" if held.family is Family.TEXTS else held.family.value}
    return told | ({"values": list(held.values)} if held.values else {})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Tests by attribute, and how many values and attributes of the reply there are not."""

    tests: dict[str, list[Filter]]
    left_out: int

    def extracted(self) -> Extracted:
        """The same as a hint, with how many attributes it tests."""
        left_out = f",left_out={self.left_out}" if self.left_out else ""
        return Extracted(_all_of(self.tests), f"attributes={len(self.tests)}{left_out}")


class _Reading:
    """Reads what a model answers; what is not there is left out and counted."""

    def __init__(self, source: FilterSource, shown: Attributes) -> None:
        self._source = source
        self._shown = shown
        self._left_out = 0

    def read(self, found: dict[str, Any]) -> _Wanted:
        """Raises ValueError where it is not the form that was asked for."""
        listed = found.get("filters")
        if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
            raise ValueError("no list of filters")
        self._left_out = max(0, len(listed) - _MOST_FILTERS)
        tests: dict[str, list[Filter]] = {}
        for each in listed[:_MOST_FILTERS]:
            name = each.get("attribute")
            held = self._shown.get(name) if isinstance(name, str) else None
            test = None if held is None else self._test(name, held, each)
            if test is not None:
                tests.setdefault(name, []).append(test)
            else:
                self._left_out += 1
        return _Wanted(tests, self._left_out)

    def _test(self, name: str, held: ValuesOf, said: dict[str, Any]) -> Filter | None:
        listed = said.get("any_of")
        if listed is None:
            low, high = (self._value(held, said.get(end)) for end in ("from", "to"))
            return _within(name, held.family, low, high)
        if not isinstance(listed, list):
            raise ValueError("no list of values")
        values = [self._value(held, each) for each in listed[:_MOST_VALUES]]
        known = dict.fromkeys(value for value in values if value is not None)
        self._left_out += len(listed) - len([value for value in values if value is not None])
        return Predicate(name, Operator.IN, tuple(known)) if known else None

    def _value(self, held: ValuesOf, said: object) -> Value | None:
        """A value as the documents have it; None: it is none."""
        if held.family in (Family.TEXT, Family.TEXTS):
            wanted = normalize(said) if isinstance(said, str) else ""
            return next((value for value in held.values if isinstance(value, str) and normalize(value) == wanted), None)
        if held.family is Family.TRUTH:
            return said if isinstance(said, bool) else None
        if isinstance(said, bool) or not isinstance(said, str | int | float):
            return None
        return _read(held.family, str(said).strip()[:_LONGEST_VALUE], self._source)


def _read(family: Family, text: str, source: FilterSource) -> Value | None:
    try:
        if family is Family.NUMBER:
            number = Decimal(text)
            return number if number.is_finite() and abs(number.adjusted()) < 40 else None
        if family is Family.DAY:
            return date.fromisoformat(text)
        return parse_period(text, reference=source.reference, language=source.query.language)
    except (InvalidOperation, ValueError, PeriodError):
        return None


def _within(name: str, family: Family, low: Value | None, high: Value | None) -> Filter | None:
    if family not in _ORDERED or (low is None and high is None):
        return None
    if low is None or high is None:
        operator, value = (Operator.GTE, low) if low is not None else (Operator.LTE, high)
        assert value is not None
        return Predicate(name, operator, (value,))
    return Predicate(name, Operator.BETWEEN, (low, high)) if _key(low) <= _key(high) else None


def _key(value: Value) -> Any:
    return (value.first, value.last) if isinstance(value, Period) else value


def _all_of(tests: dict[str, list[Filter]]) -> Filter | None:
    members: Sequence[Filter] = [each[0] if len(each) == 1 else AnyOf(tuple(each)) for each in tests.values()]
    if not members:
        return None
    return members[0] if len(members) == 1 else AllOf(tuple(members))
