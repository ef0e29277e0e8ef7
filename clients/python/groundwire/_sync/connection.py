"""A channel, and how each shape of call is carried out on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc

from groundwire._call import channel_options, resolve_address, typed_error
from groundwire._errors import GroundwireError
from groundwire._operation.fold import Fold
from groundwire._operation.ingest import Ingest
from groundwire._operation.kinds import Paged, Reader, ResultReader, Streamed, Unary
from groundwire._sync.ingest_stream import IngestStream
from groundwire._sync.stream import Items, Stream

__all__ = ["Connection"]

T = TypeVar("T")


class Connection:
    """A connection to a server."""

    def __init__(
        self,
        address: str | None = None,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        metadata: Sequence[tuple[str, str]] = (),
        timeout: float | None = None,
    ) -> None:
        """Connects when the first call is made.

        address: "host:port" or "unix:/path"; else GROUNDWIRE_ADDRESS, else 127.0.0.1:50051.
        credentials: TLS; without them the connection is plain text.
        metadata: goes with every call, e.g. [("authorization", "Bearer ...")].
        timeout: seconds for each call that does not say its own; ingests and watched jobs have none.
        """
        self.address = resolve_address(address)
        options = channel_options(self.address)
        if credentials is None:
            self._channel = grpc.insecure_channel(self.address, options)
        else:
            self._channel = grpc.secure_channel(self.address, credentials, options)
        self._metadata = tuple(metadata)
        self._timeout = timeout

    def close(self) -> None:
        """Close the connection; calls that still run are cancelled."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _seconds(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is None else timeout

    def _unary(self, operation: Unary[T] | Paged[Any], timeout: float | None) -> Any:
        method = operation.method
        call = self._channel.unary_unary(method.path, method.encode, method.decode)
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

    def _begin(self, operation: Streamed[Any], timeout: float | None) -> Any:
        method = operation.method
        call = self._channel.unary_stream(method.path, method.encode, method.decode)
        return call(operation.request, timeout=timeout, metadata=self._metadata)

    def _items(self, operation: Streamed[Reader[T]], timeout: float | None) -> Items[T]:
        return Items(self._begin(operation, timeout), operation.reader, self._failure)

    def _stream(self, operation: Streamed[Fold[T]], timeout: float | None) -> Stream[T]:
        return Stream(self._begin(operation, self._seconds(timeout)), operation.reader, self._failure)

    def _whole(self, operation: Streamed[ResultReader[Any, T]], timeout: float | None) -> T:
        stream = Stream(self._begin(operation, self._seconds(timeout)), operation.reader, self._failure)
        return stream.collect()

    def _upload(self, ingest: Ingest) -> IngestStream:
        method = ingest.method
        call = self._channel.stream_stream(method.path, method.encode, method.decode)
        return IngestStream(ingest, self._opener(call), self._failure)

    def _opener(self, call: Any) -> Callable[[Iterator[Any]], Any]:
        return lambda messages: call(messages, metadata=self._metadata)

    def _failure(self, error: grpc.RpcError) -> GroundwireError:
        return typed_error(error, self.address)
