"""Where a stream goes on: at which states of which libraries, and behind which of its parts (stream.proto, cursors)."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Pin", "Position", "Resume"]


@dataclass(frozen=True, slots=True)
class Pin:
    """A library at one state, or one that did not answer.

    Attributes:
        generation: of the store. It counts writes that the caller may not see: it never leaves the server in the open.
        snapshot_id, content_id: of what the caller may see at that state, `Snapshot` has them; empty: the library did
            not answer.
    """

    library_id: str
    generation: int = 0
    snapshot_id: str = ""
    content_id: str = ""

    @property
    def answered(self) -> bool:
        """Whether the library was there."""
        return bool(self.snapshot_id)


@dataclass(frozen=True, slots=True)
class Position:
    """How much of a stream lies before a place, counted over all of its branches."""

    outcomes: int = 0
    calculations: int = 0
    snippets: int = 0


_BEGINNING = Position()


@dataclass(frozen=True, slots=True)
class Resume:
    """A stream is run again from its beginning, and what lies before `position` is not sent again.

    Attributes:
        pins: what it read, every library that was considered.
        position: behind it the stream goes on.
        paid: what lies before it costs nothing of a budget of tokens: another call has paid for it.
        pages: how often the caller has asked for more: it is owed (pages + 1) times as many pieces as the request says.
        by_meaning: vectors were searched.
    """

    pins: tuple[Pin, ...] = ()
    position: Position = _BEGINNING
    paid: Position = _BEGINNING
    pages: int = 0
    by_meaning: bool = field(default=False)
