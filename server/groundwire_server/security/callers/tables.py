"""Files of granted rights: TOML that holds one list of tables and nothing else."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from groundwire_server.errors import ErrorReason, InvalidRequest, Violation

__all__ = ["Faults", "read_tables", "shown_key"]

_KEY = re.compile(r"(?!gw_)[a-z_]{1,40}")


class Faults(list[Violation]):
    """What is wrong with a file, gathered to be said at once."""

    def settle(self) -> None:
        """Raises InvalidRequest when there is anything."""
        if self:
            raise InvalidRequest(self)


def read_tables(raw: bytes, name: str) -> tuple[list[tuple[str, dict[str, Any]]], Faults]:
    """The tables `[[name]]` of a file, each with its place ("token[2]"), and what stands beside them.

    Raises:
        InvalidRequest: it is no TOML.
    """
    try:
        tree = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidRequest.one("file", ErrorReason.VALUE_MALFORMED, "is no UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        place = re.search(r"line \d+, column \d+", str(error))
        why = f"is no TOML ({place.group() if place else 'at its end'})"
        raise InvalidRequest.one("file", ErrorReason.VALUE_MALFORMED, why) from None
    others = sorted(key for key in tree if key != name)
    faults = Faults(Violation(shown_key(key), ErrorReason.UNKNOWN_NAME, f"is not [[{name}]]") for key in others)
    found = tree.get(name, [])
    rows: Iterable[Any] = found if isinstance(found, list) else [found]
    tables: list[tuple[str, dict[str, Any]]] = []
    for number, row in enumerate(rows, 1):
        if isinstance(found, list) and isinstance(row, dict):
            tables.append((f"{name}[{number}]", row))
        else:
            faults.append(Violation(f"{name}[{number}]", ErrorReason.VALUE_MALFORMED, f"is no table [[{name}]]"))
    return tables, faults


def shown_key(key: str) -> str:
    """A key as an error may name it: somebody may have put a token in its place.

    >>> shown_key("expire"), shown_key("gw_kV2zXu")
    ('expire', '(a key)')
    """
    return key if _KEY.fullmatch(key) else "(a key)"
