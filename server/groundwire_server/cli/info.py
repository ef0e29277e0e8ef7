"""`groundwire info`."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta

import click

from groundwire import Component, Limits, ServerInfo
from groundwire_server.cli.options import json_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.tables import Column, show_heading, show_pairs, show_table

__all__ = ["command"]


@click.command(name="info")
@json_option
@server_options
@click.pass_obj
def command(session: Session, as_json: bool) -> None:
    """Show what the server is: version, parts, features, limits, settings with their origin, methods.

    \b
    groundwire info
    groundwire info --json | jq .capabilities
    """
    with session.client(embedder=True) as client:
        info = client.server_info()
        address = client.address
    if as_json:
        show_json(info)
    else:
        _show(info, address)


def _show(info: ServerInfo, address: str) -> None:
    show_pairs([("version", info.server_version), ("address", address)])
    show_heading("Parts")
    columns = [
        Column("kind"),
        Column("name", shrinks=True),
        Column("state", shrinks=True, colour=lambda text: "green" if text == "active" else "yellow"),
        Column("version", shrinks=True),
    ]
    show_table(columns, [(each.kind, each.name, _state(each), each.version) for each in info.components])
    show_heading("Features that work")
    show_table([Column("feature")], [(name,) for name in info.capabilities])
    if info.limits is not None:
        show_heading("Limits")
        show_pairs(_limits(info.limits))
    if info.settings:
        show_heading("Settings")
        columns = [Column("setting"), Column("value", shrinks=True), Column("origin")]
        show_table(columns, [(each.name, each.value, each.origin) for each in info.settings])
    show_heading("Methods that work")
    show_table([Column("method")], [(name,) for name in info.methods])


def _state(component: Component) -> str:
    return "active" if component.active else component.inactive_reason


def _limits(limits: Limits) -> list[tuple[str, object]]:
    named = [(field.name, getattr(limits, field.name)) for field in fields(limits)]
    return [(name, f"{value.total_seconds():g} s" if isinstance(value, timedelta) else value) for name, value in named]
