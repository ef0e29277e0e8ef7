"""A small linear model over words, cues and kinds of names; trained by `scripts/train_route.py`, read from one file.

Weights are whole thousandths, so that a score is an exact sum, whatever the order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from groundwire_server.router.classifier import Odds
from groundwire_server.router.features import features_of
from groundwire_server.router.frames import Route
from groundwire_server.router.reading import Reading

__all__ = ["LearnedClassifier", "learned_classifier", "route_model"]

_FILE = "route_model.json"
_UNIT = 1000


class LearnedClassifier:
    """Multinomial logistic regression.

    Args:
        weights: of each feature for structured, narrative and composite, in thousandths.
    """

    name = "learned"

    def __init__(self, weights: Mapping[str, tuple[int, int, int]]) -> None:
        self._weights = weights

    def classify(self, reading: Reading, by_rules: Route, confidence: float) -> Odds:
        """The odds of each route; features that training has not seen count nothing."""
        sums = [0, 0, 0]
        for feature in features_of(reading, by_rules, confidence):
            for place, weight in enumerate(self._weights.get(feature, ())):
                sums[place] += weight
        most = max(sums)
        powers = [math.exp((each - most) / _UNIT) for each in sums]
        structured, narrative, composite = (each / math.fsum(powers) for each in powers)
        return Odds(structured, narrative, composite)


def route_model() -> dict[str, Any]:
    """The file of the model: `weights`, and under `measured` how it did on questions that it was not trained on."""
    text = files("groundwire_server.router").joinpath(_FILE).read_text(encoding="utf-8")
    model: dict[str, Any] = json.loads(text)
    return model


@cache
def learned_classifier() -> LearnedClassifier:
    """The model that comes with the server; read once."""
    return LearnedClassifier({name: (each[0], each[1], each[2]) for name, each in route_model()["weights"].items()})
