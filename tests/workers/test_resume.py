"""A cursor that one process has sealed is good in every other one, and in the one that takes its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import narrative_pb2, narrative_pb2_grpc, stream_pb2
from tests.rpc.resuming import cuts, expected, rest, resumed
from tests.support.eventually import eventually
from tests.workers.processes import Caller, served, to_each

READERS = {"reader-1", "reader-2"}
REQUEST = narrative_pb2.NarrativeRetrieveRequest(
    options=stream_pb2.CallOptions(reference_date="2025-06-30"), query="report about rivers 川", top_k=45
)


@pytest.mark.parametrize("dies", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_stream_goes_on_in_another_process(tmp_path: Path, dies: bool) -> None:
    with served(tmp_path / "data") as here:
        one, other = (each for _, each in sorted(to_each(here.address, READERS).items()))
        one.store({f"{number:02}.txt": f"A report about rivers 川 {number}" for number in range(45)})
        assert eventually(lambda: len(other.found("rivers")) == 45)
        whole = streamed(one, REQUEST)
        places = list(cuts(whole))
        assert len(places) > 1
        one.store({"late.txt": "A report about rivers 川", "00.txt": "Nothing."})
        for cut in places:
            assert rest(streamed(other, resumed(REQUEST, cut.token))) == expected(whole, cut.counts)
        assert eventually(lambda: "late.txt" in one.found("rivers"))
        own = streamed(one, REQUEST)  # as it is now, which the other process may not know yet
        (first, *_) = cuts(own)
        assert eventually(lambda: is_caught_up(other, first.token))
        assert rest(streamed(other, resumed(REQUEST, first.token))) == expected(own, first.counts)
        one.close()
        other.close()
        if dies:
            here.kill("reader-1")
            for each in to_each(here.address, READERS).values():
                for cut in places:
                    assert rest(streamed(each, resumed(REQUEST, cut.token))) == expected(whole, cut.counts)
                each.close()


def streamed(caller: Caller, request: narrative_pb2.NarrativeRetrieveRequest) -> list[Any]:
    return list(narrative_pb2_grpc.NarrativeServiceStub(caller.channel).NarrativeRetrieve(request, timeout=60))


def is_caught_up(caller: Caller, token: bytes) -> bool:
    """Until then it says that it will be in a moment; never anything else."""
    try:
        streamed(caller, resumed(REQUEST, token))
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.UNAVAILABLE:
            raise
        return False
    return True
