"""A plugin of pytest: every house of `tests/rpc` is one of several processes, `-p tests.workers.as_team`.

The tests then speak to a process that reads, and it passes on to one that writes what it cannot answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tests.rpc.house
from tests.rpc.house import House
from tests.workers.team import team

__all__ = ["house", "pytest_configure"]


@contextmanager
def house(data: Path, **settings: object) -> Iterator[House]:
    """The house of a reader."""
    with team(data, 1, **settings) as made:
        yield made.readers[0]


def pytest_configure() -> None:
    """Before any test is read; whoever only imports this module changes nothing."""
    tests.rpc.house.house = house
