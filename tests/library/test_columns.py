"""Columns follow a store and older views stay true."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Label
from groundwire_server.library.columns import ALIVE, ColumnBuilder
from groundwire_server.store import RevisionSpan
from groundwire_server.store.conformance import START

sizes = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(Label), st.booleans()), min_size=1, max_size=30)


def _spans(drawn: list[tuple[int, Label, bool]]) -> list[RevisionSpan]:
    spans, row = [], 1
    for number, (chunks, label, dated) in enumerate(drawn):
        valid_as_of = START + timedelta(days=number) if dated else None
        revision = number // 4 + 1
        born = number + 1
        spans.append(RevisionSpan(row, chunks, f"d{number % 4}", revision, label, valid_as_of, born, None, revision))
        row += chunks
    return spans


@given(drawn=sizes, cut=st.integers(0, 30), deaths=st.lists(st.integers(0, 29), max_size=10))
def test_views_are_what_was_there(drawn: list[tuple[int, Label, bool]], cut: int, deaths: list[int]) -> None:
    spans = _spans(drawn)
    cut = min(cut, len(spans))
    builder = ColumnBuilder()
    builder.add(spans[:cut])
    early = builder.view()
    generation = len(spans) + 1
    builder.add(spans[cut:])
    dying = sorted({number for number in deaths if number < len(spans)})
    builder.retire(replace(spans[number], died=generation) for number in dying)
    late = builder.view()
    for view, seen, now in ((early, spans[:cut], cut), (late, spans, generation)):
        rows = [(span, seq) for span in seen for seq in range(span.chunks)]
        assert view.rows == len(rows)
        assert [view.tie_key(row) for row in range(view.rows)] == [(s.doc_id, s.revision, seq) for s, seq in rows]
        chunk_rows = view.chunk_rows(np.arange(view.rows))
        assert chunk_rows.tolist() == [s.first_row + seq for s, seq in rows]
        assert view.rows_of(chunk_rows).tolist() == list(range(view.rows))
        assert view.rows_of(np.array([len(rows) + 1, 999])).tolist() == [view.rows, view.rows]
        for clearance in Label:
            readable = [s.label <= clearance and s.label is not Label.RESTRICTED for s, _ in rows]
            dead = [now == generation and spans.index(s) in dying for s, _ in rows]
            alive = [r and not d for r, d in zip(readable, dead, strict=True)]
            assert view.spread(view.visible(clearance, now)).tolist() == alive
            moment = START + timedelta(days=3)
            valid = [
                a and (s.valid_as_of is None or s.valid_as_of <= moment) for a, (s, _) in zip(alive, rows, strict=True)
            ]
            assert view.spread(view.visible(clearance, now, moment)).tolist() == valid
        keys = view.chunk_keys(np.arange(view.rows))
        assert len(set(keys.tolist())) == view.rows
    assert late.chunk_keys(np.arange(early.rows)).tolist() == early.chunk_keys(np.arange(early.rows)).tolist()


def test_views_cannot_be_written() -> None:
    builder = ColumnBuilder()
    builder.add(_spans([(2, Label.PUBLIC, True)]))
    view = builder.view()
    for column in (view.revision_of, view.label, view.born, view.died, view.key):
        assert not column.flags.writeable
    assert view.died.tolist() == [ALIVE]


def test_an_empty_library_has_empty_columns() -> None:
    view = ColumnBuilder().view()
    assert (view.rows, view.revisions) == (0, 0)
    assert view.spread(view.visible(Label.PUBLIC, 0)).tolist() == []
    assert view.rows_of(np.array([1, 2])).tolist() == [0, 0]
