"""Where the processor cannot look at 64 rows closely in one go, the same rows come out."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ASK = """
import zlib
from pathlib import Path
import numpy as np
from groundwire_server.lexical import kernels
from groundwire_server import kernels as loaded
loaded.compiled = lambda name: kernels if name == kernels.__name__ else None
from groundwire_server.lexical import LexicalDirectory, top
from groundwire_server.lexical.close import HAS_CLOSE
words = ["売上", "net", "income", "한국", "の"] + [f"w{number}" for number in range(300)]
random = np.random.default_rng(3)
weights = 1 / np.arange(1, len(words) + 1)
chosen = random.choice(len(words), (6000, 40), p=weights / weights.sum())
texts = [" ".join(words[at] for at in row[: 5 + number % 36]) for number, row in enumerate(chosen)]
directory = LexicalDirectory(Path("FOLDER"))
index = directory.load(len(texts), lambda start, stop: texts[start:stop])
directory.settle()
found = []
for mask in (np.ones(len(texts), bool), np.arange(len(texts)) % 9 == 4):
    for first in range(0, 60, 7):
        scores = index.search([*words[first : first + 12], "売", "上", "net"], mask, depth=20)
        found.append((scores.rows.tolist(), scores.scores.tolist()))
directory.close()
print(HAS_CLOSE, zlib.crc32(repr(found).encode()), sum(len(rows) for rows, _ in found) > 300)
"""


def ask(folder: Path, **environment: str) -> list[str]:
    given = (
        os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "NUMBA_CACHE_DIR": str(folder / "cache")} | environment
    )
    code = ASK.replace("FOLDER", str(folder / "index"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=given)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_any_processor_finds_the_same(tmp_path: Path) -> None:
    here = ask(tmp_path / "here")
    plain = ask(tmp_path / "plain", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert plain[0] == "False"
    assert here[1:] == plain[1:]
    assert here[2] == "True"
