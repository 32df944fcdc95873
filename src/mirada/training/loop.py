"""Training: step after step, and on the way what is examined, seen and saved."""

import errno
import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mirada.training.errors import TrainingError
from mirada.training.finding import Findable, blaming
from mirada.training.folders import CHECKPOINTS
from mirada.training.job import Job
from mirada.training.parallel import processes, starting
from mirada.training.plan import planned
from mirada.training.runs import Run
from mirada.training.stopping import Listener, Stop, StopTraining, signals

FULL = (errno.ENOSPC, errno.EDQUOT)
LINE = 10  # steps whose losses are read, and told, together: a GPU would wait for each


def train(
    task: Findable | None = None,
    *,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    listener: Listener | None = None,
    parallel: str | None = None,
    **options: Any,
) -> Run:
    """Learn a task from nothing: `mirada.train("reverse").answer("49303973").text` is 37930394.

    SIGINT and SIGTERM, and a listener that raises StopTraining, save the run and end it after the step at
    hand; what is given back then has not `finished`. It goes on with `resume`, and comes to the same, bit
    for bit, as one that was never stopped: on the same machine, with as many threads.

    PyTorch's random state and number of threads are afterwards as they were before.

    Args:
        task: a built-in one by its name, the file of your own, a text to learn the letters of, or a Task.
        out: the new run's folder; runs/NAME unless given.
        resume: the folder of a run that shall go on, with its task and options; steps and epochs may change.
            5 steps and 5 more are 10, bit for bit, where the learning rate is constant. Along a cosine it
            depends on how long the run is: the last 5 then follow the longer curve (a TrainingWarning).
        listener: is told what happens.
        parallel: by all processes that torchrun started: "ddp", each with the whole model, or "fsdp", each
            with a part of it. Each takes its share of a batch; the first one writes, and tells the listener.
            It is no part of the run, which any number of processes may go on with.
        options: see TrainingOptions. The task has defaults of its own.

    Raises:
        TrainingError: what cannot be found, read, written or done; a loss that is no number any more. What
            was saved before stays.
    """
    with processes(parallel, starting(task, resume, parallel)) as team, ExitStack() as held:
        plan = team.planned(lambda folder: planned(task, out, resume, options, held, folder))
        team.check(plan.options)
        if listener is None or not team.first:
            listener = Listener()
        state = own_random_state(plan.options.device)
        with blaming(plan.task), team.noticing(), state, threads(plan.options.threads):
            try:
                job = Job(plan, team)
            except OSError as error:
                raise unwritable(error, plan.folder) from error
            try:
                with signals() as stop:
                    run(job, listener, stop)
            except OSError as error:
                raise unsaved(job, error) from error
            finally:
                job.metrics.close()
            finished = job.finished()
            finished.signal = stop.signal
            listener.on_end(finished)
            return finished


def run(job: Job, listener: Listener, stop: Stop) -> None:
    """All steps that are left, or those until somebody asks for the end."""
    job.model.train()
    listener.on_start(job.run(), job.steps)
    if job.saved is None:
        if job.options.snapshots_every != 0:
            see(job, listener)
        job.save()  # a full disk is found before the work, not after it
    if job.step == job.steps:
        end_here(job, listener)
    losses: list[Tensor] = []
    ends = job.team.ends(stop)
    while job.step < job.steps and not ends:
        losses.append(job.learn())
        try:
            listener.on_step(job.step, losses[-1])
        except StopTraining:
            stop.asked = True
        ends = job.team.ends(stop)
        last = job.step == job.steps
        examined = last or job.order.ended or job.every("validate_every")
        saved = last or ends or job.every("checkpoint_every")
        if len(losses) == LINE or examined or saved:
            tell_losses(job, listener, losses)
        if examined:
            examine(job, listener)
        if job.every("snapshots_every") or (last and job.options.snapshots_every != 0):
            see(job, listener)
        if saved:
            if not job.team.is_sound(job.model):
                raise diverged(job, job.step)
            job.save()


def end_here(job: Job, listener: Listener) -> None:
    """Of a run that was stopped where it now ends, what it lacks."""
    if any(line["kind"] == "validation" and line["step"] == job.step for line in job.metrics.lines):
        return
    examine(job, listener)
    if job.options.snapshots_every != 0 and job.step not in job.snapshots.steps:
        see(job, listener)
    job.save()


def tell_losses(job: Job, listener: Listener, losses: list[Tensor]) -> None:
    """A line with the mean of the losses since the last one, which are read here, all at once."""
    values = torch.stack(losses).tolist()
    first = job.step - len(values) + 1
    for step, value in enumerate(values, first):
        if not math.isfinite(value):
            raise diverged(job, step)
    losses.clear()
    rate = job.optimizer.param_groups[0]["lr"]
    line = {"step": job.step, "epoch": job.order.epoch + 1, "kind": "training"}
    line |= {"loss": sum(values) / len(values), "lr": rate, "seconds": round(job.elapsed(), 3)}
    listener.on_line(job.metrics.add(**line))


def see(job: Job, listener: Listener) -> None:
    if job.snapshots.take(job.model, job.step):
        listener.on_maps(job.step, {name: maps[-1] for name, maps in job.snapshots.maps.items()})


def examine(job: Job, listener: Listener) -> None:
    score = job.examine()
    if not math.isfinite(score.loss):
        raise diverged(job, job.step)
    line = {"step": job.step, "epoch": job.order.epoch + 1, "kind": "validation"}
    listener.on_line(job.metrics.add(**line, **score._asdict(), seconds=round(job.elapsed(), 3)))


def diverged(job: Job, step: int) -> TrainingError:
    rate = job.options.lr
    key = "training.diverged" if job.options.precision == "float32" else "training.diverged_bfloat16"
    told = {"lr": f"{rate:g}", "less": f"{rate / 10:g}"}
    return TrainingError(key, step=step, saved=job.saved, folder=job.folder, **told)


def unsaved(job: Job, error: OSError) -> TrainingError:
    if job.saved is None:
        return unwritable(error, job.folder)
    path = job.folder / CHECKPOINTS
    return TrainingError(
        "training.unsaved",
        step=job.step,
        path=path,
        reason=error.strerror or error,
        saved=job.saved,
        folder=job.folder,
    )


def unwritable(error: OSError, folder: Path) -> TrainingError:
    key = "training.full" if error.errno in FULL else "training.unwritable"
    return TrainingError(key, path=folder, reason=error.strerror or error)


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def own_random_state(device: str) -> Iterator[None]:
    """What is seeded and drawn here leaves the program's own random numbers as they were."""
    devices = [torch.device(device)] if device.startswith("cuda") else []
    with torch.random.fork_rng(devices=devices):
        yield
