"""Lines of JSON, read one by one."""

from __future__ import annotations

from decimal import Decimal

import pytest

from groundwire_server.errors import RowRefused
from groundwire_server.ingest.json_rows import read_json_rows


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"a": "\\ud800"}', "half a character"),
        (b'{"\\ud800": 1}', "half a character"),
        (b'{"a": "\xed\xa0\x80"}', "no UTF-8"),
        (b'{"a": NaN}', "no JSON"),
        (b'\xef\xbb\xbf{"a": 1}', "no JSON"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "no JSON"),
        (b'{"a": 1, "a": 1}', "twice"),
    ],
)
def test_a_bad_line_is_refused_and_the_next_is_read(line: bytes, words: str) -> None:
    (_, bad), (number, good) = read_json_rows(b"\n" + line + b'\n{"b": 1.50, "c": "\\ud83d\\ude00\xe6\x97\xa5"}')
    assert isinstance(bad, RowRefused)
    assert words in str(bad)
    assert (number, good) == (3, {"b": Decimal("1.50"), "c": "\U0001f600日"})
