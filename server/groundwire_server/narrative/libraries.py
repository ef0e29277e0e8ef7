"""Which libraries a question is put to (semantics 4)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from groundwire_server.errors import Cause, ErrorReason, Unavailable, UnknownResource
from groundwire_server.evidence import Call, Degradation, DegradationKind, PlanStep, StageTiming
from groundwire_server.narrative.library_router import KeywordLibraryRouter, LibraryRouter
from groundwire_server.narrative.routing import ask_router

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Chosen", "RouterChoice", "Unreachable", "choose_libraries", "nobody_answers"]

_STAGE = "library_router"
_CAUSES_TOLD = 3
_LIBRARIES_TOLD = 20


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A library that the caller may read and that does not answer. `description` is None where nobody knows it."""

    library_id: str
    cause: Cause
    description: str | None = None


def nobody_answers(unreachable: Sequence[Unreachable]) -> Unavailable:
    """The error of a call none of whose libraries answers, with what is wrong with the first of them."""
    causes = [f"{each.library_id}: {each.cause.message}" for each in unreachable[:_CAUSES_TOLD]]
    return Unavailable(
        ErrorReason.LIBRARIES_UNREACHABLE,
        " ".join(("No library answered.", *causes)),
        details={"libraries": str(len(unreachable))},
    )


@dataclass(frozen=True, slots=True)
class RouterChoice:
    """A router by its name, and how many seconds it has for an answer."""

    name: str
    router: LibraryRouter
    seconds: float = 2.0

    @classmethod
    def default(cls) -> RouterChoice:
        """Keyword overlap."""
        return cls(KeywordLibraryRouter.name, KeywordLibraryRouter())


@dataclass(frozen=True, slots=True)
class Chosen:
    """The libraries of one question, by id, and how they were picked.

    `step` and `timing` are None where there was nothing to pick.
    """

    snapshots: tuple[Snapshot, ...]
    unreachable: tuple[Unreachable, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    step: PlanStep | None = None
    timing: StageTiming | None = None


def choose_libraries(
    question: str,
    call: Call,
    snapshots: Sequence[Snapshot],
    unreachable: Sequence[Unreachable] = (),
    choice: RouterChoice | None = None,
) -> Chosen:
    """The libraries that the call names, else those that the router picks, else all that the caller may read.

    A library that cannot be opened is picked by its description as any other, so that an answer without it says so;
    where not even that can be read it counts as picked.

    Args:
        snapshots: every library that the caller may read, each at one state.
        unreachable: those that could not be opened.
        choice: None: no router, all of them.

    Raises:
        UnknownResource: the call names a library that is not there for the caller.
        FailedPrecondition: a fallback that the call forbids.
        CallCancelled, DeadlineExceeded: the call is over.
    """
    open_ones = {snapshot.library_id: snapshot for snapshot in snapshots}
    closed = {library.library_id: library for library in unreachable}
    readable = sorted(open_ones.keys() | closed.keys())
    degradations: tuple[Degradation, ...] = ()
    step: PlanStep | None = None
    timing: StageTiming | None = None
    if call.options.library_ids:
        names = _named(call.options.library_ids, readable)
    elif choice is None or len(readable) < 2:
        names = readable
    else:
        started = time.perf_counter()
        described = {name: _description(open_ones.get(name), closed.get(name)) for name in readable}
        descriptions = {name: text for name, text in described.items() if text is not None}
        check = partial(call.cancel.check, _STAGE)
        routing = ask_router(choice.router, choice.name, question, descriptions, choice.seconds, check)
        if routing.picked:
            reasons = {name: routing.picked.get(name, "unknown") for name in readable if name not in descriptions}
            names = sorted({**routing.picked, **reasons})
            detail = f"{len(names)} of {len(readable)}: {_listed(names, {**reasons, **routing.picked})}"
        else:
            component = f"library_router:{choice.name}"
            fallback = Degradation(DegradationKind.LIBRARY_ROUTER_FALLBACK, component, cause=routing.fault)
            degradations = (call.accept(fallback),)
            names = readable
            why = "it picked none" if routing.fault is None else routing.fault.message.rstrip(".")
            detail = f"all {len(readable)}: {why[:1].lower()}{why[1:]}"
        step = PlanStep(_STAGE, choice.name, detail)
        elapsed = timedelta(seconds=time.perf_counter() - started)
        timing = StageTiming(_STAGE, elapsed, len(readable), len(names))
    return Chosen(
        tuple(open_ones[name] for name in names if name in open_ones),
        tuple(closed[name] for name in names if name in closed),
        degradations,
        step,
        timing,
    )


def _description(snapshot: Snapshot | None, closed: Unreachable | None) -> str | None:
    if snapshot is not None:
        return snapshot.config.description
    return None if closed is None else closed.description


def _listed(names: Sequence[str], reasons: Mapping[str, str]) -> str:
    """Libraries with the reasons for which they were picked; the header names all of them, this some."""
    told = [f"{name} ({reasons[name]})" if reasons.get(name) else name for name in names[:_LIBRARIES_TOLD]]
    return ", ".join([*told, *(["..."] if len(names) > _LIBRARIES_TOLD else [])])


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
