"""What a read is bounded by: tests on attributes, what was known then, what holds then."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from groundwire import AllOf, AttributeType, CallOptions, Client, Filter, Period, Predicate
from groundwire_server.cli.options import WORDS

__all__ = ["bound_options", "bounds"]

_TEST = re.compile(r"\s*(?P<name>[^=!<>]*[^=!<>\s])\s*(?P<sign>!=|>=|<=|=|>|<)\s*(?P<value>.*?)\s*", re.DOTALL)
_OPERATORS: dict[str, Any] = {"=": "eq", "!=": "ne", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
_LISTS: dict[str, Any] = {"=": "in", "!=": "nin"}


def bound_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--filter, --known-at and --valid-at; they go into `bounds`."""
    for option in (
        click.option("--valid-at", type=WORDS, metavar="DAY", help="Only what holds then, e.g. 2024-03-31."),
        click.option("--known-at", type=WORDS, metavar="DAY", help="Answer as it would have been answered then."),
        click.option(
            "--filter",
            "filters",
            type=WORDS,
            multiple=True,
            metavar="TEST",
            help="Only where an attribute is so: 'year>=2020', 'doc_id=a.md|b.md', 'topic!=draft'; may be repeated. "
            "`groundwire libraries show` lists the attributes.",
        ),
    ):
        command = option(command)
    return command


def bounds(
    client: Client, libraries: Sequence[str], filters: Sequence[str], known_at: str | None, valid_at: str | None
) -> CallOptions:
    """The same as keyword arguments of the client. Raises UsageError for a test or a day that is not written so."""
    options: CallOptions = {}
    if filters:
        types = _types(client, libraries)
        tests = [_test(text, types) for text in filters]
        options["filter"] = tests[0] if len(tests) == 1 else AllOf(tuple(tests))
    if known_at is not None:
        options["known_at"] = _instant("--known-at", known_at)
    if valid_at is not None:
        options["valid_at"] = _instant("--valid-at", valid_at)
    return options


def _types(client: Client, libraries: Sequence[str]) -> dict[str, AttributeType]:
    """What each attribute holds, as the libraries say; one that is unknown is left to the server to refuse."""
    return {
        each.name: each.value_type
        for library in client.list_libraries()
        if not libraries or library.library_id in libraries
        for each in library.attributes
    }


def _test(text: str, types: dict[str, AttributeType]) -> Filter:
    match = _TEST.fullmatch(text)
    if match is None:
        raise click.UsageError(f"--filter {text!r} is no test such as 'year>=2020' or 'topic=news|notes'.")
    name, sign, value = match["name"], match["sign"], match["value"]
    parts = value.split("|") if sign in _LISTS else [value]
    values = tuple(_value(part.strip(), types.get(name, AttributeType.STRING), text) for part in parts)
    return Predicate(name, _OPERATORS[sign] if len(values) == 1 else _LISTS[sign], values)


def _value(text: str, kind: AttributeType, test: str) -> Any:
    try:
        match kind:
            case AttributeType.INTEGER:
                return int(text)
            case AttributeType.DECIMAL:
                return Decimal(text)
            case AttributeType.BOOL:
                return {"true": True, "false": False}[text.casefold()]
            case AttributeType.DATE:
                return date.fromisoformat(text)
            case AttributeType.PERIOD:
                return Period(text)
            case AttributeType.TIME:
                return _instant("--filter", text)
            case _:
                return text
    except (ValueError, KeyError, InvalidOperation):
        raise click.UsageError(f"--filter {test!r}: {text!r} is no {kind.name.lower()}.") from None


def _instant(option: str, text: str) -> datetime:
    """A day is its end, in UTC: what was known on that day is part of it."""
    try:
        if len(text) == len("2024-03-31"):
            return datetime.combine(date.fromisoformat(text), datetime.max.time(), UTC)
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(
            f"{option} {text!r} is no day or time such as 2024-03-31 or 2024-03-31T12:00Z."
        ) from None
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
