"""What asyncio alone has: tasks that are cancelled, and others that must not wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import grpc
import pytest

import groundwire
from groundwire import AsyncClient, DocumentUpload, GroundwireError
from groundwire.v1 import admin_pb2, ingest_pb2, narrative_pb2, stream_pb2
from tests.client.ingest_model import Connection, Stored
from tests.client.serving import serving


class Waiting:
    """Methods that answer once, if they stream, and then nothing until the call has ended."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    def _begin(self, context: grpc.ServicerContext) -> None:
        context.add_callback(self.ended.set)
        self.begun.set()

    def one(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._begin(context)
        self.ended.wait(20)
        return admin_pb2.GetServerInfoResponse()

    def stream(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self._begin(context)
        yield narrative_pb2.NarrativeRetrieveResponse(header=stream_pb2.StreamHeader())
        self.ended.wait(20)

    def ingest(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        self._begin(context)
        yield ingest_pb2.IngestDocumentsResponse(accepted={"max_in_flight_parts": 2})
        self.ended.wait(20)


def _endless() -> Iterator[DocumentUpload]:
    place = 0
    while True:
        place += 1
        yield DocumentUpload(f"d{place}", b"x")


CALLS: dict[str, Callable[[AsyncClient], Coroutine[Any, Any, object]]] = {
    "one answer": lambda client: client.server_info(),
    "stream": lambda client: client.retrieve("why").collect(),
    "whole": lambda client: client.get_document("a"),
    "ingest": lambda client: client.ingest_documents(_endless()).collect(),
}


def _document(waiting: Waiting) -> Callable[..., Iterator[Any]]:
    def method(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        for _ in waiting.stream(request, context):
            yield admin_pb2.GetDocumentResponse(revision={"doc_id": "a"})

    return method


def _scripted(waiting: Waiting) -> Any:
    return serving(
        GetServerInfo=waiting.one,
        NarrativeRetrieve=waiting.stream,
        GetDocument=_document(waiting),
        IngestDocuments=waiting.ingest,
    )


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_cancelling_a_task_ends_its_call_on_the_server_and_is_not_lost(
    call: Callable[[AsyncClient], Coroutine[Any, Any, object]],
) -> None:
    waiting = Waiting()

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            task = asyncio.create_task(call(client))
            await asyncio.to_thread(waiting.begun.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert task.cancelled()
            assert await asyncio.to_thread(waiting.ended.wait, 10)

    with _scripted(waiting) as address:
        asyncio.run(main(address))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_timeout_of_asyncio_is_a_timeout(call: Callable[[AsyncClient], Coroutine[Any, Any, object]]) -> None:
    waiting = Waiting()

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await call(client)
            assert await asyncio.to_thread(waiting.ended.wait, 10)

    with _scripted(waiting) as address:
        asyncio.run(main(address))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_task_that_is_cancelled_before_it_begins(
    call: Callable[[AsyncClient], Coroutine[Any, Any, object]],
) -> None:
    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            with pytest.raises(GroundwireError):
                await client.health()

            async def cancelled() -> None:
                own = asyncio.current_task()
                assert own is not None
                own.cancel()
                await call(client)

            task = asyncio.create_task(cancelled())
            await asyncio.wait([task])
            assert task.cancelled()

    waiting = Waiting()
    with _scripted(waiting) as address:
        asyncio.run(main(address))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_closing_the_client_is_an_error_of_the_call_not_a_cancelled_task(
    call: Callable[[AsyncClient], Coroutine[Any, Any, object]],
) -> None:
    waiting = Waiting()

    async def main(address: str) -> None:
        client = AsyncClient(address)
        task = asyncio.create_task(call(client))
        await asyncio.to_thread(waiting.begun.wait, 10)
        await client.close()
        with pytest.raises((GroundwireError, ValueError)) as caught:
            await task
        assert "closed" in str(caught.value) or getattr(caught.value, "status", "") == "CANCELLED"

    with _scripted(waiting) as address:
        asyncio.run(main(address))


def test_after_a_cancelled_read_a_stream_is_over() -> None:
    waiting = Waiting()

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            stream = client.retrieve("why")
            assert isinstance(await anext(stream), groundwire.StreamHeader)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await anext(stream)
            assert [frame async for frame in stream] == []
            with pytest.raises(GroundwireError, match="cancelled"):
                await stream.collect()

    with _scripted(waiting) as address:
        asyncio.run(main(address))


@pytest.mark.parametrize("name", ["retrieve", "ingest_documents"])
def test_another_task_may_cancel_a_stream(name: str) -> None:
    waiting = Waiting()

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            stream: Any = client.retrieve("why") if name == "retrieve" else client.ingest_documents(_endless())
            first = asyncio.Event()

            async def read() -> int:
                count = 0
                async for _ in stream:
                    count += 1
                    first.set()
                return count

            task = asyncio.create_task(read())
            await first.wait()
            stream.cancel()
            assert await task == 1
            assert await asyncio.to_thread(waiting.ended.wait, 10)

    with _scripted(waiting) as address:
        asyncio.run(main(address))


def test_many_calls_at_once_on_one_connection() -> None:
    def method(request: narrative_pb2.NarrativeRetrieveRequest, context: grpc.ServicerContext) -> Iterator[Any]:
        response = narrative_pb2.NarrativeRetrieveResponse
        yield response(header=stream_pb2.StreamHeader(request_id=request.query))
        yield response(summary=stream_pb2.StreamSummary())

    async def main(address: str) -> None:
        async with AsyncClient(address) as client, asyncio.TaskGroup() as group:
            tasks = [group.create_task(client.retrieve(str(number)).collect()) for number in range(50)]
        assert [task.result().header.request_id for task in tasks] == [str(number) for number in range(50)]

    with serving(NarrativeRetrieve=method) as address:
        asyncio.run(main(address))


def _storing(stored: Stored) -> Callable[..., Iterator[Any]]:
    def method(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        connection = Connection(stored)
        for request in requests:
            yield from connection.take(request)

    return method


def test_documents_may_come_asynchronously() -> None:
    stored = Stored()

    async def documents() -> AsyncIterator[DocumentUpload]:
        for place in range(5):
            await asyncio.sleep(0)
            yield DocumentUpload(f"d{place}", [b"x" * 200_000] * 3)

    async def main(address: str) -> groundwire.IngestReport:
        async with AsyncClient(address) as client:
            return await client.ingest_documents(documents()).collect()

    with serving(IngestDocuments=_storing(stored)) as address:
        report = asyncio.run(main(address))
    assert {name: len(content) for name, content in stored.documents.items()} == {f"d{n}": 600_000 for n in range(5)}
    assert report.summary.stored == 5


def test_what_an_asynchronous_iterator_raises_comes_through() -> None:
    async def documents(error: BaseException) -> AsyncIterator[DocumentUpload]:
        yield DocumentUpload("a", b"x")
        raise error

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            with pytest.raises(FileNotFoundError, match=r"gone\.md") as caught:
                await client.ingest_documents(documents(FileNotFoundError("gone.md"))).collect()
            assert caught.value.__context__ is None
            with pytest.raises(asyncio.CancelledError):
                await client.ingest_documents(documents(asyncio.CancelledError())).collect()

    with serving(IngestDocuments=_storing(Stored())) as address:
        asyncio.run(main(address))


def test_a_slow_source_of_documents_holds_up_nobody_else() -> None:
    held = threading.Event()

    def slowly() -> Iterator[DocumentUpload]:
        yield DocumentUpload("a", b"x")
        held.wait(20)

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            ingest = asyncio.create_task(client.ingest_documents(slowly()).collect())
            info = await client.server_info()
            assert not ingest.done()
            held.set()
            assert info.server_version == "1"
            assert (await ingest).summary.stored == 1

    info = admin_pb2.GetServerInfoResponse(server_version="1")
    with serving(IngestDocuments=_storing(Stored()), GetServerInfo=lambda request, context: info) as address:
        asyncio.run(main(address))


def test_a_cancelled_wait_for_the_next_connection_is_not_lost() -> None:
    accepted = threading.Event()

    def breaks(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        yield ingest_pb2.IngestDocumentsResponse(accepted={"max_in_flight_parts": 1})
        accepted.set()
        context.abort(grpc.StatusCode.UNAVAILABLE, "connection lost")

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            stream = client.ingest_documents(_endless())
            async for event in stream:
                if isinstance(event, groundwire.Reconnecting) and event.attempt == 4:
                    break  # the next read waits for most of a second
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await anext(stream)
            assert [event async for event in stream] == []

    with serving(IngestDocuments=breaks) as address:
        asyncio.run(main(address))


def test_nothing_is_left_running_behind_an_ingest() -> None:
    waiting = Waiting()

    async def documents() -> AsyncIterator[DocumentUpload]:
        yield DocumentUpload("a", b"x")
        await asyncio.sleep(100)

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            before = asyncio.all_tasks()
            async with client.ingest_documents(documents()) as stream:
                await anext(stream)
                await asyncio.sleep(0.05)
            assert {task for task in asyncio.all_tasks() - before if "groundwire" in repr(task)} == set()

    with _scripted(waiting) as address:
        asyncio.run(main(address))


def test_a_client_keeps_to_its_event_loop() -> None:
    client = AsyncClient("127.0.0.1:1")

    async def call() -> None:
        await client.health()

    with pytest.raises(GroundwireError):
        asyncio.run(call())
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(call())
