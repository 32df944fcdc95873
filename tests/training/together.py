"""What two processes do together, run by test_parallel.py: `python together.py PART FOLDER`.

One program does many things, for starting PyTorch twice takes longer than all of them.
"""

import json
import os
import signal
import sys
import time
import traceback
from datetime import timedelta
from pathlib import Path

import torch
from tiny import Tiny

from mirada.training import parallel
from mirada.training.errors import TrainingError
from mirada.training.loop import train
from mirada.training.stopping import Listener, StopTraining

RANK = int(os.environ.get("RANK", 0))


class Uneven(Tiny):
    """Batches of 11, 11, 11 and 1: no two slices are alike, and one is empty. Many targets are ignored."""

    name = "uneven"
    train_size = 34
    dropout = 0.0  # what it draws differs between processes
    defaults = Tiny.defaults | {"epochs": 3, "schedule": "cosine", "warmup": 3}

    def targets(self, rows):
        return rows.flip(1).where(rows.cumsum(1) % 3 != 0, torch.tensor(-100))


class Half(Uneven):
    """The second half of a batch asks for nothing: one process learns, the other only takes part."""

    name = "half"
    train_size = 22

    def data(self, seed):
        train, validation = super().data(seed)
        train.targets[11:] = -100
        return train, validation


class Marked(Uneven):
    """Something happens in one process, in the loss of a step."""

    name = "marked"
    step = 0
    rank = 1

    def happens(self):
        raise NotImplementedError

    def loss(self, logits, targets):
        if torch.is_grad_enabled():
            self.step += 1
            if self.step == 5 and self.rank == RANK:
                self.happens()
        return super().loss(logits, targets)


class Told(Marked):
    def happens(self):
        os.kill(os.getpid(), signal.SIGTERM)


class Silent(Marked):
    name = "silent"

    def happens(self):
        time.sleep(8)


class Fails(Marked):
    def happens(self):
        raise ZeroDivisionError("in one process")


class Losses(Listener):
    """Of each step, until one."""

    def __init__(self, until=None):
        self.until, self.losses, self.lines, self.ended = until, {}, [], False

    def on_step(self, step, loss):
        self.losses[step] = loss.item()
        if step == self.until:
            raise StopTraining

    def on_line(self, line):
        self.lines.append({name: x for name, x in line.items() if name != "seconds"})

    def on_end(self, run):
        self.ended = True


def told(task, *, until=None, **options):
    """A run, as JSON knows it."""
    listener = Losses(until)
    run = train(task, listener=listener, **options)
    with torch.no_grad():
        samples = task.data(0)[1]
        logits = task.run(run.model, samples, task.mask(run.options))
    return {
        "losses": listener.losses,
        "lines": listener.lines,
        "ended": listener.ended,
        "step": run.step,
        "signal": run.signal,
        "kind": type(run.model).__name__,
        "maps": {name: x.tolist() for name, x in run.maps.items()},
        "logits": logits.tolist(),
    }


VARIANTS = {
    "plain": {},
    "unplaced": {"positions": "none", "causal": True},
    "bfloat16": {"precision": "bfloat16"},
}


def equal(folder):
    """Everything that must come to what it comes to in one process."""
    found = {}
    for kind in ("ddp", "fsdp"):
        at = folder / kind
        for name, options in VARIANTS.items():
            found[f"{kind} {name}"] = told(Uneven(), out=at / name, parallel=kind, **options)
        found[f"{kind} half"] = told(Half(), out=at / "half", parallel=kind)
        found[f"{kind} first"] = told(Uneven(), out=at / "first", parallel=kind, until=5)
        found[f"{kind} second"] = told(Uneven(), resume=at / "one", parallel=kind)
        found[f"{kind} told"] = told(Told(), out=at / "told", parallel=kind)
        found[f"{kind} drawn"] = told(Tiny(), out=at / "drawn", parallel=kind, epochs=2)
        told(Tiny(), out=at / "again", parallel=kind, epochs=2, until=5)
        found[f"{kind} again"] = told(Tiny(), resume=at / "again", parallel=kind)
        for name, options in {"taken": {"out": at / "told"}, "small": {"batch_size": 1}}.items():
            try:
                train(Uneven(), parallel=kind, **{"out": at / "small"} | options)
            except TrainingError as error:
                found[f"{kind} {name}"] = [error.key, parallel.says(error)]
    return found


def fails(folder):
    """The second process ends with an exception."""
    train(Fails(), out=folder / "fails", parallel="fsdp")


def silent(folder):
    """The second process is silent for longer than the first one waits."""
    (folder / f"ready-{RANK}").touch()
    while not (folder / f"ready-{1 - RANK}").exists():
        time.sleep(0.01)
    parallel.PATIENCE = timedelta(seconds=5)
    train(Silent(), out=folder / "silent", parallel="ddp")


if __name__ == "__main__":
    torch.set_num_threads(1)
    part, where = sys.argv[1], Path(sys.argv[2])
    try:
        found = {"equal": equal, "fails": fails, "silent": silent}[part](where)
    except BaseException:
        traceback.print_exc()
        sys.exit(3)
    (where / f"{part}-{RANK}.json").write_text(json.dumps(found))
