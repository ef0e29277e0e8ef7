"""XBRL "company facts" in JSON, as the SEC publishes them: every value that a company filed, with its filings.

One value per tag, unit and period, filed again and again: each filing is a version of it, ordered by `filed`. A tag is
decoded at a time, so that a company of any size takes little memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import NoReturn

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.ingest.fact_mapping import FactMapping
from groundwire_server.ingest.fact_values import refuse
from groundwire_server.ingest.json_rows import TwiceNamedError, named_once
from groundwire_server.readers.encoding import decode_text

__all__ = ["read_company_facts"]

_BLANK = re.compile(r"[ \t\r\n]*")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_KEPT = ("fy", "fp", "form")

Resolves = Callable[[str, str], bool]
"""Whether the glossary knows a name of a kind ("metric", "entity")."""


def read_company_facts(
    name: str, raw: bytes, mapping: FactMapping, resolves: Resolves
) -> Iterator[tuple[int, Mapping[str, object] | RowRefused]]:
    """(place of a value among all of the file, from 1; the figure as a row with `versions`, or why it is none).

    source_doc is the accession number of the filing; the locator names taxonomy, tag, unit and period. The entity is
    the company by CIK where the glossary knows it, else by its name; the metric is the tag, with its taxonomy before it
    where only that is known, or by its label.

    Raises:
        DocumentRefused: it is no JSON, or not of this form.
    """
    text = decode_text(name, raw)
    reading = _Reading(name, text)
    head: dict[str, object] = {}
    number = 0
    found = False
    for key, at in reading.members(0, "the file"):
        if key != "facts":
            head[key] = reading.value(at)
            continue
        found = True
        if not head.get("entityName"):
            head = reading.head()
        entity = _entity(head, mapping, resolves)
        for taxonomy, tags_at in reading.members(at, "facts"):
            for tag, tag_at in reading.members(tags_at, f"facts/{taxonomy}"):
                content = reading.value(tag_at)
                for size, row in _tag(taxonomy, tag, content, entity, mapping, resolves):
                    yield number + 1, row
                    number += size
    if not found:
        raise DocumentRefused(
            ErrorReason.FACT_FIELD_MISSING,
            f"{name}: it has no facts; a file of company facts holds cik, entityName and facts.",
            details={"field": "facts"},
        )


class _Reading:
    """JSON that is decoded member by member."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=named_once)
        self._ends: dict[int, int] = {}

    def members(self, at: int, what: str) -> Iterator[tuple[str, int]]:
        """Key and place of each value of the object at a place. Each value is skipped after it was used."""
        at = self._skip(at)
        if self._text[at : at + 1] != "{":
            raise DocumentRefused(
                ErrorReason.DOCUMENT_BROKEN, f"{self._name}: {what[:80]} is no object of company facts."
            )
        begun = at
        named: set[str] = set()
        at = self._skip(at + 1)
        if self._text[at : at + 1] == "}":
            self._ends[begun] = at + 1
            return
        while True:
            key, at = self._decode(at)
            at = self._skip(at)
            if not isinstance(key, str) or self._text[at : at + 1] != ":":
                raise self._broken()
            if key in named:
                raise self._broken(f"it names {key[:80]!r} twice in one object")
            named.add(key)
            value_at = self._skip(at + 1)
            yield key, value_at
            at = self._skip(self._end_of(value_at))
            sign = self._text[at : at + 1]
            if sign == "}":
                self._ends[begun] = at + 1
                return
            if sign != ",":
                raise self._broken()
            at = self._skip(at + 1)

    def value(self, at: int) -> object:
        """The value at a place, whole."""
        value, end = self._decode(at)
        self._ends[at] = end
        return value

    def head(self) -> dict[str, object]:
        """Every member of the file but its facts, also those behind them."""
        head: dict[str, object] = {}
        probe = _Reading(self._name, self._text)
        for key, at in probe.members(0, "the file"):
            if key != "facts":
                head[key] = probe.value(at)
            else:
                probe.skip_object(at)
        return head

    def skip_object(self, at: int) -> None:
        """Go over the object at a place, a member of a member at a time."""
        for _, inner in self.members(at, "facts"):
            for _, value_at in self.members(inner, "facts"):
                self.value(value_at)

    def _end_of(self, at: int) -> int:
        if at not in self._ends:
            self.value(at)
        return self._ends.pop(at)

    def _decode(self, at: int) -> tuple[object, int]:
        try:
            return self._decoder.raw_decode(self._text, at)
        except TwiceNamedError as twice:
            raise self._broken(f"it names {str(twice)[:80]!r} twice in one object") from None
        except (ValueError, RecursionError):
            raise self._broken() from None

    def _skip(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        return match.end() if match else at

    def _broken(self, why: str = "it is no JSON, or cut off") -> DocumentRefused:
        return DocumentRefused(ErrorReason.DOCUMENT_BROKEN, f"{self._name}: {why}.")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _entity(head: Mapping[str, object], mapping: FactMapping, resolves: Resolves) -> str:
    if "entity" in mapping.constants:
        return mapping.constants["entity"]
    cik = str(head.get("cik") or "").strip()
    digits = cik.lstrip("0")
    if digits.isdigit():
        for known in (cik, digits, digits.zfill(10), f"CIK{digits.zfill(10)}"):
            if resolves("entity", known):
                return known
    return str(head.get("entityName") or cik).strip()


def _tag(
    taxonomy: str, tag: str, content: object, entity: str, mapping: FactMapping, resolves: Resolves
) -> Iterator[tuple[int, Mapping[str, object] | RowRefused]]:
    """(how many values it stands for, row) of each unit and period of a tag, in the order of the file."""
    if not isinstance(content, dict) or not isinstance(content.get("units"), dict):
        yield 1, refuse(ErrorReason.VALUE_MALFORMED, f"{taxonomy}:{tag}", str(content)[:200], "The tag has no units.")
        return
    metric = _metric(taxonomy, tag, content, mapping, resolves)
    for unit, values in content["units"].items():
        if not isinstance(values, list):
            yield (
                1,
                refuse(
                    ErrorReason.VALUE_MALFORMED,
                    f"{taxonomy}:{tag}/{unit}",
                    str(values)[:200],
                    "The unit has no list of values.",
                ),
            )
            continue
        yield from _periods(taxonomy, tag, metric, str(unit), values, entity, mapping)


def _metric(taxonomy: str, tag: str, content: Mapping[str, object], mapping: FactMapping, resolves: Resolves) -> str:
    if "metric" in mapping.constants:
        return mapping.constants["metric"]
    label = content.get("label")
    known = [tag, f"{taxonomy}:{tag}", *([label] if isinstance(label, str) and label.strip() else [])]
    return next((name for name in known if resolves("metric", name)), tag)


def _periods(
    taxonomy: str, tag: str, metric: str, unit: str, values: list[object], entity: str, mapping: FactMapping
) -> Iterator[tuple[int, Mapping[str, object] | RowRefused]]:
    groups: dict[str, list[Mapping[str, object]]] = {}
    for value in values:
        fault = _fault(value)
        if fault:
            yield 1, refuse(ErrorReason.VALUE_MALFORMED, f"{taxonomy}:{tag}/{unit}", str(value)[:200], fault)
        elif isinstance(value, dict):
            start, end = value.get("start"), value["end"]
            groups.setdefault(f"{start}/{end}" if start else str(end), []).append(value)
    for period, filed in groups.items():
        place = f"tag={taxonomy}:{tag}"
        row: dict[str, object] = {
            **mapping.constants,
            "metric": metric,
            "entity": entity,
            "period": period,
            "unit": mapping.constants.get("unit", unit),
            "versions": [
                {
                    "value": each["val"],
                    "source_doc": str(each["accn"]),
                    "locator": f"{place},unit={unit.replace(',', '%2C')},period={period}",
                    "filed": str(each["filed"]),
                    "valid_as_of": period.rpartition("/")[2],
                    "attributes": {key: each[key] for key in _KEPT if isinstance(each.get(key), str | int)},
                }
                for each in _distinct(filed)
            ],
        }
        yield len(filed), row


def _distinct(filed: list[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """A filing that states one value twice (for two frames) states it once."""
    seen: dict[tuple[str, str, str], Mapping[str, object]] = {}
    for each in filed:
        seen.setdefault((str(each["accn"]), str(each["filed"]), str(each["val"])), each)
    return list(seen.values())


def _fault(value: object) -> str:
    if not isinstance(value, dict):
        return "The value is no object."
    if not isinstance(value.get("val"), int | Decimal) or isinstance(value.get("val"), bool):
        return "The value has no number val."
    for key in ("end", "filed"):
        if not isinstance(value.get(key), str) or not _DAY.fullmatch(str(value[key])):
            return f"The value has no day {key}."
    start = value.get("start")
    if start is not None and (not isinstance(start, str) or not _DAY.fullmatch(start)):
        return "start is no day."
    if not isinstance(value.get("accn"), str) or not value["accn"]:
        return "The value has no accn, the number of its filing."
    return ""
