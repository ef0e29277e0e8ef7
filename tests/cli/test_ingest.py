"""`groundwire ingest`."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from groundwire import Client, GroundwireError
from groundwire_server.cli import ingest
from groundwire_server.cli.ingest import await_vectors
from tests.cli.commands import REPORT, run, server, write


def test_documents_go_in_once() -> None:
    folder = write("mine", {"reports/2024.md": REPORT, "a.txt": "apples"})
    first = run("ingest", folder, "--verbose")
    assert first.code == 0
    assert first.out.splitlines() == [
        "a.txt revision 1, 1 chunks",
        "reports/2024.md revision 1, 1 chunks",
        "2 stored, 0 unchanged, 0 refused",
    ]
    assert run("ingest", folder).out == "0 stored, 2 unchanged, 0 refused\n"
    write(folder, {"a.txt": "apples and pears"})
    assert run("ingest", folder).out == "1 stored, 1 unchanged, 0 refused\n"


def test_what_came_before_the_server_went_is_said_to_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write("mine", {"a.txt": "apples"})
    once = ingest._Run.once

    def broken(self: ingest._Run) -> None:
        once(self)
        raise GroundwireError("gone", status="UNAVAILABLE")

    with server() as address, monkeypatch.context() as patch:
        patch.setattr(ingest._Run, "once", broken)
        ran = run("ingest", folder, "--address", address)
    assert ran.code == 1
    kept, complaint = ran.err.splitlines()
    assert kept == "what was acknowledged is stored; the same command goes on from there"
    assert complaint.startswith("Error: no server answers at ")
    assert "acknowledged" not in run("ingest", folder, "--address", "127.0.0.1:1").err


def test_files_and_folders_together_and_only_some_of_them() -> None:
    folder = write("mine", {"a.md": "apples", "b.txt": "pears", "old/c.md": "plums"})
    ran = run("ingest", folder, "mine/b.txt", "--include", "*.md", "--exclude", "old", "--verbose")
    assert ran.out.splitlines() == [
        "a.md revision 1, 1 chunks",
        "b.txt revision 1, 1 chunks",
        "2 stored, 0 unchanged, 0 refused",
    ]


def test_a_dry_run_stores_nothing() -> None:
    folder = write("mine", {"a.md": "apples"})
    assert (
        run("ingest", folder, "--dry-run").out.splitlines()[-1]
        == "1 would be stored (1 new, 0 changed), 0 unchanged, 0 refused"
    )
    assert "0 snippets" in run("retrieve", "apples").out


def test_frames_for_programs() -> None:
    folder = write("mine", {"a.md": "apples", "b.md": ""})
    ran = run("ingest", folder, "--json")
    assert ran.code == 3
    assert {frame["frame"] for frame in ran.frames} == {
        "IngestAccepted",
        "IngestAck",
        "DocumentOutcome",
        "FolderSummary",
        "IngestSummary",
    }
    outcomes = {frame["doc_id"]: frame for frame in ran.frames if frame["frame"] == "DocumentOutcome"}
    assert outcomes["a.md"]["revision"] == 1
    assert outcomes["b.md"]["error"]["reason"] == "DOCUMENT_NO_TEXT"


def test_what_cannot_be_read_is_named_and_the_others_go_on() -> None:
    folder = write(
        "mine",
        {
            "a.txt": "apples",
            "b.md": b"\x00\x01\x02",
            "c.txt": b"\xff\xfe\x00",
            "d.jsonl": "{",
            "e.md": "",
            "f.odt": b"PK\x03\x04",
            "g.txt": "grapes",
            "g.txt.meta.toml": "label = [",
        },
    )
    (folder / "link").symlink_to("link")
    (folder / "below").mkdir()
    (folder / "below" / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    Path(os.fsdecode(os.fsencode(folder) + b"/we\xffird.txt")).write_text("x", encoding="utf-8")
    ran = run("ingest", folder, "--verbose")
    assert ran.code == 3
    assert ran.out.splitlines() == ["a.txt revision 1, 1 chunks", "1 stored, 0 unchanged, 10 refused"]
    *lines, advice = ran.err.splitlines()
    assert advice == "files that are no documents are passed over with --exclude '*.odt'"
    refused = sorted(lines)
    assert all(line.startswith("refused ") and line.endswith(")") for line in refused)
    names = [
        "b.md",
        "below/up",
        "c.txt",
        "d.jsonl",
        "e.md",
        "f.odt",
        "g.txt.meta.toml",
        "link",
        "pipe",
        "we\\udcffird.txt",
    ]
    assert [line.split()[1].rstrip(":,") for line in refused] == names


def test_two_files_of_one_id_are_not_two_revisions_of_one_document() -> None:
    write("one", {"a.md": "apples"})
    write("two", {"a.md": "pears"})
    ran = run("ingest", "one", "two")
    assert ran.code == 3
    assert "refused a.md: another file of this call has the same path below its folder: one/a.md" in ran.err
    assert "apples" in run("retrieve", "apples pears").out


def test_the_data_folder_is_no_document() -> None:
    write(".", {"a.md": "apples"})
    assert run("ingest", ".").code == 0
    again = run("ingest", ".")
    assert (again.code, again.out, again.err) == (0, "0 stored, 1 unchanged, 0 refused\n", "")


@pytest.mark.parametrize("words", [("empty",), ("mine", "--include", "*.xyz")])
def test_nothing_to_store_is_said(words: tuple[str, ...]) -> None:
    Path("empty").mkdir()
    write("mine", {"a.md": "apples"})
    ran = run("ingest", *words)
    assert ran.code == 0
    assert f"no file in {words[0]}" in ran.err
    assert ran.out == "0 stored, 0 unchanged, 0 refused\n"


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--library", "No Lib"), 1, "library"),
        (("--include", "["), 1, "'[' has a [ that is not closed"),
        (("--chunker", "mincer"), 3, "'mincer' is none of book, laws, layout"),
        (("--label", "secret"), 2, "'secret' is not one of"),
    ],
)
def test_options_that_do_not_hold(words: tuple[str, ...], code: int, why: str) -> None:
    folder = write("mine", {"a.md": "apples"})
    ran = run("ingest", folder, *words)
    assert ran.code == code
    assert why in ran.err
    assert "1 stored" not in ran.out


def test_labels_and_attributes_of_a_sidecar_go_with_the_file() -> None:
    folder = write(
        "mine",
        {"a.md": "apples", "a.md.meta.toml": 'title = "Fruit"\nyear = 2024\n', "b.md": "apples too"},
    )
    write(folder, {"b.md.meta.toml": 'label = "confidential"\n'})
    assert run("ingest", folder).code == 0
    found = [each for frame in run("retrieve", "apples", "--json").frames for each in frame.get("snippets", ())]
    assert [(each["lineage"]["doc_id"], each["lineage"]["title"]) for each in found] == [("a.md", "Fruit")]
    assert found[0]["lineage"]["attributes"] == [{"name": "year", "value": 2024}]


def test_what_a_sidecar_says_in_vain_is_told() -> None:
    folder = write("mine", {"a.txt": "apples", "a.txt.meta.toml": "year = 2024\n[attributes]\ntopic = 'news'\n"})
    ran = run("ingest", folder)
    assert ran.code == 0
    assert "look at mine/a.txt.meta.toml: attributes: " in ran.err


def test_a_server_that_stops_while_vectors_are_made_takes_nothing_back() -> None:
    with Client("127.0.0.1:1") as client, pytest.raises(click.ClickException, match="What was named is stored"):
        await_vectors(client, "default")
