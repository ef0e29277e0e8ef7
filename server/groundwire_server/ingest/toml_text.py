"""The TOML of a mapping, and where in it a mistake stands."""

from __future__ import annotations

import re
import tomllib

from groundwire_server.errors import ErrorReason, InvalidRequest

__all__ = ["parse_toml"]


def parse_toml(text: str, field: str) -> dict[str, object]:
    """What a text in TOML holds.

    Args:
        field: of the request, for the message.

    Raises:
        InvalidRequest: it is no TOML, with the line and column where that shows.

    >>> parse_toml('sheet = "PL"', "mapping_toml")
    {'sheet': 'PL'}
    """
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a bare ValueError
        place = re.search(r"at line \d+, column \d+|at end of document", str(error))
        at = f" ({place.group().replace('end of', 'the end of the')})" if place else ""
        raise InvalidRequest.one(field, ErrorReason.VALUE_MALFORMED, f"is no TOML{at}") from None
