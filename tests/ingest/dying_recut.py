"""A process that cuts a library anew and is killed at a named point.

python -m tests.ingest.dying_recut FOLDER POINT before|after CALL
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire_server.evidence import Label
from groundwire_server.ingest import recut
from groundwire_server.jobs import JobBoard, JobControl, JobKind, JobRunner
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.store import ServerFile
from tests.ingest.support import make_library, send
from tests.library.dying_writer import arm, say

FILES = {
    f"{number:03}.md": f"# Report {number}\n\nOne line.\n\nAnother line of it.\n".encode() for number in range(150)
}
CUT = LibraryConfig(chunk_chars=24, overlap_chars=0)


@contextmanager
def control_of(folder: Path, library: Library) -> Iterator[JobControl]:
    """What work on a library is given, over a board of its own."""
    file = ServerFile(folder / "board.sqlite")
    board = JobBoard(file)
    runner = JobRunner(board, {"recut": lambda control: None})
    runner.close()  # it only orders; the work is done by whoever is given the control
    ordered = runner.order("recut", JobKind.REINDEX, library.library_id, Label.INTERNAL).order
    assert ordered is not None
    try:
        yield JobControl(board, tuple(board.open_jobs(work_id=ordered.work_id)))
    finally:
        file.close()


def main() -> None:
    folder, point, moment, call = sys.argv[1:]
    library = make_library(Path(folder))
    if not library.snapshot().rows:
        send(library, *FILES.items())
        library.set_config(CUT)
    say("begun")
    arm(point, moment, int(call))
    with control_of(Path(folder), library) as control:
        recut(library, control)
    say("survived")


if __name__ == "__main__":
    main()
