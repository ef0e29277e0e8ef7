"""How many parts a client may send ahead, by how long the server takes to make them durable."""

from __future__ import annotations

__all__ = ["Window"]

_LEAST = 8
_SLOW_SECONDS = 2.0
_FAST_SECONDS = 0.5


class Window:
    """Halved while a step takes long, doubled up to its full size again while steps are quick.

    >>> window = Window(64)
    >>> window.after(3.0), window.after(1.0), window.after(0.1), window.after(0.1)
    (32, None, 64, None)
    """

    def __init__(self, full: int) -> None:
        self._full = full
        self.size = full

    def after(self, seconds: float) -> int | None:
        """The new size, where a step of that length changes it; else None."""
        before = self.size
        if seconds > _SLOW_SECONDS:
            self.size = max(min(_LEAST, self._full), self.size // 2)
        elif seconds < _FAST_SECONDS:
            self.size = min(self._full, self.size * 2)
        return self.size if self.size != before else None
