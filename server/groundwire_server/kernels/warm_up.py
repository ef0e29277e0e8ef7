"""Whether the compiled searches are there yet.

Loading numba takes longer than a first answer may, and compiling takes seconds. So nothing here is loaded until
`warm_up_after_searches` was called and a search has been answered; then a thread loads the modules of `MODULES`, after
a process of its own has compiled them where the cache has none. Until then, and wherever numba is missing, numpy
answers, with the same bits. A module compiles all that it offers when it is imported; one that fails leaves the others.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib
import importlib.metadata
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ["MODULES", "State", "compiled", "load_now", "searched", "state", "warm_up_after_searches"]

_log = logging.getLogger(__name__)
_PACKAGE = Path(__file__).parent.parent
# What the rooms that know this one compile, by name; and the files that decide what that is.
MODULES = (
    "groundwire_server.dense.compiled",
    "groundwire_server.lexical.kernels",
    "groundwire_server.lexical.build_kernels",
)
_SOURCES = (
    "dense/compiled.py",
    "dense/tiles.py",
    "lexical/blocks.py",
    "lexical/build_kernels.py",
    "lexical/close.py",
    "lexical/formula.py",
    "lexical/kernels.py",
    "lexical/memory.py",
    "lexical/pruned.py",
    "lexical/segment.py",
    "lexical/tables.py",
    "text/code_points.py",
)
_CACHE = "NUMBA_CACHE_DIR"
_MARK = "compiled"
_PAUSE_SECONDS = 0.3
_COMPILE_SECONDS = 300
_EXIT_SECONDS = 60


class State(Enum):
    """Where the compiled searches stand."""

    OFF = "off"
    WAITING = "waiting for a first search"
    LOADING = "loading"
    READY = "ready"
    MISSING = "numba is not installed"
    FAILED = "failed"


_stop = threading.Event()
_state = State.OFF
_compiled: dict[str, ModuleType] = {}
_lock = threading.Lock()


def state() -> State:
    """Where the compiled searches stand."""
    return _state


def compiled(module: str) -> ModuleType | None:
    """One of `MODULES`; None while numpy has to do."""
    return _compiled.get(module)


def warm_up_after_searches() -> None:
    """Load the compiled searches in a thread, once a first search has been answered."""
    global _state
    with _lock:
        if _state is State.OFF:
            _state = State.WAITING if importlib.util.find_spec("numba") else State.MISSING


def searched() -> None:
    """A search has been answered, or many texts were indexed: compiled code is of use from now on."""
    global _state
    if _state is not State.WAITING:
        return
    with _lock:
        if _state is not State.WAITING:
            return
        _state = State.LOADING
        thread = threading.Thread(target=_warm_up, name="groundwire-kernels", daemon=True)
        thread.start()
    # Compiled code must not be loaded while the interpreter goes down: the process would crash. Loading ends with the
    # module that it is at, a second or so later; on a machine with much else to do that can be many.
    atexit.register(thread.join, _EXIT_SECONDS)
    atexit.register(_stop.set)


def load_now() -> bool:
    """Load the compiled searches here and now, for programs that cannot wait; whether all of them are there."""
    global _state
    if importlib.util.find_spec("numba") is None:
        _state = State.MISSING
    elif len(_compiled) < len(MODULES):
        _load()
    return len(_compiled) == len(MODULES)


def _warm_up() -> None:
    # The answer that set this off is still on its way out.
    if _stop.wait(_PAUSE_SECONDS):
        return
    if not (_cache_folder() / _MARK).exists():
        _compile_aside()
    if not _stop.is_set():
        _load()


def _compile_aside() -> None:
    """Compile in a process of its own: it takes seconds, and in this one callers would wait for the interpreter."""
    load = f"from groundwire_server.kernels import warm_up; warm_up.MODULES = {MODULES!r}; warm_up.load_now()"
    command = [sys.executable, "-c", f"import os; os.nice(5); {load}"]
    quiet = subprocess.DEVNULL
    try:
        with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as child:
            deadline = time.monotonic() + _COMPILE_SECONDS
            while child.poll() is None and time.monotonic() < deadline and not _stop.wait(0.1):
                pass
            child.kill()
    except OSError:
        pass  # then it is compiled here


def _load() -> None:
    global _state
    folder = _cache_folder()
    for name in MODULES:
        if _stop.is_set():
            break
        try:
            _compiled[name] = importlib.import_module(name)
        except Exception:  # noqa: BLE001 - numba fails in many ways; numpy goes on answering
            _log.warning("A compiled search cannot be loaded; numpy answers.", exc_info=True)
    if len(_compiled) < len(MODULES):
        _state = State.WAITING if _stop.is_set() else State.FAILED
        return
    _state = State.READY
    with suppress(OSError):
        (folder / _MARK).touch()


@cache
def _cache_folder() -> Path:
    """Where compiled code is kept: as numba is told, else in the user's cache, else for this process alone.

    Never beside the source: that may be read-only. One folder for each text of the sources, so that an update compiles
    anew and takes nothing stale.
    """
    if not os.environ.get(_CACHE):
        os.environ[_CACHE] = str(_own_cache_folder())
    return Path(os.environ[_CACHE])


def _own_cache_folder() -> Path:
    digest = hashlib.sha256(f"{sys.version} {importlib.metadata.version('numba')}".encode())
    for name in _SOURCES:
        digest.update((_PACKAGE / name).read_bytes())
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    folder = base / "groundwire" / "kernels" / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        alone = tempfile.mkdtemp(prefix="groundwire-kernels-")
        atexit.register(shutil.rmtree, alone, ignore_errors=True)
        return Path(alone)
