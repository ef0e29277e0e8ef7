"""Every command test runs in a folder of its own, without settings of the machine, and by words alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("GROUNDWIRE_", "RAGSPINE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", "none")
    monkeypatch.chdir(tmp_path)
