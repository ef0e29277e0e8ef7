"""A server in a process of its own, from outside: its address, and the CPU time that it takes.

The programs here start such a process from a script that writes its address when it serves and goes when its input
ends, so that none is left behind when the program that measures dies.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import grpc

__all__ = ["ServerProcess", "channel_to", "cpu_seconds", "server_process"]


class ServerProcess:
    """One that answers at `address`."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.pid = process.pid

    def cpu_seconds(self) -> float:
        """CPU time of the process so far."""
        return cpu_seconds(self.pid)


@contextmanager
def server_process(*words: object, quiet: bool = False) -> Iterator[ServerProcess]:
    """Run a script of Python as the server; it ends with the block.

    Args:
        words: the script and its arguments.
        quiet: whether what it says on standard error is dropped.

    Raises:
        RuntimeError: it wrote no address.
    """
    process = subprocess.Popen(
        [sys.executable, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError("the server did not start")
        yield ServerProcess(process, address)
    finally:
        process.stdin.close()
        process.wait(60)


def channel_to(address: str) -> grpc.Channel:
    """A channel past every proxy."""
    return grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0)])


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far; the clock's id is made of the process's as clock_getcpuclockid(3) does."""
    return time.clock_gettime((~pid << 3) | 2)
