"""Every line that the server writes into its log: its words are fixed, and what is put into them is in a list here.

A line with something new in it makes this fail. It may join the list where it can never hold a text, a name of a
document, a question, a figure, a token, or tell of a row that somebody may not read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import groundwire_server

SERVER = Path(groundwire_server.__file__).parent
LEVELS = {"critical", "debug", "error", "exception", "info", "log", "warning"}
# Types and reasons of errors, names of libraries and of parts of the server, counts of calls of a model.
ANYWHERE = {
    "error.reason.name",
    "library.library_id",
    "library_id",
    "self._library.library_id",
    "type(error).__name__",
}
# By file, what is only good there, and why.
ONLY = {
    # A reason or a type.
    "engine/relating.py": {"why"},
    "library/followed_folder.py": {"_why(error)"},
    # Of a folder whose library is gone: its id and a number.
    "engine/jobs.py": {"name"},
    # What a model was asked, of texts up to the label that the settings let it see; RESTRICTED is none of them.
    "ingest/relate.py": {"counts", "self._left_out"},
    # Names of transforms, extractors, graders and routers: of our own code, or of a package that is installed.
    "jobs/runner.py": {"order.task"},
    "narrative/corrective.py": {"grader.name"},
    "narrative/hints.py": {"extractor.name"},
    "narrative/library_router.py": {"each.name[:80]", "each.module"},
    "narrative/routing.py": {"self._name"},
    "narrative/transform.py": {"transform.name"},
    "router/model_choice.py": {"wish.component"},
    "router/sub_questions.py": {"name"},
    # Name of a code of SQLite.
    "store/sqlite/connection.py": {"getattr(error, 'sqlite_errorname', 'SQLITE_CORRUPT')"},
    # Settings, and what is wrong with a file that one of them names: its path, its mode, a place in it.
    "rpc/credentials.py": {"error.message"},
    "security/callers/watched_file.py": {"self._setting", "error.message"},
}
ONLY["engine/relating.py"] |= {
    "meter.prices.cost(used)",
    *(f"used.{name}" for name in ("calls", "failures", "prompt_tokens", "reply_tokens", "retries", "uncounted")),
}


@cache
def nodes(path: Path) -> list[ast.Call]:
    """All calls that a file makes."""
    return [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]


def lines(root: Path) -> Iterator[tuple[str, int, ast.Call]]:
    """File, line and call of each line of the standard logging."""
    for path in sorted(root.rglob("*.py")):
        for node in nodes(path):
            if not (isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS):
                continue
            if ast.unparse(node.func.value) in ("_log", "logging", "logger", "_logger", "log"):
                yield path.relative_to(root).as_posix(), node.lineno, node


def faults(root: Path) -> list[str]:
    """Lines that hold something that is in no list."""
    found = []
    for file, number, call in lines(root):
        first, *others = call.args
        if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
            found.append(f"{file}:{number}: its words are not fixed")
        if file.startswith("rpc/") and ast.unparse(call.func).startswith("log."):
            continue  # structlog's: its fields are tested by what is written (test_no_content)
        good = ANYWHERE | ONLY.get(file, set())
        found += [f"{file}:{number}: {ast.unparse(each)}" for each in others if ast.unparse(each) not in good]
        found += [f"{file}:{number}: {each.arg}" for each in call.keywords if each.arg != "exc_info"]
    return found


def test_what_stands_in_the_lines_of_the_log_is_known() -> None:
    assert len(list(lines(SERVER))) > 30
    assert faults(SERVER) == []


def test_the_list_has_nothing_that_is_not_there() -> None:
    used = {(file, ast.unparse(each)) for file, _, call in lines(SERVER) for each in call.args[1:]}
    assert {(file, each) for file, allowed in ONLY.items() for each in allowed} - used == set()


@pytest.mark.parametrize(
    "line",
    [
        '_log.info("asked: %s", query)',
        '_log.info(f"asked: {query}")',
        '_log.warning("x", extra={"text": text})',
        "_log.error(error)",
    ],
)
def test_a_line_with_content_is_seen(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(line)
    assert faults(tmp_path) != []


def test_nothing_is_printed_but_the_address() -> None:
    """Standard output and error are for the log and for what commands say."""
    written = {"print", "sys.stdout.write", "sys.stderr.write", "warnings.warn"}
    found = [
        path.relative_to(SERVER).as_posix()
        for path in sorted(SERVER.rglob("*.py"))
        if path.relative_to(SERVER).parts[0] != "cli"
        for node in nodes(path)
        if isinstance(node.func, ast.Name | ast.Attribute) and ast.unparse(node.func) in written
    ]
    assert found == ["rpc/lifecycle.py"]
