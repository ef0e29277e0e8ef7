"""The table has a row for each test of this folder, and each row has its test."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.bad_input.table import rows

FOLDER = Path(__file__).parent


def test_each_row_has_one_test_and_each_test_one_row() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "-p", "no:xdist", str(FOLDER)],
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = [line for line in listed.splitlines() if "::" in line and Path(__file__).name not in line]
    tests = [line.partition("::")[2] for line in lines]
    assert len(tests) > 100
    assert Counter(row.test for row in rows()) == Counter(tests)


def test_each_row_says_what_is_done_and_what_is_kept() -> None:
    for row in rows():
        assert all((row.wrong, row.through, row.told.answer, row.kept)), row
        if row.told.answer.startswith(("INVALID_ARGUMENT INVALID_REQUEST", "exit 1")):
            assert row.told.message, row
