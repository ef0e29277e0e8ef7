"""The layers that settings come from: arguments, the environment, the names of the seeds, the file.

Each function gives what its layer says, and adds what is wrong with it to `faults`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BeforeValidator

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.settings.aliases import alias_of
from groundwire_server.settings.faults import listed, unknown
from groundwire_server.settings.tree import LEAVES, PATHS, Origin

__all__ = ["Given", "from_aliases", "from_arguments", "from_environment", "from_file"]

PREFIX = "GROUNDWIRE_"
CONFIG_FILE = "groundwire.toml"
# Read elsewhere: where the file is; which server the clients call, and what they show it.
_NO_SETTINGS = frozenset(f"{PREFIX}{name}" for name in ("CONFIG", "ADDRESS", "TLS", "CA", "CERT", "KEY", "TOKEN"))
_ENVIRONMENT: dict[str, str] = {PREFIX + name.replace(".", "_").upper(): name for name in LEAVES}


@dataclass(frozen=True, slots=True)
class Given:
    """A value with the place it was written at, so that an error names that place."""

    value: object
    origin: Origin
    place: str


def from_arguments(arguments: Mapping[str, object], faults: list[Violation]) -> dict[str, Given]:
    """Values by dotted name; None: not given."""
    found: dict[str, Given] = {}
    for name, value in arguments.items():
        if name not in LEAVES:
            faults.append(unknown(name, name, LEAVES))
        elif value is not None:
            found[name] = Given(value, "argument", name)
    return found


def from_environment(environ: Mapping[str, str], faults: list[Violation]) -> dict[str, Given]:
    """Values under the names of this server."""
    found: dict[str, Given] = {}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in _NO_SETTINGS:
            continue
        if variable not in _ENVIRONMENT:
            faults.append(unknown(variable, variable, _ENVIRONMENT))
            continue
        name = _ENVIRONMENT[variable]
        found[name] = Given(environ[variable], "environment", variable)
    return found


def from_aliases(environ: Mapping[str, str], faults: list[Violation]) -> dict[str, Given]:
    """Values under the names of the seeds. One that contradicts its new name, or another alias, is an error."""
    found: dict[str, Given] = {}
    for variable in sorted(environ):
        alias = alias_of(variable)
        if alias is None:
            continue
        value = environ[variable]
        if not alias.setting:
            if value.strip().casefold() not in alias.off:
                faults.append(
                    Violation(
                        variable,
                        ErrorReason.NOT_IMPLEMENTED,
                        f"{alias.feature} is not available yet; leave it out, or say {listed(alias.off)}",
                    )
                )
            continue
        others = [found[alias.setting]] if alias.setting in found else []
        new_name = PREFIX + alias.setting.replace(".", "_").upper()
        if new_name in environ:
            others.append(Given(environ[new_name], "environment", new_name))
        faults.extend(
            Violation(variable, ErrorReason.CONTRADICTION, f"is {value!r} and {other.place} is {other.value!r}")
            for other in others
            if _folded(alias.setting, value) != _folded(alias.setting, other.value)
        )
        found[alias.setting] = Given(value, "environment", variable)
    return found


def _folded(name: str, value: object) -> object:
    """A value under its present name, for comparison: `minilm` and `onnx` are the same."""
    for item in LEAVES[name].metadata:
        if isinstance(item, BeforeValidator):
            value = item.func(value)  # type: ignore[call-arg]
    return value


def from_file(config: Path | str | None, environ: Mapping[str, str], faults: list[Violation]) -> dict[str, Given]:
    """Values of a file, by default of the one that is asked for or lies here; paths in it count from its folder."""
    named = config or environ.get(f"{PREFIX}CONFIG") or None
    path = Path(named) if named else Path(CONFIG_FILE)
    if not named and not path.is_file():
        return {}
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        faults.append(Violation("--config", ErrorReason.UNKNOWN_NAME, f"{path} cannot be read: {error.strerror}"))
        return {}
    except UnicodeDecodeError:
        faults.append(Violation("--config", ErrorReason.VALUE_MALFORMED, f"{path} is no UTF-8 text"))
        return {}
    except (ValueError, RecursionError) as error:
        place = re.search(r"line \d+, column \d+", str(error))
        at = place.group() if place else "at its end"
        faults.append(Violation("--config", ErrorReason.VALUE_MALFORMED, f"{path} is no TOML ({at})"))
        return {}
    found: dict[str, Given] = {}
    for name, value in _flat(tree):
        if name not in LEAVES:
            faults.append(unknown(f"{path}: {name}", name, LEAVES))
            continue
        if name in PATHS and isinstance(value, str):
            value = path.parent / os.path.expanduser(value) if value else value
        found[name] = Given(value, "file", f"{path}: {name}")
    return found


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
