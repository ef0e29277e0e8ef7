"""Ingest, replacement, withdrawal, failure, restart and questions in random order, against a library in plain Python.

Questions are asked of the newest state, of states that are held while others are written, in the midst of a transaction
that is not committed, and of the past; under any clearance, with generated filters. Sets, scores and order have to be
those of the plain formula over exactly what the caller may read. Nothing here depends on time: a seed gives the same
steps everywhere, and a failure names it.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.errors import UnknownResource
from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    Attribute,
    Call,
    CallOptions,
    Filter,
    Label,
    Negate,
    Operator,
    Predicate,
    Principal,
    Value,
    matches,
)
from groundwire_server.lexical import top
from groundwire_server.library import Library, Snapshot
from groundwire_server.store import NewDocument
from groundwire_server.store.conformance import START, TickingClock, make_document
from groundwire_server.text import tokenize
from tests.library.model import Model, State, bm25

STEPS = 8
INTERLEAVINGS_A_LIBRARY = 25
DOC_IDS = ["a.md", "b/ü.md", "報告 書", "%2F", "z"]
LINES = ["alpha", "revenue grew", "売上が増えた。", "alpha alpha revenue\r", "👩\u200d👧", "净利润 2024", "naïve", ""]
QUESTIONS = ["revenue grew 売上 alpha", "alpha", "净利润 売上", "absent 👧", "", "naïve 2024 2024"]
CLEARANCES = [Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED]
VALUES: dict[str, list[Value]] = {
    "n": [1, 2, Decimal("2.0"), 10, -3],
    "tag": ["a", "b", "é", ""],
    "day": [date(2024, 2, 29), date(2025, 1, 1)],
    "flag": [True, False],
    "many": [("a", "b"), ("b",), ("c", "a")],
}
BUILT_IN: dict[str, list[Value]] = {
    "doc_id": list(DOC_IDS),
    "title": ["Notes", "other"],
    "media_type": ["text/plain", "text/markdown"],
    "valid_as_of": [START, START + timedelta(days=9)],
}
VALID_AS_OF = [None, START, START + timedelta(days=9)]


@dataclass
class Held:
    """A snapshot, and how many commits of the model it has."""

    snapshot: Snapshot
    commits: int


class Interleaving:
    """A library and the model beside it, brought forward step by step."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chosen = random.Random(seed)
        self.folder = folder
        self.clock = TickingClock()
        self.library = self._open()
        self.model = Model(State(START, {}, [], []))
        self.model.commit(START)
        self.held: list[Held] = []

    def _open(self) -> Library:
        return Library(self.folder, "lib", secret=b"secret", now=self.clock)

    def run(self) -> None:
        """One interleaving."""
        steps: list[tuple[Callable[[], None], int]] = [
            (self.write, 6),
            (self.withdraw, 3),
            (self.fail, 1),
            (self.hold, 3),
            (self.let_go, 1),
            (self.ask, 10),
            (self.settle, 1),
            (self.restart, 1),
        ]
        for step in self.chosen.choices([step for step, _ in steps], [weight for _, weight in steps], k=STEPS):
            step()
        self.ask()

    def write(self) -> None:
        documents = [self._document() for _ in range(self.chosen.randint(1, 3))]
        changed = False
        with self.library.writing() as writer:
            for document in documents:
                made = self.model.put_document(document)
                outcome = writer.replace_document(document)
                assert (outcome.unchanged, outcome.revision) == (not made, self.model.revisions[document.doc_id])
                changed |= made
                if self.chosen.random() < 0.2:
                    self._ask(Held(self.library.snapshot(), len(self.model.history)))
        self._committed(changed)

    def withdraw(self) -> None:
        doc_id = self.chosen.choice(DOC_IDS)
        changed = self.model.withdraw(doc_id)
        with suppress(UnknownResource), self.library.writing() as writer:
            assert writer.withdraw_document(doc_id).withdrawn_now is changed
        self._committed(bool(changed))

    def fail(self) -> None:
        revisions = self.model.revisions.copy()

        def write() -> None:
            with self.library.writing() as writer:
                writer.replace_document(self._document())
                raise RuntimeError("undo this")

        with pytest.raises(RuntimeError, match="undo this"):
            write()
        self.model.revisions = revisions

    def hold(self) -> None:
        if len(self.held) < 4:
            self.held.append(Held(self.library.snapshot(), len(self.model.history)))

    def let_go(self) -> None:
        if self.held:
            self.held.pop(self.chosen.randrange(len(self.held)))

    def settle(self) -> None:
        self.library.settle()

    def restart(self) -> None:
        self.held.clear()
        self.library.close()
        if self.chosen.random() < 0.3:
            shutil.rmtree(self.folder / "index")
        self.library = self._open()

    def ask(self) -> None:
        newest = Held(self.library.snapshot(), len(self.model.history))
        self._ask(self.chosen.choice([newest, *self.held]))

    def _committed(self, changed: bool) -> None:
        if changed:
            self.model.commit(self.library.store.generations()[-1].committed_at)

    def _document(self) -> NewDocument:
        chosen = self.chosen
        names = chosen.sample(sorted(VALUES), chosen.randint(0, 3))
        return make_document(
            chosen.choice(DOC_IDS),
            "\n".join(chosen.choices(LINES, k=chosen.randint(0, 4))),
            label=chosen.choice(list(Label)),
            attributes=tuple(Attribute(name, chosen.choice(VALUES[name])) for name in sorted(names)),
            valid_as_of=chosen.choice(VALID_AS_OF),
        )

    def _filter(self, depth: int) -> Filter:
        chosen = self.chosen
        kind = chosen.random()
        if depth and kind < 0.25:
            members = tuple(self._filter(depth - 1) for _ in range(chosen.randint(1, 3)))
            return AllOf(members) if kind < 0.12 else AnyOf(members)
        if depth and kind < 0.35:
            return Negate(self._filter(depth - 1))
        values = {**VALUES, **BUILT_IN}
        name = chosen.choice(sorted(values))
        known = values[name]
        wanted = [each for value in known for each in (value if isinstance(value, tuple) else (value,))]
        operator = chosen.choice(list(Operator))
        if operator is Operator.PRESENT:
            return Predicate(name, operator, (chosen.random() < 0.5,))
        if operator is Operator.BETWEEN:
            low, high = sorted(chosen.choices(wanted, k=2))  # type: ignore[type-var]
            return Predicate(name, operator, (low, high))
        count = chosen.choice([1, 2, 9]) if operator in (Operator.IN, Operator.NIN) else 1
        return Predicate(name, operator, tuple(chosen.choices(wanted, k=count)))

    def _ask(self, of: Held) -> None:
        chosen = self.chosen
        clearance = chosen.choice(CLEARANCES)
        known_at = valid_at = tree = None
        if chosen.random() < 0.3:
            last = self.model.history[-1].committed_at
            known_at = START + (last - START) * chosen.random() + timedelta(milliseconds=500)
        if chosen.random() < 0.3:
            valid_at = START + timedelta(days=chosen.randint(-1, 10))
        if chosen.random() < 0.5:
            tree = self._filter(chosen.randint(0, 4))
        call = Call(Principal("reader", clearance), CallOptions(known_at=known_at, valid_at=valid_at, filter=tree))
        readable = self._readable(of.commits, clearance, known_at, valid_at, tree)
        candidates = of.snapshot.candidates(call)
        keys = {of.snapshot.tie_key(row): row for row in np.flatnonzero(candidates).tolist()}
        assert keys.keys() == readable.keys()
        rows = list(keys.values())
        texts = [chunk.text for chunk in of.snapshot.chunks(rows)]
        assert texts == [readable[key] for key in keys]

        tokens = tokenize(chosen.choice(QUESTIONS))
        expected = sorted(bm25(tokens, readable).items(), key=lambda pair: (-pair[1], pair[0]))
        depth = chosen.choice([1, 2, 5, 50])
        found = of.snapshot.lexical.search(tokens, candidates, depth=depth)
        scores = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
        best = top(found, depth, of.snapshot.tie_key)
        assert [(of.snapshot.tie_key(row), scores[row]) for row in best] == expected[:depth]
        assert of.snapshot.snapshot_id(call.principal) == of.snapshot.snapshot_id(call.principal)

    def _readable(
        self, commits: int, clearance: Label, known_at: datetime | None, valid_at: datetime | None, tree: Filter | None
    ) -> dict[tuple[str, int, int], str]:
        history = self.model.history[:commits]
        if known_at is not None:
            history = [state for state in history if state.committed_at <= known_at]
        state = history[-1]
        born: dict[str, datetime] = {}
        for each in history:
            for doc_id, (revision, _) in each.documents.items():
                if state.documents.get(doc_id, (0, None))[0] == revision:
                    born.setdefault(doc_id, each.committed_at)
        return {
            key: text
            for key, text in state.chunks(clearance, valid_at).items()
            if tree is None or matches(tree, _attributes(state.documents[key[0]][1], born[key[0]]))
        }


def _attributes(document: NewDocument, ingested_at: datetime) -> dict[str, Value]:
    held: dict[str, Value] = {attribute.name: attribute.value for attribute in document.attributes}
    held |= {"doc_id": document.doc_id, "title": document.title, "media_type": document.media_type}
    held["ingested_at"] = ingested_at
    if document.valid_as_of is not None:
        held["valid_as_of"] = document.valid_as_of
    return held


def run_all(seeds: Sequence[int]) -> int:
    """Interleavings of some seeds; how many there were."""
    memory = Path("/dev/shm")  # nothing here is about disks, and each commit waits for one
    done = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
            run = Interleaving(Path(folder), seed)
            try:
                for number in range(INTERLEAVINGS_A_LIBRARY):
                    try:
                        run.run()
                    except BaseException as error:
                        error.add_note(f"interleaving {number} of seed {seed}")
                        raise
                    done += 1
            finally:
                run.library.close()
    return done


def test_some_interleavings() -> None:
    assert run_all(range(8)) == 200


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(8))
def test_ten_thousand_interleavings(part: int) -> None:
    assert run_all(range(50 * part, 50 * (part + 1))) == 1250
