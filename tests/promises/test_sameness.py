"""Promise 4: same question, same snapshot, same bytes.

Whatever the order and the portions in which the content came, the number of workers that embedded it, a restart, an
index that was deleted or damaged, other threads that ask, and writers that write what the caller may not see.
"""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundwire.v1 import admin_pb2
from tests.promises.answers import QUERIES, answers, retrieval
from tests.promises.worlds import Step, begin, draw_hidden, draw_open, store_documents, take
from tests.rpc.house import House, house
from tests.support.canonical import canonical
from tests.support.eventually import eventually
from tests.support.real_model import real_model

AUTO, HYBRID, VECTOR, LEXICAL = 1, 2, 3, 4
# Ids of documents with one text, in no order: their scores tie.
TIED = ("tie/b.txt", "tie/a.txt", "z.txt", "é.txt", "日.txt", "A.txt", "tie/a.txt.old")
TEXTS = (
    *((doc_id, "alpha beta, tied. 売上 identical") for doc_id in TIED),
    *(
        (f"year/{n}.md", f"---\nn: {n % 4}\n---\n# Year {n}\n\nalpha {n} revenue rose {n}.5\n\n人口は増えた。")
        for n in range(8)
    ),
    *((f"words/{n}.txt", " ".join(random.Random(n).choices(QUERIES, k=40))) for n in range(20)),
)


def _rows() -> list[Step]:
    """Figures and relations, each key once: their order is no part of their history then."""
    drawn = [step for step in draw_open(random.Random(7), 80) if hasattr(step, "fields")]
    keys: dict[tuple[object, ...], Step] = {}
    for step in drawn:
        fields = [pair for pair in step.fields if pair[0] not in ("value", "locator", "review_status")]
        key = tuple(value.removeprefix("FY") for _, value in fields)  # here both are the same days
        keys.setdefault(key, step)
    return list(keys.values())


@contextmanager
def serving(folder: Path, workers: int, models: Path | None = None) -> Iterator[House]:
    """A server with the embedder of tests, or with the real model from a folder of prepared ones."""
    chosen = {"embedding__backend": "deterministic"} if models is None else {"models": models}
    with house(folder, secret="s", embedding__workers=workers, **{"embedding__backend": "onnx", **chosen}) as here:
        yield here


def wait(here: House) -> None:
    """Until everything is embedded."""
    request = admin_pb2.ListLibrariesRequest()
    assert eventually(lambda: here.admin.ListLibraries(request).libraries[0].embedding_coverage == 1.0, 60)


def everything(here: House) -> dict[str, bytes]:
    wait(here)
    return answers(here, modes=(AUTO, HYBRID, VECTOR, LEXICAL))


def fill(here: House, dice: random.Random | None, portion: int, pieces: int) -> None:
    """The content, as it stands or shuffled; documents so many a stream, each in so many parts."""
    texts, rows = list(TEXTS), _rows()
    if dice is not None:
        dice.shuffle(texts)
        dice.shuffle(rows)
    begin(here)
    late = rows[len(rows) // 2 :] if dice is not None else []
    for step in rows[: len(rows) - len(late)]:
        take(here, step)
    for at in range(0, len(texts), portion):
        store_documents(here, texts[at : at + portion], pieces)
    for step in late:
        take(here, step)


def same(got: dict[str, bytes], wanted: dict[str, bytes]) -> None:
    assert got.keys() == wanted.keys()
    for name, data in wanted.items():
        assert got[name] == data, name


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Answers where all came in at once, in order, with one worker."""
    with serving(tmp_path_factory.mktemp("plain"), 1) as here:
        fill(here, None, len(TEXTS), 1)
        return everything(here)


def test_order_portions_workers_restarts_and_the_index_change_nothing(tmp_path: Path, wanted: dict[str, bytes]) -> None:
    with serving(tmp_path, 3) as here:
        fill(here, random.Random(1), 5, 3)
        same(everything(here), wanted)
    with serving(tmp_path, 1) as here:
        same(everything(here), wanted)
    index = tmp_path / "libraries/default/index"
    shutil.rmtree(index)
    with serving(tmp_path, 2) as here:
        same(everything(here), wanted)
    dice = random.Random(2)
    for path in sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size):
        raw = bytearray(path.read_bytes())
        raw[dice.randrange(len(raw))] ^= 0x55
        path.write_bytes(raw)
    with serving(tmp_path, 2) as here:
        same(everything(here), wanted)


def test_threads_and_hidden_writers_change_nothing(tmp_path: Path, wanted: dict[str, bytes]) -> None:
    with serving(tmp_path, 2) as here:
        fill(here, random.Random(3), 9, 2)
        wait(here)
        bytes_of = _ask_at_once(here, QUERIES[:3], (AUTO, VECTOR, LEXICAL), times=20)
        assert [len(found) for found in bytes_of.values()] == [1] * 9
        same(everything(here), wanted)


def _ask_at_once(
    here: House, queries: Sequence[str], modes: Sequence[int], times: int
) -> dict[tuple[str, int], set[bytes]]:
    """Each query in each mode so many times, from 16 threads, while another writes what is hidden."""
    asked = [(query, mode) for query in queries for mode in modes] * times
    over = threading.Event()

    def write() -> None:
        steps = draw_hidden(random.Random(4), 500)
        while steps and not over.is_set():
            take(here, steps.pop())

    def ask(which: tuple[str, int]) -> tuple[tuple[str, int], bytes]:
        query, mode = which
        return which, canonical(retrieval(here, query, mode=mode, top_k=50)())

    found: dict[tuple[str, int], set[bytes]] = {}
    writer = threading.Thread(target=write)
    writer.start()
    try:
        with ThreadPoolExecutor(16) as pool:
            for which, data in pool.map(ask, asked):
                found.setdefault(which, set()).add(data)
    finally:
        over.set()
        writer.join()
    return found


@pytest.mark.slow
@pytest.mark.model
def test_the_real_model_gives_the_same_bytes(tmp_path: Path) -> None:
    """A hundred times from 16 threads, after a restart, for other orders, portions and numbers of workers."""
    models = real_model().folder.parent
    seen: list[dict[str, bytes]] = []
    for workers, dice, portion in ((1, None, len(TEXTS)), (4, random.Random(5), 4)):
        folder = tmp_path / str(workers)
        with serving(folder, workers, models) as here:
            fill(here, dice, portion, 2)
            seen.append(everything(here))
            bytes_of = _ask_at_once(here, QUERIES[:2], (AUTO, HYBRID), times=100)
            assert [len(found) for found in bytes_of.values()] == [1] * 4
        with serving(folder, workers + 1, models) as here:
            seen.append(everything(here))
    for other in seen[1:]:
        same(other, seen[0])
