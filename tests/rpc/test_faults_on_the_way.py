"""What networks do to connections between real clients and a real server: nothing is lost, doubled, or left hanging."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import Client, GroundwireError, Reconnecting
from groundwire.v1 import admin_pb2
from tests.rpc.endings import NARROW
from tests.rpc.house import House, furnish, house
from tests.rpc.on_the_way import (
    CALLS,
    ORDINARY,
    PATIENCE,
    THOROUGH,
    begin,
    behind,
    breaks,
    in_time,
    nothing_left,
    plain,
    read,
    short_pauses,
    told,
)
from tests.support.eventually import eventually
from tests.support.fault_proxy import REFUSED, Flow, Inside, Line, Way


class Whole(dict[str, tuple[list[Any], Any]]):
    """What was told, and the whole, by the name of a call."""

    def __repr__(self) -> str:
        return "what each call gives"


@pytest.fixture(scope="module", autouse=True)
def _short_pauses() -> Iterator[None]:
    with short_pauses():
        yield


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("way") / "data"
    with house(folder, server__keepalive_seconds=2, limits__reader_idle_seconds=1) as served:
        furnish(served)
        served.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="bulk")))
        served.store({f"{n}.txt": f"{n} marmot " + "山と川。" * 100 for n in range(150)}, library="bulk")
        yield served
        assert nothing_left(served)


@pytest.fixture(scope="module")
def whole(here: House) -> Whole:
    """What each call gives where nothing happens on the way."""
    found = Whole()
    with Client(here.server.address) as client:
        for name in CALLS:
            stream = begin(client, name)
            frames = list(stream)
            assert len(frames) > 2
            found[name] = (told(frames), plain(stream.collect()))
    return found


# ---- streams that break --------------------------------------------------------------------------------------------


def assert_whole_or_nothing(here: House, whole: Whole, kind: str, name: str, lines: list[Line]) -> None:
    """An answer is whole whatever breaks; only one of which nothing had come may end with an error."""
    with behind(here, kind, *lines) as (proxy, client):
        stream = begin(client, name)
        frames, error = read(stream)
        if error is None:
            assert told(frames) == whole[name][0]
            assert plain(stream.collect()) == whole[name][1]
        else:
            assert not told(frames), error
            assert error.status in ("UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED"), error
            assert proxy.befallen


@ORDINARY
@given(name=st.sampled_from(sorted(CALLS)), lines=breaks(5))
def test_a_broken_answer_is_the_undisturbed_one(here: House, whole: Whole, kind: str, name: str, lines: Any) -> None:
    assert_whole_or_nothing(here, whole, kind, name, lines)


@pytest.mark.slow
@THOROUGH
@given(name=st.sampled_from(sorted(CALLS)), lines=breaks(7))
def test_many_more_broken_answers(here: House, whole: Whole, kind: str, name: str, lines: Any) -> None:
    assert_whole_or_nothing(here, whole, kind, name, lines)


@pytest.mark.parametrize(
    "name",
    [each if each in ("metric", "ask in parts") else pytest.param(each, marks=pytest.mark.slow) for each in CALLS],
)
def test_a_cut_inside_each_frame_in_turn(here: House, whole: Whole, kind: str, name: str) -> None:
    number = 0
    while True:
        number += 1
        with behind(here, kind, Line(down=Way(Inside("DATA", number, 14)))) as (proxy, client):
            frames = list(begin(client, name))
            assert told(frames) == whole[name][0]
            if not proxy.befallen:
                break
            assert sum(isinstance(frame, Reconnecting) for frame in frames) == 1
    assert number > 2


# ---- half-open connections -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["retrieve", "ask"])
def test_a_client_finds_out_that_nothing_comes_any_more(here: House, whole: Whole, kind: str, name: str) -> None:
    with behind(here, kind, Line(down=Way(Inside("DATA", 5, 14), "vanish"))) as (proxy, client):
        stream = begin(client, name)
        frames, error = in_time(lambda: read(stream))
        assert error is None
        assert told(frames) == whole[name][0]
        assert [type(frame) for frame in frames].count(Reconnecting) == 1
        assert len(proxy.connections) == 2


@pytest.mark.parametrize("name", ["retrieve", "ask"])
def test_a_server_finds_out_that_nobody_is_there_any_more(here: House, kind: str, name: str) -> None:
    """Neither side hears of the other again: not what it sends, and not that it goes."""
    with behind(here, kind, Line(Way(300, "vanish"), Way(700, "vanish")), timeout=0.5) as (proxy, client):
        _, error = in_time(lambda: read(begin(client, name)))
        assert error is not None
        assert error.status == "DEADLINE_EXCEEDED"
        (connection,) = proxy.connections
        assert connection.down.left.wait(PATIENCE)
        assert nothing_left(here)


# ---- deadlines -----------------------------------------------------------------------------------------------------

SILENT = {
    "nobody says a word": Line(down=Way(0, "vanish")),
    "nobody hears a word": Line(up=Way(0, "vanish")),
    "nothing behind the greeting": Line(down=Way(Inside("HEADERS", 1, 0), "vanish")),
    "nothing in the middle": Line(down=Way(Inside("DATA", 2, 3), "hold")),
}
OTHERS: dict[str, Any] = {
    "list_libraries": lambda client, **more: client.list_libraries(**more),
    "list_documents": lambda client, **more: list(client.list_documents(**more)),
    "get_document": lambda client, **more: client.get_document("many/001.txt", include_text=True, **more),
    "list_facts": lambda client, **more: list(client.list_facts(**more)),
    "route": lambda client, **more: client.route("Why do reports tell of rivers?", **more),
    "health": lambda client, **more: client.health(**more),
    "describe_metrics": lambda client, **more: list(client.describe_metrics(**more)),
}


@pytest.mark.parametrize("silence", sorted(SILENT))
def test_a_deadline_holds_whatever_is_silent(here: House, kind: str, silence: str) -> None:
    asked: dict[str, Any] = {
        "retrieve": lambda client: begin(client, "retrieve", timeout=0.3).collect(),
        "ask": lambda client: begin(client, "ask", timeout=0.3).collect(),
    }
    if silence != "nothing in the middle":  # an answer of one message has none
        asked |= {name: partial(call, timeout=0.3) for name, call in OTHERS.items()}
    for name, call in asked.items():
        with behind(here, kind, *[SILENT[silence]] * 3) as (_, client):
            error = in_time(partial(failure, call, client))
            assert error.status == "DEADLINE_EXCEEDED", name


def test_a_deadline_is_one_for_all_tries(here: House, kind: str) -> None:
    with behind(here, kind, Line(down=Way(Inside("DATA", 3, 12), "hold")), *[REFUSED] * 100) as (proxy, client):
        stream = begin(client, "retrieve", timeout=1.5)
        assert len(told([next(stream), next(stream)])) > 1
        proxy.reset()
        frames, error = in_time(lambda: read(stream))
        assert error is not None
        assert error.status in ("UNAVAILABLE", "DEADLINE_EXCEEDED")
        assert 0 < sum(isinstance(frame, Reconnecting) for frame in frames) < 8
        assert len(proxy.connections) == 1


def failure(call: Any, client: Client) -> GroundwireError:
    with pytest.raises(GroundwireError) as caught:
        call(client)
    return caught.value


# ---- calls that are not gone on with -------------------------------------------------------------------------------


@ORDINARY
@given(name=st.sampled_from(sorted(OTHERS)), lines=breaks(2))
def test_what_is_not_gone_on_with_is_whole_or_an_error(here: House, kind: str, name: str, lines: Any) -> None:
    with behind(here, kind) as (_, client):
        undisturbed = OTHERS[name](client)
    with behind(here, kind, *lines) as (_, client):
        try:
            seen = OTHERS[name](client)
        except GroundwireError as error:
            assert error.status in ("UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED")  # noqa: PT017 either is right
        else:
            assert seen == undisturbed


# ---- slow ones -----------------------------------------------------------------------------------------------------


def test_a_far_away_server(here: House, whole: Whole, kind: str) -> None:
    slow = Way(lag=0.02, drip=2_000)
    with behind(here, kind, Line(slow, slow)) as (_, client):
        for name in ("retrieve", "ask"):
            assert told(begin(client, name)) == whole[name][0]


def test_a_reader_that_gets_it_in_drops(here: House, whole: Whole, kind: str) -> None:
    """So many bytes at a time, and each lot only when the client has nothing left to read."""
    with behind(here, kind, Line(down=Way(0, "hold", drip=97))) as (proxy, client):
        stream = begin(client, "retrieve")
        assert eventually(lambda: bool(proxy.connections))
        frames: list[Any] = []
        reader = threading.Thread(target=lambda: frames.extend(stream), daemon=True)
        reader.start()
        down = proxy.connections[0].down
        while reader.is_alive():
            granted = down.passed + 1_003
            down.grant(1_003)
            eventually(partial(_is_taken, down, granted, reader), 0.5)
        assert told(frames) == whole["retrieve"][0]


def _is_taken(down: Flow, granted: int, reader: threading.Thread) -> bool:
    return down.passed >= granted or not reader.is_alive()


def test_a_reader_that_was_taken_for_idle_goes_on(here: House, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection stands still for longer than a reader may be idle: the server lets go of it, and it goes on."""
    monkeypatch.setattr("groundwire._call._lasting", lambda: NARROW)
    asked: dict[str, Any] = {"query": "marmot", "top_k": 150, "libraries": ["bulk"]}
    with Client(here.server.address) as direct:
        expected = plain(direct.retrieve(**asked).collect())
    assert len(expected.snippets) == 150
    with behind(here, kind, Line(down=Way(Inside("DATA", 3, 12), "hold"))) as (proxy, client):
        stream = client.retrieve(**asked)
        frames = [next(stream), next(stream)]
        assert eventually(lambda: not here.server.leftovers["calls"], 30)
        proxy.connections[0].down.grant()
        rest, error = in_time(lambda: read(stream))
        assert error is None
        assert plain(stream.collect()) == expected
        assert sum(isinstance(frame, Reconnecting) for frame in [*frames, *rest]) == 1
