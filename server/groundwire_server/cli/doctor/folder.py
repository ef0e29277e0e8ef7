"""Checks of the data folder: whether it is there and may be written, who has it open, how much room is left."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

from groundwire_server.cli.doctor.finding import Finding, fail, ok, warn
from groundwire_server.cli.holder import LockHolder, read_holder
from groundwire_server.cli.session import Session
from groundwire_server.cli.values import as_size
from groundwire_server.settings import Settings

__all__ = ["check_disk", "check_folder", "check_holder", "check_port", "holder_of"]

_FULL = 100 << 20
_NEARLY_FULL = 1 << 30


def check_folder(settings: Settings) -> Iterator[Finding]:
    """Whether the folder is there, and may be read and written."""
    folder, origin = settings.data, settings.origin("data")
    named = f"{folder.absolute()} (data, {origin})"
    if not folder.exists():
        advice = "the first `groundwire ingest` makes it; --data names another one"
        yield warn("data", f"{named} is not there yet", advice)
        return
    if not folder.is_dir():
        yield fail("data", f"{named} is no folder", "choose another with --data")
        return
    refused = [
        path
        for path in (folder, folder / "lock", folder / "server.sqlite", folder / "libraries")
        if path.exists() and not os.access(path, os.R_OK | os.W_OK)
    ]
    if refused:
        advice = f"chown -R {os.environ.get('USER') or os.getuid()} {folder}, or run as its owner"
        yield fail("data", f"{refused[0]} may not be read and written", advice)
        return
    yield ok("data", f"{named}, {as_size(_bytes_below(folder))}")


def holder_of(settings: Settings) -> LockHolder | None:
    """Who has the data folder open; None: nobody, or it cannot be told."""
    try:
        return read_holder(settings.data)
    except OSError:
        return None


def check_holder(holder: LockHolder | None, settings: Settings, session: Session) -> Iterator[Finding]:
    """Who has it open, and whether that one answers."""
    if holder is None:
        if settings.data.is_dir():
            yield ok("lock", "nobody has the data folder open")
    elif holder.address and (found := session.answering(holder.address)):
        found.close()
        yield ok("lock", f"process {holder.pid} has the data folder open and answers at {holder.address}")
    elif holder.address:
        advice = f"wait a moment; if it stays so, stop it: kill {holder.pid}"
        if settings.tls.cert is not None:
            advice = "it may encrypt: --ca FILE names the authority of its certificate"
        yield fail("lock", f"process {holder.pid} has the data folder open, and {holder.address} is silent", advice)
    else:
        advice = f"it may be starting: wait a moment; if it stays so, stop it: kill {holder.pid}"
        yield fail("lock", f"process {holder.pid} has the data folder open and does not answer", advice)


def check_port(settings: Settings) -> Iterator[Finding]:
    """Whether the port of `serve` is free. To be asked when no server of ours has the folder open."""
    host, port = settings.server.host, settings.server.port
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        what = os.strerror(error.errno) if error.errno else "the name is not known"
        advice = "`groundwire serve --port 0` takes a free one; `server.port` sets another"
        yield warn("port", f"`groundwire serve` cannot listen on {settings.server.address}: {what}", advice)
    else:
        yield ok("port", f"{settings.server.address} is free for `groundwire serve`")


def check_disk(settings: Settings) -> Iterator[Finding]:
    """Room on the disk of the data folder."""
    folder = _nearest(settings.data.absolute())
    usage = shutil.disk_usage(folder)
    message = f"{as_size(usage.free)} of {as_size(usage.total)} are free for {settings.data}"
    if usage.free < _FULL:
        yield fail("disk", message, "make room: writes are refused when the disk is full, reads go on")
    elif usage.free < _NEARLY_FULL:
        yield warn("disk", message, "make room soon: writes are refused when the disk is full")
    else:
        yield ok("disk", message)


def _nearest(path: Path) -> Path:
    """The path itself, or the folder above it that is there."""
    return next(each for each in (path, *path.parents) if each.exists())


def _bytes_below(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder, onerror=None):
        for name in names:
            try:
                total += os.lstat(os.path.join(path, name)).st_size
            except OSError:  # gone in between
                continue
    return total
