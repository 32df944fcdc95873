"""What is to be done: anew, or from where a run was left."""

import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirada.training.checkpoints import Checkpoint, read_checkpoint, steps_in
from mirada.training.errors import TrainingError, TrainingWarning
from mirada.training.finding import Findable, find_task
from mirada.training.folders import CHECKPOINTS, locked, new_folder, without_leftovers
from mirada.training.options import TrainingOptions, changed, options_for
from mirada.training.record import Record, read_run
from mirada.training.task import Task


@dataclass(frozen=True)
class Plan:
    """What is to be done, where, and what it goes on from.

    Args:
        record: of the run that goes on, as it was left; None for a new one.
        checkpoint: None at the beginning, also of a run that was ended before it saved anything.
    """

    task: Task
    options: TrainingOptions
    folder: Path
    record: Record | None = None
    checkpoint: Checkpoint | None = None


def planned(
    task: Findable | None,
    out: str | Path | None,
    resume: str | Path | None,
    given: dict[str, Any],
    held: ExitStack,
    made: Path | None = None,
) -> Plan:
    """In a new folder or in that of a run, `held` for as long as it learns; or in the one that was `made`.

    Raises TrainingError for what cannot be found, made, or done.
    """
    if resume is not None:
        folder = Path(resume)
        if made is None:
            held.enter_context(locked(folder))
            without_leftovers(folder)
        record = read_run(folder, task)
        options = changed(record.options, **given)
        return Plan(record.task, options, folder, record, newest_in(folder))
    if task is None:
        raise TrainingError("training.what")
    task = find_task(task)
    options = options_for(task, **given)
    return Plan(task, options, made or held.enter_context(new_folder(out, task.name)))


def newest_in(folder: Path) -> Checkpoint | None:
    """None, and a TrainingWarning, where the run had none yet: a power failure came first."""
    if steps_in(folder / CHECKPOINTS):
        return read_checkpoint(folder / CHECKPOINTS)
    warnings.warn(TrainingWarning("training.from_start", folder=folder), stacklevel=2)
    return None
