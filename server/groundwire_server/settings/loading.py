"""All layers together, checked at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from groundwire_server.errors import InvalidRequest, Violation
from groundwire_server.settings.faults import explain
from groundwire_server.settings.layers import Given, from_aliases, from_arguments, from_environment, from_file
from groundwire_server.settings.tree import LEAVES, Settings

__all__ = ["load_settings"]


def load_settings(
    arguments: Mapping[str, object] | None = None,
    *,
    config: Path | str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Gather all layers and check them together.

    Args:
        arguments: dotted name to value; None means "not given".
        config: the file; None: `GROUNDWIRE_CONFIG`, else `./groundwire.toml` where there is one.
        environ: by default the environment of the process.

    Raises:
        InvalidRequest: names every setting that is wrong, where it was written and what is valid.
    """
    environ = os.environ if environ is None else environ
    faults: list[Violation] = []
    given: dict[str, Given] = {}
    given.update(from_file(config, environ, faults))
    given.update(from_aliases(environ, faults))
    given.update(from_environment(environ, faults))
    given.update(from_arguments(arguments or {}, faults))
    settings = _build(given, faults)
    if faults or settings is None:
        raise InvalidRequest(faults, hint="`groundwire serve --help` shows the settings.")
    return settings.told_of({name: value.origin for name, value in given.items()})


def _build(given: Mapping[str, Given], faults: list[Violation]) -> Settings | None:
    tree: dict[str, Any] = {}
    for name, item in given.items():
        section, dot, leaf = name.partition(".")
        if dot:
            tree.setdefault(section, {})[leaf] = item.value
        else:
            tree[name] = item.value
    try:
        return Settings(**tree)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            name = _name_at(fault["loc"])
            place = given[name].place if name in given else name
            value = given[name].value if name in given else None
            faults.append(Violation(place, *explain(name, value, fault)))
        return None


def _name_at(location: tuple[int | str, ...]) -> str:
    parts = [str(part) for part in location]
    return next((name for size in (2, 1) if (name := ".".join(parts[:size])) in LEAVES), ".".join(parts))
