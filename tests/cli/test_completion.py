"""`groundwire completion`, and what the shells are answered."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.cli.commands import run, run_alone


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str) -> None:
    ran = run("completion", shell)
    assert ran.code == 0
    assert f"_GROUNDWIRE_COMPLETE={shell}_complete" in ran.out
    if shutil.which(shell) is None:
        return
    checked = subprocess.run([shell, "-n"], input=ran.out, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("groundwire do", {"doctor", "documents"}),
        ("groundwire documents di", {"diff"}),
        ("groundwire retrieve --mo", {"--mode"}),
        ("groundwire retrieve x --mode lex", {"lexical"}),
    ],
)
def test_what_bash_is_answered(line: str, answers: set[str]) -> None:
    ran = run_alone(_GROUNDWIRE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(line.split()) - 1))
    assert ran.code == 0
    assert {answer.partition(",")[2] for answer in ran.out.splitlines()} == answers
