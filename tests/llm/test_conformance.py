"""Each provider passes every check, and no check is idle: broken ones are caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groundwire_server.llm import ApiKey, ChatRequest, ModelConfig, ModelProvider, Reply, ScriptedProvider, Stop, Usage
from groundwire_server.llm.anthropic import AnthropicDialect
from groundwire_server.llm.chat import go_on
from groundwire_server.llm.conformance import CHECKS, MakeProvider, run_checks
from groundwire_server.llm.http_provider import HttpProvider
from groundwire_server.llm.openai import OpenAiDialect
from groundwire_server.llm.retry import RetryPolicy
from tests.llm.model_server import Act, model_server


@contextmanager
def scripted(texts: list[str]) -> Iterator[ModelProvider]:
    yield ScriptedProvider(texts)


def over_http(dialect: Any) -> MakeProvider:
    @contextmanager
    def make(texts: list[str]) -> Iterator[ModelProvider]:
        with model_server(*(Act(text) for text in texts), Act(status=400)) as here:
            name = "openai" if isinstance(dialect, OpenAiDialect) else "anthropic"
            provider = HttpProvider(ModelConfig(name, here.url, "m"), dialect, ApiKey(), policy=RetryPolicy(0))
            try:
                yield provider
            finally:
                provider.close()

    return make


@pytest.mark.parametrize("make", [scripted, over_http(OpenAiDialect()), over_http(AnthropicDialect())])
def test_a_provider_passes(make: MakeProvider) -> None:
    assert run_checks(make) == []


class _Broken(ScriptedProvider):
    """A scripted provider with something that is wrong."""

    def __init__(self, texts: list[str], wrong: str) -> None:
        super().__init__(texts)
        self.wrong = wrong
        self.closed = False
        if wrong == "nameless":
            self.model = ""

    def chat(self, request: ChatRequest, stop: Stop = go_on) -> Reply:
        if self.wrong == "untyped":
            try:
                return super().chat(request, stop)
            except Exception:  # noqa: BLE001 - it is the broken one
                raise ValueError from None
        if self.wrong == "ending":
            try:
                stop()
            except Exception:  # noqa: BLE001 - it is the broken one
                raise ValueError from None
        reply = super().chat(request, stop)
        if self.wrong == "counting":
            self.meter.add(request.purpose, Usage(calls=1))
        return Reply(reply.text.strip(), reply.finish, reply.usage) if self.wrong == "stripping" else reply

    def stream(self, request: ChatRequest, stop: Stop = go_on) -> Iterator[str | Reply]:
        items = list(super().stream(request, stop))
        yield from items[1:] if self.wrong == "streaming" else items

    def close(self) -> None:
        if self.wrong == "closing" and self.closed:
            raise RuntimeError
        self.closed = True


BROKEN = {
    "nameless": "it_says_what_it_is",
    "stripping": "a_reply_is_what_the_model_said",
    "streaming": "a_stream_is_the_reply_in_pieces",
    "counting": "what_was_used_is_counted",
    "untyped": "a_failure_is_typed",
    "ending": "a_call_can_be_ended",
    "closing": "closing_may_be_repeated",
}


@pytest.mark.parametrize(("wrong", "check"), BROKEN.items())
def test_a_broken_provider_is_caught(wrong: str, check: str) -> None:
    @contextmanager
    def make(texts: list[str]) -> Iterator[ModelProvider]:
        yield _Broken(texts, wrong)

    assert check in {failure.check for failure in run_checks(make)}


def test_every_check_catches_something() -> None:
    assert set(BROKEN.values()) == {check.__name__ for check in CHECKS}
    checks: list[Callable[..., None]] = list(CHECKS)
    assert all((check.__doc__ or "").strip().endswith(".") for check in checks)
