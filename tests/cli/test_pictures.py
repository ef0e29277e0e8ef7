"""Pictures of whatever is named whatever: each is what its language asks for, says all, and is the same twice."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.cli.pictures import Arrow, Box, BoxKind, Picture, draw_dot, draw_mermaid, draw_svg
from groundwire_server.cli.pictures.layers import make_layers
from groundwire_server.cli.pictures.picture import MAX_BOXES, PictureMaker
from groundwire_server.cli.pictures.places import find_places
from groundwire_server.cli.pictures.text import shown
from tests.support.hostile_text import hostile_text

NASTY = st.one_of(
    hostile_text(3),
    st.sampled_from(
        [
            '"]; click n0 "javascript:alert(1)"',
            "end",
            "%%{init: {}}%%",
            "]]>",
            "</text><script>alert(1)</script>",
            "\\N \\G",
            'a"b\\"c',
            "&lt;&#x3c;",
            "`markdown`",
            "\u202etxt.exe",
            "\x00\x0b\ufffe",
            "--> n1",
            "subgraph x",
            ";",
        ]
    ),
)
COUNT = 5
PICTURES = st.builds(
    lambda lines, arrows, notes: Picture(
        tuple(Box(str(place), tuple(texts), list(BoxKind)[place % 4], texts[0]) for place, texts in enumerate(lines)),
        tuple(Arrow(str(a % len(lines)), str(b % len(lines)), label, tuple(s), d) for a, b, label, s, d in arrows),
        tuple(notes),
    ),
    st.lists(st.lists(NASTY, min_size=1, max_size=3), min_size=1, max_size=COUNT),
    st.lists(
        st.tuples(st.integers(0, COUNT), st.integers(0, COUNT), NASTY, st.lists(NASTY, max_size=2), st.booleans()),
        max_size=8,
    ),
    st.lists(NASTY, max_size=2),
)


@given(PICTURES)
def test_svg_is_xml_that_holds_every_line_and_no_script(picture: Picture) -> None:
    drawn = draw_svg(picture)
    root = ElementTree.fromstring(drawn.encode())
    tags = {each.tag.rpartition("}")[2] for each in root.iter()}
    assert tags <= {"svg", "defs", "marker", "path", "rect", "g", "text"}
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on") or "href" in name]
    texts = [each.text or "" for each in root.iter() if each.tag.endswith("}text")]
    for box in picture.boxes:
        assert {shown(line, 60) for line in box.lines if line} <= set(texts)
    assert drawn == draw_svg(picture)


SHORT = st.text("abc社", max_size=30)


@given(
    st.lists(SHORT, min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), SHORT, st.lists(SHORT, max_size=3)), max_size=14),
)
def test_no_box_and_no_words_stand_on_others_nor_beyond_the_edge(
    names: list[str], links: list[tuple[int, int, str, list[str]]]
) -> None:
    boxes = tuple(Box(str(place), (name or "x",)) for place, name in enumerate(names))
    arrows = tuple(Arrow(str(a % len(boxes)), str(b % len(boxes)), label, tuple(s)) for a, b, label, s in links)
    picture = Picture(boxes, arrows)
    ends = [(int(arrow.start), int(arrow.end)) for arrow in arrows]
    found = find_places(picture, make_layers(len(boxes), ends))
    drawn = [found.points[place] for place in range(len(boxes))] + [each for each in found.words if each is not None]
    assert [each is not None for each in found.words] == [any((arrow.label, *arrow.sources)) for arrow in arrows]
    for one, other in combinations(drawn, 2):
        beside = abs(one.x - other.x) * 2 >= one.width + other.width - 0.01
        assert beside or abs(one.y - other.y) * 2 >= one.height + other.height - 0.01
    for each in drawn:
        assert each.width / 2 <= each.x <= found.right - each.width / 2 + 0.01
        assert each.height / 2 <= each.y <= found.bottom - each.height / 2 + 0.01


_NODE = re.compile(r'  (n\d+)(\["|\(\["|\[\["|\(")([^"]*)("\]|"\]\)|"\]\]|"\))(:::\w+)?')
_LINK = re.compile(r'  (n\d+) (-->|-\.->)(?:\|"([^"]*)"\|)? (n\d+)')
_OTHER = re.compile(r'  (?:notes\["[^"]*"\]:::notes|classDef \w+ [\w:#,.\- ]+)')


@given(PICTURES)
def test_mermaid_has_a_node_a_box_and_a_link_an_arrow_whatever_they_are_called(picture: Picture) -> None:
    first, *lines = draw_mermaid(picture).splitlines()
    assert first == "flowchart TD"
    nodes = [found for line in lines if (found := _NODE.fullmatch(line))]
    links = [found for line in lines if (found := _LINK.fullmatch(line))]
    assert len(nodes) == len(picture.boxes)
    assert [(link[1], link[4]) for link in links] == [(f"n{a.start}", f"n{a.end}") for a in picture.arrows]
    rest = [line for line in lines if not _NODE.fullmatch(line) and not _LINK.fullmatch(line)]
    assert all(_OTHER.fullmatch(line) for line in rest), rest
    for text in [node[3] for node in nodes] + [link[3] or "" for link in links]:
        plain = text.replace("<br/>", " ")
        assert not set(plain) & set('"<>%`\\[]{}|&'), text
        assert "#" not in re.sub(r"#\d+;", "", plain)
    decoded = [re.sub(r"#(\d+);", lambda found: chr(int(found[1])), node[3].replace("<br/>", "\n")) for node in nodes]
    for text, box in zip(decoded, picture.boxes, strict=True):
        assert text == "\n".join(shown(line) for line in (*box.lines, box.source) if line)


_TOKEN = re.compile(r'\s+|"(?:[^"\\]|\\.)*"|[A-Za-z_0-9]+|->|[\[\]{}=;,]')


@given(PICTURES)
def test_dot_is_made_of_its_tokens(picture: Picture) -> None:
    drawn = draw_dot(picture)
    place, tokens = 0, []
    while place < len(drawn):
        found = _TOKEN.match(drawn, place)
        assert found is not None, drawn[place : place + 40]
        if found[0].strip():
            tokens.append(found[0])
        place = found.end()
    assert tokens[:3] == ["digraph", "trace", "{"]
    assert tokens[-1] == "}"
    assert tokens.count("->") == len(picture.arrows)
    assert not re.search(r"(?<!\\)(?:\\\\)*\\[NGETHLlr]", drawn)
    assert drawn == draw_dot(picture)


LINKS = st.integers(1, 9).flatmap(
    lambda count: st.tuples(
        st.just(count), st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20)
    )
)


@given(LINKS)
def test_every_box_stands_in_one_layer_and_every_way_goes_layer_by_layer(
    drawn: tuple[int, list[tuple[int, int]]],
) -> None:
    count, links = drawn
    layers = make_layers(count, links)
    layer_of = {point: place for place, layer in enumerate(layers.layers) for point in layer}
    assert sorted(point for layer in layers.layers for point in layer) == sorted(layer_of)
    assert {point for point in layer_of if point < count} == set(range(count))
    for (start, end), way in zip(links, layers.ways, strict=True):
        assert (way[0], way[-1]) == (start, end)
        steps = [layer_of[there] - layer_of[here] for here, there in pairwise(way)]
        assert start == end or len(set(steps)) == 1
        assert start == end or abs(steps[0]) == 1
    assert layers == make_layers(count, links)


def test_circles_are_broken_and_the_rest_leads_down() -> None:
    layers = make_layers(4, [(0, 1), (1, 2), (2, 0), (2, 3), (0, 3)])
    assert [[point for point in layer if point < 4] for layer in layers.layers] == [[0], [1], [2], [3]]


def test_a_chain_with_many_long_lines_is_drawn_with_straight_ones() -> None:
    chain = [(place, place + 1) for place in range(MAX_BOXES - 1)]
    layers = make_layers(MAX_BOXES, [*chain, *((0, place) for place in range(2, MAX_BOXES))])
    assert len(layers.layers) == MAX_BOXES
    assert {len(way) for way in layers.ways} == {2}


def test_a_large_picture_says_what_it_leaves_out() -> None:
    maker = PictureMaker()
    for place in range(MAX_BOXES + 7):
        maker.box(Box(str(place), ("x",)))
        maker.arrow(Arrow("0", str(place), "r"))
    picture = maker.picture()
    assert (len(picture.boxes), len(picture.arrows)) == (MAX_BOXES, MAX_BOXES)
    assert picture.notes == ("7 more boxes are not drawn",)
    assert "7 more boxes are not drawn" in draw_svg(picture)


def test_what_is_the_same_between_two_boxes_is_one_arrow_with_all_sources() -> None:
    maker = PictureMaker()
    for name in "ab":
        maker.box(Box(name, (name,)))
    for source in ("x", "y", "x"):
        maker.arrow(Arrow("a", "b", "r", (source,)))
    assert maker.picture().arrows == (Arrow("a", "b", "r", ("x", "y")),)
