"""Fusion: nDCG@10 of each leg, of each fusion that is shipped, and of a min-max mix, on sets with known answers.

    python benchmarks/fusion.py [--sets hotpotqa,drcd] [--queries 400] [--shared ../shared] [--cache .cache/fusion]

Prints one JSON line per set, a table, and how the constant of `linear` does where it was not chosen: for the halves of
the questions of every set, and for every half of the sets, the constant that is best there (by its mean and its worst
set, added) is judged by the other half. One document is one chunk, title and text; legs and fusions are those that the
server runs. Vectors are made once (some 30 texts a second and core) and kept in the cache, by the model's SHA-256.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense import Embedder, VectorIndex, make_embedder
from groundwire_server.lexical import LexicalDirectory, LexicalIndex, top
from groundwire_server.narrative import FUSIONS, Legs, LinearFusion, make_fusion
from groundwire_server.text import tokenize

ROOT = Path(__file__).resolve().parent.parent
SETS = (
    "scifact",
    "tatqa",
    "qmsum",
    "musique",
    "hotpotqa",
    "2wiki",
    "jaquad",
    "jsquad",
    "drcd",
    "cmrc2018",
    "dureader",
)
DEPTH = 200
CONSTANTS = (56.0, 75.0, 89.0, 112.0, 134.0, 149.0, 179.0, 224.0)
ALLOWED = 0.01  # how far a fusion may be under its better leg
PART = 500  # vectors that are kept in one file
Floats = NDArray[np.float64]
Measured = dict[str | float, list[float]]  # by column, or by the constant of `linear`; a figure a question


@dataclass(frozen=True)
class EvalSet:
    """Documents, questions, and which documents answer which question, how well."""

    name: str
    ids: list[str]
    texts: list[str]
    questions: list[str]
    relevant: list[dict[int, int]]


def main() -> int:
    """Run and print; 2 when the data or the model is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sets", default=",".join(SETS), help="comma-separated")
    options.add_argument("--queries", type=int, default=400, help="the first so many of each set")
    options.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with data/")
    options.add_argument("--cache", type=Path, default=ROOT / ".cache" / "fusion", help="folder for vectors")
    options.add_argument("--models", type=Path, default=None, help="folder of prepared models")
    chosen = options.parse_args()
    embedder = make_embedder("auto", folder=chosen.models)
    if embedder is None or not (chosen.shared / "data").exists():
        say("Needed: a prepared model (groundwire models prepare) and the shared data (--shared DIR).")
        return 2
    columns = ["bm25", "dense", *FUSIONS, "min-max"]
    rows: list[tuple[str, list[float]]] = []
    measured: dict[str, Measured] = {}
    for name in chosen.sets.split(","):
        data = read_set(chosen.shared / "data" / name, chosen.queries)
        measured[name] = measure(data, embedder, chosen.cache)
        scores = {column: mean(values) for column, values in measured[name].items() if isinstance(column, str)}
        rows.append((name, [scores[column] for column in columns]))
        result = {"name": f"ndcg_at_10 {name}", "unit": "ndcg", **scores, "n": len(data.questions)}
        say(json.dumps({**result, "documents": len(data.ids), "model": embedder.version}))
    say("\n" + "set".ljust(10) + "".join(column.rjust(10) for column in columns) + "   under the better leg: linear")
    for name, values in rows:
        under = values[columns.index("linear")] - max(values[:2])
        say(name.ljust(10) + "".join(f"{value:10.4f}" for value in values) + f"{under:15.4f}")
    for line in held_out(measured):
        say(line)
    return 0


def mean(values: Sequence[float]) -> float:
    """Their sum in full precision, divided."""
    return math.fsum(values) / len(values)


def held_out(measured: dict[str, Measured]) -> Iterator[str]:
    """What a constant that was chosen on one half of the questions, or of the sets, is worth on the other."""
    halves = [{name: _half(values, odd) for name, values in measured.items()} for odd in (0, 1)]
    for number, (chosen_on, judged_by) in enumerate((halves, halves[::-1]), start=1):
        constant = best_constant(chosen_on)
        worst, average = margins(judged_by, constant)
        yield f"questions, half {number}: {constant:g} chosen; on the other worst {worst:+.4f}, mean {average:+.4f}"
    names = sorted(measured)
    if len(names) > 1:
        yield _outcome("all sets but one", measured, [[each for each in names if each != name] for name in names])
        yield _outcome("half of the sets", measured, [list(some) for some in combinations(names, len(names) // 2)])
    for constant in CONSTANTS:
        worst, average = margins(measured, constant)
        yield f"constant {constant:g} on all sets: worst {worst:+.4f}, mean {average:+.4f}"


def _outcome(title: str, measured: dict[str, Measured], choices: Sequence[Sequence[str]]) -> str:
    """What the constants that were chosen on some sets are worth on the others, for all choices."""
    chosen: list[float] = []
    found: list[tuple[float, float]] = []
    for some in choices:
        chosen.append(best_constant({name: measured[name] for name in some}))
        others = {name: values for name, values in measured.items() if name not in some}
        found.append(margins(others, chosen[-1]))
    worst = sorted(each for each, _ in found)
    within = sum(each > -ALLOWED for each in worst) / len(worst)
    times = ", ".join(f"{constant:g} {count}x" for constant, count in sorted(Counter(chosen).items()))
    return (
        f"{title} ({len(choices)}): on the others worst {worst[0]:+.4f}, median worst {worst[len(worst) // 2]:+.4f}, "
        f"mean {mean([each for _, each in found]):+.4f}; none more than {ALLOWED} under in {within:.0%}; chosen {times}"
    )


def _half(values: Measured, odd: int) -> Measured:
    return {column: each[odd::2] for column, each in values.items()}


def best_constant(measured: dict[str, Measured]) -> float:
    """The constant of the highest worst set and mean, added."""
    return max(CONSTANTS, key=lambda constant: sum(margins(measured, constant)))


def margins(measured: dict[str, Measured], constant: float) -> tuple[float, float]:
    """The worst set and the mean of all, each against its better leg."""
    found = [mean(each[constant]) - max(mean(each["bm25"]), mean(each["dense"])) for each in measured.values()]
    return min(found), mean(found)


def read_set(folder: Path, queries: int) -> EvalSet:
    """The first questions of a set that have an answer, and all of its documents."""
    documents = read_lines(folder / "corpus.jsonl")
    places = {document["doc_id"]: place for place, document in enumerate(documents)}
    answers: dict[str, dict[int, int]] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").split("\n")[1:]:
        if line:
            query_id, doc_id, grade = line.split("\t")
            answers.setdefault(query_id, {})[places[doc_id]] = int(grade)
    asked = [query for query in read_lines(folder / "queries.jsonl") if query["query_id"] in answers][:queries]
    return EvalSet(
        folder.name,
        [document["doc_id"] for document in documents],
        [f"{each['title']}\n{each['text']}" if each["title"] else each["text"] for each in documents],
        [query["text"] for query in asked],
        [answers[query["query_id"]] for query in asked],
    )


def read_lines(path: Path) -> list[dict[str, str]]:
    """One JSON object a line; lines end at newline alone."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def measure(data: EvalSet, embedder: Embedder, cache: Path) -> Measured:
    """nDCG@10 of every question, by column, or by the constant of `linear`."""
    passages = vectors(cache, data.name, "documents", embedder, data.texts, embedder.embed_passage)
    asked = vectors(cache, data.name, "questions", embedder, data.questions, embedder.embed_query)
    dense = VectorIndex(passages, np.ones(len(passages), np.bool_), embedder.version)
    totals: Measured = {}
    with tempfile.TemporaryDirectory() as folder:
        directory = LexicalDirectory(Path(folder))
        directory.load(0, lambda first, last: ())
        lexical = directory.append(data.texts)
        for question, vector, relevant in zip(data.questions, asked, data.relevant, strict=True):
            legs = search(lexical, dense, question, vector, data.ids)
            columns: dict[str | float, Floats] = {
                "bm25": np.where(legs.bm25_rank > 0, -legs.bm25_rank, -np.inf).astype(np.float64),
                "dense": np.where(legs.vector_rank > 0, -legs.vector_rank, -np.inf).astype(np.float64),
                "min-max": (stretched(legs.bm25) + stretched(legs.cosine)) / 2,
                **{name: make_fusion(name).fuse(legs) for name in FUSIONS},
                **{constant: LinearFusion(constant).fuse(legs) for constant in CONSTANTS},
            }
            for name, scores in columns.items():
                order = sorted(range(len(scores)), key=lambda at: (-scores[at], data.ids[legs.rows[at]]))
                found = [int(legs.rows[at]) for at in order[:10] if scores[at] > -np.inf]
                totals.setdefault(name, []).append(ndcg(found, relevant))
        directory.close()
    return totals


def vectors(
    cache: Path,
    name: str,
    kind: str,
    embedder: Embedder,
    texts: Sequence[str],
    embed: Callable[[str], NDArray[np.float32]],
) -> NDArray[np.float32]:
    """Vectors of texts in order; what a run that broke off has made is not made again."""
    cache.mkdir(parents=True, exist_ok=True)
    parts: list[NDArray[np.float32]] = []
    for first in range(0, len(texts), PART):
        some = texts[first : first + PART]
        path = cache / f"{name}-{kind}-{first}-{len(some)}-{embedder.version[:16]}.npy"
        if not path.exists():
            np.save(path, np.stack([embed(text) for text in some]))
        parts.append(np.load(path))
    return np.concatenate(parts)


def search(
    lexical: LexicalIndex, dense: VectorIndex, question: str, vector: NDArray[np.float32], ids: Sequence[str]
) -> Legs:
    """Both lists as the server makes them, and both scores of every row that is in either."""
    everything = np.ones(len(ids), np.bool_)
    scores = lexical.search(tokenize(question), everything)
    words = top(scores, DEPTH, lambda row: ids[row])
    near = dense.search(vector, everything, DEPTH, lambda row: ids[row]).rows.tolist()
    rows = np.array(sorted({*words, *near}), np.int64)
    known = np.zeros(len(ids))
    known[scores.rows] = scores.scores
    return Legs(rows, known[rows], dense.score(vector, rows), ranks(words, rows), ranks(near, rows))


def ranks(order: Sequence[int], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Place of each row in a list, from 1; 0 where it is not in it."""
    places = {row: rank for rank, row in enumerate(order, start=1)}
    return np.array([places.get(row, 0) for row in rows.tolist()], np.int64)


def stretched(scores: Floats) -> Floats:
    """Scores from 0 to 1 over the rows of one question."""
    span = float(np.ptp(scores)) if len(scores) else 0.0
    result: Floats = (scores - scores.min()) / span if span else np.zeros(len(scores))
    return result


def ndcg(found: Sequence[int], relevant: dict[int, int], cut: int = 10) -> float:
    """nDCG with linear gain."""
    gain = math.fsum(relevant.get(row, 0) / math.log2(place + 2) for place, row in enumerate(found[:cut]))
    ideal = sorted(relevant.values(), reverse=True)[:cut]
    most = math.fsum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))
    return gain / most if most else 0.0


def say(line: str) -> None:
    """Print, at once."""
    print(line, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
