"""run.json: which task a run learns, how, how far, and from which data."""

import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import mirada
from mirada.training.errors import TrainingError, unreadable
from mirada.training.files import replace_bytes
from mirada.training.finding import Findable, described, find_task
from mirada.training.options import TrainingOptions, wrong_in
from mirada.training.task import Task

RUN = "run.json"
VERSION = 1


@dataclass(frozen=True)
class Record:
    """What run.json tells.

    Args:
        task, options: what is learnt, and how.
        steps: how far it goes.
        data: the fingerprint of what is learnt from and examined; None where an older Mirada wrote none.
    """

    task: Task
    options: TrainingOptions
    steps: int
    data: str | None


def write_run(folder: Path, record: Record) -> None:
    """Raises OSError."""
    told = {
        "format": "mirada run",
        "version": VERSION,
        "task": described_by(record.task),
        "options": record.options.to_dict(),
        "steps": record.steps,
        "data": record.data,
        "versions": {
            "mirada": mirada.__version__,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
        },
    }
    replace_bytes(folder / RUN, (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode())


def read_run(folder: Path, given: Findable | None) -> Record:
    """What is told there, of the task that is given or, where none is, of the one that is told of.

    Raises TrainingError: there is no run, it is damaged, or its task is another one or not to be found.
    """
    path = folder / RUN
    try:
        told = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            raise bad_run(path, "JSON") from None
        raise TrainingError("training.no_run", folder=folder) from None
    except OSError as error:
        raise unreadable(error, path) from None
    named, options, steps = checked(told, path)
    return Record(task_of(named, given, folder), options, steps, told.get("data"))


def checked(told: Any, path: Path) -> tuple[dict[str, Any], TrainingOptions, int]:
    """Task, options and number of steps as they are told. TrainingError where they are damaged."""
    wanted = {"version": int, "task": dict, "options": dict, "steps": int}
    for name, kind in wanted.items():
        if not isinstance(told, dict) or type(told.get(name)) is not kind:
            raise bad_run(path, name)
    if told["version"] > VERSION:
        raise TrainingError("training.newer_run", path=path, version=told["version"], known=VERSION)
    if not all(isinstance(told["task"].get(name, ""), str) for name in ("file", "text")):
        raise bad_run(path, "task")
    if not isinstance(told["task"].get("name"), str):
        raise bad_run(path, "task")
    try:
        return told["task"], TrainingOptions(**told["options"]), told["steps"]
    except TrainingError as error:
        raise bad_run(path, f"options: {wrong_in(error)}") from None
    except TypeError:
        raise bad_run(path, "options") from None


def bad_run(path: Path, reason: str) -> TrainingError:
    return TrainingError("training.bad_run", path=path, reason=reason)


def task_of(told: dict[str, Any], given: Findable | None, folder: Path) -> Task:
    """The task that is given, or else the one that is told of. TrainingError as read_run."""
    if given is None:
        try:
            return described(told)
        except (KeyError, TypeError) as error:
            raise bad_run(folder / RUN, f"task: {error.args[0]}") from None
    task = find_task(given)
    if task.name != told["name"]:
        raise TrainingError("training.other_task", folder=folder, task=told["name"], wanted=task.name)
    if "name_only" in told and is_our_own(task):  # somebody's class of the same name as one of ours
        raise TrainingError("training.give_task", name=told["name"])
    return task


def is_our_own(task: Task) -> bool:
    return type(task).__module__.startswith("mirada.")


def described_by(task: Task) -> dict[str, Any]:
    told = task.describe()
    if "file" not in told and not is_our_own(task):
        told["name_only"] = True  # a class in somebody's program: there is nothing to find it by
    return told
