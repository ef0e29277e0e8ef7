"""Relations from GraphML, as graph tools and `groundwire relations export` write it (formats.md, Relations)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from lxml import etree

from groundwire_server.errors import DocumentRefused, ErrorReason, RowRefused
from groundwire_server.evidence import Attribute, Value
from groundwire_server.ingest.documents import read_period
from groundwire_server.ingest.relation_names import RELATION_FIELDS, RelationMapping
from groundwire_server.ingest.relation_tables import RelationRow, RelationRows, with_constants
from groundwire_server.readers.container import raise_if_out_of_memory, refuse_hidden_entities

__all__ = ["GRAPHML_TYPES", "read_graphml"]

GRAPHML_TYPES = "urn:groundwire:types"
"""Namespace of what we write on a key: `type`, what GraphML's own types cannot say, and `is`: an attribute."""

_MAX_DEPTH = 64
_NAMES = ("code", "label", "name")  # of a node, the first that it has; else its id
_RELATIONS = ("relation", "label", "name", "type")  # of an edge
_KINDS = ("kind", "type")
# What programs that keep the names of nodes and edges in their drawing call them there; a `label` like any other.
_DRAWN = frozenset({"NodeLabel", "EdgeLabel"})
_LABEL = "label"
_READ_ONCE = frozenset({"node", "edge", "hyperedge"})
# Who finds relations without a model in between.
_CHECKED = frozenset({"co_occurrence", "facts", "file", "glossary", "metadata", "titles"})


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    kind: str  # of its values
    ours: bool
    of: str = ""  # "node", "edge", "all" ...: what has the default
    default: str | None = None


@dataclass(frozen=True, slots=True)
class _Edge:
    edge_id: str
    source: str
    target: str
    data: dict[str, str] = field(default_factory=dict)
    several: bool = False  # a hyperedge


def read_graphml(name: str, raw: bytes, mapping: RelationMapping) -> RelationRows:
    """Each edge in the order of the file; nested graphs count as one, and an undirected edge leads as it is written.

    What a node is called: its data `code`, else `label`, else `name`, else its id; its kind: `kind`, else `type`.
    What a relation is called: `relation`, else `label`, `name`, `type` of the edge. A label that a program draws is
    one, where no data are called so; what a key has as its default holds where nothing is said. [columns] names other
    data, of the node for `subject` and `object`. An edge of a node that the file does not declare is
    RELATION_UNKNOWN_END, one between several nodes is no relation, and one that says that a model found it is refused:
    what nobody checked does not become a stated relation by being copied.

    Raises:
        DocumentRefused: DOCUMENT_BROKEN for no GraphML and for one that declares entities, DOCUMENT_TOO_LARGE too deep.
    """
    refuse_hidden_entities(name, "graph", raw, _MAX_DEPTH)
    graph = _read(name, raw)
    for number, edge in enumerate(graph.edges, 1):
        yield number, _row(number, edge, graph, mapping)


@dataclass(slots=True)
class _Graph:
    keys: dict[str, _Key] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)


def _read(name: str, raw: bytes) -> _Graph:
    graph = _Graph()
    root = ""
    stream = etree.iterparse(
        io.BytesIO(raw),
        events=("start", "end"),
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for event, element in stream:
            tag = _local(element)
            if event == "start":
                root = root or tag
                continue
            match tag:
                case "key":
                    _take_key(element, graph)
                case "node":
                    graph.nodes[element.get("id") or ""] = _data(element)
                    _let_go(element)
                case "hyperedge":
                    graph.edges.append(_Edge(element.get("id") or "", "", "", several=True))
                    _let_go(element)
                case "edge":
                    ends = (element.get("source") or "", element.get("target") or "")
                    graph.edges.append(_Edge(element.get("id") or "", *ends, _data(element)))
                    _let_go(element)
                case _:
                    pass
    except etree.LxmlError as error:
        raise_if_out_of_memory(error)
        line = getattr(error, "lineno", None)
        raise _broken(name, f"it is no well-formed XML{f' (line {line})' if line else ''}") from None
    if root != "graphml":
        raise _broken(name, f"it is no GraphML: its root is {root[:80]!r}")
    return graph


def _local(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _take_key(element: etree._Element, graph: _Graph) -> None:
    key_id = element.get("id") or ""
    kind = element.get(f"{{{GRAPHML_TYPES}}}type") or element.get("attr.type") or "string"
    ours = element.get(f"{{{GRAPHML_TYPES}}}is") == "attribute"
    default = next((child.text or "" for child in element if _local(child) == "default"), None)
    graph.keys[key_id] = _Key(element.get("attr.name") or key_id, kind, ours, element.get("for") or "all", default)


def _data(element: etree._Element) -> dict[str, str]:
    """By id of the key."""
    found: dict[str, str] = {}
    for child in element:
        if _local(child) != "data":
            continue
        if not len(child):
            found[child.get("key") or ""] = child.text or ""
        elif drawn := next((each.text for each in child.iter() if _local(each) in _DRAWN and each.text), ""):
            found.setdefault(_LABEL, drawn)
    return found


def _with_defaults(of: str, data: Mapping[str, str], graph: _Graph) -> dict[str, str]:
    defaults = {
        key_id: key.default
        for key_id, key in graph.keys.items()
        if key.default is not None and key.of in (of, "all") and key_id not in data
    }
    return {**data, **defaults}


def _let_go(element: etree._Element) -> None:
    """What was read is kept no longer; nested graphs have been read before their node ends."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None and _local(parent[0]) in _READ_ONCE:
        del parent[0]


def _row(number: int, edge: _Edge, graph: _Graph, mapping: RelationMapping) -> RelationRow | RowRefused:
    if edge.several:
        why = "A hyperedge joins several nodes; a relation joins two."
        return RowRefused(ErrorReason.VALUE_MALFORMED, why, column="hyperedge", value=edge.edge_id[:80])
    faults = [
        RowRefused(
            ErrorReason.RELATION_UNKNOWN_END, f"{column} {end[:80]!r} is no node of the file.", column=column, value=end
        )
        for column, end in (("subject", edge.source), ("object", edge.target))
        if end not in graph.nodes
    ]
    others: dict[str, object] = {}
    attributes: list[Attribute] = []
    for key_id, text in _with_defaults("edge", edge.data, graph).items():
        key = graph.keys.get(key_id, _Key(key_id, "string", False))
        try:
            value = _value(text, key.kind)
        except (ValueError, KeyError, InvalidOperation):
            why = f"{key.name[:80]} is no {key.kind[:20]}."
            faults.append(RowRefused(ErrorReason.VALUE_MALFORMED, why, column=key.name[:80], value=text))
            continue
        if key.ours:
            attributes.append(Attribute(key.name, value))
        elif isinstance(value, str | bool | int | Decimal):
            others[key.name] = value
    found_by = others.get("extractor")
    if found_by is not None and found_by not in _CHECKED:
        why = f"It was found by {str(found_by)[:80]!r} and checked by nobody: copying does not make it a stated one."
        faults.append(RowRefused(ErrorReason.CONTRADICTION, why, column="extractor", value=str(found_by)))
    if faults:
        return RowRefused.of(faults)
    cells = with_constants(_cells(edge, graph, others, mapping), mapping)
    return RelationRow(cells, others, f"edge={edge.edge_id or number}", tuple(attributes))


def _cells(edge: _Edge, graph: _Graph, others: Mapping[str, object], mapping: RelationMapping) -> dict[str, object]:
    columns = mapping.columns
    # A label is a name here, of a node or of an edge, and says nothing of who may read it unless the mapping says so.
    cells = {
        name: others.get(columns.get(name, name)) for name in RELATION_FIELDS if name != "label" or name in columns
    }
    if "relation" not in columns:
        cells["relation"] = next((others[name] for name in _RELATIONS if _says(others.get(name))), None)
    for column, end in (("subject", edge.source), ("object", edge.target)):
        data = dict(_named(_with_defaults("node", graph.nodes[end], graph), graph))
        names = (columns[column],) if column in columns else _NAMES
        kinds = (columns[f"{column}_type"],) if f"{column}_type" in columns else _KINDS
        cells[column] = next((data[name] for name in names if _says(data.get(name))), end)
        cells[f"{column}_type"] = next((data[name] for name in kinds if _says(data.get(name))), None)
    return cells


def _says(value: object) -> bool:
    """Whether there is more than blanks."""
    return bool(value.strip()) if isinstance(value, str) else value is not None


def _named(data: Mapping[str, str], graph: _Graph) -> Iterator[tuple[str, str]]:
    """Data of a node by name."""
    for key_id, text in data.items():
        key = graph.keys.get(key_id, _Key(key_id, "string", False))
        try:
            yield key.name, str(_of_json(text)) if key.kind == "json" else text
        except ValueError:
            yield key.name, text


def _value(text: str, kind: str) -> Value:
    match kind:
        case "int" | "long":
            return int(text)
        case "float" | "double":
            number = Decimal(text.strip())
            if not number.is_finite():
                raise ValueError("not finite")
            return number
        case "boolean":
            return {"true": True, "false": False, "1": True, "0": False}[text.strip().casefold()]
        case "date":
            return date.fromisoformat(text)
        case "period":
            return read_period(text)
        case "instant":
            return datetime.fromisoformat(text)
        case "json":
            return _of_json(text)
        case _:
            return text


def _of_json(text: str) -> Value:
    """A text, or several. Raises ValueError."""
    read = json.loads(text)
    if isinstance(read, str):
        return read
    if isinstance(read, list) and all(isinstance(each, str) for each in read):
        return tuple(read)
    raise ValueError("neither a text nor a list of texts")


def _broken(name: str, why: str) -> DocumentRefused:
    return DocumentRefused(ErrorReason.DOCUMENT_BROKEN, f"{name}: {why}.")
