"""What a caller says, on its way into a request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from groundwire._model.named import NamedEnum
from groundwire._model.options import CallOptions, EmptyFilterPolicy, ExplainLevel, StrictnessPolicy
from groundwire._model.stream import DegradationKind
from groundwire._wire.filter import encode_filter
from groundwire._wire.value import fill_timestamp
from groundwire.v1 import stream_pb2

__all__ = ["fill_options", "number", "numbers", "texts"]


def number(enum: type[NamedEnum], given: NamedEnum | str) -> Any:
    """A member of an enum, or its name, as the contract carries it. Raises ValueError for a name that there is not."""
    return enum.read(given).value


def numbers(enum: type[NamedEnum], given: Iterable[NamedEnum | str]) -> Any:
    """Several members. Raises TypeError for a single name, which would be read letter by letter."""
    if isinstance(given, str):
        raise TypeError(f"several are wanted: [{given!r}]")
    return [number(enum, member) for member in given]


def texts(name: str, given: Sequence[str]) -> Sequence[str]:
    """Several texts, under the name of their parameter. Raises TypeError for a single one.

    >>> texts("libraries", "finance")
    Traceback (most recent call last):
    TypeError: libraries is a list: ['finance']
    """
    if isinstance(given, str):
        raise TypeError(f"{name} is a list: [{given!r}]")
    return given


def fill_options(options: CallOptions, into: stream_pb2.CallOptions) -> None:
    """Write the options of a call; `timeout` is no field. Raises TypeError for an option that there is not."""
    unknown = options.keys() - CallOptions.__annotations__.keys()
    if unknown:
        valid = ", ".join(sorted(CallOptions.__annotations__))
        raise TypeError(f"unknown option {', '.join(sorted(unknown))}; valid: {valid}")
    into.library_ids.extend(texts("libraries", options.get("libraries", ())))
    into.request_id = options.get("request_id", "")
    into.token_budget = options.get("token_budget", 0)
    into.language = options.get("language", "")
    if "on_empty" in options:
        into.on_empty = number(EmptyFilterPolicy, options["on_empty"])
    if "explain" in options:
        into.explain = number(ExplainLevel, options["explain"])
    if "strictness" in options:
        into.strictness = number(StrictnessPolicy, options["strictness"])
    into.forbid.extend(numbers(DegradationKind, options.get("forbid", ())))
    if "filter" in options:
        into.filter.CopyFrom(encode_filter(options["filter"]))
    if "hint" in options:
        into.hint.CopyFrom(encode_filter(options["hint"]))
    if "known_at" in options:
        fill_timestamp(options["known_at"], into.known_at)
    if "valid_at" in options:
        fill_timestamp(options["valid_at"], into.valid_at)
    if "resume" in options:
        into.resume.token = options["resume"]
    if "soft_budget" in options:
        into.soft_budget.FromTimedelta(options["soft_budget"])
    if "reference_date" in options:
        into.reference_date = options["reference_date"].isoformat()
