"""Models over HTTP: what is sent, what is read, and every fault that a server may have. Both protocols."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import CallCancelled, CancelToken
from groundwire_server.llm import (
    ApiKey,
    ChatRequest,
    Finish,
    Message,
    ModelConfig,
    ModelFailed,
    Reply,
    Usage,
)
from groundwire_server.llm.anthropic import AnthropicDialect
from groundwire_server.llm.http_provider import MAX_REPLY_BYTES, HttpProvider
from groundwire_server.llm.openai import OpenAiDialect
from groundwire_server.llm.retry import RetryPolicy
from tests.llm.model_server import Act, ModelServer, model_server

BOTH = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
KEY = "sk-very-secret"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TEXT = "日本の「売上」は\u2028rose 👩\u200d👩 e\u0301.\n\ndata: no event"


def request(text: str = "How much?", **more: Any) -> ChatRequest:
    return ChatRequest((Message("system", "Be brief."), Message("user", text)), "test/1", **more)


@contextmanager
def provider(here: ModelServer, protocol: str, **more: Any) -> Iterator[HttpProvider]:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    base = here.url + ("/v1" if protocol == "openai" else "")
    config = ModelConfig(protocol, base, "small-model", **{"retries": 2, "timeout_seconds": 10, **more})
    dialect = OpenAiDialect() if protocol == "openai" else AnthropicDialect()
    policy = RetryPolicy(config.retries, first_seconds=1, most_seconds=30, chance=lambda: 1.0)
    made = HttpProvider(config, dialect, ApiKey(KEY), policy=policy, sleep=sleep)
    made.waited = waited  # type: ignore[attr-defined]
    try:
        yield made
    finally:
        made.close()
        made.close()


@BOTH
def test_an_answer_comes_whole(protocol: str) -> None:
    with model_server(Act(TEXT)) as here, provider(here, protocol) as model:
        reply = model.chat(request())
        assert (reply.text, reply.finish) == (TEXT, Finish.DONE)
        assert reply.usage == Usage(calls=1, prompt_tokens=11, reply_tokens=7)
        assert model.meter.totals() == {"test/1": reply.usage}


def test_what_is_sent_to_openai() -> None:
    with model_server(Act("{}")) as here, provider(here, "openai") as model:
        model.chat(request("売上は?", schema=SCHEMA, max_tokens=5))
        list(model.stream(request()))
        assert here.paths == ["/v1/chat/completions"] * 2
        assert {each["authorization"] for each in here.headers} == {f"Bearer {KEY}"}
        assert here.bodies[0] == {
            "model": "small-model",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "売上は?"}],
            "max_tokens": 5,
            "temperature": 0.0,
            "response_format": {"type": "json_object"},
        }
        assert here.bodies[1]["stream_options"] == {"include_usage": True}
        assert here.bodies[1]["max_tokens"] == 1024
        assert "response_format" not in here.bodies[1]


def test_forms_of_json_and_models_without_temperature() -> None:
    with model_server(Act("{}")) as here:
        for mode, temperature in (("schema", -1.0), ("none", 0.5)):
            with provider(here, "openai", json=mode, temperature=temperature) as model:
                model.chat(request(schema=SCHEMA))
        form = {"name": "answer", "strict": True, "schema": SCHEMA}
        assert here.bodies[0]["response_format"] == {"type": "json_schema", "json_schema": form}
        assert "temperature" not in here.bodies[0]
        assert "response_format" not in here.bodies[1]
        assert here.bodies[1]["temperature"] == 0.5
    config = ModelConfig("openai", model="m")
    assert "max_completion_tokens" in OpenAiDialect().body(request(), config, stream=False)


def test_what_is_sent_to_anthropic() -> None:
    with model_server(Act('{"a": 1}')) as here, provider(here, "anthropic") as model:
        assert json.loads(model.chat(request(schema=SCHEMA)).text) == {"a": 1}
        list(model.stream(request()))
        assert here.paths == ["/v1/messages"] * 2
        assert {(each["x-api-key"], each["anthropic-version"]) for each in here.headers} == {(KEY, "2023-06-01")}
        assert here.bodies[0] == {
            "model": "small-model",
            "max_tokens": 1024,
            "system": "Be brief.",
            "messages": [{"role": "user", "content": "How much?"}],
            "temperature": 0.0,
            "tools": [{"name": "answer", "description": "Give the answer.", "input_schema": SCHEMA}],
            "tool_choice": {"type": "tool", "name": "answer"},
        }
        assert here.bodies[1]["stream"] is True
        assert "tools" not in here.bodies[1]


@BOTH
def test_a_stream_comes_in_pieces_and_ends_with_the_whole(protocol: str) -> None:
    with model_server(Act(TEXT, pieces=5)) as here, provider(here, protocol) as model:
        *pieces, reply = model.stream(request())
        assert len(pieces) >= 4
        assert isinstance(reply, Reply)
        assert "".join(map(str, pieces)) == reply.text == TEXT
        assert reply.usage == Usage(calls=1, prompt_tokens=11, reply_tokens=7)


@BOTH
@pytest.mark.parametrize("streamed", [False, True])
def test_why_an_answer_ends_is_told(protocol: str, streamed: bool) -> None:
    words = {"openai": ("length", "content_filter"), "anthropic": ("max_tokens", "refusal")}[protocol]
    for word, finish in zip(words, (Finish.LENGTH, Finish.REFUSED), strict=True):
        with model_server(Act("half", finish=word, usage=False)) as here, provider(here, protocol) as model:
            reply = list(model.stream(request()))[-1] if streamed else model.chat(request())
            assert isinstance(reply, Reply)
            assert reply.finish is finish
            assert reply.usage == Usage(calls=1, uncounted=1)


# ---- faults

HALF = b'{"choices": [{"index": 0, "message": {"role": "assis'
FAULTS = {
    "500": Act(status=500),
    "502": Act(status=502, raw=b"<html>bad gateway</html>"),
    "503": Act(status=503),
    "529": Act(status=529),
    "429": Act(status=429),
    "closed socket": Act(close=True),
    "half a body": Act(raw=HALF, promised=100),
    "half a JSON": Act(raw=HALF),
    "a web page": Act(raw=b"<!doctype html><p>hello"),
    "another JSON": Act(raw=b'{"ok": true}'),
    "a list": Act(raw=b"[1, 2]"),
    "no text": Act(raw=b'{"choices": [{"message": {"content": 7}}], "content": [{"type": "text", "text": 7}]}'),
    "deep": Act(raw=b"[" * 200_000),
    "not UTF-8": Act(raw=b'{"choices": "\xff\xfe"}'),
    "broken gzip": Act(raw=b"no gzip", headers={"content-encoding": "gzip"}),
}


@BOTH
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_is_tried_again(protocol: str, fault: str) -> None:
    with model_server(FAULTS[fault], FAULTS[fault], Act("fine")) as here, provider(here, protocol) as model:
        assert model.chat(request()).text == "fine"
        assert len(here.bodies) == 3
        assert model.waited == [1.0, 2.0]  # type: ignore[attr-defined]
        assert model.meter.total() == Usage(calls=1, prompt_tokens=11, reply_tokens=7, retries=2)


@BOTH
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_stays_is_a_typed_error_that_quotes_nothing(protocol: str, fault: str) -> None:
    with model_server(FAULTS[fault]) as here, provider(here, protocol, retries=1) as model:
        with pytest.raises(ModelFailed) as caught:
            model.chat(request("A SECRET question"))
        assert len(here.bodies) == 2
        assert caught.value.reason is ErrorReason.MODEL_FAILED
        assert "127.0.0.1" in caught.value.message
        assert "SECRET" not in str(caught.value) + repr(caught.value.__cause__)
        assert model.meter.total() == Usage(failures=1, retries=1)


@BOTH
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 301, 307, 204])
def test_what_would_fail_again_is_not_tried_again(protocol: str, status: int) -> None:
    act = Act(status=status, headers={"location": "http://127.0.0.1:1/elsewhere"})
    with model_server(act) as here, provider(here, protocol) as model:
        for call in (model.chat, lambda asked: list(model.stream(asked))):
            with pytest.raises(ModelFailed) as caught:
                call(request())
            assert (caught.value.http_status, caught.value.permanent) == (status, True)
            assert "SECRET" not in str(caught.value)
        assert len(here.bodies) == 2


@BOTH
def test_retry_after_is_kept_to_and_one_that_is_too_long_ends_the_call(protocol: str) -> None:
    acts = [Act(status=429, headers={"Retry-After": "7"}), Act(status=503, headers={"Retry-After": "soon"}), Act("ok")]
    with model_server(*acts) as here, provider(here, protocol) as model:
        assert model.chat(request()).text == "ok"
        assert model.waited == [7.0, 2.0]  # type: ignore[attr-defined]
    with model_server(Act(status=429, headers={"Retry-After": "3600"})) as here, provider(here, protocol) as model:
        with pytest.raises(ModelFailed) as caught:
            model.chat(request())
        assert (caught.value.http_status, len(here.bodies)) == (429, 1)


@BOTH
def test_a_server_that_is_not_there(protocol: str) -> None:
    with model_server() as here:
        pass
    with provider(here, protocol) as model:
        with pytest.raises(ModelFailed, match="the connection failed"):
            model.chat(request())
        with pytest.raises(ModelFailed, match="the connection failed"):
            list(model.stream(request()))


@BOTH
def test_a_slow_server_is_not_waited_for(protocol: str) -> None:
    hold = threading.Event()
    with (
        model_server(Act("late", hold=hold)) as here,
        provider(here, protocol, timeout_seconds=0.2, retries=1) as model,
    ):
        with pytest.raises(ModelFailed, match=r"did not answer within 0\.2 seconds"):
            model.chat(request())
        assert len(here.bodies) == 2
        hold.set()


@BOTH
def test_an_answer_without_end_is_cut_off(protocol: str) -> None:
    with model_server(Act(raw=b"x" * (MAX_REPLY_BYTES + 1))) as here, provider(here, protocol) as model:
        with pytest.raises(ModelFailed, match="more than"):
            model.chat(request())
        assert len(here.bodies) == 1


@BOTH
@pytest.mark.parametrize("after", [0, 1])
def test_a_stream_that_breaks_before_its_first_piece_is_tried_again(protocol: str, after: int) -> None:
    with model_server(Act("gone", broken_after=after), Act("fine")) as here, provider(here, protocol) as model:
        *pieces, reply = model.stream(request())
        assert "".join(map(str, pieces)) == "fine"
        assert isinstance(reply, Reply)
        assert len(here.bodies) == 2


@BOTH
def test_a_stream_that_breaks_later_is_an_error_and_no_short_answer(protocol: str) -> None:
    whole = len("abcdefghi")
    for broken_after in range(3, 7):
        act = Act("abcdefghi", pieces=3, broken_after=broken_after)
        with model_server(act) as here, provider(here, protocol) as model:
            found = _until_it_fails(model)
            if isinstance(found[-1], ModelFailed):
                assert "broke off" in found[-1].message
                assert len(here.bodies) == (1 if len(found) > 1 else 3)
            else:  # all was there but the last word of the protocol
                assert len("".join(map(str, found[:-1]))) == whole


def _until_it_fails(model: HttpProvider) -> list[object]:
    """What a stream gives, and what it ends with."""
    found: list[object] = []
    try:
        for item in model.stream(request()):
            found.append(item)  # noqa: PERF402 - what came before the fault counts
    except ModelFailed as error:
        found.append(error)
    return found


@BOTH
def test_an_error_within_a_stream(protocol: str) -> None:
    raw = b'event: error\ndata: {"type": "error", "error": {"message": "SECRET overload"}}\n\n'
    with model_server(Act(raw=raw)) as here, provider(here, protocol) as model:
        with pytest.raises(ModelFailed) as caught:
            list(model.stream(request()))
        assert len(here.bodies) == 3
        assert "SECRET" not in str(caught.value)


# ---- ending


@BOTH
@pytest.mark.parametrize("streamed", [False, True])
def test_a_call_ends_when_it_is_cancelled(protocol: str, streamed: bool) -> None:
    hold = threading.Event()
    cancel = CancelToken()
    with model_server(Act("late", hold=hold)) as here, provider(here, protocol) as model:

        def stop() -> None:
            if here.entered.is_set():
                cancel.cancel()
            cancel.check("model")

        with pytest.raises(CallCancelled):
            list(model.stream(request(), stop)) if streamed else model.chat(request(), stop)
        hold.set()
        assert len(here.bodies) == 1


@BOTH
def test_a_stream_that_nobody_reads_on_is_closed(protocol: str) -> None:
    with model_server(Act(TEXT)) as here, provider(here, protocol) as model:
        pieces = model.stream(request())
        next(pieces)
        pieces.close()  # type: ignore[attr-defined]
        assert model.chat(request()).text == TEXT


@BOTH
def test_closing_ends_what_runs(protocol: str) -> None:
    hold = threading.Event()
    with model_server(Act("late", hold=hold)) as here, provider(here, protocol) as model:
        failed: list[Exception] = []

        def ask() -> None:
            try:
                model.chat(request())
            except ModelFailed as error:
                failed.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        assert here.entered.wait(10)
        model.close()
        asking.join(10)
        hold.set()
        assert not asking.is_alive()
        assert len(failed) == 1
        with pytest.raises(ModelFailed):
            model.chat(request())


@BOTH
def test_many_may_ask_at_once(protocol: str) -> None:
    def script(body: dict[str, Any]) -> Act:
        return Act(body["messages"][-1]["content"][::-1])

    with model_server(script=script) as here, provider(here, protocol, parallel=3) as model:
        found: dict[int, str] = {}

        def ask(number: int) -> None:
            found[number] = model.chat(request(f"question {number}")).text

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert found == {number: f"question {number}"[::-1] for number in range(12)}
        assert model.meter.total().calls == len(here.bodies) == 12


def test_neither_key_nor_text_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with model_server(Act(status=500), Act("fine")) as here, provider(here, "openai") as model:
        model.chat(request("A SECRET question"))
        assert KEY not in repr(model._key) + str(model._key) + repr(model._config)
    assert KEY not in caplog.text
    assert "SECRET" not in caplog.text


def test_a_text_that_has_no_utf8_form_is_sent_all_the_same() -> None:
    with model_server(Act("fine")) as here, provider(here, "openai") as model:
        assert model.chat(request("half \ud800 pair")).text == "fine"
        assert here.bodies[0]["messages"][1]["content"] == "half ? pair"
