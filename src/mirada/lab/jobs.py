"""The runs that this lab trains: each in a process of its own, two at once, the others in a line.

A worker (worker.py) stops and saves when the pipe that it reads ends. So pausing, cancelling and closing the
lab are the same to it, and a lab that is killed takes its workers along.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Literal

from mirada.lab.files import in_use, last_checkpoint, mark_cancelled, name_of, run_folders, stamp, step_of
from mirada.lab.following import follow
from mirada.lab.job import Job
from mirada.lab.problems import Problem
from mirada.lab.tasks import steps_of

AT_ONCE = 2
MOST_WAITING = 20
LOOKS = 32  # maps and examinations of a run: enough for curves, and for seeing the diagonal come
PATIENCE = 10.0  # seconds until a worker that shall save and end is no longer waited for
WORKER = (sys.executable, "-m", "mirada.lab.worker")


class Jobs:
    """All runs in the folder `runs`, and those of them that are trained here.

    Every method may be called by any thread.
    """

    def __init__(self, runs: Path, worker: Sequence[str] = WORKER):
        self.runs, self.worker = runs, worker
        self.jobs: dict[str, Job] = {}
        self.line: list[Job] = []
        self.closed = False
        self.lock = threading.RLock()

    # What there is.

    def all(self) -> list[dict[str, Any]]:
        """Each run as the page is told of it, the newest first."""
        with self.lock:
            for name in list(self.jobs):
                self.look_again(name)
            found = [(job.since, self.told(job)) for job in self.jobs.values()]
            others = [folder for folder in run_folders(self.runs) if name_of(folder) not in self.jobs]
        for folder in others:
            with suppress(OSError):  # it has just been taken away
                job = Job.found(folder)
                found.append((job.since, job.told(None)))
        return [told for _, told in sorted(found, key=lambda each: each[0], reverse=True)]

    def job(self, name: str) -> Job:
        """The run of that name, with its maps. Raises Problem 404."""
        with self.lock:
            self.look_again(name)
            if name in self.jobs:
                return self.jobs[name]
        for folder in run_folders(self.runs):
            if name_of(folder) == name:
                with suppress(OSError):
                    return self.followed(Job.found(folder).with_maps())
        raise Problem(404, "no_run")

    def look_again(self, name: str) -> None:
        """Forget a run that rests where another program trained it since, or took it away: its files know."""
        job = self.jobs.get(name)
        if job is None or job.active:
            return
        now = stamp(job.folder)
        if now is None or now != job.stamp or in_use(job.folder):
            del self.jobs[name]
            job.log.close()

    def followed(self, job: Job) -> Job:
        """A run that another program trains is kept, and its files read again and again until it rests."""
        if not job.active:
            return job
        with self.lock:
            known = self.jobs.setdefault(name_of(job.folder), job)
        if known is job:
            job.log.close(False)
            threading.Thread(target=follow, args=(job, self.lock, lambda: self.closed), daemon=True).start()
        return known

    def told(self, job: Job) -> dict[str, Any]:
        with self.lock:
            return job.told(self.line.index(job) + 1 if job in self.line else None)

    def whole(self, name: str) -> dict[str, Any]:
        """A run with all that it came to, and the number of the newest event in that. Raises Problem 404."""
        job = self.job(name)
        with self.lock:
            happened = {"metrics": list(job.lines), "maps": list(job.maps)}
            return self.told(job) | happened | {"event": len(job.log.happenings)}

    # What can be done.

    def start(self, task: str, options: dict[str, Any]) -> Job:
        """A new run, in a new folder, at the end of the line. `options`: all that the page shows."""
        with self.lock:
            self.check_line()
            job = Job(self.new_folder(task), task, options, steps_of(task, options))
            given = {name: x for name, x in options.items() if x is not None and name != "positions"}
            if not options["positions"]:
                given["positions"] = "none"
            every = max(1, job.steps // LOOKS)
            given |= {"validate_every": every, "snapshots_every": every}
            job.given = {"task": task, "options": given}
            self.jobs[job.folder.name] = job
            self.enqueue(job)
            return job

    def resume(self, name: str) -> Job:
        """Put a run that rests back into the line. Raises Problem 409 where it cannot go on."""
        with self.lock:
            job = self.job(name)
            if job.active:
                raise Problem(409, "run_active")
            if job.state == "finished":
                raise Problem(409, "run_finished")
            if job.damaged is not None:
                raise Problem.with_sentence(409, *job.damaged)
            self.check_line()
            self.jobs[name] = job
            self.enqueue(job)
            return job

    def stop(self, name: str, wanted: Literal["paused", "cancelled"]) -> Job:
        """Save it, and let it rest. What is given back rests already, unless saving takes long.

        Raises Problem 409 where it does not run.
        """
        with self.lock:
            job = self.job(name)
            if job.active and not job.ours:
                raise Problem(409, "run_foreign")
            if not job.active and not (job.state == "paused" and wanted == "cancelled"):
                raise Problem(409, "run_idle")
            if job.process is None:
                if job in self.line:
                    self.line.remove(job)
                self.jobs[name] = job
                job.state = wanted
                self.rest(job)
                self.tell_line()
            else:
                if job.wanted != "cancelled":  # who has done with it has the last word
                    job.wanted = wanted
                self.hang_up(job)
        job.settled.wait(PATIENCE)
        return job

    def close(self) -> None:
        """Stop all, keep what they saved, and wait for their ends."""
        with self.lock:
            self.closed = True
            working = [job for job in self.jobs.values() if job.process is not None]
            for job in working:
                job.wanted = job.wanted or "paused"
                self.hang_up(job)
        until = time.monotonic() + PATIENCE
        for job in working:
            if not job.settled.wait(max(0.0, until - time.monotonic())) and job.process is not None:
                job.process.kill()
                job.settled.wait(PATIENCE)
        for job in self.jobs.values():
            with suppress(OSError):
                job.folder.rmdir()  # goes only where nothing was begun

    # How it is done; the lock is held.

    def check_line(self) -> None:
        if len(self.line) >= MOST_WAITING:
            raise Problem(429, "line_full", {"most": MOST_WAITING})

    def new_folder(self, task: str) -> Path:
        """runs/task, runs/task-2, …: made, so that nobody else takes it."""
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            for number in count(1):
                folder = self.runs / (task if number == 1 else f"{task}-{number}")
                with suppress(FileExistsError):
                    folder.mkdir()
                    return folder
        except OSError as error:
            values = {"path": self.runs, "reason": error.strerror or error}
            raise Problem.with_sentence(507, "training.unwritable", values) from None
        raise AssertionError

    def enqueue(self, job: Job) -> None:
        job.ours, job.state, job.error, job.warning, job.wanted = True, "waiting", None, None, None
        job.settled.clear()
        job.rewind(saved_step(job.folder))
        job.log.close(False)
        self.line.append(job)
        self.tell(job)
        self.advance()

    def advance(self) -> None:
        """Start the next ones in the line, as long as there is room."""
        moved = False
        while self.line and not self.closed and self.working() < AT_ONCE:
            self.launch(self.line.pop(0))
            moved = True
        if moved:
            self.tell_line()

    def working(self) -> int:
        return sum(job.process is not None for job in self.jobs.values())

    def launch(self, job: Job) -> None:
        job.state, job.began, job.ended = "running", False, None
        told = {"resume": str(job.folder)}
        try:
            if job.given and last_checkpoint(job.folder) is None:
                clear(job.folder)  # it was ended before it saved anything
                told = {**job.given, "out": str(job.folder)}
            job.process = subprocess.Popen(
                self.worker,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                # Ctrl-C in the terminal is the lab's; the workers hear of it from the lab.
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        except OSError as error:
            job.error = "lab.run_unstarted", {"reason": error.strerror or str(error)}
            job.state = "failed"
            return self.rest(job)
        assert job.process.stdin
        with suppress(BrokenPipeError):
            job.process.stdin.write(json.dumps(told) + "\n")
            job.process.stdin.flush()
        self.tell(job)
        threading.Thread(target=self.listen, args=(job, job.process), daemon=True).start()

    def hang_up(self, job: Job) -> None:
        """Ask the worker to save and end, or end it where there is nothing yet to save."""
        assert job.process
        assert job.process.stdin
        if not job.began:
            job.process.kill()
        with suppress(OSError):
            job.process.stdin.close()

    def tell(self, job: Job) -> None:
        job.log.add("run", self.told(job))

    def tell_line(self) -> None:
        for job in self.line:
            self.tell(job)

    def rest(self, job: Job) -> None:
        """Nobody works on it any more."""
        mark_cancelled(job.folder, job.state == "cancelled")
        job.stamp = stamp(job.folder)
        self.tell(job)
        if job.state != "paused":  # who looks on at a pause may see it end
            job.log.close()
        job.settled.set()

    # A thread of each worker.

    def listen(self, job: Job, process: "subprocess.Popen[str]") -> None:
        """Hear a worker until it ends."""
        assert process.stdout
        for line in process.stdout:
            told = heard(line)
            with self.lock:
                if told is not None and job.take(told.pop("event"), told):
                    self.tell(job)
        code = process.wait()
        process.stdout.close()
        with self.lock:
            self.settle(job, lambda: job.end(code))

    def settle(self, job: Job, end: Callable[[], None]) -> None:
        assert job.process
        assert job.process.stdin
        with suppress(OSError):
            job.process.stdin.close()
        job.process = None
        end()
        self.rest(job)
        self.advance()


def runs_folder() -> Path:
    """Where runs lie: MIRADA_RUNS, or ./runs, where `mirada train` puts them."""
    return Path(os.environ.get("MIRADA_RUNS") or "runs").absolute()


def saved_step(folder: Path) -> int:
    checkpoint = last_checkpoint(folder)
    return 0 if checkpoint is None else step_of(checkpoint)


def heard(line: str) -> dict[str, Any] | None:
    """One line of a worker; None for one that its death cut short."""
    try:
        return json.loads(line)
    except ValueError:
        return None


def clear(folder: Path) -> None:
    """Make it an empty folder."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
