"""A call that is given up ends where its work next looks at the token: no further look, no further frame."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from groundwire_server.evidence import CancelToken
from tests.rpc.house import House, furnish, house
from tests.rpc.resuming import ask, requests
from tests.rpc.serving import Failure
from tests.support.eventually import eventually

REQUESTS = requests()


class Looks:
    """Counts how often work looks at its token, and cancels at one of these looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen = 0
        self.at: int | None = None
        self._lock = threading.Lock()
        check = CancelToken.check

        def look(token: CancelToken, stage: str = "") -> None:
            with self._lock:
                self.seen += 1
                if self.seen == self.at:
                    token.cancel()
            check(token, stage)

        monkeypatch.setattr(CancelToken, "check", look)

    def begin(self, at: int | None) -> None:
        """From here on, cancel at that look; None: never."""
        self.seen, self.at = 0, at


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("looks") / "data") as served:
        furnish(served)
        yield served


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_every_look_at_the_token_is_an_end(here: House, looks: Looks, name: str) -> None:
    request = REQUESTS[name]
    list(ask(here, request))  # what is loaded by a first call is there
    looks.begin(None)
    whole = list(ask(here, request))
    places = looks.seen
    assert places > 0
    for place in sorted({1, 2, 3, *range(1, places + 1, max(1, places // 12)), places}):
        looks.begin(place)
        got: list[Any] = []
        with pytest.raises(Exception) as caught:  # noqa: PT011 - looked at below
            got.extend(ask(here, request))
        assert Failure.of(caught.value).code.name == "CANCELLED", (place, places)  # type: ignore[arg-type]
        assert len(got) < len(whole)
        assert eventually(lambda: not any(here.server.leftovers.values()))
        # Those who work side by side may each look once more.
        assert looks.seen <= place + 4, (place, places)
