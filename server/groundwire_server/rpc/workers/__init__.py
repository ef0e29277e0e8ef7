"""The processes of a server that has several: one that writes, and those that read and pass on what is to write."""

from groundwire_server.rpc.workers.reader import Reader
from groundwire_server.rpc.workers.writer import Writer

__all__ = ["Reader", "Writer"]
