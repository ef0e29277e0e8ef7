"""What the tests of the clients share."""

from __future__ import annotations

import pytest

from tests.client.both import KINDS, Connect


@pytest.fixture(params=KINDS)
def connect(request: pytest.FixtureRequest) -> Connect:
    """Opens a client of each kind; what a test says holds for both."""
    return KINDS[request.param]
