"""What is wrong with a setting, and what is valid, in words."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Literal

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.settings.tree import FILES, LEAVES, PATHS

__all__ = ["explain", "listed", "unknown"]

# Names that the seeds or later work know, and that nothing here answers to yet.
_NOT_BUILT: dict[str, frozenset[str]] = {
    "embedding.backend": frozenset({"st", "sentence-transformers", "qwen3", "openai"}),
}


def explain(name: str, value: object, fault: Any) -> tuple[ErrorReason, str]:
    """What is wrong with a value, and what is valid, in words."""
    shown = "the value" if name == "secret" else repr(value)
    if isinstance(value, str) and value.strip().casefold() in _NOT_BUILT.get(name, ()):
        return ErrorReason.NOT_IMPLEMENTED, f"{shown} is not available yet; valid: {listed(_choices(name))}"
    if choices := _choices(name):
        return ErrorReason.UNKNOWN_NAME, f"{shown} is none of {listed(choices)}"
    context = fault.get("ctx", {})
    bounds = {
        "greater_than_equal": f"at least {context.get('ge')}",
        "greater_than": f"above {context.get('gt')}",
        "less_than_equal": f"at most {context.get('le')}",
    }
    if fault["type"] in bounds:
        return ErrorReason.VALUE_OUT_OF_RANGE, f"{shown} must be {bounds[fault['type']]}"
    forms = {"int": "a whole number", "float": "a number", "bool": "true or false", "path": "a path"}
    wanted = next((text for kind, text in forms.items() if fault["type"].startswith(kind)), "a text")
    if name in PATHS:
        wanted = "the path of a file" if name in FILES else "the path of a folder"
    if "tuple" in fault["type"]:
        wanted = "a list of texts"
    return ErrorReason.VALUE_MALFORMED, f"{shown} is not {wanted}"


def unknown(place: str, name: str, known: Mapping[str, object]) -> Violation:
    """That a name is no setting, with those that are like it, and all that there are."""
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {listed(near)}? " if near else ""
    return Violation(place, ErrorReason.UNKNOWN_NAME, f"is no setting; {hint}valid: {', '.join(sorted(known))}")


def listed(names: Iterable[str]) -> str:
    """Names in order; the empty one reads "nothing"."""
    return ", ".join(sorted(name or "nothing" for name in names))


def _choices(name: str) -> tuple[str, ...]:
    field = LEAVES.get(name)
    return typing.get_args(field.annotation) if field and typing.get_origin(field.annotation) is Literal else ()
