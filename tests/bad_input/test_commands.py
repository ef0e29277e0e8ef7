"""Commands on files and folders that are not as they should be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bad_input.conftest import Tell, run_with_few_rights
from tests.bad_input.table import of_command
from tests.cli.commands import FIGURES, GLOSSARY, Ran, run_alone, write

Run = Callable[..., Ran]
GOOD_ROWS = FIGURES.replace("USD_M", "USD")


@pytest.mark.parametrize(
    "words",
    [
        ("retrieve", ""),
        ("retrieve", "fox", "--top-k", "0"),
        ("retrieve", "fox", "--top-k", "201"),
        ("retrieve", "fox", "--top-k", "many"),
        ("retrieve", "fox", "--in", "finanse"),
        ("retrieve", "fox", "--mode", "magic"),
        ("retrieve", "fox", "--mode", "hybrid"),
        ("retrieve", "fox", "--filter", "colour"),
        ("retrieve", "fox", "--filter", "colour=red"),
        ("retreive", "fox"),
        ("documents", "show", "nowhere.md"),
        ("documents", "purge"),
        ("documents", "purge", "--keep-last", "3"),
        ("jobs", "show", "j-1"),
        ("ingest", "nowhere"),
    ],
    ids=[
        "empty_query",
        "top_k_zero",
        "top_k_201",
        "top_k_no_number",
        "library",
        "mode",
        "hybrid_without_embedder",
        "filter_no_test",
        "filter_unknown_field",
        "no_such_command",
        "document",
        "purge_of_what",
        "purge_unasked",
        "job",
        "path",
    ],
)
def test_a_command_that_asks_wrongly(at: Run, told: Tell, words: tuple[str, ...]) -> None:
    told(of_command(at(*words)))


def test_no_server_at_the_address(alone: Path, told: Tell) -> None:
    told(of_command(run_alone("--address", "127.0.0.1:9", "retrieve", "fox")))


def test_an_empty_folder(at: Run, alone: Path, told: Tell) -> None:
    (alone / "mine").mkdir()
    ran = at("ingest", "mine")
    assert ran.out == "0 stored, 0 unchanged, 0 refused\n"
    told(of_command(ran))


def _link_to_nowhere(folder: Path) -> None:
    (folder / "bad.md").symlink_to("nowhere.md")


def _loop_of_links(folder: Path) -> None:
    (folder / "bad.md").symlink_to("worse.md")
    (folder / "worse.md").symlink_to("bad.md")


def _folder_in_itself(folder: Path) -> None:
    (folder / "bad").symlink_to(folder)


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "bad.md")


def _no_text(folder: Path) -> None:
    (folder / "bad.md").write_bytes(bytes(range(256)))


def _unsupported(folder: Path) -> None:
    for number in range(3):
        (folder / f"bad{number}.mp4").write_bytes(b"x")


def _sidecar(folder: Path) -> None:
    write(folder, {"bad.md": "A text.", "bad.md.meta.toml": "label = "})


def _name_no_utf8(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.md")).write_text("A text.", encoding="utf-8")


@pytest.mark.parametrize(
    "spoil",
    [_link_to_nowhere, _loop_of_links, _folder_in_itself, _pipe, _no_text, _unsupported, _sidecar, _name_no_utf8],
    ids=lambda spoil: spoil.__name__.lstrip("_"),
)
def test_a_folder_with_something_bad(at: Run, alone: Path, told: Tell, spoil: Callable[[Path], None]) -> None:
    name = f"good-{spoil.__name__}.md"
    folder = write(alone / "mine", {name: f"A good text beside it: {spoil.__name__}."})
    spoil(folder)
    ran = at("ingest", "mine", "--verbose")
    assert ran.out.startswith(f"{name} revision 1, 1 chunks\n1 stored, 0 unchanged, ")
    told(of_command(ran))


def test_a_file_that_may_not_be_read(alone: Path, told: Tell) -> None:
    folder = write(alone / "mine", {"bad.md": "A secret.", "good.md": "A good text."})
    (folder / "bad.md").chmod(0)
    ran = run_with_few_rights("--data", "data", "ingest", "mine", "--verbose")
    assert ran.out.startswith("good.md revision 1")
    told(of_command(ran))


# ---- figures and names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.csv", GOOD_ROWS + "REVENUE,ACME,FY2022,,USD,reports/2022.md,line=3\n"),
        ("f.csv", GOOD_ROWS + "REVENUE,ACME,FY2022,n.a.,USD,reports/2022.md,line=3\n"),
        ("f.csv", GOOD_ROWS + "REVENUE,ACME,soon,5,USD,reports/2022.md,line=3\n"),
        ("f.csv", "metric,entity\nREVENUE,ACME\n"),
        ("f.doc", "x"),
    ],
    ids=["no_value", "value_no_number", "period", "columns_missing", "suffix"],
)
def test_a_file_of_figures_to_load(at: Run, alone: Path, told: Tell, name: str, text: str) -> None:
    write(alone, {name: text})
    told(of_command(at("facts", "load", name)))


@pytest.mark.parametrize(
    "text",
    [
        GLOSSARY.replace('ja = ["売上高"]', 'ja = ["sales"]').replace('["Acme"]', '["Acme", "アクメ"]')
        + '\n[[metric]]\ncode = "TURNOVER"\nsynonyms = { en = ["sales"] }\n',
        "[[metric]]\ncode = \n",
        '[[metrics]]\ncode = "X"\n',
        b"\xff\xfe\xff",
    ],
    ids=["shared_synonym", "no_toml", "unknown_table", "no_utf8"],
)
def test_a_glossary_to_load(at: Run, alone: Path, told: Tell, text: str | bytes) -> None:
    write(alone, {"g.toml": text})
    told(of_command(at("glossary", "load", "g.toml")))


@pytest.mark.parametrize(
    "text",
    [
        "metric:\n  - code: A\n    unit: [\n",
        "metric:\n  - &a {code: A}\n  - *a\n",
        "metric:\n  - code: A\n    code: B\n",
        "metric:\n  - code: A\n    additivity: maybe\n  - label: B\n",
        "metric:\n  - code: A\n    derivation: (B\n",
    ],
    ids=["no_yaml", "anchor", "twice", "several", "no_formula"],
)
def test_a_glossary_in_yaml(at: Run, alone: Path, told: Tell, text: str) -> None:
    write(alone, {"g.yaml": text})
    told(of_command(at("glossary", "load", "g.yaml")))


# ---- settings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "server = ",
        "[server]\nprot = 1\n",
        '[retrieval]\nlibrary_router = "orakel"\n',
        '[server]\nport = "high"\n',
        "[server]\nport = 70000\n",
        '[llm]\nprovider = "openai"\n',
        '[llm]\nprovider = "openai"\nbase_url = "http://me:secret@127.0.0.1/v1"\nmodel = "small"\n',
        '[tls]\ncert = "server.pem"\n[access]\ncertificate_file = "c.toml"\n',
        '[access]\ntoken_file = "nowhere.toml"\n',
        '[access]\ntoken_file = "groundwire.toml"\n',
    ],
    ids=[
        "no_toml",
        "unknown_name",
        "unknown_router",
        "wrong_type",
        "out_of_range",
        "half_a_model",
        "key_in_url",
        "half_of_tls",
        "no_token_file",
        "open_token_file",
    ],
)
def test_settings_that_do_not_hold(alone: Path, told: Tell, text: str) -> None:
    write(alone, {"groundwire.toml": text})
    (alone / "groundwire.toml").chmod(0o644)
    told(of_command(run_alone("retrieve", "fox")))
