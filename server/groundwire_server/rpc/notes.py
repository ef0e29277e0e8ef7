"""What people should know when a server starts."""

from __future__ import annotations

from datetime import UTC, datetime

from groundwire_server.dense import DEFAULT_MODEL, find_model
from groundwire_server.settings import Settings

__all__ = ["start_notes"]


def start_notes(settings: Settings) -> list[str]:
    """Lines for whoever starts a server with these settings."""
    return [*_model(settings), *_certificate(settings)]


def _model(settings: Settings) -> list[str]:
    if settings.embedding.backend == "auto" and find_model(DEFAULT_MODEL, folder=settings.models) is None:
        why = "lexical search only until `groundwire models prepare` and a new start"
        return [f"{DEFAULT_MODEL} is not prepared: {why}"]
    return []


def _certificate(settings: Settings) -> list[str]:
    """A certificate that has run out is served, since a new one is taken up by itself; clients turn away from it."""
    path = settings.tls.cert
    if path is None:
        return []
    from groundwire_server.security.callers import certificate_ends

    try:
        ends = certificate_ends(path.read_bytes())
    except (ValueError, OSError):
        return []  # the server says what is wrong with it
    if ends > datetime.now(UTC):
        return []
    return [f"{path} ran out on {ends:%Y-%m-%d}: clients refuse it until a new one is in its place"]
