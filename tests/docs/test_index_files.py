"""docs/index-files.md: the files that it names are those that there are, each may go, and its command mends them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from groundwire_server.library import DataFolder
from groundwire_server.store.conformance import make_document, make_edge

PAGE = Path(__file__).resolve().parents[2] / "docs" / "index-files.md"


def places() -> list[str]:
    """What the table of the page names, below the library's folder."""
    return re.findall(r"^\| `(index/[^`]+)`", PAGE.read_text("utf-8"), re.MULTILINE)


def files(folder: Path) -> Iterator[Path]:
    return (path for path in (folder / "index").rglob("*") if path.is_file())


def test_the_files_of_the_page_are_there_and_its_command_mends_them(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with DataFolder(data) as folder:
        library = folder.create("default")
        with library.writing() as writer:
            for number in range(600):
                writer.replace_document(make_document(f"d{number}", f"revenue {number}"))
            writer.put_edges([make_edge(str(number), "top") for number in range(600)])
        where = library.folder
    named = places()
    assert len(named) == 5
    patterns = [name for name in named if not name.endswith("unchecked")]
    assert all(list(where.glob(pattern)) for pattern in patterns)
    assert {path for pattern in patterns for path in where.glob(pattern)} == set(files(where))
    (segment,) = where.glob("index/lexical/segment-*")
    sound = segment.read_bytes()
    segment.write_bytes(sound[:-9] + bytes(9))

    (command,) = re.findall(r"^```sh\n(.*)\n```$", PAGE.read_text("utf-8"), re.MULTILINE)
    program, *words = command.split()
    assert program == "groundwire"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWIRE_", "RAGSPINE_"))}
    done = subprocess.run(
        [sys.executable, "-m", "groundwire_server.cli", *words, "--data", str(data)],
        env=kept | {"GROUNDWIRE_EMBEDDING_BACKEND": "none"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (mended,) = where.glob("index/lexical/segment-*")
    assert mended.read_bytes() == sound

    shutil.rmtree(where / "index")
    with DataFolder(data) as folder:
        assert folder.library("default").snapshot().rows == 600
