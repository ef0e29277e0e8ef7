"""Widths, cuts and colours."""

from __future__ import annotations

import pytest

from groundwire_server.cli import terminal
from groundwire_server.cli.terminal import cut, display_width, on_terminal, paint


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("revenue", 7),
        ("売上高", 6),
        ("ｶﾅ", 2),
        ("e\u0301", 1),
        ("한국", 4),
        ("😀", 2),
        ("a\u200db", 2),
        ("Ａ", 2),
    ],
)
def test_the_width_of_a_text(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("revenue", 7, "revenue"),
        ("revenue", 6, "reven…"),
        ("売上高", 6, "売上高"),
        ("売上高", 5, "売上…"),
        ("売上高", 4, "売…"),
        ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
    ],
)
def test_a_text_is_cut_at_its_columns(text: str, columns: int, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "speaks_unicode", lambda: True)
    assert cut(text, columns) == shown
    assert display_width(shown) <= columns
    monkeypatch.setattr(terminal, "speaks_unicode", lambda: False)
    assert cut(text, columns) == shown.replace("…", "~")


def test_colours_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert not on_terminal()
    assert paint("fine", "green") == "fine"
    monkeypatch.setattr(terminal, "on_terminal", lambda: True)
    assert paint("fine", "green") == "\x1b[32mfine\x1b[0m"
    assert paint("fine", None) == "fine"
    monkeypatch.setenv("NO_COLOR", "")
    assert paint("fine", "green") != "fine"  # no-color.org: only when it is not empty
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("fine", "green") == "fine"
