"""Where a stream stands: what of it was sent by calls before this one, and the cursors that go on from here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

from groundwire_server.evidence import (
    CalculationOutcome,
    EndReason,
    Header,
    MetricFound,
    MetricOutcome,
    Pin,
    PlanStep,
    Position,
    Resume,
    Snippet,
    Summary,
)
from groundwire_server.rpc.cursor import BoundKey, Cursor, cursor_gone

__all__ = ["StreamPlace"]

_MOST_PAGES = 100  # each takes as much work as all before it together
_DIGEST = 8
_KINDS = ("outcomes", "calculations", "snippets")
T = TypeVar("T")


@dataclass(slots=True)
class _Counter:
    """Pieces of one kind: how many there were, and a digest of what they are. `sent`: how many calls before sent."""

    sent: int
    expected: bytes
    passed: int = 0
    _digest: hashlib.blake2b = field(default_factory=lambda: hashlib.blake2b(digest_size=_DIGEST))

    def split(self, pieces: Sequence[T], name: Callable[[T], str]) -> tuple[Sequence[T], Sequence[T]]:
        """Those that were sent before, and the others.

        Raises:
            Aborted: RESUME_SNAPSHOT_GONE, they are not what was sent.
        """
        if self.passed >= self.sent:
            return (), pieces
        count = min(len(pieces), self.sent - self.passed)
        before = pieces[:count]
        self.add(map(name, before))
        if self.passed == self.sent and self._digest.digest() != self.expected:
            raise cursor_gone()
        return before, pieces[count:]

    def add(self, names: Iterable[str]) -> None:
        """These pieces have passed."""
        raw = [each.encode() for each in names]
        self._digest.update(b"".join([len(each).to_bytes(4, "big") + each for each in raw]))
        self.passed += len(raw)

    @property
    def digest(self) -> bytes:
        return self._digest.digest()


class StreamPlace:
    """Follows one stream as it is encoded.

    Args:
        key: gives the key of its cursors when the first one is made.
        begun: the cursor that the call brought; None: the stream begins here.
        pages: whether more can be asked for than the request names; an answer is whole as it is.
        dropped: gets the ids of snippets that are not sent again, for who checks the order of the stream.
    """

    def __init__(
        self,
        key: Callable[[], BoundKey],
        begun: Cursor | None = None,
        *,
        pages: bool = True,
        dropped: list[str] | None = None,
    ) -> None:
        self._key = key
        self._bound: BoundKey | None = None
        self._begun = begun
        self._resume = Resume() if begun is None else begun.resume
        self._pages = pages
        digests = bytes(len(_KINDS) * _DIGEST) if begun is None else begun.digest
        expected = [digests[place : place + _DIGEST] for place in range(0, len(digests), _DIGEST)]
        sent = [getattr(self._resume.position, kind) for kind in _KINDS]
        self._outcomes, self._calculations, self._snippets = map(_Counter, sent, expected)
        self._reference_date: date | None = None
        self._by_meaning = False
        self._find_pins: Callable[[], tuple[Pin, ...]] | None = None
        self._pins: tuple[Pin, ...] | None = None
        self._dropped = [] if dropped is None else dropped

    def pinned(self, pins: Callable[[], tuple[Pin, ...]]) -> None:
        """What the stream reads; see `Call.pinned`."""
        self._find_pins = pins

    def begin(self, header: Header) -> None:
        """The header of the stream."""
        self._reference_date = header.reference_date
        self.plan(header.plan)

    def plan(self, steps: Iterable[PlanStep]) -> None:
        """A plan that runs, of the call or of a branch."""
        self._by_meaning = self._by_meaning or any(step.coverage is not None for step in steps)

    def unsent_snippets(self, snippets: Sequence[Snippet]) -> Sequence[Snippet]:
        """Those that no call before has sent. Raises as `_Counter.split` does."""
        before, fresh = self._snippets.split(snippets, lambda each: each.snippet_id)
        self._dropped.extend(each.snippet_id for each in before)
        return fresh

    def unsent_outcomes(
        self, outcomes: Sequence[MetricOutcome], calculations: Sequence[CalculationOutcome]
    ) -> tuple[Sequence[MetricOutcome], Sequence[CalculationOutcome]]:
        """Those that no call before has sent. Raises as `_Counter.split` does."""
        return self._outcomes.split(outcomes, _outcome)[1], self._calculations.split(calculations, _calculation)[1]

    @property
    def before(self) -> int:
        """Snippets that went before those of this call: the rank of the last one."""
        return self._snippets.sent

    def sent_snippets(self, ids: Iterable[str]) -> bytes:
        """A batch is sent: the cursor behind it; empty where there can be none."""
        self._snippets.add(ids)
        return self._seal()

    def sent_outcomes(self, outcomes: Iterable[MetricOutcome], calculations: Iterable[CalculationOutcome]) -> bytes:
        """Outcomes are sent: the cursor behind them; empty where there can be none."""
        self._outcomes.add(map(_outcome, outcomes))
        self._calculations.add(map(_calculation, calculations))
        return self._seal()

    def next(self, summary: Summary) -> bytes:
        """The cursor of a summary; empty: nothing is left, or it cannot be asked for.

        Raises:
            Aborted: RESUME_SNAPSHOT_GONE, less has come than was sent before.
        """
        if self._behind:
            if summary.end_reason is EndReason.SOFT_BUDGET and self._begun is not None:
                return self._key().seal(self._begun)  # there was less time than for what was sent before
            raise cursor_gone()
        resume, here = self._resume, self._position
        if not self._pages:
            return b""
        match summary.end_reason:
            case EndReason.TOP_K if resume.pages < _MOST_PAGES:
                return self._seal(pages=resume.pages + 1, paid=here)
            case EndReason.SOFT_BUDGET:
                return self._seal()
            case EndReason.TOKEN_BUDGET if here != resume.paid:  # else the next piece alone is too large
                return self._seal(paid=here)
            case _:
                return b""

    def here(self) -> bytes:
        """The cursor behind what was sent; empty where there can be none."""
        if self._behind and self._begun is not None:
            return self._key().seal(self._begun)  # it has not come again to where calls before it were
        return self._seal()

    @property
    def _behind(self) -> bool:
        """Whether less has come than calls before this one have sent."""
        return any(each.passed < each.sent for each in (self._outcomes, self._calculations, self._snippets))

    @property
    def _position(self) -> Position:
        return Position(self._outcomes.passed, self._calculations.passed, self._snippets.passed)

    def _seal(self, *, pages: int | None = None, paid: Position | None = None) -> bytes:
        if self._pins is None:
            if self._find_pins is None or self._reference_date is None:
                return b""
            self._pins = self._find_pins()
            self._bound = self._key()
        assert self._bound is not None
        assert self._reference_date is not None
        resume = Resume(
            self._pins,
            self._position,
            self._resume.paid if paid is None else paid,
            self._resume.pages if pages is None else pages,
            self._by_meaning,
        )
        digest = self._outcomes.digest + self._calculations.digest + self._snippets.digest
        return self._bound.seal(Cursor(resume, self._reference_date, digest))


def _outcome(outcome: MetricOutcome) -> str:
    ids = outcome.outcome.snippet_ids if isinstance(outcome.outcome, MetricFound) else ()
    return f"{outcome.query_index} {type(outcome.outcome).__name__} {' '.join(ids)}"


def _calculation(outcome: CalculationOutcome) -> str:
    found = outcome.outcome if isinstance(outcome.outcome, str) else outcome.outcome.reason.name
    return f"{outcome.calculation_index} {found}"
