"""The index on disk: caught up, extended, merged, damaged, killed; the results are always those of the formula."""

from __future__ import annotations

import json
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.lexical import LexicalDirectory, LexicalIndex, RebuildReason, Rebuilt, pieces, tiers
from groundwire_server.lexical.manifest import Manifest, write_manifest
from groundwire_server.lexical.segment import MAX_ROWS
from groundwire_server.text import TOKENIZER_ID, tokenize
from tests.lexical.oracle import WORDS, bm25

QUERIES = ["revenue", "売上高 の", "net income カー 2024", "香港revenue a a"]


def some_texts(count: int, seed: int = 0) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, k=chosen.randint(0, 9))) for _ in range(count)]


class Store:
    """Stands for what the index is about: rows of text, asked for by number."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self.asked: list[tuple[int, int]] = []

    def __call__(self, start: int, stop: int) -> Iterable[str]:
        self.asked.append((start, stop))
        return iter(self.texts[start:stop])


def assert_answers(index: LexicalIndex, texts: Sequence[str]) -> None:
    assert index.rows == len(texts)
    rows = [tokenize(text) for text in texts]
    everything = np.ones(len(texts), dtype=np.bool_)
    for query in QUERIES:
        found = index.search(tokenize(query), everything)
        expected = bm25(tokenize(query), rows, range(len(texts)))
        assert list(zip(found.rows.tolist(), found.scores.tolist(), strict=True)) == expected


def loaded(path: Path, texts: Sequence[str]) -> LexicalDirectory:
    """Loaded and settled: nothing goes on behind the test."""
    folder = LexicalDirectory(path)
    folder.load(len(texts), Store(texts))
    folder.settle()
    return folder


def appended(folder: LexicalDirectory, texts: Sequence[str]) -> LexicalIndex:
    """Rows appended, saved and merged."""
    folder.append(texts)
    folder.settle()
    return folder.index


def test_from_nothing_to_a_restart(tmp_path: Path) -> None:
    texts = some_texts(50)
    first = loaded(tmp_path / "index", texts)
    assert first.report is not None
    assert first.report.rebuilt == (Rebuilt(0, 50, RebuildReason.NO_INDEX),)
    assert_answers(first.index, texts)
    store = Store(texts)
    again = LexicalDirectory(tmp_path / "index")
    assert_answers(again.load(50, store), texts)
    assert again.report is not None
    assert (again.report.kept, again.report.caught_up, again.report.rebuilt) == (50, 0, ())
    assert store.asked == [(49, 50)]  # the last text of the segment is compared, nothing else is read


def test_an_empty_library(tmp_path: Path) -> None:
    folder = loaded(tmp_path, [])
    assert folder.report is not None
    assert folder.report.rebuilt == ()
    assert_answers(appended(folder, ["revenue"]), ["revenue"])
    assert_answers(loaded(tmp_path, ["revenue"]).index, ["revenue"])


def test_rows_that_the_store_has_and_the_index_not_are_caught_up(tmp_path: Path) -> None:
    texts = some_texts(30)
    loaded(tmp_path, texts[:20])
    folder = loaded(tmp_path, texts)
    assert folder.report is not None
    assert (folder.report.kept, folder.report.caught_up, folder.report.rebuilt) == (20, 10, ())
    assert_answers(folder.index, texts)


def test_rows_that_the_store_never_took_are_dropped(tmp_path: Path) -> None:
    """The index was ahead when the process died, and the store then got other texts."""
    texts = some_texts(20)
    folder = loaded(tmp_path, texts[:16])
    appended(folder, ["lost", "lost too"])
    folder = loaded(tmp_path, texts)
    assert folder.report is not None
    assert folder.report.rebuilt == (Rebuilt(16, 18, RebuildReason.OTHER_TEXTS),)
    assert folder.report.caught_up == 2
    assert_answers(folder.index, texts)
    assert_answers(loaded(tmp_path, texts[:3]).index, texts[:3])
    assert_answers(loaded(tmp_path, []).index, [])


def test_older_indexes_stay_as_they_were(tmp_path: Path) -> None:
    texts = some_texts(120)
    folder = loaded(tmp_path, texts[:40])
    kept = [(folder.index, 40), *((folder.append(texts[at : at + 4]), at + 4) for at in range(40, 120, 4))]
    for index, rows in kept:
        assert_answers(index, texts[:rows])


def test_small_appends_leave_few_segments_and_files(tmp_path: Path) -> None:
    folder = loaded(tmp_path, [])
    texts = some_texts(300)
    for text in texts:
        folder.append([text])
    folder.settle()
    assert len(folder.index.segments) <= 3 * 5
    assert len(list(tmp_path.iterdir())) == len(folder.index.segments) + 1
    assert_answers(folder.index, texts)
    assert_answers(loaded(tmp_path, texts).index, texts)


@given(st.lists(st.integers(1, 70_000) | st.integers(1, 40), max_size=400))
def test_merging_is_bounded(appended: list[int]) -> None:
    sizes: list[int] = []
    for rows in appended:
        sizes += [MAX_ROWS] * (rows // MAX_ROWS)
        sizes += [rows % MAX_ROWS] if rows % MAX_ROWS else []
        start = tiers.merge_start(sizes)
        if start < len(sizes):
            assert len(sizes) - start > 1
            sizes[start:] = [sum(sizes[start:])]
        assert max(sizes) <= MAX_ROWS
    assert sum(sizes) == sum(appended)


def test_each_row_is_merged_a_few_times() -> None:
    sizes: list[int] = []
    written = most = 0
    for _ in range(20_000):
        sizes.append(20)
        start = tiers.merge_start(sizes)
        if start < len(sizes):
            sizes[start:] = [sum(sizes[start:])]
        written += sizes[-1]
        most = max(most, len(sizes))
    assert written / (20 * 20_000) <= 8
    assert most <= 3 * 6 + 20 * 20_000 // (MAX_ROWS // 2)


@settings(max_examples=60)
@given(st.data())
def test_any_history_with_any_damage(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "index"
        texts = some_texts(data.draw(st.integers(0, 30)), seed=1)
        folder = loaded(path, texts)
        for step in range(data.draw(st.integers(1, 8))):
            match data.draw(st.sampled_from(["append", "append", "restart", "damage"])):
                case "append":
                    more = some_texts(data.draw(st.integers(0, 12)), seed=step + 2)
                    appended(folder, more)
                    texts = [*texts, *more]
                case "restart":
                    folder = loaded(path, texts)
                    assert folder.report is not None
                    assert folder.report.kept == len(texts)
                case "damage":
                    damage(data, path)
                    folder = loaded(path, texts)
                    assert folder.report is not None
                    assert folder.report.rebuilt or not texts
            assert folder.unsaved_rows == 0
            assert_answers(folder.index, texts)
        assert_answers(loaded(path, texts).index, texts)


def damage(data: st.DataObject, path: Path) -> None:
    victim = data.draw(st.sampled_from(sorted(path.iterdir())))
    content = bytearray(victim.read_bytes())
    match data.draw(st.sampled_from(["byte", "cut", "empty", "gone", "longer"])):
        case "byte":
            # The line feed at the end of the manifest says nothing, so damage to it is none.
            at = data.draw(st.integers(0, len(content) - 2))
            content[at] ^= data.draw(st.integers(1, 255))
            victim.write_bytes(content)
        case "cut":
            victim.write_bytes(content[: data.draw(st.integers(0, len(content) - 2))])
        case "empty":
            victim.write_bytes(b"")
        case "gone":
            victim.unlink()
        case "longer":
            victim.write_bytes(bytes(content) + b"x")


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (Manifest("another/2", 1, ()), RebuildReason.OTHER_TOKENIZER),
        (Manifest(TOKENIZER_ID, 1, (), format=99), RebuildReason.OTHER_FORMAT),
    ],
)
def test_an_index_of_another_kind_is_rebuilt(tmp_path: Path, manifest: Manifest, reason: RebuildReason) -> None:
    texts = some_texts(20)
    loaded(tmp_path, texts)
    write_manifest(tmp_path, manifest)
    folder = loaded(tmp_path, texts)
    assert folder.report is not None
    assert folder.report.rebuilt == (Rebuilt(0, 20, reason),)
    assert_answers(folder.index, texts)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_changed_text_at_the_end_of_a_segment_is_noticed(tmp_path: Path) -> None:
    texts = some_texts(20)
    loaded(tmp_path, texts)
    changed = [*texts[:19], "other"]
    folder = loaded(tmp_path, changed)
    assert folder.report is not None
    assert folder.report.rebuilt == (Rebuilt(0, 20, RebuildReason.OTHER_TEXTS),)
    assert_answers(folder.index, changed)


def test_a_store_that_miscounts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 texts for rows 0 to 3"):
        LexicalDirectory(tmp_path).load(3, lambda start, stop: ["a", "b"])
    with pytest.raises(RuntimeError, match="load"):
        LexicalDirectory(tmp_path).append(["a"])


def test_texts_that_fail_halfway_leave_the_index_as_it_was(tmp_path: Path) -> None:
    texts = some_texts(20)
    folder = loaded(tmp_path, texts)

    def failing() -> Iterator[str]:
        yield "revenue"
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        folder.append(failing())
    assert_answers(folder.index, texts)
    more = some_texts(9, seed=5)
    assert_answers(appended(folder, more), [*texts, *more])
    assert_answers(loaded(tmp_path, [*texts, *more]).index, [*texts, *more])


def test_a_disk_that_refuses_stops_nothing(tmp_path: Path) -> None:
    texts = some_texts(30)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    folder = loaded(blocked, texts[:20])
    assert (folder.unsaved_rows, folder.write_error) == (20, "EEXIST")
    assert_answers(appended(folder, texts[20:25]), texts[:25])
    assert (folder.unsaved_rows, folder.write_error) == (25, "EEXIST")
    blocked.unlink()
    assert_answers(appended(folder, texts[25:]), texts)
    assert (folder.unsaved_rows, folder.write_error) == (0, "")
    again = loaded(blocked, texts)
    assert again.report is not None
    assert again.report.kept == 30


def test_a_full_disk_keeps_what_it_had(tmp_path: Path) -> None:
    """A real limit of the system on the size of files: the large segment fails, the manifest stays as it was."""
    texts = [f"word{number} revenue" for number in range(400)]
    folder = loaded(tmp_path, texts[:20])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        assert_answers(appended(folder, texts[20:]), texts)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (folder.unsaved_rows, folder.write_error) == (380, "EFBIG")
    assert not list(tmp_path.glob("*.tmp"))
    copy = tmp_path.parent / "copy"
    shutil.copytree(tmp_path, copy)
    restarted = loaded(copy, texts)
    assert restarted.report is not None
    assert (restarted.report.kept, restarted.report.caught_up) == (20, 380)
    assert_answers(restarted.index, texts)
    appended(folder, ["revenue"])
    assert folder.unsaved_rows == 0


def test_large_texts_and_full_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, full segments and their merging, at a hundredth of their size."""
    monkeypatch.setattr(pieces, "_BLOCK_ROWS", 40)
    monkeypatch.setattr(pieces, "_BLOCK_CHARACTERS", 900)
    monkeypatch.setattr(pieces, "MAX_ROWS", 256)
    texts = some_texts(700, seed=9)
    folder = loaded(tmp_path, texts)
    assert [segment.size for segment in folder.index.segments] == [256, 256, 188]
    assert_answers(folder.index, texts)
    assert_answers(loaded(tmp_path, texts).index, texts)


KILLED = """
import json, os, signal, sys
from pathlib import Path
from groundwire_server.lexical import LexicalDirectory

path, texts_file, appended_in = Path(sys.argv[1]), Path(sys.argv[2]), 7
texts = json.loads(texts_file.read_text())
events = 0

def run(limit):
    global events
    def watch(event, arguments):
        global events
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.listdir", "os.scandir", "mmap.__new__"):
            events += 1
            if events == limit:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
    folder = LexicalDirectory(path)
    folder.load(40, lambda start, stop: texts[start:stop])
    for start in range(40, len(texts), appended_in):
        folder.append(texts[start : start + appended_in])
        folder.settle()

limit = int(sys.argv[3])
while True:
    child = os.fork()
    if child == 0:
        run(limit)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(limit, "whole" if status == 0 else "killed", flush=True)
    if sys.stdin.readline() != "on\\n" or status == 0:
        break
    limit += int(sys.argv[4])
"""


def kill_at_each_step(tmp_path: Path, first: int, step: int) -> int:
    """Kill a process at its n-th call on a file, n = first, first + step ...; each time all must be well after it."""
    texts = some_texts(100, seed=4)
    (tmp_path / "texts").write_text(json.dumps(texts))
    path = tmp_path / "index"
    command = [sys.executable, "-c", KILLED, str(path), str(tmp_path / "texts"), str(first), str(step)]
    kills = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            folder = loaded(path, texts)
            assert_answers(folder.index, texts)
            assert folder.report is not None
            assert all(one.reason is RebuildReason.NO_INDEX for one in folder.report.rebuilt), folder.report
            names = {piece.name for piece in path.iterdir()}
            assert len(names) == len(folder.index.segments) + 1
            shutil.rmtree(path)
            if "whole" in line:
                break
            kills += 1
            process.stdin.write("on\n")
            process.stdin.flush()
    return kills


def test_killed_at_some_steps(tmp_path: Path) -> None:
    assert kill_at_each_step(tmp_path, 1, 9) >= 5


@pytest.mark.slow
def test_killed_at_every_step(tmp_path: Path) -> None:
    assert kill_at_each_step(tmp_path, 1, 1) >= 60
