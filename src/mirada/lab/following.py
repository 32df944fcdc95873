"""A run that another program trains, say `mirada train` in a terminal: its files are read as they grow."""

import threading
import time
from collections.abc import Callable

from mirada.lab.files import in_use, stamp
from mirada.lab.job import Job

INTERVAL = 0.5  # seconds: a run writes a line every ten steps, and nobody reads quicker


def follow(job: Job, lock: threading.RLock, closed: Callable[[], bool]) -> None:
    """Say in the job's log what its files tell, until the program ends, or the lab.

    Maps come with each checkpoint, since that is when a run writes them.
    """
    seen = None
    while job.active and not closed():
        now = stamp(job.folder, "metrics.jsonl", "maps.safetensors")
        if now == seen and in_use(job.folder):
            time.sleep(INTERVAL)
            continue
        seen = now
        try:
            found = Job.found(job.folder).with_maps()
        except OSError:  # somebody took it away
            found = None
        with lock:
            if found is None:
                job.state, job.error = "failed", ("problem.no_run", {})
                job.log.add("run", job.told(None))
            else:
                job.catch_up(found)
            if not job.active:
                job.stamp = stamp(job.folder)
                job.log.close()
