"""Tools that ask the server what it has: by grpcio's own reflection client, and by `buf curl` in both versions."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from groundwire_server.rpc.methods import SERVICES, contract_methods
from groundwire_server.rpc.reflection import REFLECTION_METHODS
from tests.rpc.house import House, house
from tests.rpc.serving import failure_of

NAMES = sorted(
    [service.full_name for service in SERVICES]
    + ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"]
)
Request = reflection_pb2.ServerReflectionRequest
Response = reflection_pb2.ServerReflectionResponse


def reflect(here: House, method: str, *requests: Any) -> list[Any]:
    call = here.channel.stream_stream(f"/{method}", Request.SerializeToString, Response.FromString)
    return list(call(iter(requests)))


def buf(here: House, *arguments: str, path: str = "") -> str:
    """What `buf curl` says. It knows the contract from the server alone: it runs where no proto file lies."""
    command = [str(Path(sys.executable).with_name("buf")), "curl", "--protocol", "grpc", "--http2-prior-knowledge"]
    done = subprocess.run(
        [*command, *arguments, f"http://{here.server.address}{path}"],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_descriptor_database_is_filled_from_the_server(furnished: House) -> None:
    database = ProtoReflectionDescriptorDatabase(furnished.channel)
    assert sorted(database.get_services()) == NAMES
    pool = DescriptorPool(database)
    for name, method in contract_methods().items():
        service, _, short = name.partition("/")
        found = pool.FindServiceByName(service).methods_by_name[short]
        assert found.input_type.full_name == method.input_type.full_name
        assert (found.client_streaming, found.server_streaming) == (method.client_streaming, method.server_streaming)
    assert pool.FindMessageTypeByName("google.rpc.BadRequest").fields_by_name["field_violations"]


@pytest.mark.parametrize("method", sorted(REFLECTION_METHODS))
def test_both_versions_know_the_same_and_each_other(furnished: House, method: str) -> None:
    listed, missing, broken, extension, numbers = reflect(
        furnished,
        method,
        Request(list_services="*"),
        Request(file_containing_symbol="groundwire.v1.NoSuchThing"),
        Request(),
        Request(file_containing_extension={"containing_type": "groundwire.v1.Filter", "extension_number": 1}),  # type: ignore[arg-type]
        Request(all_extension_numbers_of_type="groundwire.v1.Filter"),
    )
    assert [each.name for each in listed.list_services_response.service] == NAMES
    assert missing.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
    assert broken.error_response.error_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert extension.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
    assert numbers.all_extension_numbers_response.base_type_name == "groundwire.v1.Filter"
    for name in NAMES:
        (response,) = reflect(furnished, method, Request(file_containing_symbol=name))
        files = [FileDescriptorProto.FromString(raw) for raw in response.file_descriptor_response.file_descriptor_proto]
        package, _, service = name.rpartition(".")
        assert any(file.package == package and service in [each.name for each in file.service] for file in files)
        for file in files:
            assert set(file.dependency) <= {each.name for each in files}


def test_the_file_of_v1_is_that_of_v1alpha_but_for_its_name(furnished: House) -> None:
    texts = []
    for version in ("v1", "v1alpha"):
        symbol = f"grpc.reflection.{version}.ServerReflection"
        (response,) = reflect(furnished, min(REFLECTION_METHODS), Request(file_containing_symbol=symbol))
        (raw,) = response.file_descriptor_response.file_descriptor_proto
        file = FileDescriptorProto.FromString(raw)
        file.options.ClearField("deprecated")
        texts.append(str(file).replace("v1alpha", "v1"))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("version", ["grpc-v1", "grpc-v1alpha"])
def test_buf_curl_calls_without_any_file(furnished: House, version: str) -> None:
    reflecting = ["--reflect", "--reflect-protocol", version]
    assert (
        set(NAMES)
        >= set(buf(furnished, *reflecting, "--list-services").split())
        >= {service.full_name for service in SERVICES}
    )
    path = "/groundwire.v1.NarrativeService/NarrativeRetrieve"
    said = buf(furnished, *reflecting, "-d", '{"query": "fox", "topK": 1}', path=path)
    decoder, frames = json.JSONDecoder(), []
    while said.strip():
        frame, end = decoder.raw_decode(said.lstrip())
        frames.append(frame)
        said = said.lstrip()[end:]
    assert [next(iter(frame)) for frame in frames] == ["header", "batch", "summary"]


def test_bytes_that_are_no_question_are_refused_as_everywhere(furnished: House) -> None:
    call = furnished.channel.stream_stream(f"/{min(REFLECTION_METHODS)}")
    failure = failure_of(lambda: call(iter([b"\xff\xff"])))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")


def test_a_tool_that_stays_connected_does_not_hold_up_a_stop(tmp_path: Path) -> None:
    with house(tmp_path / "d", server__drain_seconds=60) as here:
        call = here.channel.stream_stream(f"/{min(REFLECTION_METHODS)}", Request.SerializeToString, Response.FromString)
        asked: queue.Queue[Any] = queue.Queue()
        answers = call(iter(asked.get, None))
        asked.put(Request(list_services="*"))
        assert next(answers).list_services_response.service
    failure = failure_of(lambda: answers)
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
    asked.put(None)
