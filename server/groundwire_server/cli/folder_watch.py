"""Waiting for changes in folders, as the system reports them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from watchfiles import Change, watch

__all__ = ["watch_folders"]

_QUIET_MILLISECONDS = 300  # an editor that writes anew beside the old file and renames it is done by then
_LONGEST_MILLISECONDS = 3000
_LOOK_MILLISECONDS = 250


def watch_folders(paths: Sequence[Path], data: Path) -> Iterator[bool]:
    """Gives False once it watches, then True for each burst of changes; ends with KeyboardInterrupt at Ctrl-C.

    Hidden names and the server's own data folder do not count. What changes while nobody waits is told with the next
    burst.
    """
    roots = [path.resolve() for path in paths]
    own = data.resolve()

    def counts(_: Change, name: str) -> bool:
        path = Path(name)
        if path.is_relative_to(own):
            return False
        below = next((path.relative_to(root).parts for root in roots if path.is_relative_to(root)), path.parts[-1:])
        return not any(part.startswith(".") for part in below)

    changes = watch(
        *roots,
        watch_filter=counts,
        debounce=_LONGEST_MILLISECONDS,
        step=_QUIET_MILLISECONDS,
        rust_timeout=_LOOK_MILLISECONDS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    yield bool(next(changes)) and False
    for some in changes:
        if some:
            yield True
