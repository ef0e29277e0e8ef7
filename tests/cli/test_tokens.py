"""`groundwire tokens`, and commands that speak to a server which encrypts and asks who calls."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from groundwire import Client
from groundwire_server.rpc.notes import start_notes
from groundwire_server.security.callers import parse_tokens
from groundwire_server.settings import load_settings
from tests.cli.commands import Ran, furnish, run, server
from tests.rpc.doors import Keys

FILE = "tokens.toml"


def create(*words: str, file: str = FILE) -> str:
    """The text of a new token."""
    ran = run("tokens", "create", *words, "--file", file)
    assert ran.code == 0, ran
    return ran.out.strip()


def test_a_token_is_shown_once() -> None:
    ran = run("tokens", "create", "agent", "--file", FILE)
    assert ran.code == 0
    assert re.fullmatch(r"gw_[\w-]{43}\n", ran.out)
    assert "only time" in ran.err
    assert ran.out.strip() not in ran.err
    written = Path(FILE).read_bytes()
    holder = parse_tokens(written).find(ran.out.strip(), datetime.now(UTC))
    assert holder is not None
    assert (holder.name, holder.clearance.name, holder.may_write, holder.may_administer) == (
        "agent",
        "INTERNAL",
        False,
        False,
    )
    shown = run("tokens", "list", "--file", FILE).out + run("tokens", "list", "--file", FILE, "--json").out
    assert ran.out.strip() not in shown
    assert Path(FILE).stat().st_mode & 0o777 == 0o600


def test_all_that_a_token_may_say() -> None:
    words = ("営業", "--clearance", "confidential", "--rights", "admin", "--group", "a", "--group", "b")
    made = run("tokens", "create", *words, "--tenant", "east", "--expires", "90d", "--file", FILE, "--json").frames[0]
    (listed,) = run("tokens", "list", "--file", FILE, "--json").frames
    assert listed == {name: value for name, value in made.items() if name != "token"}
    told = {name: listed[name] for name in ("name", "clearance", "rights", "groups", "tenant", "holds")}
    assert told == {
        "name": "営業",
        "clearance": "confidential",
        "rights": "admin",
        "groups": ["a", "b"],
        "tenant": "east",
        "holds": True,
    }
    lasts = datetime.fromisoformat(listed["expires"]) - datetime.fromisoformat(listed["created"])
    assert lasts == timedelta(days=90)
    assert run("tokens", "list", "--file", FILE).out.split("\t")[:5] == [
        "営業",
        "confidential",
        "admin",
        "a, b",
        "east",
    ]


@pytest.mark.parametrize("when", ["12h", "30m", "2999-01-31", "2999-01-31T12:00:00+09:00", "2999-01-31T12:00"])
def test_a_token_may_run_out(when: str) -> None:
    create("a", "--expires", when)
    (token,) = parse_tokens(Path(FILE).read_bytes()).tokens
    assert token.expires is not None
    assert token.holds(datetime.now(UTC))


def test_a_token_goes() -> None:
    create("a")
    create("b")
    assert run("tokens", "revoke", "a", "--file", FILE).out == "revoked a\n"
    assert [each["name"] for each in run("tokens", "list", "--file", FILE, "--json").frames] == ["b"]
    assert "there is no token 'a'; there are: b" in run("tokens", "revoke", "a", "--file", FILE).complaint


def test_a_list_of_nothing_says_why() -> None:
    assert run("tokens", "list", "--file", FILE).err == f"there is no file {FILE}\n"
    create("a")
    run("tokens", "revoke", "a", "--file", FILE)
    ran = run("tokens", "list", "--file", FILE)
    assert (ran.code, ran.err) == (0, f"{FILE} holds no token\n")


def test_a_start_says_that_the_certificate_ran_out(keys: Keys) -> None:
    settings = load_settings({"embedding.backend": "none", "tls.cert": keys.cert, "tls.key": keys.key}, environ={})
    assert start_notes(settings) == []
    keys.authority.sign("server", ends=datetime(2021, 1, 1, tzinfo=UTC)).write(keys.folder, "server")
    (said,) = start_notes(settings)
    assert "server.pem ran out on 2021-01-01" in said


def test_the_settings_name_the_file() -> None:
    assert "--file FILE, or the setting access.token_file" in run("tokens", "list").complaint
    Path("groundwire.toml").write_text('[access]\ntoken_file = "here/tokens.toml"\n')
    run("tokens", "create", "a")
    assert Path("here/tokens.toml").is_file()
    assert [each["name"] for each in run("tokens", "list", "--json").frames] == ["a"]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("create", ""), 2, "NAME is not 1 to 128"),
        (("create", "a\u202eb"), 2, "NAME is not 1 to 128"),
        (("create", "local"), 2, "local is who need not say"),
        (("create", "a", "--group", " "), 2, "--group is not 1 to 128"),
        (("create", "a", "--clearance", "restricted"), 2, "'public', 'internal', 'confidential'"),
        (("create", "a", "--rights", "root"), 2, "'read', 'write', 'admin'"),
        (("create", "a", "--expires", "soon"), 2, "neither a time from now"),
        (("create", "a", "--expires", "0d"), 2, "neither a time from now"),
        (("create", "a", "--expires", "2001-01-01"), 2, "is over already"),
        (("revoke", "a"), 1, "there is no token 'a'; there are: none"),
    ],
)
def test_what_makes_no_token(words: tuple[str, ...], code: int, why: str) -> None:
    ran = run("tokens", *words, "--file", FILE)
    assert ran.code == code
    assert why in ran.complaint
    assert not Path(FILE).exists()


@pytest.mark.parametrize("harm", ["mode", "content", "name"])
def test_a_file_that_does_not_hold_is_left_alone(harm: str) -> None:
    create("a")
    path = Path(FILE)
    if harm == "mode":
        path.chmod(0o666)
    elif harm == "content":
        path.write_text("[[token]]\nname = 3\n")
    before = path.read_bytes()
    ran = run("tokens", "create", "a" if harm == "name" else "b", "--file", FILE)
    assert ran.code == 1
    assert {"mode": "chmod 0640", "content": "token[1]", "name": "there is a token 'a'"}[harm] in ran.complaint
    assert path.read_bytes() == before


# ---- commands and a server that asks


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path / "keys")


def settings(keys: Keys, **more: object) -> dict[str, Any]:
    """Of a server that encrypts and asks for tokens."""
    return {**keys.tls, "access__token_file": keys.tokens.path, **more}


def fails(ran: Ran, why: str) -> None:
    assert ran.code == 1
    assert why in ran.complaint, ran


def test_commands_show_what_they_are_told_to(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish("elsewhere")
    Path("token").write_text(keys.token("agent") + "\n")
    Path("ca.pem").write_bytes(keys.authority.pem)
    question = ("metric", "sales", "Acme", "FY2024")
    with server("elsewhere", **settings(keys)) as address:
        words = ("--address", address, "--ca", "ca.pem", "--token-from", "token")
        assert "1234.50" in run(*words, *question).out
        assert "1234.50" in run(*question, *words).out
        fails(run(*question, "--address", address, "--ca", "ca.pem"), "--token-from FILE brings a token")
        fails(run(*question, "--address", address, "--token-from", "token"), "--ca FILE")
        fails(run("facts", "load", "figures.csv", *words), "IngestFacts needs the right to write. (NOT_PERMITTED)")
        monkeypatch.setenv("GROUNDWIRE_ADDRESS", address)
        monkeypatch.setenv("GROUNDWIRE_CA", "ca.pem")
        monkeypatch.setenv("GROUNDWIRE_TOKEN", Path("token").read_text())
        assert "1234.50" in run(*question).out
        assert run("doctor").code == 0
        monkeypatch.setenv("GROUNDWIRE_TOKEN", "gw_\u00e9")
        fails(run(*question), "the token is empty, or holds what no token holds")


@pytest.mark.parametrize("encrypts", [True, False])
def test_the_server_that_has_the_folder_is_found(keys: Keys, monkeypatch: pytest.MonkeyPatch, encrypts: bool) -> None:
    furnish()
    Path("ca.pem").write_bytes(keys.authority.pem)
    chosen = settings(keys) if encrypts else {"access__token_file": keys.tokens.path}
    question = ("metric", "sales", "Acme", "FY2024")
    token = keys.token("agent")
    with server(**chosen):
        monkeypatch.setenv("GROUNDWIRE_CA", "ca.pem")  # for servers that encrypt
        monkeypatch.setenv("GROUNDWIRE_TOKEN", token)
        assert "1234.50" in run(*question).out
        monkeypatch.delenv("GROUNDWIRE_TOKEN")
        fails(run(*question), "(UNAUTHENTICATED)")


def test_one_that_encrypts_and_cannot_be_spoken_to_is_said_at_once(keys: Keys) -> None:
    furnish()
    Path("groundwire.toml").write_text(f'[tls]\ncert = "{keys.cert}"\nkey = "{keys.key}"\n')
    with server("groundwire-data", **keys.tls):
        fails(run("metric", "sales", "Acme", "FY2024"), "It encrypts: --ca FILE names the authority")
        assert "it may encrypt" in run("doctor", "--json").out


def test_a_command_has_a_server_of_its_own_to_itself(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the settings ask for tokens, others on the machine need one for it as well; the command needs none."""
    furnish()
    text = f'[access]\ntoken_file = "{keys.tokens.path}"\n[tls]\ncert = "{keys.cert}"\nkey = "{keys.key}"\n'
    Path("groundwire.toml").write_text(text)
    token = keys.token("agent")
    from groundwire_server.cli.session import Session

    assert "1234.50" in run("metric", "sales", "Acme", "FY2024").out
    monkeypatch.setenv("GROUNDWIRE_TOKEN", "gw_of_elsewhere")
    assert run("facts", "load", "figures.csv").code == 0
    monkeypatch.delenv("GROUNDWIRE_TOKEN")
    with Session().client(embedder=False) as own:
        assert own.server_info().settings  # it may do everything
        with Client(own.address) as other, pytest.raises(Exception, match="no credentials that hold"):
            other.server_info()
        with Client(own.address, token=token) as other:
            assert not other.server_info().settings
        monkeypatch.setenv("GROUNDWIRE_TOKEN", token)
        assert "1234.50" in run("metric", "sales", "Acme", "FY2024").out


def findings(check: str) -> list[tuple[str, str]]:
    """What the doctor says under a heading."""
    return [(each["status"], each["message"]) for each in run("doctor", "--json").frames if each["check"] == check]


def test_the_doctor_looks_at_who_may_come_in(keys: Keys) -> None:
    furnish()
    assert findings("access") == [("ok", "callers are not asked who they are, and connections are plain")]
    text = f'[access]\ntoken_file = "{keys.tokens.path}"\n[tls]\ncert = "{keys.cert}"\nkey = "{keys.key}"\n'
    Path("groundwire.toml").write_text(text)
    assert [status for status, _ in findings("access")] == ["fail"]  # there is no file of tokens
    keys.token("a")
    (access,), (tokens,), (tls,) = (findings(name) for name in ("access", "tokens", "tls"))
    assert access == ("ok", "who brings a token or a certificate comes in; connections are encrypted")
    assert tokens == ("ok", f"1 hold in {keys.tokens.path}")
    assert tls == ("ok", f"{keys.cert} holds until 2040-01-01")
    keys.tokens.revoke("a")
    assert findings("tokens") == [("warn", f"0 hold in {keys.tokens.path}")]
    now = datetime.now(UTC)
    for left, status in ((timedelta(days=5), "warn"), (timedelta(days=-5), "fail")):
        keys.authority.sign("server", ends=now + left).write(keys.folder, "server")
        assert [each for each, _ in findings("tls")] == [status]


def test_a_server_is_given_its_certificate_by_its_settings() -> None:
    assert "tls.cert and tls.key" in run("--tls", "serve").complaint
    assert run("serve", "--cert", "x").code == 2


def test_what_is_shown_to_servers_stands_in_the_help_once() -> None:
    whole = run("--help").out
    for option in ("--token-from", "--ca", "--cert", "--key", "--tls / --no-tls"):
        assert option in whole
        assert option not in run("ask", "--help").out
    assert json.dumps(whole).count("GROUNDWIRE_TOKEN") == 1
