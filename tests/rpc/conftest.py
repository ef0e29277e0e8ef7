"""One furnished server for all tests that only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.both import KINDS
from tests.rpc.house import House, furnish, house


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(Path(tmp_path_factory.mktemp("house")) / "data") as here:
        furnish(here)
        yield here


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the Python clients is used."""
    return str(request.param)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients ask for a sign of life each second."""
    monkeypatch.setattr("groundwire._call._KEEPALIVE_MS", 1_000)
    monkeypatch.setattr("groundwire._call._ANSWER_MS", 1_000)
