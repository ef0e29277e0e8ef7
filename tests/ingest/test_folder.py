from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason, InvalidRequest
from groundwire_server.evidence import Attribute, Label
from groundwire_server.ingest import FolderFault, FolderFile, PathPatterns, load_sidecar, walk_folder


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, "utf-8")


def ids(root: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
    return [found.doc_id for found in walk_folder(root, include, exclude) if isinstance(found, FolderFile)]


def faults(root: Path) -> list[tuple[str, str]]:
    return [(found.doc_id, found.error.message) for found in walk_folder(root) if isinstance(found, FolderFault)]


def test_ids_are_paths_with_slashes_in_code_point_order(tmp_path: Path) -> None:
    paths = ["a/b.md", "a-b.md", "a.md", "a/b/c.md", "Z.md", "売上/第一.md", "with blank.md", "é.md", "a/B.md"]
    make(tmp_path, *paths)
    found = ids(tmp_path)
    assert found == sorted(paths)
    (first, *_) = walk_folder(tmp_path)
    assert first == FolderFile("Z.md", tmp_path / "Z.md", 4)


def test_hidden_files_and_folders_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, ".git/config", ".hidden.md", "a/.cache/x.md", "a/seen.md")
    assert ids(tmp_path) == ["a/seen.md"]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ([], [], ["README", "a/x.md", "a/x.txt", "b/c/x.md", "b/draft.md"]),
        (["*.md"], [], ["a/x.md", "b/c/x.md", "b/draft.md"]),
        (["*.md"], ["draft*"], ["a/x.md", "b/c/x.md"]),
        (["a"], [], ["a/x.md", "a/x.txt"]),
        (["a/"], [], ["a/x.md", "a/x.txt"]),
        (["b/*.md"], [], ["b/draft.md"]),
        (["b/**/*.md"], [], ["b/c/x.md", "b/draft.md"]),
        (["b/**"], [], ["b/c/x.md", "b/draft.md"]),
        (["**/x.*"], [], ["a/x.md", "a/x.txt", "b/c/x.md"]),
        (["/README", "./a/x.md"], [], ["README", "a/x.md"]),
        (["?/x.[mt]*"], ["*.t[!a-w]t"], ["a/x.md"]),
        ([], ["b"], ["README", "a/x.md", "a/x.txt"]),
        (["c"], [], ["b/c/x.md"]),
        (["*.MD"], [], []),
    ],
)
def test_patterns(tmp_path: Path, include: list[str], exclude: list[str], expected: list[str]) -> None:
    make(tmp_path, "README", "a/x.md", "a/x.txt", "b/c/x.md", "b/draft.md")
    assert ids(tmp_path, include, exclude) == expected


def test_malformed_patterns_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest) as refused:
        ids(tmp_path, ["", "*.md"], ["[a", "/"])
    assert [violation.field for violation in refused.value.violations] == ["include[0]", "exclude[0]", "exclude[1]"]


@given(st.text("ab/*?[]!-.^\\", max_size=8), st.text("ab/.", min_size=1, max_size=8))
def test_any_pattern_is_used_or_refused(pattern: str, path: str) -> None:
    try:
        patterns = PathPatterns([pattern])
    except InvalidRequest:
        return
    assert patterns.includes(path) in (True, False)
    if not set(pattern) & set("*?[]!\\") and pattern.strip("/").removeprefix("./"):
        plain = PathPatterns([f"/{pattern.strip('/').removeprefix('./')}"])
        assert plain.includes(path) <= patterns.includes(path)


def test_links_are_followed_and_loops_told(tmp_path: Path) -> None:
    make(tmp_path / "root", "a/x.md")
    make(tmp_path, "outside/y.md")
    (tmp_path / "root" / "linked").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "a" / "up").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "self").symlink_to("self")
    (tmp_path / "root" / "gone.md").symlink_to("nowhere")
    assert ids(tmp_path / "root") == ["a/x.md", "linked/y.md"]
    told = dict(faults(tmp_path / "root"))
    assert sorted(told) == ["a/up", "gone.md", "self"]
    assert "leads back" in told["a/up"]
    assert "leads nowhere" in told["gone.md"]


def test_what_is_no_regular_file_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert faults(tmp_path) == [("pipe", "It is no regular file.")]


def test_unreadable_files_and_folders_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md", "closed/x.md", "z.md")
    scan, access = os.scandir, os.access

    def guarded_scan(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "no")
        return scan(path)

    monkeypatch.setattr(os, "scandir", guarded_scan)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "a.md" and access(path, mode))
    assert faults(tmp_path) == [("a.md", "It may not be read."), ("closed", "It may not be read.")]
    assert ids(tmp_path) == ["z.md"]


def test_names_that_are_no_ids_are_told(tmp_path: Path) -> None:
    (tmp_path / "line\nbreak.md").write_text("x", "utf-8")
    with open(os.fsencode(tmp_path) + b"/\xff.md", "wb") as file:
        file.write(b"x")
    deep = tmp_path
    for _ in range(3):
        deep = deep / ("d" * 200)
        deep.mkdir()
    (deep / "x.md").write_text("x", "utf-8")
    told = dict(faults(tmp_path))
    assert len(told) == 3
    assert "control characters" in told["line\\nbreak.md"]
    assert told["\\udcff.md"] == "The name is no UTF-8."
    assert ids(tmp_path) == []


def test_a_sidecar_goes_with_its_file_and_is_none_itself(tmp_path: Path) -> None:
    make(tmp_path, "a.pdf", "lonely.meta.toml")
    (tmp_path / "a.pdf.meta.toml").write_text(
        'label = "confidential"\ntopic = "x"\nterm = {period = "FY2024"}\n', "utf-8"
    )
    found = [file for file in walk_folder(tmp_path) if isinstance(file, FolderFile)]
    assert [(file.doc_id, file.sidecar) for file in found] == [
        ("a.pdf", tmp_path / "a.pdf.meta.toml"),
        ("lonely.meta.toml", None),
    ]
    metadata = load_sidecar(tmp_path / "a.pdf.meta.toml")
    assert metadata.label is Label.CONFIDENTIAL
    assert Attribute("topic", "x") in metadata.attributes
    assert len(metadata.attributes) == 2


def test_a_sidecar_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for name, raw in (("a", b"label ="), ("b", b"\xff"), ("c", b"#" * 2_000_000)):
        (tmp_path / f"{name}.meta.toml").write_bytes(raw)
        with pytest.raises(DocumentRefused):
            load_sidecar(tmp_path / f"{name}.meta.toml")
    with pytest.raises(DocumentRefused, match="not there"):
        load_sidecar(tmp_path / "missing.meta.toml")


def test_one_file_is_its_own_folder(tmp_path: Path) -> None:
    make(tmp_path, "a/x.md", "a/x.md.meta.toml")
    assert list(walk_folder(tmp_path / "a" / "x.md")) == [
        FolderFile("x.md", tmp_path / "a" / "x.md", 6, tmp_path / "a" / "x.md.meta.toml")
    ]


def test_an_empty_folder_has_nothing_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    assert list(walk_folder(tmp_path)) == []
    with pytest.raises(InvalidRequest, match="not there") as refused:
        list(walk_folder(tmp_path / "missing"))
    assert refused.value.violations[0].field == "path"
    assert refused.value.violations[0].reason is ErrorReason.VALUE_MALFORMED
