"""`examples/demo.py` from end to end, as a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.real_model import real_model

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
# No terminal, no locale, no network that a package could come from, no settings of the machine.
PLAIN = {"LANG": "C", "LC_ALL": "C", "TERM": "dumb", "PIP_INDEX_URL": "http://127.0.0.1:1", "PIP_RETRIES": "0"}


@pytest.fixture(scope="module")
def away(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a blank and other scripts in its name."""
    path = tmp_path_factory.mktemp("a b") / "デモ é"
    path.mkdir()
    return path


@pytest.fixture(scope="module")
def prepared(away: Path) -> Path:
    """A demo folder whose model is there already."""
    model = real_model().folder
    (away / ".demo" / "models").mkdir(parents=True)
    (away / ".demo" / "models" / model.name).symlink_to(model)
    return away / ".demo"


def start(folder: Path, *words: str, examples: Path = EXAMPLES) -> subprocess.Popen[str]:
    """Start the demo from another folder, as the leader of a group of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWIRE_", "RAGSPINE_"))}
    return subprocess.Popen(
        # Whoever runs tests in the background has Ctrl-C ignored, and so would the demo.
        ["env", "--default-signal=INT", sys.executable, str(examples / "demo.py"), "--folder", str(folder), *words],
        cwd=folder.parent,
        env=kept | PLAIN | {"XDG_CACHE_HOME": str(folder.parent / "no-cache")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code and all output; no process of its group may be left."""
    try:
        out, err = process.communicate(timeout=110)
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert "Traceback" not in err, err
    return process.returncode, out, err


@pytest.fixture
def lexical_folder(tmp_path: Path) -> Path:
    return tmp_path / "demo"


@pytest.mark.model
def test_the_demo_with_the_model_twice(prepared: Path) -> None:
    code, out, err = finish(start(prepared))
    assert code == 0, out + err
    assert "NOT as it should be" not in out
    assert re.search(r"^7 of 7 as they should be", out, re.MULTILINE)
    assert f"sha256 {real_model().version}" in out
    assert f"plan: multilingual-e5-small@{real_model().version}, coverage 1.0" in out
    assert "1402617695 persons" in out
    code, out, err = finish(start(prepared))
    assert code == 0, out + err
    assert re.search(r"Ingested: 0 documents \(\d+ unchanged\), 0 figures and relations \(\d+ unchanged\)", out)


def test_the_demo_without_a_model(lexical_folder: Path) -> None:
    code, out, err = finish(start(lexical_folder, "--lexical"))
    assert code == 0, out + err
    assert re.search(r"^6 of 6 as they should be", out, re.MULTILINE)
    assert "lexical search only" in out
    assert len(re.findall("✓ as it should be", out)) == 6


def test_a_model_that_cannot_be_fetched_is_no_silent_downgrade(lexical_folder: Path) -> None:
    code, out, err = finish(start(lexical_folder))
    assert code == 1, out + err
    assert "The model could not be prepared: " in out
    assert "Try again with `make demo`" in out
    assert "`make demo LEXICAL=1`" in out
    assert "A server answers" not in out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_demo_that_is_broken_off_leaves_no_process(lexical_folder: Path, number: signal.Signals, code: int) -> None:
    process = start(lexical_folder, "--lexical")
    assert process.stdout is not None
    while "A server answers" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(number)
    ended, out, _ = finish(process)
    assert ended == code
    assert "of 6 as they should be" not in out


def changed_examples(folder: Path, changes: list[tuple[str, str, str]]) -> Path:
    """A copy of the examples in which some texts are others."""
    examples = folder / "examples"
    shutil.copytree(EXAMPLES, examples, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in changes:
        path = examples / "countries" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    return examples


def test_whatever_is_not_as_it_should_be_fails_the_demo(lexical_folder: Path, tmp_path: Path) -> None:
    """A figure in its last digit, a name, a relation: each is noticed, and what was left alone is not."""
    changes = [
        ("facts/facts.jsonl", '"1402617695"', '"1402617696"'),
        ("facts/facts.jsonl", '"1119099871350.1992"', '"1119099871350.1993"'),
        ("glossary.toml", '"Indonesia"', '"Indonesien"'),
        ("relations/regions.jsonl", '"Southern Asia"', '"Northern Asia"'),
    ]
    process = start(lexical_folder, "--lexical", examples=changed_examples(tmp_path, changes))
    code, out, err = finish(process)
    assert code == 1, out + err
    verdicts = re.findall(r"^   (✓|✗ NOT) as it should be$", out, re.MULTILINE)
    assert verdicts == ["✗ NOT", "✓", "✗ NOT", "✓", "✗ NOT", "✗ NOT"]
    assert re.search(r"^2 of 6 as they should be", out, re.MULTILINE)


def test_a_row_that_is_refused_fails_the_demo(lexical_folder: Path, tmp_path: Path) -> None:
    broken = [("facts/facts.jsonl", '"value": "1402617695"', '"value": "about 1.4 billion"')]
    code, out, _ = finish(start(lexical_folder, "--lexical", examples=changed_examples(tmp_path, broken)))
    assert code == 1
    assert "0 documents and 1 rows were refused: NOT as it should be" in out
