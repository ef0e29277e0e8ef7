"""Chains and relations as people read them."""

from __future__ import annotations

from groundwire import GraphEdge, GraphNode, GraphPath
from groundwire_server.cli.walks import chain_text, edge_text

A, B, C = (GraphNode(f"entity:{name}", "entity", label) for name, label in (("A", "Acme"), ("B", ""), ("C", "売上")))


def test_a_relation_with_its_days() -> None:
    assert edge_text(GraphEdge("1", A, B, "parent_of")) == "Acme parent_of entity:B"
    assert (
        edge_text(GraphEdge("1", A, C, "parent_of", valid_from="2019-04-01")) == "Acme parent_of 売上 (2019-04-01 to …)"
    )


def test_a_chain_shows_the_way_each_relation_is_stored() -> None:
    edges = (GraphEdge("1", A, B, "parent_of"), GraphEdge("2", C, B, "parent_of"))
    assert (
        chain_text(GraphPath(edges, ("entity:A", "entity:B", "entity:C")))
        == "Acme -parent_of-> entity:B <-parent_of- 売上"
    )
    assert chain_text(GraphPath(edges[:1])) == "Acme -parent_of-> entity:B"
    assert chain_text(GraphPath(())) == ""


def test_a_circle_is_walked_as_it_is() -> None:
    edges = (GraphEdge("1", A, B, "r"), GraphEdge("2", B, A, "r"))
    assert chain_text(GraphPath(edges, ("entity:A", "entity:B", "entity:A"))) == "Acme -r-> entity:B -r-> Acme"
