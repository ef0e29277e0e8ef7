"""Which libraries a question is put to (semantics 4)."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from groundwire_server.errors import Cause, ErrorReason, GroundwireError, Unavailable, UnknownResource
from groundwire_server.evidence import Call, Degradation, DegradationKind, PlanStep
from groundwire_server.text import is_cjk, tokenize

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = [
    "LIBRARY_ROUTERS",
    "Chosen",
    "KeywordLibraryRouter",
    "LibraryRouter",
    "Unreachable",
    "choose_libraries",
    "make_library_router",
    "nobody_answers",
]

_log = logging.getLogger(__name__)


class LibraryRouter(Protocol):
    """Picks libraries for a question. What it answers is checked: it may fail, answer nothing or invent a name."""

    @property
    def name(self) -> str: ...

    def route(self, question: str, descriptions: Mapping[str, str]) -> Sequence[str]:
        """Ids of libraries to search, of those that `descriptions` (id to text for people) has."""
        ...


class KeywordLibraryRouter:
    """Picks the libraries whose id or description shares telling words with the question.

    A word tells as much as it sets libraries apart: one that stands in every description tells nothing. Single CJK
    characters do not count, pairs do. A library is taken when it reaches half of what the best one has.
    """

    name = "keyword"

    def route(self, question: str, descriptions: Mapping[str, str]) -> list[str]:
        """Ids of libraries, best first, then by id; empty when no description shares a telling word."""
        words = {library: _words(f"{library} {text}") for library, text in descriptions.items()}
        spread = Counter(word for held in words.values() for word in held)
        asked = _words(question)
        scores = {
            library: math.fsum(math.log(len(words) / spread[word]) for word in asked & held)
            for library, held in words.items()
        }
        best = max(scores.values(), default=0.0)
        chosen = [library for library, score in scores.items() if score > 0 and score >= best / 2]
        return sorted(chosen, key=lambda library: (-scores[library], library))


def _words(text: str) -> frozenset[str]:
    return frozenset(token for token in tokenize(text) if len(token) > 1 or not is_cjk(token))


_ROUTERS = {KeywordLibraryRouter.name: KeywordLibraryRouter}

LIBRARY_ROUTERS: tuple[str, ...] = tuple(sorted(_ROUTERS))


def make_library_router(name: str = "keyword") -> LibraryRouter:
    """A library router by name. Raises KeyError for a name that is not in LIBRARY_ROUTERS."""
    return _ROUTERS[name]()


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A library that the caller may read and that does not answer."""

    library_id: str
    cause: Cause


_CAUSES_TOLD = 3


def nobody_answers(unreachable: Sequence[Unreachable]) -> Unavailable:
    """The error of a call none of whose libraries answers, with what is wrong with the first of them."""
    causes = [f"{each.library_id}: {each.cause.message}" for each in unreachable[:_CAUSES_TOLD]]
    return Unavailable(
        ErrorReason.LIBRARIES_UNREACHABLE,
        " ".join(("No library answered.", *causes)),
        details={"libraries": str(len(unreachable))},
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    """The libraries of one question, by id, and how they were picked.

    `step` is None where there was nothing to pick.
    """

    snapshots: tuple[Snapshot, ...]
    unreachable: tuple[Unreachable, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    step: PlanStep | None = None


def choose_libraries(
    question: str,
    call: Call,
    snapshots: Sequence[Snapshot],
    unreachable: Sequence[Unreachable] = (),
    router: LibraryRouter | None = None,
) -> Chosen:
    """The libraries that the call names, else those that the router picks, else all that the caller may read.

    Args:
        snapshots: every library that the caller may read, each at one state.
        unreachable: those that could not be opened.
        router: None: no router, all of them.

    Raises:
        UnknownResource: the call names a library that is not there for the caller.
        FailedPrecondition: a fallback that the call forbids.
    """
    open_ones = {snapshot.library_id: snapshot for snapshot in snapshots}
    closed = {library.library_id: library for library in unreachable}
    readable = sorted(open_ones.keys() | closed.keys())
    degradations: tuple[Degradation, ...] = ()
    step: PlanStep | None = None
    if call.options.library_ids:
        names = _named(call.options.library_ids, readable)
    elif router is None or len(readable) < 2:
        names = readable
    else:
        descriptions = {name: open_ones[name].config.description if name in open_ones else "" for name in readable}
        picked, fault = _routed(router, question, descriptions)
        names = picked or readable
        if not picked:
            fallback = Degradation(
                DegradationKind.LIBRARY_ROUTER_FALLBACK, f"library_router:{router.name}", cause=fault
            )
            degradations = (call.accept(fallback),)
        step = PlanStep("library_router", router.name, f"{len(names)} of {len(readable)}")
    return Chosen(
        tuple(open_ones[name] for name in names if name in open_ones),
        tuple(closed[name] for name in names if name in closed),
        degradations,
        step,
    )


def _named(wanted: Sequence[str], readable: Sequence[str]) -> list[str]:
    for name in wanted:
        if name not in readable:
            raise UnknownResource(
                ErrorReason.UNKNOWN_LIBRARY,
                f"There is no library {name[:80]!r} here.",
                hint=f"Libraries: {', '.join(readable) or 'none yet'}.",
                details={"library_id": name[:80]},
            )
    return sorted(set(wanted))


def _routed(router: LibraryRouter, question: str, descriptions: Mapping[str, str]) -> tuple[list[str], Cause | None]:
    """What the router picks, by id; nothing when it fails, answers nothing or names what is not there."""
    try:
        answer = router.route(question, descriptions)
        picked = sorted(set(answer))
    except GroundwireError as error:
        return [], error.cause()
    except Exception as error:  # noqa: BLE001 - a pluggable part may fail in any way, and the libraries still answer
        _log.warning("library router %s failed: %s", router.name, type(error).__name__)
        return [], Cause(ErrorReason.INTERNAL, "The library router failed.")
    if any(name not in descriptions for name in picked):
        return [], Cause(ErrorReason.UNKNOWN_LIBRARY, "The library router named a library that is not there.")
    return picked, None
