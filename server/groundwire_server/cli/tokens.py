"""`groundwire tokens`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from groundwire_server.cli.groups import CommandGroup
from groundwire_server.cli.options import WORDS, config_option, json_option
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say, say_exactly
from groundwire_server.cli.tables import Column, show_table
from groundwire_server.security import LOCAL_NAME
from groundwire_server.security.callers import (
    CLEARANCES,
    RIGHTS,
    Token,
    TokenFile,
    grant_principal,
    is_name,
    rights_of,
)

__all__ = ["command"]

_LATER = re.compile(r"([1-9]\d{0,5})([dhm])")
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}

_name = click.argument("name", type=WORDS)
_file = click.option(
    "--file", "path", type=click.Path(dir_okay=False), help="File of the tokens. [setting access.token_file]"
)


@click.group(name="tokens", cls=CommandGroup)
def command() -> None:
    """Tokens that say who calls. A server asks for them when the setting access.token_file names their file.

    \b
    groundwire tokens create agent --clearance internal
    groundwire tokens list
    groundwire tokens revoke agent
    """


@command.command(name="create")
@_name
@click.option(
    "--clearance",
    type=click.Choice(CLEARANCES),
    default="internal",
    show_default=True,
    help="Highest label that its holder reads.",
)
@click.option(
    "--rights",
    type=click.Choice(RIGHTS),
    default="read",
    show_default=True,
    help="What its holder may do; each includes those before it. admin deletes libraries and sees all settings.",
)
@click.option("--group", "groups", type=WORDS, multiple=True, metavar="GROUP", help="Group; may be repeated.")
@click.option("--tenant", type=WORDS, default="", metavar="TENANT", help="Tenant.")
@click.option(
    "--expires", type=WORDS, metavar="WHEN", help="90d, 12h, 30m from now, a day, or a moment. [it does not run out]"
)
@_file
@json_option
@config_option
@click.pass_obj
def create(
    session: Session,
    name: str,
    clearance: str,
    rights: str,
    groups: tuple[str, ...],
    tenant: str,
    expires: str | None,
    path: str | None,
    as_json: bool,
) -> None:
    """Make the token NAME and print it, once: its file holds a hash and not the token.

    \b
    groundwire tokens create agent --clearance internal --expires 90d
    groundwire tokens create loader --rights write > loader.token

    Groups and tenant stand in the file beside it and bound nothing yet.
    """
    for what, value in [("NAME", name), *(("--group", each) for each in groups), ("--tenant", tenant or "-")]:
        if not is_name(value):
            raise click.UsageError(f"{what} is not 1 to 128 printable characters without blanks at the ends.")
    if name == LOCAL_NAME:
        raise click.UsageError(f"{LOCAL_NAME} is who need not say who it is; take another name.")
    table = {"name": name, "clearance": clearance, "rights": rights, "groups": list(groups), "tenant": tenant}
    file = _tokens(session, path)
    text, token = file.create(grant_principal(table), None if expires is None else _moment(expires))
    if as_json:
        show_json(ShownToken.of(token, text))
    else:
        say_exactly(text)
    note(f"this is the only time that the token is shown; {file.path} holds its hash")


@command.command(name="list")
@_file
@json_option
@config_option
@click.pass_obj
def list_(session: Session, path: str | None, as_json: bool) -> None:
    """List the tokens, without their texts, which nobody has but their holders.

    \b
    groundwire tokens list
    """
    file = _tokens(session, path)
    tokens = file.tokens()
    if not tokens:
        note(f"{file.path} holds no token" if file.path.exists() else f"there is no file {file.path}")
    if as_json:
        for each in tokens:
            show_json(ShownToken.of(each))
        return
    names = ("name", "clearance", "rights", "groups", "tenant", "created", "expires")
    state = Column("state", colour=lambda text: "green" if text == "holds" else "yellow")
    show_table([*(Column(name, shrinks=name in ("name", "groups")) for name in names), state], map(_row, tokens))


@command.command(name="revoke")
@_name
@_file
@json_option
@config_option
@click.pass_obj
def revoke(session: Session, name: str, path: str | None, as_json: bool) -> None:
    """Take the token NAME out. Servers let nobody in with it from a second later on; calls that run go on.

    \b
    groundwire tokens revoke agent
    """
    token = _tokens(session, path).revoke(name)
    if as_json:
        show_json(ShownToken.of(token))
    else:
        say(f"revoked {name}")


def _tokens(session: Session, path: str | None) -> TokenFile:
    """The file named, else that of the settings."""
    chosen = session.settings().access.token_file if path is None else Path(path)
    if chosen is None:
        raise click.UsageError("Say which file: --file FILE, or the setting access.token_file.")
    return TokenFile(chosen)


def _moment(text: str) -> datetime:
    now = datetime.now(UTC)
    if later := _LATER.fullmatch(text):
        return now + int(later[1]) * _UNITS[later[2]]
    try:
        day = date.fromisoformat(text)
    except ValueError:
        pass
    else:
        return _future(datetime(day.year, day.month, day.day, tzinfo=UTC), now)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(
            f"--expires {text!r} is neither a time from now (90d, 12h, 30m), a day (2027-01-31) nor a moment."
        ) from None
    return _future(moment if moment.tzinfo else moment.replace(tzinfo=UTC), now)


def _future(moment: datetime, now: datetime) -> datetime:
    if moment <= now:
        raise click.UsageError(f"--expires {moment:%Y-%m-%d %H:%M} is over already.")
    return moment


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A token as it is shown; `token`, its text, when it is made and at no other time."""

    name: str
    clearance: str
    rights: str
    groups: tuple[str, ...]
    tenant: str
    created: datetime
    expires: datetime | None
    holds: bool
    token: str = ""

    @classmethod
    def of(cls, token: Token, text: str = "") -> ShownToken:
        """What there is to say of a token now."""
        principal = token.principal
        return cls(
            principal.name,
            principal.clearance.name.lower(),
            rights_of(principal),
            tuple(sorted(principal.groups)),
            principal.tenant,
            token.created,
            token.expires,
            token.holds(datetime.now(UTC)),
            text,
        )


def _row(token: Token) -> Sequence[object]:
    told = ShownToken.of(token)
    days = ("" if each is None else f"{each:%Y-%m-%d %H:%M}" for each in (told.created, told.expires))
    state = "holds" if told.holds else "has run out"
    return (told.name, told.clearance, told.rights, ", ".join(told.groups), told.tenant, *days, state)
