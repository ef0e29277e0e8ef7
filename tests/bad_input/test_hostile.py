"""Every string, every enumeration and every message of every request: answered, or refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor

from groundwire.v1 import ingest_pb2
from groundwire_server.errors import ErrorReason
from tests.bad_input.conftest import Tell
from tests.bad_input.table import Told
from tests.bad_input.walk import Place, answer, messages, places
from tests.rpc.house import House, furnish, house
from tests.rpc.serving import Failure

TEXTS = {
    "nul": "a\0b",
    "bidi": "safe\u202egnp.exe\u2066",
    "joiners": "👩\u200d👩\u200d👧\u200d\u200d",
    "10k_combining_marks": "e" + "\u0301" * 10_000,
    "line_separator": "one\u2028two\u2029three\x85",
    "private_use": "\ue000\U000f0000",
    "noncharacters": "\ufdd0\uffff\U0010ffff",
    "64_KiB": "字" * 21_846,
}
_PLACE = re.compile(r"\[\d+\]")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server of their own: what is well-formed is written too."""
    with house(Path(tmp_path_factory.mktemp("hostile")) / "data") as running:
        furnish(running)
        yield running
        assert not [line for line in running.log() if line["event"] == "fault"]


def check(place: Place, failure: Failure | None) -> str:
    """The status, which has a reason of the contract."""
    if failure is None:
        return "OK"
    where = (place.method, place.path, failure)
    assert failure.reason in ErrorReason.__members__, where
    assert failure.code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN), where
    assert len(failure.message.encode()) <= 1024, where
    assert all(reason in ErrorReason.__members__ for _, reason, _ in failure.violations), where
    return failure.code.name


def statuses(seen: set[str]) -> str:
    return ", ".join(sorted(seen, key=lambda name: (name != "OK", name)))


@pytest.mark.parametrize("kind", TEXTS)
def test_hostile_text_in_every_string(other: House, told: Tell, kind: str) -> None:
    strings = list(places(lambda field: field.type == FieldDescriptor.TYPE_STRING))
    assert len({place.method for place in strings}) > 25
    seen = {
        check(place, answer(other, place.method, place.request(TEXTS[kind]).SerializeToString())) for place in strings
    }
    told(Told(statuses(seen), "each"))


def test_an_unknown_value_in_every_enumeration(other: House, told: Tell) -> None:
    enums = list(places(lambda field: field.type == FieldDescriptor.TYPE_ENUM))
    labels = ingest_pb2.Label.DESCRIPTOR
    seen = set()
    for place in enums:
        failure = answer(other, place.method, place.request(99).SerializeToString())
        seen.add(check(place, failure))
        if place.way[-1].enum_type is labels or "IngestFacts" in place.method:
            continue  # an unknown label is RESTRICTED; a record is refused by itself
        assert failure is not None, (place.method, place.path)
        assert failure.code is grpc.StatusCode.INVALID_ARGUMENT, (place.method, place.path, failure)
        fields = [_PLACE.sub("", field) for field, _, _ in failure.violations]
        assert any(place.path.startswith(field) for field in fields), (place.method, place.path, failure)
    told(Told(statuses(seen), "each"))


def test_an_unknown_field_in_every_message(other: House, told: Tell) -> None:
    """A member of a oneof that this server does not have is one of these."""
    asked = list(messages())
    seen = set()
    for place in asked:
        failure = answer(other, place.method, place.with_unknown_field().SerializeToString())
        assert failure is not None, (place.method, place.path)
        seen.add(check(place, failure))
        assert [reason for _, reason, _ in failure.violations] == ["UNKNOWN_NAME"], (place.method, place.path, failure)
    told(Told(statuses(seen), "each"))
