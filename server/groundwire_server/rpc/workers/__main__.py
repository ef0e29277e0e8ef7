"""One process of a server that has several. Started by `supervision`, which says what it is to be.

    python -m groundwire_server.rpc.workers REPORT LOCK writer
    python -m groundwire_server.rpc.workers REPORT LOCK reader NUMBER

REPORT and LOCK are descriptors. Settings come through standard input, which stays open as long as the supervisor lives.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from groundwire_server.errors import ErrorReason, GroundwireError
from groundwire_server.rpc.lifecycle import serve
from groundwire_server.rpc.notes import start_notes
from groundwire_server.rpc.role import Role
from groundwire_server.rpc.workers.reader import Reader
from groundwire_server.rpc.workers.writer import Writer
from groundwire_server.settings import Settings
from groundwire_server.supervision import pack_failure, pack_ready, receive_settings


def main(words: list[str]) -> int:
    """Serve. Gives the exit code."""
    report, lock = int(words[0]), int(words[1])
    for descriptor in (report, lock):
        os.set_inheritable(descriptor, False)
    lifeline = sys.stdin.fileno()
    settings = receive_settings(lifeline)
    role, notes = _role(words[2:], settings, lock, lifeline)
    tell = _once(report)
    try:
        serve(settings, lambda address: tell(pack_ready(address, notes)), role=role)
    except GroundwireError as error:
        tell(pack_failure(error))
        return 1
    except Exception as error:
        tell(pack_failure(GroundwireError(ErrorReason.INTERNAL, f"The process {role.name} cannot start.")))
        raise error
    return 0


def _role(words: list[str], settings: Settings, lock: int, lifeline: int) -> tuple[Role, list[str]]:
    if words[0] == "writer":
        return Writer(settings.data, lock, lifeline), start_notes(settings)
    os.close(lock)  # it is the supervisor's and the writer's
    return Reader(settings.data, int(words[1]), lifeline), []


def _once(descriptor: int) -> Callable[[bytes], None]:
    """Writes one report, the first, and closes."""
    left = [descriptor]

    def tell(line: bytes) -> None:
        if left:
            os.write(left[0], line)
            os.close(left.pop())

    return tell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
