"""Times a peer and ours in turn within one process, and measures their memory in processes of their own.

A module `bN_name.py` has `rows()`, which returns a list of `Row`. A new row needs no more than that.
"""

import gc
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

Run = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One comparison. Nothing is asserted: `reached` only says whether the goal was reached."""

    name: str  # what is done, with its sizes
    peer: str  # against whom
    setup: Callable[[], tuple[Run, Run]]  # makes the inputs; returns (peer, ours), each one run of the work
    goal: str = ""  # in words
    reached: Callable[["Result"], bool] | None = None
    memory: bool | Callable[[], tuple[float, float]] = False  # measure peaks too; or say what (MB)
    needs: str | None = None  # the module of the peer, which may not be installed
    rounds: int = 15  # at most; slow work is run for about `SECONDS` in all
    where: tuple[str, int] = field(default=("", 0), repr=False)  # module and place, for the memory processes


@dataclass
class Result:
    """Median times in ms; memory in MB over what stood before the run.

    `ratio` is the median of ours over the peer's within a round: a machine that slows down slows both.
    """

    id: str
    name: str
    peer: str
    goal: str
    peer_ms: float = 0.0
    ours_ms: float = 0.0
    ratio: float = 0.0
    spread: tuple[float, float] = (0.0, 0.0)  # the middle half of the rounds' own ratios
    rounds: int = 0
    peer_mb: float | None = None
    ours_mb: float | None = None
    reached: bool | None = None
    note: str = ""


SECONDS = 12.0


def collect(ids: list[str]) -> list[tuple[str, Row]]:
    """The rows of B1, B2 …, found by the names of the modules; all of them when no id is given."""
    found = []
    modules = sorted(Path(__file__).parent.glob("b[0-9]*_*.py"), key=lambda p: int(p.stem[1:].split("_")[0]))
    known = [path.stem.split("_")[0].upper() for path in modules]
    if unknown := sorted(set(ids) - set(known)):
        raise SystemExit(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}")
    for path, id in zip(modules, known, strict=True):
        if not ids or id in ids:
            module = f"benchmarks.{path.stem}"
            for place, row in enumerate(importlib.import_module(module).rows()):
                found.append((id, Row(**{**row.__dict__, "where": (module, place)})))
    return found


def measure(id: str, row: Row, quick: bool = False) -> Result:
    result = Result(id, row.name, row.peer, row.goal)
    if row.needs and find_spec(row.needs) is None:
        result.note = f"{row.peer} is not installed"
        return result
    peer, ours = row.setup()
    times: dict[Run, list[float]] = {peer: [], ours: []}
    for run in (peer, ours):  # warm up
        run()
    began = time.perf_counter()
    for round in range(3 if quick else row.rounds):
        # Who goes first changes with each round, so that neither always finds the machine warmer.
        for run in (peer, ours) if round % 2 == 0 else (ours, peer):
            gc.collect()
            start = time.perf_counter()
            run()
            times[run].append((time.perf_counter() - start) * 1000)
        if round >= 4 and time.perf_counter() - began > SECONDS:
            break
    ratios = [b / a for a, b in zip(times[peer], times[ours], strict=True)]
    result.rounds = len(ratios)
    result.peer_ms, result.ours_ms = statistics.median(times[peer]), statistics.median(times[ours])
    low, result.ratio, high = statistics.quantiles(ratios, n=4)
    result.spread = (low, high)
    if callable(row.memory):
        result.peer_mb, result.ours_mb = row.memory()
    elif row.memory:
        result.peer_mb, result.ours_mb = memory_of(row, "peer"), memory_of(row, "ours")
    result.reached = row.reached(result) if row.reached else None
    return result


def memory_of(row: Row, who: str) -> float | None:
    """The peak of one run, in MB, in a fresh process: earlier runs leave memory behind that would hide it."""
    command = [sys.executable, "-m", "benchmarks.harness", *map(str, row.where), who]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def peak_of(run: Run) -> float:
    """Linux only: the kernel's own high-water mark, put back before the run."""
    status = Path("/proc/self/status")

    def kilobytes(name: str) -> int:
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(name))

    Path("/proc/self/clear_refs").write_text("5")
    before = kilobytes("VmRSS")
    kept = run()  # held, so that the output counts
    peak = kilobytes("VmHWM") - before
    del kept
    return peak / 1024


if __name__ == "__main__":
    module, place, who = sys.argv[1:]
    pair = importlib.import_module(module).rows()[int(place)].setup()
    print(json.dumps(peak_of(pair[0 if who == "peer" else 1])))
