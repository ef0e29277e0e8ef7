"""Make a virtual environment of this folder what its lock file says, or do nothing when it is that already.

Usage: make_venv.py runtime | dev | proto | lock     (the Makefile calls it; any Python from 3.11 on will do)

runtime and dev share .venv: dev holds all of runtime. What was installed is remembered in the environment itself, so a
second run costs no time and no network, and one that was broken off is taken up again.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  whoever is asked to run this may be older
    sys.exit("Groundwire needs Python 3.11 or later; on Debian: apt install python3.11 python3.11-venv")

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"runtime": ".venv", "dev": ".venv", "proto": ".venv-proto", "lock": ".venv-lock"}
CONTAINED_IN = {"runtime": ("runtime", "dev")}
PROJECTS = (".", "clients/python")


def fingerprint(kind: str) -> str:
    """Changes with the lock file, the packages of this folder, the place of the folder and the Python."""
    parts = [str(ROOT).encode("utf-8", "surrogateescape"), b"%d.%d" % sys.version_info[:2]]
    parts.append((ROOT / "requirements" / f"{kind}.txt").read_bytes())
    if kind in ("runtime", "dev"):
        parts += [(ROOT / project / "pyproject.toml").read_bytes() for project in PROJECTS]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def python_of(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_current(kind: str, folder: Path) -> bool:
    """Whether the environment has been made from what is there now."""
    for each in CONTAINED_IN.get(kind, (kind,)):
        stamp = folder / f"groundwire-{each}.stamp"
        if stamp.is_file() and stamp.read_text() == fingerprint(each) and python_of(folder).exists():
            return True
    return False


def works(folder: Path) -> bool:
    """Whether the environment has a Python that runs and is the one that this is."""
    try:
        version = subprocess.run(
            [python_of(folder), "-c", "import pip, sys; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return False
    return version == [str(number) for number in sys.version_info[:2]]


def make(kind: str, folder: Path) -> None:
    """Make the environment, or bring it up to date."""
    if not works(folder):
        say(f"making {folder.name} with Python {sys.version.split()[0]}")
        shutil.rmtree(folder, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(folder)], "on Debian: apt install python3.11-venv")
    say(f"installing requirements/{kind}.txt into {folder.name}; the first time this downloads packages")
    pip = [str(python_of(folder)), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    run(
        [*pip, "--require-hashes", "--prefer-binary", "-r", f"requirements/{kind}.txt"],
        "is there a network? what was downloaded is kept, just run it again",
    )
    if kind in ("runtime", "dev"):
        say("installing groundwire and groundwire-server from this folder")
        editable = [part for project in PROJECTS for part in ("-e", f"./{project}")]
        run([*pip, "--quiet", "--no-index", "--no-deps", "--no-build-isolation", *editable], "")
        relate(folder)
    (folder / f"groundwire-{kind}.stamp").write_text(fingerprint(kind))
    say(f"{folder.name} is ready")


def relate(folder: Path) -> None:
    """Make the paths to the two packages relative.

    Python reads these files in the encoding of the locale: an absolute path with other than ASCII in it would keep the
    interpreter from starting under LC_ALL=C.
    """
    for file in folder.glob("**/site-packages/__editable__.groundwire*.pth"):
        lines = file.read_text("utf-8").splitlines()
        related = [os.path.relpath(line, file.parent) if os.path.isabs(line) else line for line in lines]
        file.write_text("".join(f"{line}\n" for line in related), "utf-8")


def run(command: list[str], hint: str) -> None:
    """Run a step; say what to do when it fails."""
    # Under LC_ALL=C the build could not write the path of a folder whose name is not ASCII.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"setup failed at: {' '.join(command[1:5])} ... ({hint})" if hint else f"setup failed: {command}")


def say(text: str) -> None:
    """Tell at once, also into a pipe."""
    print(f"[setup] {text}", flush=True)


def main() -> None:
    """Read the kind and see to it."""
    if len(sys.argv) != 2 or sys.argv[1] not in FOLDERS:
        sys.exit(__doc__)
    kind = sys.argv[1]
    folder = ROOT / FOLDERS[kind]
    if not is_current(kind, folder):
        make(kind, folder)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
