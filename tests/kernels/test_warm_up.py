"""Compiled code comes after the first answers, and wherever it cannot, nothing else changes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")


def run(code: str, folder: Path, **environment: str) -> list[str]:
    """Lines that a process of its own prints; what it compiles lies in the folder."""
    given = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=given | {"XDG_CACHE_HOME": str(folder)} | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_numba
@pytest.mark.timeout(600)
def test_loads_after_a_search_and_from_the_cache(tmp_path: Path) -> None:
    code = """
import sys, time
from groundwire_server import kernels
from groundwire_server.kernels import State, compiled, searched, state, warm_up, warm_up_after_searches
warm_up.MODULES = ("groundwire_server.lexical.build_kernels",)
searched()
print(state() is State.OFF)
warm_up_after_searches()
print(state() is State.WAITING, "numba" in sys.modules)
searched()
searched()
while state() is State.LOADING:
    time.sleep(0.05)
print(state() is State.READY, compiled("groundwire_server.lexical.build_kernels").__name__)
"""
    for _ in range(2):
        assert run(code, tmp_path) == ["True", "True False", "True groundwire_server.lexical.build_kernels"]
        (folder,) = (tmp_path / "groundwire" / "kernels").iterdir()
        assert (folder / "compiled").exists()


def test_without_numba_nothing_is_loaded(tmp_path: Path) -> None:
    code = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "numba" else found(name, *rest)
from groundwire_server.kernels import State, compiled, load_now, searched, state, warm_up_after_searches
warm_up_after_searches()
searched()
print(state() is State.MISSING, load_now(), compiled("groundwire_server.dense.compiled"), "numba" in sys.modules)
"""
    assert run(code, tmp_path) == ["True False None False"]


@needs_numba
def test_a_module_that_fails_is_told_once_and_leaves_the_others(tmp_path: Path) -> None:
    code = """
from groundwire_server.kernels import State, compiled, load_now, state, warm_up
warm_up.MODULES = ("groundwire_server.no_such", "groundwire_server.evidence")
print(load_now(), state() is State.FAILED, compiled("groundwire_server.evidence") is not None)
"""
    assert run(code, tmp_path) == ["False True True"]


@needs_numba
def test_a_cache_that_cannot_be_written_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "groundwire").write_text("in the way")
    code = """
from groundwire_server.kernels import warm_up
folder = warm_up._cache_folder()
print(folder.is_dir(), folder.name.startswith("groundwire-kernels-"))
"""
    assert run(code, tmp_path) == ["True True"]
