"""How several processes come together under torchrun, and part again."""

import functools
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import Any

import torch
import torch.distributed as dist

from mirada.training.errors import TrainingError
from mirada.training.options import bad
from mirada.training.several import Several, Sharded, noticing
from mirada.training.team import Alone

PATIENCE = timedelta(minutes=10)  # with a process that does not answer: a large checkpoint takes minutes
FROM_OUTSIDE = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}  # what torchrun tells a process
ITS_OWN = ("training.task_failed", "training.parallel_lost", "training.parallel_folder")
numbers = count()


@contextmanager
def processes(parallel: str | None, command: str) -> Iterator[Alone]:
    """Those that learn: this one alone unless told, else all that torchrun started, until the end of this.

    A program's own process group is used where there is one.

    Raises TrainingError for an unknown word, where nobody started several processes (and says by which
    `command` it is done), and when another process ends or no longer answers.
    """
    if parallel is None:
        yield Alone()
        return
    if parallel not in ("ddp", "fsdp"):
        raise bad("parallel", parallel, "ddp, fsdp")
    made = not dist.is_initialized()
    if made and not os.environ.keys() >= FROM_OUTSIDE:
        raise TrainingError("training.parallel_alone", parallel=parallel, command=command)
    with noticing():
        if made:
            join()
        team = Several() if parallel == "ddp" else Sharded()
        try:
            yield team
        finally:
            team.leave()
            if made:  # gloo may wait for ever where the interpreter does it at its end (pytorch#190489)
                dist.destroy_process_group()


def join() -> None:
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))  # "cuda" then means this one
        backend = "cpu:gloo,cuda:nccl"
    from torch.distributed.distributed_c10d import PrefixStore

    # Under a name of its own: a second run in one program would find the addresses of the first.
    store = PrefixStore(f"mirada {next(numbers)}", meeting())
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group(backend, timeout=PATIENCE, store=store, rank=rank, world_size=world)


@functools.cache
def meeting() -> Any:
    """Where the processes find each other, for as long as the program runs."""
    from torch.distributed.rendezvous import rendezvous

    return next(rendezvous("env://", timeout=PATIENCE))[0]


def says(error: TrainingError) -> bool:
    """Whether it is for this process to say it: what all of them come to alike, the first one says."""
    return is_first() or error.key in ITS_OWN


def is_first() -> bool:
    return int(os.environ.get("RANK", 0)) == 0


def starting(task: object, resume: object, parallel: str | None) -> str:
    """What is typed to start several processes."""
    what = ["--resume", str(resume)] if resume is not None else [task if isinstance(task, str) else "TASK"]
    words = ["torchrun", "--nproc-per-node", "2", "-m", "mirada.cli", "train", *what]
    return shlex.join([*words, "--parallel", str(parallel)])
