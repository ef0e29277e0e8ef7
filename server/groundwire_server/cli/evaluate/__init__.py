"""Measurements against known answers, through a real server on a local socket."""

__all__: list[str] = []
