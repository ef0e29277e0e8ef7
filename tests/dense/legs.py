"""The two ways in which a search is computed: by numpy, and compiled where numba is installed."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from groundwire_server.dense import vector_index

LEGS = [
    "numpy",
    pytest.param(
        "numba", marks=pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
    ),
]


def kernels_of(leg: str) -> ModuleType | None:
    """The compiled functions, or None for numpy."""
    if leg == "numpy":
        return None
    from groundwire_server.dense import compiled

    return compiled


def use(leg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search in this way from now on."""
    kernels = kernels_of(leg)
    monkeypatch.setattr(vector_index, "compiled", lambda _: kernels)
