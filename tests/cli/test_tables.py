"""Tables on terminals of any width, and in pipes."""

from __future__ import annotations

import pytest

from groundwire_server.cli import tables
from groundwire_server.cli.tables import Column, show_pairs, show_table
from groundwire_server.cli.terminal import display_width

COLUMNS = [
    Column("document", shrinks=True),
    Column("chunks", right=True),
    Column("title", shrinks=True),
]
ROWS = [("報告書/2024.md", 12, "売上高の年次報告書"), ("a.md", 3, "tab\there\x1b[2J")]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(tables, "on_terminal", lambda: True)
    monkeypatch.setattr(tables, "screen_columns", lambda: 100)
    return monkeypatch


def test_a_pipe_gets_whole_rows_with_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_table(COLUMNS, ROWS) == 2
    assert capsys.readouterr().out.splitlines() == [
        "報告書/2024.md\t12\t売上高の年次報告書",
        "a.md\t3\ttab\\there\\x1b[2J",
    ]
    show_pairs([("title", "売上"), ("nothing", ""), ("zero", 0)])
    assert capsys.readouterr().out == "title\t売上\nzero\t0\n"


def test_columns_stand_below_each_other(terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    show_table(COLUMNS, ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "document        chunks  title"
    assert lines[1] == "報告書/2024.md      12  売上高の年次報告書"
    places = {
        display_width(line[: line.index(word)]) for line, word in zip(lines, ("title", "売上高", "tab"), strict=True)
    }
    assert places == {24}


@pytest.mark.parametrize("columns", range(20, 60))
def test_no_line_is_wider_than_the_terminal(
    columns: int, terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.setattr(tables, "screen_columns", lambda: columns)
    show_table([*COLUMNS, Column("unit")], [(*row, "USD") for row in ROWS])
    out = capsys.readouterr().out
    if "document  報告書/2024.md\n" not in out:  # else there is no room for a table, and each cell has its line
        assert all(display_width(line) <= columns for line in out.splitlines())
    assert "12" in out
    assert "USD" in out


def test_rows_come_while_more_are_made(terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []

    def rows() -> object:
        for number in range(1200):
            yield (f"{number}.md", number, "")
            if number == 600:
                seen.append(capsys.readouterr().out.count("\n"))

    assert show_table(COLUMNS, rows()) == 1200  # type: ignore[arg-type]
    assert seen == [501]


def test_an_empty_table_prints_nothing(terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_table(COLUMNS, []) == 0
    show_pairs([])
    assert capsys.readouterr().out == ""


def test_a_column_without_anything_takes_no_room(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show_table([Column("a"), Column("b"), Column("c")], [("1", "", "x"), ("2", None, "")])
    assert capsys.readouterr().out.splitlines() == ["a  c", "1  x", "2"]
    show_table([Column("a"), Column("b")], [("", "")])
    assert capsys.readouterr().out.splitlines() == ["a", ""]
