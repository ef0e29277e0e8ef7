"""What any provider of models must do. A check is a function whose docstring is the sentence that it holds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from groundwire_server.conformance import Failure, expect, failures
from groundwire_server.llm.chat import ChatRequest, Message, ModelProvider, Reply, go_on
from groundwire_server.llm.faults import ModelFailed

__all__ = ["CHECKS", "Failure", "MakeProvider", "run_checks"]

MakeProvider = Callable[[list[str]], AbstractContextManager[ModelProvider]]
"""Makes a provider behind which a model says these texts, one a call; after them it fails for good."""

_TEXTS = ["plain", "日本の「売上」は\u2028増えた。\n\n👩\u200d👩 e\u0301", "", '{"a": 1}', "long " * 2000]


def run_checks(make: MakeProvider) -> list[Failure]:
    """Every check that a provider fails; an exception of it is a failure too."""
    return failures(CHECKS, make)


def it_says_what_it_is(make: MakeProvider) -> None:
    """A provider has a name, and the model has one."""
    with make(["x"]) as provider:
        expect(bool(provider.name) and bool(provider.model), "two names")


def a_reply_is_what_the_model_said(make: MakeProvider) -> None:
    """The text of a reply is that of the model, to the character."""
    with make(_TEXTS) as provider:
        said = [provider.chat(_request()).text for _ in _TEXTS]
    expect(said == _TEXTS, "the texts in order")


def a_stream_is_the_reply_in_pieces(make: MakeProvider) -> None:
    """The pieces of a stream make the text of the reply that is its last item, and its only one."""
    with make(_TEXTS) as provider:
        for text in _TEXTS:
            *pieces, reply = provider.stream(_request())
            expect(isinstance(reply, Reply) and reply.text == text, "the reply")
            expect(all(isinstance(piece, str) and piece for piece in pieces), "pieces of text")
            expect("".join(map(str, pieces)) == text, "the pieces together")


def what_was_used_is_counted(make: MakeProvider) -> None:
    """Each reply is counted once under its purpose, and so is each failure."""
    with make(["one two", "three"]) as provider:
        first = provider.chat(_request("a"))
        list(provider.stream(_request("b")))
        _fails(lambda: provider.chat(_request("b")))
        totals = provider.meter.totals()
        expect(list(totals) == ["a", "b"], "two purposes")
        expect(totals["a"] == first.usage, "what the reply says")
        expect((totals["b"].calls, totals["b"].failures) == (1, 1), "one reply, one failure")


def a_failure_is_typed(make: MakeProvider) -> None:
    """Where no reply comes, ModelFailed is raised, by a stream too."""
    with make([]) as provider:
        _fails(lambda: provider.chat(_request()))
        _fails(lambda: list(provider.stream(_request())))


def a_call_can_be_ended(make: MakeProvider) -> None:
    """What `stop` raises comes out, and the provider goes on for others."""

    def stop() -> None:
        raise _Stopped

    with make(["one", "two", "three"]) as provider:
        for call in (lambda: provider.chat(_request(), stop), lambda: list(provider.stream(_request(), stop))):
            try:
                call()
            except _Stopped:
                continue
            # Over before it was looked at: that is as good.
        provider.chat(_request(), go_on)


def closing_may_be_repeated(make: MakeProvider) -> None:
    """A provider may be closed twice."""
    with make(["x"]) as provider:
        provider.chat(_request())
        provider.close()
        provider.close()


CHECKS: tuple[Callable[[MakeProvider], None], ...] = (
    it_says_what_it_is,
    a_reply_is_what_the_model_said,
    a_stream_is_the_reply_in_pieces,
    what_was_used_is_counted,
    a_failure_is_typed,
    a_call_can_be_ended,
    closing_may_be_repeated,
)
"""All checks, in the order of the protocol."""


class _Stopped(Exception):
    pass


def _request(purpose: str = "check/1") -> ChatRequest:
    return ChatRequest((Message("system", "Speak."), Message("user", "Now.")), purpose)


def _fails(call: Callable[[], object]) -> None:
    try:
        call()
    except ModelFailed:
        return
    expect(False, "no ModelFailed")
