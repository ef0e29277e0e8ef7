"""The shapes of a call: one answer, an answer in pages, an answer as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from google.protobuf import descriptor_pool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from groundwire._errors import BrokenStream
from groundwire._wire import table  # noqa: F401  its modules bring the contract that methods are looked up in

__all__ = ["Method", "Paged", "Reader", "ResultReader", "Streamed", "Unary", "method"]

T = TypeVar("T")
ItemT = TypeVar("ItemT", covariant=True)
ResultT = TypeVar("ResultT", covariant=True)


@dataclass(frozen=True, slots=True)
class Method:
    """A method as gRPC wants it: where it is, and how its messages become bytes and back."""

    path: str
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


@cache
def method(name: str) -> Method:
    """A method of the contract by service and name.

    >>> method("AdminService/GetJob").path
    '/groundwire.v1.AdminService/GetJob'
    """
    descriptor: Any = descriptor_pool.Default().FindMethodByName(f"groundwire.v1.{name.replace('/', '.')}")
    request, response = GetMessageClass(descriptor.input_type), GetMessageClass(descriptor.output_type)
    return Method(f"/groundwire.v1.{name}", request.SerializeToString, response.FromString)


@dataclass(frozen=True, slots=True)
class Unary(Generic[T]):
    """One request and one answer; `read` makes the answer a typed value."""

    method: Method
    request: Message
    read: Callable[[Any], T]


@dataclass(frozen=True, slots=True)
class Paged(Generic[T]):
    """An answer in pages: this one's request, and how its rows are read."""

    method: Method
    request: Any
    read: Callable[[Any], Iterable[T]]

    def after(self, page: Any) -> Paged[T] | None:
        """The page behind an answer, None when that was the last. Raises BrokenStream when it is this one again."""
        token = page.next_page_token
        if not token:
            return None
        if token == self.request.page_token:
            raise BrokenStream("the server gives the same page again and again")
        following = type(self.request)()
        following.CopyFrom(self.request)
        following.page_token = token
        return replace(self, request=following)


class Reader(Protocol[ItemT]):
    """Reads one stream, response by response."""

    def add(self, response: Any) -> Iterable[ItemT]:
        """What a response brings. Raises BrokenStream when it stands in a wrong place."""

    def end(self) -> None:
        """The stream has ended. Raises BrokenStream when it should not have."""


class ResultReader(Reader[ItemT], Protocol[ItemT, ResultT]):
    """Reads a stream that also is one whole."""

    def result(self) -> ResultT:
        """The whole. Raises BrokenStream when the end has not come."""


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Streamed(Generic[R]):
    """One request and a stream of answers; `reader` is made for this call and used once."""

    method: Method
    request: Message
    reader: R
