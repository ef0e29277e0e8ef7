"""Coverage-guided fuzzing with atheris: python tests/fuzz/fuzz.py TARGET [SECONDS] [libFuzzer flags].

Begins with the seeds, goes on for so many seconds, and ends with 1 and a file of the input when a target raises. Put
that file into `tests/fuzz/found/TARGET/` once the fault is mended: every test run tries it from then on.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path

__all__ = ["main"]

DEFAULT_SECONDS = 20
_MOST_BYTES = 4096
_ROOMS = ("chunking", "evidence", "glossary", "graph.check", "narrative.request", "rpc", "text")


def main(words: list[str]) -> None:
    """Fuzz one target. What it runs is loaded here, so that atheris sees its branches."""
    import atheris

    with atheris.instrument_imports(include=[f"groundwire_server.{room}" for room in _ROOMS]):
        from tests.fuzz.seeds import seeds
        from tests.fuzz.targets import TARGETS

    if not words or words[0] not in TARGETS:
        raise SystemExit(f"usage: fuzz.py TARGET [SECONDS] [flags]; targets: {', '.join(TARGETS)}")
    name, *others = words
    seconds = others.pop(0) if others and others[0].isdigit() else str(DEFAULT_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds(name):
            Path(folder, hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
        flags = [f"-max_total_time={seconds}", f"-max_len={_MOST_BYTES}", f"-artifact_prefix=fuzz-{name}-", *others]
        atheris.Setup(["fuzz", *flags, folder], TARGETS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main(sys.argv[1:])
