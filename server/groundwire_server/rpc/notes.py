"""What people should know when a server starts."""

from __future__ import annotations

from groundwire_server.dense import DEFAULT_MODEL, find_model
from groundwire_server.settings import Settings

__all__ = ["start_notes"]


def start_notes(settings: Settings) -> list[str]:
    """Lines for whoever starts a server with these settings."""
    if settings.embedding.backend == "auto" and find_model(DEFAULT_MODEL, folder=settings.models) is None:
        why = "lexical search only until `groundwire models prepare` and a new start"
        return [f"{DEFAULT_MODEL} is not prepared: {why}"]
    return []
