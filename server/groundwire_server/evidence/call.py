"""What every read carries: options, who asks, and the token that stops it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum

from groundwire_server.errors import DeadlineExceeded, ErrorReason, FailedPrecondition, GroundwireError
from groundwire_server.evidence.filter import Filter
from groundwire_server.evidence.principal import Principal
from groundwire_server.evidence.resume import Pin, Resume
from groundwire_server.evidence.stream import Degradation, DegradationKind

__all__ = ["BudgetOver", "Call", "CallCancelled", "CallOptions", "CancelToken", "EmptyFilterPolicy", "ExplainLevel"]


class ExplainLevel(IntEnum):
    """How much to tell about the way; numbers are those of `groundwire.v1.ExplainLevel`."""

    NONE = 1
    PLAN = 2
    TRACE = 3


class EmptyFilterPolicy(IntEnum):
    """What to do when the hint leaves nothing; the hard filter is never dropped."""

    NEVER_WIDEN = 1
    RETRY_WITHOUT_MARKED = 2


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of a read, checked and in our own types. `forbid` already holds what strictness forbids.

    soft_budget: time after which what is final is sent; None: no bound. token_budget: of prompt texts; 0: no bound.
    resume: where a stream goes on that has begun in another call; None: it begins here.
    """

    request_id: str = ""
    library_ids: tuple[str, ...] = ()
    filter: Filter | None = None
    hint: Filter | None = None
    on_empty: EmptyFilterPolicy = EmptyFilterPolicy.RETRY_WITHOUT_MARKED
    known_at: datetime | None = None
    valid_at: datetime | None = None
    explain: ExplainLevel = ExplainLevel.NONE
    forbid: frozenset[DegradationKind] = frozenset()
    language: str = ""
    reference_date: date | None = None
    soft_budget: timedelta | None = None
    token_budget: int = 0
    resume: Resume | None = None

    @property
    def pages(self) -> int:
        """How many times as much as the request names is wanted of what it counts; what was sent is among it."""
        return 1 if self.resume is None else self.resume.pages + 1


class CallCancelled(GroundwireError):
    """The caller went away; nobody reads this."""

    status = "CANCELLED"

    def __init__(self) -> None:
        super().__init__(ErrorReason.NOT_SERVING, "The call was cancelled.")


class BudgetOver(DeadlineExceeded):
    """The soft budget of a call ran out: what is final is sent. It passes wherever the end of the call does."""

    def __init__(self, stage: str) -> None:
        super().__init__(ErrorReason.DEADLINE, "The soft budget of the call ran out.", details={"stage": stage})


class CancelToken:
    """Polled between stages and inside long ones. Thread-safe.

    Args:
        deadline: reading of the clock at which the call's time is over; None: never.
        clock: seconds that only go up.
    """

    def __init__(self, deadline: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._cancelled = threading.Event()
        self._deadline = deadline
        self._clock = clock

    def cancel(self) -> None:
        """Ask the work to stop."""
        self._cancelled.set()

    def check(self, stage: str = "") -> None:
        """Raises CallCancelled or DeadlineExceeded when the work should stop."""
        if self._cancelled.is_set():
            raise CallCancelled
        if self._deadline is not None and self._clock() >= self._deadline:
            raise DeadlineExceeded(
                ErrorReason.DEADLINE, "The time of the call ran out.", details={"stage": stage} if stage else None
            )


class _SoftToken(CancelToken):
    """The token of a call, which also says when its soft budget is over."""

    def __init__(self, call: CancelToken, until: float, clock: Callable[[], float]) -> None:
        super().__init__()
        self._call = call
        self._until = until
        self._now = clock

    def cancel(self) -> None:
        self._call.cancel()

    def check(self, stage: str = "") -> None:
        self._call.check(stage)
        if self._now() >= self._until:
            raise BudgetOver(stage)


_END_SHARE, _LONGEST_END = 0.1, 2.0  # of the time of a call, and seconds: what is kept for its last frames


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Call:
    """One read: its options, its principal, its cancel token, its clock.

    began, ends: readings of `clock`, seconds that only go up, when the call came in, from where soft_budget counts, and
    when its time is over; None: never. pinned: is told what is read, by a function that gives the states and takes its
    time; None: nobody wants to know.
    """

    principal: Principal
    options: CallOptions = field(default_factory=CallOptions)
    cancel: CancelToken = field(default_factory=CancelToken)
    now: Callable[[], datetime] = _utc_now
    clock: Callable[[], float] = time.monotonic
    began: float = field(default_factory=time.monotonic)
    ends: float | None = None
    pinned: Callable[[Callable[[], tuple[Pin, ...]]], None] | None = None

    def softly(self, *, before_end: bool = False) -> Call:
        """The same call, whose token raises BudgetOver once the soft budget is over; itself where there is none.

        Args:
            before_end: also shortly before the time of the call is over, so that there is some to say so.
        """
        budget = self.options.soft_budget
        bounds = [] if budget is None else [self.began + budget.total_seconds()]
        if before_end and self.ends is not None:
            bounds.append(self.ends - min(_LONGEST_END, (self.ends - self.began) * _END_SHARE))
        if not bounds:
            return self
        return replace(self, cancel=_SoftToken(self.cancel, min(bounds), self.clock))

    @property
    def reference_day(self) -> date:
        """Day from which "last year" and the like are counted: as given, else that of valid_at, else today in UTC."""
        options = self.options
        return options.reference_date or (options.valid_at or self.now()).astimezone(UTC).date()

    def accept(self, degradation: Degradation) -> Degradation:
        """The degradation, when the call accepts its kind.

        Raises:
            FailedPrecondition: DEGRADATION_FORBIDDEN, when it does not (promise 5).
        """
        if degradation.kind in self.options.forbid:
            raise FailedPrecondition(
                ErrorReason.DEGRADATION_FORBIDDEN,
                f"The call forbids {degradation.kind.name} ({degradation.component}).",
                hint="Allow it, or mend what is missing.",
                details={"kind": degradation.kind.name, "component": degradation.component},
            )
        return degradation
