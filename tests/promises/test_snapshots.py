"""A stream reads one state from its first frame to its last, however slow its reader is and whatever is written
meanwhile; and a state that nobody reads any more is let go, however its last stream ended (semantics 10; promise 4).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import grpc
import pytest

from groundwire.v1 import (
    admin_pb2,
    graph_pb2,
    graph_pb2_grpc,
    ingest_pb2,
    metric_pb2,
    metric_pb2_grpc,
    narrative_pb2,
    narrative_pb2_grpc,
    router_pb2,
    router_pb2_grpc,
    stream_pb2,
)
from groundwire_server.library import Snapshot
from tests.rpc.house import House, fact, house
from tests.support.canonical import canonical
from tests.support.eventually import eventually

LIBRARY = "held"
DOCUMENTS, FIGURES = 40, 600
# An answer is larger than what a stream may have under way, so that the server waits for its reader.
NARROW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1 << 16)]
OPTIONS = stream_pb2.CallOptions(explain=stream_pb2.EXPLAIN_LEVEL_PLAN, language="en")


def state(number: int) -> tuple[dict[str, str], ingest_pb2.FactRecords]:
    """What the library holds after a write: other texts, figures and relations under the same names."""
    texts = {
        f"{at}.md": f"Population of {at} and 売上高 in state {number}. " + f"filler {number} 人口 " * 1500
        for at in range(number, DOCUMENTS + number)
    }
    relations = [
        ingest_pb2.RelationRecord(
            subject="ROOT",
            relation="parent_of",
            object=f"N{at}",
            object_kind="entity",
            source_doc=f"relations-{number}.jsonl",
            locator=f"line={at}",
        )
        for at in range(number * 10, FIGURES)
    ]
    facts = [fact("population", f"N{at}", "2020", str(at + number), unit="persons") for at in range(FIGURES)]
    return texts, ingest_pb2.FactRecords(facts=facts, relations=relations)


def write(here: House, number: int) -> None:
    texts, records = state(number)
    here.store(texts, library=LIBRARY)
    here.store_facts(records, library=LIBRARY)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("held") / "data", embedding__backend="deterministic") as served:
        library = admin_pb2.Library(library_id=LIBRARY, index=admin_pb2.IndexSettings(chunker="whole"))
        served.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
        write(served, 0)
        yield served


READS: dict[str, Callable[[grpc.Channel], Any]] = {
    "NarrativeRetrieve": lambda channel: narrative_pb2_grpc.NarrativeServiceStub(channel).NarrativeRetrieve(
        narrative_pb2.NarrativeRetrieveRequest(query="population 売上高", top_k=DOCUMENTS, options=OPTIONS)
    ),
    "QueryMetric": lambda channel: metric_pb2_grpc.MetricServiceStub(channel).QueryMetric(
        metric_pb2.QueryMetricRequest(
            queries=[
                metric_pb2.MetricQuery(metric="population", entity=f"N{at}", period="2020") for at in range(FIGURES)
            ],
            options=OPTIONS,
        )
    ),
    "GraphTrace": lambda channel: graph_pb2_grpc.GraphServiceStub(channel).GraphTrace(
        graph_pb2.GraphTraceRequest(
            closure=graph_pb2.Closure(node_ids=["ROOT"], relations=["parent_of"]), options=OPTIONS
        )
    ),
    "Ask": lambda channel: router_pb2_grpc.RouterServiceStub(channel).Ask(
        router_pb2.AskRequest(question="What does the text say about 売上高?", top_k=DOCUMENTS, options=OPTIONS)
    ),
}


@contextmanager
def narrow_channel(here: House) -> Iterator[grpc.Channel]:
    channel = grpc.insecure_channel(here.server.address, options=[*NARROW, ("grpc.use_local_subchannel_pool", 1)])
    try:
        yield channel
    finally:
        channel.close()


def settled(here: House) -> bool:
    """Whether what was written has its vectors: they come after the write, and each makes a state of its own."""
    answer = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest())
    return all(each.embedding_coverage == 1 for each in answer.libraries)


@pytest.mark.parametrize("name", READS)
def test_a_slow_reader_reads_one_state_while_others_are_written(here: House, name: str) -> None:
    assert eventually(lambda: settled(here), 60)
    with narrow_channel(here) as channel:
        before = canonical(READS[name](channel))
        slow = READS[name](channel)
        frames = [next(slow)]
        for number in (3, 7):
            write(here, number)
        if name == "NarrativeRetrieve":  # the answer is long enough for the stream to be under way still
            assert eventually(lambda: list(here.server.leftovers.values()) == [1, 1, 1, 0])
        frames += slow
        assert canonical(frames) == before
        assert eventually(lambda: settled(here), 60)
        assert canonical(READS[name](channel)) != before
    write(here, 0)


# ---- what is left --------------------------------------------------------------------------------------------------


def states() -> int:
    """How many states of the library there are in this process."""
    gc.collect()
    return sum(1 for each in gc.get_objects() if type(each) is Snapshot and each.library_id == LIBRARY)


def to_the_end(here: House, start: Callable[[grpc.Channel], Any]) -> None:
    list(start(here.channel))


def cancelled(here: House, start: Callable[[grpc.Channel], Any]) -> None:
    with narrow_channel(here) as channel:
        stream = start(channel)
        next(stream)
        stream.cancel()


def reader_gone(here: House, start: Callable[[grpc.Channel], Any]) -> None:
    with narrow_channel(here) as channel:
        stream = start(channel)
        next(stream)


def out_of_time(here: House, start: Callable[[grpc.Channel], Any]) -> None:
    class Hurried:
        """A channel whose calls have next to no time."""

        def __init__(self, channel: grpc.Channel) -> None:
            self._channel = channel

        def __getattr__(self, kind: str) -> Any:
            def make(*args: Any, **more: Any) -> Any:
                method = getattr(self._channel, kind)(*args, **more)
                return lambda request: method(request, timeout=0.002)

            return make

    with suppress(grpc.RpcError):
        list(start(Hurried(here.channel)))  # type: ignore[arg-type]


def refused(here: House, start: Callable[[grpc.Channel], Any]) -> None:
    class Wrong:
        """A channel whose calls ask for an attribute that is not there."""

        def __init__(self, channel: grpc.Channel) -> None:
            self._channel = channel

        def __getattr__(self, kind: str) -> Any:
            def make(*args: Any, **more: Any) -> Any:
                method = getattr(self._channel, kind)(*args, **more)

                def call(request: Any) -> Any:
                    request.options.filter.predicate.field = "nowhere"
                    return method(request)

                return call

            return make

    with pytest.raises(grpc.RpcError):
        list(start(Wrong(here.channel)))  # type: ignore[arg-type]


ENDINGS = (to_the_end, cancelled, reader_gone, out_of_time, refused)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)
@pytest.mark.parametrize("name", READS)
def test_a_state_is_let_go_when_its_last_stream_ends(
    here: House, name: str, ending: Callable[[House, Callable[[grpc.Channel], Any]], None]
) -> None:
    assert eventually(lambda: settled(here), 60)
    ending(here, READS[name])
    assert eventually(lambda: not any(here.server.leftovers.values()), 30)
    here.store({"another.md": f"Written after {name} {ending.__name__}."}, library=LIBRARY)
    assert eventually(lambda: states() == 1, 30)
