"""Where boxes stand: in layers from top to bottom, arrows leading down where no circle forbids it.

The method of Sugiyama, Tagawa and Toda (1981) in its plainest form: circles are broken, every arrow gets a place on
each layer that it passes, and each layer is ordered by the middle of what its members are tied to. No chance is in it:
the same picture has the same places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Layers", "make_layers"]

_SWEEPS = 8
_MOST_BENDS = 20_000  # above, long lines lead straight: a circle of thousands has more layers than an eye follows

Link = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Layers:
    """layers: points from left to right, layer by layer; up to the number of boxes they are boxes, others are bends.

    ways: for each link, the points that its line goes through, its two ends included, as the link leads.
    """

    layers: tuple[tuple[int, ...], ...]
    ways: tuple[tuple[int, ...], ...]


def make_layers(count: int, links: Sequence[Link]) -> Layers:
    """Layers for `count` boxes, numbered from 0, and links between them."""
    down = [
        (start, end) if leads_down else (end, start)
        for (start, end), leads_down in zip(links, _leading_down(count, links), strict=True)
    ]
    depth = _depths(count, down)
    ways: list[tuple[int, ...]] = []
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for box in range(count):
        layers[depth[box]].append(box)
    bends = count
    straight = sum(depth[lower] - depth[upper] for upper, lower in down) > _MOST_BENDS
    for (start, _), (upper, lower) in zip(links, down, strict=True):
        between = range(0) if straight else range(depth[upper] + 1, depth[lower])
        points = list(range(bends, bends + len(between)))
        bends += len(between)
        for layer, point in zip(between, points, strict=True):
            layers[layer].append(point)
        way = (upper, *points, lower)
        ways.append(way if start == upper else way[::-1])
    _order(layers, ways)
    return Layers(tuple(map(tuple, layers)), tuple(ways))


def _leading_down(count: int, links: Sequence[Link]) -> list[bool]:
    """Whether each link leads down: one that closes a circle leads up. Walked in the order of boxes and links."""
    out: list[list[int]] = [[] for _ in range(count)]
    for place, (start, _) in enumerate(links):
        out[start].append(place)
    state = [0] * count  # 1: on the way that is being walked, 2: done
    upward: set[int] = set()
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(out[root]))]
        while stack:
            box, rest = stack[-1]
            place = next(rest, -1)
            if place < 0:
                state[box] = 2
                stack.pop()
                continue
            end = links[place][1]
            if state[end] == 1:
                upward.add(place)
            elif not state[end]:
                state[end] = 1
                stack.append((end, iter(out[end])))
    return [place not in upward for place in range(len(links))]


def _depths(count: int, down: Sequence[Link]) -> list[int]:
    """The longest way down to each box; one that nothing leads to stands right above what it leads to."""
    above = [0] * count
    out: list[list[int]] = [[] for _ in range(count)]
    for start, end in down:
        if start != end:
            above[end] += 1
            out[start].append(end)
    depth = [0] * count
    ready = [box for box in range(count) if not above[box]]
    roots = frozenset(ready)
    waiting = list(above)
    for box in ready:
        for end in out[box]:
            depth[end] = max(depth[end], depth[box] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    for box in roots:
        if out[box]:
            depth[box] = min(depth[end] for end in out[box]) - 1
    return depth


def _order(layers: list[list[int]], ways: Sequence[tuple[int, ...]]) -> None:
    """Order each layer by the middle of its neighbours in the layer before, down and up again some times."""
    layer_of = {point: place for place, layer in enumerate(layers) for point in layer}
    tied: dict[int, list[int]] = {point: [] for point in layer_of}
    for way in ways:
        for one, other in pairwise(way):
            tied[one].append(other)
            tied[other].append(one)
    for sweep in range(_SWEEPS):
        places = range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        step = -1 if sweep % 2 == 0 else 1
        for place in places:
            at = {point: float(number) for number, point in enumerate(layers[place + step])}
            own = {point: number for number, point in enumerate(layers[place])}
            layers[place].sort(key=lambda point: (_middle(point, tied, at, own), own[point]))


def _middle(point: int, tied: Mapping[int, Sequence[int]], at: Mapping[int, float], own: Mapping[int, int]) -> float:
    places = [at[other] for other in tied[point] if other in at]
    return sum(places) / len(places) if places else float(own[point])
