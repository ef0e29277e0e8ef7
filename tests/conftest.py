"""What all tests share: how hypothesis works here."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from hypothesis import HealthCheck, settings

# Two busy cores make any single example slow now and then; that is no fault of the code under test.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
# CI draws the same examples on every run, so that a red run is about the change; `here` goes on looking for new ones.
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Commands that the tests run note which folders they have sent: not among the notes of whoever runs the tests.
_NOTES = tempfile.mkdtemp(prefix="groundwire-tests-")
atexit.register(shutil.rmtree, _NOTES, ignore_errors=True)
os.environ["XDG_STATE_HOME"] = _NOTES
