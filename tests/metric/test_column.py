"""The figures of every entity at once are those that are found one by one."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import pytest

from groundwire_server.evidence import Call, CallOptions, Label, MetricKey, Principal, RefusalReason
from groundwire_server.metric import figures_of_many, library_view, unit_key
from groundwire_server.metric.calculation import Operand, operand_of
from groundwire_server.metric.column import whole_figures
from groundwire_server.metric.exit import fact_snippet_id
from groundwire_server.metric.figures import period_of
from tests.metric.test_differential import CHANNELS, ENTITIES, GLOSSARY, METRICS, MOMENTS, PERIODS, _record, _rows
from tests.metric.world import open_library, recorded


@pytest.mark.parametrize("seed", range(4))
def test_a_column_holds_what_is_found_one_by_one(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    rows = _rows(chosen, 500, 4)
    split = [[_record(row) for row in rows if row.recorded == recorded(batch)] for batch in range(4)]
    library = open_library(tmp_path, GLOSSARY, split)
    snapshot = library.snapshot()
    singles = conflicts = 0
    for _ in range(60):
        clearance = chosen.choice([Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED])
        known, valid = chosen.choice([None, None, *MOMENTS]), chosen.choice([None, None, *MOMENTS])
        options = CallOptions(known_at=known, valid_at=valid, reference_date=date(2025, 6, 30))
        view = library_view(snapshot, Call(Principal("p", clearance), options))
        metric, channel = chosen.choice(list(METRICS)), chosen.choice(list(CHANNELS))
        record = _record(chosen.choice([row for row in rows if row.days in PERIODS]))
        days = period_of(record)
        column = figures_of_many(view.figures, view.vocabulary.glossary, metric, days, channel)
        assert figures_of_many(view.figures, view.vocabulary.glossary, metric, days, channel) is column
        for entity in ENTITIES:
            figures = view.figures.find(metric, entity, days, channel, ())
            key = MetricKey(metric, entity, days.canonical, channel)
            operand = operand_of(key, figures, GLOSSARY) if figures else None
            line = column.lines.get(entity)
            if operand is None or operand is RefusalReason.OPERAND_CONFLICTING:
                assert line is None
                assert (entity in column.conflicting) is (operand is not None)
                conflicts += operand is not None
                continue
            assert line is not None
            several = len({unit_key(figure.record.unit) for figure in figures}) > 1
            assert (entity in column.unlike) is several
            if isinstance(operand, Operand):
                (name,) = column.snippet_ids("lib", [line], column.repeats)
                (whole,) = whole_figures(view.figures, [line], column.versions, column.repeats)
                assert name == operand.snippet_id == fact_snippet_id(whole)
                assert whole in figures
                singles += 1
    assert singles > 20
    assert conflicts
    library.close()
