"""Tokens: what is in one, what the file says of it, and what finds it again."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import Label, Principal
from groundwire_server.security.callers import (
    CLEARANCES,
    RIGHTS,
    Token,
    TokenTable,
    format_tokens,
    grant_principal,
    is_name,
    make_token,
    parse_tokens,
    rights_of,
)

NOW = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
AGENT = Principal("agent", Label.INTERNAL, may_write=False, may_administer=False)

names = st.text(min_size=1, max_size=128).filter(is_name)
principals = st.builds(
    lambda name, clearance, rights, groups, tenant: grant_principal(
        {"name": name, "clearance": clearance, "rights": rights, "groups": groups, "tenant": tenant}
    ),
    names,
    st.sampled_from(CLEARANCES),
    st.sampled_from(RIGHTS),
    st.lists(names, max_size=4),
    st.one_of(st.just(""), names),
)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def test_a_token_is_random_and_its_file_knows_its_hash_alone() -> None:
    text, token = make_token(AGENT, NOW)
    other, _ = make_token(AGENT, NOW)
    assert re.fullmatch(r"gw_[A-Za-z0-9_-]{43}", text)
    assert text != other
    assert token.sha256 == hashlib.sha256(text.encode()).hexdigest()
    written = format_tokens([token])
    assert text not in written
    assert text[3:20] not in written
    assert TokenTable([token]).find(text, NOW) == AGENT


@pytest.mark.parametrize(
    "change", [lambda t: t[:-1], lambda t: t + "A", lambda t: t.lower(), lambda t: "", lambda t: " " + t]
)
def test_another_text_is_nobodys(change) -> None:  # type: ignore[no-untyped-def]
    text, token = make_token(AGENT, NOW)
    assert TokenTable([token]).find(change(text), NOW) is None


def test_a_text_of_any_length_or_kind_is_nobodys() -> None:
    _, token = make_token(AGENT, NOW)
    for text in ("gw_" * 100_000, "\ud800", "日本\0", token.sha256):
        assert TokenTable([token]).find(text, NOW) is None


def test_a_token_runs_out_at_its_moment() -> None:
    text, token = make_token(AGENT, NOW, NOW + timedelta(seconds=5))
    table = TokenTable([token])
    assert table.find(text, NOW + timedelta(seconds=4, milliseconds=999)) == AGENT
    assert table.find(text, NOW + timedelta(seconds=5)) is None


@given(
    st.lists(
        st.tuples(principals, moments, st.one_of(st.none(), moments)), max_size=5, unique_by=lambda each: each[0].name
    )
)
def test_what_is_written_is_read(made: list[tuple[Principal, datetime, datetime | None]]) -> None:
    tokens = [make_token(*each) for each in made]
    read = parse_tokens(format_tokens(token for _, token in tokens).encode())
    assert sorted(read.tokens, key=lambda each: each.sha256) == sorted(
        (token for _, token in tokens), key=lambda each: each.sha256
    )
    for text, token in tokens:
        assert read.find(text, datetime(1999, 1, 1, tzinfo=UTC)) == token.principal


@given(principals)
def test_rights_have_one_name(principal: Principal) -> None:
    assert principal.may_administer is (rights_of(principal) == "admin")
    assert principal.may_write is (rights_of(principal) != "read")
    assert principal.clearance is not Label.RESTRICTED


def _file(**changes: object) -> bytes:
    table = {"name": '"agent"', "sha256": f'"{"ab" * 32}"', "clearance": '"public"', "created": "2026-01-01T00:00:00Z"}
    table.update({key: str(value) for key, value in changes.items()})
    return ("[[token]]\n" + "".join(f"{key} = {value}\n" for key, value in table.items() if value != "None")).encode()


def test_what_is_not_said_is_least() -> None:
    (token,) = parse_tokens(_file()).tokens
    assert token == Token(
        Principal("agent", Label.PUBLIC, may_write=False, may_administer=False),
        "ab" * 32,
        datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"clearance": '"restricted"'}, ["token[1].clearance"]),
        ({"clearance": '"secret"'}, ["token[1].clearance"]),
        ({"clearance": None}, ["token[1].clearance"]),
        ({"clearance": 3}, ["token[1].clearance"]),
        ({"rights": '"root"'}, ["token[1].rights"]),
        ({"rights": "true"}, ["token[1].rights"]),
        ({"name": '""'}, ["token[1].name"]),
        ({"name": '"local"'}, ["token[1].name"]),
        ({"name": '" a"'}, ["token[1].name"]),
        ({"name": '"a\\u202Eb"'}, ["token[1].name"]),
        ({"name": '"a\\nb"'}, ["token[1].name"]),
        ({"name": f'"{"a" * 129}"'}, ["token[1].name"]),
        ({"groups": '"ops"'}, ["token[1].groups"]),
        ({"groups": "[1]"}, ["token[1].groups"]),
        ({"tenant": "7"}, ["token[1].tenant"]),
        ({"sha256": '"AB"'}, ["token[1].sha256"]),
        ({"sha256": None}, ["token[1].sha256"]),
        ({"created": None}, ["token[1].created"]),
        ({"created": "2026-01-01T00:00:00"}, ["token[1].created"]),
        ({"expires": "2026-01-01"}, ["token[1].expires"]),
        ({"expire": "2026-01-01T00:00:00Z"}, ["token[1].expire"]),
        ({"gw_abc": "1"}, ["token[1].(a key)"]),
        ({"name": '"gw_abc"'}, ["token[1].name"]),
        (
            {"clearance": '"top"', "rights": '"all"', "name": "1"},
            ["token[1].name", "token[1].clearance", "token[1].rights"],
        ),
    ],
)
def test_every_fault_of_a_file_is_named(changes: dict[str, object], places: list[str]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_tokens(_file(**changes))
    assert [each.field for each in caught.value.violations] == places


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfe",
        b"[[token]",
        b"token = 3",
        b"token = [1]",
        b"[token]\nname = 'a'",
        b"[[tokens]]",
        b"other = 1",
        b"a = " + b"[" * 5000,
        _file() + _file(sha256=f'"{"cd" * 32}"'),
        _file() + _file(name='"other"'),
    ],
)
def test_another_file_is_none_of_tokens(raw: bytes) -> None:
    with pytest.raises(InvalidRequest):
        parse_tokens(raw)


@given(st.binary(max_size=300))
def test_any_bytes_are_tokens_or_refused(raw: bytes) -> None:
    with suppress(InvalidRequest):
        parse_tokens(raw)


def test_an_empty_file_lets_nobody_in() -> None:
    assert parse_tokens(b"").tokens == ()
    assert parse_tokens("\ufeff# nothing\n".encode()).tokens == ()
