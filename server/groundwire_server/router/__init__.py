"""From a question to the right kind of evidence, and to an answer that stands on what it cites."""

from groundwire_server.router.ask import ask
from groundwire_server.router.classifier import Odds, RouteClassifier
from groundwire_server.router.frames import (
    AnswerOrigin,
    AnswerPart,
    AnswerWriter,
    AskFrame,
    Clarification,
    ClarificationOption,
    Complexity,
    Frame,
    Route,
    RouteDecision,
    Slot,
    SubCall,
    SubCallSummary,
    Turn,
    TurnRole,
)
from groundwire_server.router.learned import LearnedClassifier, learned_classifier, route_model
from groundwire_server.router.request import AskRequest
from groundwire_server.router.route import RouterLimits, route
from groundwire_server.router.writer import AnswerModel

__all__ = [
    "AnswerModel",
    "AnswerOrigin",
    "AnswerPart",
    "AnswerWriter",
    "AskFrame",
    "AskRequest",
    "Clarification",
    "ClarificationOption",
    "Complexity",
    "Frame",
    "LearnedClassifier",
    "Odds",
    "Route",
    "RouteClassifier",
    "RouteDecision",
    "RouterLimits",
    "Slot",
    "SubCall",
    "SubCallSummary",
    "Turn",
    "TurnRole",
    "ask",
    "learned_classifier",
    "route",
    "route_model",
]
