"""The small parts: accounts, prompts, JSON, configuration, waiting, events, scripts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.llm import (
    ChatRequest,
    Finish,
    Message,
    ModelAnswerUnusable,
    ModelConfig,
    ModelFailed,
    Prices,
    Reply,
    ScriptedProvider,
    Usage,
    UsageMeter,
    ask_json,
    load_prompt,
    make_provider,
    parse_json,
    prompt_names,
)
from groundwire_server.llm.prompt import LANGUAGES
from groundwire_server.llm.retry import RetryPolicy, retry_after
from groundwire_server.llm.sse import events

# ---- accounts


def test_what_is_used_is_added_up_by_purpose() -> None:
    meter = UsageMeter(Prices(Decimal("2.5"), Decimal(10)))
    meter.add("b/1", Usage(calls=1, prompt_tokens=1000, reply_tokens=200))
    meter.add("a/1", Usage(failures=1))
    meter.add("b/1", Usage(calls=1, uncounted=1, retries=2))
    assert meter.totals() == {
        "a/1": Usage(failures=1),
        "b/1": Usage(calls=2, prompt_tokens=1000, reply_tokens=200, uncounted=1, retries=2),
    }
    assert meter.total() - Usage(failures=1) == meter.totals()["b/1"]
    assert meter.cost() == Decimal("0.0045")
    assert Prices().cost(meter.total()) == 0


# ---- prompts


def test_every_prompt_is_there_in_every_language_with_the_same_places() -> None:
    by_version: dict[tuple[str, int], dict[str, frozenset[str]]] = {}
    for name, version, language in prompt_names():
        prompt = load_prompt(name, language, version)
        by_version.setdefault((name, version), {})[language] = prompt.places
        assert prompt.system
        assert prompt.user
        assert prompt.purpose == f"{name}/{version}"
    assert by_version
    for languages in by_version.values():
        assert sorted(languages) == sorted(LANGUAGES)
        assert len(set(languages.values())) == 1


def test_a_prompt_is_filled_once_and_whole() -> None:
    prompt = load_prompt("relations", "ja")
    system, user = prompt.fill(relations="a", most="3", passages='{{most}} "x"')
    assert (system.role, user.role) == ("system", "user")
    assert user.text.endswith('{{most}} "x"')
    assert "最大 3 件" in system.text
    with pytest.raises(ValueError, match="passages"):
        prompt.fill(most="3")
    assert load_prompt("relations", "fr").language == "en"
    for name, version in (("nothing", 0), ("relations", 99)):
        with pytest.raises(KeyError):
            load_prompt(name, "en", version)


# ---- JSON


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('  \n{"a": "日本"}\n', {"a": "日本"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here you are:\r\n```\r\n{"a": {"b": [1]}}\r\n```\r\nDone.', {"a": {"b": [1]}}),
        ('I think {"a": 1} is right', {"a": 1}),
        ('{"a": 1} {"b": 2}', {"a": 1}),
    ],
)
def test_json_is_read_leniently(text: str, found: dict[str, Any]) -> None:
    assert parse_json(text) == found


@pytest.mark.parametrize("text", ["", "no", "[1]", '{"a": ', "{'a': 1}", '{"a": NaN}', "{" * 100_000, "x" * (2 << 20)])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_json(text)


@given(st.dictionaries(st.text(), st.recursive(st.integers() | st.text(), st.lists, max_leaves=5)), st.text(max_size=9))
def test_any_object_is_found_behind_a_fence(given_object: dict[str, Any], before: str) -> None:
    before = before.replace("{", "").replace("`", "")
    assert parse_json(f"{before}\n```json\n{json.dumps(given_object)}\n```") == given_object


def _request() -> ChatRequest:
    return ChatRequest((Message("user", "?"),), "test/1", schema={"type": "object"})


def _even(found: dict[str, Any]) -> int:
    if not isinstance(found.get("n"), int) or found["n"] % 2:
        raise ValueError
    return int(found["n"])


def test_a_model_is_asked_twice_and_not_more() -> None:
    model = ScriptedProvider(["no JSON", '{"n": 4}'])
    assert ask_json(model, _request(), _even) == 4
    assert [message.role for message in model.asked[1].messages] == ["user", "assistant", "user"]
    model = ScriptedProvider(['{"n": 3}', "", '{"n": 4}'])
    with pytest.raises(ModelAnswerUnusable):
        ask_json(model, _request(), _even)
    assert len(model.asked) == 2
    model = ScriptedProvider([Reply("no", Finish.REFUSED, Usage()), '{"n": 4}'])
    with pytest.raises(ModelAnswerUnusable):
        ask_json(model, _request(), _even)
    assert len(model.asked) == 1
    with pytest.raises(ModelFailed):
        ask_json(ScriptedProvider([ModelFailed("gone")]), _request(), _even)


# ---- configuration


def faults(config: ModelConfig, **environ: str) -> dict[str, str]:
    try:
        config.check(environ)
    except InvalidRequest as error:
        return {fault.field: fault.reason.name for fault in error.violations}
    return {}


def test_a_configuration_says_all_that_is_missing() -> None:
    assert faults(ModelConfig()) == {}
    assert faults(ModelConfig("openai")) == {"llm.model": "VALUE_REQUIRED", "llm.api_key_env": "VALUE_REQUIRED"}
    assert faults(ModelConfig("openai", model="m"), OPENAI_API_KEY="k") == {}
    assert faults(ModelConfig("anthropic", model="m"), OPENAI_API_KEY="k") == {"llm.api_key_env": "VALUE_REQUIRED"}
    assert faults(ModelConfig("openai", "http://localhost:11434/v1", "m")) == {}
    assert faults(ModelConfig("openai", "http://localhost:11434/v1", "m", "MINE")) == {
        "llm.api_key_env": "VALUE_REQUIRED"
    }
    assert faults(ModelConfig("openai", "http://h/v1", "m", "MINE"), MINE="k\r\nx: y") == {
        "llm.api_key_env": "VALUE_MALFORMED"
    }
    assert faults(ModelConfig("bard", model="m", base_url="http://h")) == {"llm.provider": "UNKNOWN_NAME"}


@pytest.mark.parametrize(
    "url",
    ["localhost", "ftp://h", "http://", "http://u:p@h/v1", "http://h/v1?k=1", "http://h:0", "http://h:x", "http://[1"],
)
def test_an_address_that_cannot_be_used(url: str) -> None:
    found = faults(ModelConfig("openai", url, "m"))
    assert found == {"llm.base_url": "VALUE_MALFORMED"}


def test_who_is_on_this_machine() -> None:
    for url, local in (
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1", True),
        ("http://localhost", True),
        ("http://10.0.0.1", False),
        ("https://api.openai.com/v1", False),
        ("http://localhost.evil.example", False),
    ):
        assert ModelConfig("openai", url).is_local is local


def test_no_provider_is_none_and_a_key_shows_nowhere() -> None:
    assert make_provider(ModelConfig()) is None
    made = make_provider(ModelConfig("anthropic", model="m"), {"ANTHROPIC_API_KEY": "sk-secret"})
    assert made is not None
    assert (made.name, made.model) == ("anthropic", "m")
    assert "sk-secret" not in repr(vars(made))
    made.close()


# ---- waiting


def test_waits_double_up_to_a_bound() -> None:
    policy = RetryPolicy(retries=10, first_seconds=1, most_seconds=20, chance=lambda: 1.0)
    assert [policy.wait(tried) for tried in range(1, 8)] == [1, 2, 4, 8, 16, 20, 20]
    assert policy.wait(10**6) is None
    assert RetryPolicy(retries=10**7).wait(10**6) is not None


@given(st.text(max_size=70))
def test_any_header_is_read_or_passed_over(header: str) -> None:
    seconds = retry_after(header)
    assert seconds is None or seconds >= 0


def test_a_header_may_name_a_time() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert retry_after("Thu, 01 Jan 2026 00:00:30 GMT", lambda: now) == 30
    assert retry_after("Thu, 01 Jan 2026 00:00:30 GMT", lambda: now + timedelta(hours=1)) == 0
    assert retry_after("nan") is retry_after("inf") is None


# ---- events


def read_events(lines: list[str]) -> list[tuple[str, str]]:
    async def given_lines() -> AsyncIterator[str]:
        for line in lines:
            yield line

    async def read() -> list[tuple[str, str]]:
        return [event async for event in events(given_lines())]

    return asyncio.run(read())


def test_events_are_read_as_the_standard_says() -> None:
    lines = [": hi", "event: a", "data: 1", "data:2", "", "", "data", "", "id: 3", "data:  x", "", "data: half"]
    assert read_events(lines) == [("a", "1\n2"), ("", ""), ("", " x")]


# ---- requests and scripts


def test_a_request_ends_with_the_user() -> None:
    for messages in ((), (Message("assistant", "x"),), (Message("user", "x"), Message("system", "y"))):
        with pytest.raises(ValueError, match="message must"):
            ChatRequest(messages, "x")
    made = ChatRequest((Message("system", "s"), Message("user", "u")), "x")
    assert (made.system, made.turns) == ("s", (Message("user", "u"),))
    assert "secret" not in repr(ChatRequest((Message("user", "a secret"),), "x"))


def test_a_script_keeps_what_it_was_asked() -> None:
    model = ScriptedProvider(lambda asked: asked.messages[-1].text.upper())
    assert model.chat(ChatRequest((Message("user", "abc"),), "x")).text == "ABC"
    assert list(model.stream(ChatRequest((Message("user", "abcdefghi"),), "x")))[:2] == ["ABCDEFG", "HI"]
    assert [each.messages[0].text for each in model.asked] == ["abc", "abcdefghi"]
