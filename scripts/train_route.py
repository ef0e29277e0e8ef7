"""Train the small model that weighs routes, and measure it on questions that it was not trained on.

    python scripts/train_route.py ../shared/data [--check]

Reads `tatqa/routes.jsonl` and `routes_multi/routes.jsonl` as the server would (names and figures of their folders are
known), cuts them into five folds by context and origin, measures each fold with a model trained on the other four, then
trains on all and writes `server/groundwire_server/router/route_model.json`. With `--check` it writes nothing and fails
where the file would change.

Multinomial logistic regression with an L2 penalty, whole batch, Adam. Only sums in a fixed order, `+ - * /`, square
roots and an exponential of our own are used, and weights are rounded to thousandths, so that training again gives the
same bytes. A feature counts from five contexts or origins on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire import Client, Library, Setting
from groundwire_server.cli.evaluate.fresh import LIBRARY
from groundwire_server.cli.evaluate.routes import folders_of, load_names, read_questions
from groundwire_server.evidence import Call, CallOptions
from groundwire_server.library import DataFolder
from groundwire_server.router.decide import decide
from groundwire_server.router.features import features_of
from groundwire_server.router.frames import Route
from groundwire_server.router.learned import LearnedClassifier
from groundwire_server.router.reading import Reading, read_question
from groundwire_server.rpc import running
from groundwire_server.security import local_principal
from groundwire_server.settings import load_settings

FILE = Path(__file__).parent.parent / "server/groundwire_server/router/route_model.json"
SETS = ("tatqa", "routes_multi")
FOLDS, LEAST_GROUPS = 5, 5
PENALTY, STEPS, RATE, UNIT = 24.0, 400, 0.05, 1000
ROUTES = (Route.STRUCTURED, Route.NARRATIVE, Route.COMPOSITE)
Weights = dict[str, tuple[int, int, int]]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A question of a set as the router reads it. `group`: what must not be in training and test alike."""

    set_name: str
    language: str
    group: str
    expected: Route
    reading: Reading
    features: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of the data sets")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the file would change")
    given = parser.parse_args()
    questions = [each for name in SETS for each in read_set(given.data / name)]
    folds = folds_of(questions)
    decided: list[Route] = [Route.NARRATIVE] * len(questions)
    for fold in range(FOLDS):
        others = [each for each, its in zip(questions, folds, strict=True) if its != fold]
        classifier = LearnedClassifier(train(others))
        for place, its in enumerate(folds):
            if its == fold:
                decided[place] = decide(questions[place].reading, classifier).route
    files = {name: hashlib.sha256((given.data / name / "routes.jsonl").read_bytes()).hexdigest() for name in SETS}
    measured = {name: {"sha256": files[name], **measures(name, questions, folds, decided)} for name in SETS}
    text = as_json({"folds": FOLDS, "measured": measured, "weights": train(questions)})
    for name in SETS:
        print(name, json.dumps(measured[name], indent=1), file=sys.stderr)
    if not given.check:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE} would change")


def read_set(folder: Path) -> Iterator[Question]:
    """Every question of a set, read over a library with the names and figures that belong to it."""
    rows = read_questions(folder / "routes.jsonl")
    call = Call(local_principal(), CallOptions(reference_date=date(2025, 1, 1)))
    with tempfile.TemporaryDirectory(prefix="groundwire-train-") as place:
        data = Path(place) / "data"
        options = {"data": data, "server.host": "127.0.0.1", "server.port": 0, "log.level": "error"}
        settings = load_settings({**options, "embedding.backend": "none"}, environ={})
        with running(settings) as server, Client(server.address) as client:
            client.save_library(Library(LIBRARY, settings=(Setting("ambiguous", "report"),)))
            for each in folders_of(folder / "routes.jsonl", rows):
                load_names(client, each)
        with DataFolder(data) as opened:
            snapshot = opened.library(LIBRARY).snapshot()
            for row in rows:
                reading = read_question(row["question"], call, [snapshot])
                rules = decide(reading)
                yield Question(
                    set_name=folder.name,
                    language=row["lang"],
                    group=f"{folder.name} {row.get('context') or row.get('origin')}",
                    expected=Route[row["route"].upper()],
                    reading=reading,
                    features=features_of(reading, rules.route, rules.confidence),
                )


def folds_of(questions: Sequence[Question]) -> list[int]:
    """The fold of each question: the groups of a set are dealt out in the order of their hashes."""
    dealt: dict[str, int] = {}
    for name in SETS:
        groups = {each.group for each in questions if each.set_name == name}
        ordered = sorted(groups, key=lambda group: hashlib.sha256(group.encode()).digest())
        dealt.update({group: number % FOLDS for number, group in enumerate(ordered)})
    return [dealt[each.group] for each in questions]


def train(questions: Sequence[Question]) -> Weights:
    """Weights in thousandths; features without any are left out."""
    groups: dict[str, set[str]] = defaultdict(set)
    for each in questions:
        for feature in each.features:
            groups[feature].add(each.group)
    names = sorted(name for name, its in groups.items() if len(its) >= LEAST_GROUPS)
    columns = {name: place for place, name in enumerate(names)}
    pairs = [
        (row, columns[name]) for row, each in enumerate(questions) for name in sorted(each.features) if name in columns
    ]
    rows = np.array([row for row, _ in pairs], dtype=np.int64)
    cols = np.array([column for _, column in pairs], dtype=np.int64)
    wanted = np.array([[float(each.expected is route) for route in ROUTES] for each in questions])
    found = descend(rows, cols, wanted, len(names))
    whole = {name: tuple(int(each) for each in found[place]) for name, place in columns.items()}
    return {name: (each[0], each[1], each[2]) for name, each in whole.items() if any(each)}


def descend(rows: NDArray[np.int64], cols: NDArray[np.int64], wanted: Floats, features: int) -> Floats:
    """Weights (features, 3) in thousandths. Sums run through `bincount`, which adds in order."""
    questions, routes = wanted.shape
    weights = np.zeros((features, routes))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        scores = [np.bincount(rows, weights[cols, route], questions).astype(np.float64) for route in range(routes)]
        most = np.maximum(np.maximum(scores[0], scores[1]), scores[2])
        powers = [exponential(each - most) for each in scores]
        total = powers[0] + powers[1] + powers[2]
        for route in range(routes):
            off = powers[route] / total - wanted[:, route]
            slope = np.bincount(cols, off[rows], features) + PENALTY * weights[:, route]
            first[:, route] = 0.9 * first[:, route] + 0.1 * slope
            second[:, route] = 0.99 * second[:, route] + 0.01 * (slope * slope)
        rate = RATE * (1 - (step - 1) / STEPS)
        weights = weights - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return np.rint(weights * UNIT)


def exponential(values: Floats) -> Floats:
    """e to the power of values from -700 to 0, to about 12 digits, by the same steps on every machine."""
    small = np.maximum(values, -700.0) / 1024.0
    power = np.ones_like(small)
    for term in range(8, 0, -1):
        power = 1.0 + small * power / term
    for _ in range(10):
        power = power * power
    return power


def measures(
    name: str, questions: Sequence[Question], folds: Sequence[int], decided: Sequence[Route]
) -> dict[str, Any]:
    """Mean over a set's questions and worst fold, for the whole set and each language."""
    mine = [
        (each.language, fold, each.expected, route)
        for each, fold, route in zip(questions, folds, decided, strict=True)
        if each.set_name == name
    ]
    found = rates([(fold, expected, route) for _, fold, expected, route in mine])
    found["by_language"] = {
        language: rates([(fold, expected, route) for its, fold, expected, route in mine if its == language])
        for language in sorted({language for language, _, _, _ in mine})
    }
    return found


def rates(routed: Sequence[tuple[int, Route, Route]]) -> dict[str, Any]:
    """Each measure as its mean and its worst fold."""
    narrative, composite = Route.NARRATIVE, Route.COMPOSITE
    tests: dict[str, Callable[[Route, Route], bool]] = {
        "accuracy": lambda expected, route: route is expected,
        "two_way_accuracy": lambda expected, route: (route is narrative) is (expected is narrative),
        "evidence_covered": lambda expected, route: route in (expected, composite),
        "evidence_reached": lambda expected, route: route in (expected, composite) or expected is composite,
        "composite_share": lambda expected, route: route is composite,
    }
    found: dict[str, Any] = {"n": len(routed)}
    for name, test in tests.items():
        folds: dict[int, list[bool]] = defaultdict(list)
        for fold, expected, route in routed:
            folds[fold].append(test(expected, route))
        means = [sum(each) / len(each) for each in folds.values()]
        worst = max(means) if name == "composite_share" else min(means)
        found[name] = {
            "mean": round(sum(map(sum, folds.values())) / len(routed), 6),
            "worst": round(worst, 6),
        }
    return found


def as_json(model: dict[str, Any]) -> str:
    """One feature a line, in order."""
    weights = ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in sorted(model["weights"].items()))
    head = json.dumps({name: model[name] for name in ("folds", "measured")}, indent=1)
    return f'{head.removesuffix("}").rstrip()},\n "weights": {{\n{weights}\n }}\n}}\n'


if __name__ == "__main__":
    main()
