"""A channel, and how each shape of call is carried out on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
import grpc.experimental

from groundwire._call import Target
from groundwire._operation.fold import Fold
from groundwire._operation.ingest import Ingest
from groundwire._operation.kinds import Method, Paged, Reader, ResultReader, Streamed, Unary
from groundwire._operation.resumption import Resumption
from groundwire._sync.ingest_stream import IngestStream
from groundwire._sync.stream import Items, Stream

__all__ = ["Connection"]

T = TypeVar("T")
# A stream that is read without a thread of its own takes half the time, and Ctrl-C cannot come between the two.
_OPTIONS = ((grpc.experimental.ChannelOptions.SingleThreadedUnaryStream, 1),)


class Connection(Target):
    """A connection to a server."""

    def close(self) -> None:
        """Close the connection; calls that still run are cancelled."""
        channel = self._leave()
        if channel is not None:
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_here(self) -> Any:
        return self._open(grpc, _OPTIONS)

    def _unary(self, operation: Unary[Any] | Paged[Any], timeout: float | None) -> Any:
        method = operation.method
        call = self._open_here().unary_unary(method.path, method.encode, method.decode)
        try:
            return call(operation.request, timeout=self._seconds(timeout), metadata=self._metadata)
        except grpc.RpcError as error:
            raise self._failure(error) from None

    def _value(self, operation: Unary[T], timeout: float | None) -> T:
        return operation.read(self._unary(operation, timeout))

    def _rows(self, first: Paged[T], timeout: float | None) -> Iterator[T]:
        listing: Paged[T] | None = first
        while listing is not None:
            page = self._unary(listing, timeout)
            yield from listing.read(page)
            listing = listing.after(page)

    def _all(self, first: Paged[T], timeout: float | None) -> list[T]:
        return list(self._rows(first, timeout))

    def _begin(self, operation: Streamed[Any], timeout: float | None) -> Any:
        method = operation.method
        call = self._open_here().unary_stream(method.path, method.encode, method.decode)
        return call(operation.request, timeout=timeout, metadata=self._metadata)

    def _beginner(self, method: Method) -> Callable[[Any, float | None], Any]:
        def begin(request: Any, timeout: float | None) -> Any:
            call = self._open_here().unary_stream(method.path, method.encode, method.decode)
            return call(request, timeout=timeout, metadata=self._metadata)

        return begin

    def _items(self, operation: Streamed[Reader[T]], timeout: float | None) -> Items[T]:
        return Items(self._begin(operation, timeout), operation.reader, self._failure)

    def _stream(self, operation: Streamed[Fold[T]], timeout: float | None) -> Stream[T]:
        whole = Resumption(operation, enabled=self._reconnect)
        return Stream(self._beginner(operation.method), whole, self._failure, self._seconds(timeout))

    def _whole(self, operation: Streamed[ResultReader[Any, T]], timeout: float | None) -> T:
        for _ in Items(self._begin(operation, self._seconds(timeout)), operation.reader, self._failure):
            pass
        return operation.reader.result()

    def _upload(self, ingest: Ingest) -> IngestStream:
        return IngestStream(ingest, self._opener(ingest), self._failure)

    def _opener(self, ingest: Ingest) -> Callable[[Iterator[Any]], Any]:
        def open_call(messages: Iterator[Any]) -> Any:
            method = ingest.method
            call = self._open_here().stream_stream(method.path, method.encode, method.decode)
            return call(messages, metadata=self._metadata)

        return open_call
