"""Labels are read generously in form and strictly in doubt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Label, Principal, parse_label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("public", Label.PUBLIC),
        (" Internal\n", Label.INTERNAL),
        ("ＣＯＮＦＩＤＥＮＴＩＡＬ", Label.CONFIDENTIAL),
        ("restricted", Label.RESTRICTED),
        ("secret", Label.RESTRICTED),
        ("機密", Label.RESTRICTED),
        ("pub lic", Label.RESTRICTED),
        ("", Label.INTERNAL),
        ("   ", Label.INTERNAL),
        (None, Label.INTERNAL),
    ],
)
def test_labels_are_read(text: str | None, label: Label) -> None:
    assert parse_label(text) is label


@given(st.text(max_size=20))
def test_an_unknown_label_is_the_strictest(text: str) -> None:
    known = {label.name.casefold() for label in Label}
    if text.strip() and text.strip().casefold() not in known and text.isascii():
        assert parse_label(text) is Label.RESTRICTED


@pytest.mark.parametrize("clearance", list(Label))
def test_restricted_is_readable_by_nobody(clearance: Label) -> None:
    assert not Principal("anyone", clearance).may_read(Label.RESTRICTED)
    assert Principal("anyone", clearance).may_read(Label.PUBLIC)
