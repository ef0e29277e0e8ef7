"""`python -m tests.oracle`: QueryMetric against the oracle, over gRPC, and the counts."""

from __future__ import annotations

import argparse
import sys

from tests.oracle.run import CALLS_A_WORLD, Report, run

_CALLS = 10_000


def main() -> int:
    """The number of differences decides the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--calls", type=int, default=_CALLS, help="how many calls at least [%(default)s]")
    parser.add_argument("--seed", type=int, default=0, help="number of the first world [%(default)s]")
    parser.add_argument("--shrink", type=int, default=3, help="how many differences to make small [%(default)s]")
    given = parser.parse_args()
    worlds = -(-given.calls // CALLS_A_WORLD)
    report = run(range(given.seed, given.seed + worlds), smaller=given.shrink, tell=_progress)
    sys.stdout.write(report.text() + "\n")
    return 1 if report.different else 0


def _progress(report: Report) -> None:
    sys.stderr.write(f"{report.verdict.calls} calls, {len(report.different)} differences\n")


if __name__ == "__main__":
    raise SystemExit(main())
