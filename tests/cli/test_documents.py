"""`groundwire documents`: what is stored, what changed, and how something is taken out."""

from __future__ import annotations

import pytest

from groundwire_server.cli.terminal import display_width
from tests.cli.commands import REPORT, furnish, run, run_on_terminal, write


def revise() -> None:
    """Two revisions of a report, and a second document."""
    furnish()
    changed = REPORT.replace("Osaka", "Kobe").replace("# Annual", "# The annual")
    write("mine", {"reports/2024.md": changed, "b.txt": "pears"})
    assert run("ingest", "mine").code == 0


def test_a_list_of_documents() -> None:
    revise()
    rows = [line.split("\t") for line in run("documents", "list").out.splitlines()]
    assert [row[:4] for row in rows] == [["b.txt", "1", "active", "1"], ["reports/2024.md", "2", "active", "1"]]
    assert rows[1][4].endswith("Z")
    assert rows[1][5] == "The annual report 2024"
    assert len(run("documents", "list", "reports/").out.splitlines()) == 1
    assert run("documents", "list", "nothing/").out == ""
    (frame, _) = run("documents", "list", "--json").frames
    assert (frame["frame"], frame["doc_id"], frame["active"]) == ("DocumentRevision", "b.txt", True)


def test_a_document_is_shown_with_its_text_and_chunks() -> None:
    revise()
    shown = dict(line.split("\t", 1) for line in run("documents", "show", "reports/2024.md").out.splitlines())
    assert shown["revision"] == "2"
    assert shown["title"] == "The annual report 2024"
    assert len(shown["sha256"]) == 64
    assert run("documents", "show", "reports/2024.md", "--revision", "1", "--text").out == REPORT
    chunks = run("documents", "show", "reports/2024.md", "--chunks").out.splitlines()
    assert chunks[-1].startswith("reports/2024.md@2#c0\t0-")
    assert chunks[-1].endswith("\tno")
    (frame,) = run("documents", "show", "b.txt", "--json", "--text", "--chunks").frames
    assert frame["text"] == "pears"
    assert frame["chunks"][0]["span"] == {"end": 5} or frame["chunks"][0]["span"] == {"start": 0, "end": 5}


def test_history_and_what_changed() -> None:
    revise()
    rows = [line.split("\t") for line in run("documents", "history", "reports/2024.md").out.splitlines()]
    assert [(row[0], row[1]) for row in rows] == [("2", "active"), ("1", "retired")]
    assert [row[5].endswith("Z") for row in rows] == [False, True]
    changed = run("documents", "diff", "reports/2024.md").out
    assert "@@ " in changed
    minus = "".join(line[2:] for line in changed.splitlines() if line.startswith("- "))
    plus = "".join(line[2:] for line in changed.splitlines() if line.startswith("+ "))
    assert "Osaka" in minus or "sa" in minus
    assert plus
    assert "the new plant in Osaka opened" in minus  # in its line, not a letter or two
    assert run("documents", "diff", "reports/2024.md", "--from", "2", "--to", "2").code in (0, 1)
    frames = run("documents", "diff", "reports/2024.md", "--from", "1", "--to", "2", "--json").frames
    assert {frame["frame"] for frame in frames} == {"TextChange"}


def test_a_withdrawn_document_is_out_and_comes_back() -> None:
    revise()
    assert run("documents", "withdraw", "b.txt").out == "b.txt is withdrawn; its last revision was 1\n"
    assert "was withdrawn already" in run("documents", "withdraw", "b.txt").out
    gone = run("documents", "withdraw", "reports/2024.md").out
    assert gone == "reports/2024.md is withdrawn, with 1 figure from it; its last revision was 2\n"
    assert run("facts", "list", "--source", "reports/2024.md").out == ""
    run("ingest", "mine", "--exclude", "b.txt")
    assert "0 snippets" in run("retrieve", "pears").out
    assert len(run("documents", "list").out.splitlines()) == 1
    everything = run("documents", "list", "--withdrawn").out.splitlines()
    assert [line.split("\t")[2] for line in everything] == ["retired", "active"]
    run("ingest", "mine")
    assert "b.txt" in run("documents", "list").out


@pytest.mark.parametrize("command", ["show", "history", "diff", "withdraw"])
def test_a_document_that_is_not_there(command: str) -> None:
    furnish()
    ran = run("documents", command, "nowhere.md")
    assert ran.code == 1
    assert "(UNKNOWN_DOCUMENT)" in ran.complaint


def test_a_library_that_is_not_there() -> None:
    furnish()
    complaint = run("documents", "list", "--library", "nowhere").complaint
    assert "(UNKNOWN_LIBRARY)" in complaint
    assert "`groundwire libraries create` makes one" in complaint
    assert "Nothing has been stored yet" in run("--data", "other", "documents", "list").complaint


def test_names_in_any_script_on_a_narrow_terminal() -> None:
    write("mine", {"報告書/二〇二四年度/売上高と営業利益の年次報告書.md": "# 売上高の年次報告書\n\n本文"})
    assert run("ingest", "mine").code == 0
    wide = run_on_terminal("documents", "list", columns=200, NO_COLOR="1").out.splitlines()
    assert wide[0].split() == ["document", "revision", "state", "chunks", "stored", "title"]
    assert "売上高と営業利益の年次報告書.md" in wide[1]
    usual = run_on_terminal("documents", "list", columns=80, NO_COLOR="1").out.splitlines()
    assert usual[0].split() == wide[0].split()
    assert display_width(usual[1]) <= 80
    narrow = run_on_terminal("documents", "list", columns=40, NO_COLOR="1").out
    assert "売上高" in narrow
    assert "\x1b[32m" in run_on_terminal("documents", "list", columns=200, NO_COLOR="").out


def test_why_a_passage_was_not_returned() -> None:
    revise()
    lines = run("why", "energy contract", "reports/2024.md", "--mode", "lexical").out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["yes", "stored"],
        ["yes", "active"],
        ["yes", "words"],
        ["yes", "rank"],
    ]
    assert "in it: energy, contract" in lines[2]
    assert " 1 of 1 candidates" in lines[3] or " 1 of 2 candidates" in lines[3]
    unmatched = run("why", "quarterly dividend", "reports/2024.md", "--mode", "lexical").out
    assert "no   words     none of the words of the query stands in it; not in it: quarterly, dividend" in unmatched
    assert "no passage of it matches" in unmatched
    auto = run("why", "energy", "reports/2024.md").out
    assert "no   vectors   0 of 1 chunks can be found by meaning" in auto


def test_why_a_document_that_is_out_is_not_returned() -> None:
    revise()
    gone = run("why", "pears", "c.txt")
    assert gone.code == 0
    assert "the library default has no document c.txt; there are for example b.txt, reports/2024.md" in gone.out
    run("documents", "withdraw", "b.txt")
    assert "`groundwire ingest` brings it back" in run("why", "pears", "b.txt").out
    frames = run("why", "pears", "b.txt", "--json").frames
    assert [(frame["step"], frame["holds"]) for frame in frames] == [("stored", True), ("active", False)]


def test_old_revisions_are_counted_asked_for_and_erased() -> None:
    revise()
    assert run("documents", "purge", "--keep-last", "1", "--dry-run").out == "to erase: 0 revisions\n"
    assert run("documents", "purge", "--keep-last", "0", "--dry-run").out == "to erase: 1 revision\n"
    assert len(run("documents", "history", "reports/2024.md").out.splitlines()) == 2
    (frame,) = run("documents", "purge", "reports/2024.md", "--keep-last", "0", "--dry-run", "--json").frames
    assert (frame["frame"], frame["revisions"]) == ("Purge", 1)
    assert run("documents", "purge", "--retired-before", "2000-01-01", "--yes").out == (
        "erased: 0 revisions\npurge of default succeeded\n"
    )
    nobody = run("documents", "purge", "--keep-last", "0")
    assert (nobody.code, "--yes erases without asking" in nobody.err) == (2, True)
    refused = run_on_terminal("documents", "purge", "--keep-last", "0", keys="n\r")
    assert "Erase 1 revision?" in refused.out
    assert "nothing was erased" in refused.out
    done = run_on_terminal("documents", "purge", "--keep-last", "0", keys="y\r")
    assert "purge of default succeeded" in done.out
    assert [line.split("\t")[0] for line in run("documents", "history", "reports/2024.md").out.splitlines()] == ["2"]
    gone = run("documents", "show", "reports/2024.md", "--revision", "1")
    assert (gone.code, "no revision 1" in gone.err) == (1, True)


def test_what_is_to_go_has_to_be_said() -> None:
    assert "--keep-last, --retired-before or both" in run("documents", "purge").err
    assert "'soon' is no day" in run("documents", "purge", "--retired-before", "soon").err
    assert run("documents", "purge", "--keep-last", "-1").code == 2
