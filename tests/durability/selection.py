"""Which trials run each time: a few, drawn by DURABILITY_SEED. The others are marked slow."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

import pytest

__all__ = ["SEED", "some_now"]

SEED = os.environ.get("DURABILITY_SEED", "1")
T = TypeVar("T")


def some_now(cases: Sequence[T], count: int, what: str) -> list[Any]:
    """Parameters of which `count`, spread over the list, are not slow."""
    chosen = random.Random(f"{SEED} {what}")
    borders = [len(cases) * place // count for place in range(count + 1)]
    now = {chosen.randrange(first, last) for first, last in pairwise(borders)}
    return [
        pytest.param(case, id=str(getattr(case, "name", case)), marks=() if place in now else pytest.mark.slow)
        for place, case in enumerate(cases)
    ]
