"""The chart of docs/performance.md: cost against size, from the lines of the measurements; `performance.py chart`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["draw_growth"]

# Panels: title, axis, and the curves: label, program, name of the line, field of the value.
Curve = tuple[str, str, str, str]
PANELS: tuple[tuple[str, str, tuple[Curve, ...]], ...] = (
    (
        "Search by words, top 50",
        "ms CPU, p50",
        (
            ("all rows", "lexical", "lexical, all rows, against tantivy", "value"),
            ("10 % filter", "lexical", "lexical, 10 % filter, against tantivy 10 %", "value"),
            ("1 % filter", "lexical", "lexical, 1 % filter, against tantivy 1 %", "value"),
            ("all rows, numpy only", "lexical", "lexical, numpy only, against all rows", "value"),
            ("tantivy, all rows", "lexical", "lexical, all rows, against tantivy", "peer_value"),
            ("bm25s numba, all rows", "lexical", "lexical, all rows, against bm25s numba", "peer_value"),
        ),
    ),
    (
        "Search by vectors, 384 dimensions, top 50",
        "ms CPU, p50",
        (
            ("exact", "dense", "vectors, exact, all rows, against faiss IndexFlatIP", "value"),
            ("exact, 1 % filter", "dense", "vectors, exact, 1 % filter, against faiss IndexFlatIP", "value"),
            (
                "shortlist",
                "dense",
                "vectors, shortlist of signs, all rows, against faiss IndexBinaryFlat",
                "value",
            ),
            ("faiss, flat", "dense", "vectors, exact, all rows, against faiss IndexFlatIP", "peer_value"),
        ),
    ),
    (
        "A whole query through gRPC, ten snippets",
        "ms to the last frame, p50",
        (
            ("by words", "query", "lexical, last frame", "value"),
            ("hybrid", "query", "hybrid, last frame", "value"),
            ("hybrid, embedding at hand", "query", "hybrid, embedding at hand, last frame", "value"),
            ("the same, 1 % filter", "query", "hybrid, embedding at hand, 1 % filter, last frame", "value"),
            ("RAGSpine, CPU", "against_ragspine", "server CPU of a lexical query, all of it", "peer_value"),
        ),
    ),
    (
        "What a chunk takes",
        "bytes a chunk",
        (
            ("resident, search by words", "memory", "resident, over an empty server", "value"),
            ("lexical index on disk", "memory", "lexical index on disk", "value"),
            ("store on disk, texts and vectors", "memory", "store on disk, texts and vectors", "value"),
        ),
    ),
    (
        "Taking documents in",
        "chunks a second",
        (
            ("store and lexical index", "ingest", "store and lexical index", "value"),
            ("lexical index alone", "lexical", "build, tokenizing and disk", "value"),
        ),
    ),
    (
        "Start and update",
        "ms",
        (
            ("start to first answer", "cold_start", "process to first lexical answer", "value"),
            ("start to first hybrid answer", "cold_start", "process to first hybrid answer", "value"),
            (
                "replace 20 chunks, durable",
                "updates",
                "replace a document of 20 chunks, durable and found",
                "value",
            ),
        ),
    ),
)


def draw_growth(lines: Sequence[dict[str, Any]], path: Path) -> None:
    """Six panels with logarithmic axes. What was not measured is left out."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.ticker import NullFormatter

    sizes = [line["n"] for line in lines]
    figure, axes = pyplot.subplots(2, 3, figsize=(15, 9), layout="constrained")
    for axis, (title, unit, curves) in zip(axes.flat, PANELS, strict=True):
        for label, program, name, field in curves:
            points = _points(lines, program, name, field)
            if points:
                style = "--" if label.startswith(("tantivy", "bm25s", "faiss", "RAGSpine")) else "-"
                axis.plot(*zip(*points, strict=True), style, marker="o", markersize=4, label=label)
        axis.set(title=title, xlabel="chunks", ylabel=unit, xscale="log", yscale="log")
        low, high = axis.get_ylim()
        axis.set_ylim(min(low, high / 10), high)  # a decade at least, so that the axis has numbers
        axis.set_xlim(min(sizes) / 1.4, max(sizes) * 1.4)
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        axis.yaxis.set_minor_formatter(lambda value, _: f"{value:,g}" if f"{value:e}"[0] in "25" else "")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(which="both", alpha=0.25)
        if axis.lines:
            axis.legend(fontsize="small")
    figure.savefig(path, dpi=90, metadata={"Software": None})
    pyplot.close(figure)


def _points(lines: Sequence[dict[str, Any]], program: str, name: str, field: str) -> list[tuple[int, float]]:
    """(chunks, value), seconds as milliseconds."""
    own = [line for line in lines if (line["program"], line["name"]) == (program, name) and line.get(field) is not None]
    by_wall = [line for line in own if "CPU" not in line["unit"] or program == "lexical"] or own
    return sorted((line["n"], line[field] * (1000 if line["unit"] == "s" else 1)) for line in by_wall)
