"""What is demanded of a server of one process is demanded of one of several: the same tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# They look into the process that they speak to for what is in the other one.
INSIDE = (
    "test_job_service.py::test_what_waits_for_an_embedder_in_vain_fails",
    "test_job_service.py::test_what_waits_for_a_library_that_cannot_be_opened_fails",
    "test_glossary.py::test_an_edited_file_holds_and_one_that_does_not_is_told",
    # It searches in the midst of an ingest, which other processes follow within a second.
    "test_ingest_service.py::test_a_lone_part_is_acknowledged_without_waiting_for_more",
    "test_lifecycle.py::test_a_second_server_on_the_folder_is_told_who_has_it",
)
QUICK = ("test_ingest_service.py", "test_glossary.py")
SLOW = (
    "test_job_service.py",
    "test_documents.py",
    "test_records.py",
    "test_reads.py",
    "test_graph.py",
    "test_resume.py",
    "test_pages.py",
    "test_purge.py",
    "test_paging.py",
    "test_stopping.py",
    "test_embedding_meanwhile.py",
)


@pytest.mark.parametrize("file", [*QUICK, *(pytest.param(file, marks=pytest.mark.slow) for file in SLOW)])
def test_the_tests_of_one_process_hold_for_several(file: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.workers.as_team", f"tests/rpc/{file}"]
    command += [word for name in INSIDE if name.startswith(file) for word in ("--deselect", f"tests/rpc/{name}")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    assert " passed" in ran.stdout
