"""`groundwire ingest --sync`: a folder and what it has put into a library, run after run."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from groundwire import Client, DocumentUpload
from groundwire_server.store.folder_record import FolderRecord
from tests.cli.commands import Ran, finish, run, run_alone, server, spawn, write

LONG_AGO = time.time() - 3600


def settle(folder: Path) -> None:
    """Files as they are when nobody has written them for a while, as far as a test can say that."""
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)


def active(**options: str) -> dict[str, int]:
    """Documents that answer now, with their revisions."""
    frames = run("documents", "list", "--json", *(word for pair in options.items() for word in pair)).frames
    return {frame["doc_id"]: frame["revision"] for frame in frames if frame.get("active")}


def summary(ran: Ran) -> dict[str, int]:
    """The counts of a run with --json."""
    return next(frame for frame in ran.frames if frame["frame"] == "FolderSummary")


def test_two_runs_change_nothing_and_say_so() -> None:
    folder = write("mine", {"a.md": "apples", "b/売上.md": "売上高", "c.jsonl": '{"doc_id": "c1", "text": "plums"}\n'})
    assert run("ingest", folder, "--sync").out == "3 stored, 0 unchanged, 0 refused\n"
    before = active()
    for _ in range(2):
        ran = run("ingest", folder, "--sync")
        assert (ran.code, ran.out, ran.err) == (0, "0 stored, 3 unchanged, 0 refused\n", "")
    assert active() == before == {"a.md": 1, "b/売上.md": 1, "c1": 1}


def test_only_what_changed_is_sent() -> None:
    folder = write("mine", {"a.md": "apples", "b.md": "pears"})
    run("ingest", folder)
    write(folder, {"b.md": "pears and plums", "c.md": "grapes"})
    ran = run("ingest", folder, "--json")
    sent = {frame["doc_id"] for frame in ran.frames if frame["frame"] == "DocumentOutcome" and frame.get("seq")}
    assert sent == {"b.md", "c.md"}
    counts = summary(ran)
    assert (counts["new"], counts["changed"], counts["unchanged"]) == (1, 1, 1)


def test_a_time_that_lies_hides_no_change() -> None:
    folder = write("mine", {"a.md": "apples"})
    settle(folder)
    run("ingest", folder)
    write(folder, {"a.md": "appels"})  # of the same size
    settle(folder)
    assert run("ingest", folder).out == "1 stored, 0 unchanged, 0 refused\n"


def test_a_touched_file_is_read_and_not_sent() -> None:
    folder = write("mine", {"a.md": "apples"})
    run("ingest", folder)
    settle(folder)
    ran = run("ingest", folder, "--json")
    assert [frame.get("seq", 0) for frame in ran.frames if frame["frame"] == "DocumentOutcome"] == [0]
    again = run("ingest", folder, "--json", "--verify")
    assert [frame["unchanged"] for frame in again.frames if frame["frame"] == "DocumentOutcome"] == [True]
    assert summary(again)["unchanged"] == 1


def test_what_vanished_is_withdrawn_with_sync_alone() -> None:
    folder = write("mine", {"a.md": "apples", "b.md": "pears", "c.md": "plums"})
    run("ingest", folder)
    (folder / "b.md").unlink()
    ran = run("ingest", folder)
    assert ran.out == "0 stored, 2 unchanged, 0 refused\n"
    assert "1 document is gone from mine; --sync withdraws that" in ran.err
    rehearsed = run("ingest", folder, "--sync", "--dry-run")
    assert rehearsed.out == "0 would be stored, 2 unchanged, 0 refused, 1 vanished\n"
    assert rehearsed.err == "1 document is gone from mine; without --dry-run that is withdrawn\n"
    assert len(active()) == 3
    ran = run("ingest", folder, "--sync")
    assert ran.out == "0 stored, 2 unchanged, 0 refused, 1 withdrawn\n"
    assert "gone from mine, to be withdrawn: b.md" in ran.err
    assert active() == {"a.md": 1, "c.md": 1}
    assert run("ingest", folder, "--sync").out == "0 stored, 2 unchanged, 0 refused\n"
    write(folder, {"b.md": "pears"})
    assert run("ingest", folder, "--sync").code == 0
    assert set(active()) == {"a.md", "b.md", "c.md"}


def test_lines_that_vanish_from_a_file_are_documents_that_vanish() -> None:
    rows = [f'{{"doc_id": "r{number}", "text": "row {number}"}}\n' for number in range(4)]
    folder = write("mine", {"rows.jsonl": "".join(rows)})
    run("ingest", folder, "--sync")
    write(folder, {"rows.jsonl": "".join(rows[1:])})
    assert run("ingest", folder, "--sync").out == "0 stored, 3 unchanged, 0 refused, 1 withdrawn\n"
    assert set(active()) == {"r1", "r2", "r3"}


def test_an_empty_folder_takes_no_library_along() -> None:
    folder = write("mine", {f"{name}.md": name for name in "abcd"})
    run("ingest", folder, "--sync")
    for name in "abc":
        (folder / f"{name}.md").unlink()
    ran = run("ingest", folder, "--sync")
    assert ran.code == 1
    assert ran.complaint.startswith("3 of 4 documents of mine are gone from it")
    assert len(active()) == 4
    assert run("ingest", folder, "--sync", "--yes").out == "0 stored, 1 unchanged, 0 refused, 3 withdrawn\n"
    assert set(active()) == {"d.md"}


def test_a_folder_that_is_back_is_as_it_was() -> None:
    folder = write("mine", {"a.md": "apples", "b.md": "pears"})
    run("ingest", folder, "--sync")
    folder.rename("elsewhere")
    folder.mkdir()
    assert run("ingest", folder, "--sync").code == 1
    folder.rmdir()
    Path("elsewhere").rename(folder)
    ran = run("ingest", folder, "--sync")
    assert (ran.code, ran.out, ran.err) == (0, "0 stored, 2 unchanged, 0 refused\n", "")


def test_what_others_put_in_stays() -> None:
    one = write("one", {"a.md": "apples", "b.md": "pears", "c.md": "plums", "d.md": "dates"})
    two = write("two", {"b.md": "pears of another folder", "z.md": "figs"})
    with server() as address, Client(address) as client:
        client.ingest_documents(
            [DocumentUpload("c.md", b"plums"), DocumentUpload("api.md", b"from a program")]
        ).collect()
        run("ingest", one, "--sync")
        run("ingest", two, "--sync")
        for name in ("b.md", "c.md"):  # changed by the other folder; put in by the program with the same content
            (one / name).unlink()
        ran = run("ingest", one, "--sync")
        assert ran.out == "0 stored, 2 unchanged, 0 refused\n"
        assert "b.md is gone from one and stays: others" in ran.err
        assert set(active()) == {"a.md", "api.md", "b.md", "c.md", "d.md", "z.md"}
        assert run("ingest", two, "--sync").out == "0 stored, 2 unchanged, 0 refused\n"


def test_an_excluded_file_has_not_vanished() -> None:
    folder = write("mine", {"a.md": "apples", "drafts/b.md": "pears"})
    run("ingest", folder, "--sync")
    ran = run("ingest", folder, "--sync", "--exclude", "drafts")
    assert ran.out == "0 stored, 1 unchanged, 0 refused\n"
    assert run("ingest", folder, "--sync", "--include", "a*").out == "0 stored, 1 unchanged, 0 refused\n"
    assert set(active()) == {"a.md", "drafts/b.md"}


def test_a_lost_record_withdraws_nothing_and_sends_all_once_more() -> None:
    folder = write("mine", {"a.md": "apples", "b.md": "pears", "c.md": "plums"})
    run("ingest", folder, "--sync")
    (record,) = Path("groundwire-data/folders").glob("*.sqlite")
    for path in Path("groundwire-data/folders").glob("*.sqlite-*"):
        path.unlink()
    record.write_bytes(b"no database at all, whatever its name says" * 100)
    (folder / "b.md").unlink()
    ran = run("ingest", folder, "--sync")
    assert ran.out == "0 stored, 2 unchanged, 0 refused\n"
    assert "the record of mine was damaged and begins anew" in ran.err
    assert set(active()) == {"a.md", "b.md", "c.md"}


def test_a_file_that_cannot_be_read_any_more_is_refused_and_stands() -> None:
    folder = write("mine", {"a.md": "apples", "b.md": "pears"})
    run("ingest", folder, "--sync")
    write(folder, {"a.md": b"\x00\x01"})
    ran = run("ingest", folder, "--sync")
    assert (ran.code, ran.out) == (3, "0 stored, 1 unchanged, 1 refused\n")
    assert active() == {"a.md": 1, "b.md": 1}
    assert run("ingest", folder, "--sync").code == 3  # said again, each time
    write(folder, {"a.md": "apples"})
    assert run("ingest", folder, "--sync").out == "0 stored, 2 unchanged, 0 refused\n"


def test_attributes_and_labels_out_of_paths() -> None:
    folder = write(
        "mine",
        {
            "reports/2024/acme/annual.md": "apples",
            "reports/2023/acme/annual.md": "+++\nyear = 1999\n+++\n\napples",
            "reports/2022/acme/annual.md": "apples",
            "reports/2022/acme/annual.md.meta.toml": "year = 1998\n",
            "secret/plan.md": "apples in secret",
            "reports/soon/acme/annual.md": "apples",
        },
    )
    words = ("--attributes-from", "reports/{year:int}/{company}/*", "--label-for", "secret/**=confidential")
    assert run("ingest", folder, *words).code == 0
    found = [each for frame in run("retrieve", "apples", "--json").frames for each in frame.get("snippets", ())]
    years = {
        each["lineage"]["doc_id"]: {named["name"]: named["value"] for named in each["lineage"].get("attributes", ())}
        for each in found
    }
    assert years["reports/2024/acme/annual.md"] == {"company": "acme", "year": 2024}
    assert years["reports/2022/acme/annual.md"]["year"] == 1998
    assert years["reports/soon/acme/annual.md"] == {}
    assert "secret/plan.md" not in years
    assert run("ingest", folder, *words).out == "0 stored, 5 unchanged, 0 refused\n"


def test_a_charset_that_nobody_can_tell_is_said_by_pattern() -> None:
    folder = write("mine", {"a.md": "Äpfel"})
    (folder / "old").mkdir()
    (folder / "old" / "b.txt").write_bytes("Größere Stücke müssen angemeldet werden.".encode("cp1252"))
    ran = run("ingest", folder)
    assert ran.code == 3
    assert "--charset-for old/b.txt=CHARSET" in ran.err
    words = ("--charset-for", "old/*=windows-1252")
    assert run("ingest", folder, *words).out == "1 stored, 1 unchanged, 0 refused\n"
    assert run("ingest", folder, *words).out == "0 stored, 2 unchanged, 0 refused\n"
    assert "Größere Stücke" in run("retrieve", "angemeldet").out


def test_a_label_is_not_lowered_in_silence() -> None:
    folder = write("mine", {"plan.md": "apples", "plan.md.meta.toml": 'label = "confidential"\n'})
    assert run("ingest", folder).out == "1 stored, 0 unchanged, 0 refused\n"
    assert run("ingest", folder).out == "0 stored, 1 unchanged, 0 refused\n"  # though the caller may not read it
    (folder / "plan.md.meta.toml").unlink()
    for _ in range(2):
        ran = run("ingest", folder)
        assert ran.code == 3
        assert "It was stored as CONFIDENTIAL and would become the library's default" in ran.err
    assert "0 snippets" in run("retrieve", "apples").out
    assert run("ingest", folder, "--lower-labels").code == 0
    assert "1 snippet" in run("retrieve", "apples").out


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--attributes-from", "reports/*"), 1, "'reports/*' has no place like {year:int}"),
        (("--attributes-from", "{year:number}/*"), 1, "has {year:number}; types are text, int, decimal, date, period"),
        (("--attributes-from", "{title}/{title}"), 1, "{title}"),
        (("--label-for", "secret/**=CONFIDENTAL"), 1, "is no PATTERN=LABEL of PUBLIC, INTERNAL, CONFIDENTIAL"),
        (("--label-for", "=PUBLIC"), 1, "'' is empty"),
        (("--charset-for", "windows-1252"), 1, "'windows-1252' is no PATTERN=CHARSET"),
        (("--charset-for", "=windows-1252"), 1, "'' is empty"),
        (("--refuse-warning", "NOISE"), 2, "'NOISE' is not one of 'metadata_skipped'"),
        (("--watch", "--dry-run"), 2, "do not go together"),
    ],
)
def test_options_that_do_not_hold(words: tuple[str, ...], code: int, why: str) -> None:
    folder = write("mine", {"a.md": "apples"})
    ran = run("ingest", folder, *words)
    assert ran.code == code
    assert why in ran.err
    assert "1 stored" not in ran.out


def test_a_file_is_no_folder_to_sync() -> None:
    write("mine", {"a.md": "apples"})
    ran = run("ingest", "mine/a.md", "--sync")
    assert (ran.code, ran.complaint) == (2, "--sync and --watch are for folders. `groundwire ingest --help` shows how.")


def test_a_warning_can_refuse() -> None:
    folder = write("mine", {"a.md": '+++\ndoc_id = "x"\n+++\n\napples', "b.md": "pears"})
    ran = run("ingest", folder, "--refuse-warning", "metadata_skipped")
    assert (ran.code, ran.out) == (3, "1 stored, 0 unchanged, 1 refused\n")
    assert "METADATA_SKIPPED is refused here" in ran.err


def test_two_commands_on_one_folder() -> None:
    folder = write("mine", {"a.md": "apples"})
    run("ingest", folder)
    (record,) = Path("groundwire-data/folders").glob("*.sqlite")
    with FolderRecord(record):
        ran = run("ingest", folder)
    assert (ran.code, ran.complaint) == (1, "another `groundwire ingest` is at work on mine")


def test_a_dry_run_leaves_no_trace() -> None:
    folder = write("mine", {"a.md": "apples"})
    run("ingest", folder, "--dry-run")
    assert not Path("groundwire-data/folders").exists()
    run("ingest", folder)
    write(folder, {"a.md": "pears", "b.md": "plums"})
    for _ in range(2):
        ran = run("ingest", folder, "--dry-run", "--json")
        counts = summary(ran)
        assert (counts["new"], counts["changed"], counts["unchanged"], counts["dry_run"]) == (1, 1, 0, True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("lines", [1, 40])
def test_cut_off_anywhere_and_run_again(number: int, lines: int) -> None:
    """The first command ends in the middle of its work; the second one brings all of it to its end."""
    folder = write("mine", {f"{place:03}.md": f"apples and pears {place}\n\n" * 20 for place in range(120)})
    process = spawn("ingest", folder, "--sync", "--verbose", GROUNDWIRE_EMBEDDING_BACKEND="none")
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    process.send_signal(number)
    process.communicate()
    (folder / "000.md").unlink()  # stored by the first command, whether that could note it or not
    ran = run_alone("ingest", folder, "--sync", "--yes")
    assert ran.code == 0, ran
    assert active() == {f"{place:03}.md": 1 for place in range(1, 120)}
    assert run("ingest", folder, "--sync").out == "0 stored, 119 unchanged, 0 refused\n"


def test_changes_are_followed_until_ctrl_c() -> None:
    folder = write("mine", {"a.md": "apples", "b.md": "pears", "c.md": "plums"})
    process = spawn("ingest", folder, "--watch", "--verbose")
    assert process.stdout is not None
    assert process.stderr is not None

    def until(line: str) -> None:
        assert process.stdout is not None
        while (read := process.stdout.readline()) and not read.startswith(line):
            pass
        assert read, process.communicate()

    until("3 stored")
    while "watching" not in process.stderr.readline():
        pass
    beside = folder / "a.md.tmp"  # as editors save: written beside, then renamed
    beside.write_text("apples and grapes", encoding="utf-8")
    beside.replace(folder / "a.md")
    until("a.md revision 2")
    (folder / "b.md").unlink()
    until("b.md withdrawn")
    write(folder, {"new/d.md": "dates"})
    until("new/d.md revision 1")
    process.send_signal(signal.SIGINT)
    ran = finish(process)
    assert ran.code == 0
    assert ran.err.endswith("no longer watching; what was acknowledged is stored\n")
    assert active() == {"a.md": 2, "c.md": 1, "new/d.md": 1}
