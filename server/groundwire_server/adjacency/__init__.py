"""Relations as arrays: who is next to whom, under which label, from when to when; derived from the store, mapped."""

from groundwire_server.adjacency.adjacency import Adjacency
from groundwire_server.adjacency.sight import STATED_BY, Sight, Steps
from groundwire_server.adjacency.view import AdjacencyView

__all__ = ["STATED_BY", "Adjacency", "AdjacencyView", "Sight", "Steps"]
