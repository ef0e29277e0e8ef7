"""Citations: whether one that was once given out still holds."""

from groundwire_server.citation.request import CitationCheck, CitationVerdict, Claim, VerifyRequest
from groundwire_server.citation.verify import verify_citation

__all__ = ["CitationCheck", "CitationVerdict", "Claim", "VerifyRequest", "verify_citation"]
