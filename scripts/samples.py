"""Make the sample files of the readers' tests anew (`make samples`), by programs that are not the readers' libraries.

Each file is small, says the same ferry company's things in English, Chinese or Japanese (our own words), and holds what
a reader of its kind must not get wrong. docs/readers.md says by hand where citations of them lead. The same versions of
the producers give the same content again; dates are fixed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "readers" / "files"
MOST_BYTES = 60 * 1024

Maker = Callable[[Path], None]


def makers() -> dict[str, Maker]:
    """What makes each file, by its name."""
    sys.path.insert(0, str(ROOT))
    from scripts import samples_books, samples_pages, samples_pdf, samples_slides, samples_tables, samples_word

    found: dict[str, Maker] = {}
    for module in (samples_pages, samples_pdf, samples_word, samples_slides, samples_tables, samples_books):
        found.update(module.MAKERS)
    return found


def main() -> int:
    """Make those that are named on the command line, else all. Returns the exit code."""
    os.environ["SOURCE_DATE_EPOCH"] = "1704067200"  # 2024-01-01, for pandoc
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:]
    for name, make in makers().items():
        if wanted and name not in wanted:
            continue
        path = FOLDER / name
        make(path)
        size = path.stat().st_size
        print(f"{name}: {size} bytes")
        if size > MOST_BYTES:
            raise SystemExit(f"{name} is over {MOST_BYTES} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
