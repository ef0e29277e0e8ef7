"""Groundwire: typed, cited evidence for agents, streamed over gRPC."""

__all__ = ["__version__"]

__version__ = "0.1.0"
