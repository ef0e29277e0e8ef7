from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Label
from groundwire_server.security import drop_unreadable, local_principal


@dataclass(frozen=True)
class Row:
    label: Label
    place: int


@given(labels=st.lists(st.sampled_from(Label)), clearance=st.sampled_from(list(Label)[:3]))
def test_what_may_be_read_stays_in_order_and_nothing_else(labels: list[Label], clearance: Label) -> None:
    rows = [Row(label, place) for place, label in enumerate(labels)]
    kept = drop_unreadable(rows, local_principal(clearance))
    assert kept == [row for row in rows if row.label <= clearance]
    assert all(row.label is not Label.RESTRICTED for row in kept)
