"""Putting candidates in a better order: what a judge says, read with patience."""

from groundwire_server.rerank.ranking_text import parse_ranking

__all__ = ["parse_ranking"]
