"""What all trials start from, made once in each test process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.durability.trial import Reference, undisturbed
from tests.durability.workload import BASE, CHANGE


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """A library."""
    return undisturbed(tmp_path_factory.mktemp("base") / "data", BASE, None)


@pytest.fixture(scope="session")
def changed(tmp_path_factory: pytest.TempPathFactory, base: Reference) -> Reference:
    """The same after all its changes."""
    return undisturbed(tmp_path_factory.mktemp("changed") / "data", CHANGE, base)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for a data folder."""
    return tmp_path / "data"


@pytest.fixture
def base_folder(folder: Path, base: Reference) -> Path:
    """A copy of the library's folder."""
    shutil.copytree(base.folder, folder)
    return folder
