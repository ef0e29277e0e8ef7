"""What may stand in a picture: one line, with everything written out that a program or an eye would be misled by."""

from __future__ import annotations

import re

from groundwire_server.cli.streams import printable
from groundwire_server.cli.terminal import cut

__all__ = ["shown"]

# What XML cannot hold, beside what is not printable: noncharacters of any plane, and private use, which shows nothing.
_NO_TEXT = re.compile("[\ufdd0-\ufdef\ufff9-\uffff]")
_LONGEST = 80


def shown(line: str, columns: int = _LONGEST) -> str:
    """A line as it is shown, within some columns.

    >>> shown("a\\nb\\ufffe")
    'a\\\\nb\\\\ufffe'
    """
    plain = _NO_TEXT.sub(lambda found: ascii(found[0])[1:-1], printable(line))
    return cut("".join(char if ord(char) & 0xFFFE != 0xFFFE else ascii(char)[1:-1] for char in plain), columns)
