"""`groundwire doctor`: what is really active, and why not."""

from groundwire_server.cli.doctor.command import command

__all__ = ["command"]
