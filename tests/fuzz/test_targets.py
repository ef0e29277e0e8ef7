"""Every target of the fuzzing holds for its seeds, for what was once found, and for what hypothesis draws."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.v1 import filter_pb2
from groundwire_server.errors import GroundwireError
from groundwire_server.rpc.cursor import CursorKey
from groundwire_server.rpc.methods import contract_methods
from tests.fuzz import targets
from tests.fuzz.seeds import FOUND, seeds
from tests.fuzz.targets import METHODS, SEALED, TARGETS
from tests.rpc.test_hostile import draw_message

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_and_what_was_found(name: str) -> None:
    for data in seeds(name):
        TARGETS[name](data)


def test_what_was_found_belongs_to_a_target() -> None:
    assert {path.parent.name for path in FOUND.glob("*/*")} <= set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60)
@given(data=st.data())
def test_any_bytes(name: str, data: st.DataObject) -> None:
    """Bytes, and seeds that are cut, joined and bent."""
    seed, other = (data.draw(st.sampled_from(seeds(name))) for _ in range(2))
    cut = data.draw(st.integers(0, len(seed)))
    bent = seed[:cut] + data.draw(st.binary(max_size=12)) + other[data.draw(st.integers(0, len(other))) :]
    TARGETS[name](data.draw(st.sampled_from([bent, bent[:cut]])) if data.draw(st.booleans()) else bent)


@pytest.mark.parametrize("place", range(len(METHODS)), ids=METHODS)
@settings(max_examples=30)
@given(data=st.data())
def test_any_request(place: int, data: st.DataObject) -> None:
    message = draw_message(contract_methods()[METHODS[place]].input_type, data.draw)
    targets.fuzz_request(bytes([place]) + message.SerializeToString())


@settings(max_examples=300)
@given(data=st.data())
def test_any_filter(data: st.DataObject) -> None:
    targets.fuzz_filter(draw_message(filter_pb2.Filter.DESCRIPTOR, data.draw).SerializeToString())


@given(place=st.integers(0, len(SEALED) - 1), bits=st.integers(1, 255))
def test_a_cursor_with_one_byte_changed(place: int, bits: int) -> None:
    targets.fuzz_cursor(b"\0" * place + bytes([bits]))


@pytest.mark.parametrize("name", TARGETS)
def test_a_fault_would_be_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each target fails on code that is broken."""
    broken = {
        "request": ("unknown_fields", lambda message: [message.no_field]),
        "filter": ("encode_filter", lambda _tree: filter_pb2.Filter()),
        "cursor": ("KEY", _Open()),
        "page_token": ("PAGER", _Open()),
        "locator": ("encode_id", lambda text: text + "%"),
        "period": ("parse_period", lambda text, **_: text),
        "text": ("sentence_spans", lambda _text: []),
    }
    monkeypatch.setattr(targets, *broken[name])

    def run() -> None:
        for data in seeds(name):
            TARGETS[name](data)

    with pytest.raises((AssertionError, AttributeError, KeyError, ValueError)):
        run()


class _Open:
    """A key that opens whatever it is given."""

    after = ("a",)

    def bound_to(self, *_: object) -> _Open:
        return self

    def begin(self, *_: object) -> _Open:
        return self

    def open(self, _token: bytes) -> _Open:
        return self

    resume = property(lambda self: self)
    position = None


def test_a_cursor_is_of_one_caller_and_one_request() -> None:
    others = [
        targets.KEY.bound_to("other", targets._ASKED, targets.ME),
        CursorKey(b"another secret", 3600.0, now=lambda: 1_750_000_000).bound_to("m", targets._ASKED, targets.ME),
    ]
    for other in others:
        with pytest.raises(GroundwireError, match="another request"):
            other.open(SEALED)


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed: make fuzz installs it")
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", TARGETS)
def test_atheris_finds_nothing_in_a_short_while(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tests" / "fuzz" / "fuzz.py"), name, "5"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert "Done" in ran.stderr
