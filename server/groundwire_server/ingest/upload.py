"""A document or file that is coming in parts."""

from __future__ import annotations

__all__ = ["Upload"]


class Upload:
    """What came so far of a document or file whose last part has not come.

    Past the limit the content is let go; the part that went past it still goes into the spool, so that the fact
    survives a crash.

    Attributes:
        head: as the store keeps it.
        unspooled: (seq, head where it is to be kept, content) of parts that are not durable yet.
    """

    def __init__(self, head: bytes, limit: int, spooled: bytes | None = None) -> None:
        self.head = head
        self.unspooled: list[tuple[int, bytes | None, bytes]] = []
        self._limit = limit
        self._content = bytearray()
        self._size = 0
        self._begun = spooled is not None
        self._keep(spooled or b"")

    @property
    def too_large(self) -> bool:
        """Whether it is over the limit."""
        return self._size > self._limit

    def add(self, seq: int, content: bytes) -> None:
        """Take one more part."""
        head = None if self._begun else self.head
        self.unspooled.append((seq, head, b"" if self.too_large else content))
        self._begun = True
        self._keep(content)

    def content(self) -> bytes:
        """All of it; empty when it is too large."""
        return bytes(self._content)

    def _keep(self, content: bytes) -> None:
        self._size += len(content)
        if self.too_large:
            self._content = bytearray()
        else:
            self._content += content
