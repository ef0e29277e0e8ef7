"""A language model as the one who weighs routes; where it fails, the next one does (semantics 11).

It is asked where the rules are not sure and nowhere else, within the bounds of `rails`: no model makes a question of
figures one of text alone, and none has "why" answered by figures alone.
"""

from __future__ import annotations

from groundwire_server.evidence import Call, Degradation, DegradationKind
from groundwire_server.llm import ModelProvider, Usage
from groundwire_server.router.classifier import Odds, RouteClassifier
from groundwire_server.router.frames import Route
from groundwire_server.router.model_choice import Wish, choose_word
from groundwire_server.router.reading import Reading

__all__ = ["ModelRouter"]

_WISH = Wish(
    "route", "route", tuple(route.name.lower() for route in Route), "route:llm", DegradationKind.ROUTER_FALLBACK
)
# A model names a route and tells no odds that mean anything.
_SAID, _OTHERS = 0.8, 0.1


class ModelRouter:
    """The classifier of one call.

    Args:
        model: None: there is none, and that is said where it would have been asked.
        instead: who weighs where the model says nothing; None: the rules' route holds.

    Attributes:
        lost: why the model said nothing; None: it did, or was not asked.
        usage: what it was asked.
    """

    def __init__(self, model: ModelProvider | None, call: Call, instead: RouteClassifier | None) -> None:
        self._model = model
        self._call = call
        self._instead = instead
        self.lost: Degradation | None = None
        self.usage = Usage()
        self.name = "llm"

    def classify(self, reading: Reading, by_rules: Route, confidence: float) -> Odds:
        """The model's route, or the odds of who weighs instead.

        Raises:
            FailedPrecondition: the model fails, and the call forbids that.
            CallCancelled, DeadlineExceeded: the call is over.
        """
        choice = choose_word(_WISH, reading.question, reading.language, self._model, self._call)
        self.usage += choice.usage
        if choice.lost is None:
            said = Route[choice.word.upper()]
            return Odds(*(_SAID if route is said else _OTHERS for route in Route))
        self.lost = self._call.accept(choice.lost)
        if self._instead is None:
            self.name = "rules"
            return Odds(*(_SAID if route is by_rules else _OTHERS for route in Route))
        self.name = self._instead.name
        return self._instead.classify(reading, by_rules, confidence)
