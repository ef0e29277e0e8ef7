"""What a package says it exports is what it binds, no more and no less, in order."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

import groundwire
import groundwire_server

GENERATED = "groundwire.v1"


def _packages() -> list[str]:
    names = []
    for root in (groundwire, groundwire_server):
        names.append(root.__name__)
        below = pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
        names += [module.name for module in below if module.ispkg and module.name != GENERATED]
    return names


def _public(module: ModuleType) -> set[str]:
    """Names that a reader of the package would take for its own: all but private ones and modules."""
    return {
        name
        for name, value in vars(module).items()
        if (not name.startswith("_") or name == "__version__")
        and name != "annotations"
        and not isinstance(value, ModuleType)
    }


def _order(name: str) -> tuple[int, str]:
    """As the linter sorts: constants, classes, the rest."""
    kind = 0 if name.isupper() else 1 if name.lstrip("_")[:1].isupper() else 2
    return kind, name


@pytest.mark.parametrize("name", _packages())
def test_all_is_exact_and_sorted(name: str) -> None:
    module = importlib.import_module(name)
    exported = list(getattr(module, "__all__", []))
    assert set(exported) == _public(module)
    assert exported == sorted(exported, key=_order)
