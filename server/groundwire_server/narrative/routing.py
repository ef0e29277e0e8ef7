"""Asking a router, whatever it may be: what it answers is checked, and it has a time to answer in."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

from groundwire_server.errors import Cause, ErrorReason, GroundwireError
from groundwire_server.narrative.library_router import LibraryRouter

__all__ = ["Routing", "ask_router"]

_log = logging.getLogger(__name__)

_GLANCE = 0.01  # seconds between looks at the cancel token while a router thinks
_MOST_AT_WORK = 16  # routers that think at once; one that never ends keeps its place until it does
_REASON_LENGTH = 80

_places = threading.BoundedSemaphore(_MOST_AT_WORK)


@dataclass(frozen=True, slots=True)
class Routing:
    """What a router picked: ids, each with a reason that may be empty. Nothing, and why, where it erred."""

    picked: Mapping[str, str]
    fault: Cause | None = None


def ask_router(
    router: LibraryRouter,
    name: str,
    question: str,
    descriptions: Mapping[str, str],
    seconds: float,
    check: Callable[[], None],
) -> Routing:
    """What a router says, on a thread of its own; a fault when it raises, takes too long, or answers nonsense.

    Python cannot end a thread: a router that hangs goes on beside, and nobody listens to it any more.

    Raises:
        Exception: what `check` raises, asked every few milliseconds meanwhile.
    """
    if not _places.acquire(blocking=False):
        return Routing({}, Cause(ErrorReason.OVERLOADED, "Too many questions wait for the library router."))
    asked = _Asked(router, name, question, descriptions)
    threading.Thread(target=asked.run, name="groundwire-library-router", daemon=True).start()
    until = time.monotonic() + seconds
    while not asked.done.wait(min(_GLANCE, max(until - time.monotonic(), 0))):
        check()
        if time.monotonic() >= until:
            return Routing({}, Cause(ErrorReason.DEADLINE, "The library router took too long."))
    return asked.routing


class _Asked:
    def __init__(self, router: LibraryRouter, name: str, question: str, descriptions: Mapping[str, str]) -> None:
        self.done = threading.Event()
        self.routing = Routing({})
        self._router = router
        self._name = name
        self._question = question
        self._descriptions = descriptions

    def run(self) -> None:
        try:
            self.routing = self._route()
        except GroundwireError as error:
            self.routing = Routing({}, error.cause())
        except BaseException as error:  # noqa: BLE001 - a pluggable part may fail in any way, and the libraries still answer
            _log.warning("library router %s failed: %s", self._name, type(error).__name__)
            self.routing = Routing({}, Cause(ErrorReason.INTERNAL, "The library router failed."))
        finally:
            _places.release()
            self.done.set()

    def _route(self) -> Routing:
        known = self._descriptions
        answer = self._router.route(self._question, dict(known))
        # No more than there are: an answer may have no end.
        names = [answer] if isinstance(answer, str) else list(islice(answer, len(known) + 1))
        if not all(isinstance(name, str) and name in known for name in names):
            return Routing(
                {}, Cause(ErrorReason.UNKNOWN_LIBRARY, "The library router named a library that is not there.")
            )
        reasons = answer if isinstance(answer, Mapping) else {}
        return Routing({name: _reason(reasons.get(name)) for name in sorted(names)})


def _reason(given: object) -> str:
    """A reason as one short line."""
    if not isinstance(given, str):
        return ""
    shown = " ".join("".join(each if each.isprintable() else " " for each in given).split())
    return shown[:_REASON_LENGTH]
