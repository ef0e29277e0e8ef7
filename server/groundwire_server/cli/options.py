"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from groundwire_server.cli.session import Session

__all__ = [
    "COUNT",
    "LABELS",
    "WORDS",
    "call_options",
    "config_option",
    "credential_options",
    "json_option",
    "label_option",
    "library_option",
    "mode_option",
    "own_place_options",
    "place_options",
    "reading_options",
    "server_options",
]

Command = Callable[..., Any]


if TYPE_CHECKING:
    _TextType = click.ParamType[str, Any]
else:
    _TextType = click.ParamType  # not generic before click 8.2


class _Words(_TextType):
    """Text in UTF-8, also where the locale has made something else of it."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text. Fails when the bytes of the command line are no UTF-8."""
        text = str(value)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            try:
                return os.fsencode(text).decode("utf-8")
            except UnicodeError:
                self.fail(f"{text!a} is no UTF-8.", param, ctx)
        return text


WORDS = _Words()
COUNT = click.IntRange(1, 2**31 - 1)
LABELS = click.Choice(["public", "internal", "confidential", "restricted"])

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of lines to read.")
library_option = click.option(
    "--library", type=WORDS, metavar="LIBRARY", default="default", show_default=True, help="The library."
)
label_option = click.option("--label", type=LABELS, help="Sensitivity. [the library's default]")
mode_option = click.option(
    "--mode",
    type=click.Choice(["auto", "hybrid", "vector", "lexical"]),
    default="auto",
    show_default=True,
    help="Legs to search; hybrid and vector fail without an embedder, auto says so and goes on.",
)


def _into_session(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is not None and param.name is not None:
        said: dict[str, Any] = {param.name: value}
        ctx.obj = replace(ctx.ensure_object(Session), **said)


def _session_option(
    name: str, kind: Any, metavar: str, help_text: str, *, hidden: bool = False
) -> Callable[[Command], Command]:
    return click.option(
        name, type=kind, metavar=metavar, help=help_text, expose_value=False, callback=_into_session, hidden=hidden
    )


config_option = _session_option(
    "--config", click.Path(exists=True, dir_okay=False), "FILE", "Settings. [./groundwire.toml, if there]"
)


def credential_options(*, hidden: bool) -> Callable[[Command], Command]:
    """What is shown to a server that encrypts or asks who calls. The help of the whole command tells of them once."""
    file = click.Path(exists=True, dir_okay=False)
    options = (
        _session_option(
            "--token-from", file, "FILE", "File that holds a token; else it is GROUNDWIRE_TOKEN.", hidden=hidden
        ),
        _session_option(
            "--ca", file, "FILE", "Authority of the server's certificate, PEM; also GROUNDWIRE_CA.", hidden=hidden
        ),
        _session_option("--cert", file, "FILE", "Own certificate, PEM; also GROUNDWIRE_CERT.", hidden=hidden),
        _session_option("--key", file, "FILE", "Its key, PEM; also GROUNDWIRE_KEY.", hidden=hidden),
        click.option(
            "--tls/--no-tls",
            "tls",
            default=None,
            expose_value=False,
            callback=_into_session,
            hidden=hidden,
            help="Whether to encrypt; also GROUNDWIRE_TLS. [with --ca or --cert; with a token to another machine]",
        ),
    )

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def place_options(command: Command) -> Command:
    """--config, --data and --address, which go into the session. They may stand before the command or behind it."""
    return _place(command, speaks=True)


def own_place_options(command: Command) -> Command:
    """The same for what speaks to no server; --address is known there in order to be refused."""
    return _place(command, speaks=False)


def _place(command: Command, *, speaks: bool) -> Command:
    said = "Server to speak to; also GROUNDWIRE_ADDRESS. [one is found, or started]"
    for option in (
        _session_option("--address", WORDS, "HOST:PORT", said, hidden=not speaks),
        _session_option("--data", click.Path(file_okay=False), "FOLDER", "Data folder. [./groundwire-data]"),
        config_option,
    ):
        command = option(command)
    return command


def server_options(command: Command) -> Command:
    """The same, and what is shown to the server."""
    return place_options(credential_options(hidden=True)(command))


def reading_options(command: Command) -> Command:
    """--in, --language, --strict, --json and the server's, for commands that read."""
    for option in (
        server_options,
        json_option,
        click.option("--strict", is_flag=True, help="Fail rather than answer with a fallback."),
        click.option("--language", type=click.Choice(["en", "zh", "ja"]), help="Of sentences. [the question's]"),
        click.option(
            "--in", "libraries", type=WORDS, multiple=True, metavar="LIBRARY", help="Library to read; may be repeated."
        ),
    ):
        command = option(command)
    return command


def call_options(
    libraries: tuple[str, ...], language: str | None, strict: bool, explain: str = "none"
) -> dict[str, Any]:
    """The same as keyword arguments of the client."""
    options: dict[str, Any] = {"libraries": libraries}
    if language is not None:
        options["language"] = language
    if strict:
        options["strictness"] = "FAIL_ON_DEGRADED"
    if explain != "none":
        options["explain"] = explain.upper()
    return options
