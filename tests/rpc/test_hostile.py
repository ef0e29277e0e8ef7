"""Any request at all gets an answer or a typed refusal; never INTERNAL, and the server stays up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.rpc.methods import contract_methods
from tests.rpc.house import House, furnish, house
from tests.support.refusals import faults_of_form

TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "default",
            "fox",
            "population",
            "Japan",
            "日本",
            "2020",
            "last year",
            "doc_id",
            "title",
            "entity:JPN",
            "parent_of",
            "linear",
            "none",
            "en",
            "notes/fox.md",
            "notes/fox.md#line=3",
            "00000000-0000-4000-8000-000000000001",
            "\u2028\r\n\t",
            "e\u0301\u200d😀字が",
            "x" * 9000,
            "字" * 3000,
            "%\x00\x7f" * 700,
            "secret/vault.md",
            "kanarienvogel",
            "What was the population of Japan in 2020 and why?",
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
)
INTEGERS = {
    FieldDescriptor.TYPE_INT32: st.integers(-(2**31), 2**31 - 1) | st.integers(-1, 5),
    FieldDescriptor.TYPE_INT64: st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 5),
    FieldDescriptor.TYPE_UINT32: st.integers(0, 2**32 - 1) | st.integers(0, 5),
    FieldDescriptor.TYPE_UINT64: st.integers(0, 2**64 - 1) | st.integers(0, 5),
}
# What a stream of random parts would only make slow: the gap between two numbers of parts is tested elsewhere.
STREAMED = {"groundwire.v1.IngestService/IngestDocuments", "groundwire.v1.IngestService/IngestFacts"}
CHANGING = {"groundwire.v1.AdminService/SaveLibrary", "groundwire.v1.AdminService/UpdateGlossary"}


def value_of(field: FieldDescriptor, draw: st.DrawFn, depth: int) -> Any:
    match field.type:
        case FieldDescriptor.TYPE_MESSAGE:
            return draw_message(field.message_type, draw, depth + 1)
        case FieldDescriptor.TYPE_ENUM:
            numbers = [each.number for each in field.enum_type.values]
            return draw(st.sampled_from([*numbers, *numbers, 99, -1]))
        case FieldDescriptor.TYPE_STRING:
            return draw(TEXTS)
        case FieldDescriptor.TYPE_BYTES:
            return draw(st.binary(max_size=40))
        case FieldDescriptor.TYPE_BOOL:
            return draw(st.booleans())
        case FieldDescriptor.TYPE_DOUBLE:
            return draw(st.floats())
        case kind:
            return draw(INTEGERS[kind])


def draw_message(descriptor: Descriptor, draw: st.DrawFn, depth: int = 0) -> Message:
    """A message with some of its fields set, at any depth that a filter may have and a little more."""
    message = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        odds = 2 if depth < 2 else 4  # 0, the simplest draw, leaves a field unset
        if depth > 10 or draw(st.integers(0, odds)) != odds:
            continue
        if field.is_repeated:
            values = [value_of(field, draw, depth) for _ in range(draw(st.integers(0, 3)))]
            getattr(message, field.name).extend(values)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            getattr(message, field.name).CopyFrom(value_of(field, draw, depth))
        else:
            setattr(message, field.name, value_of(field, draw, depth))
    if draw(st.integers(0, 30)) == 30:
        message.MergeFromString(b"\xf8\x07\x01")  # a field of a newer client
    return message


@st.composite
def requests(draw: st.DrawFn, name: str) -> list[bytes]:
    method = contract_methods()[name]
    count = draw(st.integers(0, 4)) if method.client_streaming else 1
    made = [draw_message(method.input_type, draw).SerializeToString() for _ in range(count)]
    if draw(st.integers(0, 20)) == 20 and made:
        made[-1] = draw(st.binary(max_size=60))
    return made


HIDDEN = (b"kanarienvogel", b"hides in the vault", b"secret/")
IDS = st.none() | st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=200)


def answer(here: House, name: str, sent: list[bytes], request_id: str | None = None) -> grpc.RpcError | None:
    method = contract_methods()[name]
    path, channel = f"/{name}", here.channel
    given: dict[str, Any] = {"timeout": 20, "metadata": () if request_id is None else (("x-request-id", request_id),)}
    call: Any
    try:
        if method.client_streaming:
            call = channel.stream_stream(path)
            list(call(iter(sent), **given))
        elif method.server_streaming:
            call = channel.unary_stream(path)
            list(call(sent[0], **given))
        else:
            call = channel.unary_unary(path)
            call(sent[0], **given)
    except grpc.RpcError as error:
        return error
    return None


def check(here: House, name: str, sent: list[bytes], request_id: str | None = None) -> None:
    error = answer(here, name, sent, request_id)
    if error is None:
        return
    faults = faults_of_form(error, b"".join(sent) + (request_id or "").encode(), HIDDEN)
    log = [line for line in here.log() if line["event"] == "fault"][-1:] if "a fault of the server" in faults else []
    assert not faults, (faults, error, log)


READS = sorted(set(contract_methods()) - STREAMED - CHANGING)


@pytest.mark.parametrize("name", READS)
@settings(max_examples=20)
@given(data=st.data())
def test_any_read_is_answered_or_refused_with_a_reason(furnished: House, name: str, data: st.DataObject) -> None:
    check(furnished, name, data.draw(requests(name)), data.draw(IDS))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with house(Path(tmp_path_factory.mktemp("other")) / "data") as here:
        furnish(here)
        yield here


@pytest.mark.parametrize("name", sorted(STREAMED | CHANGING))
@settings(max_examples=20)
@given(data=st.data())
def test_any_write_is_done_or_refused_with_a_reason(other: House, name: str, data: st.DataObject) -> None:
    check(other, name, data.draw(requests(name)), data.draw(IDS))


@settings(max_examples=60)
@given(sent=st.binary(max_size=200))
def test_any_bytes_are_refused_or_answered(furnished: House, sent: bytes) -> None:
    check(furnished, "groundwire.v1.NarrativeService/NarrativeRetrieve", [sent])


class Forged(grpc.RpcError):
    """A status as one is not to be."""

    def __init__(self, code: grpc.StatusCode, message: str, raw: bytes = b"") -> None:
        self._told = code, message, raw

    def code(self) -> grpc.StatusCode:
        return self._told[0]

    def details(self) -> str:
        return self._told[1]

    def trailing_metadata(self) -> Any:
        return (("grpc-status-details-bin", self._told[2]),)


@pytest.mark.parametrize(
    ("forged", "fault"),
    [
        (Forged(grpc.StatusCode.UNAVAILABLE, "bare"), "no reason of the contract"),
        (Forged(grpc.StatusCode.UNAVAILABLE, "bare"), "RetryInfo where it does not belong, or none where it does"),
        (Forged(grpc.StatusCode.INTERNAL, "KeyError: 'x'"), "words of another's exception"),
        (Forged(grpc.StatusCode.INTERNAL, "x"), "a fault of the server"),
        (Forged(grpc.StatusCode.NOT_FOUND, "x" * 2000), "message over 1 KiB"),
        (Forged(grpc.StatusCode.NOT_FOUND, "kanarienvogel"), "hidden content"),
        (Forged(grpc.StatusCode.NOT_FOUND, "x", b"\xff"), "details are no google.rpc.Status"),
    ],
)
def test_what_is_not_in_the_form_is_seen(forged: Forged, fault: str) -> None:
    assert fault in faults_of_form(forged, hidden=HIDDEN)
