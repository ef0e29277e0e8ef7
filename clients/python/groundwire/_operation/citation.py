"""Checking what was cited."""

from __future__ import annotations

from groundwire._model.figure import DerivedFigure, MetricFact
from groundwire._model.lineage import Lineage
from groundwire._model.relation import GraphEdge, GraphPath
from groundwire._model.snippet import Snippet, TextPassage
from groundwire._model.verification import Verification
from groundwire._operation.kinds import Unary, method
from groundwire._wire.mirror import fill, value_of
from groundwire.v1 import tools_pb2

__all__ = ["verify"]


def verify(cited: Snippet | Lineage, quote: str) -> Unary[Verification]:
    """ToolService.VerifyCitation: a snippet as it was given out, or a lineage with what it is said to hold.

    Raises TypeError for a snippet that is no citation in itself: a derived figure (its operands are), a summary.
    """
    request = tools_pb2.VerifyCitationRequest()
    fill(request.lineage, cited.lineage if isinstance(cited, Snippet) else cited)
    if quote:
        request.quote = quote
    elif isinstance(cited, Snippet):
        _fill_claim(cited, request)
    return Unary(method("ToolService/VerifyCitation"), request, value_of(Verification))


def _fill_claim(cited: Snippet, request: tools_pb2.VerifyCitationRequest) -> None:
    match cited.payload:
        case TextPassage(text=text):
            request.quote = text
        case MetricFact() as fact:
            fill(request.fact, fact)
        case GraphEdge() as edge:
            fill(request.edge, edge)
        case GraphPath() as path:
            fill(request.path, path)
        case DerivedFigure():
            raise TypeError("a derived figure is verified by its operands: verify the snippets that it names")
        case payload:
            raise TypeError(f"a {type(payload).__name__} is context, not a citation")
