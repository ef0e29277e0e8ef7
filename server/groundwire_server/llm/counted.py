"""A provider whose calls are added up apart from those of others."""

from __future__ import annotations

from collections.abc import Iterator

from groundwire_server.llm.chat import ChatRequest, ModelProvider, Reply, Stop, go_on
from groundwire_server.llm.faults import ModelFailed
from groundwire_server.llm.usage import Usage, UsageMeter

__all__ = ["CountedCalls"]


class CountedCalls:
    """Passes everything on to a provider, and counts what went through here. For one thread.

    Attributes:
        usage: of the calls so far.
    """

    def __init__(self, provider: ModelProvider) -> None:
        self._provider = provider
        self.name = provider.name
        self.model = provider.model
        self.usage = Usage()

    @property
    def meter(self) -> UsageMeter:
        """The provider's own, of all calls."""
        return self._provider.meter

    def chat(self, request: ChatRequest, stop: Stop = go_on) -> Reply:
        """See `ModelProvider.chat`."""
        try:
            reply = self._provider.chat(request, stop)
        except ModelFailed:
            self.usage += Usage(failures=1)
            raise
        self.usage += reply.usage
        return reply

    def stream(self, request: ChatRequest, stop: Stop = go_on) -> Iterator[str | Reply]:
        """See `ModelProvider.stream`."""
        try:
            for item in self._provider.stream(request, stop):
                if isinstance(item, Reply):
                    self.usage += item.usage
                yield item
        except ModelFailed:
            self.usage += Usage(failures=1)
            raise

    def close(self) -> None:
        """The provider is somebody else's: nothing is closed."""
