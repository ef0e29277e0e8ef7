"""Stored relations as GraphML, for graph tools and for `groundwire facts load`; `ingest.graphml` reads it."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import IO
from xml.sax.saxutils import escape, quoteattr

from groundwire import Attribute, GraphNode, Lineage, ListedRelation, Period, Value
from groundwire_server.evidence import parse_node_id

__all__ = ["CHECKED", "export_graphml"]

CHECKED = frozenset({"co_occurrence", "facts", "file", "glossary", "metadata", "titles"})
"""Who finds relations without a model in between."""

_TYPES = "urn:groundwire:types"
# What XML 1.0 cannot hold, and the line end that it makes another one of.
_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_MEMORY = 4 << 20


def export_graphml(listed: Iterable[ListedRelation], *, unverified: bool = False) -> Iterator[str]:
    """The lines of a file: an edge for each source of each relation, in the order of the list.

    Nodes and edges wait in a temporary file, since all keys stand before them. What a model found is left out unless it
    is asked for; it says who found it, and loading refuses it.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as waiting:
        writer = _Writer(waiting)
        for each in listed:
            writer.add(each, unverified=unverified)
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:gw="{_TYPES}">'
        yield from writer.keys()
        yield '<graph edgedefault="directed">'
        waiting.seek(0)
        yield from (line.removesuffix("\n") for line in waiting)
        yield "</graph>"
        yield "</graphml>"


class _Writer:
    """Writes nodes and edges, each node before its first edge, and remembers which keys they need."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._nodes: dict[str, str] = {}
        self._keys: dict[tuple[str, str, str], str] = {}  # (of what, name, type): id

    def add(self, listed: ListedRelation, *, unverified: bool) -> None:
        """Add a relation, source by source."""
        edge = listed.edge
        sources = (listed.lineage, *listed.lineage.members)
        found_by = listed.extractors or (edge.extractor,) * len(sources)
        kept = [
            (place, source, extractor)
            for place, (source, extractor) in enumerate(zip(sources, found_by, strict=False))
            if unverified or extractor in CHECKED
        ]
        if not kept:
            return
        ends = [self._node(node) for node in (edge.source, edge.target)]
        for place, source, extractor in kept:
            said = {
                "relation": edge.relation,
                "valid_from": edge.valid_from,
                "valid_to": edge.valid_to,
                "source_doc": source.doc_id,
                "locator": source.source_locator,
                "extractor": extractor,
            }
            data = [self._field("edge", name, text) for name, text in said.items() if text]
            data += [self._attribute(each) for each in self._attributes(listed, place, source)]
            self._out.write(
                f'<edge id="{edge.edge_id}.{place}" source="{ends[0]}" target="{ends[1]}">{"".join(data)}</edge>\n'
            )

    @staticmethod
    def _attributes(listed: ListedRelation, place: int, source: Lineage) -> tuple[Attribute, ...]:
        return listed.edge.attributes if place == 0 else source.attributes

    def _node(self, node: GraphNode) -> str:
        if node.node_id not in self._nodes:
            name = self._nodes[node.node_id] = f"n{len(self._nodes)}"
            kind, code = parse_node_id(node.node_id)
            said = {"kind": node.kind or kind, "code": code, "label": node.label}
            data = [self._field("node", key, text) for key, text in said.items() if text]
            self._out.write(f'<node id="{name}">{"".join(data)}</node>\n')
        return self._nodes[node.node_id]

    def _field(self, of: str, name: str, text: str) -> str:
        return self._data(of, name, *_string(text))

    def _attribute(self, attribute: Attribute) -> str:
        return self._data("attribute", attribute.name, *_typed(attribute.value))

    def _data(self, of: str, name: str, kind: str, text: str) -> str:
        key = self._keys.setdefault((of, name, kind), f"k{len(self._keys)}")
        return f'<data key="{key}">{_in_one_line(text)}</data>'

    def keys(self) -> Iterator[str]:
        """The keys of what was written."""
        plain = {"string": "string", "long": "long", "double": "double", "boolean": "boolean"}
        for (of, name, kind), key in self._keys.items():
            where = "node" if of == "node" else "edge"
            ours = ' gw:is="attribute"' if of == "attribute" else ""
            typed = "" if kind in plain else f' gw:type="{kind}"'
            yield (
                f'<key id="{key}" for="{where}" attr.name={quoteattr(name)}'
                f' attr.type="{plain.get(kind, "string")}"{ours}{typed}/>'
            )


def _in_one_line(text: str) -> str:
    """Lines of the file are lines of text: a line end within a value goes by its number."""
    return escape(text, {"\n": "&#10;", "\t": "&#9;"})


def _string(text: str) -> tuple[str, str]:
    """Type and content. What XML cannot hold is written as JSON."""
    return ("json", json.dumps(text)) if _NO_XML.search(text) else ("string", text)


def _typed(value: Value) -> tuple[str, str]:
    match value:
        case bool():
            return "boolean", str(value).lower()
        case int():
            return "long", str(value)
        case Decimal() | float():
            return "double", format(value, "f") if isinstance(value, Decimal) else repr(value)
        case datetime():
            return "instant", value.isoformat()
        case date():
            return "date", value.isoformat()
        case Period():
            return "period", value.text
        case tuple():
            return "json", json.dumps(list(value))
        case _:
            return _string(value)
