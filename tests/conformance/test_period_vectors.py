"""The period vectors hold for this implementation."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.glossary import PeriodError, parse_period

PERIODS = json.loads((Path(__file__).parent / "periods.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", PERIODS["vectors"], ids=[vector["text"] for vector in PERIODS["vectors"]])
def test_period(vector: dict[str, Any]) -> None:
    given = {name: vector[name] for name in ("fiscal_year_start", "fiscal_year_named_by", "language") if name in vector}
    reference = date.fromisoformat(PERIODS["reference"])
    if "fault" in vector:
        with pytest.raises(PeriodError) as raised:
            parse_period(vector["text"], reference=reference, **given)
        assert raised.value.fault.value == vector["fault"]
        assert list(raised.value.candidates) == vector.get("candidates", [])
        return
    period = parse_period(vector["text"], reference=reference, **given)
    assert (period.canonical, period.kind.value) == (vector["period"], vector["kind"])
    assert (period.first.isoformat(), period.last.isoformat()) == (vector["first"], vector["last"])
