"""QueryMetric answers what an oracle says that knows nothing of the server."""

from __future__ import annotations

import pytest

from tests.oracle.run import CALLS_A_WORLD, run


def test_a_few_hundred_calls_are_answered_as_the_oracle_says() -> None:
    report = run(range(12))
    assert report.verdict.calls == 12 * CALLS_A_WORLD
    assert not report.different, report.text()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_thousand_calls_are_answered_as_the_oracle_says() -> None:
    report = run(range(1_000, 1_400))
    assert report.verdict.calls >= 10_000
    assert not report.different, report.text()
