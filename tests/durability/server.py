"""Real servers in processes of their own, on one data folder after another."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["SECRET", "ServerProcess", "free_port"]

SECRET = "secret of the durability tests"
_ROOT = Path(__file__).resolve().parents[2]
_LONGEST_WAIT = 60.0
_SETTINGS = {
    "GROUNDWIRE_EMBEDDING_BACKEND": "deterministic",
    "GROUNDWIRE_EMBEDDING_WORKERS": "1",
    "GROUNDWIRE_LIMITS_MAX_TOP_K": "10000",
    "GROUNDWIRE_LOG_FORMAT": "json",
    "GROUNDWIRE_LOG_LEVEL": "warning",
    "GROUNDWIRE_SECRET": SECRET,
}


class ServerProcess:
    """`groundwire serve` on a data folder. Leaving the block kills it, if it still runs.

    Args:
        folder: the data folder. What the process logs lies beside it.
        port: 0 takes a free one.
        point: name of the point at which it is to kill itself; empty: the plain server, nothing of the tests in it.
        log: where it logs; by default beside the data folder.
        module: another program than the server's own.
    """

    def __init__(
        self, folder: Path, *, port: int = 0, point: str = "", log: Path | None = None, module: str = ""
    ) -> None:
        self.folder = folder
        module = module or ("tests.durability.victim" if point else "groundwire_server.cli")
        self._log = log or folder.with_name(f"{folder.name}.log")
        self._said, said = os.pipe()
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWIRE_", "RAGSP"))
        }
        environment |= {**_SETTINGS, "PYTHONPATH": _python_path()}
        if point:
            environment |= {"KILL_POINT": point, "KILL_SAYS": str(said)}
        command = [sys.executable, "-m", module, "--data", str(folder), "serve", "--port", str(port)]
        with self._log.open("ab") as written:
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=written,
                env=environment,
                cwd=folder.parent,
                pass_fds=[said] if point else [],
            )
        os.close(said)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def address(self) -> str | None:
        """Where it answers, once it does; None when it died before."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode()
        return line.split(" answers on ")[1].split(",")[0] if line else None

    def limit_files(self, size: int) -> None:
        """Have the system refuse it to make a file longer than this; -1: as long as it likes."""
        _, hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()

    def wait_killed(self) -> str:
        """Until SIGKILL has ended it. Gives the name of the point at which it killed itself; empty: somebody did."""
        code = self._process.wait(_LONGEST_WAIT)
        assert code == -signal.SIGKILL, f"exit code {code}\n{self.log()}"
        return os.read(self._said, 4096).decode()

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Have it end by itself, as SIGTERM asks for."""
        self._process.terminate()
        code = self._process.wait(_LONGEST_WAIT)
        assert code == 0, f"exit code {code}\n{self.log()}"

    def wait_dead(self, seconds: float) -> bool:
        """Whether it ends within a time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def log(self) -> str:
        """What was logged on this folder, by all its servers."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def faults(self) -> list[str]:
        """Lines of the log that tell of a fault: errors, and whatever is no line of the log at all."""
        return [line for line in self.log().splitlines() if _is_fault(line)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"server log:\n{self.log()}")
        if self.alive:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        os.close(self._said)


def _python_path() -> str:
    """Where the tests are, beside whatever the tests themselves are told."""
    return os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])])


def _is_fault(line: str) -> bool:
    try:
        return json.loads(line)["level"] not in ("debug", "info", "warning")
    except (ValueError, KeyError, TypeError):
        return True


def free_port() -> int:
    """A port outside of the range from which the system gives ports, so that nothing takes it between two servers."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(10_000, min(lowest, 32_768))
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
