"""`groundwire libraries`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import furnish, run, run_alone, run_on_terminal


def settings_of(library: str) -> dict[str, str]:
    (shown,) = run("libraries", "show", library, "--json").frames
    return {each["name"]: each["value"] for each in shown["settings"]}


def test_a_list_of_libraries() -> None:
    assert run("libraries", "list").out == ""
    furnish()
    assert run("libraries", "list").out == "default\t1\t1\t2\t0\t-\t\t\n"
    (frame,) = run("libraries", "list", "--json").frames
    assert (frame["library_id"], frame["documents"], frame["facts"]) == ("default", 1, 2)


def test_a_library_is_made_with_its_settings() -> None:
    made = run("libraries", "create", "minutes", "--description", "Minutes of the board", "--chunk-chars", "900")
    assert made.out == "minutes is made\n"
    shown = run("libraries", "show", "minutes").out.splitlines()
    assert "description\tMinutes of the board" in shown
    assert "chunk_chars\t900" in shown
    again = run("libraries", "create", "minutes")
    assert again.code == 1
    assert "`groundwire libraries set minutes` changes it" in again.complaint
    assert run("libraries", "create", "later", "--dry-run").out == "later would be made\n"
    assert "later" not in run("libraries", "list").out


def test_settings_that_are_not_named_stay() -> None:
    run("libraries", "create", "minutes", "--description", "Minutes", "--set", "k1=1.2", "--overlap-chars", "40")
    changed = run("libraries", "set", "minutes", "--set", "ambiguous=report", "--attribute", "year=integer")
    assert (changed.code, changed.out) == (0, "minutes is changed\n")
    assert {"k1": "1.2", "ambiguous": "report"}.items() <= settings_of("minutes").items()
    shown = run("libraries", "show", "minutes").out.splitlines()
    assert {"description\tMinutes", "overlap_chars\t40", "year\tinteger"} <= set(shown)
    assert run("libraries", "set", "minutes", "--description", "").code == 0
    assert not any(line.startswith("description") for line in run("libraries", "show", "minutes").out.splitlines())


def test_how_it_is_retrieved_stays_too() -> None:
    run("libraries", "create", "minutes", "--set", "fusion=rrf", "--set", "glossary_variants=false")
    for change in ("k1=1.2", "fusion=rrf"):
        assert run("libraries", "set", "minutes", "--set", change).code == 0
        assert {"fusion\trrf", "glossary_variants\tfalse"} <= set(run("libraries", "show", "minutes").out.splitlines())
    assert run("libraries", "set", "minutes", "--set", "fusion=linear").code == 0
    assert "fusion\tlinear" in run("libraries", "show", "minutes").out


def test_another_budget_cuts_the_documents_anew() -> None:
    furnish()
    ran = run("libraries", "set", "default", "--chunk-chars", "60", "--overlap-chars", "0")
    assert ran.code == 0
    assert "reindex of default succeeded" in ran.out
    assert int(run("libraries", "list").out.split("\t")[2]) > 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("set", "nowhere", "--set", "k1=1.2"), "there is no library nowhere; there are: default"),
        (("set", "default", "--set", "nonsense=1"), "'nonsense' is no setting of a library; valid: "),
        (("set", "default", "--set", "k1=many"), "no number"),
        (("set", "default", "--chunker", "axe"), "'axe' is none of"),
        (("create", "No Such"), "is no library id"),
        (("show", "nowhere"), "there is no library nowhere"),
        (("delete", "nowhere", "--yes"), "(UNKNOWN_LIBRARY)"),
        (("reindex", "nowhere"), "(UNKNOWN_LIBRARY)"),
    ],
)
def test_what_does_not_hold(words: tuple[str, ...], why: str) -> None:
    furnish()
    ran = run("libraries", *words)
    assert ran.code == 1
    assert why in ran.complaint


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ((), "No setting is named that is to change."),
        (("--set", "k1"), "'k1' is not --set NAME=VALUE."),
        (("--attribute", "year"), "'year' is not --attribute NAME=TYPE."),
        (("--attribute", "year=number"), "'number' is none of string, integer, "),
    ],
)
def test_what_is_not_written_like_that(option: tuple[str, ...], why: str) -> None:
    furnish()
    ran = run("libraries", "set", "default", *option)
    assert ran.code == 2
    assert why in ran.complaint


def test_an_index_is_built_anew() -> None:
    furnish()
    ran = run("libraries", "reindex", "default", "--part", "lexical")
    assert ran.code == 0
    assert ran.out == "reindex of default succeeded\n"
    assert "1 snippets" in run("retrieve", "energy").out


def test_a_library_is_deleted_for_good() -> None:
    furnish()
    run("libraries", "create", "minutes")
    unasked = run_alone("libraries", "delete", "minutes")
    assert unasked.code == 2
    assert "--yes deletes without asking" in unasked.err
    assert run("libraries", "delete", "minutes", "--yes").out == "minutes is deleted\n"
    assert run("libraries", "list").out.startswith("default\t")
    assert not Path("groundwire-data/libraries/minutes").exists()


@pytest.mark.parametrize(("keys", "code"), [("default\n", 0), ("yes\n", 1), ("\n", 1)])
def test_a_person_is_asked_for_the_name(keys: str, code: int) -> None:
    furnish()
    shown = run_on_terminal("libraries", "delete", "default", keys=keys)
    assert shown.code == code
    assert "default holds 1 documents, 2 facts, 0 relations. They cannot be brought back." in shown.out
    assert ("nothing was deleted" in shown.out) == (code == 1)
    assert bool(run("libraries", "list").out) == (code == 1)
